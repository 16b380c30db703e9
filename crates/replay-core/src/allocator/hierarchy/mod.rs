//! Placement rules of trees of switches and of block machines: Slurm's `topology/tree` and `topology/block`, and Kueue's
//! topology-aware scheduling.
//!
//! | module | rule |
//! |---|---|
//! | [`slurm_tree`] | `slurm-tree` |
//! | [`slurm_block`] | `slurm-block` |
//! | [`kueue`] | `kueue` |
//! | [`node_order`] | `first-fit` on these machines |
//! | [`cases`] | decisions from a file, for checks from outside |
//! | [`check`] | findings about a machine: sizes that never run, missing levels, idle nodes |
//! | [`fragmentation`] | Slurm's measure of block machines |
//!
//! Rules decide on [`FreeNodes`], counts of free nodes per switch and block that follow every start, end and outage. They
//! know no jobs and no time but that since the submission.
//!
//! Sources: Slurm 26.05 (`eval_nodes_tree.c`, `eval_nodes_block.c`), Kueue 0.16 (`tas_flavor_snapshot.go`). Quirks of theirs
//! are reproduced.

pub mod cases;
pub mod check;
pub mod fragmentation;
mod free_nodes;
pub mod kueue;
mod names;
pub mod node_order;
pub mod slurm_block;
pub mod slurm_tree;

use std::collections::HashMap;

pub use free_nodes::FreeNodes;
pub use names::{kueue_table, slurm_block_table, slurm_tree_table};

use self::kueue::{KueueOptions, KueueRule};
use self::slurm_block::{BlockOptions, BlockRule};
use self::slurm_tree::{TreeOptions, TreeRule};
use super::explain::ExplanationLog;
use super::{Allocator, Bounds, Capabilities, MachineEvent, Refusal, Request, RunSetup};
use crate::machine::Machine;
use crate::topology::{Hierarchy, NodeId, Topology};

/// Why a rule places nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// Options and job contradict each other.
    BadConfig,
    /// Fewer nodes are free than the job needs.
    TooFewFree,
    /// The rule finds no place.
    NoPlace,
    /// The place is on too many leaves, and the job has not waited long enough.
    Switches,
}

/// A rule with its options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleOptions {
    /// `slurm-tree`.
    Tree(TreeOptions),
    /// `slurm-block`.
    Block(BlockOptions),
    /// `kueue`.
    Kueue(KueueOptions),
}

/// A rule on a machine.
#[derive(Clone, Debug)]
pub enum Rule {
    /// `slurm-tree`.
    Tree(TreeRule),
    /// `slurm-block`.
    Block(BlockRule),
    /// `kueue`.
    Kueue(KueueRule),
}

impl Rule {
    /// The rule on a machine.
    ///
    /// # Errors
    /// If the machine is of another kind, or the options do not go together.
    pub fn new(machine: &Hierarchy, options: RuleOptions) -> Result<Self, String> {
        let tree = || machine.tree().ok_or("needs a tree; on blocks there is slurm-block");
        Ok(match options {
            RuleOptions::Tree(options) => Rule::Tree(TreeRule::new(machine, tree()?, options)),
            RuleOptions::Block(options) => {
                let blocks = machine.blocks();
                let blocks =
                    blocks.ok_or("needs blocks; on trees there are slurm-tree and kueue")?;
                Rule::Block(BlockRule::new(blocks, options))
            }
            RuleOptions::Kueue(options) => {
                Rule::Kueue(KueueRule::new(tree()?, machine.names(), options)?)
            }
        })
    }

    /// Whether the options contradict a job of `size` nodes, or the machine.
    ///
    /// # Errors
    /// [`Denied::BadConfig`].
    pub fn check(&self, size: u32) -> Result<(), Denied> {
        match self {
            Rule::Tree(_) => Ok(()),
            Rule::Block(rule) => rule.segment(size).map(|_| ()),
            Rule::Kueue(rule) => rule.check(size),
        }
    }

    /// Appends `size` free nodes to the empty `chosen`, at least one. `waited` are the seconds since the job was submitted.
    ///
    /// # Errors
    /// [`Denied`]; `chosen` is then empty.
    pub fn place(
        &mut self,
        free: &mut FreeNodes,
        size: u32,
        waited: i64,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        match self {
            Rule::Tree(rule) => rule.place(free, size, waited, chosen),
            Rule::Block(rule) => rule.place(free, size, chosen),
            Rule::Kueue(rule) => rule.place(free, size, chosen),
        }
    }

    /// Sets the log to which the rule writes its explanations.
    pub fn set_explanation(&mut self, log: ExplanationLog) {
        match self {
            Rule::Tree(rule) => rule.explanation = log,
            Rule::Block(rule) => rule.explanation = log,
            Rule::Kueue(rule) => rule.explanation = log,
        }
    }

    /// Whether every request for no more nodes than are free is served.
    pub fn never_refuses(&self) -> bool {
        match self {
            Rule::Tree(rule) => rule.never_refuses(),
            Rule::Block(_) => false,
            Rule::Kueue(rule) => rule.never_refuses(),
        }
    }

    /// Seconds after submission at which a job no longer waits for fewer leaves, if jobs do.
    fn patience(&self) -> Option<u32> {
        match self {
            Rule::Tree(rule) => rule.options().switches.map(|_| rule.options().patience()),
            Rule::Block(_) | Rule::Kueue(_) => None,
        }
    }

    /// Whether the refusal of `refused` nodes implies that of `asked` on the same or fewer free nodes.
    fn refusal_covers(&self, refused: u32, asked: u32) -> bool {
        match self {
            Rule::Tree(rule) => rule.options().switches.is_none() && asked >= refused,
            Rule::Block(_) => false,
            Rule::Kueue(rule) => rule.slice(refused) == rule.slice(asked) && asked >= refused,
        }
    }
}

/// Jobs placed by a rule.
#[derive(Clone, Debug)]
pub struct RuleAllocator {
    rule: Rule,
    free: FreeNodes,
    /// By size, as far as asked: whether the idle machine has a place.
    servable: HashMap<u32, bool>,
}

impl RuleAllocator {
    /// The allocator of a rule.
    ///
    /// # Errors
    /// As [`Rule::new`], and if the machine is neither a tree nor blocks.
    pub fn new(topology: &Topology, options: RuleOptions) -> Result<Self, String> {
        let machine = topology.hierarchy().ok_or(
            "needs a tree of switches or blocks: a machine such as tree:4x8x18 or block:8x18, or a file topology.conf",
        )?;
        let rule = Rule::new(machine, options)?;
        Ok(Self { rule, free: FreeNodes::all(machine), servable: HashMap::new() })
    }

    fn is_servable(&mut self, size: u32) -> bool {
        let Self { rule, free, servable } = self;
        let idle = || {
            let mut idle = FreeNodes::all(free.hierarchy());
            rule.place(&mut idle, size, i64::MAX, &mut Vec::new()).is_ok()
        };
        *servable.entry(size).or_insert_with(idle)
    }
}

impl Allocator for RuleAllocator {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.rule.set_explanation(setup.explanation.clone());
        self.free = FreeNodes::all(self.free.hierarchy());
        Ok(())
    }

    fn allocate(
        &mut self,
        _machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let times = request.times;
        let waited = times.submitted.map_or(i64::MAX, |at| times.now.saturating_sub(at));
        match self.rule.place(&mut self.free, request.size, waited, chosen) {
            Ok(()) => {
                chosen.iter().for_each(|&node| self.free.take(node));
                Ok(())
            }
            Err(Denied::TooFewFree) => Err(Refusal::TooFewFree),
            Err(Denied::NoPlace | Denied::BadConfig) => Err(Refusal::Fragmented),
            Err(Denied::Switches) => {
                let patience = self.rule.patience().unwrap_or(0);
                let submitted = times.submitted.unwrap_or(times.now);
                Err(Refusal::Postponed { until: submitted.saturating_add(patience.into()) })
            }
        }
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) | MachineEvent::NodesUp(nodes) => {
                nodes.iter().for_each(|&node| self.free.give(node));
            }
            MachineEvent::NodesDown(nodes) => nodes.iter().for_each(|&node| self.free.take(node)),
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        let keeps_schedule = self.rule.never_refuses();
        let by_time = self.rule.patience().is_some();
        let is_block = matches!(self.rule, Rule::Block(_));
        Capabilities {
            keeps_schedule,
            refusals_last: !by_time && !is_block,
            reserves_by_trial: by_time || is_block,
            chooses_by_free: !by_time,
            rejects_unsupported_sizes: true,
            supports_outages: true,
            ..Capabilities::default()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds { servable: self.is_servable(request.size), ..Bounds::exact(request) }
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.rule.refusal_covers(refused.size, asked.size)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests;
