//! The buddy strategy: aligned ranges of addresses.
//!
//! For a request of k dimensions the strategy considers all ranges of 2^k free processors that
//! begin at a multiple of 2^k. The strategy allocates the lowest of these ranges (Turner 1995,
//! section 2.2; Chang and Mohapatra 1998). The strategy recognises 2^(n-k) of the subcubes of k
//! dimensions.
//!
//! Cost per decision: one step for each of the N / 2^k / 64 words of one level of the tree of
//! blocks.

use super::block_tree::{BlockTree, Numbering};
use super::cube::Cube;
use super::cubic::Subcubes;

/// Free subcubes recognised by the buddy strategy.
#[derive(Clone, Debug)]
pub struct Buddy {
    n: u32,
    tree: BlockTree,
}

impl Buddy {
    /// Creates the state for a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { n, tree: BlockTree::new(n, Numbering::Address) }
    }
}

impl Subcubes for Buddy {
    fn take(&mut self, k: u32) -> Option<Cube> {
        let cube = self.tree.block(k, first_bit(self.tree.level(k))?);
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

/// Returns the lowest set bit.
pub(super) fn first_bit(words: &[u64]) -> Option<u32> {
    let word = words.iter().position(|&word| word != 0)?;
    Some(word as u32 * 64 + words[word].trailing_zeros())
}
