use proptest::prelude::*;

use super::*;
use crate::topology::{PairDistances, Topology};

fn machine(text: &str) -> Hierarchy {
    match text.parse::<Topology>() {
        Ok(Topology::Hierarchy(hierarchy)) => hierarchy,
        other => panic!("{text}: {other:?}"),
    }
}

fn switch(name: &str, nodes: &[&str], switches: &[&str]) -> SwitchEntry {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    SwitchEntry { line: 7, name: name.into(), nodes: owned(nodes), switches: owned(switches) }
}

fn problem(entries: &[SwitchEntry]) -> String {
    Hierarchy::of_switches("t".into(), entries).expect_err("wrong").to_string()
}

#[test]
fn a_generated_tree_lists_leaves_first_and_the_root_last() {
    let tree = machine("tree:4x8x18");
    assert_eq!((tree.processors(), tree.to_string()), (576, "tree:4x8x18".into()));
    let switches = tree.tree().expect("a tree").switches();
    let levels: Vec<u32> = switches.iter().map(|switch| switch.level).collect();
    assert_eq!((switches.len(), levels[31], levels[32], levels[36]), (37, 0, 1, 2));
    assert_eq!((&switches[0].name[..], &switches[35].name[..]), ("s0-00", "s1-3"));
    assert_eq!((&tree.names()[5][..], tree.units()[36].nodes), ("n005", 576));
    assert_eq!(machine("tree:18").units().len(), 1);
}

#[test]
fn machines_that_cannot_be_are_refused() {
    for bad in [
        "tree:",
        "tree:0x4",
        "tree:2x2x2x2x2x2x2x2x2",
        "tree:1024x1025",
        "block:4",
        "block:2x2x2",
        "block[3]:0x4",
        "block[0]:2x4",
        "block[4,12]:2x4",
        "block[4,2]:2x4",
        "block[1,65536]:2x4",
        "block[]:2x4",
        "block[4:2x4",
    ] {
        assert!(bad.parse::<Topology>().is_err(), "{bad}");
    }
    let blocks = machine("block[18,72]:8x18");
    let blocks = blocks.blocks().expect("blocks");
    assert_eq!((blocks.base_size(), blocks.levels()), (18, &[0, 2][..]));
    assert_eq!(machine("block:8x18").blocks().expect("blocks").levels(), [0, 1, 2, 3, 4]);
}

#[test]
fn wrong_trees_are_refused_with_the_switch() {
    assert_eq!(problem(&[]), "there is no switch");
    assert_eq!(problem(&[switch("a", &[], &[])]), "there is no node");
    assert_eq!(
        problem(&[switch("a", &["n1"], &[]), switch("a", &["n2"], &[])]),
        "switch a: line 7 has the same name"
    );
    assert_eq!(
        problem(&[switch("a", &["n1"], &["b"])]),
        "switch a: both nodes and switches are given; a switch has either nodes or switches"
    );
    assert_eq!(
        problem(&[switch("a", &["n"], &[]), switch("b", &[], &["x"])]),
        "switch b: there is no switch x"
    );
    assert_eq!(
        problem(&[switch("a", &["n"], &[]), switch("b", &[], &["b"])]),
        "switch b: the switch is below itself"
    );
    let cycle = [switch("a", &["n"], &[]), switch("b", &[], &["c"]), switch("c", &[], &["b"])];
    assert_eq!(
        problem(&cycle),
        "switch b: the switches form a cycle: this switch is indirectly below itself"
    );
}

#[test]
fn several_roots_of_unequal_depth_are_joined_by_a_virtual_switch() {
    let entries = [
        switch("a", &["n10", "n9"], &[]),
        switch("b", &["n1"], &[]),
        switch("c", &["n2"], &[]),
        switch("d", &[], &["b", "c"]),
    ];
    let tree = Hierarchy::of_switches("t".into(), &entries).expect("two roots");
    assert_eq!(tree.names(), ["n1", "n2", "n9", "n10"]);
    assert_eq!(tree.units().len(), 5);
    // The lowest switch above the leaves b and c is d; the lowest switch above the leaves a and b
    // is the virtual switch.
    assert_eq!([(0, 1), (0, 2), (2, 3)].map(|(a, b)| tree.hops(NodeId(a), NodeId(b))), [4, 5, 2]);
    let enclosing =
        |nodes: &[u32]| tree.enclosing_nodes(&nodes.iter().map(|&n| NodeId(n)).collect::<Vec<_>>());
    assert_eq!([enclosing(&[2]), enclosing(&[0, 1]), enclosing(&[0, 2])], [2, 2, 4]);
}

proptest! {
    #[test]
    fn sums_of_distances_agree_with_pairs(
        text in proptest::sample::select(vec!["tree:2x3x4", "tree:2x2x2x3", "block[2,4,16]:11x2", "block:5x5", "tree:7"]),
        members in proptest::collection::vec(any::<bool>(), 32),
    ) {
        let topology: Topology = text.parse().expect("a machine");
        prop_assert_eq!(topology.to_string().parse(), Ok(topology.clone()));
        let nodes: Vec<_> = topology.nodes().filter(|n| members[n.index()]).collect();
        let pairs = nodes.iter().enumerate().flat_map(|(i, &a)| nodes[..i].iter().map(move |&b| (a, b)));
        let expected: u64 = pairs.map(|(a, b)| u64::from(topology.hops(a, b))).sum();
        prop_assert_eq!(PairDistances::new(&topology).sum(&nodes), expected);
    }
}
