//! Names and parameters of the rules.

use std::fmt;
use std::str::FromStr;

use crate::hierarchy::kueue::{KueueOptions, Level, Mode, Profile};
use crate::hierarchy::slurm_block::BlockOptions;
use crate::hierarchy::slurm_tree::{MAX_SWITCH_WAIT, Since, TreeOptions};
use crate::hierarchy::{RuleAllocator, RuleOptions};
use replay_engine::allocator::{Allocator, AllocatorOptions};
use replay_engine::naming::{Entry, NameError, StrategyName, Table, kind};
use replay_engine::topology::Topology;

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "node" => Ok(Level::Node),
            _ => match text.parse() {
                Ok(level) => Ok(Level::Switch(level)),
                Err(_) => {
                    Err("neither node nor the level of a switch (leaves have level 0)".to_string())
                }
            },
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Node => f.write_str("node"),
            Level::Switch(level) => write!(f, "{level}"),
        }
    }
}

impl RuleOptions {
    /// Returns the options of the rule with this name and these parameters; `None` if there is no rule of this name.
    ///
    /// # Errors
    /// [`NameError`] if a parameter is unknown, or if its value is not valid.
    pub fn named(name: &StrategyName) -> Option<Result<Self, NameError>> {
        Some(match &name.name[..] {
            "slurm-tree" => slurm_tree_table().parse(name).map(RuleOptions::Tree),
            "tree-fit" => tree_fit_table().parse(name).map(|FitOptions| RuleOptions::Fit),
            "slurm-block" => slurm_block_table().parse(name).map(RuleOptions::Block),
            "kueue" => kueue_table().parse(name).map(RuleOptions::Kueue),
            _ => return None,
        })
    }
}

impl AllocatorOptions for TreeOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(RuleAllocator::new(topology, RuleOptions::Tree(*self))?))
    }

    fn reduced(&self) -> Self {
        let wait = self.switches.map(|_| self.patience());
        // The limit has no effect but on the wait, which is in the result.
        let limit = wait.filter(|&wait| wait > MAX_SWITCH_WAIT);
        Self { wait, limit, optional: self.optional && self.switches.is_none(), ..*self }
    }
}

/// Options of `tree-fit`, which has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FitOptions;

impl AllocatorOptions for FitOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(RuleAllocator::new(topology, RuleOptions::Fit)?))
    }
}

impl AllocatorOptions for BlockOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(RuleAllocator::new(topology, RuleOptions::Block(*self))?))
    }

    fn reduced(&self) -> Self {
        let parts = self.segment.is_some();
        Self { spread: self.spread && parts, consolidate: self.consolidate && parts, ..*self }
    }
}

impl AllocatorOptions for KueueOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        self.check_profile()?;
        if self.slice.is_none() && self.slice_level.is_some() {
            return Err("slice-level needs slice, the number of pods of a slice".to_string());
        }
        Ok(Box::new(RuleAllocator::new(topology, RuleOptions::Kueue(*self))?))
    }

    fn reduced(&self) -> Self {
        let node = |level: Option<Level>| level.filter(|&level| level != Level::Node);
        let fixed = matches!(self.mode, Mode::Unconstrained | Mode::SliceOnly);
        let level = node(self.level).filter(|_| !fixed);
        Self { level, slice_level: node(self.slice_level), ..*self }
    }
}

/// Returns the syntax of an optional number of leaves or nodes. `0` and `none` stand for no number, so that a list of a
/// grid can contain it.
fn size_or_none() -> kind::Kind<Option<u32>> {
    kind::integer(1..=1_000_000).or("none").also(&[("0", None), ("none", None)])
}

/// Returns the table of `slurm-tree`.
pub(crate) fn slurm_tree_table() -> Table<TreeOptions> {
    let entry = Entry::new("slurm-tree", TreeOptions::default())
        .about(
            "Few leaves of a tree of switches, close together, by the rule that Slurm ships (topology/tree). A job of one node gets the free node with the lowest number. O(leaves) per chosen leaf.",
        )
        .source("Slurm 26.05, plugin topology/tree")
        .param(
            "switches",
            size_or_none(),
            "maximum number of leaves of a job; if the rule chooses more leaves, the job waits, but at most for the time set by the parameter wait",
            |o: &mut TreeOptions| &mut o.switches,
        )
        .param(
            "wait",
            kind::integer(0..=1_000_000).or("limit").listed("0..limit"),
            "seconds after submission after which a job may exceed the number of leaves set by the parameter switches; at most the value of the parameter limit",
            |o| &mut o.wait,
        )
        .param(
            "limit",
            kind::integer(0..=1_000_000).or("300"),
            "maximum of the parameter wait in seconds: max_switch_wait of the site, by default the 300 seconds of Slurm",
            |o| &mut o.limit,
        )
        .param(
            "optional",
            kind::yes_no(),
            "whether jobs use the tree only if the parameter switches is set (TopologyParam=TopoOptional); other jobs get runs of free nodes with consecutive numbers: the shortest run that can hold the job, or the longest runs",
            |o| &mut o.optional,
        )
        .param(
            "since",
            kind::one_of(&Since::ALL),
            "Slurm release whose rule is used: before 26.05, a job of one node is placed like larger jobs; in 22.05, a closer leaf replaces the best leaf so far unless the closer leaf is worse",
            |o| &mut o.since,
        );
    Table::new("allocator", [entry])
}

/// Returns the table of `tree-fit`.
pub(crate) fn tree_fit_table() -> Table<FitOptions> {
    let entry = Entry::new("tree-fit", FitOptions)
        .about(
            "In a tree of switches, the leaf that fits the job most tightly, by its free nodes and the expected ends of running jobs; if no leaf holds the job, the fewest leaves below a switch of the lowest possible level. O(leaves), or O(leaves log leaves) for jobs on several leaves.",
        )
        .source("this project");
    Table::new("allocator", [entry])
}

/// Returns the table of `slurm-block`.
pub(crate) fn slurm_block_table() -> Table<BlockOptions> {
    let usual = BlockOptions { lenient: true, ..BlockOptions::default() };
    let entry = Entry::new("slurm-block", usual)
        .about(
            "The fullest block with room, and few base blocks in it, by the rule that Slurm ships (topology/block). A job of one node gets the free node with the lowest number. Jobs without a place on the idle machine are omitted from the run and counted. \
             O(base blocks) per chosen base block.",
        )
        .source("Slurm 26.05, plugin topology/block")
        .param(
            "segment",
            size_or_none(),
            "number of nodes of a part; a job whose size is a larger multiple of this number is divided into parts, each placed like a job",
            |o: &mut BlockOptions| &mut o.segment,
        )
        .param("spread", kind::yes_no(), "whether different parts must be in different base blocks", |o| &mut o.spread)
        .param(
            "consolidate",
            kind::yes_no(),
            "whether all parts must be in one block of the size that the whole job needs",
            |o| &mut o.consolidate,
        );
    Table::new("allocator", [entry])
}

/// Returns the table of `kueue`.
pub(crate) fn kueue_table() -> Table<KueueOptions> {
    let usual = KueueOptions { lenient: true, ..KueueOptions::default() };
    let entry = Entry::new("kueue", usual)
        .about(
            "Topology-aware scheduling of Kueue on a tree of switches, one pod per node. Jobs without a place on the idle \
             machine are omitted from the run and counted. O(switches) per decision.",
        )
        .source("Kueue 0.16, topology-aware scheduling")
        .param(
            "mode",
            kind::one_of(&Mode::ALL),
            "required: the job waits for one domain of the level; preferred: one domain if possible; unconstrained: any nodes; slice_only: one domain for each slice",
            |o: &mut KueueOptions| &mut o.mode,
        )
        .param(
            "level",
            kind::typed("node|0..").or("node"),
            "level of the domain: node, or the level of a switch (leaves have level 0); always node for unconstrained, always the top level for slice_only",
            |o| &mut o.level,
        )
        .param(
            "slice",
            size_or_none(),
            "number of nodes of a slice; a job whose size is a larger multiple of this number is divided into slices",
            |o| &mut o.slice,
        )
        .param(
            "slice-level",
            kind::typed("node|0..").or("node"),
            "level of the domain that contains a slice; must not be above the value of level",
            |o| &mut o.slice_level,
        )
        .param(
            "profile",
            kind::one_of(&Profile::ALL),
            "mixed: least for unconstrained and slice_only, otherwise best; best: domains with the most room first, the last domain as tight as possible; least: domains with the least room first; most: domains with the most room first, as in Kueue up to 0.12",
            |o| &mut o.profile,
        );
    Table::new("allocator", [entry])
}
