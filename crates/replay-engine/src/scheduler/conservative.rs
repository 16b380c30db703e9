use std::collections::HashMap;

use super::partitioned::PartitionedConservative;
use super::profile::{Chance, Profile};
use super::{
    Capabilities, Outage, QueueOrder, QueuedJob, Reason, Rejection, Scheduler, SchedulerEvent,
    SchedulerOptions, Selection, System,
};
use crate::naming::{Entry, Table};
use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// Conservative backfilling (Mu'alem and Feitelson 2001): every job has a reservation.
///
/// At its arrival, a job reserves the earliest time at which enough processors are free for its whole estimate. The
/// reserved time takes the estimates of the running jobs and all previous reservations into account. When a job
/// completes before its estimated end, the schedule is *compressed*: in queue order, each waiting job replaces its
/// reservation by the earliest reservation that is possible now. The new reservation is never later than the old one. A
/// job starts when its reservation is due. A running job that exceeds its estimate can delay the reservations of other
/// jobs. Jobs exceed their estimates only under cleaning policies that keep estimates below the run time.
///
/// # Cost
///
/// The profile of reservations is kept from event to event. A compression passes over all waiting jobs, but it searches
/// an earlier reservation only for jobs that may have one, because a part of the profile that concerns them was raised
/// since the previous compression. For all other jobs, a compression costs a few nanoseconds.
///
/// The number of reservations that move is itself proportional to the square of the queue if most jobs end early: in a
/// queue of 2,500 to 10,000 jobs that arrive at once, each early end moves 3 to 4 % of the reservations, most of them by
/// a few seconds. Later starts depend on each of these moves.
#[derive(Clone, Debug)]
pub struct Conservative {
    order: QueueOrder,
    queue: Vec<Waiting>,
    /// Size and end of the reservation of each running job.
    running: HashMap<JobId, (u32, i64)>,
    /// Future outages of processors that running jobs hold.
    held_outages: HashMap<JobId, Vec<Outage>>,
    profile: Profile,
    compress: bool,
    /// Whether a job may have started on processors that were reserved for other jobs.
    overbooked: bool,
    /// The number of the round in which the scheduler was last called, and the queue position that this call reached.
    searched: (u64, usize),
    /// A lower bound on the earliest reservation.
    earliest: i64,
    /// An upper bound on the latest reservation.
    latest: i64,
}

/// Minimum number of waiting jobs for which raises of the profile are tracked. In a shorter queue, a compression visits
/// every job.
const TRACKED_LENGTH: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: QueuedJob,
    /// The reserved start.
    reserved: i64,
}

impl Conservative {
    /// Creates an empty queue in the given order, for a machine with `processors` processors.
    pub fn new(order: QueueOrder, processors: u32) -> Self {
        Self {
            order,
            queue: Vec::new(),
            running: HashMap::new(),
            held_outages: HashMap::new(),
            profile: Profile::new(processors),
            compress: false,
            overbooked: false,
            searched: (0, 0),
            earliest: i64::MAX,
            latest: i64::MIN,
        }
    }

    /// Returns the reserved duration. For a job with estimate 0, one second is reserved.
    fn duration(job: &QueuedJob) -> i64 {
        job.estimate.max(1)
    }

    /// Gives every waiting job the earliest reservation possible now.
    fn compress(&mut self, now: i64) {
        if !std::mem::take(&mut self.compress) {
            return;
        }
        let profile = &mut self.profile;
        profile.forget_before(now);
        self.earliest = i64::MAX;
        self.overbooked = self.overbooked && profile.overbooked(now, i64::MAX);
        let tracked = if self.queue.len() < TRACKED_LENGTH {
            profile.stop_tracking();
            false
        } else {
            profile.begin_pass(now, self.latest)
        };
        let all = !tracked || self.overbooked;
        self.latest = i64::MIN;
        for Waiting { job, reserved } in &mut self.queue {
            let (size, duration) = (job.size, Self::duration(job));
            let chance = if all || *reserved < now {
                Chance::ANY
            } else {
                profile.chance(size, duration, *reserved)
            };
            if !chance.any() {
                self.earliest = self.earliest.min(*reserved);
                self.latest = self.latest.max(*reserved);
                continue;
            }
            let (from, until) = (*reserved, *reserved + duration);
            let slipped = from < now || self.overbooked && profile.overbooked(from, until);
            let start = if slipped {
                profile.give(from.max(now), until, size);
                let start = profile.earliest(now, size, duration);
                profile.take(start, start + duration, size);
                start
            } else {
                let start = profile.earlier(now, size, duration, from, chance);
                // The profile does not change where the old and the new reservation overlap.
                profile.take(start, from.min(start + duration), size);
                profile.give(from.max(start + duration), until, size);
                start
            };
            *reserved = start;
            self.earliest = self.earliest.min(start);
            self.latest = self.latest.max(start);
        }
        profile.end_pass();
    }

    /// Frees the rest of a completed job's reservation.
    fn complete(&mut self, job: JobId, now: i64) {
        if let Some((size, until)) = self.running.remove(&job) {
            for held in self.held_outages.remove(&job).unwrap_or_default() {
                if held.from.max(now) < held.until.min(until) {
                    self.profile.take(held.from.max(now), held.until.min(until), held.processors);
                }
            }
            self.profile.give(now, until, size);
            self.compress |= now < until;
        }
    }
}

impl Scheduler for Conservative {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        // The reservation of the new job must be made in the compressed schedule.
        self.compress(now);
        let duration = Self::duration(&job);
        let reserved = self.profile.earliest(now, job.size, duration);
        self.profile.take(reserved, reserved + duration, job.size);
        let at = self.order.position(&self.queue, |waiting| &waiting.job, &job);
        self.queue.insert(at, Waiting { job, reserved });
        self.earliest = self.earliest.min(reserved);
        self.latest = self.latest.max(reserved);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        match event {
            SchedulerEvent::Completed { job, now } => self.complete(job, now),
            // An outage holds processors like a job with a known start and a known end.
            SchedulerEvent::OutagesKnown { outages, .. } => {
                for &Outage { from, until, processors } in outages {
                    self.profile.take(from, until, processors);
                }
            }
            // Processors that both an outage and the job hold were subtracted twice, so they are added back once.
            SchedulerEvent::OutagesOverlap { job, outages } => {
                let Some(&(_, end)) = self.running.get(&job) else { return };
                for &Outage { from, until, processors } in &outages {
                    if from < until.min(end) {
                        self.profile.give(from, until.min(end), processors);
                        self.compress = true;
                    }
                }
                self.held_outages.insert(job, outages);
            }
            SchedulerEvent::MachineChanged | SchedulerEvent::Held { .. } => {}
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let System { now, free, round, .. } = system;
        self.compress(now);
        if self.earliest > now {
            return None;
        }
        // The jobs that were skipped earlier in this round cannot start now, because processors are not freed within a
        // round.
        let from = if self.searched.0 == round { self.searched.1 } else { 0 };
        let due = |waiting: &Waiting| waiting.reserved <= now && waiting.job.size <= free;
        let ahead = self.queue[from..].iter().position(due);
        self.searched = (round, ahead.map_or(self.queue.len(), |ahead| from + ahead));
        let Some(ahead) = ahead else {
            self.earliest = self.queue.iter().map(|waiting| waiting.reserved).min()?;
            return None;
        };
        let Waiting { job, reserved } = self.queue.remove(from + ahead);
        let duration = Self::duration(&job);
        if reserved < now {
            // A job with a delayed reservation starts late and holds its processors from now on.
            self.profile.give(now, reserved + duration, job.size);
            self.profile.take(now, now + duration, job.size);
            self.overbooked |= self.profile.overbooked(now, now + duration);
        }
        self.running.insert(job.id, (job.size, now + duration));
        Some(Selection::new(job.id, Some(Reason::Reserved { at: reserved })))
    }

    fn on_refused(&mut self, job: JobId, _rejection: Rejection) {
        unreachable!(
            "job {} was refused, but conservative backfilling does not support refusals",
            job.0
        );
    }

    /// Reservations are made for exactly the requested numbers of processors. A job that cannot be placed when its
    /// reservation is due, or that gets more processors than requested, would invalidate the reservations of other
    /// jobs.
    fn capabilities(&self) -> Capabilities {
        Capabilities { takes_refusals: false, ..Capabilities::default() }
    }

    /// Returns the time of the next reservation. The scheduler must be called at this time, because compression can
    /// move a reservation to a time at which no job ends. A delayed reservation waits for a completion and must not
    /// delay other reservations.
    fn next_wakeup(&self, after: i64) -> Option<i64> {
        if self.earliest > after {
            return (self.earliest < i64::MAX).then_some(self.earliest);
        }
        let starts = self.queue.iter().map(|waiting| waiting.reserved);
        starts.filter(|&start| start > after).min()
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// Options of `conservative`.
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

    fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(PartitionedConservative::new(self.order, partitions)))
    }
}

/// The naming table of `conservative`.
pub(super) fn table() -> Table<ConservativeOptions> {
    let about = "Conservative backfilling: every job reserves at its arrival the earliest start for its whole \
                 estimate; when a job completes early, each waiting job in queue order takes the earliest \
                 reservation possible now (compression); a job starts when its reservation is due. This scheduler \
                 supports only allocators that never refuse, round up or fold jobs.";
    let entry = Entry::new("conservative", ConservativeOptions::default())
        .about(about)
        .source("Mu'alem, Feitelson 2001")
        .aliases(&["cons"])
        .param("order", QueueOrder::kind(), "order in which reservations are compressed", |o| {
            &mut o.order
        });
    Table::new("scheduler", [entry])
}
