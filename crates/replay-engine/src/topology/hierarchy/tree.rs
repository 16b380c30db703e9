//! Trees of switches.

use crate::topology::NodeId;

/// The switches of one or several trees, in table order.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Tree {
    pub(super) switches: Vec<Switch>,
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Switch {
    /// Name of the switch.
    pub name: String,
    /// The switch directly above this switch; `None` for a root.
    pub parent: Option<u32>,
    /// The switches directly below this switch, in table order.
    pub children: Vec<u32>,
    /// Nodes of the switch in ascending order; empty unless the switch is a leaf.
    pub nodes: Vec<NodeId>,
    /// Level of the switch: 0 for a leaf, otherwise one more than the highest level among its
    /// children.
    pub level: u32,
}

impl Tree {
    /// Returns the switch table: the switches in the order of the file.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Returns the nodes of a leaf in ascending order; empty for all other switches.
    pub fn nodes(&self, switch: u32) -> &[NodeId] {
        self.switches.get(switch as usize).map_or(&[], |switch| &switch.nodes)
    }

    /// Returns the switches without a parent, in table order.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.switches).filter(|(_, switch)| switch.parent.is_none()).map(|one| one.0)
    }

    /// Returns the leaf unit of each node, and the parent of each unit.
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
