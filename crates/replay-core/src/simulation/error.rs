//! Why a simulation ends before its time.

use std::error::Error;
use std::sync::Arc;

use super::TimelineError;
use crate::allocator::Refusal;
use crate::cancel::Cancelled;

/// A simulation that cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SimulationError {
    /// There is no schedule.
    #[error(transparent)]
    Timeline(TimelineError),
    /// The allocator refused a job of a timeline, which had counted the processors.
    #[error("the allocator refused job {0}: {1}; such a strategy needs the coupled simulation")]
    Refused(i64, Refusal),
    /// The discipline needs an allocator that keeps its schedule.
    #[error("this scheduler cannot work with an allocator that refuses jobs or rounds up")]
    Scheduler,
    /// The discipline asks what would be, and the allocator has no copies to be asked.
    #[error(
        "this scheduler asks for places on a copy of the machine, which the allocator cannot tell"
    )]
    NoCopies,
    /// The discipline promises places, and the allocator may refuse a job although its place is free.
    #[error(
        "this scheduler promises places, and the allocator may refuse a job although its place is free"
    )]
    NoLastingPlaces,
    /// The allocator folds jobs, and the service has no measure of what they then do.
    #[error("jobs that live as long as their messages take cannot be folded")]
    Folded,
    /// The job can never be placed.
    #[error(
        "job {number}{} needs {size} processors and cannot be placed on the empty machine ({processors} \
         processors): {}",
        match line { 0 => String::new(), line => format!(" (line {line})") },
        match refusal {
            // Enough for what it asks for, not for what the strategy makes of it.
            Refusal::TooFewFree if *size as usize <= *processors => {
                "its size or shape has no place (of strategies with a menu of boxes fit=up takes the next larger one)".to_string()
            }
            refusal => refusal.to_string(),
        }
    )]
    NeverFits {
        /// Job number.
        number: i64,
        /// Line in the trace; 0 if it comes from none.
        line: u32,
        /// Processors it needs.
        size: u32,
        /// Processors of the machine.
        processors: usize,
        /// What the allocator returns.
        refusal: Refusal,
    },
    /// The allocator cannot be made for these jobs.
    #[error("the allocator cannot be made for these jobs: {0}")]
    Allocator(String),
    /// The scheduler broke its contract.
    #[error("the scheduler left {0} jobs waiting for ever")]
    Starved(usize),
    /// So much is out of service to the end that jobs never start.
    #[error("{}: too many processors are out of service to the end", if *.0 == 1 { "1 job waits for ever".to_string() } else { format!("{} jobs wait for ever", .0) })]
    Down(usize),
    /// Not defined where processors are out of service at times.
    #[error("where processors are out of service at times, {0} cannot be simulated")]
    NoOutages(&'static str),
    /// The service cannot go on.
    #[error(transparent)]
    Service(Arc<dyn Error + Send + Sync>),
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl SimulationError {
    /// A stop that a service reports is one.
    pub(super) fn of_service(cause: Box<dyn Error + Send + Sync>) -> Self {
        match cause.downcast::<Cancelled>() {
            Ok(stopped) => Self::Cancelled(*stopped),
            Err(cause) => Self::Service(cause.into()),
        }
    }
}

impl From<TimelineError> for SimulationError {
    fn from(error: TimelineError) -> Self {
        match error {
            TimelineError::Cancelled(stopped) => stopped.into(),
            error => Self::Timeline(error),
        }
    }
}
