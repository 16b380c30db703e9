//! Placement rules for trees of switches and for block machines: Slurm's `topology/tree` and `topology/block`, and
//! Kueue's topology-aware scheduling.
//!
//! | module | rule |
//! |---|---|
//! | [`slurm_tree`] | `slurm-tree` |
//! | `tree_fit` | `tree-fit` |
//! | [`slurm_block`] | `slurm-block` |
//! | [`kueue`] | `kueue` |
//! | [`consecutive`] | `slurm-tree[optional=yes]` |
//! | `node_order` | `first-fit` on these machines |
//! | [`cases`] | decisions read from a file, for external checks |
//! | [`check`] | findings about a machine: sizes that never run, missing levels, idle nodes |
//!
//! Rules read [`FreeNodes`]: the number of free nodes of each switch and block, which is updated at every start, end
//! and outage. A rule receives only the size of a job and the times in the job's request.
//!
//! Sources: Slurm 26.05 (`eval_nodes_tree.c`, `eval_nodes_block.c`), Kueue 0.16 (`tas_flavor_snapshot.go`). The rules
//! reproduce the quirks of Slurm and Kueue. `tree-fit` was developed for `replay`.

pub mod cases;
pub mod check;
pub mod consecutive;
mod free_nodes;
pub mod kueue;
mod names;

pub mod slurm_block;
pub mod slurm_tree;
mod tree_fit;

pub use free_nodes::FreeNodes;

use std::collections::HashMap;

pub(crate) use names::{kueue_table, slurm_block_table, slurm_tree_table, tree_fit_table};

use self::kueue::{KueueOptions, KueueRule};
use self::slurm_block::{BlockOptions, BlockRule};
use self::slurm_tree::{TreeOptions, TreeRule};
use self::tree_fit::FitRule;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, MachineEvent, Refusal, Request, RunSetup, Times,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Hierarchy, NodeId, Topology};

/// Reason why a rule does not place a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// The options and the job contradict each other.
    BadConfig,
    /// Fewer nodes are free than the job needs.
    TooFewFree,
    /// The rule finds no placement.
    NoPlace,
    /// The placement uses too many leaves, and the job has not waited long enough.
    Switches,
}

/// The options of any of the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleOptions {
    /// `slurm-tree`.
    Tree(TreeOptions),
    /// `tree-fit`, which has no options.
    Fit,
    /// `slurm-block`.
    Block(BlockOptions),
    /// `kueue`.
    Kueue(KueueOptions),
}

/// A rule that is prepared for one machine.
#[derive(Clone, Debug)]
pub enum Rule {
    /// `slurm-tree`.
    Tree(TreeRule),
    /// `tree-fit`.
    Fit(FitRule),
    /// `slurm-block`.
    Block(BlockRule),
    /// `kueue`.
    Kueue(KueueRule),
}

impl Rule {
    /// Prepares a rule for a machine.
    ///
    /// # Errors
    /// A message if the rule does not support this kind of machine, or, for `kueue`, if the leaves of the tree are at
    /// different depths.
    pub fn new(machine: &Hierarchy, options: RuleOptions) -> Result<Self, String> {
        let tree = || machine.tree().ok_or("needs a tree; on blocks use slurm-block");
        Ok(match options {
            RuleOptions::Tree(options) => Rule::Tree(TreeRule::new(tree()?, options)),
            RuleOptions::Fit => Rule::Fit(FitRule::new(machine, tree()?)),
            RuleOptions::Block(options) => {
                let blocks = machine.blocks();
                let blocks = blocks.ok_or("needs blocks; on trees use slurm-tree or kueue")?;
                Rule::Block(BlockRule::new(blocks, options))
            }
            RuleOptions::Kueue(options) => Rule::Kueue(KueueRule::new(machine, tree()?, options)?),
        })
    }

    /// Checks that the options are consistent with the machine.
    ///
    /// # Errors
    /// A message if `wait` of `slurm-tree` exceeds its limit, or if a level of `kueue` does not exist in the tree or
    /// contradicts another level.
    pub fn validate(&self) -> Result<(), String> {
        match self {
            Rule::Tree(rule) => rule.options.validate(),
            Rule::Kueue(rule) => rule.validate(),
            Rule::Fit(_) | Rule::Block(_) => Ok(()),
        }
    }

    /// Checks that the options are consistent with a job of `size` nodes and with the machine.
    ///
    /// # Errors
    /// The reason why the options are not consistent with the job and the machine.
    pub fn check(&self, size: u32) -> Result<(), String> {
        match self {
            Rule::Tree(_) | Rule::Fit(_) => Ok(()),
            Rule::Block(rule) => rule.check(size),
            Rule::Kueue(rule) => rule.check(size),
        }
    }

    /// Appends `size` free nodes to `chosen`, which must be empty. `size` must be at least one.
    ///
    /// # Errors
    /// [`Denied`]; `chosen` is then empty.
    pub fn place(
        &mut self,
        free: &mut FreeNodes,
        size: u32,
        times: Times,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Denied> {
        match self {
            Rule::Tree(rule) => rule.place(free, size, times.waited(), chosen),
            Rule::Fit(rule) => rule.place(free, size, times, chosen),
            Rule::Block(rule) => rule.place(free, size, chosen),
            Rule::Kueue(rule) => rule.place(free, size, chosen),
        }
    }

    /// Chooses leaf units, and the number of nodes to take from each, as [`place`](Self::place) does. The choice is
    /// written to `shares`. A leaf unit may occur several times. Only the counts of `free` are used. Returns `None` if
    /// the choice depends on which nodes of the leaf units are free.
    fn shares(
        &mut self,
        free: &FreeNodes,
        size: u32,
        times: Times,
        shares: &mut Vec<(u32, u32)>,
    ) -> Option<Result<(), Denied>> {
        match self {
            Rule::Tree(rule) => rule.shares(free, size, times.waited(), shares),
            Rule::Fit(_) => None,
            Rule::Block(rule) => rule.shares(free, size, shares),
            Rule::Kueue(rule) => Some(rule.shares(free, size, shares)),
        }
    }

    /// Returns whether further jobs of the same size follow a job that lies in one leaf unit, as long as this leaf unit has
    /// enough free nodes. The rule must choose the leaf unit with the fewest free nodes, which then stays the same.
    fn fills_leaves(&self) -> bool {
        match self {
            Rule::Tree(_) | Rule::Fit(_) => true,
            Rule::Block(rule) => rule.has_no_segments(),
            Rule::Kueue(rule) => rule.uses_tightest_domain(),
        }
    }

    /// Forgets all running jobs.
    fn reset(&mut self) {
        if let Rule::Fit(rule) = self {
            rule.reset();
        }
    }

    /// Records that a job has started on these nodes.
    pub fn on_start(&mut self, machine: &Hierarchy, nodes: &[NodeId], times: Times) {
        if let Rule::Fit(rule) = self {
            rule.on_start(machine, nodes, times);
        }
    }

    /// Records that a job on these nodes has ended.
    pub fn on_release(&mut self, machine: &Hierarchy, nodes: &[NodeId]) {
        if let Rule::Fit(rule) = self {
            rule.on_release(machine, nodes);
        }
    }

    /// Sets the log to which the rule writes its explanations.
    pub(crate) fn set_explanation(&mut self, log: ExplanationLog) {
        match self {
            Rule::Tree(rule) => rule.explanation = log,
            Rule::Fit(rule) => rule.explanation = log,
            Rule::Block(rule) => rule.explanation = log,
            Rule::Kueue(rule) => rule.explanation = log,
        }
    }

    /// Returns whether every request is served if at least the requested number of nodes is free.
    pub(crate) fn never_refuses(&self) -> bool {
        match self {
            Rule::Tree(rule) => rule.never_refuses(),
            Rule::Fit(rule) => rule.never_refuses(),
            Rule::Block(_) => false,
            Rule::Kueue(rule) => rule.never_refuses(),
        }
    }

    /// Returns how long a job waits for a placement on fewer leaves, in seconds after its submission; `None` if jobs
    /// never wait for such a placement.
    fn patience(&self) -> Option<u32> {
        match self {
            Rule::Tree(rule) => rule.patience(),
            Rule::Fit(_) | Rule::Block(_) | Rule::Kueue(_) => None,
        }
    }

    /// Returns whether the refusal of a request for `refused` nodes implies the refusal of a request for `asked` nodes,
    /// on the same free nodes or a subset of them.
    fn refusal_covers(&self, refused: u32, asked: u32) -> bool {
        match self {
            Rule::Tree(rule) => rule.patience().is_none() && asked >= refused,
            Rule::Fit(_) => asked >= refused,
            Rule::Block(_) => false,
            Rule::Kueue(rule) => rule.slice(refused) == rule.slice(asked) && asked >= refused,
        }
    }
}

/// Allocator that places jobs by a rule.
#[derive(Clone, Debug)]
pub struct RuleAllocator {
    rule: Rule,
    free: FreeNodes,
    /// Cache by job size: whether the rule finds a placement on the idle machine.
    servable: HashMap<u32, bool>,
}

impl RuleAllocator {
    /// Creates an allocator that places jobs by the rule that `options` selects.
    ///
    /// # Errors
    /// A message if the machine is neither a tree nor a block machine, and the errors of [`Rule::new`] and
    /// [`Rule::validate`].
    pub fn new(topology: &Topology, options: RuleOptions) -> Result<Self, String> {
        let machine = topology.hierarchy().ok_or(
            "needs a tree of switches or blocks: a machine such as tree:4x8x18 or block:8x18, or a file topology.conf",
        )?;
        let rule = Rule::new(machine, options)?;
        rule.validate()?;
        Ok(Self { rule, free: FreeNodes::all(machine), servable: HashMap::new() })
    }

    fn is_servable(&mut self, size: u32) -> bool {
        let Self { rule, free, servable } = self;
        let idle = || {
            let mut idle = FreeNodes::all(free.hierarchy());
            rule.place(&mut idle, size, Times::default(), &mut Vec::new()).is_ok()
        };
        *servable.entry(size).or_insert_with(idle)
    }
}

impl Allocator for RuleAllocator {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.rule.set_explanation(setup.explanation.clone());
        self.rule.reset();
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
        match self.rule.place(&mut self.free, request.size, times, chosen) {
            Ok(()) => {
                self.rule.on_start(self.free.hierarchy(), chosen, times);
                self.free.take(chosen);
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
            MachineEvent::Released(nodes) => {
                self.free.give(nodes);
                self.rule.on_release(self.free.hierarchy(), nodes);
            }
            MachineEvent::NodesUp(nodes) => self.free.give(nodes),
            MachineEvent::NodesDown(nodes) => self.free.take(nodes),
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
            reserves_places: !keeps_schedule,
            chooses_by_free: !by_time && !matches!(self.rule, Rule::Fit(_)),
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
        // A copy is made for every search for a placement. The copy rarely needs the cache, so the cache is not copied.
        let (rule, free) = (self.rule.clone(), self.free.clone());
        Some(Box::new(Self { rule, free, servable: HashMap::new() }))
    }
}

#[cfg(test)]
mod tests;
