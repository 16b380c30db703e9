//! Boxes of nodes on a Blue Gene/Q, and the midplanes that a box occupies.
//!
//! A box such as `A0-3 B4-7 C8-11 D8-11 E0-1` is written as the first and the last coordinate in each of five
//! dimensions. Imports of Cobalt logs write this notation. If a range wraps around, its first coordinate is greater
//! than its last. A midplane has 4 x 4 x 4 x 4 x 2 = 512 nodes. The midplane at (a, b, c, d) has the number d + 4 (c +
//! 4 (b + 3 a)), as on Mira, which has 2 x 3 x 4 x 4 midplanes. On the machine `6x4x4*512`, the number of a midplane is
//! the number of its point in scan order.

/// Sides of Mira along A, B, C, D and E, in nodes.
pub const MIRA: [u64; 5] = [8, 12, 16, 16, 2];

/// Sides of a midplane along A, B, C, D and E, in nodes.
const MIDPLANE: [u64; 5] = [4, 4, 4, 4, 2];

/// Returns the midplanes of a box, each with its number of nodes in the box; `None` if the text is not a box.
///
/// # Errors
/// Returns a message if the box is not on Mira.
///
/// ```
/// use replay_workload::workload::midplanes::of_box;
///
/// assert_eq!(of_box("A0-3 B4-7 C8-11 D8-11 E0-1"), Some(Ok(vec![(26, 512)])));
/// assert_eq!(of_box("A0-0 B0-0 C3-4 D0-0 E0-1"), Some(Ok(vec![(0, 2), (4, 2)])));
/// assert_eq!(of_box("n[1-4]"), None);
/// ```
pub fn of_box(text: &str) -> Option<Result<Vec<(u32, u32)>, String>> {
    let mut ranges = [(0, 0); 5];
    let mut parts = text.split_whitespace();
    for (range, axis) in ranges.iter_mut().zip('A'..='E') {
        let (from, to) = parts.next()?.strip_prefix(axis)?.split_once('-')?;
        let place = |text| crate::number::digits(text).map(|place| place as u64);
        *range = (place(from)?, place(to)?);
    }
    parts.next().is_none().then(|| midplanes(ranges))
}

fn midplanes(ranges: [(u64, u64); 5]) -> Result<Vec<(u32, u32)>, String> {
    // Midplane number and number of nodes, for the axes processed so far.
    let mut found = vec![(0u32, 1u32)];
    for (axis, (from, to)) in ranges.into_iter().enumerate() {
        let (side, unit) = (MIRA[axis], MIDPLANE[axis]);
        if let Some(place) = [from, to].into_iter().find(|&place| place >= side) {
            let letter = ['A', 'B', 'C', 'D', 'E'][axis];
            return Err(format!(
                "{letter}{place} is outside Mira, where {letter} is 0 to {}",
                side - 1
            ));
        }
        let last = if from <= to { to } else { to + side };
        let units = (side / unit) as u32;
        let mut along: Vec<(u32, u32)> = Vec::new();
        for place in from..=last {
            let unit = (place % side / unit) as u32;
            match along.iter_mut().find(|(own, _)| *own == unit) {
                Some((_, nodes)) => *nodes += 1,
                None => along.push((unit, 1)),
            }
        }
        let longer = |&(number, nodes): &(u32, u32)| {
            along.iter().map(move |&(unit, places)| (number * units + unit, nodes * places))
        };
        found = found.iter().flat_map(longer).collect();
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_that_is_not_a_box_is_recognised() {
        for text in [
            "",
            "A0-3",
            "A0-3 B0-3 C0-3 D0-3",
            "A0-3 B0-3 C0-3 D0-3 F0-1",
            "B0-3 A0-3 C0-3 D0-3 E0-1",
            "A0-3 B0-3 C0-3 D0-3 E0-1 F0-1",
            "A0-x B0-3 C0-3 D0-3 E0-1",
            "A-3 B0-3 C0-3 D0-3 E0-1",
        ] {
            assert_eq!(of_box(text), None, "{text}");
        }
        let beyond = of_box("A0-3 B4-12 C8-11 D8-11 E0-1").and_then(Result::err);
        assert_eq!(beyond.as_deref(), Some("B12 is outside Mira, where B is 0 to 11"));
        let all = of_box("A0-7 B0-11 C0-15 D0-15 E0-1").and_then(Result::ok).expect("the machine");
        assert!(all.iter().copied().eq((0..96).map(|midplane| (midplane, 512))));
    }

    proptest! {
        /// The counts agree with an enumeration of all nodes.
        #[test]
        fn counts_the_nodes_of_each_midplane(
            places in [(0u64..8, 0u64..8), (0u64..12, 0u64..12), (0u64..16, 0u64..16), (0u64..16, 0u64..16), (0u64..2, 0u64..2)],
        ) {
            let along = |axis: usize| -> Vec<u64> {
                let (from, to) = places[axis];
                let side = [8, 12, 16, 16, 2][axis];
                let length = (to + side - from) % side + 1;
                (0..length).map(|step| (from + step) % side).collect()
            };
            let mut expected: BTreeMap<u32, u32> = BTreeMap::new();
            for a in along(0) {
                for b in along(1) {
                    for c in along(2) {
                        for d in along(3) {
                            let number = d / 4 + 4 * (c / 4 + 4 * (b / 4 + 3 * (a / 4)));
                            *expected.entry(number as u32).or_default() += along(4).len() as u32;
                        }
                    }
                }
            }
            let text: Vec<String> =
                places.iter().zip('A'..).map(|((from, to), axis)| format!("{axis}{from}-{to}")).collect();
            prop_assert_eq!(of_box(&text.join(" ")), Some(Ok(expected.into_iter().collect())));
        }
    }
}
