//! Trees of switches.

use crate::topology::NodeId;

/// The switches of a tree, or of several, in table order.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Tree {
    pub(super) switches: Vec<Switch>,
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// The switch above it.
    pub parent: Option<u32>,
    /// The switches below it, in table order.
    pub children: Vec<u32>,
    /// Nodes of a leaf, ascending.
    pub nodes: Vec<NodeId>,
    /// 0 of a leaf, else one more than the highest level among its children.
    pub level: u32,
}

impl Tree {
    /// The switch table: switches in the order of the file.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Nodes of a leaf, ascending; none of any other switch.
    pub fn nodes(&self, switch: u32) -> &[NodeId] {
        self.switches.get(switch as usize).map_or(&[], |switch| &switch.nodes)
    }

    /// Switches without a parent, in table order.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.switches).filter(|(_, switch)| switch.parent.is_none()).map(|one| one.0)
    }

    /// The leaf unit of each node, and the parent of each unit.
    pub(super) fn units(&self) -> (Vec<u32>, Vec<Option<u32>>) {
        let nodes: usize = self.switches.iter().map(|switch| switch.nodes.len()).sum();
        let mut leaves = vec![0; nodes];
        for (number, switch) in (0..).zip(&self.switches) {
            switch.nodes.iter().for_each(|node| leaves[node.index()] = number);
        }
        let mut parents: Vec<Option<u32>> =
            self.switches.iter().map(|switch| switch.parent).collect();
        if self.roots().nth(1).is_some() {
            let above = parents.len() as u32;
            parents.iter_mut().for_each(|parent| *parent = parent.or(Some(above)));
            parents.push(None);
        }
        (leaves, parents)
    }
}
