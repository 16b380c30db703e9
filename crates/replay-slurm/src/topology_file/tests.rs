use crate::topology_file::*;
use replay_engine::topology::hierarchy::{HierarchyKind, Simplification};
use replay_engine::topology::{Topology, content_digest};

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
        (
            "- topology: t\n  flat: true\n",
            "t.yaml:1: the topology t is neither a tree nor blocks; no topology of the file contains tree or block",
        ),
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

/// The switches of a tree, each with its parent, its nodes and its level.
fn switches(machine: &Hierarchy) -> String {
    let tree = machine.tree().expect("a tree");
    let name = |switch: u32| &tree.switches()[switch as usize].name[..];
    let one = |switch: &replay_engine::topology::hierarchy::Switch| {
        let nodes = machine.host_list(&switch.nodes).expect("a file");
        let parent = switch.parent.map_or("-", name);
        format!("{}<{parent}:{}:{nodes}", switch.name, switch.level)
    };
    tree.switches().iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn switches_above_the_same_switches_are_one_switch() {
    let leaves = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n";
    let one = "a<t:0:n[1-2] b<t:0:n[3-4] t<-:1:";
    for (upper, expected, simplifications) in [
        ("SwitchName=t Switches=a,b", one, 0),
        ("SwitchName=t Switches=a,b,a", one, 0),
        (
            "SwitchName=s Switches=a,b\nSwitchName=u Switches=b,a\nSwitchName=t Switches=[a-b]",
            one,
            1,
        ),
        (
            "SwitchName=s Switches=a,b\nSwitchName=t Switches=a,b\nSwitchName=r Switches=s,t",
            "a<t:0:n[1-2] b<t:0:n[3-4] t<r:1: r<-:2:",
            1,
        ),
        // Each of two switches is above one of two merged switches.
        (
            "SwitchName=s Switches=a,b\nSwitchName=t Switches=a,b\nSwitchName=x Switches=s\nSwitchName=y Switches=t",
            "a<t:0:n[1-2] b<t:0:n[3-4] t<y:1: y<-:2:",
            2,
        ),
        // Only one of two merged switches is below another switch.
        (
            "SwitchName=s Switches=a,b\nSwitchName=t Switches=a,b\nSwitchName=r Switches=s",
            "a<t:0:n[1-2] b<t:0:n[3-4] t<r:1: r<-:2:",
            1,
        ),
    ] {
        let upper = upper.replace("[a-b]", "a,b");
        let machine = conf(&format!("{leaves}{upper}")).expect(&upper).machine;
        assert_eq!(switches(&machine), expected, "{upper}");
        assert_eq!(machine.simplifications().len(), simplifications, "{upper}");
    }
    let file = "- topology: t\n  tree:\n    switches: [{switch: a, nodes: 'n[1-2]'}, {switch: b, nodes: 'n[3-4]'}, {switch: s, children: 'a,b'}, {switch: t, children: 'b,a'}]\n";
    assert_eq!(switches(&yaml(file).expect("a tree").machine), one);
}

#[test]
fn a_switch_below_different_switches_is_kept_below_the_last() {
    let leaves = "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Nodes=n3\n";
    let text = format!(
        "{leaves}SwitchName=p Switches=a,b,c\nSwitchName=q Switches=b,c\nSwitchName=r Switches=c\n"
    );
    let machine = conf(&text).expect("a tree").machine;
    assert_eq!(switches(&machine), "a<p:0:n1 b<q:0:n2 c<r:0:n3 p<-:1: q<-:1: r<-:1:");
    let pair = |child: &str, parent: &str| [child.to_string(), parent.to_string()];
    let later = |switch: &str, children, is_removed| Simplification::LaterParent {
        switch: switch.to_string(),
        children,
        is_removed,
    };
    let expected = [
        later("p", vec![pair("b", "q"), pair("c", "r")], false),
        later("q", vec![pair("c", "r")], false),
    ];
    assert_eq!(machine.simplifications(), expected);
    // No switch is left below p, and then none below o.
    let text = format!(
        "{leaves}SwitchName=p Switches=a,b\nSwitchName=o Switches=p\nSwitchName=q Switches=a,b,c\n"
    );
    let machine = conf(&text).expect("a tree").machine;
    assert_eq!(switches(&machine), "a<q:0:n1 b<q:0:n2 c<q:0:n3 q<-:1:");
    let expected = [later("p", vec![pair("a", "q"), pair("b", "q")], true)];
    assert_eq!(machine.simplifications(), expected);
}

#[test]
fn a_node_that_is_listed_several_times_is_kept_once() {
    let text = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[4-8,5]\nSwitchName=c Nodes=n[1-2]\nSwitchName=t Switches=a,b,c\n";
    let machine = conf(text).expect("a tree").machine;
    assert_eq!(switches(&machine), "a<t:0:n[1-4] b<t:0:n[5-8] c<t:0: t<-:1:");
    let repeated = [["n4", "a", "b"], ["n5", "b", "b"], ["n1", "a", "c"], ["n2", "a", "c"]];
    let nodes = repeated.map(|names| names.map(str::to_string)).into();
    assert_eq!(machine.simplifications(), [Simplification::RepeatedNodes { nodes }]);
    let blocks =
        conf("BlockName=a Nodes=n[1,1]\nBlockName=b Nodes=n[1-3]\n").expect("blocks").machine;
    let HierarchyKind::Blocks(blocks) = blocks.kind() else { panic!("blocks") };
    let nodes = |block| blocks.nodes(block).iter().map(|node| node.0).collect::<Vec<_>>();
    assert_eq!((blocks.base_size(), nodes(0), nodes(1)), (1, vec![0], vec![1, 2]));
}

#[test]
fn slurm_syntax_of_values_is_read() {
    let plain =
        "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[5-8]\nSwitchName=top Switches=s0,s1\n";
    let plain = conf(plain).expect("a tree").machine;
    for text in [
        "SwitchName=s0\tNodes = n[1-4] # n9\nSwitchName= s1 Nodes =n[5-8]\nSwitchName=top Switches=s0,s1\n",
        "SwitchName=\"s0\" Nodes=\"n[1-4]\"\nSwitchName=s1 Nodes=\"n5, n[6-8]\" LinkSpeed=\"9\"\nSwitchName=top switches=\"s[0-1]\"\n",
        "SwitchName=s0 Nodes=n1,\\\nn2,n\\\n[3-4]\nSwitchName=s1 \\ # a comment\n  Nodes=n[5-8]\nSwitchName=top SWITCHES=s[0-1] \\\n",
        "SwitchName=s0 Nodes=n[1-4]\r\nSwitchName=s1 Nodes=n[5-8] \\\r\n\r\nSwitchName=top Switches=s[0-1]\r\n",
    ] {
        let read = conf(text).expect(text);
        assert_eq!(read.machine, plain, "{text}");
        assert_eq!(read.machine.simplifications(), [], "{text}");
    }
    let blocks = "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=n[4-7]\nBlockSizes=";
    let plain = conf(&format!("{blocks}4,8")).expect("blocks").machine;
    for sizes in ["\"4,8\"", " \"4, 8\"", " 4,\\\n8 # sizes"] {
        assert_eq!(conf(&format!("{blocks}{sizes}")).expect(sizes).machine, plain, "{sizes}");
    }
}

const SWITCHES: &str = "SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-1]\nSwitchName=b Level=0 LinkSpeed=1 Nodes=n2\nSwitchName=t Level=1 LinkSpeed=1 Nodes=n[0-2] Switches=a,b\n";
const BLOCKS: &str = "BlockName=r0 BlockIndex=0 Nodes=n[0-2] BlockSize=2\nBlockName=r1 BlockIndex=1 Nodes=n[3-5] BlockSize=2\nBlockName=r2 BlockIndex=2 Nodes=n[6-8] BlockSize=2\nAggregatedBlock=r[0-1] BlockIndex=3 Nodes=n[0-5] BlockSize=4\nAggregatedBlock=r[0-2] BlockIndex=4 Nodes=n[0-8] BlockSize=8\n";

#[test]
fn the_output_of_scontrol_is_the_same_machine() {
    let tree = "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\nSwitchName=t Switches=a,b\n";
    assert_eq!(conf(SWITCHES).expect("a tree").machine, conf(tree).expect("a tree").machine);
    let blocks = "BlockName=r0 Nodes=n[0-2]\nBlockName=r1 Nodes=n[3-5]\nBlockName=r2 Nodes=n[6-8]\nBlockSizes=2,4,8\n";
    let blocks = conf(blocks).expect("blocks").machine;
    assert_eq!(conf(BLOCKS).expect("blocks").machine, blocks);
    let mut lines: Vec<&str> = BLOCKS.lines().collect();
    lines.reverse();
    assert_eq!(conf(&lines.join("\n")).expect("the index is the order").machine, blocks);
    // A switch below two switches, and a leaf without nodes.
    let spines =
        "SwitchName=u Level=1 Nodes=n[0-2] Switches=a,b\nSwitchName=e Level=0 LinkSpeed=1\n";
    let spines = conf(&format!("{SWITCHES}{spines}")).expect("a tree").machine;
    assert_eq!(switches(&spines), "a<u:0:n[0-1] b<u:0:n2 u<-:1: e<-:0:");
}

#[test]
fn contradictions_in_the_output_of_scontrol_are_errors() {
    for (text, piece, by, expected) in [
        (
            SWITCHES,
            " Switches=a,b",
            "",
            "3: switch t: Level=1, but Switches is missing; the line may be cut (unset SLURM_TOPO_LEN and run scontrol again)",
        ),
        (
            SWITCHES,
            "Level=1",
            "Level=0",
            "3: switch t: Level=0, but there are Switches; the line may be cut (unset SLURM_TOPO_LEN and run scontrol again)",
        ),
        (
            SWITCHES,
            "Level=1",
            "Level=2",
            "3: switch t: Level=2, but the highest switch below it has Level=0",
        ),
        (
            SWITCHES,
            "n[0-2]",
            "n[0-1]",
            "3: switch t: Nodes does not contain n2, a node of the switches below it",
        ),
        (
            SWITCHES,
            "n[0-2]",
            "n[0-3]",
            "3: switch t: Nodes contains n3, which is not a node of the switches below it",
        ),
        (SWITCHES, "Level=0", "Level=x", "1: switch a: Level: \"x\" is not a number"),
        (SWITCHES, "Switches=a,b", "Switches=a,b,c", "3: switch t: there is no switch c"),
        (
            BLOCKS,
            "BlockIndex=1",
            "BlockIndex=0",
            "2: block r1: BlockIndex=0, but the next index is 1",
        ),
        (
            BLOCKS,
            "BlockIndex=1",
            "",
            "2: block r1: BlockIndex is missing, but other blocks have it",
        ),
        (
            BLOCKS,
            "n[3-5] BlockSize=2",
            "n[3-5] BlockSize=3",
            "2: block r1: BlockSize is not 2, the BlockSize of another base block",
        ),
        (
            BLOCKS,
            "BlockSize=4",
            "BlockSize=6",
            "4: aggregated block r[0-1]: a block of 6 nodes consists of 3 consecutive base blocks, the first of which has an index that is a multiple of 3",
        ),
        (
            BLOCKS,
            "BlockSize=4",
            "BlockSize=5",
            "4: aggregated block r[0-1]: BlockSize=5 is not a multiple of the base size 2",
        ),
        (BLOCKS, "BlockSize=4", "", "4: aggregated block r[0-1]: BlockSize is missing"),
        (
            BLOCKS,
            "Block=r[0-1]",
            "Block=r[1-2]",
            "4: aggregated block r[1-2]: a block of 4 nodes consists of 2 consecutive base blocks, the first of which has an index that is a multiple of 2",
        ),
        (BLOCKS, "Block=r[0-1]", "Block=x", "4: aggregated block x: there is no block x"),
        (
            BLOCKS,
            "n[0-5]",
            "n[0-4]",
            "4: aggregated block r[0-1]: Nodes does not contain n5, a node of its base blocks",
        ),
        (
            BLOCKS,
            "BlockName=r0",
            "BlockSizes=2\nBlockName=r0",
            "1: BlockSizes cannot be combined with BlockSize",
        ),
    ] {
        assert!(text.contains(piece), "{piece}");
        let text = text.replacen(piece, by, 1);
        assert_eq!(conf(&text).expect_err(&text), format!("t.conf:{expected}"));
    }
    let sizes = BLOCKS.replace("BlockSize=2", "");
    let expected = "t.conf:4: AggregatedBlock needs base blocks with BlockSize";
    assert_eq!(conf(&sizes).expect_err("no base size"), expected);
}

#[test]
fn an_error_about_the_kind_lists_the_topologies_of_the_file() {
    let text = "- topology: flat\n  flat: true\n- topology: gb\n  block: {blocks: [{block: b, nodes: n1}]}\n- topology: cpu\n  tree: {switches: [{switch: s, nodes: n2}]}\n";
    let expected = "t.yaml:1: the topology flat is neither a tree nor blocks; the file has t.yaml:gb, t.yaml:cpu with tree or block";
    assert_eq!(yaml(text).expect_err("flat"), expected);
    let config = crate::placement::config::Config::read(text, "t.yaml", None, None);
    let expected = "t.yaml:1: the topology flat contains flat, not torus3d; the file has t.yaml:gb, t.yaml:cpu with torus3d or tree or block";
    assert_eq!(config.expect_err("flat").to_string(), expected);
}

#[test]
fn a_part_has_the_chosen_nodes_and_is_written() {
    let names = |list: &str| replay_engine::workload::nodes::names(list, 99).expect(list);
    let tree = "SwitchName=s1 Nodes=n[09-10,1]\nSwitchName=s2 Nodes=n[2-5]\nSwitchName=s3 Nodes=m7\nSwitchName=u Switches=s1,s2\nSwitchName=v Switches=s3\nSwitchName=t Switches=u,v\n";
    let tree = conf(tree).expect("a tree").machine;
    let blocks = "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=n[4-7]\nBlockName=b2 Nodes=n[8-12]\nBlockSizes=4,8\n";
    let blocks = conf(blocks).expect("blocks").machine;
    for (machine, list, expected) in [
        (
            &tree,
            "n[3-4],n10,n3",
            "# 3 of 8 nodes of t.conf\nSwitchName=s1 Nodes=n10\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=u Switches=s[1-2]\nSwitchName=t Switches=u\n",
        ),
        (
            &tree,
            "m7",
            "# 1 of 8 nodes of t.conf\nSwitchName=s3 Nodes=m7\nSwitchName=v Switches=s3\nSwitchName=t Switches=v\n",
        ),
        (
            &tree,
            "n[1-5],n[09-10],m7",
            "# t.conf\nSwitchName=s1 Nodes=n[09,1,10]\nSwitchName=s2 Nodes=n[2-5]\nSwitchName=s3 Nodes=m7\nSwitchName=u Switches=s[1-2]\nSwitchName=v Switches=s3\nSwitchName=t Switches=u,v\n",
        ),
        (
            &blocks,
            "n[5-8]",
            "# 4 of 13 nodes of t.conf\nBlockName=b0\nBlockName=b1 Nodes=n[5-7]\nBlockName=b2 Nodes=n8\nBlockSizes=4,8\n",
        ),
    ] {
        let part = machine.part(&names(list)).expect(list);
        assert_eq!(conf_text(&part).expect(list), expected);
        let read = conf(expected).expect(list).machine;
        assert_eq!((read.processors(), &read), (part.processors(), &part));
    }
    assert_eq!(
        tree.part(&names("n[4-8]")).expect_err("unknown"),
        "t.conf does not have node n6 and 2 more"
    );
    assert_eq!(tree.part(&[]).expect_err("none"), "there is no switch");
    let odd = "- topology: t\n  tree: {switches: [{switch: 'a b', nodes: n1}]}\n";
    let odd = yaml(odd).expect("a tree").machine;
    assert!(
        conf_text(&odd).expect_err("a blank").starts_with("t.yaml: a topology.conf cannot have")
    );
    let generated: Topology = "block[2,8]:3x2".parse().expect("blocks");
    let generated = generated.hierarchy().expect("blocks").clone();
    let text = conf_text(&generated).expect("text");
    assert_eq!(
        text,
        "# block[2,8]:3x2\nBlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\nBlockName=b2 Nodes=n[4-5]\nBlockSizes=2,8\n"
    );
}

#[test]
fn the_lists_of_a_file_have_a_limit() {
    let mut entries = Entries { listed: MOST_LISTED - 5, ..Entries::default() };
    assert_eq!(entries.names("n[1-4]").map(|names| names.len()), Ok(4));
    let expected = "more than 8,388,608 names in the lists of the file";
    assert_eq!(entries.names("n[1-2]").expect_err("too many"), expected);
}
