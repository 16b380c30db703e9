//! Complete recognition: finding every subcube that consists of free processors.
//!
//! A subcube of k dimensions is given by its k stars and a base. The search finds all bases for a
//! set of stars at once: it combines the bit set of free processors with the same bit set shifted
//! along each star. Sets of stars with the same highest stars share the work for these highest
//! stars. The search skips all sets of stars whose highest stars leave no base. Each combination
//! along dimension 6 or higher (a distance of 64 processors or more) halves the number of words. In
//! total, the 3^n subcubes of a hypercube of n dimensions cost at most O(3^n / 64) steps; a typical
//! search costs far fewer.

use std::ops::ControlFlow;

use crate::hypercube::node_set::{LOW_HALVES, NodeSet};
use replay_engine::allocator::subcube::{Cube, deposit};

/// A search for subcubes, with reusable buffers.
#[derive(Clone, Debug)]
pub struct Recogniser {
    n: u32,
    buffer: Vec<u64>,
}

impl Recogniser {
    /// Creates a search on a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        let words = (1usize << n).div_ceil(64);
        Self { n, buffer: vec![0; words * n as usize] }
    }

    /// Returns the first subcube of `k` dimensions in the set, in order of stars and then of bases.
    pub fn first(&mut self, free: &NodeSet, k: u32) -> Option<Cube> {
        self.find(free, k, &mut ControlFlow::Break)
    }

    /// Calls `visit` with every subcube of `k` dimensions in the set, in order of stars and then of
    /// bases, until `visit` breaks.
    pub fn find<B>(
        &mut self,
        free: &NodeSet,
        k: u32,
        visit: &mut impl FnMut(Cube) -> ControlFlow<B>,
    ) -> Option<B> {
        if k > self.n || free.len() < 1 << k {
            return None;
        }
        let mut search = Search { n: self.n, visit };
        search.below(free.words(), &mut self.buffer, self.n, k, 0).break_value()
    }
}

struct Search<'a, F> {
    n: u32,
    visit: &'a mut F,
}

impl<B, F: FnMut(Cube) -> ControlFlow<B>> Search<'_, F> {
    /// Tries all sets of stars that consist of the set `stars` and `need` additional stars below
    /// `limit`. `words` has one bit for each base. The index of a word consists of those bits of
    /// the base that belong to dimensions of 64 processors or more and are not stars.
    fn below(
        &mut self,
        words: &[u64],
        buffer: &mut [u64],
        limit: u32,
        need: u32,
        stars: u32,
    ) -> ControlFlow<B> {
        if need == 0 {
            return self.visit_all(words, stars);
        }
        for star in need - 1..limit {
            let length = if star < 6 { words.len() } else { words.len() / 2 };
            let (combined, rest) = buffer.split_at_mut(length);
            if combine(words, combined, star) {
                self.below(combined, rest, star, need - 1, stars | 1 << star)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_all(&mut self, words: &[u64], stars: u32) -> ControlFlow<B> {
        let fixed = ((1u32 << self.n) - 1) & !stars;
        for (index, &word) in words.iter().enumerate() {
            let mut rest = word;
            if rest == 0 {
                continue;
            }
            let high = deposit(index as u32, fixed >> 6) << 6;
            while rest != 0 {
                (self.visit)(Cube { stars, base: high | rest.trailing_zeros() })?;
                rest &= rest - 1;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Writes to `combined` those bases in `words` whose neighbour along `star` is also in `words`.
/// Returns `false` if there is no such base.
fn combine(words: &[u64], combined: &mut [u64], star: u32) -> bool {
    let mut any = 0;
    if star < 6 {
        let low = LOW_HALVES[star as usize];
        for (to, word) in combined.iter_mut().zip(words) {
            *to = word & word >> (1 << star) & low;
            any |= *to;
        }
    } else {
        let half = 1 << (star - 6);
        for (to, pair) in combined.chunks_exact_mut(half).zip(words.chunks_exact(2 * half)) {
            let (low, high) = pair.split_at(half);
            for (to, (low, high)) in to.iter_mut().zip(low.iter().zip(high)) {
                *to = low & high;
                any |= *to;
            }
        }
    }
    any != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypercube::tests::reference;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every subcube is found once, in order.
        #[test]
        fn agrees_with_the_reference_search(
            n in 0u32..=8,
            busy in proptest::collection::vec(any::<u32>(), 0..60),
        ) {
            let mut free = NodeSet::new(n);
            free.set_to(Cube::whole(n));
            for node in busy {
                let node = node % (1 << n);
                if free.has(node) {
                    free.remove(Cube { stars: 0, base: node });
                }
            }
            let mut recogniser = Recogniser::new(n);
            for k in 0..=n + 1 {
                let expected: Vec<Cube> =
                    reference::subcubes(n, k).filter(|cube| cube.nodes().all(|node| free.has(node.0))).collect();
                let mut found = Vec::new();
                let all: Option<()> = recogniser.find(&free, k, &mut |cube| {
                    found.push(cube);
                    ControlFlow::Continue(())
                });
                prop_assert_eq!(all, None);
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(recogniser.first(&free, k), expected.first().copied());
            }
        }
    }
}
