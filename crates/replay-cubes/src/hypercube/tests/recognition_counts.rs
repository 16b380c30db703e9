//! Number of subcubes that each strategy recognises, on machines on which exactly the processors of
//! one subcube are free.

use crate::hypercube::cubic::Subcubes;
use crate::hypercube::tests::{cube, cubic_strategies, reference};
use replay_engine::allocator::subcube::Cube;

fn binomial(n: u32, k: u32) -> u32 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Returns the number of recognised subcubes by the formulas of section 4.7 of the specification.
fn expected(name: &str, n: u32, k: u32) -> u32 {
    let complete = binomial(n, k) << (n - k);
    match name {
        "buddy" => 1 << (n - k),
        "gray-code" if k == 0 || k == n => complete,
        "gray-code" => 1 << (n - k + 1),
        "modified-buddy" if k == 0 => complete,
        "modified-buddy" => (n - k + 1) << (n - k),
        _ => complete,
    }
}

/// Allocates every processor, one by one.
fn fill(strategy: &mut dyn Subcubes, n: u32) {
    for _ in 0..1u32 << n {
        assert!(strategy.take(0).is_some());
    }
    assert_eq!(strategy.take(0), None);
}

/// Returns whether the strategy recognises the subcube of these processors if no other processors
/// are free. On return, the processors are busy again.
fn recognises(strategy: &mut dyn Subcubes, k: u32, nodes: &[u32]) -> bool {
    nodes.iter().for_each(|&base| strategy.give(Cube { stars: 0, base }));
    match strategy.take(k) {
        Some(cube) => {
            assert!(cube.dimension() == k && nodes.iter().all(|&node| cube.contains(node)));
            true
        }
        None => {
            nodes.iter().for_each(|_| assert!(strategy.take(0).is_some()));
            false
        }
    }
}

fn count(strategy: &mut dyn Subcubes, n: u32, k: u32) -> u32 {
    let all = reference::subcubes(n, k);
    let nodes = |cube: Cube| cube.nodes().map(|node| node.0).collect::<Vec<_>>();
    all.filter(|&cube| recognises(strategy, k, &nodes(cube))).count() as u32
}

#[test]
fn counts_agree_with_the_formulas() {
    for n in 0..=6 {
        for (name, mut strategy) in cubic_strategies(n) {
            if name == "three-gray-codes" && n > 3 {
                continue;
            }
            fill(strategy.as_mut(), n);
            for k in 0..=n {
                assert_eq!(count(strategy.as_mut(), n, k), expected(name, n, k), "{name} {n} {k}");
            }
        }
    }
}

/// Checks the table of section 4.7 of the specification for ten dimensions.
#[test]
fn counts_agree_with_the_table_for_ten_dimensions() {
    let table: [(&str, [u32; 6]); 4] = [
        ("buddy", [512, 128, 32, 4, 2, 1]),
        ("gray-code", [1024, 256, 64, 8, 4, 1]),
        ("modified-buddy", [5120, 1024, 192, 12, 4, 1]),
        ("free-list", [5120, 15360, 8064, 180, 20, 1]),
    ];
    for (name, counts) in table {
        let mut strategies = cubic_strategies(10).into_iter();
        let (_, mut strategy) = strategies.find(|(known, _)| *known == name).expect("a strategy");
        fill(strategy.as_mut(), 10);
        for (k, expected) in [1, 3, 5, 8, 9, 10].into_iter().zip(counts) {
            assert_eq!(count(strategy.as_mut(), 10, k), expected, "{name} {k}");
            assert_eq!(expected, self::expected(name, 10, k));
        }
    }
}

/// Checks the three levels of recognition on eight processors.
#[test]
fn the_three_levels_of_recognition() {
    let levels = [("0**", 3), ("*1*", 2), ("*0*", 2), ("**1", 1)];
    for (text, level) in levels {
        let nodes: Vec<u32> = cube(text).nodes().map(|node| node.0).collect();
        for (name, mut strategy) in cubic_strategies(3) {
            fill(strategy.as_mut(), 3);
            let expected = match name {
                "buddy" => level >= 3,
                "gray-code" => level >= 2,
                // The only subcube in this test that is not a pair of aligned pairs is **1.
                "modified-buddy" => text != "**1",
                _ => true,
            };
            assert_eq!(recognises(strategy.as_mut(), 2, &nodes), expected, "{name} {text}");
        }
    }
}

/// Section 4.2 of the specification: processors are returned in an order in which merging results
/// in five cubes. The search still finds the whole hypercube.
#[test]
fn finds_the_whole_if_merging_alone_does_not() {
    let mut list = super::free_list::FreeList::new(3);
    fill(&mut list, 3);
    for node in [0b001, 0b011, 0b010, 0b110, 0b100, 0b101, 0b000, 0b111] {
        list.give(Cube { stars: 0, base: node });
    }
    let mut listed: Vec<String> =
        (0..=3).flat_map(|k| list.lists().of(k)).map(|cube| cube.text(3)).collect();
    listed.sort();
    assert_eq!(listed, ["*10", "0*1", "000", "10*", "111"]);
    assert_eq!(list.take(3), Some(cube("***")));
    assert!(list.lists().is_empty());
}
