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
    assert_eq!(blocks.warnings, ["line 2: block b1: 3 nodes, fewer than the base size 4"]);
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
        ("BlockName=b Nodes=n1 Switches=x", "t.conf:1: block b: Switches does not belong here"),
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
