//! Choice of the nodes of a job among free nodes: Slurm's rule without a topology, and its rules for trees and blocks.

use replay_engine::allocator::Times;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::topology::{Hierarchy, NodeId};
use replay_slurm::hierarchy::slurm_block::BlockOptions;
use replay_slurm::hierarchy::slurm_tree::TreeOptions;
use replay_slurm::hierarchy::{FreeNodes, Rule, RuleOptions, consecutive};

use crate::node_set::NodeSet;

/// A rule that chooses the nodes of a job. The choice depends only on the free nodes and the size of the job.
pub trait NodeChoice {
    /// Chooses `size` nodes of `free`; `None` if the rule finds no placement. `size` is at least one.
    fn choose(&mut self, free: &NodeSet, size: u32) -> Option<NodeSet>;
}

/// Slurm's rule without a topology (`topology/common/eval_nodes.c:_eval_nodes_consec`): runs of consecutive free nodes.
/// A job of one node gets the free node with the lowest number.
#[derive(Clone, Copy, Debug)]
pub struct Flat;

impl NodeChoice for Flat {
    fn choose(&mut self, free: &NodeSet, size: u32) -> Option<NodeSet> {
        if size > free.count() {
            return None;
        }
        let machine = free.words().len() * 64;
        if size == 1 {
            return Some(NodeSet::of(machine, free.iter().next()));
        }
        let mut chosen = Vec::with_capacity(size as usize);
        consecutive::choose(free.iter(), size, &mut chosen, &ExplanationLog::default());
        Some(NodeSet::of(machine, chosen))
    }
}

/// The rule `slurm-tree` or `slurm-block` without options on a machine.
#[derive(Clone, Debug)]
pub struct ByTopology {
    rule: Rule,
    /// The free nodes of the last call, with the number of free nodes of each switch or block.
    free: FreeNodes,
    last: NodeSet,
    chosen: Vec<NodeId>,
    changed: Vec<NodeId>,
}

impl ByTopology {
    /// Creates the rule for a machine.
    ///
    /// # Errors
    /// The message of [`Rule::new`].
    pub fn new(machine: &Hierarchy) -> Result<Self, String> {
        let options = match machine.tree() {
            Some(_) => RuleOptions::Tree(TreeOptions::default()),
            None => RuleOptions::Block(BlockOptions::default()),
        };
        Ok(Self {
            rule: Rule::new(machine, options)?,
            free: FreeNodes::all(machine),
            last: NodeSet::all(machine.processors()),
            chosen: Vec::new(),
            changed: Vec::new(),
        })
    }

    /// Adapts the free nodes of the rule to `free`.
    fn set_free(&mut self, free: &NodeSet) {
        for is_gone in [true, false] {
            self.changed.clear();
            let words = self.last.words().iter().zip(free.words());
            for (word, (&last, &now)) in words.enumerate() {
                let mut rest = if is_gone { last & !now } else { now & !last };
                while rest != 0 {
                    self.changed.push(NodeId(word as u32 * 64 + rest.trailing_zeros()));
                    rest &= rest - 1;
                }
            }
            match is_gone {
                true => self.free.take(&self.changed),
                false => self.free.give(&self.changed),
            }
        }
        self.last.clone_from(free);
    }
}

impl NodeChoice for ByTopology {
    fn choose(&mut self, free: &NodeSet, size: u32) -> Option<NodeSet> {
        if size > free.count() {
            return None;
        }
        self.set_free(free);
        self.chosen.clear();
        let placed = self.rule.place(&mut self.free, size, Times::default(), &mut self.chosen);
        let machine = free.words().len() * 64;
        placed.ok().map(|()| NodeSet::of(machine, self.chosen.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::workload::nodes::ranges;

    fn set(list: &str) -> NodeSet {
        let nodes = ranges(list).expect("ranges");
        NodeSet::of(64, nodes.into_iter().flat_map(|(a, b)| (a as u32..=b as u32).map(NodeId)))
    }

    #[test]
    fn flat_takes_the_smallest_run_that_holds_the_rest() {
        for (free, size, expected) in [
            ("0-2,5-6,9", 1, "0"),
            ("1-3,5-6,9-10", 2, "5-6"),
            ("0-2,5-6,9-11", 3, "0-2"),
            ("0-2,5-8,10-13", 6, "0-1,5-8"),
            ("0-1,3-4,6", 5, "0-1,3-4,6"),
        ] {
            let chosen = Flat.choose(&set(free), size).expect("enough nodes");
            assert_eq!(chosen.ranges(), expected, "{free} {size}");
        }
        assert_eq!(Flat.choose(&set("0-2"), 4), None);
    }

    #[test]
    fn a_tree_follows_changes_of_the_free_nodes() {
        let tree = "tree:2x4".parse::<replay_engine::topology::Topology>().expect("a tree");
        let mut rule = ByTopology::new(tree.hierarchy().expect("a tree")).expect("a rule");
        for (free, size, expected) in
            [("0-7", 3, "0-2"), ("1-7", 4, "4-7"), ("0-4", 3, "0-2"), ("2-7", 2, "2-3")]
        {
            let chosen = rule.choose(&set(free), size).expect("enough nodes");
            assert_eq!(chosen.ranges(), expected, "{free} {size}");
        }
    }

    #[test]
    fn blocks_are_chosen_by_their_rule() {
        let conf = "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=n[4-7]\nBlockName=b2 Nodes=n[8-11]\nBlockSizes=4,8\n";
        let file = replay_slurm::topology_file::TopologyFile::read(conf, "topology.conf", None);
        let mut rule = ByTopology::new(&file.expect("blocks").machine).expect("a rule");
        for (free, size, expected) in [
            // The third block is not part of a block of 8 and has the fewest free nodes.
            ("0-11", 3, "8-10"),
            ("1-3,4-7,8-9", 2, "8-9"),
            ("1-3,4-7,8-9", 4, "4-7"),
            // Two blocks of one larger block.
            ("0-11", 8, "0-7"),
        ] {
            let chosen = rule.choose(&set(free), size).expect("enough nodes");
            assert_eq!(chosen.ranges(), expected, "{free} {size}");
        }
        // The third block has no neighbour in a block of 8.
        assert_eq!(rule.choose(&set("0-2,4-6,8-11"), 8), None);
    }
}
