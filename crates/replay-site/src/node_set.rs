//! Sets of nodes of a machine, one bit for each node.

use replay_engine::bits;
use replay_engine::metrics::allocations::format_nodes;
use replay_engine::topology::NodeId;

/// A set of nodes. All sets that are combined must be of machines with the same number of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// Creates an empty set of nodes of a machine with `machine` nodes.
    pub fn empty(machine: usize) -> Self {
        Self { words: vec![0; machine.div_ceil(64)] }
    }

    /// Creates the set of all nodes of a machine with `machine` nodes.
    pub fn all(machine: usize) -> Self {
        let mut set = Self::empty(machine);
        bits::set(&mut set.words, 0, machine);
        set
    }

    /// Creates a set of these nodes of a machine with `machine` nodes.
    pub fn of(machine: usize, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut set = Self::empty(machine);
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }

    /// Adds a node.
    pub fn insert(&mut self, node: NodeId) {
        self.words[node.index() / 64] |= 1 << (node.0 % 64);
    }

    /// Returns whether the set has a node.
    pub fn contains(&self, node: NodeId) -> bool {
        bits::get(&self.words, node.index())
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns whether the set has no node.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the nodes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        bits::ones(&self.words).map(|node| NodeId(node as u32))
    }

    /// Returns the words of the set, 64 nodes each, lowest first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Keeps only the nodes that are also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Adds the nodes of `other`.
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Adds the nodes of `other` that are in `part`.
    pub fn unite_part(&mut self, other: &Self, part: &Self) {
        let words = other.words.iter().zip(&part.words);
        self.words.iter_mut().zip(words).for_each(|(word, (other, part))| *word |= other & part);
    }

    /// Removes the nodes of `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Returns the number of nodes that are in both sets.
    pub fn overlap(&self, other: &Self) -> u32 {
        let words = self.words.iter().zip(&other.words);
        words.map(|(word, other)| (word & other).count_ones()).sum()
    }

    /// Returns whether the sets have a node in common.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    /// Returns whether all nodes of this set are in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }

    /// Returns whether all nodes of `self` that are in `part` are also in `other` and in `third`.
    pub fn part_is_in_both(&self, part: &Self, other: &Self, third: &Self) -> bool {
        let words = self.words.iter().zip(&part.words).zip(other.words.iter().zip(&third.words));
        words.into_iter().all(|((word, part), (other, third))| word & part & !(other & third) == 0)
    }

    /// Formats the nodes as ranges, such as `4,7-9`.
    pub fn ranges(&self) -> String {
        format_nodes(&self.iter().collect::<Vec<_>>())
    }
}
