use super::{QueueOrder, Scheduler, WhenFull};
use crate::naming::{Kind, kind};

/// Options of a discipline, from which a scheduler is built.
pub trait SchedulerOptions: Send + Sync {
    /// Returns whether the discipline uses estimates of jobs, for backfilling or for the order of the queue.
    fn uses_estimates(&self) -> bool;

    /// Returns the treatment of jobs for which too few processors were free, if the discipline
    /// replays recorded starts; otherwise `None`.
    fn recorded(&self) -> Option<WhenFull> {
        None
    }

    /// Builds the scheduler with an empty queue, for a machine of `processors`.
    fn build(&self, processors: u32) -> Box<dyn Scheduler>;
}

/// The values of the parameter `order` of disciplines with a queue.
pub(super) fn order() -> Kind<QueueOrder> {
    kind::one_of(&QueueOrder::ALL)
}
