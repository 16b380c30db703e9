//! The Gray code strategy (Chen and Shin 1987): ranges along one Gray code.
//!
//! The binary reflected Gray code arranges the processors in a ring. A subcube of k dimensions
//! consists of two neighbouring blocks of 2^(k-1) processors of this ring: the positions r 2^(k-1)
//! to (r + 2) 2^(k-1) - 1. The strategy takes the smallest r at which all of these positions are
//! free. The strategy recognises 2^(n-k+1) of the subcubes of k dimensions for 0 < k < n. The buddy
//! strategy recognises half of this number. The number of recognised subcubes is from the thesis of
//! Turner; the rule is from the paper of Chen and Shin.
//!
//! Cost per decision: one step for each of the N / 2^(k-1) / 64 words of one level of the tree of
//! blocks.

use super::block_tree::{BlockTree, Numbering};
use super::buddy::first_bit;
use super::cube::Cube;
use super::cubic::Subcubes;

/// Free subcubes along a Gray code.
#[derive(Clone, Debug)]
pub struct GrayCode {
    n: u32,
    tree: BlockTree,
}

impl GrayCode {
    /// Creates the state for a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { n, tree: BlockTree::new(n, Numbering::Gray) }
    }

    /// Returns the first free subcube of `k` dimensions that the strategy recognises.
    fn first(&self, k: u32) -> Option<Cube> {
        let Some(half) = k.checked_sub(1) else {
            return first_bit(self.tree.level(0)).map(|place| self.tree.block(0, place));
        };
        let blocks = self.tree.level(half);
        let count = 1u32 << (self.n - half);
        let pair = blocks.iter().enumerate().find_map(|(at, &word)| {
            let next = blocks.get(at + 1).map_or(0, |next| next << 63);
            let pairs = word & (word >> 1 | next);
            (pairs != 0).then(|| at as u32 * 64 + pairs.trailing_zeros())
        });
        // The last subcube wraps around the end of the ring.
        let closing = || {
            let last = count - 1;
            (self.tree.is_free(half, 0) && self.tree.is_free(half, last)).then_some(last)
        };
        let first = pair.or_else(closing)?;
        self.tree.block(half, first).merged(self.tree.block(half, (first + 1) % count))
    }
}

impl Subcubes for GrayCode {
    fn take(&mut self, k: u32) -> Option<Cube> {
        let cube = self.first(k)?;
        self.tree.mark(cube, false);
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.tree.mark(cube, true);
    }

    fn withdraw(&mut self, cube: Cube) {
        self.tree.mark(cube, false);
    }

    fn clear(&mut self) {
        *self = Self::new(self.n);
    }
}
