//! Machines of base blocks.

use crate::topology::NodeId;

/// The largest exponent of a block size. A block size is at most 2^15 times the base size.
pub const MAX_SIZE_EXPONENT: u32 = 15;

/// Base blocks in file order, and the sizes of the blocks that they form.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Blocks {
    pub(super) names: Vec<String>,
    pub(super) nodes: Vec<Vec<NodeId>>,
    pub(super) base_size: u32,
    /// Levels of the block sizes, ascending and distinct; the first level is 0.
    pub(super) levels: Vec<u32>,
}

impl Blocks {
    /// Returns the number of base blocks.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the name of a base block.
    pub fn name(&self, block: u32) -> &str {
        self.names.get(block as usize).map_or("", String::as_str)
    }

    /// Returns the nodes of a base block in ascending order; empty for a larger block.
    pub fn nodes(&self, block: u32) -> &[NodeId] {
        self.nodes.get(block as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the base size: the configured number of nodes of a base block. A base block may have more or fewer
    /// nodes.
    pub fn base_size(&self) -> u32 {
        self.base_size
    }

    /// Returns the levels of the block sizes in ascending order. A block of level l has 2^l times the base size. The
    /// first level is 0.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// Returns the block sizes in nodes, in ascending order; the first is the base size.
    pub fn sizes(&self) -> Vec<u32> {
        let sizes = self.levels.iter().map(|&level| u64::from(self.base_size) << level);
        sizes.filter_map(|size| u32::try_from(size).ok()).collect()
    }

    /// Returns the leaf unit of each node, and the parent of each unit. The units are the base blocks, the blocks of
    /// each larger size, and the machine.
    pub(super) fn units(&self) -> (Vec<u32>, Vec<Option<u32>>) {
        let nodes: usize = self.nodes.iter().map(Vec::len).sum();
        let mut leaves = vec![0; nodes];
        for (number, block) in (0..).zip(&self.nodes) {
            block.iter().for_each(|node| leaves[node.index()] = number);
        }
        let mut parents: Vec<Option<u32>> = vec![None; self.count()];
        let (mut first, mut count) = (0, self.count() as u32);
        let shifts = self.levels.windows(2).map(|pair| pair[1] - pair[0]);
        // A shift by 31 gives a single unit, the machine.
        for shift in shifts.chain([31]) {
            let above = parents.len() as u32;
            for unit in 0..count {
                parents[(first + unit) as usize] = Some(above + (unit >> shift));
            }
            (first, count) = (above, ((count - 1) >> shift) + 1);
            parents.resize(parents.len() + count as usize, None);
        }
        (leaves, parents)
    }
}
