//! Bit sets of the aligned free blocks of processors, one set for each block size.
//!
//! Processors are numbered by address or along a Gray code. Level j has a bit for each aligned
//! block of 2^j consecutive numbers. The bit is set if the whole block is free.

use crate::hypercube::node_set::{NodeSet, words_of};
use replay_engine::allocator::subcube::{Cube, gray};

/// Numbering of the processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbering {
    /// Processors are numbered by address.
    Address,
    /// Processors are numbered by their position in the binary reflected Gray code.
    Gray,
}

/// The tree of blocks. Changing 2^k processors with consecutive numbers costs one step per word of
/// these processors, and one word on each higher level.
#[derive(Clone, Debug)]
pub struct BlockTree {
    n: u32,
    numbering: Numbering,
    levels: Vec<Vec<u64>>,
}

impl BlockTree {
    /// Creates the tree for a hypercube of `n` dimensions; all processors are free.
    pub fn new(n: u32, numbering: Numbering) -> Self {
        let full = |level: u32| {
            let bits = 1usize << (n - level);
            let last = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
            vec![last; bits.div_ceil(64)]
        };
        Self { n, numbering, levels: (0..=n).map(full).collect() }
    }

    /// Marks all processors as free.
    pub fn clear(&mut self) {
        *self = Self::new(self.n, self.numbering);
    }

    /// Returns the number of dimensions of the hypercube.
    pub fn dimensions(&self) -> u32 {
        self.n
    }

    /// Returns the bits of the blocks of 2^`level` processors.
    pub fn level(&self, level: u32) -> &[u64] {
        &self.levels[level as usize]
    }

    /// Returns whether block `block` of 2^`level` processors is free.
    pub fn is_free(&self, level: u32, block: u32) -> bool {
        self.level(level)[block as usize / 64] >> (block % 64) & 1 == 1
    }

    /// Returns the processors of block `block` of 2^`level` processors.
    pub fn block(&self, level: u32, block: u32) -> Cube {
        let (first, stars) = (block << level, (1 << level) - 1);
        let base = match self.numbering {
            Numbering::Address => first,
            Numbering::Gray => gray::code(first) & !stars,
        };
        Cube { stars, base }
    }

    /// Marks the processors of any subcube as free or busy.
    pub fn mark(&mut self, cube: Cube, free: bool) {
        let leaves = &mut self.levels[0];
        let (mut low, mut high) = (usize::MAX, 0);
        let mut set = |word: usize, bits: u64| {
            match free {
                true => leaves[word] |= bits,
                false => leaves[word] &= !bits,
            }
            (low, high) = (low.min(word), high.max(word));
        };
        match self.numbering {
            Numbering::Address => {
                let bits = NodeSet::pattern(cube);
                words_of(cube).for_each(|word| set(word, bits));
            }
            Numbering::Gray => {
                // The cube spans the lowest `run` dimensions, so it consists of runs of consecutive
                // positions.
                let run = cube.stars.trailing_ones();
                let others = Cube { stars: cube.stars >> run, base: cube.base >> run };
                for block in others.nodes() {
                    let first = gray::index(block.0) << run;
                    if run < 6 {
                        set(first as usize / 64, ((1 << (1 << run)) - 1) << (first % 64));
                    } else {
                        let words = first as usize / 64..(first as usize + (1 << run)) / 64;
                        words.for_each(|word| set(word, u64::MAX));
                    }
                }
            }
        }
        for level in 1..=self.n as usize {
            let (below, above) = self.levels.split_at_mut(level);
            let below = &below[level - 1];
            (low, high) = (low / 2, high / 2);
            for (word, to) in above[0].iter_mut().enumerate().take(high + 1).skip(low) {
                let pairs = |word: usize| below.get(word).map_or(0, |&bits| pairs(bits));
                *to = pairs(2 * word) | pairs(2 * word + 1) << 32;
            }
        }
    }
}

/// Returns a word whose bit i is set if bits 2i and 2i + 1 are both set.
fn pairs(bits: u64) -> u64 {
    let mut pairs = bits & bits >> 1 & 0x5555_5555_5555_5555;
    pairs = (pairs | pairs >> 1) & 0x3333_3333_3333_3333;
    pairs = (pairs | pairs >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    pairs = (pairs | pairs >> 4) & 0x00ff_00ff_00ff_00ff;
    pairs = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    (pairs | pairs >> 16) & 0x0000_0000_ffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn levels_agree_with_their_definition(
            n in 0u32..=9,
            gray in any::<bool>(),
            changes in proptest::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 1..40),
        ) {
            let numbering = if gray { Numbering::Gray } else { Numbering::Address };
            let mut tree = BlockTree::new(n, numbering);
            let mut free = vec![true; 1 << n];
            for (stars, base, value) in changes {
                let stars = stars % (1 << n);
                let cube = Cube { stars, base: (base % (1 << n)) & !stars };
                tree.mark(cube, value);
                cube.nodes().for_each(|node| free[node.index()] = value);
                for level in 0..=n {
                    for block in 0..1u32 << (n - level) {
                        let held = tree.block(level, block);
                        let all = held.nodes().all(|node| free[node.index()]);
                        prop_assert_eq!(tree.is_free(level, block), all, "{} {}", level, block);
                    }
                }
            }
        }
    }
}
