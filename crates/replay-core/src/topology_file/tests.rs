use super::*;
use crate::topology::hierarchy::HierarchyKind;

fn conf(text: &str) -> Result<TopologyFile, String> {
    TopologyFile::read(text, "t.conf", None).map_err(|error| error.to_string())
}

fn yaml(text: &str) -> Result<TopologyFile, String> {
    TopologyFile::read(text, "t.yaml", None).map_err(|error| error.to_string())
}

#[test]
fn a_tree_of_either_format_is_the_same_machine() {
    let text = "# a tree\nswitchname=s1 SWITCHES=l[0-1] LinkSpeed=100\nSwitchName=l0 \\\n  Nodes=n[9-10]\nSwitchName=l1 Nodes=n1\n\nSwitchName=l2\n";
    let tree = conf(text).expect("a tree").machine;
    let same = "- topology: t\n  tree:\n    switches:\n      - switch: s1\n        children: l[0-1]\n      - {switch: l0, nodes: 'n[9-10]'}\n      - {switch: l1, nodes: n1}\n      - switch: l2\n";
    assert_eq!(tree, yaml(same).expect("a tree").machine);
    assert_eq!((tree.names().join(" "), tree.to_string()), ("n1 n9 n10".into(), "t.conf".into()));
    assert!(
        yaml_is_hierarchy(same, None) && !yaml_is_hierarchy("- topology: x\n  flat: true\n", None)
    );
}

#[test]
fn blocks_of_either_format_are_the_same_machine() {
    let text = "BlockName=b0 Nodes=n[00-03]\nBlockName=b1 Nodes=n[04-06]\nBlockSizes=4,16\n";
    let blocks = conf(text).expect("blocks");
    let same = "- topology: t\n  block:\n    block_sizes: [4, 16]\n    blocks:\n      - {block: b0, nodes: 'n[00-03]'}\n      - {block: b1, nodes: 'n[04-06]'}\n";
    assert_eq!(blocks.machine, yaml(same).expect("blocks").machine);
    let HierarchyKind::Blocks(blocks) = blocks.machine.kind() else { panic!("blocks") };
    assert_eq!((blocks.levels(), blocks.name(1)), (&[0, 2][..], "b1"));
}

#[test]
fn errors_name_line_and_entry() {
    for (text, expected) in [
        ("SwitchName=a Nods=n1", "t.conf:1: unknown key Nods; did you mean \"Nodes\"?"),
        (
            "\nInclude other.conf",
            "t.conf:2: Include is not supported; put all entries into one file",
        ),
        (
            "SwitchName=a Nodes=n1\nBlockName=b Nodes=n2",
            "t.conf:2: block b: a file cannot contain both switches and blocks",
        ),
        ("", "t.conf:1: there is neither a switch nor a block"),
        ("BlockSizes=2", "t.conf:1: there is neither a switch nor a block"),
        ("BlockName=b0", "t.conf:1: there is no node"),
        ("SwitchName= Nodes=n1", "t.conf:1: switch : the name is missing"),
        ("Nodes=n1", "t.conf:1: SwitchName, BlockName or BlockSizes is missing"),
        (
            "SwitchName=a Nodes=n1 Switches=b",
            "t.conf:1: switch a: both Nodes and Switches are given; a switch has either Nodes or Switches",
        ),
        (
            "SwitchName=a Nodes=n[1-",
            "t.conf:1: switch a: Nodes: \"n[1-\": a bracket that is not closed",
        ),
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[1-2]",
            "t.conf:2: switch b: node n1 is in switch a (line 1) already",
        ),
        (
            "SwitchName=a Nodes=n[1,1]",
            "t.conf:1: switch a: node n1 is in switch a (line 1) already",
        ),
        (
            "BlockName=b Nodes=n1\nBlockSizes=2,6",
            "t.conf:2: block sizes: 6 is not 2 times a power of two from 1 to 2^15",
        ),
        ("SwitchName=a Nodes=n1 Nodes=n2", "t.conf:1: Nodes is given twice"),
        (
            "BlockName=b Nodes=n1 Switches=x",
            "t.conf:1: block b: Switches is not allowed in this entry",
        ),
    ] {
        assert_eq!(conf(text).expect_err(text), expected);
    }
    for (text, expected) in [
        ("- topology: t\n  flat: true\n", "t.yaml:1: the topology t is neither a tree nor blocks"),
        (
            "- topology: t\n  tree: {switches: []}\n  block: {blocks: []}\n",
            "t.yaml:3: block: cannot be combined with tree; a topology has one kind",
        ),
        (
            "- topology: t\n  tree: {switches: [{switch: a, leaves: n}]}\n",
            "t.yaml:2: tree/switches/leaves: unknown key; expected one of switch, children, nodes",
        ),
        (
            "- topology: t\n  block: {block_sizes: [x], blocks: []}\n",
            "t.yaml:2: block/block_sizes: \"x\" is not a block size",
        ),
    ] {
        assert_eq!(yaml(text).expect_err(text), expected);
    }
}

#[test]
fn the_digest_of_the_content_ignores_comments_only() {
    let digest = |text: &str| {
        let machine = conf(text).expect("a machine").machine;
        content_digest(&Topology::Hierarchy(machine)).expect("a file")
    };
    let tree = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=c Switches=a,b\n";
    let blocks = "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2,4\n";
    assert_eq!(digest(tree), digest(&format!("# a comment\n{tree}")));
    let changed = [
        (tree, "n[1-2]", "n[1,5]"),
        (tree, "Name=c", "Name=d"),
        (tree, "es=a,b", "es=a"),
        (blocks, "2,4", "2"),
        (blocks, "n[3-4]", "n[3-5]"),
        (blocks, "Name=a", "Name=d"),
    ];
    for (text, from, to) in changed {
        let other = text.replacen(from, to, 1);
        assert_ne!(digest(text), digest(&other), "{other}");
    }
    let generated: Topology = "tree:2x4".parse().expect("a tree");
    assert_eq!(content_digest(&generated), None);
}

#[test]
fn a_name_selects_a_topology_of_a_file() {
    assert_eq!(split_name(" T.YAML:a:b "), Some(("T.YAML", Some("a:b"))));
    assert_eq!(split_name("a:b.yml"), Some(("a:b.yml", None)));
    assert_eq!(split_name("block[4,16]:6x4"), None);
    let error = TopologyFile::of_machine("t.conf:gpu").expect_err("one topology");
    assert!(error.ends_with("write t.conf, not t.conf:gpu"), "{error}");
    let text = "- topology: a\n  tree: {switches: [{switch: s, nodes: n1}]}\n- topology: b\n  tree: {switches: [{switch: s, nodes: 'n[1-2]'}]}\n";
    let machine = TopologyFile::read(text, "t.yaml", Some("b")).expect("b").machine;
    assert_eq!((machine.processors(), machine.to_string()), (2, "t.yaml:b".to_string()));
}
