//! The allocator of all centre-based strategies, which uses an engine for fast evaluation of the rule.

use std::collections::HashSet;
use std::fmt;

use super::definition::{CentreRule, ShellOrder};
use super::explain::explain;
use crate::allocator::explain::ExplanationLog;
use crate::allocator::{
    Allocator, Capabilities, Refusal, Request, RunSetup, Stats, settled_by_count,
};
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// Fast evaluation of a [`CentreRule`] for every shell order except [`ShellOrder::Greedy`].
pub trait CentreEngine: fmt::Debug + Send {
    /// Clears all state about the machine.
    fn reset(&mut self);

    /// Appends the `size` processors of the winning candidate to `chosen`, which must be empty. `size` must be less
    /// than the number of free processors.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] if `stop` is cancelled.
    fn choose(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal>;

    /// Calls `visit` with the processors of each candidate that has the best score for `size` processors. `size` must
    /// be less than the number of free processors.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    fn for_each_tied(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
        visit: &mut dyn FnMut(Vec<NodeId>),
    ) -> Result<(), Cancelled>;
}

/// An allocator of a centre-based strategy.
#[derive(Debug)]
pub struct CentreAllocator<E> {
    grid: Grid,
    rule: CentreRule,
    pub(super) engine: E,
    stop: CancelToken,
    explanation: ExplanationLog,
    count_ties: bool,
    /// Number of tied sets of the last request.
    tied: Option<u32>,
}

impl<E: CentreEngine> CentreAllocator<E> {
    /// Creates an allocator for `grid`; `engine` evaluates `rule`.
    pub fn with_engine(grid: &Grid, rule: CentreRule, engine: E) -> Self {
        Self {
            grid: grid.clone(),
            rule,
            engine,
            stop: CancelToken::new(),
            explanation: ExplanationLog::default(),
            count_ties: false,
            tied: None,
        }
    }

    /// Sets the log for explanations and the token that cancels decisions.
    pub fn attach(&mut self, explanation: &ExplanationLog, stop: &CancelToken) {
        (self.explanation, self.stop) = (explanation.clone(), stop.clone());
    }

    /// Returns the number of [tied sets](Stats::tied_sets) of a request.
    pub fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.rule.options.order == ShellOrder::Greedy {
            return self.rule.tied_sets(machine, &self.grid, size, &self.stop).ok();
        }
        let mut sets = HashSet::new();
        let mut insert = |mut set: Vec<NodeId>| {
            set.sort_unstable();
            sets.insert(set);
        };
        self.engine.for_each_tied(machine, size, &self.stop, &mut insert).ok()?;
        Some(sets.len() as u32)
    }
}

impl<E: CentreEngine> Allocator for CentreAllocator<E> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.attach(&setup.explanation, &setup.stop);
        (self.count_ties, self.tied) = (setup.count_ties, None);
        self.engine.reset();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if self.count_ties {
            self.tied = self.tied_sets(machine, request);
        }
        let Self { grid, rule, engine, stop, explanation, .. } = self;
        if settled_by_count(machine, size, chosen)? {
            explanation.sentence(|| "the job takes all free processors".to_string());
            return Ok(());
        }
        if explanation.is_recording() {
            explain(explanation, rule, machine, grid, size, stop)?;
        }
        if rule.options.order == ShellOrder::Greedy {
            let winner = rule.choose(machine, grid, size, stop)?;
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
            return Ok(());
        }
        engine.choose(machine, size, stop, chosen)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}
