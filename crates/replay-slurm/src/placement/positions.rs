//! Positions along an axis at which a box may begin.

/// Returns the positions on an axis of `length` cells that wraps: from `seed` in steps of `step`, modulo the length,
/// until the seed is reached again. If the step does not divide the length, the distances of these positions from the
/// seed are all multiples of the greatest common divisor of step and length.
///
/// `step` must be from 1 to `length`, and `seed` must be less than `length`.
pub fn around(length: u16, step: u16, seed: u16) -> Vec<u16> {
    let [length, step, seed] = [length, step, seed].map(u32::from);
    let next = |&at: &u32| Some((at + step) % length).filter(|&at| at != seed);
    std::iter::successors(Some(seed), next).map(|at| at as u16).collect()
}

/// Returns the positions for a box of `side` on an axis of `length` cells that does not wrap: from `seed` in steps of
/// `step` as long as the box fits. If `flush` is set, the position at which the box ends at the end of the axis is
/// added.
pub fn between_walls(length: u16, side: u16, step: u16, seed: u16, flush: bool) -> Vec<u16> {
    let Some(last) = length.checked_sub(side) else { return Vec::new() };
    let mut all: Vec<u16> = (seed..=last).step_by(usize::from(step)).collect();
    if flush && all.last() != Some(&last) {
        all.push(last);
    }
    all
}

/// Returns whether two boxes with these positions and sides on an axis share a cell. Boxes may wrap.
pub fn meet(length: u16, (a, side_a): (u16, u16), (b, side_b): (u16, u16)) -> bool {
    let [length, a, b] = [length, a, b].map(u32::from);
    (b + length - a) % length < u32::from(side_a) || (a + length - b) % length < u32::from(side_b)
}

/// Returns whether boxes of `side` at two different positions share a cell.
pub fn overlap_themselves(length: u16, positions: &[u16], side: u16) -> bool {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    let around = sorted.iter().zip(sorted.iter().cycle().skip(1));
    sorted.len() > 1 && around.into_iter().any(|(&a, &b)| meet(length, (a, side), (b, side)))
}

/// Returns whether any box of length `side` at one of the positions `some` shares a cell with any box of length `other`
/// at one of the positions `others`.
pub fn overlap(length: u16, (some, side): (&[u16], u16), (others, other): (&[u16], u16)) -> bool {
    let mut sorted = others.to_vec();
    sorted.sort_unstable();
    let Some((&first, &last)) = sorted.first().zip(sorted.last()) else { return false };
    some.iter().any(|&at| {
        // Only the nearest positions on both sides matter, including positions around the edge.
        let next = sorted.partition_point(|&b| b < at);
        let above = sorted.get(next).copied().unwrap_or(first);
        let below = next.checked_sub(1).map_or(last, |before| sorted[before]);
        [above, below].iter().any(|&b| meet(length, (at, side), (b, other)))
    })
}

/// Returns whether every box of length `side` at one of the positions `some` contains a box of length `other` at one of
/// the positions `others`.
pub fn hold(length: u16, (some, side): (&[u16], u16), (others, other): (&[u16], u16)) -> bool {
    let holds = |&at: &u16| others.iter().any(|&inner| inside(length, (at, side), (inner, other)));
    some.iter().all(holds)
}

/// Returns whether the first box contains the second box. Boxes may wrap.
pub fn inside(length: u16, (a, side_a): (u16, u16), (b, side_b): (u16, u16)) -> bool {
    let [length, a, b] = [length, a, b].map(u32::from);
    let [side_a, side_b] = [side_a, side_b].map(u32::from);
    side_a == length || (b + length - a) % length + side_b <= side_a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_wrap_until_they_reach_the_seed() {
        assert_eq!(around(4, 3, 0), [0, 3, 2, 1]);
        assert_eq!(around(16, 12, 0), [0, 12, 8, 4]);
        assert_eq!(around(8, 6, 1), [1, 7, 5, 3]);
        assert_eq!(around(5, 2, 3), [3, 0, 2, 4, 1]);
        assert_eq!(around(4, 4, 2), [2]);
        assert_eq!(around(u16::MAX, u16::MAX, 0), [0]);
    }

    #[test]
    fn adds_a_flush_position_between_walls() {
        assert_eq!(between_walls(10, 4, 4, 0, true), [0, 4, 6]);
        assert_eq!(between_walls(8, 4, 4, 0, true), [0, 4]);
        assert_eq!(between_walls(8, 3, 1, 2, true), [2, 3, 4, 5]);
        assert!(between_walls(3, 4, 1, 0, true).is_empty());
        assert_eq!(between_walls(8, 4, 4, 6, true), [4]);
        assert_eq!(between_walls(10, 4, 4, 0, false), [0, 4]);
    }

    proptest! {
        #[test]
        fn boxes_meet_if_they_share_a_cell(
            length in 1u16..12, a in 0u16..12, b in 0u16..12, s in 1u16..12, t in 1u16..12
        ) {
            let (a, b, s, t) = (a % length, b % length, s.min(length), t.min(length));
            let cells = |at: u16, side: u16| (0..side).map(move |d| (at + d) % length);
            let shared = cells(a, s).any(|cell| cells(b, t).any(|other| other == cell));
            prop_assert_eq!(meet(length, (a, s), (b, t)), shared);
        }

        #[test]
        fn overlap_and_hold_agree_with_pairwise_checks(
            length in 1u16..12, s in 1u16..12, t in 1u16..12,
            some in proptest::collection::btree_set(0u16..12, 1..5),
            others in proptest::collection::btree_set(0u16..12, 1..5),
        ) {
            let (s, t) = (s.min(length), t.min(length));
            let on = |set: std::collections::BTreeSet<u16>| -> Vec<u16> {
                let on: std::collections::BTreeSet<u16> = set.iter().map(|p| p % length).collect();
                on.into_iter().rev().collect()
            };
            let (some, others) = (on(some), on(others));
            let pair = |a: u16, s, b: u16, t| meet(length, (a, s), (b, t));
            let themselves = some.iter().any(|&a| some.iter().any(|&b| a != b && pair(a, s, b, s)));
            prop_assert_eq!(overlap_themselves(length, &some, s), themselves);
            let any = some.iter().any(|&a| others.iter().any(|&b| pair(a, s, b, t)));
            prop_assert_eq!(overlap(length, (&some, s), (&others, t)), any);
            let cells = |at: u16, side: u16| (0..side).map(move |d| (at + d) % length);
            let inside = |a: u16, b: u16| cells(b, t).all(|cell| cells(a, s).any(|own| own == cell));
            let each = some.iter().all(|&a| others.iter().any(|&b| inside(a, b)));
            prop_assert_eq!(hold(length, (&some, s), (&others, t)), each);
        }
    }
}
