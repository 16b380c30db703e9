use std::collections::VecDeque;

use super::{QueueOrder, QueuedJob, Scheduler, System};
use crate::workload::JobId;

/// Strict head of queue: the head starts as soon as it fits, nobody overtakes it. First
/// Come First Served in [`QueueOrder::Fifo`]; a priority queue in the other orders.
#[derive(Clone, Debug, Default)]
pub struct Strict {
    order: QueueOrder,
    queue: VecDeque<QueuedJob>,
    /// The job named last.
    named: Option<QueuedJob>,
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
        let at = self.order.position(&self.queue, &job);
        self.queue.insert(at, job);
    }

    fn complete(&mut self, _job: JobId, _now: i64) {
        self.blocked = None;
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let head = self.queue.front().filter(|head| head.size <= system.free)?.id;
        if self.blocked == Some(head) {
            return None;
        }
        self.named = self.queue.pop_front();
        Some(head)
    }

    fn refused(&mut self, job: JobId) {
        self.blocked = Some(job);
        self.queue.extend(self.named.take());
        self.queue.rotate_right(1);
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}
