//! Reference implementation of `tree-fit`, which computes every count from the free nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use replay_engine::topology::hierarchy::Tree;
use replay_slurm::hierarchy::Denied;

/// A decision: the free nodes, the expected end of the job on each busy node, the time, and the expected end of the job
/// if it starts now.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// The machine.
    pub tree: &'a Tree,
    /// Free nodes.
    pub free: &'a BTreeSet<u32>,
    /// Expected end of the job on each busy node.
    pub ends: &'a BTreeMap<u32, i64>,
    /// Time of the decision.
    pub now: i64,
    /// Expected end of the job; `None` if the job has no estimate.
    pub end: Option<i64>,
}

impl Decision<'_> {
    fn ancestors(&self, switch: usize) -> Vec<usize> {
        let parent = |&at: &usize| self.tree.switches()[at].parent.map(|parent| parent as usize);
        std::iter::successors(Some(switch), parent).collect()
    }

    fn free_of(&self, leaf: usize) -> Vec<u32> {
        let nodes = self.tree.switches()[leaf].nodes.iter().map(|node| node.0);
        nodes.filter(|node| self.free.contains(node)).collect()
    }

    fn leaves_below(&self, switch: usize) -> Vec<usize> {
        let leaves = 0..self.tree.switches().len();
        leaves.filter(|&leaf| self.ancestors(leaf).contains(&switch)).collect()
    }

    fn count(&self, switch: usize) -> usize {
        self.leaves_below(switch).into_iter().map(|leaf| self.free_of(leaf).len()).sum()
    }

    fn extension(&self, leaf: usize) -> i64 {
        let Some(end) = self.end else { return 0 };
        let nodes = self.tree.switches()[leaf].nodes.iter();
        let last = nodes.filter_map(|node| self.ends.get(&node.0)).max();
        let busy_until = last.map_or(self.now, |&last| last.max(self.now));
        (end - busy_until).max(0)
    }

    /// Returns the leaf with the fewest free nodes, among the given leaves with at least `rest` free nodes.
    fn tightest(&self, leaves: &[usize], rest: usize) -> Option<usize> {
        let holds = leaves.iter().copied().filter(|&leaf| self.free_of(leaf).len() >= rest);
        holds.min_by_key(|&leaf| {
            let above = self.ancestors(leaf).into_iter().skip(1);
            let above: Vec<usize> = above.map(|switch| self.count(switch)).collect();
            (self.free_of(leaf).len(), self.extension(leaf), above, leaf)
        })
    }

    /// Returns the nodes of a job.
    pub fn place(&self, size: usize) -> Result<BTreeSet<u32>, Denied> {
        if size > self.free.len() {
            return Err(Denied::TooFewFree);
        }
        let switches = self.tree.switches();
        let leaves: Vec<usize> =
            (0..switches.len()).filter(|&leaf| !switches[leaf].nodes.is_empty()).collect();
        if let Some(leaf) = self.tightest(&leaves, size) {
            return Ok(self.free_of(leaf).into_iter().take(size).collect());
        }
        let largest_first = |switch: usize| {
            let mut below = self.leaves_below(switch);
            below.sort_by_key(|&leaf| (Reverse(self.free_of(leaf).len()), leaf));
            below
        };
        let fewest = |switch: usize| {
            let below = largest_first(switch);
            (1..=below.len())
                .find(|&first| {
                    below[..first].iter().map(|&leaf| self.free_of(leaf).len()).sum::<usize>()
                        >= size
                })
                .expect("the switch has enough")
        };
        let top = (0..switches.len())
            .filter(|&switch| self.count(switch) >= size)
            .min_by_key(|&switch| {
                (switches[switch].level, fewest(switch), self.count(switch), switch)
            })
            .ok_or(Denied::NoPlace)?;
        let below = largest_first(top);
        let (whole, others) = below.split_at(fewest(top) - 1);
        let mut nodes: BTreeSet<u32> = whole.iter().flat_map(|&leaf| self.free_of(leaf)).collect();
        let rest = size - nodes.len();
        let last = self.tightest(others, rest).expect("a leaf for the rest");
        nodes.extend(self.free_of(last).into_iter().take(rest));
        Ok(nodes)
    }
}
