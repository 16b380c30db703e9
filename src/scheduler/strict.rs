use std::collections::BTreeMap;

use super::options::order;
use super::{QueueOrder, QueuedJob, Reason, Scheduler, SchedulerOptions, System};
use crate::naming::{Entry, Table};
use crate::workload::JobId;

/// Strict head of queue: the head starts as soon as it fits, nobody overtakes it. First
/// Come First Served in [`QueueOrder::Fifo`]; a priority queue in the other orders.
#[derive(Clone, Debug, Default)]
pub struct Strict {
    order: QueueOrder,
    /// By rank, equals in order of arrival.
    queue: BTreeMap<(i128, u64), QueuedJob>,
    /// The job named last.
    named: Option<((i128, u64), QueuedJob)>,
    /// The job the allocator could not place since the last completion.
    blocked: Option<JobId>,
}

impl Strict {
    /// An empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, ..Self::default() }
    }
}

impl Scheduler for Strict {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queue.insert((self.order.rank(&job), job.turn), job);
    }

    fn complete(&mut self, _job: JobId, _now: i64) {
        self.blocked = None;
    }

    fn changed(&mut self, _now: i64) {
        self.blocked = None;
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let head = self.queue.first_entry()?;
        let id = head.get().id;
        if head.get().size > system.free || self.blocked == Some(id) {
            return None;
        }
        self.named = Some(head.remove_entry());
        Some(id)
    }

    fn refused(&mut self, job: JobId) {
        self.blocked = Some(job);
        self.queue.extend(self.named.take());
    }

    fn reason(&self) -> Option<Reason> {
        Some(Reason::First { promised: None })
    }

    fn forgets_when_empty(&self) -> bool {
        true
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// What it can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StrictOptions {
    /// The order of the queue.
    pub order: QueueOrder,
}

impl SchedulerOptions for StrictOptions {
    fn uses_estimates(&self) -> bool {
        self.order.uses_estimates()
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Strict::new(self.order))
    }
}

/// `fcfs`, and `priority` with a name for each order.
pub(super) fn table() -> Table<StrictOptions> {
    const WORDS: [(&str, &str); 14] = [
        ("largest", "largest"),
        ("smallest", "smallest"),
        ("longest", "longest"),
        ("shortest", "shortest"),
        ("ssd", "shortest"),
        ("sjf", "shortest"),
        ("least-work", "least-work"),
        ("largest-first", "largest"),
        ("smallest-first", "smallest"),
        ("longest-first", "longest"),
        ("ljf", "longest"),
        ("shortest-first", "shortest"),
        ("shortest-job-first", "shortest"),
        ("least-work-first", "least-work"),
    ];
    let fcfs = Entry::new("fcfs", StrictOptions::default())
        .about("First Come First Served: strictly the head of the queue, no backfilling.");
    let about = "Strict head of a priority queue, ties in arrival order; priority[order=largest] may be \
                 written largest, and so on. ssd (shortest service demand) and sjf are shortest.";
    let who = "who stands first: most or fewest processors, longest or shortest estimate, least processors \
               times estimate";
    let priority = Entry::new("priority", StrictOptions::default())
        .about(about)
        .short_for("order", &WORDS)
        .param("order", order(), who, |o| &mut o.order);
    Table::new("scheduler", [fcfs, priority])
}
