//! Slurm's rule for trees of switches (`eval_nodes_tree.c` of `topology/tree`, Slurm 26.05).
//!
//! The highest switch with enough free nodes is the *top*. Leaves below the top are chosen one after the other. The
//! result depends on the order of the switch table, because the rule scans the table. A later leaf in the table
//! replaces the best leaf so far in two cases: if it is closer to the leaves already chosen and *fits*, or if it is
//! equally close and better. See `TreeRule::compare`.
//!
//! Cost: one pass over the leaves, and a second pass for the last chosen leaf. Each chosen leaf also costs one pass
//! over the runs of leaves, where a run is directly below one switch.

use std::sync::{Arc, OnceLock};

use crate::hierarchy::{Denied, FreeNodes, consecutive};
use replay_engine::allocator::explain::{ExplanationLog, Listing};
use replay_engine::number::counted;
use replay_engine::topology::hierarchy::Tree;
use replay_engine::topology::{Hierarchy, NodeId};

/// Slurm's default of the maximum time in seconds that a job waits for fewer switches (`max_switch_wait`).
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
    /// Maximum number of leaves for a job of several nodes; `None` for no limit.
    pub switches: Option<u32>,
    /// Number of seconds that a job waits for a placement on at most `switches` leaves; at most `limit`, which is also
    /// the default.
    pub wait: Option<u32>,
    /// Maximum of `wait`, which a site sets as `max_switch_wait`. The default is [`MAX_SWITCH_WAIT`].
    pub limit: Option<u32>,
    /// Whether jobs without a limit on leaves use no topology (`TopologyParam=TopoOptional`).
    pub optional: bool,
    /// The Slurm release whose rule is used.
    pub since: Since,
}

impl TreeOptions {
    /// Returns how long a job waits for a placement on fewer leaves, in seconds after its submission.
    pub fn patience(&self) -> u32 {
        let limit = self.max_wait();
        self.wait.map_or(limit, |wait| wait.min(limit))
    }

    fn max_wait(&self) -> u32 {
        self.limit.unwrap_or(MAX_SWITCH_WAIT)
    }

    /// Returns whether jobs are placed without topology.
    fn uses_no_topology(&self) -> bool {
        self.optional && self.switches.is_none()
    }

    /// Checks that `wait` does not exceed the limit.
    ///
    /// # Errors
    /// A message with the limit.
    pub fn validate(&self) -> Result<(), String> {
        match self.wait {
            Some(wait) if wait > self.max_wait() => Err(format!(
                "wait={wait} is more than the limit of {} seconds; set limit to max_switch_wait of the site",
                self.max_wait()
            )),
            _ => Ok(()),
        }
    }
}

/// Slurm's rule for trees, prepared for one tree.
#[derive(Clone, Debug)]
pub struct TreeRule {
    pub(super) options: TreeOptions,
    /// Parent of each switch.
    parents: Vec<u32>,
    levels: Vec<u32>,
    roots: Vec<u32>,
    /// Runs of leaves that have nodes, in table order. All leaves of a run are directly below one switch.
    families: Vec<Family>,
    leaves: Vec<u32>,
    /// For each switch, the index of its run in `families`; `NONE` if the switch is not a leaf with nodes.
    run_of: Vec<u32>,
    /// Switches directly above leaves.
    above: Vec<u32>,
    /// For each switch of `above`, the distances from a leaf below this switch to a leaf below each switch of `above`; 0
    /// for switches below another root. Computed on first use; clones share the distances.
    distances: Arc<[OnceLock<Box<[u32]>>]>,
    work: Work,
    /// Buffer for the leaves of a placement, each with the number of its nodes.
    shares: Vec<(u32, u32)>,
    pub(super) explanation: ExplanationLog,
}

/// A run of consecutive leaves directly below one switch.
///
/// All leaves of a run have the same distance to the chosen leaves. If neither of two leaves fits, the switches above
/// the two leaves are compared, and these switches are the same for all leaves of a run. A scan of only the best leaf
/// of each run therefore gives the same result as a scan of all leaves. The best leaf is the leaf that fits most
/// tightly; if no leaf fits, it is the leaf with the most free nodes. If several leaves are equally good, the first of
/// them is the best leaf.
#[derive(Clone, Copy, Debug)]
struct Family {
    root: u32,
    /// Index in `above` of the switch directly above the leaves of the run.
    parent: u32,
    first: u32,
    end: u32,
}

/// Buffers of a decision.
#[derive(Clone, Debug, Default)]
struct Work {
    counts: Vec<u32>,
    /// For each switch of `above`, the sum of the distances from a leaf below this switch to the chosen leaves.
    totals: Vec<u32>,
    /// For each run of leaves, the largest number of free nodes of a leaf, and the first leaf with this number.
    most: Vec<(u32, u32)>,
}

/// Value that marks the absence of a switch.
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
    pub fn new(tree: &Tree, options: TreeOptions) -> Self {
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
        let mut run_of = vec![NONE; parents.len()];
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
            run_of[leaf as usize] = families.len() as u32 - 1;
        }
        Self {
            options,
            levels: switches.iter().map(|switch| switch.level).collect(),
            parents,
            roots,
            families,
            leaves,
            run_of,
            distances: above.iter().map(|_| OnceLock::new()).collect(),
            above,
            work: Work::default(),
            shares: Vec::new(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns how long a job waits for a placement on fewer leaves, in seconds after its submission; `None` if jobs
    /// never wait for such a placement.
    pub fn patience(&self) -> Option<u32> {
        self.options.switches.map(|_| self.options.patience()).filter(|&patience| patience > 0)
    }

    /// Returns whether every request is served if at least the requested number of nodes is free.
    pub(crate) fn never_refuses(&self) -> bool {
        let first = self.roots.first();
        let has_one_root = || self.roots.iter().all(|root| Some(root) == first);
        self.patience().is_none() && (self.options.uses_no_topology() || has_one_root())
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
            self.explanation.sentence(|| {
                "a job of one node gets the free node with the lowest number, regardless of the tree"
                    .to_string()
            });
            return Ok(());
        }
        if self.options.uses_no_topology() {
            self.explanation.sentence(|| {
                "optional=yes: a job without a limit on leaves is placed regardless of the tree"
                    .to_string()
            });
            consecutive::choose(free.iter(), size, chosen, &self.explanation);
            return Ok(());
        }
        let mut shares = std::mem::take(&mut self.shares);
        let placed = self.leaves_for(free, size, waited, &mut shares);
        if placed.is_ok() {
            free.extend_from(&shares, chosen);
        }
        self.shares = shares;
        placed
    }

    /// Chooses leaves, and the number of nodes to take from each, as [`place`](Self::place) does. Returns `None` if the
    /// choice depends on which nodes are free.
    pub(super) fn shares(
        &mut self,
        free: &FreeNodes,
        size: u32,
        waited: i64,
        shares: &mut Vec<(u32, u32)>,
    ) -> Option<Result<(), Denied>> {
        if self.options.uses_no_topology() || size == 1 && self.options.since == Since::Slurm2605 {
            return None;
        }
        Some(match size > free.count() {
            true => Err(Denied::TooFewFree),
            false => self.leaves_for(free, size, waited, shares),
        })
    }

    /// Writes the leaves of a placement to `shares`, each with the number of nodes to take.
    fn leaves_for(
        &mut self,
        free: &FreeNodes,
        size: u32,
        waited: i64,
        shares: &mut Vec<(u32, u32)>,
    ) -> Result<(), Denied> {
        shares.clear();
        let top = self.top(free.below(), size);
        if self.explanation.is_recording() {
            self.explain_top(free, size, top);
        }
        let top = top.ok_or(Denied::NoPlace)?;
        let patience = self.options.patience();
        let waits = self.patience().is_some_and(|patience| waited < patience.into());
        let limit = self.options.switches.filter(|_| size > 1);
        // If the job may still wait, the search can stop when the placement exceeds the limit, except when the decision
        // is explained.
        let enough = limit.filter(|_| waits && !self.explanation.is_recording());
        self.take(free, size, top, enough, shares);
        let leaves = shares.len() as u32;
        let Some(most) = limit.filter(|&most| leaves > most) else { return Ok(()) };
        self.explanation.sentence(|| {
            let place = format!("the placement is on {}, more than switches={most} allows", of_leaves(leaves));
            match waits {
                true => format!(
                    "{place}: the job waits, for at most {patience} s since its submission, of which {waited} s are over; \
                     no other place is tried"
                ),
                false => format!("{place}, but the job starts: it has waited {patience} s or more"),
            }
        });
        if waits { Err(Denied::Switches) } else { Ok(()) }
    }

    /// Returns the switch of the highest level among the switches with enough free nodes. If several switches of this
    /// level have enough free nodes, returns the last of them in the table.
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

    /// Takes nodes of one leaf after the other. Stops if the number of leaves exceeds `enough`.
    fn take(
        &mut self,
        free: &FreeNodes,
        size: u32,
        top: u32,
        enough: Option<u32>,
        shares: &mut Vec<(u32, u32)>,
    ) {
        let mut work = std::mem::take(&mut self.work);
        work.counts.clear();
        work.counts.extend_from_slice(&free.below()[..self.parents.len()]);
        work.totals.clear();
        work.totals.resize(self.above.len(), 0);
        work.most.clear();
        work.most.extend(self.families.iter().map(|family| self.most(&work.counts, family)));
        let mut rest = size;
        while let Some(leaf) = self.next_leaf(&work, self.roots[top as usize], rest) {
            let taken = work.counts[leaf as usize].min(rest);
            shares.push((leaf, taken));
            let leaves = shares.len() as u32;
            if self.explanation.is_recording() {
                let step = Step { number: leaves, leaf, rest };
                self.explain_leaf(free, &work, self.roots[top as usize], step);
            }
            rest -= taken;
            if rest == 0 || enough.is_some_and(|most| leaves > most) {
                break;
            }
            self.mark(free.hierarchy(), &mut work, leaf);
        }
        self.work = work;
    }

    /// Returns the next leaf from which nodes are taken. Only leaves that are below `root` and have free nodes are
    /// considered.
    fn next_leaf(&self, work: &Work, root: u32, rest: u32) -> Option<u32> {
        let Work { counts, totals, most } = work;
        let mut best: Option<(u32, u32)> = None;
        for (family, &(most, fullest)) in self.families.iter().zip(most) {
            let total = totals.get(family.parent as usize).copied().unwrap_or(0);
            let too_far = best.is_some_and(|(_, nearest)| total > nearest);
            if too_far || family.root != root || most == 0 {
                continue;
            }
            let leaf = match most >= rest {
                true => self.tightest(counts, family, rest).unwrap_or(fullest),
                false => fullest,
            };
            let Some((other, nearest)) = best else {
                best = Some((leaf, total));
                continue;
            };
            let (verdict, fits, _) = self.compare(counts, leaf, other, rest);
            if self.replaces(total < nearest, verdict, fits) {
                best = Some((leaf, total));
            }
        }
        best.map(|(leaf, _)| leaf)
    }

    fn leaves_of(&self, family: &Family) -> &[u32] {
        &self.leaves[family.first as usize..family.end as usize]
    }

    /// Returns the largest number of free nodes of a leaf of a run, and the first leaf with this number.
    fn most(&self, counts: &[u32], family: &Family) -> (u32, u32) {
        let leaves = self.leaves_of(family).iter().map(|&leaf| (counts[leaf as usize], leaf));
        leaves.reduce(|most, leaf| if leaf.0 > most.0 { leaf } else { most }).unwrap_or((0, NONE))
    }

    /// Returns the first leaf with the fewest free nodes among the leaves of a run with at least `rest` free nodes.
    fn tightest(&self, counts: &[u32], family: &Family, rest: u32) -> Option<u32> {
        let leaves = self.leaves_of(family).iter().copied();
        leaves
            .filter(|&leaf| counts[leaf as usize] >= rest)
            .min_by_key(|&leaf| counts[leaf as usize])
    }

    /// Returns whether a leaf replaces the best leaf so far. The leaf must be closer than the best leaf, or equally
    /// close.
    #[inline]
    fn replaces(&self, is_closer: bool, verdict: Verdict, fits: bool) -> bool {
        match (is_closer, self.options.since) {
            (true, Since::Slurm2205) => verdict != Verdict::Worse,
            (true, _) => fits,
            (false, _) => verdict == Verdict::Better,
        }
    }

    /// Compares leaf `i` with leaf `j`. If neither leaf has `rest` free nodes, the switches above the two leaves are
    /// compared instead, repeatedly. Returns three results: the verdict on `i`; whether the leaf or switch that was
    /// compared last for `i` has at least `rest` free nodes; and the pair that was compared last.
    #[inline]
    fn compare(
        &self,
        counts: &[u32],
        mut i: u32,
        mut j: u32,
        rest: u32,
    ) -> (Verdict, bool, [u32; 2]) {
        loop {
            let [of_i, of_j] = [counts[i as usize], counts[j as usize]];
            match (of_i >= rest, of_j >= rest) {
                (true, true) if of_i < of_j => return (Verdict::Better, true, [i, j]),
                (true, true) if of_i > of_j => return (Verdict::Worse, true, [i, j]),
                (true, false) => return (Verdict::Better, true, [i, j]),
                (false, true) => return (Verdict::Worse, false, [i, j]),
                (fits, _) => {
                    let above = [self.parents[i as usize], self.parents[j as usize]];
                    if !fits && above[0] != above[1] && !above.contains(&NONE) {
                        [i, j] = above;
                        continue;
                    }
                    let lower = self.levels[j as usize].cmp(&self.levels[i as usize]);
                    let verdict = match of_i.cmp(&of_j).then(lower) {
                        std::cmp::Ordering::Greater => Verdict::Better,
                        std::cmp::Ordering::Equal => Verdict::Equal,
                        std::cmp::Ordering::Less => Verdict::Worse,
                    };
                    return (verdict, fits, [i, j]);
                }
            }
        }
    }

    /// Updates the distances and counts after a leaf has been chosen.
    fn mark(&self, hierarchy: &Hierarchy, work: &mut Work, leaf: u32) {
        let parent = self.parents[leaf as usize];
        let run = self.run_of[leaf as usize] as usize;
        if parent != NONE {
            let root = self.roots[leaf as usize];
            let distance = |&above: &u32| match self.roots[above as usize] == root {
                true => 2 + hierarchy.between(parent, above),
                false => 0,
            };
            let near = self.distances[self.families[run].parent as usize]
                .get_or_init(|| self.above.iter().map(distance).collect());
            work.totals.iter_mut().zip(near).for_each(|(total, near)| *total += near);
        }
        let count = std::mem::take(&mut work.counts[leaf as usize]);
        work.most[run] = self.most(&work.counts, &self.families[run]);
        let mut at = parent;
        while at != NONE && self.options.since != Since::Slurm2205 {
            work.counts[at as usize] -= count;
            at = self.parents[at as usize];
        }
    }
}

/// A chosen leaf, and the number of nodes that the job still needed before this choice.
#[derive(Clone, Copy)]
struct Step {
    number: u32,
    leaf: u32,
    rest: u32,
}

fn of_leaves(leaves: u32) -> String {
    if leaves == 1 { "1 leaf".to_string() } else { format!("{leaves} leaves") }
}

/// Methods that write explanations. The methods repeat, from the state of a decision, the comparisons that led to this
/// decision.
impl TreeRule {
    fn explain_top(&self, free: &FreeNodes, size: u32, top: Option<u32>) {
        let Some(tree) = free.hierarchy().tree() else { return };
        let (switches, below) = (tree.switches(), &free.below()[..self.levels.len()]);
        self.explanation.sentence(|| match top {
            Some(top) => {
                let level = self.levels[top as usize];
                let equal = (0..).zip(below).filter(|&(switch, &free): &(usize, _)| {
                    free >= size && self.levels[switch] == level
                });
                let last = match equal.count() {
                    1 => "the only switch of the highest level with enough free nodes".to_string(),
                    several => format!("of the {several} switches of the highest level with enough free nodes, the last in the table"),
                };
                format!(
                    "the top switch is {} of level {level} with {} free: {last}; all leaves below its root are candidates",
                    switches[top as usize].name,
                    counted(below[top as usize] as u64, "node"),
                )
            }
            None => {
                let most = below.iter().copied().max().unwrap_or(0);
                format!("no switch has {} free nodes below it (at most {most}): the job waits", size)
            }
        });
    }

    /// Lists the leaves in the order of the scan. For each leaf, gives the reason why the leaf replaced the best leaf
    /// so far, or why it did not.
    fn explain_leaf(&self, free: &FreeNodes, work: &Work, root: u32, step: Step) {
        let Some(tree) = free.hierarchy().tree() else { return };
        let name = |switch: u32| &tree.switches()[switch as usize].name;
        let Work { counts, totals, .. } = work;
        let Step { number, leaf: chosen, rest } = step;
        let mut best: Option<(u32, u32)> = None;
        let mut rows = Vec::new();
        for family in self.families.iter().filter(|family| family.root == root) {
            let total = totals.get(family.parent as usize).copied().unwrap_or(0);
            for &leaf in &self.leaves[family.first as usize..family.end as usize] {
                let free = counts[leaf as usize];
                if free == 0 {
                    continue;
                }
                let why = match best {
                    None => "first".to_string(),
                    Some((other, nearest)) if total > nearest => {
                        format!("farther than {}", name(other))
                    }
                    Some((other, nearest)) => {
                        let (verdict, fits, pair) = self.compare(counts, leaf, other, rest);
                        let replaces = self.replaces(total < nearest, verdict, fits);
                        let verb = if replaces { "replaces" } else { "does not replace" };
                        let other = name(other);
                        let why = match (total < nearest, self.options.since) {
                            (true, Since::Slurm2205) if replaces => {
                                "closer, and not worse".to_string()
                            }
                            (true, Since::Slurm2205) => "closer, but worse".to_string(),
                            (true, _) if fits => "closer, and it fits".to_string(),
                            (true, _) => "closer, but it does not fit".to_string(),
                            (false, _) => self.reason(counts, pair, rest),
                        };
                        let above = match pair[0] == leaf {
                            true => String::new(),
                            false => {
                                format!(" (by switches {} and {})", name(pair[0]), name(pair[1]))
                            }
                        };
                        format!("{verb} {other}: {why}{above}")
                    }
                };
                let replaces = why == "first" || why.starts_with("replaces");
                if replaces {
                    best = Some((leaf, total));
                }
                rows.push(vec![name(leaf).clone(), free.to_string(), total.to_string(), why]);
            }
        }
        debug_assert_eq!(best.map(|best| best.0), Some(chosen));
        self.explanation.list(|| {
            Listing::of(
                format!(
                    "leaf {number}, with {} to take: leaves in the order of the table",
                    counted(rest as u64, "node")
                ),
                &["leaf", "free", "distance", "comparison"],
                rows,
            )
        });
        let here = counts[chosen as usize];
        self.explanation.sentence(|| {
            format!(
                "leaf {} gives {} of its {here} free",
                name(chosen),
                counted(here.min(rest) as u64, "node")
            )
        });
    }

    /// Returns, as text, the step that decided whether switch `i` is better than switch `j`.
    fn reason(&self, counts: &[u32], [i, j]: [u32; 2], rest: u32) -> String {
        let [of_i, of_j] = [counts[i as usize], counts[j as usize]];
        match (of_i >= rest, of_j >= rest) {
            (true, true) if of_i != of_j => {
                let word = if of_i < of_j { "fewer" } else { "more" };
                format!("both fit, and it has {word} free nodes, {of_i} against {of_j}")
            }
            (true, false) => "it alone fits".to_string(),
            (false, true) => "the other alone fits".to_string(),
            _ if of_i != of_j => {
                let word = if of_i > of_j { "more" } else { "fewer" };
                format!("neither fits, and it has {word} free nodes, {of_i} against {of_j}")
            }
            _ => {
                let [level, other] = [i, j].map(|switch| self.levels[switch as usize]);
                match level.cmp(&other) {
                    std::cmp::Ordering::Equal => format!("equal, {of_i} free nodes each"),
                    std::cmp::Ordering::Less => "equal counts, but a lower level".to_string(),
                    std::cmp::Ordering::Greater => "equal counts, but a higher level".to_string(),
                }
            }
        }
    }
}
