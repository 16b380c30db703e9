//! The multiple Gray code strategy (Chen and Shin 1987): the Gray code strategy with several codes.
//!
//! A code is a binary reflected Gray code with permuted dimensions. The [Gray code
//! strategy](super::block_search) searches the codes one after the other, and the first code with a
//! free subcube decides. C(n, floor(n / 2)) codes are sufficient to recognise every subcube. The
//! papers do not specify the codes, so this implementation selects them. The implementation divides
//! all sets of dimensions into symmetric chains (de Bruijn, Tengbergen and Kruyswijk 1951, with the
//! brackets of Greene and Kleitman 1976). In a chain, each set has one dimension more than the
//! previous set. Each chain is extended to an order of all dimensions, so that every set of stars
//! is a prefix of one of these orders. Codes are sorted by the middle set of their chain; the first
//! code is the Gray code without permuted dimensions.
//!
//! Cost per decision for a subcube of k dimensions among N processors: k passes over N / 64 words
//! for each code that is tried. If any two neighbouring blocks are free, a walk through N / 2^(k-1)
//! blocks is added.

use crate::hypercube::cubic::Subcubes;
use crate::hypercube::node_set::{NodeSet, first_bit, pairs};
use crate::hypercube::recognition::Recogniser;
use replay_engine::allocator::subcube::Cube;

/// Free subcubes along several Gray codes.
#[derive(Clone, Debug)]
pub struct MultipleGrayCode {
    n: u32,
    free: NodeSet,
    /// Dimensions of each code; the dimension that changes fastest comes first.
    pub(super) codes: Vec<Vec<u8>>,
    /// Whether all codes are used, so that every subcube is recognised.
    complete: bool,
    recogniser: Recogniser,
    /// Entry i contains the bases of the free subcubes that span the first i dimensions of the
    /// code.
    bases: Vec<Vec<u64>>,
    /// Smallest dimension for which a search has failed since a cube was last returned. No free
    /// subcube of this or a larger dimension is recognised.
    none_from: u32,
}

/// Returns the number of codes that are needed to recognise every subcube of a hypercube of `n`
/// dimensions: C(n, floor(n / 2)).
pub fn complete_codes(n: u32) -> u32 {
    (0..n / 2).fold(1, |product, i| product * (n - i) / (i + 1))
}

impl MultipleGrayCode {
    /// Creates the state for a hypercube of `n` dimensions with the first `codes` codes. If fewer
    /// codes exist, all codes are used.
    pub fn new(n: u32, codes: u32) -> Self {
        let middle = (0..1u32 << n).filter(|set| set.count_ones() == n / 2);
        let codes: Vec<_> = middle.take(codes as usize).map(|set| order(n, set)).collect();
        let mut free = NodeSet::new(n);
        free.set_to(Cube::whole(n));
        Self {
            n,
            complete: codes.len() as u32 == complete_codes(n),
            codes,
            recogniser: Recogniser::new(n),
            bases: vec![free.words().to_vec(); n as usize],
            free,
            none_from: n + 1,
        }
    }

    fn find(&mut self, k: u32) -> Option<Cube> {
        let Some(half) = k.checked_sub(1) else {
            return first_bit(self.free.words()).map(|base| Cube { stars: 0, base });
        };
        if self.complete {
            // With all codes, one search first determines whether any subcube is free, so that no
            // code is tried in vain.
            self.recogniser.first(&self.free, k)?;
        }
        let half = half as usize;
        // Number of leading dimensions that this code shares with the previous code; up to this
        // number, `bases` is still valid.
        let mut common = 0;
        for code in 0..self.codes.len() {
            if code > 0 {
                let (now, before) = (&self.codes[code], &self.codes[code - 1]);
                let same = now.iter().zip(before).take_while(|(a, b)| a == b).count();
                common = same.min(common);
            } else {
                self.bases[0].copy_from_slice(self.free.words());
            }
            while common < half {
                let (known, next) = self.bases.split_at_mut(common + 1);
                combine(&known[common], &mut next[0], self.codes[code][common]);
                common += 1;
            }
            if let Some(cube) = first_pair(&self.bases[half], &self.codes[code], half) {
                return Some(cube);
            }
        }
        None
    }
}

impl Subcubes for MultipleGrayCode {
    fn take(&mut self, k: u32) -> Option<Cube> {
        if k >= self.none_from {
            return None;
        }
        let Some(cube) = self.find(k) else {
            self.none_from = k;
            return None;
        };
        self.free.remove(cube);
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.free.insert(cube);
        self.none_from = self.n + 1;
    }

    fn withdraw(&mut self, cube: Cube) {
        self.free.remove(cube);
    }

    fn clear(&mut self) {
        self.free.set_to(Cube::whole(self.n));
        self.none_from = self.n + 1;
    }
}

/// Returns all dimensions in an order whose prefixes include the chain through `set`. Reading the
/// dimensions from the lowest, a dimension outside the set opens a bracket, and a dimension in the
/// set closes a bracket. The order consists of the dimensions that close a matched bracket, the
/// unmatched dimensions, and the dimensions that open a matched bracket.
fn order(n: u32, set: u32) -> Vec<u8> {
    let (mut open, mut matched) = (Vec::new(), 0u32);
    for dimension in 0..n {
        if set >> dimension & 1 == 0 {
            open.push(dimension);
        } else if let Some(partner) = open.pop() {
            matched |= 1 << dimension | 1 << partner;
        }
    }
    let of =
        |dimensions: u32| (0..n as u8).filter(move |dimension| dimensions >> dimension & 1 == 1);
    of(matched & set).chain(of(!matched)).chain(of(matched & !set)).collect()
}

/// Writes to `combined` those bases in `words` whose neighbour along `dimension` is also in
/// `words`.
fn combine(words: &[u64], combined: &mut [u64], dimension: u8) {
    for (at, to) in combined.iter_mut().enumerate() {
        *to = pairs(words, at, dimension.into());
    }
}

/// Returns the subcube that consists of the first two free neighbouring blocks along the code.
/// `bases` are the bases of free blocks. A block spans the first `half` dimensions of the code.
fn first_pair(bases: &[u64], code: &[u8], half: usize) -> Option<Cube> {
    let beyond = &code[half..];
    let possible = beyond
        .iter()
        .any(|&dimension| (0..bases.len()).any(|at| pairs(bases, at, dimension.into()) != 0));
    if !possible {
        return None;
    }
    let stars = code[..half].iter().fold(0, |stars, &dimension| stars | 1u32 << dimension);
    let is_free = |base: u32| bases[base as usize / 64] >> (base % 64) & 1 == 1;
    let last = beyond.len() - 1;
    let mut at = 0u32;
    for block in 0..1u32 << beyond.len() {
        // From the last block, the ring returns to the first block along the slowest dimension of
        // the code.
        let turning = ((block + 1).trailing_zeros() as usize).min(last);
        let bit = 1 << beyond[turning];
        if is_free(at) && is_free(at ^ bit) {
            return Some(Cube { stars: stars | bit, base: at & !bit });
        }
        at ^= bit;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every set of dimensions is a prefix of a code. The number of codes equals the number of
    /// middle sets. The first code is the Gray code without permuted dimensions.
    #[test]
    fn every_set_of_dimensions_is_a_prefix_of_a_code() {
        for n in 0..=10u32 {
            let all = MultipleGrayCode::new(n, u32::MAX);
            assert_eq!(all.codes.len() as u32, complete_codes(n));
            assert!(all.complete);
            assert!(all.codes[0].iter().copied().eq(0..n as u8));
            let mut prefixes = BTreeSet::from([0]);
            for code in &all.codes {
                assert_eq!(code.iter().collect::<BTreeSet<_>>().len(), n as usize);
                let sets = code.iter().scan(0u32, |set, dimension| {
                    *set |= 1 << dimension;
                    Some(*set)
                });
                prefixes.extend(sets);
            }
            assert_eq!(prefixes.len(), 1 << n);
        }
        assert_eq!(complete_codes(15), 6435);
        assert!(!MultipleGrayCode::new(4, 5).complete);
    }
}
