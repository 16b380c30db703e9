//! Input and errors of running a trace on a network.

use super::{MOST_SENT, Messages, SliceError};
use crate::RunContext;
use crate::compatibility::Incompatible;
use replay_engine::cancel::Cancelled;
use replay_engine::naming::NameError;
use replay_engine::simulation::SimulationError;
use replay_engine::topology::Topology;
use replay_engine::workload::Job;
use replay_network::traffic::TrafficError;
use replay_network::{PacketError, Stalled};

/// Largest accepted sum of the times of all jobs, in cycles. Up to this value, `f64` represents integers exactly.
pub const LONGEST: f64 = (1u64 << 53) as f64;

/// A trace on a machine with a network that the jobs share.
#[derive(Clone, Copy)]
pub struct ContentionInput<'a> {
    /// The jobs with times in seconds.
    pub jobs: &'a [Job],
    /// The machine.
    pub topology: &'a Topology,
    /// Messages of the jobs.
    pub messages: &'a Messages,
    /// Cancellation and progress.
    pub watch: RunContext<'a>,
}

/// Checks a number of cycles per second.
///
/// # Errors
/// [`Incompatible`] unless the scale is positive and finite.
pub fn check_scale(scale: f64) -> Result<(), Incompatible> {
    match scale > 0.0 && scale.is_finite() {
        true => Ok(()),
        false => Err(Incompatible::of("scale", "must be a positive number of cycles")),
    }
}

/// Error from running a trace on a network.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The machine has no network.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A packet could not be sent.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The network is deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// The strategy does not support the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The simulation failed.
    #[error(transparent)]
    Simulation(SimulationError),
    /// The number of cycles per second is not positive or not finite.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
    /// The sum of the times of the trace, in cycles, is too large.
    #[error(
        "at {} cycles per second the times of the trace add up to {longest:e} cycles, \
         more than the limit of {LONGEST:e}",
        replay_engine::number::plain(*scale)
    )]
    Scale {
        /// Cycles per second.
        scale: f64,
        /// Sum of the times in cycles.
        longest: f64,
    },
    /// The number of packets is too large.
    #[error(
        "at {} cycles per second the jobs of the trace send about {packets:.0e} packets in one run; \
         at most {MOST_SENT:.0e} are simulated flit by flit",
        replay_engine::number::plain(*scale)
    )]
    Packets {
        /// Cycles per second.
        scale: f64,
        /// Approximate number of packets of all jobs.
        packets: f64,
    },
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<SimulationError> for TraceError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Cancelled(stopped) => stopped.into(),
            error => Self::Simulation(error),
        }
    }
}

impl From<SliceError> for TraceError {
    fn from(error: SliceError) -> Self {
        match error {
            SliceError::Stalled(stalled) => stalled.into(),
            SliceError::Cancelled(stopped) => stopped.into(),
        }
    }
}
