use std::collections::VecDeque;

use super::{QueueOrder, QueuedJob, Scheduler, System};
use crate::workload::JobId;

/// Strict head of queue: the head starts as soon as it fits, nobody overtakes it. First
/// Come First Served in [`QueueOrder::Fifo`]; a priority queue in the other orders.
#[derive(Clone, Debug, Default)]
pub struct Strict {
    order: QueueOrder,
    queue: VecDeque<QueuedJob>,
}

impl Strict {
    /// An empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, queue: VecDeque::new() }
    }
}

impl Scheduler for Strict {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        let at = self.order.position(&self.queue, &job);
        self.queue.insert(at, job);
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let head = self.queue.front().filter(|head| head.size <= system.free)?.id;
        self.queue.pop_front();
        Some(head)
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}
