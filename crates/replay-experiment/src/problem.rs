use crate::compatibility::Incompatible;
use replay_engine::cancel::Cancelled;
use replay_engine::naming::NameError;
use replay_engine::simulation::{SimulationError, TimelineError};

/// The reason why a cell cannot run.
#[derive(Debug, thiserror::Error)]
pub enum CellProblem {
    /// The strategy does not support the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// Strategy, machine and outages are incompatible.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
    /// The log has no recorded placements.
    #[error("the trace has no recorded placements")]
    NoRecordedPlacements,
    /// The simulation failed.
    #[error(transparent)]
    Simulation(SimulationError),
    /// The strategy rejects every job.
    #[error("no job is left to run: {0} (fit=up assigns the next larger box, if one exists)")]
    NoJobAdmitted(String),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<SimulationError> for CellProblem {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Cancelled(stopped) => stopped.into(),
            error => Self::Simulation(error),
        }
    }
}

impl From<TimelineError> for CellProblem {
    fn from(error: TimelineError) -> Self {
        SimulationError::from(error).into()
    }
}
