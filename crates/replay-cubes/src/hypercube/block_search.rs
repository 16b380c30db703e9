//! Strategies that look for the first free subcube in a tree of blocks.
//!
//! For a request of k dimensions, the *buddy strategy* considers all ranges of 2^k free processors
//! that begin at a multiple of 2^k. The buddy strategy allocates the lowest of these ranges (Turner
//! 1995, section 2.2; Chang and Mohapatra 1998). The buddy strategy recognises 2^(n-k) of the
//! subcubes of k dimensions. Cost per decision: one pass over one level of the tree of blocks,
//! which has N / 2^k / 64 words.
//!
//! The *Gray code strategy* (Chen and Shin 1987) considers ranges along one Gray code. The binary
//! reflected Gray code arranges the processors in a ring. A subcube of k dimensions consists of two
//! neighbouring blocks of 2^(k-1) processors of this ring: the positions r 2^(k-1) to (r + 2)
//! 2^(k-1) - 1. The strategy takes the smallest r at which all positions of the subcube are free.
//! The Gray code strategy recognises 2^(n-k+1) of the subcubes of k dimensions for 0 < k < n, twice
//! as many as the buddy strategy. The number of recognised subcubes is from the thesis of Turner;
//! the rule is from the paper of Chen and Shin. Cost per decision: one step for each of the N /
//! 2^(k-1) / 64 words of one level of the tree.
//!
//! The *modified buddy strategy* (Al-Dhelaan and Bose 1989) numbers the aligned ranges of 2^(k-1)
//! addresses. Two ranges are partners if their numbers differ in one bit. A subcube of k dimensions
//! consists of a range and one of its partners. The strategy takes the lowest free range that has a
//! free partner. If this range has several free partners, the strategy takes the partner that
//! differs in the lowest bit. The modified buddy strategy recognises (n-k+1) 2^(n-k) of the
//! subcubes of k > 0 dimensions. The thesis of Turner only states that this strategy recognises
//! more subcubes than the Gray code strategy; the definition of partners is from other literature.
//! Cost per decision: n - k + 1 passes over the words of one level of the tree.

use crate::hypercube::block_tree::{BlockTree, Numbering};
use crate::hypercube::cubic::Subcubes;
use crate::hypercube::node_set::{first_bit, pairs};
use replay_engine::allocator::subcube::Cube;

/// Free subcubes recognised by a rule in a tree of blocks.
#[derive(Clone, Debug)]
pub struct BlockSearch {
    tree: BlockTree,
    /// Returns the first free subcube of a number of dimensions.
    first: fn(&BlockTree, u32) -> Option<Cube>,
}

impl BlockSearch {
    /// Creates the buddy strategy for a hypercube of `n` dimensions.
    pub fn buddy(n: u32) -> Self {
        let first = |tree: &BlockTree, k| Some(tree.block(k, first_bit(tree.level(k))?));
        Self { tree: BlockTree::new(n, Numbering::Address), first }
    }

    /// Creates the Gray code strategy for a hypercube of `n` dimensions.
    pub fn gray_code(n: u32) -> Self {
        Self { tree: BlockTree::new(n, Numbering::Gray), first: first_along_code }
    }

    /// Creates the modified buddy strategy for a hypercube of `n` dimensions.
    pub fn modified_buddy(n: u32) -> Self {
        Self { tree: BlockTree::new(n, Numbering::Address), first: first_of_partners }
    }
}

impl Subcubes for BlockSearch {
    fn take(&mut self, k: u32) -> Option<Cube> {
        let cube = (self.first)(&self.tree, k)?;
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
        self.tree.clear();
    }
}

/// Returns the first pair of free neighbouring blocks along the Gray code.
fn first_along_code(tree: &BlockTree, k: u32) -> Option<Cube> {
    let Some(half) = k.checked_sub(1) else {
        return first_bit(tree.level(0)).map(|place| tree.block(0, place));
    };
    let blocks = tree.level(half);
    let count = 1u32 << (tree.dimensions() - half);
    let pair = blocks.iter().enumerate().find_map(|(at, &word)| {
        let next = blocks.get(at + 1).map_or(0, |next| next << 63);
        let pairs = word & (word >> 1 | next);
        (pairs != 0).then(|| at as u32 * 64 + pairs.trailing_zeros())
    });
    // The last subcube wraps around the end of the ring.
    let closing = || {
        let last = count - 1;
        (tree.is_free(half, 0) && tree.is_free(half, last)).then_some(last)
    };
    let first = pair.or_else(closing)?;
    tree.block(half, first).merged(tree.block(half, (first + 1) % count))
}

/// Returns the first free block with a free partner.
fn first_of_partners(tree: &BlockTree, k: u32) -> Option<Cube> {
    let Some(half) = k.checked_sub(1) else {
        return first_bit(tree.level(0)).map(|node| tree.block(0, node));
    };
    let blocks = tree.level(half);
    let bits = tree.dimensions() - half;
    // For each bit, `pairs` marks the lower block of every pair of free blocks whose numbers differ
    // only in this bit. The search takes the lowest marked block, and the lowest bit for which this
    // block is marked.
    (0..blocks.len()).find_map(|at| {
        let pairs = |bit: u32| pairs(blocks, at, bit);
        let any = (0..bits).fold(0, |any, bit| any | pairs(bit));
        let place = (any != 0).then(|| any.trailing_zeros())?;
        let bit = (0..bits).find(|&bit| pairs(bit) >> place & 1 == 1)?;
        let block = at as u32 * 64 + place;
        tree.block(half, block).merged(tree.block(half, block | 1 << bit))
    })
}
