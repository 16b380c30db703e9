use std::collections::BTreeSet;

use super::options::order;
use super::{QueueOrder, QueuedJob, Scheduler, SchedulerOptions, System};
use crate::naming::{Entry, Table};
use crate::workload::JobId;

/// Out of order (OO in Bani-Mohammad 2008, section 4.5): the queue is walked once from its
/// head and every job that can be placed starts.
///
/// What failed is not tried again before a completion, so that the walk goes on where it
/// stood and only new arrivals are looked at. With allocators that look at every place
/// nothing that failed could succeed earlier; Frame Sliding, whose frames begin at the first
/// free processor, may find a place after another job's start, and takes it then at the next
/// completion.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrder {
    order: QueueOrder,
    queue: Vec<QueuedJob>,
    /// Jobs before this one have been passed over since the last completion.
    position: usize,
    /// Those that were refused since then: an arrival ahead of them in the order must not
    /// have them named again.
    refused: BTreeSet<JobId>,
    /// The job named last.
    named: Option<QueuedJob>,
}

impl OutOfOrder {
    /// An empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, ..Self::default() }
    }
}

impl Scheduler for OutOfOrder {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        let at = self.order.position(&self.queue, &job);
        self.queue.insert(at, job);
        self.position = self.position.min(at);
    }

    fn complete(&mut self, _job: JobId, _now: i64) {
        self.position = 0;
        self.refused.clear();
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let fits = |job: &QueuedJob| job.size <= system.free && !self.refused.contains(&job.id);
        let ahead = self.queue[self.position..].iter().position(fits);
        self.position = ahead.map_or(self.queue.len(), |ahead| self.position + ahead);
        ahead?;
        let job = self.queue.remove(self.position);
        self.named = Some(job);
        Some(job.id)
    }

    fn refused(&mut self, job: JobId) {
        self.refused.insert(job);
        if let Some(job) = self.named.take() {
            self.queue.insert(self.position, job);
            self.position += 1;
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// What it can be told.
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
}

/// `out-of-order`.
pub(super) fn table() -> Table<OutOfOrderOptions> {
    let about = "Out of order: at every arrival and completion the queue is walked once from its head, and \
                 every job that can be placed starts. Nothing is reserved: large jobs may starve.";
    let entry = Entry::new("out-of-order", OutOfOrderOptions::default())
        .about(about)
        .source("Bani-Mohammad 2008, section 4.5")
        .aliases(&["oo"])
        .param("order", order(), "order of the queue", |o| &mut o.order);
    Table::new("scheduler", [entry])
}
