//! Leaves, blocks and levels of one allocation on trees of switches and on blocks.

use serde::{Deserialize, Serialize};

use crate::topology::{Hierarchy, NodeId};

/// Position of one job in a tree of switches or in blocks. A leaf is a switch with nodes, or a base block.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HierarchyPlacement {
    /// Number of leaves on which the job has nodes.
    pub leaves: u32,
    /// Minimum number of leaves that can hold the job on the idle machine. The largest leaves are used first.
    pub fewest_leaves: u32,
    /// Number of switches of level 1, or of blocks of the second size, that contain nodes of the job. A leaf that is not
    /// directly below a switch of level 1 counts as one. `None` if the machine has neither.
    pub upper_blocks: Option<u32>,
    /// On a tree, the level of the lowest switch above all nodes (0 for a leaf). On blocks, the index, from 0, of the
    /// smallest block size for which a single block holds all nodes. `None` if no switch or block contains all nodes.
    pub level: Option<u32>,
    /// Mean hop distance over pairs of nodes that run processes; 0 for one node.
    pub hops: f64,
    /// Number of nodes.
    pub nodes: u32,
    /// Whether the largest leaf is large enough for the job.
    pub fits_leaf: bool,
}

/// Measures positions on one machine; reuses its buffers.
#[derive(Clone, Debug)]
pub struct HierarchyLocality {
    hierarchy: Hierarchy,
    /// Level of each unit.
    levels: Vec<Option<u32>>,
    /// For each leaf, its switch of level 1 or its block of the second size; empty if the machine has neither.
    uppers: Vec<u32>,
    /// Prefix sums of the leaf sizes, in descending order of size.
    sums: Vec<u64>,
    units: Vec<u32>,
}

impl HierarchyLocality {
    /// Creates the buffers for a machine.
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let (units, levels) = (hierarchy.units(), hierarchy.unit_levels());
        let upper = |leaf: u32| {
            let parent = units[leaf as usize].parent;
            parent.filter(|&parent| levels[parent as usize] == Some(1)).unwrap_or(leaf)
        };
        let uppers = match levels.contains(&Some(1)) {
            true => (0..units.len() as u32).map(upper).collect(),
            false => Vec::new(),
        };
        let mut sizes = vec![0_u64; units.len()];
        for node in 0..hierarchy.processors() as u32 {
            sizes[hierarchy.leaf(NodeId(node)) as usize] += 1;
        }
        sizes.retain(|&size| size > 0);
        sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        let sums = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        let sums = sums.collect();
        Self { hierarchy: hierarchy.clone(), levels, uppers, sums, units: Vec::new() }
    }

    /// Returns the position of a job with at least one node. `hops` is the mean distance between the nodes of the job.
    pub fn placement(&mut self, nodes: &[NodeId], hops: f64) -> HierarchyPlacement {
        let Self { hierarchy, levels, uppers, sums, units } = self;
        units.clear();
        units.extend(nodes.iter().map(|&node| hierarchy.leaf(node)));
        let distinct = |units: &mut Vec<u32>| {
            units.sort_unstable();
            units.dedup();
            units.len() as u32
        };
        let leaves = distinct(units);
        let upper_blocks = (!uppers.is_empty()).then(|| {
            units.iter_mut().for_each(|unit| *unit = uppers[*unit as usize]);
            distinct(units)
        });
        let size = nodes.len() as u64;
        HierarchyPlacement {
            leaves,
            fewest_leaves: sums.partition_point(|&sum| sum < size) as u32 + 1,
            upper_blocks,
            level: hierarchy.enclosing_unit(nodes).and_then(|unit| levels[unit as usize]),
            hops,
            nodes: nodes.len() as u32,
            fits_leaf: sums.first().is_some_and(|&largest| size <= largest),
        }
    }
}

/// Values for figures about a run on a tree or on blocks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HierarchySeries {
    /// Job sizes in ascending order, each with a mean over the jobs of this size. The averaged value is the minimum
    /// number of leaves that can hold the job on the idle machine.
    pub fewest_leaves: Vec<(u32, f64)>,
    /// Time averages of Slurm's fragmentation over consecutive spans; empty on trees. Each entry contains the middle of
    /// the span, in seconds since the first submission, and the average. The average is in percent of the fragmentation
    /// of a machine on which no node is free.
    pub block_fragmentation: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Locality;
    use crate::topology::Topology;

    fn placed(machine: &str, nodes: &[u32]) -> HierarchyPlacement {
        let topology: Topology = machine.parse().expect("a machine");
        let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
        let placement = Locality::new(&topology).placement(&nodes, nodes.len() as u32);
        placement.hierarchy.expect("a tree or blocks")
    }

    #[test]
    fn measures_jobs_on_a_tree() {
        let of = |nodes: &[u32]| {
            let it = placed("tree:2x2x4", nodes);
            (it.leaves, it.fewest_leaves, it.upper_blocks, it.level, it.hops)
        };
        assert_eq!(of(&[5]), (1, 1, Some(1), Some(0), 0.0));
        assert_eq!(of(&[4, 7]), (1, 1, Some(1), Some(0), 2.0));
        // One pair of nodes is in a leaf, and two pairs are connected by the switch above the leaf.
        assert_eq!(of(&[0, 1, 4]), (2, 1, Some(1), Some(1), 10.0 / 3.0));
        // Two pairs meet below the root, and four pairs cross the root. Five nodes need two leaves.
        assert_eq!(of(&[0, 4, 8, 12]), (4, 1, Some(2), Some(2), (2.0 * 4.0 + 4.0 * 6.0) / 6.0));
        assert_eq!(of(&[0, 1, 2, 3, 8]).1, 2);
        let leaf = placed("tree:18", &[0, 17]);
        assert_eq!((leaf.upper_blocks, leaf.level, leaf.fits_leaf), (None, Some(0), true));
        assert!(!placed("tree:2x2x4", &[0, 1, 2, 3, 4]).fits_leaf);
        let mesh: Topology = "4x4".parse().expect("a machine");
        assert_eq!(Locality::new(&mesh).placement(&[NodeId(0)], 1).hierarchy, None);
    }

    #[test]
    fn measures_jobs_on_blocks() {
        let of = |nodes: &[u32]| {
            let it = placed("block[4,16]:6x4", nodes);
            (it.leaves, it.upper_blocks, it.level, it.hops)
        };
        assert_eq!(of(&[0, 3]), (1, Some(1), Some(0), 2.0));
        assert_eq!(of(&[0, 15]), (2, Some(1), Some(1), 4.0));
        // Beyond the block of 16 there is no block, only the machine.
        assert_eq!(of(&[0, 16]), (2, Some(2), None, 6.0));
        assert_eq!(placed("block[4]:6x4", &[0, 4]).upper_blocks, None);
    }
}
