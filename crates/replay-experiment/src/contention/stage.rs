//! What a trace on a network is run with, watched by, and fails of.

use super::{MOST_SENT, Messages, SliceError};
use crate::RunContext;
use replay_core::cancel::Cancelled;
use replay_core::naming::NameError;
use replay_core::simulation::SimulationError;
use replay_core::topology::Topology;
use replay_core::workload::Job;
use replay_network::traffic::TrafficError;
use replay_network::{PacketError, Stalled};

/// Cycles that all jobs of a trace one after another may take: all of them can be told apart
/// as real numbers.
pub const LONGEST: f64 = (1u64 << 53) as f64;

/// A trace on a machine whose network its jobs are to share.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// The jobs; times in seconds.
    pub jobs: &'a [Job],
    /// The machine.
    pub topology: &'a Topology,
    /// What they send.
    pub messages: &'a Messages,
    /// Who looks on.
    pub watch: RunContext<'a>,
}

/// A trace that cannot be run on a network.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The machine has no such network.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A packet could not be sent.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The network is deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The simulation cannot go on.
    #[error(transparent)]
    Simulation(SimulationError),
    /// Times that cannot be counted.
    #[error(
        "at {} cycles to a second the trace's times add up to {longest:e} cycles; \
         at most {LONGEST:e} can be told apart",
        replay_core::number::plain(*scale)
    )]
    Scale {
        /// Cycles to a second.
        scale: f64,
        /// What the times add up to, cycles.
        longest: f64,
    },
    /// More packets than are simulated.
    #[error(
        "at {} cycles to a second its jobs send about {packets:.0e} packets in one run; \
         at most {MOST_SENT:.0e} are simulated flit by flit",
        replay_core::number::plain(*scale)
    )]
    Packets {
        /// Cycles to a second.
        scale: f64,
        /// Packets of all jobs, about.
        packets: f64,
    },
    /// The watch's flag was raised.
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
