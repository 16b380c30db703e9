//! Disciplines that walk the queue in order: strict head of queue, EASY, and out of order.

use super::{Holder, Rank, rank};
use crate::partitions::JobPartitions;
use crate::scheduler::queue::Until;
use crate::scheduler::{
    Promises, QueueOrder, QueuedJob, Reason, Rejection, Reservation, Scheduler, SchedulerEvent,
    Selection, System,
};
use crate::workload::JobId;

/// The rule that decides which jobs may start before a job that does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// No job whose partition shares a node with the partition of the job that does not fit.
    Strict,
    /// Jobs that do not delay a head. The head of a partition is the first job that does not fit, if its partition
    /// shares no node with the partition of an earlier head.
    Easy,
    /// All jobs that fit.
    OutOfOrder,
}

/// A queue that is walked from its first job; the first job that may start is selected.
///
/// Under [`Discipline::Easy`], each head has a shadow time: the first estimated end of a running job at which its
/// partition has enough processors, if no other job starts. A later job of an overlapping partition starts if it ends by
/// the shadow time, or if the partition of the head has enough processors for both at the shadow time. A later job
/// counts there with the processors that it takes, but at most with the number of nodes that the two partitions share.
/// Refusals of the allocator and postponements have the effects that [`Easy`](crate::scheduler::Easy) describes for its
/// head, for each partition.
#[derive(Clone, Debug)]
pub struct Walk {
    discipline: Discipline,
    order: QueueOrder,
    partitions: JobPartitions,
    queue: Vec<Waiting>,
    /// Free processors of each partition.
    free: Vec<u32>,
    /// Running jobs by estimated end, then job.
    running: Vec<Holder>,
    pending: Option<Pending>,
    /// The head of each partition that has missed its reservation.
    missed: Vec<Option<JobId>>,
    /// The last postponed head of each partition, and the end of the postponement.
    postponed: Vec<Option<(JobId, i64)>>,
    /// The first guaranteed start of the head of each partition.
    promised: Vec<Option<(JobId, i64)>>,
    promises: Promises,
}

#[derive(Clone, Debug)]
struct Waiting {
    job: QueuedJob,
    partition: usize,
    rank: Rank,
    refused: Option<Until>,
}

/// The job selected last. It stays in the queue until the next call, because it may be refused.
#[derive(Clone, Copy, Debug)]
struct Pending {
    at: usize,
    job: QueuedJob,
    is_head: bool,
    lateness: Option<i64>,
}

/// A job that does not fit.
struct Head {
    job: JobId,
    partition: usize,
    /// The shadow time, and the processors that remain free in the partition then. `None` if no later job may start in
    /// an overlapping partition.
    shadow: Option<(i64, u32)>,
}

impl Walk {
    /// Creates an empty queue.
    pub fn new(discipline: Discipline, order: QueueOrder, partitions: &JobPartitions) -> Self {
        let set = partitions.set.all();
        Self {
            discipline,
            order,
            free: set.iter().map(crate::partitions::PartitionNodes::size).collect(),
            queue: Vec::new(),
            running: Vec::new(),
            pending: None,
            missed: vec![None; set.len()],
            postponed: vec![None; set.len()],
            promised: vec![None; set.len()],
            promises: Promises::default(),
            partitions: partitions.clone(),
        }
    }

    /// Removes the job that was selected last. The job was placed.
    fn settle(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        self.retry(|until| until != Until::Completion);
        let Waiting { partition, .. } = self.queue.remove(pending.at);
        let id = pending.job.id;
        self.missed[partition].take_if(|job| *job == id);
        self.postponed[partition].take_if(|one| one.0 == id);
        self.promised[partition].take_if(|one| one.0 == id);
        if let Some(lateness) = pending.lateness {
            self.promises.broken += u64::from(lateness > 0);
            self.promises.worst = self.promises.worst.max(lateness);
        }
    }

    fn retry(&mut self, is_over: impl Fn(Until) -> bool) {
        self.queue.iter_mut().for_each(|waiting| _ = waiting.refused.take_if(|one| is_over(*one)));
    }

    /// Returns the shadow time of a head that does not fit now, and the number of processors of its partition that
    /// remain free then; `None` if no job may be started before the head.
    fn shadow(&self, head: &QueuedJob, partition: usize, now: i64) -> Option<(i64, u32)> {
        let within = || self.running.iter().filter(|one| one.counts[partition] > 0);
        if within().any(|one| one.estimated_end == now) {
            return None;
        }
        if self.missed[partition] == Some(head.id) {
            return Some((within().next_back()?.estimated_end, 0));
        }
        let postponed = self.postponed[partition];
        let postponed = postponed.filter(|&(job, until)| job == head.id && until > now);
        let mut free = self.free[partition];
        let mut shadow = postponed.map(|(_, until)| until).filter(|_| free >= head.takes);
        for one in within() {
            if shadow.is_some_and(|shadow| one.estimated_end > shadow) {
                break;
            }
            free += one.counts[partition];
            if shadow.is_none() && free >= head.takes {
                let end = one.estimated_end;
                shadow = Some(postponed.map_or(end, |(_, until)| until.max(end)));
            }
        }
        shadow.map(|shadow| (shadow, free - head.takes))
    }

    /// Returns whether a job may start before a head.
    fn spares(&self, head: &Head, job: &Waiting, now: i64) -> bool {
        let Some((shadow, extra)) = head.shadow else { return false };
        let shared = self.partitions.set.shared(head.partition, job.partition);
        now.saturating_add(job.job.estimate) <= shadow || job.job.takes.min(shared) <= extra
    }

    /// Records the guarantee of a head; only the first guarantee of a job is recorded.
    fn promise(&mut self, head: &Head) {
        let Some((at, _)) = head.shadow else { return };
        let promised = &mut self.promised[head.partition];
        if promised.is_none_or(|(job, _)| job != head.job) {
            *promised = Some((head.job, at));
            self.promises.given += 1;
        }
    }

    /// Walks the queue to the first job that may start. Adds the heads before this job to `heads`.
    fn walk(&self, now: i64, heads: &mut Vec<Head>) -> Option<(usize, Option<Reason>)> {
        let set = &self.partitions.set;
        for (at, waiting) in self.queue.iter().enumerate() {
            let Waiting { job, partition, refused, .. } = waiting;
            let fits = job.size <= self.free[*partition] && refused.is_none();
            let concerns = |head: &&Head| set.overlap(head.partition, *partition);
            let mut before = heads.iter().filter(concerns);
            match (self.discipline, before.next()) {
                (Discipline::OutOfOrder, _) if fits => {
                    return Some((at, Some(Reason::FirstThatFits)));
                }
                (Discipline::OutOfOrder, _) => {}
                (_, None) if fits => {
                    let promised = self.promised[*partition].filter(|one| one.0 == job.id);
                    let promised = promised.map(|(_, at)| at);
                    return Some((at, Some(Reason::First { promised })));
                }
                (Discipline::Strict, _) => {
                    if heads.iter().all(|head| head.partition != *partition) {
                        heads.push(Head { job: job.id, partition: *partition, shadow: None });
                        let is_blocked =
                            |one| heads.iter().any(|head| set.overlap(head.partition, one));
                        if (0..set.all().len()).all(is_blocked) {
                            return None;
                        }
                    }
                }
                (Discipline::Easy, None) => {
                    let shadow = self.shadow(job, *partition, now);
                    heads.push(Head { job: job.id, partition: *partition, shadow });
                }
                (Discipline::Easy, Some(first)) => {
                    if fits
                        && self.spares(first, waiting, now)
                        && before.all(|head| self.spares(head, waiting, now))
                    {
                        let (shadow, extra) = first.shadow.unwrap_or((now, 0));
                        let (head, extra) = (first.job, Some(extra));
                        return Some((at, Some(Reason::Backfilled { head, shadow, extra })));
                    }
                }
            }
        }
        None
    }
}

impl Scheduler for Walk {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.settle();
        let rank = rank(&self.partitions, self.order, &job);
        let at = self.queue.partition_point(|other| other.rank < rank);
        let partition = self.partitions.of(job.id);
        self.queue.insert(at, Waiting { job, partition, rank, refused: None });
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        match event {
            SchedulerEvent::Held { job, now, counts } => {
                let Some(pending) = self.pending.filter(|one| one.job.id == job) else { return };
                self.free.iter_mut().zip(counts).for_each(|(free, held)| *free -= held);
                let estimated_end = now.saturating_add(pending.job.estimate);
                let key = (estimated_end, job);
                let at = self.running.partition_point(|one| (one.estimated_end, one.job) < key);
                self.running.insert(at, Holder { estimated_end, job, counts: counts.into() });
            }
            SchedulerEvent::Completed { job, .. } => {
                self.settle();
                if let Some(at) = self.running.iter().position(|one| one.job == job) {
                    let ended = self.running.remove(at);
                    let counts = ended.counts.iter();
                    self.free.iter_mut().zip(counts).for_each(|(free, held)| *free += held);
                }
                self.retry(|_| true);
            }
            SchedulerEvent::MachineChanged => {
                self.settle();
                self.retry(|_| true);
            }
            // Outages are not supported together with partitions.
            SchedulerEvent::OutagesKnown { .. } | SchedulerEvent::OutagesOverlap { .. } => {}
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.settle();
        let mut heads = Vec::new();
        if system.free == 0 {
            return None;
        }
        let found = self.walk(system.now, &mut heads);
        if self.discipline == Discipline::Easy {
            heads.iter().for_each(|head| self.promise(head));
        }
        let (at, reason) = found?;
        let job = self.queue[at].job;
        let (is_head, lateness) = match reason {
            Some(Reason::First { promised }) => {
                (true, promised.map(|at| system.now.saturating_sub(at)))
            }
            _ => (false, None),
        };
        self.pending = Some(Pending { at, job, is_head, lateness });
        Some(Selection::new(job.id, reason))
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        let Some(pending) = self.pending.take() else { return };
        let Waiting { refused, partition, .. } = &mut self.queue[pending.at];
        *refused = Some(Until::of(rejection));
        if pending.is_head && pending.job.takes <= self.free[*partition] {
            match rejection {
                Rejection::Postponed { until } => self.postponed[*partition] = Some((job, until)),
                _ => self.missed[*partition] = Some(job),
            }
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len() - usize::from(self.pending.is_some())
    }

    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        match self.discipline {
            Discipline::Easy => Some(self),
            Discipline::Strict | Discipline::OutOfOrder => None,
        }
    }
}

/// Numbers of processors are reserved, never places.
impl Reservation for Walk {
    fn reservation_request(&mut self, _system: System<'_>) -> Option<JobId> {
        None
    }

    fn set_reservation(&mut self, _job: JobId, _at: i64) {}

    fn promises(&self) -> Promises {
        self.promises
    }
}
