use super::partitioned::{Discipline, Walk};
use super::queue::{Bounds, Place, Queue, Until};
use super::{
    QueueOrder, QueuedJob, Reason, Rejection, Scheduler, SchedulerEvent, SchedulerOptions,
    Selection, System,
};
use crate::naming::{Entry, Table};
use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// Out of order (OO in Bani-Mohammad 2008, section 4.5): the queue is searched from its head, and
/// every job that can be placed starts.
///
/// If refusals [last](crate::allocator::Capabilities::refusals_last), a refused job is not tried again before a job
/// completes, so only new arrivals are considered. If refusals do not last, the allocator may find a place after
/// another job has started, so the search restarts at the head after every start. An example of an allocator with such
/// refusals is Frame Sliding, because its frames begin at the first free processor.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrder {
    queue: Queue,
    /// The job selected last. The job stays in the queue until the next call, because it may be
    /// refused.
    pending: Option<Place>,
}

impl OutOfOrder {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue::new(order), pending: None }
    }

    /// Removes the job that was selected last. The job was placed.
    fn settle(&mut self) {
        if let Some(place) = self.pending.take() {
            self.queue.retry(Until::Change);
            self.queue.remove(place);
        }
    }

    /// Makes all refused jobs available again.
    fn retry_all(&mut self) {
        self.queue.retry(Until::Completion);
        self.queue.retry(Until::Change);
    }
}

impl Scheduler for OutOfOrder {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.settle();
        self.queue.arrive(job);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        if let SchedulerEvent::Completed { .. } | SchedulerEvent::MachineChanged = event {
            self.settle();
            self.retry_all();
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.settle();
        let bounds = Bounds { size: system.free, estimate: i64::MAX, extra: 0 };
        let (place, waiting) = self.queue.first(&bounds)?;
        self.pending = Some(place);
        Some(Selection::new(waiting.job.id, Some(Reason::FirstThatFits)))
    }

    fn on_refused(&mut self, _job: JobId, rejection: Rejection) {
        if let Some(place) = self.pending.take() {
            self.queue.refuse(place, Until::of(rejection));
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len() - usize::from(self.pending.is_some())
    }
}

/// Options of `out-of-order`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutOfOrderOptions {
    /// The order of the queue.
    pub order: QueueOrder,
}

impl SchedulerOptions for OutOfOrderOptions {
    fn uses_estimates(&self) -> bool {
        self.order.uses_estimates()
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(OutOfOrder::new(self.order))
    }

    fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(Walk::new(Discipline::OutOfOrder, self.order, partitions)))
    }
}

/// The naming table of `out-of-order`.
pub(super) fn table() -> Table<OutOfOrderOptions> {
    let about = "Out of order: at every arrival and completion the queue is searched from its head, and \
                 every job that can be placed starts. Nothing is reserved: large jobs may starve.";
    let entry = Entry::new("out-of-order", OutOfOrderOptions::default())
        .about(about)
        .source("Bani-Mohammad 2008, section 4.5")
        .aliases(&["oo"])
        .param("order", QueueOrder::kind(), "order of the queue", |o| &mut o.order);
    Table::new("scheduler", [entry])
}
