//! `tree-fit`: a rule that uses fewer leaves and lower switches than Slurm's rule for trees, with the same schedule.
//!
//! 1. If one or more leaves have enough free nodes for the job, the job gets a leaf with the fewest free nodes among
//!    these leaves.
//! 2. Among equal leaves, the leaf with the smallest *extension* is chosen. The extension is the time from the expected
//!    end of the last job on the leaf (from now if the leaf is idle) to the expected end of the new job; it is at least
//!    0.
//! 3. Among equal leaves, the leaf below the switch with the fewest free nodes is chosen. If the numbers of free nodes
//!    are equal, the next higher switches are compared in the same way; the last criterion is the order of the table.
//! 4. If no leaf has enough free nodes, a switch is chosen from the lowest level at which a switch has enough free
//!    nodes. Among these switches, the switch that needs the fewest leaves is chosen. If several switches need equally
//!    few leaves, the switch with the fewest free nodes is chosen, then the first in the table.
//! 5. Below this switch, leaves are taken whole, those with the most free nodes first, until one leaf can hold the rest
//!    of the job. Rules 1 to 3 select the leaf for the rest of the job among the remaining leaves.
//!
//! A job without an estimate has extension 0 on every leaf. The free nodes of a leaf are taken in node order. If no
//! switch has enough free nodes, which is possible only with several roots, the job waits, as under Slurm's rule.
//!
//! Cost: one pass over the leaves. If no leaf is large enough, the leaves below each sufficient switch of the lowest level
//! are also sorted.

use std::cmp::{Ordering, Reverse};

use crate::hierarchy::{Denied, FreeNodes};
use replay_engine::allocator::Times;
use replay_engine::allocator::explain::{ExplanationLog, Listing};
use replay_engine::number::counted;
use replay_engine::topology::hierarchy::Tree;
use replay_engine::topology::{Hierarchy, NodeId};

/// The `tree-fit` rule for one tree, with the expected ends of the running jobs.
#[derive(Clone, Debug)]
pub struct FitRule {
    parents: Vec<Option<u32>>,
    levels: Vec<u32>,
    /// Leaves that have nodes, in table order.
    leaves: Vec<u32>,
    /// Leaves that have nodes, below each switch, in table order.
    below: Vec<Vec<u32>>,
    /// Switches by level, in table order within a level.
    by_level: Vec<u32>,
    has_one_root: bool,
    /// Expected end of the job on each node; [`FREE`] if no job runs on the node.
    ends: Vec<i64>,
    /// Latest expected end on each leaf; [`FREE`] if no job runs on the leaf.
    last_ends: Vec<i64>,
    pub(super) explanation: ExplanationLog,
}

/// Expected end of a node or leaf without jobs.
const FREE: i64 = i64::MIN;

/// Switch and leaves for a job that does not fit into one leaf.
struct Spread {
    switch: u32,
    /// Leaves with free nodes, those with the most free nodes first.
    leaves: Vec<u32>,
    /// Minimum number of `leaves` that can hold the job.
    fewest: usize,
}

impl FitRule {
    /// Creates the rule for an idle tree.
    pub fn new(hierarchy: &Hierarchy, tree: &Tree) -> Self {
        let switches = tree.switches();
        let parents: Vec<Option<u32>> = switches.iter().map(|switch| switch.parent).collect();
        let numbers = 0..switches.len() as u32;
        let leaves: Vec<u32> =
            numbers.clone().filter(|&leaf| !tree.nodes(leaf).is_empty()).collect();
        let mut below = vec![Vec::new(); switches.len()];
        for &leaf in &leaves {
            let mut at = Some(leaf);
            while let Some(switch) = at {
                below[switch as usize].push(leaf);
                at = parents[switch as usize];
            }
        }
        let levels: Vec<u32> = switches.iter().map(|switch| switch.level).collect();
        let mut by_level: Vec<u32> = numbers.collect();
        by_level.sort_by_key(|&switch| levels[switch as usize]);
        Self {
            parents,
            leaves,
            below,
            by_level,
            has_one_root: tree.roots().count() == 1,
            ends: vec![FREE; hierarchy.processors()],
            last_ends: vec![FREE; switches.len()],
            levels,
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns whether every request is served if at least the requested number of nodes is free.
    pub fn never_refuses(&self) -> bool {
        self.has_one_root
    }

    /// Forgets all running jobs.
    pub fn reset(&mut self) {
        self.ends.fill(FREE);
        self.last_ends.fill(FREE);
    }

    /// Records the start of a job on these nodes. A job without an estimate is expected to end at once.
    pub fn on_start(&mut self, hierarchy: &Hierarchy, nodes: &[NodeId], times: Times) {
        let end = expected_end(times).unwrap_or(times.now);
        for &node in nodes {
            self.ends[node.index()] = end;
            let last = &mut self.last_ends[hierarchy.leaf(node) as usize];
            *last = end.max(*last);
        }
    }

    /// Records the end of a job on these nodes.
    pub fn on_release(&mut self, hierarchy: &Hierarchy, nodes: &[NodeId]) {
        let Some(tree) = hierarchy.tree() else { return };
        nodes.iter().for_each(|node| self.ends[node.index()] = FREE);
        let mut before = None;
        for leaf in nodes.iter().map(|&node| hierarchy.leaf(node)) {
            // In a placement by this rule, nodes of the same leaf are consecutive, so each leaf is updated once.
            if before != Some(leaf) {
                let ends = tree.nodes(leaf).iter().map(|node| self.ends[node.index()]);
                self.last_ends[leaf as usize] = ends.max().unwrap_or(FREE);
                before = Some(leaf);
            }
        }
    }

    /// Chooses `size` nodes.
    pub fn place(
        &self,
        free: &FreeNodes,
        size: u32,
        times: Times,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        if size > free.count() {
            return Err(Denied::TooFewFree);
        }
        let counts = free.below();
        if let Some(leaf) = self.tightest(counts, &self.leaves, size, times) {
            self.explain_tightest(free, &self.leaves, leaf, size, times);
            take(free, leaf, size, chosen);
            return Ok(());
        }
        let spread = self.spread(free, size).ok_or(Denied::NoPlace)?;
        let (whole, others) = spread.leaves.split_at(spread.fewest - 1);
        for &leaf in whole {
            take(free, leaf, counts[leaf as usize], chosen);
        }
        self.explain_whole(free, &spread, whole, size);
        let rest = size - chosen.len() as u32;
        let last = self.tightest(counts, others, rest, times).ok_or(Denied::NoPlace)?;
        self.explain_tightest(free, others, last, rest, times);
        take(free, last, rest, chosen);
        Ok(())
    }

    /// Returns the leaf with the fewest free nodes among the leaves with at least `rest` free nodes, by rules 1 to 3;
    /// `None` if there is no such leaf.
    fn tightest(&self, counts: &[u32], leaves: &[u32], rest: u32, times: Times) -> Option<u32> {
        let holds = leaves.iter().copied().filter(|&leaf| counts[leaf as usize] >= rest);
        holds.reduce(|best, leaf| match self.compare(counts, leaf, best, times) {
            Ordering::Less => leaf,
            _ => best,
        })
    }

    /// Compares two leaves by rules 1 to 3; the smaller leaf is better.
    #[inline]
    fn compare(&self, counts: &[u32], i: u32, j: u32, times: Times) -> Ordering {
        let order = counts[i as usize].cmp(&counts[j as usize]);
        let order = order.then_with(|| self.extension(i, times).cmp(&self.extension(j, times)));
        order.then_with(|| self.compare_above(counts, i, j)).then(i.cmp(&j))
    }

    /// Compares the free nodes of the switches above two leaves, from the lowest switch up. If all switches that were
    /// compared are equal, the leaf with fewer switches above it is smaller.
    fn compare_above(&self, counts: &[u32], mut i: u32, mut j: u32) -> Ordering {
        loop {
            match (self.parents[i as usize], self.parents[j as usize]) {
                (Some(p), Some(q)) if p != q => {
                    let order = counts[p as usize].cmp(&counts[q as usize]);
                    if order != Ordering::Equal {
                        return order;
                    }
                    (i, j) = (p, q);
                }
                (Some(_), Some(_)) => return Ordering::Equal,
                (above, other) => return above.is_some().cmp(&other.is_some()),
            }
        }
    }

    /// Returns by how many seconds the job would extend the time until all jobs of a leaf have ended.
    fn extension(&self, leaf: u32, times: Times) -> i64 {
        let Some(end) = expected_end(times) else { return 0 };
        end.saturating_sub(self.last_ends[leaf as usize].max(times.now)).max(0)
    }

    /// Returns the switch that rule 4 selects for `size` nodes, with its leaves; `None` if there is no such switch.
    fn spread(&self, free: &FreeNodes, size: u32) -> Option<Spread> {
        let counts = free.below();
        let holds = |&switch: &u32| counts[switch as usize] >= size;
        let first = self.by_level.iter().position(holds)?;
        let level = self.levels[self.by_level[first] as usize];
        let candidates = self.by_level[first..].iter().copied();
        let candidates = candidates.take_while(|&switch| self.levels[switch as usize] == level);
        let mut best: Option<Spread> = None;
        for switch in candidates.filter(holds) {
            let mut leaves: Vec<u32> = self.below[switch as usize].clone();
            leaves.retain(|&leaf| counts[leaf as usize] > 0);
            leaves.sort_unstable_by_key(|&leaf| (Reverse(counts[leaf as usize]), leaf));
            let mut sum = 0;
            let mut is_short = |leaf: &&u32| {
                sum += counts[**leaf as usize];
                sum < size
            };
            let fewest = leaves.iter().take_while(|leaf| is_short(leaf)).count() + 1;
            let key = (fewest, counts[switch as usize]);
            if best.as_ref().is_none_or(|best| key < (best.fewest, counts[best.switch as usize])) {
                best = Some(Spread { switch, leaves, fewest });
            }
        }
        best
    }
}

/// Returns the instant at which a job that starts now is expected to end; `None` without an estimate.
fn expected_end(times: Times) -> Option<i64> {
    times.limit.map(|limit| times.now.saturating_add(limit.into()))
}

/// Appends `number` free nodes of a leaf.
fn take(free: &FreeNodes, leaf: u32, number: u32, chosen: &mut Vec<NodeId>) {
    let nodes = free.hierarchy().tree().map_or(&[][..], |tree| tree.nodes(leaf));
    chosen.extend(nodes.iter().filter(|&&node| free.contains(node)).take(number as usize));
}

/// Methods that write explanations. The methods repeat, from the state of a decision, the comparisons that led to this
/// decision.
impl FitRule {
    /// Lists the leaves that hold `rest` nodes. For each leaf, gives the reason why it replaced the best leaf so far, or
    /// why it did not.
    fn explain_tightest(
        &self,
        free: &FreeNodes,
        leaves: &[u32],
        chosen: u32,
        rest: u32,
        times: Times,
    ) {
        if !self.explanation.is_recording() {
            return;
        }
        let Some(tree) = free.hierarchy().tree() else { return };
        let name = |switch: u32| &tree.switches()[switch as usize].name;
        let counts = free.below();
        let mut best: Option<u32> = None;
        let mut rows = Vec::new();
        for leaf in leaves.iter().copied().filter(|&leaf| counts[leaf as usize] >= rest) {
            let why = match best {
                None => "first".to_string(),
                Some(other) => {
                    let order = self.compare(counts, leaf, other, times);
                    let verb = if order.is_lt() { "replaces" } else { "does not replace" };
                    format!("{verb} {}: {}", name(other), self.reason(counts, leaf, other, times))
                }
            };
            if best.is_none_or(|best| self.compare(counts, leaf, best, times).is_lt()) {
                best = Some(leaf);
            }
            let extension = self.extension(leaf, times);
            rows.push(vec![
                name(leaf).clone(),
                counts[leaf as usize].to_string(),
                extension.to_string(),
                why,
            ]);
        }
        debug_assert_eq!(best, Some(chosen));
        let about = format!("leaves that hold {}", counted(rest as u64, "node"));
        let columns = &["leaf", "free", "extension s", "comparison"];
        self.explanation.list(|| Listing::of(about, columns, rows));
        self.explanation.sentence(|| {
            format!(
                "leaf {} gives {} of its {} free",
                name(chosen),
                counted(rest as u64, "node"),
                counts[chosen as usize]
            )
        });
    }

    /// Returns, as text, the step that decides the comparison of leaves `i` and `j`.
    fn reason(&self, counts: &[u32], i: u32, j: u32, times: Times) -> String {
        let [of_i, of_j] = [counts[i as usize], counts[j as usize]];
        if of_i != of_j {
            let word = if of_i < of_j { "fewer" } else { "more" };
            return format!("it has {word} free nodes, {of_i} against {of_j}");
        }
        let [late, other] = [i, j].map(|leaf| self.extension(leaf, times));
        if late != other {
            let word = if late < other { "shorter" } else { "longer" };
            return format!(
                "equal, but a {word} extension of the leaf's busy time, {late} s against {other} s"
            );
        }
        match self.compare_above(counts, i, j) {
            Ordering::Less => "equal, but fewer free nodes below the switches above".to_string(),
            Ordering::Greater => "equal, but more free nodes below the switches above".to_string(),
            Ordering::Equal => "equal, but later in the table".to_string(),
        }
    }

    /// Explains the switch of a job that does not fit into one leaf, and the leaves that the job takes whole.
    fn explain_whole(&self, free: &FreeNodes, spread: &Spread, whole: &[u32], size: u32) {
        if !self.explanation.is_recording() {
            return;
        }
        let Some(tree) = free.hierarchy().tree() else { return };
        let name = |switch: u32| tree.switches()[switch as usize].name.as_str();
        let counts = free.below();
        let level = self.levels[spread.switch as usize];
        let same = self.by_level.iter().filter(|&&switch| {
            self.levels[switch as usize] == level && counts[switch as usize] >= size
        });
        let why = match same.count() {
            1 => "the only switch of the lowest level with enough free nodes".to_string(),
            several => format!(
                "which needs the fewest leaves ({}) among the {several} switches of the lowest level with enough free nodes",
                spread.fewest
            ),
        };
        self.explanation.sentence(|| {
            format!(
                "no leaf holds {}; the top switch is {} of level {level} with {} free, {why}",
                counted(size as u64, "node"),
                name(spread.switch),
                counted(counts[spread.switch as usize] as u64, "node"),
            )
        });
        let rows = whole
            .iter()
            .map(|&leaf| vec![name(leaf).to_string(), counts[leaf as usize].to_string()]);
        self.explanation.list(|| {
            Listing::of("leaves with the most free nodes, taken whole", &["leaf", "nodes"], rows)
        });
    }
}
