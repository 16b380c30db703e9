//! Replay of one strategy with many tie vectors at once.

use super::Refusal;
use super::ties::TieConfig;
use crate::cancel::CancelToken;
use crate::topology::NodeId;

/// An allocation that several configurations of a [`Batch`] make.
#[derive(Debug)]
pub struct BatchPlacement<'a> {
    /// The processors, in the order in which one of the configurations chose them.
    pub nodes: &'a [NodeId],
    /// Sum of hop distances over all pairs of `nodes`.
    pub pairwise_l1: u64,
    /// Numbers of the configurations. If a configuration is removed from this list, its replay stops.
    pub configs: &'a mut Vec<u32>,
}

/// Creates a [`Batch`] of configurations on empty machines.
pub type BatchBuilder<'a> = Box<dyn FnOnce(Vec<TieConfig>) -> Box<dyn Batch> + 'a>;

/// Machines of many configurations of one strategy, on which the same jobs start and end. Each configuration chooses
/// the same processors as in a replay of its own.
pub trait Batch: Send {
    /// Returns the number of different machine states. Each decision is made once per state.
    fn occupancies(&self) -> usize;

    /// Starts a job of `size` processors on every machine and calls `observe` with each allocation. `slot` is a small
    /// number that no running job has.
    ///
    /// # Errors
    /// [`Refusal`] if a machine has too few free processors, or if `stop` is cancelled.
    fn start(
        &mut self,
        slot: usize,
        size: u32,
        stop: &CancelToken,
        observe: &mut dyn FnMut(BatchPlacement<'_>),
    ) -> Result<(), Refusal>;

    /// Ends the job in `slot` on every machine.
    fn end(&mut self, slot: usize);
}
