//! Conservative backfilling on a machine with partitions.

use std::collections::HashMap;

use super::{Rank, rank};
use crate::partitions::JobPartitions;
use crate::scheduler::profile::Profile;
use crate::scheduler::{
    Capabilities, QueueOrder, QueuedJob, Reason, Rejection, Scheduler, SchedulerEvent, Selection,
    System,
};
use crate::workload::JobId;

/// Conservative backfilling with a profile of reservations for each partition.
///
/// A job reserves its processors in its own partition. In each partition that shares nodes with it, the job reserves as
/// many processors as it can take there: at most the number of shared nodes. The reserved start is the earliest time at
/// which all these processors are free for the whole estimate, so that no reservation of another job moves, whichever
/// nodes the allocator chooses. When the job starts, it returns the processors that it reserved but did not take.
#[derive(Clone, Debug)]
pub struct PartitionedConservative {
    order: QueueOrder,
    partitions: JobPartitions,
    queue: Vec<Waiting>,
    /// Free processors of each partition.
    free: Vec<u32>,
    /// Processors of each partition that each running job holds, and the end of its reservation.
    running: HashMap<JobId, (Vec<u32>, i64)>,
    profiles: Vec<Profile>,
    compress: bool,
}

#[derive(Clone, Debug)]
struct Waiting {
    job: QueuedJob,
    rank: Rank,
    /// The reserved start.
    reserved: i64,
    /// Reserved processors of each partition.
    takes: Vec<u32>,
}

impl Waiting {
    /// Returns the reserved duration. For a job with estimate 0, one second is reserved.
    fn duration(&self) -> i64 {
        self.job.estimate.max(1)
    }
}

impl PartitionedConservative {
    /// Creates an empty queue.
    pub fn new(order: QueueOrder, partitions: &JobPartitions) -> Self {
        let sizes = partitions.set.all().iter().map(crate::partitions::PartitionNodes::size);
        Self {
            order,
            queue: Vec::new(),
            running: HashMap::new(),
            profiles: sizes.clone().map(Profile::new).collect(),
            free: sizes.collect(),
            compress: false,
            partitions: partitions.clone(),
        }
    }

    /// Returns the earliest start at or after `now` at which each profile has enough processors for `duration`.
    fn earliest(&mut self, now: i64, takes: &[u32], duration: i64) -> i64 {
        let mut start = now;
        loop {
            let before = start;
            for (profile, &takes) in self.profiles.iter_mut().zip(takes) {
                if takes > 0 {
                    start = profile.earliest(start, takes, duration);
                }
            }
            if start == before {
                return start;
            }
        }
    }

    fn take(&mut self, from: i64, until: i64, counts: &[u32]) {
        for (profile, &count) in
            self.profiles.iter_mut().zip(counts).filter(|(_, count)| **count > 0)
        {
            profile.take(from, until, count);
        }
    }

    fn give(&mut self, from: i64, until: i64, counts: &[u32]) {
        for (profile, &count) in
            self.profiles.iter_mut().zip(counts).filter(|(_, count)| **count > 0)
        {
            profile.give(from, until, count);
        }
    }

    /// Gives every waiting job the earliest reservation possible now, in queue order.
    fn compress(&mut self, now: i64) {
        if !std::mem::take(&mut self.compress) {
            return;
        }
        self.profiles.iter_mut().for_each(|profile| profile.forget_before(now));
        let mut queue = std::mem::take(&mut self.queue);
        for waiting in &mut queue {
            let duration = waiting.duration();
            let from = waiting.reserved;
            self.give(from.max(now), from + duration, &waiting.takes);
            waiting.reserved = self.earliest(now, &waiting.takes, duration);
            self.take(waiting.reserved, waiting.reserved + duration, &waiting.takes);
        }
        self.queue = queue;
    }
}

impl Scheduler for PartitionedConservative {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        self.compress(now);
        let own = self.partitions.of(job.id);
        let set = &self.partitions.set;
        let takes = (0..set.all().len()).map(|other| job.size.min(set.shared(own, other)));
        let rank = rank(&self.partitions, self.order, &job);
        let mut waiting = Waiting { job, rank, reserved: now, takes: takes.collect() };
        let duration = waiting.duration();
        waiting.reserved = self.earliest(now, &waiting.takes, duration);
        self.take(waiting.reserved, waiting.reserved + duration, &waiting.takes);
        let at = self.queue.partition_point(|other| other.rank < rank);
        self.queue.insert(at, waiting);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        match event {
            SchedulerEvent::Held { job, now, counts } => {
                self.free.iter_mut().zip(counts).for_each(|(free, held)| *free -= held);
                let Some((takes, end)) = self.running.get_mut(&job) else { return };
                let left: Vec<u32> = takes
                    .iter()
                    .zip(counts)
                    .map(|(takes, held)| takes.saturating_sub(*held))
                    .collect();
                *takes = counts.to_vec();
                let end = *end;
                if left.iter().any(|&left| left > 0) {
                    self.give(now, end, &left);
                    self.compress = true;
                }
            }
            SchedulerEvent::Completed { job, now } => {
                let Some((counts, end)) = self.running.remove(&job) else { return };
                self.free.iter_mut().zip(&counts).for_each(|(free, held)| *free += held);
                if now < end {
                    self.give(now, end, &counts);
                    self.compress = true;
                }
            }
            // Outages are not supported together with partitions.
            SchedulerEvent::MachineChanged
            | SchedulerEvent::OutagesKnown { .. }
            | SchedulerEvent::OutagesOverlap { .. } => {}
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let now = system.now;
        self.compress(now);
        let due = |waiting: &Waiting| {
            let partition = self.partitions.of(waiting.job.id);
            waiting.reserved <= now && waiting.job.size <= self.free[partition]
        };
        let at = self.queue.iter().position(due)?;
        let waiting = self.queue.remove(at);
        let (duration, reserved) = (waiting.duration(), waiting.reserved);
        if reserved < now {
            // A job with a delayed reservation starts late and holds its processors from now on.
            self.give(now, reserved + duration, &waiting.takes);
            self.take(now, now + duration, &waiting.takes);
        }
        self.running.insert(waiting.job.id, (waiting.takes, now + duration));
        Some(Selection::new(waiting.job.id, Some(Reason::Reserved { at: reserved })))
    }

    fn on_refused(&mut self, job: JobId, _rejection: Rejection) {
        unreachable!(
            "job {} was refused, but conservative backfilling does not support refusals",
            job.0
        );
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { takes_refusals: false, ..Capabilities::default() }
    }

    fn next_wakeup(&self, after: i64) -> Option<i64> {
        self.queue.iter().map(|waiting| waiting.reserved).filter(|&start| start > after).min()
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}
