use super::profile::Profile;
use super::registry::{SchedulerOptions, order};
use super::{QueueOrder, QueuedJob, Scheduler, System};
use crate::naming::{Entry, Table};
use crate::workload::JobId;

/// Conservative backfilling (Mu'alem and Feitelson 2001): every job has a reservation.
///
/// At its arrival a job reserves the earliest time at which enough processors are free
/// for its whole estimate, given the estimates of the running jobs and all reservations
/// made before. When a job completes before its estimated end, the schedule is
/// *compressed*: each waiting job in queue order gives up its reservation and takes the
/// earliest one it can have now, which is never later. A job starts when its reservation
/// is due. A running job that outlives its estimate (possible only under cleaning policies that keep
/// such estimates) can make reservations slip.
#[derive(Clone, Debug)]
pub struct Conservative {
    order: QueueOrder,
    queue: Vec<QueuedJob>,
    /// Reserved starts, parallel to `queue`.
    reserved: Vec<i64>,
    running: Vec<Held>,
    profile: Profile,
    compress: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    id: JobId,
    until: i64,
    size: u32,
}

impl Conservative {
    /// An empty queue in the given order for a machine of `processors`.
    pub fn new(order: QueueOrder, processors: u32) -> Self {
        Self {
            order,
            queue: Vec::new(),
            reserved: Vec::new(),
            running: Vec::new(),
            profile: Profile::new(processors),
            compress: false,
        }
    }

    /// A job without an estimate still needs its processors for an instant.
    fn duration(job: &QueuedJob) -> i64 {
        job.estimate.max(1)
    }

    fn compress(&mut self, now: i64) {
        for (job, start) in self.queue.iter().zip(&mut self.reserved) {
            let duration = Self::duration(job);
            self.profile.take(*start, *start + duration, -i64::from(job.size));
            *start = self.profile.earliest(now, job.size, duration);
            self.profile.take(*start, *start + duration, i64::from(job.size));
        }
    }
}

impl Scheduler for Conservative {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        if self.compress {
            // The reservation is made in the schedule as it stands now.
            self.compress(now);
            self.compress = false;
        }
        let duration = Self::duration(&job);
        let start = self.profile.earliest(now, job.size, duration);
        self.profile.take(start, start + duration, i64::from(job.size));
        let at = self.order.position(&self.queue, &job);
        self.queue.insert(at, job);
        self.reserved.insert(at, start);
    }

    fn complete(&mut self, job: JobId, now: i64) {
        if let Some(at) = self.running.iter().position(|held| held.id == job) {
            let held = self.running.swap_remove(at);
            self.profile.take(now, held.until, -i64::from(held.size));
            self.compress |= now < held.until;
        }
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let now = system.now;
        if self.compress {
            self.profile.forget_before(now);
            self.compress(now);
            self.compress = false;
        }
        let due = |i: &usize| self.reserved[*i] <= now && self.queue[*i].size <= system.free;
        let at = (0..self.queue.len()).find(due)?;
        let (job, start) = (self.queue.remove(at), self.reserved.remove(at));
        // A reservation that slipped is served late: it holds its processors from now.
        let duration = Self::duration(&job);
        self.profile.take(start, start + duration, -i64::from(job.size));
        self.profile.take(now, now + duration, i64::from(job.size));
        self.running.push(Held { id: job.id, until: now + duration, size: job.size });
        Some(job.id)
    }

    fn refused(&mut self, job: JobId) {
        unreachable!("job {} was refused, but conservative backfilling takes no refusals", job.0);
    }

    /// Reservations are made for the numbers of processors asked for; a job that cannot be
    /// placed when its reservation is due, or takes more, would break those of all others.
    fn takes_refusals(&self) -> bool {
        false
    }

    /// The earliest reservation to come: compression can leave it at an instant when no job
    /// ends. One that has slipped waits for a completion, others must not wait with it.
    fn due(&self, after: i64) -> Option<i64> {
        self.reserved.iter().copied().filter(|&start| start > after).min()
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// What it can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConservativeOptions {
    /// The order of the queue.
    pub order: QueueOrder,
}

impl SchedulerOptions for ConservativeOptions {
    fn uses_estimates(&self) -> bool {
        true
    }

    fn build(&self, processors: u32) -> Box<dyn Scheduler> {
        Box::new(Conservative::new(self.order, processors))
    }
}

/// `conservative`.
pub(super) fn table() -> Table<ConservativeOptions> {
    let about = "Conservative backfilling: every job reserves at its arrival the earliest start for its whole \
                 estimate; when a job completes early, each waiting job in queue order takes the earliest \
                 reservation it can have now (compression); a job starts when its reservation is due. Only \
                 for allocators that never refuse and never round up.";
    let entry = Entry::new("conservative", ConservativeOptions::default())
        .about(about)
        .source("Mu'alem, Feitelson 2001")
        .aliases(&["cons"])
        .param("order", order(), "order in which reservations are compressed", |o| &mut o.order);
    Table::new("scheduler", [entry])
}
