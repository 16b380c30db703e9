use proptest::prelude::*;

use super::*;
use crate::placement::torus::Steps;

/// The terms of a candidate by their definitions.
fn terms(ties: &Ties, [placement, anchor]: [usize; 2], question: &Question<'_>) -> [i128; 4] {
    let torus = ties.torus();
    let all = torus.placements();
    let cells =
        |index: usize, anchor: usize| -> Vec<u32> { cells_of(all[index].mask(anchor)).collect() };
    let candidate = cells(placement, anchor);
    let share = |other: &[u32]| other.iter().any(|cell| candidate.contains(cell));
    let is_free = |other: &[u32]| other.iter().all(|&cell| ties.free.contains(cell));
    let (mut larger, mut equal, mut delay) = (0, 0, 0);
    let mut sizes: Vec<u32> = all.iter().map(|one| one.size).collect();
    sizes.dedup();
    for size in sizes {
        let anchors: Vec<(usize, usize)> = (0..all.len())
            .filter(|&index| all[index].size == size)
            .flat_map(|index| (0..all[index].anchors()).map(move |anchor| (index, anchor)))
            .filter(|&(index, anchor)| all[index].is_whole(anchor))
            .collect();
        for &(index, at) in &anchors {
            let other = cells(index, at);
            if (index, at) == (placement, anchor) || !share(&other) || !is_free(&other) {
                continue;
            }
            if size > question.size {
                larger += i128::from(question.worth[index]);
            } else if size == question.size {
                equal += i128::from(question.worth[index]);
            }
        }
        if size <= question.size || (size as usize) * LARGE < torus.cells() || anchors.is_empty() {
            continue;
        }
        let left = |&(index, at): &(usize, usize)| {
            let other = cells(index, at);
            let ends = other.iter().map(|&cell| ties.ends[cell as usize]);
            let left = ends.max().unwrap_or(0).saturating_sub(question.now);
            if share(&other) { left.max(question.estimate) } else { left }
        };
        let left: Vec<u64> = anchors.iter().map(left).collect();
        let least = left.iter().copied().min().unwrap_or(0);
        let mean = left.iter().map(|&t| u128::from(t)).sum::<u128>() / left.len() as u128;
        let worth = i128::from(question.worth[anchors[0].0]);
        delay += worth * (50 * i128::from(least) + mean as i128);
    }
    let mut contact = 0;
    for &cell in &candidate {
        let at = torus.coord(cell);
        for axis in 0..3 {
            for step in [1, torus.sides[axis] - 1] {
                let mut next = at;
                next[axis] = (at[axis] + step) % torus.sides[axis];
                let other = torus.cell(next);
                contact += i128::from(!candidate.contains(&other) && !ties.free.contains(other));
            }
        }
    }
    [larger, equal, contact, delay]
}

proptest! {
    #[test]
    fn the_smallest_sum_by_the_definitions_wins(
        sides in [3u16..5, 3u16..5, 3u16..5],
        boxes in proptest::collection::vec(([1u16..5, 1u16..5, 1u16..5], 1u16..5), 1..6),
        hole in proptest::option::of(0u32..27),
        events in proptest::collection::vec((any::<u16>(), 1u64..100, any::<bool>()), 0..12),
        handles in [0i64..3, 0i64..3, 0i64..3, 0i64..3],
        (pick, estimate) in (any::<u16>(), 1u64..100),
    ) {
        let mut torus = Torus::new("t".into(), sides, |cell| Some(cell) != hole).expect("small");
        for (extent, step) in boxes {
            let extent = [0, 1, 2].map(|axis| extent[axis].min(sides[axis]));
            let spacing = sides.map(|side| step.min(side));
            let steps = Steps { spacing, seed: [0; 3], wrapped: [true; 3] };
            torus.allow(extent, &steps).expect("little memory");
        }
        let sizes: Vec<u32> = torus.placements().iter().map(|one| one.size).collect();
        let worth: Vec<u64> = sizes.iter().map(|&size| u64::from(size) * u64::from(size % 3)).collect();
        let mut ties = Ties::new(torus);
        let (mut now, mut running) = (0, Vec::new());
        let size = |pick: u16| sizes[usize::from(pick) % sizes.len()];
        for (pick, time, ends) in events {
            now += time / 3;
            if ends && !running.is_empty() {
                let place = running.remove(usize::from(pick) % running.len());
                ties.finish(place);
            } else if let Some(place) = ties.first(size(pick)) {
                ties.start(place, now + time);
                running.push(place);
            }
        }
        for (index, one) in ties.torus().placements().iter().enumerate() {
            for anchor in 0..one.anchors() {
                let ends = cells_of(one.mask(anchor)).map(|cell| ties.ends[cell as usize]);
                prop_assert_eq!(ties.latest[index][anchor], ends.max().unwrap_or(0));
            }
        }
        let [larger, equal, contact, delay] = handles;
        let handles = Handles { larger, equal, contact, delay };
        let question = Question { size: size(pick), handles, worth: &worth, now, estimate };
        let candidates: Vec<[usize; 2]> = ties.candidates(question.size).collect();
        let sum = |&at: &[usize; 2]| {
            let [lf, eq, nf, dl] = terms(&ties, at, &question);
            i128::from(larger) * lf + i128::from(equal) * eq - i128::from(contact) * nf + i128::from(delay) * dl
        };
        // The first of several.
        let expected = candidates.iter().min_by_key(|at| sum(at)).copied();
        let got = ties.decide(&question).map(|pick| [pick.placement, pick.anchor]);
        prop_assert_eq!(got, expected);
    }
}
