use super::{
    Capabilities, QueuedJob, Rejection, Reservation, Scheduler, SchedulerEvent, Selection, System,
};
use crate::workload::JobId;

/// A scheduler that wraps another scheduler. Methods that are not overridden are forwarded to the
/// [inner](Self::inner) scheduler.
pub trait Decorator: Send {
    /// Returns the wrapped scheduler.
    fn inner(&self) -> &dyn Scheduler;

    /// Returns a mutable reference to the wrapped scheduler.
    fn inner_mut(&mut self) -> &mut dyn Scheduler;

    /// See [`Scheduler::arrive`].
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        self.inner_mut().arrive(job, now);
    }

    /// See [`Scheduler::on_event`].
    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        self.inner_mut().on_event(event);
    }

    /// See [`Scheduler::next_job`].
    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.inner_mut().next_job(system)
    }

    /// See [`Scheduler::on_refused`].
    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        self.inner_mut().on_refused(job, rejection);
    }

    /// See [`Scheduler::waiting`].
    fn waiting(&self) -> usize {
        self.inner().waiting()
    }

    /// See [`Scheduler::next_wakeup`].
    fn next_wakeup(&self, after: i64) -> Option<i64> {
        self.inner().next_wakeup(after)
    }

    /// See [`Scheduler::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    /// See [`Scheduler::reservation`].
    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        self.inner_mut().reservation()
    }
}

// Methods that are later added to `Scheduler` must be forwarded here.
#[deny(clippy::missing_trait_methods)]
impl<D: Decorator> Scheduler for D {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        Decorator::arrive(self, job, now);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        Decorator::on_event(self, event);
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        Decorator::next_job(self, system)
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        Decorator::on_refused(self, job, rejection);
    }

    fn waiting(&self) -> usize {
        Decorator::waiting(self)
    }

    fn next_wakeup(&self, after: i64) -> Option<i64> {
        Decorator::next_wakeup(self, after)
    }

    fn capabilities(&self) -> Capabilities {
        Decorator::capabilities(self)
    }

    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        Decorator::reservation(self)
    }
}
