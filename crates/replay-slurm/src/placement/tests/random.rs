//! Compares, on random machines, the implementation of the rule with a direct implementation of its
//! text.

use proptest::prelude::*;

use crate::placement::decide::Pick;
use crate::placement::positions::around;
use crate::placement::rank;
use crate::placement::tests::{Bench, Box3, Request};
use crate::placement::torus::{Cells, Layout};

/// A placement with all its anchors. An anchor is a list of cells, including holes.
struct ReferencePlacement {
    size: u32,
    anchors: Vec<Vec<u32>>,
}

/// Computes the placements of a torus directly from the sides of the torus and the sides of the
/// boxes.
fn reference_placements(sides: [u16; 3], boxes: &[Box3]) -> Vec<ReferencePlacement> {
    let [w, d, _] = sides.map(u32::from);
    let mut all: Vec<ReferencePlacement> = boxes
        .iter()
        .map(|&(extent, spacing, seed)| {
            let along = |axis: usize| {
                let step = if spacing[axis] == 0 { extent[axis] } else { spacing[axis] };
                around(sides[axis], step, seed[axis])
            };
            let mut anchors = Vec::new();
            for x in along(0) {
                for y in along(1) {
                    for z in along(2) {
                        let mut cells = Vec::new();
                        for dx in 0..extent[0] {
                            for dy in 0..extent[1] {
                                for dz in 0..extent[2] {
                                    let at = |base: u16, d: u16, side: u16| {
                                        (u32::from(base) + u32::from(d)) % u32::from(side)
                                    };
                                    let (x, y, z) = (
                                        at(x, dx, sides[0]),
                                        at(y, dy, sides[1]),
                                        at(z, dz, sides[2]),
                                    );
                                    cells.push(x + w * (y + d * z));
                                }
                            }
                        }
                        anchors.push(cells);
                    }
                }
            }
            ReferencePlacement { size: extent.iter().map(|&e| u32::from(e)).product(), anchors }
        })
        .collect();
    all.sort_by_key(|placement| placement.size);
    all
}

/// Implements the rule's text directly: compares every candidate in order with the best candidate
/// so far.
fn decide_directly(
    layout: &Layout,
    placements: &[Vec<ReferencePlacement>],
    free: &[Cells],
    size: u32,
    weights: &[u64],
) -> Option<Pick> {
    let mut best: Option<(Pick, u64)> = None;
    for (torus, placements) in placements.iter().enumerate() {
        for (placement, reference) in placements.iter().enumerate().filter(|one| one.1.size == size)
        {
            for (anchor, cells) in reference.anchors.iter().enumerate() {
                let nodes: Option<Vec<u32>> =
                    cells.iter().map(|&cell| layout.node(torus, cell)).collect();
                let Some(nodes) = nodes else { continue };
                if !cells.iter().all(|&cell| free[torus].contains(cell)) {
                    continue;
                }
                let next = placements[placement..].iter().find(|next| next.size > size);
                let cost = next.map_or(0, |next| {
                    let counts = |anchor: &&Vec<u32>| {
                        let there: Vec<u32> = anchor
                            .iter()
                            .copied()
                            .filter(|&cell| layout.node(torus, cell).is_some())
                            .collect();
                        there.iter().any(|cell| cells.contains(cell))
                            && there.iter().all(|&cell| free[torus].contains(cell))
                    };
                    next.anchors.iter().filter(counts).count() as u64
                });
                let weight = nodes.iter().map(|&node| weights[node as usize]).max().unwrap_or(0);
                let pick = Pick { torus, placement, anchor, cost };
                let better = match &best {
                    None => true,
                    Some((_, heaviest)) if weight != *heaviest => weight < *heaviest,
                    Some((other, _)) => {
                        let same = (other.torus, other.placement) == (torus, placement);
                        if same && cost != other.cost {
                            cost < other.cost
                        } else {
                            free[torus].len() < free[other.torus].len()
                        }
                    }
                };
                if better {
                    best = Some((pick, weight));
                }
            }
        }
    }
    best.map(|(pick, _)| pick)
}

/// Generates boxes that fit a torus.
fn boxes(sides: [u16; 3]) -> impl Strategy<Value = Vec<Box3>> {
    let one =
        (any::<[u16; 3]>(), any::<[u16; 3]>(), any::<[u16; 3]>()).prop_map(move |(a, b, c)| {
            let axis = |i: usize| 1 + a[i] % sides[i];
            let spacing = |i: usize| if b[i] % 3 == 0 { 0 } else { 1 + b[i] % sides[i] };
            ([0, 1, 2].map(axis), [0, 1, 2].map(spacing), [0, 1, 2].map(|i| c[i] % sides[i]))
        });
    proptest::collection::vec(one, 1..6)
}

/// A random torus: its sides, its boxes, and whether each cell is a hole.
type Drawn = ([u16; 3], Vec<Box3>, Vec<bool>);

fn torus() -> impl Strategy<Value = Drawn> {
    (1u16..6, 1u16..5, 1u16..4).prop_flat_map(|(x, y, z)| {
        let holes = proptest::collection::vec(proptest::bool::weighted(0.05), (x * y * z) as usize);
        (Just([x, y, z]), boxes([x, y, z]), holes)
    })
}

/// Builds a machine of random toruses.
fn machine_of(toruses: &[Drawn]) -> Bench {
    let mut first = 0;
    let mut region = |[w, d, _]: [u16; 3], cell: usize| {
        let (w, d) = (usize::from(w), usize::from(d));
        let at = [cell % w, cell / w % d, cell / w / d].map(|at| at as u16);
        first += 1;
        format!("{{anchor: {}, dims: {{x: 1, y: 1, z: 1}}, nodes: n{first}}}", super::map(at))
    };
    let texts: Vec<String> = (0..)
        .zip(toruses)
        .map(|(index, (sides, boxes, holes))| {
            let nodes = (0..).zip(holes).filter(|(_, hole)| !**hole);
            let regions: Vec<String> = nodes.map(|(cell, _)| region(*sides, cell)).collect();
            let regions = format!("regions: [{}]", regions.join(", "));
            super::yaml(&format!("t{index}"), *sides, &regions, boxes)
        })
        .collect();
    Bench::new(&texts)
}

fn mixed(node: u32, seed: u64) -> u64 {
    (u64::from(node) + 1).wrapping_mul(seed | 1) >> 40
}

/// Marks about `share` percent of the nodes as busy.
fn occupy(bench: &mut Bench, seed: u64, share: u32) {
    let nodes = 0..bench.layout.nodes() as u32;
    bench.take(nodes.filter(|&node| mixed(node, seed) % 100 < u64::from(share)));
}

/// Returns the first set of `wanted` disjoint places, in order.
fn first_set(places: &[(Pick, Vec<(usize, u32)>)], wanted: usize) -> Option<Vec<Pick>> {
    if wanted == 0 {
        return Some(Vec::new());
    }
    places.iter().enumerate().find_map(|(at, (pick, cells))| {
        let apart =
            |other: &&(Pick, Vec<(usize, u32)>)| !other.1.iter().any(|one| cells.contains(one));
        let later: Vec<_> = places[at + 1..].iter().filter(apart).cloned().collect();
        let rest = first_set(&later, wanted - 1)?;
        Some([vec![*pick], rest].concat())
    })
}

proptest! {
    /// The segments of an exact request are placed one after the other by the rule. If the rule
    /// cannot place all segments, the request gets the first set of disjoint places.
    #[test]
    fn an_exact_search_finds_segments_if_there_are_any(
        toruses in proptest::collection::vec(torus(), 1..3),
        occupied in any::<u64>(),
        share in 0u32..50,
        part in any::<u32>(),
        parts in 2u32..5,
    ) {
        let mut bench = machine_of(&toruses);
        occupy(&mut bench, occupied, share);
        let reference: Vec<Vec<ReferencePlacement>> =
            toruses.iter().map(|(sides, boxes, _)| reference_placements(*sides, boxes)).collect();
        let sizes: Vec<u32> = reference.iter().flatten().map(|one| one.size).collect();
        let part = sizes[part as usize % sizes.len()];
        let cells_of = |pick: &Pick| &reference[pick.torus][pick.placement].anchors[pick.anchor];
        let weights = vec![1; bench.layout.nodes()];
        let mut free = bench.free.clone();
        let one_by_one: Option<Vec<Pick>> = (0..parts)
            .map(|_| {
                let pick = decide_directly(&bench.layout, &reference, &free, part, &weights)?;
                cells_of(&pick).iter().for_each(|&cell| free[pick.torus].remove(cell));
                Some(pick)
            })
            .collect();
        let mut places = Vec::new();
        for (torus, placements) in reference.iter().enumerate() {
            for (placement, one) in placements.iter().enumerate().filter(|one| one.1.size == part) {
                for (anchor, cells) in one.anchors.iter().enumerate() {
                    // Free cells are not holes.
                    if cells.iter().all(|&cell| bench.free[torus].contains(cell)) {
                        let cells = cells.iter().map(|&cell| (torus, cell)).collect();
                        places.push((Pick { torus, placement, anchor, cost: 0 }, cells));
                    }
                }
            }
        }
        // Limit the number of sets to try.
        prop_assume!(places.len() <= 24);
        let expected = one_by_one.or_else(|| first_set(&places, parts as usize));
        let request =
            Request { size: part * parts, segment: Some(part), exact: true, ..Request::default() };
        prop_assert_eq!(bench.ask(&request).ok(), expected);
    }

    #[test]
    fn decisions_agree_with_the_text_of_the_rule(
        toruses in proptest::collection::vec(torus(), 1..4),
        occupied in any::<u64>(),
        share in 0u32..60,
        weights in proptest::option::of(any::<u64>()),
        size in any::<u32>(),
    ) {
        let mut bench = machine_of(&toruses);
        occupy(&mut bench, occupied, share);
        let of_node: Vec<u64> = (0..bench.layout.nodes() as u32)
            .map(|node| weights.map_or(1, |seed| mixed(node, seed) % 3)).collect();
        bench.weights = weights.map(|_| of_node.clone());
        let reference: Vec<Vec<ReferencePlacement>> =
            toruses.iter().map(|(sides, boxes, _)| reference_placements(*sides, boxes)).collect();
        let sizes: Vec<u32> = reference.iter().flatten().map(|one| one.size).collect();
        let size = sizes[size as usize % sizes.len()];
        let expected = decide_directly(&bench.layout, &reference, &bench.free, size, &of_node);
        let got = bench.ask(&Request { size, ..Request::default() }).ok().map(|picks| picks[0]);
        prop_assert_eq!(got, expected);
        // The job must get exactly the nodes of the box.
        if let Some(pick) = got {
            let torus = &bench.layout.toruses()[pick.torus];
            let placement = &torus.placements()[pick.placement];
            let mut cells = reference[pick.torus][pick.placement].anchors[pick.anchor].clone();
            cells.sort_unstable();
            let mut job = bench.layout.none();
            job[pick.torus].insert_all(placement.mask(pick.anchor));
            prop_assert_eq!(job[pick.torus].iter().collect::<Vec<_>>(), cells);
            prop_assert_eq!(rank::order(&bench.layout, &job).len() as u32, size);
        }
    }

    #[test]
    fn a_size_overlaps_if_two_of_its_anchors_share_a_cell(torus in torus()) {
        let (sides, boxes, _) = torus;
        let bench = Bench::of(sides, &boxes);
        let placements = bench.layout.toruses()[0].placements();
        let reference = reference_placements(sides, &boxes);
        for (index, placement) in placements.iter().enumerate() {
            let mine = &reference[index].anchors;
            let share = |a: &Vec<u32>, b: &Vec<u32>| a.iter().any(|cell| b.contains(cell));
            let themselves = mine.iter().enumerate()
                .any(|(i, a)| mine[i + 1..].iter().any(|b| share(a, b)));
            let others = reference.iter().enumerate()
                .filter(|&(other, one)| other != index && one.size == placement.size)
                .any(|(_, one)| one.anchors.iter().any(|b| mine.iter().any(|a| share(a, b))));
            prop_assert_eq!(placement.overlaps, themselves || others);
        }
    }
}
