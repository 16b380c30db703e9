//! Findings about a tree or block machine that affect where jobs can run: sizes without a placement, missing levels,
//! names out of order, empty leaves, and nodes that stay idle.

use std::cmp::Reverse;
use std::fmt::Write;

use crate::hierarchy::{FreeNodes, Rule, RuleOptions};
use crate::topology_file::Misordered;
use replay_engine::allocator::Times;
use replay_engine::naming::StrategyName;
use replay_engine::number::{counted, grouped};
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Column, Table};
use replay_engine::topology::Hierarchy;
use replay_engine::topology::hierarchy::{Blocks, HierarchyKind, Simplification, Tree};

/// Largest [`sweep_cost`] at which [`findings`] places jobs of every size.
const MAX_COST: u128 = 1 << 33;

/// Number of job sizes for which idle nodes are reported. The reported sizes are those for which the number of idle
/// nodes exceeds the remainder most.
const WORST: usize = 5;

/// Number of names listed in one finding.
const LISTED: usize = 5;

/// A finding about a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What was checked.
    pub check: Check,
    /// Switch, block, rule or size that the finding is about.
    pub subject: String,
    /// Number of nodes, sizes, levels or names that the finding is about.
    pub count: u64,
    /// The finding in words.
    pub text: String,
}

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The size of the machine.
    Machine,
    /// Sizes that never run under a rule.
    NeverRuns,
    /// Levels that are missing between used levels.
    SkippedLevel,
    /// Switches that are below several switches.
    SeveralParents,
    /// Nodes that are listed several times.
    RepeatedNodes,
    /// Node names out of natural order.
    NameOrder,
    /// Leaves or blocks without nodes.
    Empty,
    /// Blocks with fewer nodes than the base size.
    SmallBlock,
    /// Nodes that stay idle when jobs of one size fill the machine.
    IdleNodes,
}

impl Check {
    /// Returns the name of the check in tables.
    pub fn name(self) -> &'static str {
        match self {
            Check::Machine => "machine",
            Check::NeverRuns => "never-runs",
            Check::SkippedLevel => "skipped-level",
            Check::SeveralParents => "several-parents",
            Check::RepeatedNodes => "repeated-nodes",
            Check::NameOrder => "name-order",
            Check::Empty => "empty",
            Check::SmallBlock => "small-block",
            Check::IdleNodes => "idle-nodes",
        }
    }
}

impl Table for Finding {
    const NAME: &'static str = "findings";
    const ROW: &'static str = "one row per finding about a tree or block machine";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::text("check", "what was checked: machine, never-runs, skipped-level, several-parents, repeated-nodes, name-order, empty, small-block, idle-nodes", |row: &Self| Some(row.check.name())),
            Column::text("subject", "rule, switch, block or job size that the finding is about", |row: &Self| Some(&row.subject)),
            Column::new("count", "", "number of nodes, sizes, levels, names, leaves or blocks that the finding is about", |row: &Self| row.count),
            Column::text("finding", "the finding in words", |row: &Self| Some(&row.text)),
        ]
    }
}

/// Returns all findings about a machine. `misordered` describes the names in the machine's file that are out of natural
/// order. For findings about job sizes, jobs are placed by `rule`.
///
/// # Errors
/// A message if `rule` is not a rule for this machine.
pub fn findings(
    machine: &Hierarchy,
    misordered: Option<&Misordered>,
    rule: &StrategyName,
) -> Result<Vec<Finding>, String> {
    let name = rule.to_string();
    let mut rule = rule_of(machine, rule)?;
    let mut findings = vec![of_machine(machine)];
    let mut add = |check, subject: &str, count: usize, text: String| {
        findings.push(Finding { check, subject: subject.to_string(), count: count as u64, text });
    };
    let never = never_runs(machine, &mut rule, MAX_COST);
    if let Some(never) = never.as_ref().filter(|never| !never.is_empty()) {
        let count = never.iter().map(|&[first, last]| (last - first + 1) as usize).sum();
        let mut text = format!("{}: no placement on the idle machine", ranges(never));
        if matches!(&rule, Rule::Tree(_)) {
            text += "; with TopologyParam=TopoOptional, jobs without --switches run (slurm-tree[optional=yes])";
        }
        add(Check::NeverRuns, &name, count, text);
    }
    match machine.kind() {
        HierarchyKind::Tree(tree) => of_tree(tree, &mut add),
        HierarchyKind::Blocks(blocks) => of_blocks(blocks, &mut add),
    }
    for simplification in machine.simplifications() {
        let (check, subject, count, text) = simplified(simplification, machine.tree().is_some());
        add(check, &excerpt(subject), count, text);
    }
    if let Some(Misordered { count, first: [before, after] }) = misordered {
        let text = format!(
            "{} out of natural order (each is listed after a name that it should precede), first {} after {}; nodes are numbered in natural order, not in the order of the file",
            counted(*count as u64, "name"),
            excerpt(after),
            excerpt(before)
        );
        add(Check::NameOrder, "nodes", *count, text);
    }
    match idle_nodes(machine, &mut rule, MAX_COST) {
        None => {
            let text = "not checked, because placing jobs of every size takes too long on a machine of this size";
            add(Check::IdleNodes, &name, 0, text.to_string());
            if never.is_none() {
                add(Check::NeverRuns, &name, 0, text.to_string());
            }
        }
        Some(found) => {
            for Idle { size, idle, remainder } in found.into_iter().take(WORST) {
                let text = format!(
                    "if jobs of {} fill the machine, {} nodes stay idle: {} more than the remainder of the division, {}",
                    counted(u64::from(size), "node"),
                    grouped(idle),
                    grouped(idle - remainder),
                    grouped(remainder)
                );
                add(Check::IdleNodes, &size.to_string(), idle as usize, text);
            }
        }
    }
    Ok(findings)
}

/// Returns the name of Slurm's rule for this kind of machine.
pub fn rule_name(machine: &Hierarchy) -> &'static str {
    match machine.kind() {
        HierarchyKind::Tree(_) => "slurm-tree",
        HierarchyKind::Blocks(_) => "slurm-block",
    }
}

fn of_machine(machine: &Hierarchy) -> Finding {
    let nodes = machine.processors() as u64;
    let text = match machine.kind() {
        HierarchyKind::Tree(tree) => {
            let leaves = tree.switches().iter().filter(|switch| switch.level == 0).count();
            let levels = tree.switches().iter().map(|switch| switch.level + 1).max().unwrap_or(0);
            let plural = |count: usize| if count == 1 { "switch" } else { "switches" };
            let all = tree.switches().len();
            let mut text = format!(
                "{}; {} {}, {leaves} of level 0; {}",
                counted(nodes, "node"),
                grouped(all as u64),
                plural(all),
                counted(levels, "level"),
            );
            let roots = tree.roots().count();
            if roots > 1 {
                _ = write!(text, ", {}", counted(roots as u64, "root"));
            }
            text
        }
        HierarchyKind::Blocks(blocks) => {
            let sizes = blocks.levels().iter().map(|&level| block_size(blocks, level).to_string());
            let sizes: Vec<String> = sizes.collect();
            format!(
                "{} in {}; block sizes {}",
                counted(nodes, "node"),
                counted(blocks.count() as u64, "block"),
                sizes.join(", ")
            )
        }
    };
    let subject = excerpt(&machine.to_string());
    Finding { check: Check::Machine, subject, count: nodes, text }
}

fn block_size(blocks: &Blocks, level: u32) -> u64 {
    u64::from(blocks.base_size()) << level
}

/// Formats the first names of a list, and the number of further names.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut text = names.take(LISTED).map(excerpt).collect::<Vec<_>>().join(", ");
    if more > 0 {
        _ = write!(text, " and {more} more");
    }
    text
}

fn of_tree(tree: &Tree, add: &mut impl FnMut(Check, &str, usize, String)) {
    let switches = tree.switches();
    for switch in switches {
        let lowest = switch.children.iter().map(|&child| switches[child as usize].level).min();
        let skipped = lowest.map_or(0, |lowest| switch.level - 1 - lowest);
        if skipped > 0 {
            let text = format!(
                "a switch of level {} is directly above a switch of level {}: the leaves below the upper switch are at different depths",
                switch.level,
                switch.level - 1 - skipped
            );
            add(Check::SkippedLevel, &excerpt(&switch.name), skipped as usize, text);
        }
    }
    let empty: Vec<&str> = switches
        .iter()
        .filter(|switch| switch.level == 0 && switch.nodes.is_empty())
        .map(|switch| &switch.name[..])
        .collect();
    if !empty.is_empty() {
        let text = format!("leaf switches without nodes: {}", listed(empty.iter().copied()));
        add(Check::Empty, "switches", empty.len(), text);
    }
}

fn of_blocks(blocks: &Blocks, add: &mut impl FnMut(Check, &str, usize, String)) {
    for pair in blocks.levels().windows(2) {
        let missing: Vec<String> =
            (pair[0] + 1..pair[1]).map(|level| block_size(blocks, level).to_string()).collect();
        if !missing.is_empty() {
            let [below, above] = [pair[0], pair[1]].map(|level| block_size(blocks, level));
            let text = format!("no block size {} between {below} and {above}", missing.join(", "));
            add(Check::SkippedLevel, "block sizes", missing.len(), text);
        }
    }
    let all = 0..blocks.count() as u32;
    let empty: Vec<u32> = all.filter(|&block| blocks.nodes(block).is_empty()).collect();
    if !empty.is_empty() {
        let names = listed(empty.iter().map(|&block| blocks.name(block)));
        let text = format!("blocks without nodes: {names}");
        add(Check::Empty, "blocks", empty.len(), text);
    }
    if let Some((count, text)) = small_blocks(blocks) {
        add(Check::SmallBlock, "blocks", count, text);
    }
}

/// Returns the number of blocks that have nodes, but fewer than the base size, and the finding in words; `None` if
/// there are none.
fn small_blocks(blocks: &Blocks) -> Option<(usize, String)> {
    let base = blocks.base_size();
    let small = |&block: &u32| (1..base as usize).contains(&blocks.nodes(block).len());
    let small: Vec<u32> = (0..blocks.count() as u32).filter(small).collect();
    let names = listed(small.iter().map(|&block| blocks.name(block)));
    let text = format!("blocks with fewer nodes than the base size {base}: {names}");
    (!small.is_empty()).then_some((small.len(), text))
}

/// Returns the check, the subject, the count and the text of the finding about a simplification of a description.
fn simplified(found: &Simplification, is_tree: bool) -> (Check, &str, usize, String) {
    match found {
        Simplification::SameSwitches { switch, others } => {
            let text = format!(
                "one switch of the machine stands for {} and for {}, because all are above the same switches: the same nodes \
                 at the same distances",
                excerpt(switch),
                listed(others.iter().map(String::as_str))
            );
            (Check::SeveralParents, switch, others.len() + 1, text)
        }
        Simplification::LaterParent { switch, children, is_removed } => {
            let switch_name = excerpt(switch);
            let names = listed(children.iter().map(|[child, _]| &child[..]));
            let mut parents: Vec<&str> = children.iter().map(|[_, parent]| &parent[..]).collect();
            parents.dedup();
            let removed = match is_removed {
                true => format!(" ({switch_name} is left out, because no switch is left below it)"),
                false => String::new(),
            };
            let text = format!(
                "{names}: below {switch_name} and below a later switch, kept only below the last one, {}{removed}; Slurm takes \
                 the last one as the parent too, but still counts these nodes below {switch_name}",
                listed(parents.into_iter())
            );
            (Check::SeveralParents, switch, children.len(), text)
        }
        Simplification::RepeatedNodes { nodes } => {
            let what = if is_tree { "leaf" } else { "block" };
            let [node, first, other] = [0, 1, 2].map(|at| excerpt(&nodes[0][at]));
            let text = format!(
                "listed several times and kept only in the first {what} that lists the node: {}; {node} is kept in {first}, not \
                 in {other}; in Slurm, such a node is in every {what} that lists it",
                listed(nodes.iter().map(|[node, ..]| &node[..]))
            );
            (Check::RepeatedNodes, "nodes", nodes.len(), text)
        }
    }
}

/// Returns the warnings about a machine: blocks with fewer nodes than the base size, switches that are kept below one of
/// several different switches, and nodes that are listed several times.
pub fn description_warnings(machine: &Hierarchy) -> Vec<String> {
    let changes_placements =
        |one: &&Simplification| !matches!(one, Simplification::SameSwitches { .. });
    let simplifications = machine.simplifications().iter().filter(changes_placements);
    let texts = simplifications.map(|one| {
        let (_, subject, _, text) = simplified(one, machine.tree().is_some());
        format!("{}: {text}", excerpt(subject))
    });
    let small = machine.blocks().and_then(small_blocks).map(|(_, text)| text);
    texts.chain(small).map(|text| format!("{machine}: warning: {text}")).collect()
}

/// Prepares the rule with this name and these parameters for a machine.
///
/// # Errors
/// A message if there is no rule of this name, if a parameter is wrong, or if the rule does not support the machine.
pub fn rule_of(machine: &Hierarchy, name: &StrategyName) -> Result<Rule, String> {
    let options = RuleOptions::named(name).ok_or_else(|| {
        format!("{name} is not a rule; rules are slurm-tree, tree-fit, slurm-block, kueue")
    })?;
    let rule = Rule::new(machine, options.map_err(|error| error.to_string())?);
    let valid = rule.and_then(|rule| rule.validate().map(|()| rule));
    valid.map_err(|problem| format!("{name}: {problem}"))
}

/// Returns the approximate number of steps for placing a job of every size: the number of nodes times the square of the
/// number of leaves.
fn sweep_cost(machine: &Hierarchy) -> u128 {
    let leaves = match machine.kind() {
        HierarchyKind::Tree(tree) => tree.switches().iter().filter(|one| one.level == 0).count(),
        HierarchyKind::Blocks(blocks) => blocks.count(),
    };
    machine.processors() as u128 * (leaves as u128).pow(2)
}

/// Returns the job sizes that a rule cannot place on the idle machine. The sizes are at most the number of nodes. The
/// result consists of ascending ranges of first and last size. Returns `None` if the sizes can be found only by placing
/// jobs of every size, and if this would take more than `max_cost` steps.
pub fn never_runs(machine: &Hierarchy, rule: &mut Rule, max_cost: u128) -> Option<Vec<[u32; 2]>> {
    let nodes = machine.processors() as u32;
    if rule.never_refuses() {
        return Some(Vec::new());
    }
    if let (Rule::Tree(_) | Rule::Fit(_), Some(tree)) = (&rule, machine.tree()) {
        let of_root = |root: u32| machine.units()[root as usize].nodes;
        let largest = tree.roots().map(of_root).max().unwrap_or(0);
        return Some(if largest < nodes { vec![[largest + 1, nodes]] } else { Vec::new() });
    }
    if sweep_cost(machine) > max_cost {
        return None;
    }
    let mut found: Vec<[u32; 2]> = Vec::new();
    let (counts, mut idle) = (FreeNodes::counts_of(machine), FreeNodes::all(machine));
    let (mut shares, mut chosen) = (Vec::new(), Vec::new());
    for size in 1..=nodes {
        let placed = rule.shares(&counts, size, Times::default(), &mut shares);
        let placed = placed.unwrap_or_else(|| {
            chosen.clear();
            rule.place(&mut idle, size, Times::default(), &mut chosen)
        });
        if placed.is_err() {
            match found.last_mut() {
                Some([_, last]) if *last + 1 == size => *last = size,
                _ => found.push([size, size]),
            }
        }
    }
    Some(found)
}

/// Formats ranges of sizes: `7, 17-24`.
pub fn ranges(ranges: &[[u32; 2]]) -> String {
    let range = |&[first, last]: &[u32; 2]| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// The idle nodes of a machine that is filled with jobs of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Idle {
    /// Nodes of each job.
    pub size: u32,
    /// Nodes that are free when no further job fits.
    pub idle: u64,
    /// Remainder of the number of nodes divided by the size.
    pub remainder: u64,
}

/// Fills the idle machine with jobs of each size in turn, until the rule places no further job. Returns the sizes that
/// run but leave more nodes idle than the remainder. Sizes are sorted by the number of idle nodes minus the remainder,
/// from highest to lowest. If this difference is equal for several sizes, the smallest of these sizes comes first.
/// Returns `None` if this would take more than `max_cost` steps.
pub(crate) fn idle_nodes(
    machine: &Hierarchy,
    rule: &mut Rule,
    max_cost: u128,
) -> Option<Vec<Idle>> {
    if rule.never_refuses() {
        return Some(Vec::new());
    }
    let nodes = machine.processors() as u32;
    let mut of_roots = match (&*rule, machine.tree()) {
        (Rule::Tree(rule), Some(tree)) if rule.patience().is_none() => {
            Some(Roots::of(machine, tree))
        }
        (Rule::Fit(_), Some(tree)) => Some(Roots::of(machine, tree)),
        _ if sweep_cost(machine) > max_cost => return None,
        _ => None,
    };
    let mut counts = FreeNodes::counts_of(machine);
    let mut found = Vec::new();
    // A job of more than half the nodes runs once at most, and leaves the remainder idle.
    for size in 2..=nodes / 2 {
        let idle = match &mut of_roots {
            Some(roots) => roots.idle(size),
            None => {
                counts.refill();
                filled(rule, &mut counts, size)
                    .unwrap_or_else(|| filled_by_nodes(machine, rule, size))
            }
        };
        let remainder = nodes % size;
        if idle < nodes && idle > remainder {
            found.push(Idle { size, idle: idle.into(), remainder: remainder.into() });
        }
    }
    found.sort_by_key(|one| (Reverse(one.idle - one.remainder), one.size));
    Some(found)
}

/// Places jobs of one size until the rule places no further job. Returns the number of nodes that stay idle; `None` if
/// it depends on which nodes of the leaf units are free. Only the counts of `free` are used.
fn filled(rule: &mut Rule, free: &mut FreeNodes, size: u32) -> Option<u32> {
    let (mut shares, fills_leaves) = (Vec::new(), rule.fills_leaves());
    while rule.shares(free, size, Times::default(), &mut shares)?.is_ok() {
        if let [(leaf, count)] = &mut shares[..]
            && fills_leaves
        {
            *count = free.below()[*leaf as usize] / size * size;
        }
        free.subtract(&shares);
    }
    Some(free.count())
}

/// Places jobs of one size as [`filled`] does, and records which nodes are free.
fn filled_by_nodes(machine: &Hierarchy, rule: &mut Rule, size: u32) -> u32 {
    let (mut free, mut chosen) = (FreeNodes::all(machine), Vec::new());
    while rule.place(&mut free, size, Times::default(), &mut chosen).is_ok() {
        free.take(&chosen);
        chosen.clear();
    }
    free.count()
}

/// The trees of a machine, for rules that place a job below one root whenever a root has enough free nodes. Jobs of one
/// size then leave the remainder of each tree idle.
struct Roots {
    /// Numbers of nodes below each root, in descending order.
    nodes: Vec<u32>,
    /// Number of nodes below the roots that have been removed from `nodes`.
    below_others: u32,
}

impl Roots {
    fn of(machine: &Hierarchy, tree: &Tree) -> Self {
        let units = machine.units();
        let mut nodes: Vec<u32> = tree.roots().map(|root| units[root as usize].nodes).collect();
        nodes.sort_unstable_by_key(|&nodes| Reverse(nodes));
        Self { nodes, below_others: 0 }
    }

    /// Returns the number of idle nodes. Sizes must be given in ascending order.
    fn idle(&mut self, size: u32) -> u32 {
        while let Some(&last) = self.nodes.last().filter(|&&nodes| nodes < size) {
            self.below_others += last;
            self.nodes.pop();
        }
        self.below_others + self.nodes.iter().map(|nodes| nodes % size).sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology_file::TopologyFile;
    use replay_engine::topology::Topology;

    fn machine(name: &str) -> Hierarchy {
        let topology: Topology = name.parse().expect("a machine");
        topology.hierarchy().expect("a tree or blocks").clone()
    }

    fn of_file(text: &str) -> Vec<(&'static str, String, u64)> {
        let file = TopologyFile::read(text, "a.conf", None).expect("a machine");
        let rule = StrategyName::plain(rule_name(&file.machine));
        let found = findings(&file.machine, file.misordered.as_ref(), &rule).expect("findings");
        found.into_iter().map(|one| (one.check.name(), one.subject, one.count)).collect()
    }

    fn rule(machine: &Hierarchy, name: &str) -> Rule {
        rule_of(machine, &name.parse().expect("a name")).expect("a rule")
    }

    #[test]
    fn finds_sizes_that_never_run() {
        let never = |name: &str, options: &str| {
            let machine = machine(name);
            never_runs(&machine, &mut rule(&machine, options), MAX_COST).expect("a small machine")
        };
        assert_eq!(never("block[4,16]:6x4", "slurm-block"), [[17, 24]]);
        // Jobs of 20 and 24 nodes are divided into segments.
        let segments = never("block[4,16]:6x4", "slurm-block[segment=4]");
        assert_eq!(segments, [[17, 19], [21, 23]]);
        assert!(never("block[4,16]:8x4", "slurm-block").is_empty());
        assert!(never("tree:2x2x4", "slurm-tree[switches=1]").is_empty());
        assert_eq!(never("tree:2x2x4", "kueue[mode=required,level=0]"), [[5, 16]]);
        assert_eq!(ranges(&[[7, 7], [17, 24]]), "7, 17-24");
    }

    #[test]
    fn finds_idle_nodes() {
        // A job of size 3 takes three nodes of a block of four. A job of size 5 takes nodes of two blocks.
        let idle_of = |name: &str, options: &str| {
            let machine = machine(name);
            idle_nodes(&machine, &mut rule(&machine, options), MAX_COST).expect("a small machine")
        };
        let idle = idle_of("block[4,16]:6x4", "slurm-block");
        assert!(idle.iter().all(|one| one.size < 17));
        assert!(
            idle.windows(2).all(|pair| {
                pair[0].idle - pair[0].remainder >= pair[1].idle - pair[1].remainder
            })
        );
        // One of the two blocks of 16 nodes has only 8 nodes, too few for a job of 9 nodes.
        let nine = idle.iter().find(|one| one.size == 9).expect("size 9");
        assert_eq!((nine.idle, nine.remainder), (15, 6));
        assert!(idle_of("tree:2x2x4", "slurm-tree").is_empty());
    }

    /// The counts of leaves and the roots give the same results as jobs that are placed node by node.
    #[test]
    fn fills_without_nodes_as_with_nodes() {
        let roots = "SwitchName=a Nodes=n[1-7]\nSwitchName=b Nodes=n[8-12]\nSwitchName=c Nodes=n[13-15]\nSwitchName=d Nodes=n[16-24]\nSwitchName=t Switches=a,b\n";
        let roots = TopologyFile::read(roots, "a.conf", None).expect("a machine").machine;
        let mut cases: Vec<(Hierarchy, &str)> = [
            "slurm-tree",
            "tree-fit",
            "slurm-tree[switches=2]",
            "slurm-tree[since=22.05,switches=1]",
        ]
        .map(|rule| (roots.clone(), rule))
        .into();
        for rule in [
            "slurm-block",
            "slurm-block[segment=3,spread=yes]",
            "slurm-block[segment=2,consolidate=yes]",
        ] {
            cases.push((machine("block[2,8,32]:16x2"), rule));
            cases.push((machine("block[4,16]:6x5"), rule));
        }
        for rule in [
            "slurm-tree[switches=1]",
            "kueue[mode=required,level=1]",
            "kueue[level=1,slice=3,slice_level=0]",
            "kueue[mode=slice_only,slice=2,slice_level=0]",
        ] {
            cases.push((machine("tree:2x3x5"), rule));
        }
        for (machine, name) in cases {
            let mut rule = rule(&machine, name);
            let nodes = machine.processors() as u32;
            let mut expected = Vec::new();
            for size in 2..=nodes {
                let idle = filled_by_nodes(&machine, &mut rule, size);
                if idle < nodes && idle > nodes % size {
                    expected.push((size, u64::from(idle)));
                }
            }
            let mut found: Vec<(u32, u64)> = idle_nodes(&machine, &mut rule, MAX_COST)
                .expect("a small machine")
                .into_iter()
                .map(|one| (one.size, one.idle))
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{name} on {machine}");
            let placed = |size: &u32| {
                let (mut free, mut chosen) = (FreeNodes::all(&machine), Vec::new());
                rule.place(&mut free, *size, Times::default(), &mut chosen).is_ok()
            };
            if !name.starts_with("slurm-tree[") {
                let runs: Vec<u32> = (1..=nodes).filter(placed).collect();
                let never = never_runs(&machine, &mut rule.clone(), MAX_COST);
                let never = never.expect("a small machine");
                let is_never =
                    |size: u32| never.iter().any(|one| (one[0]..=one[1]).contains(&size));
                let expected: Vec<u32> = (1..=nodes).filter(|&size| !is_never(size)).collect();
                assert_eq!(runs, expected, "{name} on {machine}");
            }
        }
    }

    /// A million nodes on few leaves are checked in a time that does not grow with their square.
    #[test]
    fn checks_a_million_nodes() {
        for text in [
            "SwitchName=a Nodes=n[0-499999]\nSwitchName=b Nodes=n[500000-999999]",
            "BlockName=a Nodes=n[0-999999]",
        ] {
            let file = TopologyFile::read(text, "a.conf", None).expect("a machine");
            let rule = StrategyName::plain(rule_name(&file.machine));
            let found = findings(&file.machine, file.misordered.as_ref(), &rule).expect("findings");
            assert_eq!(found[0].count, 1_000_000, "{text}");
            assert!(found.iter().all(|one| !one.text.starts_with("not checked")), "{text}");
        }
        let ranges: Vec<String> =
            (0..200_000).map(|at| format!("{}-{}", 3 * at, 3 * at + 1)).collect();
        let text = format!("SwitchName=a Nodes=n[{}]", ranges.join(","));
        assert_eq!(of_file(&text)[0].2, 400_000);
    }

    #[test]
    fn finds_simplified_descriptions() {
        let text = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[4-8]\nSwitchName=s Switches=a,b\nSwitchName=t Switches=a,b\nSwitchName=u Switches=b\n";
        let expected = [
            ("several-parents", "t", 2),
            ("several-parents", "t", 1),
            ("repeated-nodes", "nodes", 1),
        ];
        let expected = expected.map(|(check, subject, count)| (check, subject.to_string(), count));
        let found = of_file(text);
        assert_eq!(found[2..5], expected);
        let machine = TopologyFile::read(text, "a.conf", None).expect("a machine").machine;
        let warnings = description_warnings(&machine);
        // Switches above the same switches do not change a placement.
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].starts_with("a.conf: warning: t: b: below t and below a later switch, kept only below the last one, u;"), "{warnings:?}");
        assert!(warnings[1].contains("n4 is kept in a, not in b"), "{warnings:?}");
    }

    #[test]
    fn checks_files() {
        let tree = "SwitchName=a Nodes=n[9,10]\nSwitchName=b Nodes=n[1-2]\nSwitchName=e\n\
                    SwitchName=c Switches=a,e\nSwitchName=d Switches=b,c\nSwitchName=r Nodes=m1\n";
        let found = of_file(tree);
        let expected = [
            ("machine", "a.conf", 5),
            ("never-runs", "slurm-tree", 1),
            ("skipped-level", "d", 1),
            ("empty", "switches", 1),
            ("name-order", "nodes", 2),
        ];
        let expected: Vec<_> =
            expected.map(|(check, subject, count)| (check, subject.to_string(), count)).into();
        assert_eq!(found[..5], expected);
        let blocks =
            "BlockName=a Nodes=n[1-4]\nBlockName=b Nodes=n[5-7]\nBlockName=c\nBlockSizes=4,16\n";
        let found = of_file(blocks);
        let checks: Vec<_> = found.iter().map(|one| one.0).collect();
        assert_eq!(checks[..4], ["machine", "skipped-level", "empty", "small-block"]);
    }
}
