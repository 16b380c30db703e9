//! The order of node names.

use std::cmp::Ordering;

/// Compares two names in the order in which Slurm numbers nodes (`src/common/strnatcmp.c`). Sequences of digits are
/// compared by value, but digit by digit if at least one of the two sequences begins with 0. Other characters are
/// compared by byte.
///
/// ```
/// use replay_engine::topology::natural_order;
/// use std::cmp::Ordering::Less;
/// assert_eq!([natural_order("n9", "n10"), natural_order("n02", "n1")], [Less, Less]);
/// ```
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (Some(&first), Some(&other)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        if first.is_ascii_digit() && other.is_ascii_digit() {
            let run = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ([one, rest], [two, others]) = (split(a, run(a)), split(b, run(b)));
            let by_length = match first == b'0' || other == b'0' {
                true => Ordering::Equal,
                false => one.len().cmp(&two.len()),
            };
            // Slices compare byte by byte, and a prefix is smaller than the longer slice.
            match by_length.then_with(|| one.cmp(two)) {
                Ordering::Equal => (a, b) = (rest, others),
                unequal => return unequal,
            }
        } else if first == other {
            (a, b) = (&a[1..], &b[1..]);
        } else {
            return first.cmp(&other);
        }
    }
}

fn split(text: &[u8], at: usize) -> [&[u8]; 2] {
    let (before, after) = text.split_at(at);
    [before, after]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_ascending_order() {
        let ascending = [
            "a", "a-1", "a0", "a00", "a01", "a02", "a1", "a1b2", "a1b10", "a2", "a9", "a10",
            "a10x", "ab", "b1n2", "b1n10", "b2n1", "b10n1",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(natural_order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(natural_order(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(natural_order("n07x", "n07x"), Ordering::Equal);
    }
}
