//! Parts of a machine, such as the nodes of one partition of a cluster.

use std::collections::HashMap;

use super::{BlockEntry, Hierarchy, HierarchyKind, SwitchEntry};
use crate::number::grouped;
use crate::sanitize::excerpt;

impl Hierarchy {
    /// Returns the part of a tree or block machine that has only the nodes with these names. Switches without any of
    /// these nodes are left out. All base blocks are kept, because their positions determine the larger blocks.
    ///
    /// # Errors
    /// A message if there are no names, or if the machine does not have a node.
    pub fn part(&self, names: &[String]) -> Result<Self, String> {
        let all = self.names();
        let numbers: HashMap<&String, usize> = all.iter().zip(0..).collect();
        let mut unknown = names.iter().filter(|&name| !numbers.contains_key(name));
        if let Some(name) = unknown.next() {
            let more = match unknown.count() {
                0 => String::new(),
                more => format!(" and {} more", grouped(more as u64)),
            };
            return Err(format!("{self} does not have node {}{more}", excerpt(name)));
        }
        let mut kept = vec![false; all.len()];
        names.iter().for_each(|name| kept[numbers[name]] = true);
        let count = kept.iter().filter(|&&kept| kept).count() as u64;
        let label = match count == all.len() as u64 {
            true => self.to_string(),
            false => format!("{} of {} nodes of {self}", grouped(count), grouped(all.len() as u64)),
        };
        let line = |unit: u32| self.line(unit).unwrap_or(0);
        let nodes = |unit: u32| -> Vec<String> {
            let nodes = self.nodes(unit).iter().filter(|node| kept[node.index()]);
            nodes.map(|node| all[node.index()].clone()).collect()
        };
        let part = match self.kind() {
            HierarchyKind::Tree(tree) => {
                let mut has_nodes = vec![false; tree.switches().len()];
                for (node, _) in self.0.leaves.iter().zip(&kept).filter(|(_, kept)| **kept) {
                    let mut at = Some(*node);
                    while let Some(switch) = at.filter(|&switch| !has_nodes[switch as usize]) {
                        has_nodes[switch as usize] = true;
                        at = tree.switches()[switch as usize].parent;
                    }
                }
                let switches = (0..).zip(tree.switches());
                let switches = switches.filter(|&(number, _)| has_nodes[number as usize]);
                let entry = |(number, switch): (u32, &super::Switch)| {
                    let children =
                        switch.children.iter().filter(|&&child| has_nodes[child as usize]);
                    let name = |&child: &u32| tree.switches()[child as usize].name.clone();
                    SwitchEntry {
                        line: line(number),
                        name: switch.name.clone(),
                        nodes: nodes(number),
                        switches: children.map(name).collect(),
                    }
                };
                Self::of_switches(label, &switches.map(entry).collect::<Vec<_>>())
            }
            HierarchyKind::Blocks(blocks) => {
                let entry = |number: u32| BlockEntry {
                    line: line(number),
                    name: blocks.name(number).to_string(),
                    nodes: nodes(number),
                };
                let entries: Vec<_> = (0..blocks.count() as u32).map(entry).collect();
                Self::of_blocks(label, &entries, Some((0, &blocks.sizes())))
            }
        };
        let mut part = part.map_err(|error| error.to_string())?;
        if let Some(part) = std::sync::Arc::get_mut(&mut part.0) {
            part.simplifications.clone_from(&self.0.simplifications);
        }
        Ok(part)
    }
}
