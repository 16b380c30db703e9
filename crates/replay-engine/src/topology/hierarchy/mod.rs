//! Machines whose nodes are leaves of a hierarchy: trees of switches, and blocks of blocks.
//!
//! Both kinds of machine consist of *units*. On a tree, a unit is a switch. On a block machine, a unit is a base block,
//! a block of a larger size, or the whole machine. Every node belongs to one *leaf unit*, and every unit has at most
//! one parent. Distances and enclosing units depend only on the units. Properties that only one kind of machine has are
//! in [`Tree`] (the switch table) and [`Blocks`] (block sizes).
//!
//! Nodes are numbered in the natural order of their names ([`natural_order`]), as in Slurm.

mod blocks;
mod description;
mod entries;
mod generated;
mod names;
mod natural;
mod parents;
mod part;
mod tree;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::NodeId;

pub use blocks::Blocks;
pub use entries::{BlockEntry, DescriptionError, Simplification, Subject, SwitchEntry};
pub(super) use generated::{parse_blocks, parse_tree};
pub use names::host_list;
pub use natural::natural_order;
pub use tree::{Switch, Tree};

/// A tree of switches or a machine of blocks. Cheap to clone.
///
/// ```
/// use replay_engine::topology::{NodeId, Topology};
/// let tree: Topology = "tree:2x2x4".parse()?;
/// let hops = |a, b| tree.hops(NodeId(a), NodeId(b));
/// assert_eq!([hops(0, 0), hops(0, 3), hops(0, 4), hops(0, 8)], [0, 2, 4, 6]);
/// let blocks: Topology = "block[4,16]:6x4".parse()?;
/// let hops = |a, b| blocks.hops(NodeId(a), NodeId(b));
/// assert_eq!([hops(0, 3), hops(0, 15), hops(0, 16)], [2, 4, 6]);
/// # Ok::<(), replay_engine::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hierarchy(Arc<Description>);

#[derive(PartialEq, Eq, Hash, Debug)]
struct Description {
    /// Name of the machine as given by the user: a description such as `tree:4x8x18`, or the path of a file.
    label: String,
    /// Names of the nodes, indexed by node number.
    names: Vec<String>,
    kind: HierarchyKind,
    /// Line of each switch or base block in the file, from 1; empty if the machine was not read from a file.
    lines: Vec<usize>,
    /// How the machine differs from the description in the file.
    simplifications: Vec<Simplification>,
    /// The leaf unit of each node.
    leaves: Vec<u32>,
    units: Vec<Unit>,
}

/// Kind of a hierarchy, with the properties that only this kind has.
#[derive(PartialEq, Eq, Hash, Debug)]
pub enum HierarchyKind {
    /// A tree of switches.
    Tree(Tree),
    /// Blocks of nodes.
    Blocks(Blocks),
}

/// A switch or a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unit {
    /// The unit that contains this unit; `None` for the topmost unit.
    pub parent: Option<u32>,
    /// Number of edges between this unit and the topmost unit.
    pub depth: u32,
    /// Number of nodes at or below this unit.
    pub nodes: u32,
}

/// Two machines are equal if their node names and their structure are equal. The label is not compared.
impl PartialEq for Hierarchy {
    fn eq(&self, other: &Self) -> bool {
        let [ours, theirs] = [&*self.0, &*other.0];
        Arc::ptr_eq(&self.0, &other.0) || ours.names == theirs.names && ours.kind == theirs.kind
    }
}

impl Eq for Hierarchy {}

impl Hash for Hierarchy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.names.len().hash(state);
        self.0.units.hash(state);
    }
}

impl Hierarchy {
    fn new(
        label: String,
        names: Vec<String>,
        kind: HierarchyKind,
        mut lines: Vec<usize>,
        simplifications: Vec<Simplification>,
    ) -> Self {
        if lines.contains(&0) {
            lines.clear();
        }
        let (leaves, parents) = match &kind {
            HierarchyKind::Tree(tree) => tree.units(),
            HierarchyKind::Blocks(blocks) => blocks.units(),
        };
        let units = measured(&leaves, &parents);
        Self(Arc::new(Description { label, names, kind, lines, simplifications, leaves, units }))
    }

    /// Returns the number of nodes.
    pub fn processors(&self) -> usize {
        self.0.names.len()
    }

    /// Returns the kind of the hierarchy, with the properties that only this kind has.
    pub fn kind(&self) -> &HierarchyKind {
        &self.0.kind
    }

    /// Returns the tree if the machine is a tree.
    pub fn tree(&self) -> Option<&Tree> {
        match self.kind() {
            HierarchyKind::Tree(tree) => Some(tree),
            HierarchyKind::Blocks(_) => None,
        }
    }

    /// Returns the blocks if the machine is a block machine.
    pub fn blocks(&self) -> Option<&Blocks> {
        match self.kind() {
            HierarchyKind::Tree(_) => None,
            HierarchyKind::Blocks(blocks) => Some(blocks),
        }
    }

    /// Returns the names of the nodes, by node number.
    pub fn names(&self) -> &[String] {
        &self.0.names
    }

    /// Returns whether the machine was read from a file, so that the names of its nodes are names of a real machine.
    pub fn is_of_file(&self) -> bool {
        !self.0.lines.is_empty()
    }

    /// Returns the line of a switch or base block in the file of the machine; `None` if the machine was not read from a
    /// file.
    pub fn line(&self, unit: u32) -> Option<usize> {
        self.0.lines.get(unit as usize).copied()
    }

    /// Returns how the machine differs from the description in its file; empty if it does not differ.
    pub fn simplifications(&self) -> &[Simplification] {
        &self.0.simplifications
    }

    /// Formats the names of nodes as a host list, such as `node[032-063]`. The nodes are given in ascending order.
    /// Returns `None` if the machine was not read from a file, because the names of its nodes then only repeat the node
    /// numbers.
    pub fn host_list(&self, nodes: &[NodeId]) -> Option<String> {
        self.is_of_file()
            .then(|| names::host_list(nodes.iter().map(|node| &self.names()[node.index()][..])))
    }

    /// Returns all units. The units of a tree are its switches in table order, followed by a virtual unit above the
    /// roots if there are several roots. The units of a block machine begin with the base blocks in file order.
    pub fn units(&self) -> &[Unit] {
        &self.0.units
    }

    /// Returns the leaf unit of a node.
    #[inline]
    pub fn leaf(&self, node: NodeId) -> u32 {
        self.0.leaves[node.index()]
    }

    /// Returns the number of edges between two units.
    pub fn between(&self, mut a: u32, mut b: u32) -> u32 {
        let units = self.units();
        let depth = |unit: u32| units[unit as usize].depth;
        let mut edges = 0;
        while a != b {
            let deeper = if depth(a) >= depth(b) { &mut a } else { &mut b };
            match units[*deeper as usize].parent {
                Some(parent) => *deeper = parent,
                None => break,
            }
            edges += 1;
        }
        edges
    }

    /// Returns the distance in hops. The distance between two different nodes is 2 plus the number of edges between
    /// their leaves; the distance of a node to itself is 0. If there are several roots, distances are computed as if an
    /// additional switch joined the roots.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        if a == b { 0 } else { 2 + self.between(self.leaf(a), self.leaf(b)) }
    }

    /// Calls `visit` with every other node of the leaf of `node`.
    pub fn for_neighbours(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        let nodes = self.nodes(self.leaf(node));
        nodes.iter().filter(|&&other| other != node).for_each(|&other| visit(other));
    }

    /// Returns the nodes of a leaf unit in ascending order; empty for a unit above leaf units.
    pub fn nodes(&self, unit: u32) -> &[NodeId] {
        match self.kind() {
            HierarchyKind::Tree(tree) => tree.nodes(unit),
            HierarchyKind::Blocks(blocks) => blocks.nodes(unit),
        }
    }

    /// Returns the level of each unit: the level of a switch, or the index of a block's size in the list of block
    /// sizes, from 0. The level is `None` for the virtual unit above several roots, and for the unit of the whole
    /// machine above all block sizes.
    pub fn unit_levels(&self) -> Vec<Option<u32>> {
        let mut levels: Vec<Option<u32>> = match self.kind() {
            HierarchyKind::Tree(tree) => {
                tree.switches().iter().map(|switch| Some(switch.level)).collect()
            }
            HierarchyKind::Blocks(blocks) => {
                // Blocks of one size are consecutive units.
                let sizes = (0..).zip(blocks.levels());
                let blocks_of = |(index, &level)| {
                    std::iter::repeat_n(Some(index), blocks.count().div_ceil(1_usize << level))
                };
                sizes.flat_map(blocks_of).collect()
            }
        };
        levels.resize(self.units().len(), None);
        levels
    }

    /// Returns the number of nodes of the smallest unit that contains all of these nodes.
    pub fn enclosing_nodes(&self, nodes: &[NodeId]) -> u32 {
        self.enclosing_unit(nodes).map_or(0, |unit| self.units()[unit as usize].nodes)
    }

    /// Returns the smallest unit that contains all of these nodes; `None` if there are no nodes.
    pub fn enclosing_unit(&self, nodes: &[NodeId]) -> Option<u32> {
        let units = self.units();
        let mut leaves = nodes.iter().map(|&node| self.leaf(node));
        let mut common = leaves.next()?;
        for mut leaf in leaves {
            while common != leaf {
                let [a, b] = [common, leaf].map(|unit| units[unit as usize]);
                match if a.depth >= b.depth { a.parent } else { b.parent } {
                    Some(parent) if a.depth >= b.depth => common = parent,
                    Some(parent) => leaf = parent,
                    None => break,
                }
            }
        }
        Some(common)
    }

    /// Returns the number of leaf units that contain at least one of these nodes.
    pub fn leaf_count(&self, nodes: &[NodeId]) -> u32 {
        let mut leaves: Vec<u32> = nodes.iter().map(|&node| self.leaf(node)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        leaves.len() as u32
    }

    /// Returns the sum of [`hops`](Self::hops) over all pairs of distinct nodes. Each edge of the hierarchy separates
    /// the nodes below it from all other nodes, and the path between two separated nodes crosses the edge once.
    pub fn pairwise_hops(&self, nodes: &[NodeId]) -> u64 {
        let all = nodes.len() as u64;
        let mut below: Vec<(u32, u64)> = nodes.iter().map(|&node| (self.leaf(node), 1)).collect();
        let mut sum = all * all.saturating_sub(1);
        let mut depth = self.units().iter().map(|unit| unit.depth).max().unwrap_or(0);
        while depth > 0 {
            below.sort_unstable_by_key(|one| one.0);
            below.dedup_by(|other, one| {
                let same = other.0 == one.0;
                one.1 += if same { other.1 } else { 0 };
                same
            });
            for (unit, count) in &mut below {
                let Unit { parent, depth: own, .. } = self.units()[*unit as usize];
                if let Some(parent) = parent.filter(|_| own == depth) {
                    sum += *count * (all - *count);
                    *unit = parent;
                }
            }
            depth -= 1;
        }
        sum
    }
}

impl fmt::Display for Hierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.label)
    }
}

/// Returns the units with their depths and numbers of nodes. `leaves` contains the leaf unit of each node.
fn measured(leaves: &[u32], parents: &[Option<u32>]) -> Vec<Unit> {
    let mut units: Vec<Unit> =
        parents.iter().map(|&parent| Unit { parent, depth: u32::MAX, nodes: 0 }).collect();
    let mut path = Vec::new();
    for first in 0..units.len() {
        let mut at = Some(first as u32);
        while let Some(unit) = at.filter(|&unit| units[unit as usize].depth == u32::MAX) {
            path.push(unit);
            at = units[unit as usize].parent;
        }
        let mut depth = at.map_or(0, |known| units[known as usize].depth + 1);
        while let Some(unit) = path.pop() {
            units[unit as usize].depth = depth;
            depth += 1;
        }
    }
    for &leaf in leaves {
        units[leaf as usize].nodes += 1;
    }
    let mut by_depth: Vec<u32> = (0..units.len() as u32).collect();
    by_depth.sort_unstable_by_key(|&unit| std::cmp::Reverse(units[unit as usize].depth));
    for unit in by_depth {
        let Unit { parent, nodes, .. } = units[unit as usize];
        if let Some(parent) = parent {
            units[parent as usize].nodes += nodes;
        }
    }
    units
}

#[cfg(test)]
mod tests;
