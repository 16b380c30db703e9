//! Free nodes of a tree or block machine, with the number of free nodes of each switch and block.

use replay_engine::bits;
use replay_engine::metrics::block_fragmentation::fragmentation;
use replay_engine::topology::{Hierarchy, NodeId};

/// A set of free nodes. Removing or adding consecutive nodes of one leaf costs one step for each node, and one step for
/// each unit that contains the leaf.
#[derive(Clone, Debug)]
pub struct FreeNodes {
    hierarchy: Hierarchy,
    /// One bit for each node; the bit is set if the node is free.
    words: Vec<u64>,
    /// Index of a word; all words before this word are 0.
    lowest: usize,
    count: u32,
    /// Number of free nodes at or below each unit.
    below: Vec<u32>,
}

impl FreeNodes {
    /// Creates the set of all nodes of a machine.
    #[inline]
    pub fn all(hierarchy: &Hierarchy) -> Self {
        let count = hierarchy.processors() as u32;
        let mut words = vec![u64::MAX; count.div_ceil(64) as usize];
        if let Some(last) = words.last_mut().filter(|_| !count.is_multiple_of(64)) {
            *last = (1 << (count % 64)) - 1;
        }
        let below = hierarchy.units().iter().map(|unit| unit.nodes).collect();
        Self { hierarchy: hierarchy.clone(), words, lowest: 0, count, below }
    }

    /// Creates the set of these nodes of a machine; the nodes must be distinct.
    #[inline]
    pub fn of(hierarchy: &Hierarchy, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let (words, below) =
            (vec![0; hierarchy.processors().div_ceil(64)], vec![0; hierarchy.units().len()]);
        let mut free = Self { hierarchy: hierarchy.clone(), words, lowest: 0, count: 0, below };
        free.give(&nodes.into_iter().collect::<Vec<_>>());
        free
    }

    /// Creates the set of all nodes of a machine, of which only the numbers of free nodes are known. Single nodes must not
    /// be looked up, added or removed.
    #[inline]
    pub fn counts_of(hierarchy: &Hierarchy) -> Self {
        Self { words: Vec::new(), ..Self::all(hierarchy) }
    }

    /// Makes all nodes free again in a set whose nodes are not known.
    #[inline]
    pub fn refill(&mut self) {
        let units = self.hierarchy.units().iter().map(|unit| unit.nodes);
        self.below.clear();
        self.below.extend(units);
        self.count = self.hierarchy.processors() as u32;
    }

    /// Subtracts nodes of leaf units from the counts of a set whose nodes are not known.
    #[inline]
    pub fn subtract(&mut self, shares: &[(u32, u32)]) {
        let units = self.hierarchy.units();
        for &(leaf, count) in shares {
            self.count -= count;
            let mut at = Some(leaf);
            while let Some(unit) = at {
                self.below[unit as usize] -= count;
                at = units[unit as usize].parent;
            }
        }
    }

    /// Returns the machine.
    #[inline]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Returns the number of free nodes.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of free nodes at or below each unit.
    #[inline]
    pub fn below(&self) -> &[u32] {
        &self.below
    }

    /// Returns whether a node is free.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        bits::get(&self.words, node.index())
    }

    /// Returns the free node with the lowest number.
    #[inline]
    pub fn first(&mut self) -> Option<NodeId> {
        while *self.words.get(self.lowest)? == 0 {
            self.lowest += 1;
        }
        Some(NodeId(self.lowest as u32 * 64 + self.words[self.lowest].trailing_zeros()))
    }

    /// Returns the free nodes in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        bits::ones(&self.words).map(|node| NodeId(node as u32))
    }

    /// Appends free nodes of leaf units to `chosen`. `shares` contains leaf units, each with the number of nodes to take;
    /// the nodes with the lowest numbers are taken.
    #[inline]
    pub fn extend_from(&self, shares: &[(u32, u32)], chosen: &mut Vec<NodeId>) {
        for &(leaf, count) in shares {
            let nodes = self.hierarchy.nodes(leaf).iter().copied();
            chosen.extend(nodes.filter(|&node| self.contains(node)).take(count as usize));
        }
    }

    /// Removes nodes, which must be free.
    #[inline]
    pub fn take(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            debug_assert!(self.contains(node));
            self.words[node.index() / 64] &= !(1 << (node.0 % 64));
        }
        self.count -= nodes.len() as u32;
        self.change_counts(nodes, |count, nodes| *count -= nodes);
    }

    /// Adds nodes, which must not be free.
    #[inline]
    pub fn give(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            debug_assert!(!self.contains(node));
            let word = node.index() / 64;
            self.words[word] |= 1 << (node.0 % 64);
            self.lowest = self.lowest.min(word);
        }
        self.count += nodes.len() as u32;
        self.change_counts(nodes, |count, nodes| *count += nodes);
    }

    /// Applies `change` to the counts of the units above the nodes, once for each run of nodes of one leaf.
    fn change_counts(&mut self, nodes: &[NodeId], change: impl Fn(&mut u32, u32)) {
        let units = self.hierarchy.units();
        for run in nodes.chunk_by(|&a, &b| self.hierarchy.leaf(a) == self.hierarchy.leaf(b)) {
            let mut at = Some(self.hierarchy.leaf(run[0]));
            while let Some(unit) = at {
                change(&mut self.below[unit as usize], run.len() as u32);
                at = units[unit as usize].parent;
            }
        }
    }

    /// Returns the [fragmentation] of a block machine, in nodes; 0 for a tree.
    pub fn fragmentation(&self) -> u64 {
        let blocks = self.hierarchy.blocks().map_or(0, |blocks| blocks.count());
        fragmentation(&self.hierarchy, &self.below[..blocks])
    }
}
