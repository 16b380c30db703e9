//! The modified buddy strategy (Al-Dhelaan and Bose 1989): a subcube consists of a block and a
//! partner of this block.
//!
//! Aligned ranges of 2^(k-1) addresses are numbered. Two ranges are partners if their numbers
//! differ in one bit. A subcube of k dimensions consists of a range and one of its partners. The
//! strategy takes the lowest free range that has a free partner, and the partner that differs in
//! the lowest bit. The strategy recognises (n-k+1) 2^(n-k) of the subcubes of k > 0 dimensions. The
//! thesis of Turner only states that this strategy recognises more subcubes than the Gray code
//! strategy; the definition of partners is from other literature.
//!
//! Cost per decision: n - k + 1 passes over the words of one level of the tree of blocks.

use super::block_tree::{BlockTree, Numbering};
use super::buddy::first_bit;
use super::cube::Cube;
use super::cubic::Subcubes;
use super::node_set::LOW_HALVES;

/// Free subcubes as pairs of aligned blocks.
#[derive(Clone, Debug)]
pub struct ModifiedBuddy {
    n: u32,
    tree: BlockTree,
}

impl ModifiedBuddy {
    /// Creates the state for a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { n, tree: BlockTree::new(n, Numbering::Address) }
    }

    /// Returns the first free subcube of `k` dimensions that the strategy recognises.
    fn first(&self, k: u32) -> Option<Cube> {
        let Some(half) = k.checked_sub(1) else {
            return first_bit(self.tree.level(0)).map(|node| self.tree.block(0, node));
        };
        let blocks = self.tree.level(half);
        let bits = self.n - half;
        // The lower blocks of the free pairs, by bit. The result is the lowest of these blocks with
        // its lowest bit.
        blocks.iter().enumerate().find_map(|(at, &word)| {
            let pairs = |bit: u32| match bit {
                0..6 => word & word >> (1 << bit) & LOW_HALVES[bit as usize],
                _ if at >> (bit - 6) & 1 == 1 => 0,
                _ => word & blocks[at | 1 << (bit - 6)],
            };
            let any = (0..bits).fold(0, |any, bit| any | pairs(bit));
            let place = (any != 0).then(|| any.trailing_zeros())?;
            let bit = (0..bits).find(|&bit| pairs(bit) >> place & 1 == 1)?;
            let block = at as u32 * 64 + place;
            self.tree.block(half, block).merged(self.tree.block(half, block | 1 << bit))
        })
    }
}

impl Subcubes for ModifiedBuddy {
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
