//! Binary reflected Gray codes.

use crate::allocator::subcube::cube::Cube;

/// Returns the codeword at an index. The codewords of consecutive indices differ in one bit.
#[inline]
pub fn code(index: u32) -> u32 {
    index ^ (index >> 1)
}

/// Returns the index of a codeword.
#[inline]
pub fn index(code: u32) -> u32 {
    let mut index = code ^ (code >> 16);
    index ^= index >> 8;
    index ^= index >> 4;
    index ^= index >> 2;
    index ^ (index >> 1)
}

/// Divides the range of indices from `low` to below `high` into runs, and calls `visit` with the
/// subcube of each run, in ascending order. The length of a run is a power of two, and the start of
/// the run is a multiple of this length. Runs are as long as possible. The codewords of a run of
/// 2^i indices form a subcube of i dimensions (Turner 1995, lemma 2).
#[inline]
pub fn blocks(low: u32, high: u32, mut visit: impl FnMut(Cube)) {
    let mut at = low;
    while at < high {
        let room = (high - at).ilog2();
        let size = if at == 0 { room } else { room.min(at.trailing_zeros()) };
        let stars = (1 << size) - 1;
        visit(Cube { stars, base: code(at) & !stars });
        at += 1 << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_three_bits() {
        let words: Vec<String> = (0..8).map(|i| format!("{:03b}", code(i))).collect();
        assert_eq!(words, ["000", "001", "011", "010", "110", "111", "101", "100"]);
        assert!((0..1 << 15).all(|i| index(code(i)) == i));
    }

    /// The codewords 1010, 1011, 1001 and 1000 form the subcube 10**.
    #[test]
    fn aligned_runs_are_subcubes() {
        let of = |low, high| {
            let mut found = Vec::new();
            blocks(low, high, |cube| found.push(cube.text(4)));
            found
        };
        assert_eq!(of(12, 16), ["10**"]);
        assert_eq!(of(0, 16), ["****"]);
        assert_eq!(of(5, 16), ["0111", "010*", "1***"]);
        assert_eq!(of(0, 5), ["00**", "0110"]);
        assert_eq!(of(3, 3), [""; 0]);
    }

    #[test]
    fn blocks_contain_the_codewords_of_their_range() {
        for (low, high) in (0..=32).flat_map(|high| (0..=high).map(move |low| (low, high))) {
            let mut held = Vec::new();
            blocks(low, high, |cube| held.extend(cube.nodes().map(|node| index(node.0))));
            held.sort_unstable();
            assert!(held.into_iter().eq(low..high), "{low}..{high}");
        }
    }
}
