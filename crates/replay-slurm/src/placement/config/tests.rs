use std::collections::HashSet;

use crate::placement::config::Config;

/// A valid file, in which tests introduce errors.
const GOOD: &str = "\
- topology: first
  tree: {switches: []}
- topology: pod
  cluster_default: true
  torus3d:
    toruses:
      - name: a
        dims: {x: 4, y: 2, z: 1}
        nodes: n[0-7]
        placements:
          - dims: {x: 2, y: 2, z: 1}
            anchor_spacing: {x: 1}
            anchor_seed: {y: 1}
      - name: b
        dims: {x: 2, y: 2, z: 1}
        regions: {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'm[1-2]'}
";

fn read(text: &str) -> Result<Config, String> {
    Config::read(text, "topology.yaml", None, None).map_err(|error| error.to_string())
}

/// Returns the error of the valid file in which one piece of text is replaced.
fn error_with(piece: &str, by: &str) -> String {
    assert!(GOOD.contains(piece), "{piece}");
    read(&GOOD.replacen(piece, by, 1)).expect_err(by)
}

#[test]
fn the_default_entry_is_read_unless_another_is_named() {
    let config = read(GOOD).expect("good");
    assert_eq!((&config.name[..], config.layout.nodes()), ("pod", 10));
    assert_eq!(config.hosts.join(" "), "n0 n1 n2 n3 n4 n5 n6 n7 m1 m2");
    let torus = &config.layout.toruses()[1];
    assert_eq!(torus.nodes.iter().collect::<Vec<_>>(), [1, 3]);
    let named = |name| Config::read(GOOD, "f", Some(name), None).map_err(|e| e.to_string());
    assert_eq!(named("pod").expect("good").name, "pod");
    assert_eq!(
        named("first").expect_err("a tree"),
        "f:1: the topology first contains tree, not torus3d; the file has f:pod with torus3d"
    );
    assert_eq!(
        named("pdo").expect_err("none"),
        "f:1: no topology is called pdo; the file contains first, pod"
    );
    assert_eq!(
        error_with("topology: pod", "topology: first"),
        "topology.yaml:3: topology: the topology on line 1 is also called first"
    );
    let two = GOOD.replace("topology: first\n", "topology: first\n  cluster_default: true\n");
    assert_eq!(
        read(&two).expect_err("two defaults"),
        "topology.yaml:5: cluster_default: the topology on line 1 is also the default"
    );
    // Without a default, the first topology is read.
    let first = GOOD.replace("  cluster_default: true\n", "");
    assert!(read(&first).expect_err("a tree").contains("contains tree"));
}

#[test]
fn spacing_and_seed_default_by_axis() {
    let config = read(GOOD).expect("good");
    let placement = &config.layout.toruses()[0].placements()[0];
    let bases: Vec<_> = (0..placement.anchors()).map(|anchor| placement.base(anchor)).collect();
    assert_eq!(bases, [[0, 1, 0], [1, 1, 0], [2, 1, 0], [3, 1, 0]]);
}

#[test]
fn every_error_has_a_line_and_a_key() {
    let toruses = "torus3d/toruses";
    let cases = [
        // E1
        (
            "torus3d:\n    toruses:",
            "flat: {}\n  torus3d:\n    -",
            "6: torus3d: expected a map with the key toruses, found a list",
        ),
        (
            "        placements:\n          - dims: {x: 2, y: 2, z: 1}",
            "        placements: 3\n        ignored:\n          - dims: {x: 2, y: 2, z: 1}",
            "11: torus a: torus3d/toruses/ignored: unknown key; expected one of name, dims, nodes, regions, placements",
        ),
        (
            "regions: {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'm[1-2]'}",
            "placements: 3",
            "16: torus b: torus3d/toruses/placements: expected a list, found \"3\"",
        ),
        (
            "regions: {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'm[1-2]'}",
            "regions: m",
            "16: torus b: torus3d/toruses/regions: expected a list, found \"m\"",
        ),
        // E2
        (
            "  torus3d:",
            "  tree: {switches: 1}\n  torus3d:",
            "5: tree: cannot be combined with torus3d; a topology has one kind",
        ),
        // E3
        (
            "name: b",
            "name: a",
            "14: torus a: torus3d/toruses: the torus on line 7 also has this name",
        ),
        (
            "      - name: b\n        dims",
            "      - dims",
            "14: torus3d/toruses: the key name is missing",
        ),
        (
            "'m[1-2]'",
            "'m1,n3'",
            "16: torus b: torus3d/toruses/regions/nodes: the node n3 also belongs to the torus a",
        ),
        ("n[0-7]", "n[0-6],n3", "9: torus a: torus3d/toruses/nodes: the node n3 is listed twice"),
        // E4
        (
            "        nodes: n[0-7]",
            "        nodes: n[0-7]\n        regions: []",
            "10: torus a: torus3d/toruses/regions: cannot be combined with nodes; a torus has either nodes or regions",
        ),
        // E5
        (
            "dims: {x: 4, y: 2, z: 1}",
            "dims: {x: 4, y: 2}",
            "8: torus a: torus3d/toruses/dims: z must be at least 1",
        ),
        (
            "dims: {x: 4, y: 2, z: 1}",
            "dims: {x: 65535, y: 65535, z: 2}",
            "8: torus a: torus3d/toruses/dims: more than 4294967295 cells",
        ),
        (
            "dims: {x: 4, y: 2, z: 1}",
            "dims: {x: 65535, y: 65535, z: 1}",
            "8: torus a: torus3d/toruses/dims: the toruses have more than 16777216 cells in total",
        ),
        (
            "- dims: {x: 2, y: 2, z: 1}",
            "- dims: {x: 2, y: 0, z: 1}",
            "11: torus a: torus3d/toruses/placements/dims: y must be at least 1",
        ),
        // E6
        (
            "n[0-7]",
            "n[0-6]",
            "9: torus a: torus3d/toruses/nodes: expected 8 nodes, one per cell, found 7",
        ),
        // E7
        (", nodes: 'm[1-2]'", "", "16: torus b: torus3d/toruses/regions: the key nodes is missing"),
        (
            "anchor: {x: 1}",
            "anchor: {x: 2}",
            "16: torus b: torus3d/toruses/regions: extends to 3 along x, but the torus has 2 cells; regions do not wrap",
        ),
        (
            "m[1-2]",
            "m[1-3]",
            "16: torus b: torus3d/toruses/regions/nodes: expected 2 nodes, one per cell, found 3",
        ),
        (
            "regions: {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'm[1-2]'}",
            "regions: [{dims: {x: 1, y: 1, z: 1}, nodes: m1}, {dims: {x: 1, y: 2, z: 1}, nodes: 'm[2-3]'}]",
            "16: torus b: torus3d/toruses/regions: covers the cell 0, 0, 0, which another region covers",
        ),
        // E8
        (
            "- dims: {x: 2, y: 2, z: 1}",
            "- dims: {x: 5, y: 2, z: 1}",
            "11: torus a: torus3d/toruses/placements/dims: x is 5; it must be at most 4, the side of the torus",
        ),
        (
            "anchor_spacing: {x: 1}",
            "anchor_spacing: {x: 5}",
            "12: torus a: torus3d/toruses/placements/anchor_spacing: x is 5; it must be at most 4, the side of the torus",
        ),
        (
            "anchor_seed: {y: 1}",
            "anchor_seed: {y: 2}",
            "13: torus a: torus3d/toruses/placements/anchor_seed: y is 2; it must be less than 2, the side of the torus",
        ),
        // C3
        (
            "anchor_seed: {y: 1}",
            "anchor_seed: {y: 65536}",
            "13: torus a: torus3d/toruses/placements/anchor_seed/y: \"65536\" is not an integer from 0 to 65535",
        ),
        (
            "anchor_seed: {y: 1}",
            "anchor_seed: {y: -1}",
            "13: torus a: torus3d/toruses/placements/anchor_seed/y: \"-1\" is not an integer from 0 to 65535",
        ),
        (
            "anchor_seed: {y: 1}",
            "anchor_seed: {side: 1}",
            "13: torus a: torus3d/toruses/placements/anchor_seed/side: unknown key; expected one of x, y, z",
        ),
        // C5
        (
            "n[0-7]",
            "n[0-7",
            "9: torus a: torus3d/toruses/nodes: \"n[0-7\": a bracket that is not closed",
        ),
        // Keys
        (
            "anchor_seed",
            "anchor_sed",
            "13: torus a: torus3d/toruses/placements/anchor_sed: unknown key; did you mean \"anchor_seed\"?",
        ),
        (
            "cluster_default: true",
            "cluster_default: 1",
            "4: cluster_default: \"1\" is neither true nor false",
        ),
    ];
    for (piece, by, expected) in cases {
        assert_eq!(error_with(piece, by), format!("topology.yaml:{expected}"), "{piece} -> {by}");
    }
    let none = "- topology: t\n  torus3d:\n    toruses: []\n    # none\n";
    assert!(
        read(none)
            .expect_err("none")
            .contains(&format!("{}: the list of toruses is empty", &toruses[..7]))
    );
    assert_eq!(
        read("").expect_err("empty"),
        "topology.yaml:1: the file is empty; expected a list of topologies"
    );
    assert_eq!(
        read("a: 1").expect_err("a map"),
        "topology.yaml:1: expected a list of topologies, found a map"
    );
    assert!(read("- [").expect_err("broken").starts_with("topology.yaml:"));
}

#[test]
fn an_unknown_host_is_a_hole_and_gives_a_warning() {
    let known: HashSet<String> =
        ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "m1"].map(String::from).into();
    let config = Config::read(GOOD, "f", None, Some(&known)).expect("good");
    assert_eq!(config.layout.nodes(), 8);
    assert_eq!(config.hosts.join(" "), "n0 n1 n2 n3 n4 n5 n6 m1");
    assert_eq!(
        config.warnings,
        [
            "a: unknown node n7; its cell is treated as a hole",
            "b: unknown node m2; its cell is treated as a hole"
        ]
    );
}
