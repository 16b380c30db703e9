//! Machines of base blocks.

use crate::topology::NodeId;

/// The largest exponent of a block size: sizes are at most 2^15 times the base size.
pub const MAX_SIZE_EXPONENT: u32 = 15;

/// Base blocks in file order, and the sizes of the blocks that they form.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Blocks {
    pub(super) names: Vec<String>,
    pub(super) nodes: Vec<Vec<NodeId>>,
    pub(super) base_size: u32,
    /// Ascending and distinct; the first is 0.
    pub(super) levels: Vec<u32>,
}

impl Blocks {
    /// Number of base blocks.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Name of a base block.
    pub fn name(&self, block: u32) -> &str {
        self.names.get(block as usize).map_or("", String::as_str)
    }

    /// Nodes of a base block, ascending; none of a larger block.
    pub fn nodes(&self, block: u32) -> &[NodeId] {
        self.nodes.get(block as usize).map_or(&[], Vec::as_slice)
    }

    /// The base size: nodes of a base block by the configuration. Blocks may hold more or fewer nodes.
    pub fn base_size(&self) -> u32 {
        self.base_size
    }

    /// Levels of the block sizes, ascending: a size of level l is 2^l base sizes. The first is 0.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// The leaf unit of each node, and the parent of each unit: base blocks, blocks of each further size, the machine.
    pub(super) fn units(&self) -> (Vec<u32>, Vec<Option<u32>>) {
        let nodes: usize = self.nodes.iter().map(Vec::len).sum();
        let mut leaves = vec![0; nodes];
        for (number, block) in (0..).zip(&self.nodes) {
            block.iter().for_each(|node| leaves[node.index()] = number);
        }
        let mut parents: Vec<Option<u32>> = vec![None; self.count()];
        let (mut first, mut count) = (0, self.count() as u32);
        let shifts = self.levels.windows(2).map(|pair| pair[1] - pair[0]);
        // 32 bits count no more blocks than there are.
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
