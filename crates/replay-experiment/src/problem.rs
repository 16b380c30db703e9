use replay_core::naming::NameError;
use replay_core::simulation::{CoupledError, ReplayError, TimelineError};
use replay_core::stop::Stopped;

/// Why a cell could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CellProblem {
    /// The jobs do not fit the machine.
    #[error(transparent)]
    Timeline(TimelineError),
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The log does not tell where its jobs ran.
    #[error("nothing tells where the jobs ran")]
    Nowhere,
    /// The allocator refused.
    #[error(transparent)]
    Replay(ReplayError),
    /// The coupled simulation could not go on.
    #[error(transparent)]
    Coupled(CoupledError),
    /// The strategy turns all jobs away.
    #[error("no job is left, {0} (fit=up gives a job the next larger box, if there is one)")]
    NobodyAdmitted(String),
    /// Somebody wants no more of it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<TimelineError> for CellProblem {
    fn from(error: TimelineError) -> Self {
        match error {
            TimelineError::Stopped(stopped) => stopped.into(),
            error => Self::Timeline(error),
        }
    }
}

impl From<ReplayError> for CellProblem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Stopped(stopped) => stopped.into(),
            error => Self::Replay(error),
        }
    }
}

impl From<CoupledError> for CellProblem {
    fn from(error: CoupledError) -> Self {
        match error {
            CoupledError::Stopped(stopped) => stopped.into(),
            error => Self::Coupled(error),
        }
    }
}
