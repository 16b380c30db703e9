use crate::compatibility::Incompatible;
use replay_core::cancel::Cancelled;
use replay_core::naming::NameError;
use replay_core::simulation::{SimulationError, TimelineError};

/// Why a cell could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CellProblem {
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// Strategies, machine and outages do not go together.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
    /// The log does not tell where its jobs ran.
    #[error("nothing tells where the jobs ran")]
    Nowhere,
    /// The simulation cannot go on.
    #[error(transparent)]
    Simulation(SimulationError),
    /// The strategy turns all jobs away.
    #[error("no job is left, {0} (fit=up gives a job the next larger box, if there is one)")]
    NobodyAdmitted(String),
    /// Cancelled.
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
