use super::{QueueOrder, Scheduler, WhenFull};
use crate::naming::{Kind, kind};

/// What a discipline can be told, and what comes of it.
pub trait SchedulerOptions: Send + Sync {
    /// Whether it looks at the estimates of jobs, to backfill or to order them.
    fn uses_estimates(&self) -> bool;

    /// If nothing is decided, since all jobs start when the log says: what happens to those for
    /// which it has no place.
    fn recorded(&self) -> Option<WhenFull> {
        None
    }

    /// The discipline with an empty queue, for a machine of `processors`.
    fn build(&self, processors: u32) -> Box<dyn Scheduler>;
}

/// `order=`, as every discipline with a queue takes it.
pub(super) fn order() -> Kind<QueueOrder> {
    kind::one_of(&QueueOrder::ALL)
}
