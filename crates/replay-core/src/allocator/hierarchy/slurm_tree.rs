//! Slurm's rule for trees of switches (`eval_nodes_tree.c` of `topology/tree`, Slurm 26.05).
//!
//! The highest switch with enough free nodes is the *top*. Leaves below the top are chosen one after the other. The
//! scan over the switch table is part of the rule. A later leaf in the table replaces the best leaf so far in two
//! cases: if it is closer to the leaves already chosen and *fits*, or if it is equally close and better. See
//! [`TreeRule::compare`].
//!
//! Cost: one pass over the leaves for each chosen leaf. All leaves directly below one switch have the same distance to
//! the chosen leaves, so a run of leaves that is too far away is skipped as a whole.

use super::Denied;
use super::free_nodes::FreeNodes;
use crate::topology::hierarchy::Tree;
use crate::topology::{Hierarchy, NodeId};

/// The maximum time in seconds that a job waits for fewer switches (`max_switch_wait`).
pub const MAX_SWITCH_WAIT: u32 = 300;

/// The Slurm release whose rule is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Since {
    /// A job of one node is placed like larger jobs. A closer leaf wins unless it is worse. The free nodes of a chosen
    /// leaf remain in the counts of the switches above it.
    Slurm2205,
    /// A job of one node is placed like larger jobs.
    Slurm2511,
    /// A job of one node gets the free node with the lowest number.
    #[default]
    Slurm2605,
}

impl Since {
    /// Every release with its name.
    pub const ALL: [(&'static str, Since); 3] =
        [("22.05", Since::Slurm2205), ("25.11", Since::Slurm2511), ("26.05", Since::Slurm2605)];
}

/// Options of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeOptions {
    /// Maximum number of leaves of a job of several nodes; `None` if it is not limited.
    pub switches: Option<u32>,
    /// Number of seconds that a job waits for a placement on at most `switches` leaves. The maximum and default is
    /// [`MAX_SWITCH_WAIT`].
    pub wait: Option<u32>,
    /// The Slurm release whose rule is used.
    pub since: Since,
}

impl TreeOptions {
    /// Returns the number of seconds after submission at which a job no longer waits for fewer leaves.
    pub fn patience(&self) -> u32 {
        self.wait.map_or(MAX_SWITCH_WAIT, |wait| wait.min(MAX_SWITCH_WAIT))
    }
}

/// The rule on a machine.
#[derive(Clone, Debug)]
pub struct TreeRule {
    options: TreeOptions,
    /// Parent of each switch.
    parents: Vec<u32>,
    levels: Vec<u32>,
    depths: Vec<u32>,
    roots: Vec<u32>,
    /// Runs of leaves that have nodes, in table order. All leaves of a run are directly below one switch.
    families: Vec<Family>,
    leaves: Vec<u32>,
    /// Switches directly above leaves.
    above: Vec<u32>,
    work: Work,
}

/// A run of consecutive leaves directly below one switch.
#[derive(Clone, Copy, Debug)]
struct Family {
    root: u32,
    /// Index in `above` of the parent of these leaves.
    parent: u32,
    first: u32,
    end: u32,
}

/// Buffers of a decision.
#[derive(Clone, Debug, Default)]
struct Work {
    counts: Vec<u32>,
    /// By switch of `above`: the sum of the distances from a leaf below this switch to the chosen leaves.
    totals: Vec<u32>,
}

/// Marks the absence of a switch.
const NONE: u32 = u32::MAX;

/// Result of comparing two leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Better,
    Equal,
    Worse,
}

impl TreeRule {
    /// Creates the rule for a tree.
    pub fn new(hierarchy: &Hierarchy, tree: &Tree, options: TreeOptions) -> Self {
        let switches = tree.switches();
        let parents: Vec<u32> =
            switches.iter().map(|switch| switch.parent.unwrap_or(NONE)).collect();
        let root = |mut at: u32| {
            while parents[at as usize] != NONE {
                at = parents[at as usize];
            }
            at
        };
        let roots: Vec<u32> = (0..parents.len() as u32).map(root).collect();
        let (mut families, mut leaves, mut above): (Vec<Family>, Vec<u32>, Vec<u32>) =
            (Vec::new(), Vec::new(), Vec::new());
        let mut places = vec![NONE; parents.len()];
        let with_nodes = (0..).zip(switches).filter(|(_, switch)| !switch.nodes.is_empty());
        for (leaf, _) in with_nodes {
            let parent = parents[leaf as usize];
            let at = leaves.len() as u32;
            leaves.push(leaf);
            let place = match parent {
                NONE => NONE,
                _ => {
                    let place = &mut places[parent as usize];
                    if *place == NONE {
                        *place = above.len() as u32;
                        above.push(parent);
                    }
                    *place
                }
            };
            let root = roots[leaf as usize];
            match families.last_mut() {
                Some(last) if last.parent == place && place != NONE => last.end = at + 1,
                _ => families.push(Family { root, parent: place, first: at, end: at + 1 }),
            }
        }
        Self {
            options,
            levels: switches.iter().map(|switch| switch.level).collect(),
            depths: hierarchy.units().iter().map(|unit| unit.depth).collect(),
            parents,
            roots,
            families,
            leaves,
            above,
            work: Work::default(),
        }
    }

    /// Returns the options of the rule.
    pub fn options(&self) -> &TreeOptions {
        &self.options
    }

    /// Returns whether every request is served if at least the requested number of nodes is free.
    pub fn never_refuses(&self) -> bool {
        let first = self.roots.first();
        self.options.switches.is_none() && self.roots.iter().all(|root| Some(root) == first)
    }

    /// Chooses `size` nodes. `waited` is the number of seconds since the job was submitted.
    pub fn place(
        &mut self,
        free: &mut FreeNodes,
        size: u32,
        waited: i64,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        if size > free.count() {
            return Err(Denied::TooFewFree);
        }
        if size == 1 && self.options.since == Since::Slurm2605 {
            chosen.extend(free.first());
            return Ok(());
        }
        let top = self.top(free.below(), size).ok_or(Denied::NoPlace)?;
        let leaves = self.take(free, size, top, chosen);
        let several = |&most: &u32| size > 1 && leaves > most;
        if self.options.switches.as_ref().is_some_and(several)
            && waited < i64::from(self.options.patience())
        {
            chosen.clear();
            return Err(Denied::Switches);
        }
        Ok(())
    }

    /// Returns the switch of the highest level that has enough free nodes; the last such switch in the table.
    fn top(&self, below: &[u32], size: u32) -> Option<u32> {
        let mut top: Option<u32> = None;
        for (switch, &level) in (0..).zip(&self.levels) {
            let higher = top.is_none_or(|top| level >= self.levels[top as usize]);
            if higher && below[switch as usize] >= size {
                top = Some(switch);
            }
        }
        top
    }

    /// Takes nodes of one leaf after the other and returns the number of leaves.
    fn take(&mut self, free: &FreeNodes, size: u32, top: u32, chosen: &mut Vec<NodeId>) -> u32 {
        let Some(tree) = free.hierarchy().tree() else { return 0 };
        let mut work = std::mem::take(&mut self.work);
        work.counts.clear();
        work.counts.extend_from_slice(&free.below()[..self.parents.len()]);
        work.totals.clear();
        work.totals.resize(self.above.len(), 0);
        let (mut rest, mut leaves) = (size as usize, 0);
        while let Some(leaf) = self.next_leaf(&work, self.roots[top as usize], rest as u32) {
            let nodes = tree.nodes(leaf).iter().copied().filter(|&node| free.contains(node));
            let before = chosen.len();
            chosen.extend(nodes.take(rest));
            rest -= chosen.len() - before;
            leaves += 1;
            if rest == 0 {
                break;
            }
            self.mark(&mut work, leaf);
        }
        self.work = work;
        leaves
    }

    /// Returns the next leaf from which nodes are taken. Only leaves below `root` with free nodes are considered.
    fn next_leaf(&self, work: &Work, root: u32, rest: u32) -> Option<u32> {
        let Work { counts, totals } = work;
        let mut best: Option<(u32, u32)> = None;
        for family in self.families.iter().filter(|family| family.root == root) {
            let total = totals.get(family.parent as usize).copied().unwrap_or(0);
            if best.is_some_and(|(_, nearest)| total > nearest) {
                continue;
            }
            for &leaf in &self.leaves[family.first as usize..family.end as usize] {
                if counts[leaf as usize] == 0 {
                    continue;
                }
                let Some((other, nearest)) = best else {
                    best = Some((leaf, total));
                    continue;
                };
                let (verdict, fits) = self.compare(counts, leaf, other, rest);
                let replaces = match (total < nearest, self.options.since) {
                    (true, Since::Slurm2205) => verdict != Verdict::Worse,
                    (true, _) => fits,
                    (false, _) => verdict == Verdict::Better,
                };
                if replaces {
                    best = Some((leaf, total));
                }
            }
        }
        best.map(|(leaf, _)| leaf)
    }

    /// Compares leaf `i` with leaf `j`. If neither leaf has `rest` free nodes, the switches above them are compared
    /// instead, repeatedly. Returns whether `i` is better, and whether the leaf or switch that was last compared for
    /// `i` has `rest` free nodes.
    #[inline]
    fn compare(&self, counts: &[u32], mut i: u32, mut j: u32, rest: u32) -> (Verdict, bool) {
        loop {
            let [of_i, of_j] = [counts[i as usize], counts[j as usize]];
            match (of_i >= rest, of_j >= rest) {
                (true, true) if of_i < of_j => return (Verdict::Better, true),
                (true, true) if of_i > of_j => return (Verdict::Worse, true),
                (true, false) => return (Verdict::Better, true),
                (false, true) => return (Verdict::Worse, false),
                (fits, _) => {
                    let above = [self.parents[i as usize], self.parents[j as usize]];
                    if !fits && above[0] != above[1] && !above.contains(&NONE) {
                        [i, j] = above;
                        continue;
                    }
                    let lower = self.levels[j as usize].cmp(&self.levels[i as usize]);
                    return match of_i.cmp(&of_j).then(lower) {
                        std::cmp::Ordering::Greater => (Verdict::Better, fits),
                        std::cmp::Ordering::Equal => (Verdict::Equal, fits),
                        std::cmp::Ordering::Less => (Verdict::Worse, fits),
                    };
                }
            }
        }
    }

    /// Updates the distances and counts after a leaf has been chosen.
    fn mark(&self, work: &mut Work, leaf: u32) {
        let parent = self.parents[leaf as usize];
        if parent != NONE {
            for (total, &above) in work.totals.iter_mut().zip(&self.above) {
                if self.roots[above as usize] == self.roots[leaf as usize] {
                    *total += 2 + self.between(parent, above);
                }
            }
        }
        let count = std::mem::take(&mut work.counts[leaf as usize]);
        let mut at = parent;
        while at != NONE && self.options.since != Since::Slurm2205 {
            work.counts[at as usize] -= count;
            at = self.parents[at as usize];
        }
    }

    /// Returns the number of edges between two switches of one tree.
    fn between(&self, mut a: u32, mut b: u32) -> u32 {
        let mut edges = 0;
        while a != b {
            let deeper = match self.depths[a as usize] >= self.depths[b as usize] {
                true => &mut a,
                false => &mut b,
            };
            *deeper = self.parents[*deeper as usize];
            edges += 1;
        }
        edges
    }
}
