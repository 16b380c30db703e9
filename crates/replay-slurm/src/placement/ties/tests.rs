use proptest::prelude::*;

use crate::placement::ties::*;
use crate::placement::torus::Steps;

/// Returns the terms of a candidate, computed from their definitions.
fn terms(ties: &Ties, [placement, anchor]: [usize; 2], query: &TieQuery<'_>) -> [i128; 6] {
    let torus = ties.torus();
    let all = torus.placements();
    let cells =
        |index: usize, anchor: usize| -> Vec<u32> { cells_of(all[index].mask(anchor)).collect() };
    let candidate = cells(placement, anchor);
    let share = |other: &[u32]| other.iter().any(|cell| candidate.contains(cell));
    let is_free = |other: &[u32]| other.iter().all(|&cell| ties.open.free().contains(cell));
    let (mut larger, mut equal, mut delay) = (0, 0, 0);
    let mut sizes: Vec<u32> = all.iter().map(|one| one.size).collect();
    sizes.dedup();
    for size in sizes {
        let anchors: Vec<(usize, usize)> = (0..all.len())
            .filter(|&index| all[index].size == size)
            .flat_map(|index| (0..all[index].anchors()).map(move |anchor| (index, anchor)))
            .filter(|&(index, anchor)| all[index].is_whole(anchor))
            .filter(|&(index, anchor)| {
                size <= query.size || {
                    let down = |&cell: &u32| ties.down.cells.contains(cell);
                    !cells(index, anchor).iter().any(down)
                }
            })
            .collect();
        for &(index, at) in &anchors {
            let other = cells(index, at);
            if (index, at) == (placement, anchor) || !share(&other) || !is_free(&other) {
                continue;
            }
            if size > query.size {
                larger += i128::from(query.worth[index]);
            } else if size == query.size {
                equal += i128::from(query.worth[index]);
            }
        }
        if size <= query.size || (size as usize) * LARGE < torus.cells() || anchors.is_empty() {
            continue;
        }
        let left = |&(index, at): &(usize, usize)| {
            let other = cells(index, at);
            let ends = other.iter().map(|&cell| ties.ends[cell as usize]);
            let left = ends.max().unwrap_or(0).saturating_sub(query.now);
            if share(&other) { left.max(query.estimate) } else { left }
        };
        let left: Vec<u64> = anchors.iter().map(left).collect();
        let least = left.iter().copied().min().unwrap_or(0);
        let mean = left.iter().map(|&t| u128::from(t)).sum::<u128>() / left.len() as u128;
        let worth = i128::from(query.worth[anchors[0].0]);
        delay += worth * (50 * i128::from(least) + mean as i128);
    }
    let (mut contact, mut wall, mut together) = (0, 0, 0);
    for &cell in &candidate {
        let at = torus.coord(cell);
        for axis in 0..3 {
            let last = torus.sides[axis] - 1;
            for (step, edge) in [(1, last), (last, 0)] {
                if at[axis] == edge && !ties.fixed.wrapped[axis] {
                    wall += 1;
                    continue;
                }
                let mut next = at;
                next[axis] = (at[axis] + step) % torus.sides[axis];
                let other = torus.cell(next);
                if candidate.contains(&other) || ties.open.free().contains(other) {
                    continue;
                }
                if ties.down.cells.contains(other) {
                    wall += i128::from(ties.down.is_wall);
                    continue;
                }
                contact += 1;
                if query.has_estimate && ties.estimated.contains(other) {
                    let end = ties.ends[other as usize].max(query.now);
                    let apart = end.abs_diff(query.now + query.estimate);
                    let levels = [8, 4, 2, 1].into_iter();
                    let level = levels.filter(|times| times * apart <= query.estimate).count();
                    together += level as i128;
                }
            }
        }
    }
    [larger, equal, contact, wall, together, delay]
}

/// Returns the sum of distances over all pairs of cells of a box.
fn all_pairs(ties: &Ties, placement: usize) -> u64 {
    let torus = ties.torus();
    let cells: Vec<[u16; 3]> =
        cells_of(torus.placements()[placement].mask(0)).map(|cell| torus.coord(cell)).collect();
    let distance = |a: [u16; 3], b: [u16; 3]| -> u64 {
        let along = |axis: usize| {
            let apart = a[axis].abs_diff(b[axis]);
            u64::from(if ties.fixed.wrapped[axis] {
                apart.min(torus.sides[axis] - apart)
            } else {
                apart
            })
        };
        (0..3).map(along).sum()
    };
    let pairs =
        cells.iter().enumerate().flat_map(|(i, &a)| cells[..i].iter().map(move |&b| (a, b)));
    pairs.map(|(a, b)| distance(a, b)).sum()
}

proptest! {
    #[test]
    fn the_smallest_sum_by_the_definitions_wins(
        sides in [3u16..5, 3u16..5, 3u16..5],
        boxes in proptest::collection::vec(([1u16..5, 1u16..5, 1u16..5], 1u16..5), 1..6),
        hole in proptest::option::of(0u32..27),
        events in proptest::collection::vec((any::<u16>(), 1u64..100, any::<bool>()), 0..12),
        weights in [-1i64..3, -1i64..3, -1i64..3, -1i64..3, -1i64..3, -1i64..3],
        wrapped: [bool; 3],
        filter in prop_oneof![
            Just(CandidateFilter::All),
            Just(CandidateFilter::First),
            (0.0..1.0f64).prop_map(CandidateFilter::Compact),
        ],
        (pick, estimate, has_estimate) in (any::<u16>(), 1u64..100, any::<bool>()),
        (down, back, is_wall) in (proptest::collection::btree_set(0u32..27, 0..5), 0usize..3, any::<bool>()),
    ) {
        let mut torus = Torus::new("t".into(), sides, |cell| Some(cell) != hole).expect("small");
        for (extent, step) in boxes {
            let extent = [0, 1, 2].map(|axis| extent[axis].min(sides[axis]));
            let spacing = sides.map(|side| step.min(side));
            let steps = Steps { spacing, seed: [0; 3], wrapped, flush: true };
            torus.allow(extent, &steps).expect("little memory");
        }
        let sizes: Vec<u32> = torus.placements().iter().map(|one| one.size).collect();
        let worth: Vec<u64> = sizes.iter().map(|&size| u64::from(size) * u64::from(size % 3)).collect();
        let mut ties = Ties::with_walls(torus, wrapped);
        let (mut now, mut running) = (0, Vec::new());
        let size = |pick: u16| sizes[usize::from(pick) % sizes.len()];
        for (pick, time, ends) in events {
            now += time / 3;
            if ends && !running.is_empty() {
                let place = running.remove(usize::from(pick) % running.len());
                ties.finish(place);
            } else if let Some(place) = ties.first(size(pick)) {
                ties.start(place, now + time, time % 3 != 0);
                running.push(place);
            }
        }
        let free = |cell: &u32| ties.open.free().contains(*cell);
        let mut down: Vec<u32> = down.into_iter().filter(free).collect();
        ties.withdraw(down.iter().copied(), is_wall);
        ties.restore(down.split_off(down.len().saturating_sub(back)));
        prop_assert!(down.iter().all(|&cell| !ties.open.free().contains(cell)));
        ties.compute(size(pick));
        let computed_before = now % 2 == 0;
        if computed_before {
            ties.compute_latest();
        }
        for (index, one) in ties.torus().placements().iter().enumerate() {
            for anchor in 0..ties.latest.get(index).map_or(0, Vec::len) {
                let ends = cells_of(one.mask(anchor)).map(|cell| ties.ends[cell as usize]);
                prop_assert_eq!(ties.latest[index][anchor], ends.max().unwrap_or(0));
            }
        }
        for (index, &spread) in ties.fixed.spread.iter().enumerate() {
            if ties.torus().placements()[index].is_whole(0) {
                prop_assert_eq!(spread, all_pairs(&ties, index));
            }
        }
        let [larger, equal, contact, wall, ends, delay] = weights;
        let weights = TermWeights { larger, equal, contact, wall, ends, delay };
        let size = size(pick);
        let query = TieQuery { size, weights, filter, worth: &worth, now, estimate, has_estimate };
        let mut candidates: Vec<[usize; 2]> = ties.candidates(size).collect();
        let first = candidates.first().copied();
        let spread = |at: &[usize; 2]| ties.fixed.spread[at[0]] as f64;
        let least = candidates.iter().map(spread).fold(f64::INFINITY, f64::min);
        candidates.retain(|at| match filter {
            CandidateFilter::All => true,
            CandidateFilter::First => Some(at[0]) == first.map(|first| first[0]),
            CandidateFilter::Compact(slack) => spread(at) <= (1.0 + slack) * least,
        });
        let sum = |&at: &[usize; 2]| {
            let [lf, eq, nf, wf, ef, dl] = terms(&ties, at, &query);
            let gains = [contact, wall, ends].map(i128::from);
            let minus = gains[0] * nf + gains[1] * wf + gains[2] * ef;
            i128::from(larger) * lf + i128::from(equal) * eq - minus + i128::from(delay) * dl
        };
        // The first of equal candidates wins.
        let expected = candidates.iter().min_by_key(|at| sum(at)).copied();
        let got = ties.decide(&query).map(|pick| [pick.placement, pick.anchor]);
        prop_assert_eq!(got, expected);
    }
}
