//! Errors of simulations.

use std::error::Error;
use std::sync::Arc;

use super::TimelineError;
use crate::allocator::Refusal;
use crate::cancel::Cancelled;

/// Error that ends a simulation.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SimulationError {
    /// The schedule cannot be computed.
    #[error(transparent)]
    Timeline(TimelineError),
    /// The allocator refused a job of a timeline. A timeline requires an allocator that never refuses a job.
    #[error(
        "the allocator refused job {0}: {1}; a strategy that refuses jobs needs the coupled simulation"
    )]
    Refused(i64, Refusal),
    /// The scheduler requires an allocator that does not change the schedule.
    #[error("this scheduler does not support allocators that refuse jobs or round their sizes up")]
    Scheduler,
    /// The scheduler reserves places, but the allocator cannot be copied, so no place can be searched for.
    #[error(
        "this scheduler searches for reserved places on a copy of the allocator, but the allocator cannot be copied"
    )]
    NoCopies,
    /// The scheduler reserves places, but the allocator may refuse a job although its place is free.
    #[error(
        "this scheduler reserves places, but the allocator may refuse a job although the place reserved for the job is free"
    )]
    NoLastingPlaces,
    /// The allocator folds jobs, and the service does not support folded jobs.
    #[error("jobs whose run time depends on their messages cannot be folded")]
    Folded,
    /// A job can never be placed.
    #[error(
        "job {number}{} needs {size} processors and cannot be placed on the empty machine ({processors} \
         processors): {}",
        match line { 0 => String::new(), line => format!(" (line {line})") },
        match refusal {
            // The request fits into the machine, but the size to which the strategy rounds it up does not.
            Refusal::TooFewFree if *size as usize <= *processors => {
                "the strategy has no place for this size or shape (with a menu of boxes, fit=up uses the next larger box)".to_string()
            }
            refusal => refusal.to_string(),
        }
    )]
    NeverFits {
        /// Job number.
        number: i64,
        /// Line in the trace; 0 if the job is not from a trace.
        line: u32,
        /// Number of processors that the job needs.
        size: u32,
        /// Number of processors of the machine.
        processors: usize,
        /// The refusal of the allocator.
        refusal: Refusal,
    },
    /// The allocator does not support these jobs.
    #[error("the allocator does not support these jobs: {0}")]
    Allocator(String),
    /// The scheduler violated its contract and left jobs in the queue. The value is the number of these jobs.
    #[error("{0} jobs never started")]
    Starved(usize),
    /// Some jobs can never start, because too many processors remain out of service. The value is the number of these
    /// jobs.
    #[error("{} never started: too many processors remain out of service", if *.0 == 1 { "1 job".to_string() } else { format!("{} jobs", .0) })]
    Down(usize),
    /// A part of the simulation does not support outages; the value names this part.
    #[error("outages are not supported by {0}")]
    NoOutages(&'static str),
    /// The service failed.
    #[error(transparent)]
    Service(Arc<dyn Error + Send + Sync>),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl SimulationError {
    /// Converts an error of a service, including cancellation.
    pub(super) fn of_service(cause: Box<dyn Error + Send + Sync>) -> Self {
        match cause.downcast::<Cancelled>() {
            Ok(cancelled) => Self::Cancelled(*cancelled),
            Err(cause) => Self::Service(cause.into()),
        }
    }
}

impl From<TimelineError> for SimulationError {
    fn from(error: TimelineError) -> Self {
        match error {
            TimelineError::Cancelled(cancelled) => cancelled.into(),
            error => Self::Timeline(error),
        }
    }
}
