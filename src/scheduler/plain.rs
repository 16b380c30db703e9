//! The disciplines as their definitions read, for comparison with those that are fast.

use std::collections::BTreeSet;

use super::{QueueOrder, QueuedJob, Scheduler, System};
use crate::workload::JobId;

/// A queue in order, and what the allocator has refused since the last completion.
#[derive(Clone, Debug, Default)]
struct Queue {
    order: QueueOrder,
    jobs: Vec<QueuedJob>,
    refused: BTreeSet<JobId>,
    named: Option<(usize, QueuedJob)>,
}

impl Queue {
    fn arrive(&mut self, job: QueuedJob) {
        let at = self.order.position(&self.jobs, &job);
        self.jobs.insert(at, job);
    }

    fn may_be_placed(&self, job: &QueuedJob, free: u32) -> bool {
        job.size <= free && !self.refused.contains(&job.id)
    }

    fn name(&mut self, position: usize) -> Option<JobId> {
        let job = self.jobs.remove(position);
        self.named = Some((position, job));
        Some(job.id)
    }

    /// The job named last goes back to its place.
    fn refused(&mut self) -> QueuedJob {
        let (position, job) = self.named.take().expect("a job was named");
        self.jobs.insert(position, job);
        self.refused.insert(job.id);
        job
    }
}

/// [`super::Easy`], asked from the head again after every start.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Queue,
    free: u32,
    missed: Option<JobId>,
    /// The first guarantee of every job that was given one.
    pub guarantees: Vec<(JobId, i64)>,
    /// Jobs that were refused although as many processors as they take were free.
    pub all_missed: BTreeSet<JobId>,
}

impl Easy {
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue { order, ..Queue::default() }, ..Self::default() }
    }
}

impl Scheduler for Easy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queue.arrive(job);
    }

    fn complete(&mut self, _job: JobId, _now: i64) {
        self.queue.refused.clear();
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let System { now, free, running, .. } = system;
        self.free = free;
        let head = *self.queue.jobs.first()?;
        if self.queue.may_be_placed(&head, free) {
            return self.queue.name(0);
        }
        if running.iter().any(|job| job.estimated_end == now) {
            return None;
        }
        let free_at = |time: i64| {
            let ended = running.iter().filter(|job| job.estimated_end <= time);
            free + ended.map(|job| job.size).sum::<u32>()
        };
        let missed = self.missed == Some(head.id);
        let mut ends = running.iter().map(|job| job.estimated_end);
        let shadow =
            if missed { ends.max() } else { ends.find(|&end| free_at(end) >= head.takes) }?;
        if !missed && self.guarantees.iter().all(|(id, _)| *id != head.id) {
            self.guarantees.push((head.id, shadow));
        }
        let may = |job: &QueuedJob| {
            let beside = !missed && free_at(shadow) >= head.takes + job.takes;
            self.queue.may_be_placed(job, free) && (now + job.estimate <= shadow || beside)
        };
        let at = (1..self.queue.jobs.len()).find(|&i| may(&self.queue.jobs[i]))?;
        self.queue.name(at)
    }

    fn refused(&mut self, job: JobId) {
        let is_head = self.queue.named.is_some_and(|(position, _)| position == 0);
        if self.queue.refused().takes <= self.free && is_head {
            self.missed = Some(job);
            self.all_missed.insert(job);
        }
    }

    fn waiting(&self) -> usize {
        self.queue.jobs.len()
    }
}
