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
            self.extend_from_leaf(leaf, 0, count, |_| true, chosen);
        }
    }

    /// Appends `count` usable free nodes of a leaf unit to `chosen`, in the order of the unit. The first `skipped` usable
    /// nodes are left out.
    #[inline]
    pub fn extend_from_leaf(
        &self,
        leaf: u32,
        mut skipped: u32,
        mut count: u32,
        is_usable: impl Fn(NodeId) -> bool,
        chosen: &mut Vec<NodeId>,
    ) {
        chosen.reserve(count as usize);
        for &node in self.hierarchy.nodes(leaf) {
            if count == 0 {
                break;
            }
            if self.contains(node) && is_usable(node) {
                match skipped {
                    0 => {
                        chosen.push(node);
                        count -= 1;
                    }
                    _ => skipped -= 1,
                }
            }
        }
    }

    /// Removes nodes, which must be free.
    #[inline]
    pub fn take(&mut self, nodes: &[NodeId]) {
        debug_assert!(nodes.iter().all(|&node| self.contains(node)));
        self.flip(nodes);
        self.count -= nodes.len() as u32;
        self.change_counts(nodes, |count, nodes| *count -= nodes);
    }

    /// Adds nodes, which must not be free.
    #[inline]
    pub fn give(&mut self, nodes: &[NodeId]) {
        debug_assert!(!nodes.iter().any(|&node| self.contains(node)));
        let lowest = self.flip(nodes);
        self.lowest = self.lowest.min(lowest);
        self.count += nodes.len() as u32;
        self.change_counts(nodes, |count, nodes| *count += nodes);
    }

    /// Flips the bits of nodes, and returns the index of the lowest word that changes. Each run of nodes of one word is
    /// one change of this word.
    fn flip(&mut self, nodes: &[NodeId]) -> usize {
        let (mut lowest, mut at, mut mask) = (usize::MAX, 0, 0u64);
        for &node in nodes {
            let word = node.index() / 64;
            if word != at {
                self.words[at] ^= mask;
                (at, mask) = (word, 0);
            }
            mask |= 1 << (node.0 % 64);
            lowest = lowest.min(word);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word ^= mask;
        }
        lowest
    }

    /// Applies `change` to the counts of the units above the nodes, once for each run of nodes of one leaf.
    fn change_counts(&mut self, nodes: &[NodeId], change: impl Fn(&mut u32, u32)) {
        let Self { hierarchy, below, .. } = self;
        let units = hierarchy.units();
        let mut add = |leaf: u32, nodes: u32| {
            let mut at = Some(leaf);
            while let Some(unit) = at {
                change(&mut below[unit as usize], nodes);
                at = units[unit as usize].parent;
            }
        };
        let mut nodes = nodes.iter().map(|&node| hierarchy.leaf(node));
        let Some(mut leaf) = nodes.next() else { return };
        let mut run = 1;
        for next in nodes {
            if next != leaf {
                add(leaf, run);
                (leaf, run) = (next, 0);
            }
            run += 1;
        }
        add(leaf, run);
    }

    /// Returns the [fragmentation] of a block machine, in nodes; 0 for a tree.
    pub fn fragmentation(&self) -> u64 {
        let blocks = self.hierarchy.blocks().map_or(0, |blocks| blocks.count());
        fragmentation(&self.hierarchy, &self.below[..blocks])
    }
}
