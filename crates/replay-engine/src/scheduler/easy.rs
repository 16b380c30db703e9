mod free_profile;

use self::free_profile::FreeProfile;
use super::partitioned::{Discipline, Walk};
use super::queue::{Bounds, Place, Queue, Until};
use super::{
    Capabilities, Outage, Promises, QueueOrder, QueuedJob, Reason, Rejection, Reservation,
    Scheduler, SchedulerEvent, SchedulerOptions, Selection, System,
};
use std::collections::BTreeMap;

use crate::naming::{Entry, Table, kind};
use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// EASY (aggressive) backfilling: Lifka 1995, Mu'alem and Feitelson 2001.
///
/// The scheduler begins at the head of the queue. After each job that the scheduler starts, it begins at the head
/// again:
///
/// 1. If the head fits now, it starts.
/// 2. If the head does not fit now, it gets a guarantee, the *shadow time*: the running jobs are visited in the order
///    of their estimated ends, and their processors are added to the free processors until the head fits. The shadow
///    time is the estimated end at which the head fits.
/// 3. Among the jobs behind the head, in queue order, the scheduler starts the first job that fits now and does not
///    delay the head. A job does not delay the head if its estimated end is no later than the shadow time. A longer job
///    does not delay the head if the head fits alongside this job at the shadow time. A running job whose estimated end
///    is no later than the shadow time has ended by the shadow time.
///
/// Nothing is backfilled while a running job's estimated end is the current time, because the completion of that job is
/// about to be processed.
///
/// # Allocators that give more processors than requested
///
/// A guarantee counts the processors that the allocator assigns, including processors beyond the requested number. A
/// running job counts with all processors that it holds ([`Running::size`](super::Running::size)). A waiting job counts
/// with the maximum number of processors that it can be given ([`QueuedJob::takes`]). The head fits at the shadow time,
/// or alongside a backfilled job, if the maximum number of processors that the head can be given is available. Whether
/// a job fits *now* is decided by the allocator, which is called as soon as the requested number of processors is free.
///
/// # Allocators that refuse
///
/// An allocator that needs processors in a certain shape may refuse the head although enough processors are free. A
/// head that was refused in this way has missed its reservation and gets a new shadow time: the last estimated end of
/// all running jobs. At the new shadow time, no job fits alongside the head. Until the head starts, jobs are backfilled
/// only if they end by the new shadow time, so the shadow time never increases. The head starts on an empty machine at
/// the latest. The head is tried again after every completion. If the head is refused while fewer processors are free
/// than the head takes, the head has not missed its reservation. A start ends the miss: a job that an outage interrupts
/// returns to the queue like a new arrival. If a job was selected for backfilling and refused, it is skipped until a
/// job completes. If refusals [do not last](crate::allocator::Capabilities::refusals_last), the head
/// and the skipped jobs are also tried again after every start.
///
/// # Allocators that postpone jobs
///
/// An allocator may [postpone](crate::allocator::Refusal::Postponed) the head, although enough processors are free, in
/// order to wait for a better place. A postponed head has not missed its reservation. Its shadow time is the first time,
/// not before the end of the postponement, at which it fits.
///
/// # Reserved places
///
/// With [`Guard::Place`], the shadow time is the earliest time at which the allocator finds a place for the head on a
/// copy of the machine. On the copy, running jobs end at their estimated ends. A later job starts if it ends by the
/// shadow time or leaves the place of the head free. A job that would take processors of the reserved place is skipped
/// until another job starts or another place is reserved. If the allocator's choice does not depend only on the free
/// processors, a skipped job is also tried again when time has passed, because the allocator may then choose other
/// processors. For allocators that never refuse a job, all guards give the same schedule. [`Guard::Place`] does not
/// support allocators with refusals that do not last, because such an allocator may refuse the head at the guaranteed
/// time although the place of the head is free.
///
/// For the rules of trees and blocks, [`Guard::Auto`] works like [`Guard::Place`], with one exception. A later job may
/// also take processors of the reserved place if the rule finds another place for the head at the shadow time. For the
/// search for another place, the processors of the later job are removed from the copy of the machine. If a rule never
/// refuses a job, the search for another place is equivalent to the count of processors in step 3. The rules of trees
/// and blocks may refuse the head at its shadow time if more nodes are free than on the copy; the head then starts
/// later than guaranteed.
///
/// # Processors out of service
///
/// Outages are treated as jobs that hold a number of processors from a known start to a known end. With outages, a job
/// fits now if enough processors are free for its whole estimate, given the outages and the running jobs. Outages that
/// begin after the estimated end of the job do not matter. The shadow
/// time is the first time from which the head fits for its whole estimate. A later job starts if it fits now and either
/// ends by the shadow time or leaves enough processors for the head.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Queue,
    guard: Guard,
    /// The reserved place of a head: the job and the time at which the place is free.
    reserved: Option<(JobId, i64)>,
    /// The first guaranteed start of a head.
    promised: Option<(JobId, i64)>,
    promises: Promises,
    guarantee: Option<Guarantee>,
    pending: Option<Pending>,
    /// The time of the last call of [`next_job`](Scheduler::next_job) or
    /// [`reservation_request`](Reservation::reservation_request).
    called_at: Option<i64>,
    /// The head that has missed its reservation.
    missed: Option<JobId>,
    /// The head that the allocator postponed last, and the end of the postponement.
    postponed: Option<(JobId, i64)>,
    /// Future outages of the machine.
    outages: Vec<Outage>,
    processors: u32,
    /// Future outages of processors that running jobs hold.
    held_outages: BTreeMap<JobId, Vec<Outage>>,
}

/// The guarantee that prevents later jobs from delaying the head of the queue indefinitely.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Guard {
    /// If the allocator [reserves places](crate::allocator::Capabilities::reserves_places), the guarantee is a place,
    /// as with [`Place`](Self::Place). In contrast to `Place`, the guaranteed place may be replaced by another place at
    /// the same time. For all other allocators, the guarantee is a number of processors.
    #[default]
    Auto,
    /// The number of processors that the head takes. If the allocator refuses the head although this number of
    /// processors is free, the guarantee is an empty machine at the last estimated end of all running jobs.
    Count,
    /// A place that the allocator finds for the head.
    Place,
}

impl Guard {
    /// All guards with their names.
    pub const ALL: [(&'static str, Guard); 3] =
        [("auto", Guard::Auto), ("count", Guard::Count), ("place", Guard::Place)];
}

/// The job selected last. The job stays in the queue until the next call, because it may be refused.
#[derive(Clone, Copy, Debug)]
struct Pending {
    place: Place,
    job: QueuedJob,
    is_head: bool,
    /// The delay beyond the guaranteed start; `None` if the job is not the head or had no guarantee.
    lateness: Option<i64>,
    /// Number of processors that were free when the job was selected.
    free: u32,
    /// Number of processors taken from [`Guarantee::extra`].
    extra_used: u32,
}

/// The guarantee of the head in a round.
///
/// A job that is backfilled and takes the counted number of processors ([`QueuedJob::takes`]) does not change the
/// shadow time. Before the shadow time, the backfilled job only reduces the number of free processors, so the head
/// still does not fit. At the shadow time, the head fits by the backfill condition.
#[derive(Clone, Copy, Debug)]
struct Guarantee {
    round: u64,
    /// The number of processors that must be free for the guarantee to be valid. The required number of processors
    /// remains free if the job selected last takes its counted number of processors.
    free: Option<u32>,
    shadow: i64,
    /// Number of processors that remain free at the shadow time after the start of the head.
    extra: u32,
}

impl Easy {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue::new(order), ..Self::default() }
    }

    /// Sets the guard of the head of the queue.
    pub fn with_guard(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    /// Records the guarantee of a head that cannot start; only the first guarantee of a job is recorded.
    fn promise(&mut self, head: JobId, at: i64) {
        if self.promised.is_none_or(|(job, _)| job != head) {
            self.promised = Some((head, at));
            self.promises.given += 1;
        }
    }

    /// Selects the first job after the head that fits now. If the job does not end by the shadow time, it must leave
    /// the head's place free.
    fn backfill_around_place(
        &mut self,
        head: JobId,
        free: u32,
        now: i64,
        shadow: i64,
    ) -> Option<Selection> {
        let in_time = shadow.saturating_sub(now);
        let bounds = Bounds { size: free, estimate: in_time, extra: u32::MAX };
        let (place, job) =
            self.queue.first(&bounds).map(|(place, waiting)| (place, waiting.job))?;
        let (is_head, lateness, extra_used) = (false, None, 0);
        self.pending = Some(Pending { place, job, is_head, lateness, free, extra_used });
        let reason = Some(Reason::Backfilled { head, shadow, extra: None });
        let respects_reservation = job.estimate > in_time;
        Some(Selection { job: job.id, reason, respects_reservation })
    }

    /// Returns the shadow time of a head that does not fit now, and the number of processors that remain free at the
    /// shadow time after the start of the head.
    fn shadow(&self, head: &QueuedJob, system: System<'_>) -> Option<(i64, u32)> {
        if self.missed == Some(head.id) {
            return Some((system.running.last_estimated_end()?, 0));
        }
        let postponed = self.postponement(head.id, system.now);
        let mut free = system.free;
        let mut shadow = postponed.filter(|_| free >= head.takes);
        for job in system.running.iter() {
            if shadow.is_some_and(|shadow| job.estimated_end > shadow) {
                break;
            }
            free += job.size;
            if shadow.is_none() && free >= head.takes {
                let end = job.estimated_end;
                shadow = Some(postponed.map_or(end, |until| until.max(end)));
            }
        }
        shadow.map(|shadow| (shadow, free - head.takes))
    }

    /// Returns the end of the postponement of the head; `None` if the head is not postponed at time `now`.
    fn postponement(&self, head: JobId, now: i64) -> Option<i64> {
        self.postponed.filter(|&(job, until)| job == head && until > now).map(|(_, until)| until)
    }

    /// Implements [`next_job`](Scheduler::next_job) for machines with outages.
    fn next_with_outages(&mut self, system: System<'_>) -> Option<Selection> {
        let System { now, free, running, .. } = system;
        let (place, &head) = self.queue.head()?;
        let profile = FreeProfile::new(&system, self.processors, &self.outages, &self.held_outages);
        let fits = |job: &QueuedJob| job.size <= free && profile.fits_now(job, free);
        let pending = |place, job, is_head, lateness| {
            Some(Pending { place, job, is_head, lateness, free, extra_used: 0 })
        };
        if head.refused.is_none() && fits(&head.job) {
            let promised = self.promised.filter(|(job, _)| *job == head.job.id);
            let lateness = promised.map(|(_, at)| now.saturating_sub(at));
            let reason = Reason::First { promised: promised.map(|(_, at)| at) };
            self.pending = pending(place, head.job, true, lateness);
            return Some(Selection::new(head.job.id, Some(reason)));
        }
        if free == 0 || running.any_due_at(now) {
            return None;
        }
        let head = head.job;
        let missed = self.missed == Some(head.id);
        let shadow = match missed {
            true => running.last_estimated_end()?,
            false => {
                let from = self.postponement(head.id, now).unwrap_or(now);
                profile.earliest(&head, from)?
            }
        };
        let in_time = shadow.saturating_sub(now);
        let spares = |job: &QueuedJob| {
            job.estimate <= in_time || !missed && profile.fits_beside(&head, shadow, job, now)
        };
        let may = |job: &QueuedJob| job.id != head.id && fits(job) && spares(job);
        let found = self.queue.first_that(may).map(|(place, waiting)| (place, waiting.job));
        self.promise(head.id, shadow);
        let (place, job) = found?;
        let reason = Reason::Backfilled { head: head.id, shadow, extra: None };
        self.pending = pending(place, job, false, None);
        Some(Selection::new(job.id, Some(reason)))
    }

    /// Prepares a call at time `now`. If time has passed since the last call, jobs may be retried, because the
    /// allocator may now choose another place for them.
    fn begin_call(&mut self, now: i64) {
        self.settle();
        if self.called_at.replace(now) != Some(now) {
            self.queue.retry(Until::Instant);
        }
    }

    /// Makes all refused jobs available again.
    fn retry_all(&mut self) {
        self.queue.retry(Until::Completion);
        self.retry_after_change();
    }

    /// Makes jobs available again if they were refused only until a job starts or until the reserved place changes.
    fn retry_after_change(&mut self) {
        self.queue.retry(Until::Change);
        self.queue.retry(Until::Instant);
    }

    /// Removes the job that was selected last. The job was placed.
    fn settle(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.retry_after_change();
            self.queue.remove(pending.place);
            // The job may return to the queue after an interruption. It then has no guarantee, and has missed none.
            let id = pending.job.id;
            self.missed = self.missed.filter(|&job| job != id);
            self.postponed = self.postponed.filter(|&(job, _)| job != id);
            self.promised = self.promised.filter(|&(job, _)| job != id);
            if let Some(lateness) = pending.lateness {
                self.promises.broken += u64::from(lateness > 0);
                self.promises.worst = self.promises.worst.max(lateness);
            }
        }
    }
}

impl Scheduler for Easy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.settle();
        self.queue.arrive(job);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        match event {
            SchedulerEvent::Completed { job, .. } => {
                self.held_outages.remove(&job);
                self.settle();
                self.retry_all();
            }
            SchedulerEvent::MachineChanged => {
                self.settle();
                self.retry_all();
            }
            SchedulerEvent::OutagesKnown { outages, processors } => {
                self.outages = outages.to_vec();
                self.processors = processors;
            }
            SchedulerEvent::OutagesOverlap { job, outages } => {
                self.held_outages.insert(job, outages);
            }
            SchedulerEvent::Held { .. } => {}
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.begin_call(system.now);
        if !self.outages.is_empty() {
            return self.next_with_outages(system);
        }
        let System { now, free, round, running } = system;
        let (place, &head) = self.queue.head()?;
        if head.job.size <= free && head.refused.is_none() {
            self.guarantee = None;
            let promised = self.promised.filter(|(job, _)| *job == head.job.id);
            let lateness = promised.map(|(_, at)| now.saturating_sub(at));
            let reason = Reason::First { promised: promised.map(|(_, at)| at) };
            let (job, is_head, extra_used) = (head.job, true, 0);
            self.pending = Some(Pending { place, job, is_head, lateness, free, extra_used });
            return Some(Selection::new(job.id, Some(reason)));
        }
        if free == 0 || running.any_due_at(now) {
            return None;
        }
        let head = head.job;
        if let Some((_, at)) = self.reserved.filter(|(job, _)| *job == head.id) {
            return self.backfill_around_place(head.id, free, now, at);
        }
        let is_valid =
            |guarantee: &Guarantee| guarantee.round == round && guarantee.free == Some(free);
        let mut guarantee = match self.guarantee.filter(is_valid) {
            Some(guarantee) => guarantee,
            None => {
                let (shadow, extra) = self.shadow(&head, system)?;
                self.promise(head.id, shadow);
                Guarantee { round, free: Some(free), shadow, extra }
            }
        };
        let in_time = guarantee.shadow.saturating_sub(now);
        let bounds = Bounds { size: free, estimate: in_time, extra: guarantee.extra };
        let found = self.queue.first(&bounds).map(|(place, waiting)| (place, waiting.job));
        let selected = found.map(|(place, job)| {
            let extra_used = if job.estimate <= in_time { 0 } else { job.takes };
            let (shadow, extra) = (guarantee.shadow, Some(guarantee.extra));
            let reason = Reason::Backfilled { head: head.id, shadow, extra };
            guarantee.extra -= extra_used;
            guarantee.free = free.checked_sub(job.takes);
            let (is_head, lateness) = (false, None);
            self.pending = Some(Pending { place, job, is_head, lateness, free, extra_used });
            Selection::new(job.id, Some(reason))
        });
        self.guarantee = Some(guarantee);
        selected
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        let Some(pending) = self.pending.take() else { return };
        self.queue.refuse(pending.place, Until::of(rejection));
        if let Rejection::TakesReserved { .. } = rejection {
            return;
        }
        if let Some(guarantee) = &mut self.guarantee {
            guarantee.extra += pending.extra_used;
            guarantee.free = Some(pending.free);
        }
        if pending.is_head && pending.job.takes <= pending.free {
            match rejection {
                Rejection::Postponed { until } => self.postponed = Some((job, until)),
                _ => self.missed = Some(job),
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { guard: self.guard, ..Capabilities::default() }
    }

    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        Some(self)
    }

    fn waiting(&self) -> usize {
        self.queue.len() - usize::from(self.pending.is_some())
    }
}

impl Reservation for Easy {
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId> {
        let System { now, free, running, .. } = system;
        self.begin_call(now);
        let (_, head) = self.queue.head()?;
        let blocked = head.job.size > free || head.refused.is_some();
        (blocked && free > 0 && !running.any_due_at(now)).then_some(head.job.id)
    }

    fn set_reservation(&mut self, job: JobId, at: i64) {
        if self.reserved.replace((job, at)) != Some((job, at)) {
            self.retry_after_change();
        }
        self.promise(job, at);
    }

    fn promises(&self) -> Promises {
        self.promises
    }
}

/// Options of `easy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EasyOptions {
    /// The order of the queue.
    pub order: QueueOrder,
    /// The guarantee of the head.
    pub guard: Guard,
}

impl SchedulerOptions for EasyOptions {
    fn uses_estimates(&self) -> bool {
        true
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Easy::new(self.order).with_guard(self.guard))
    }

    /// On a machine with partitions, `auto` reserves numbers of processors, and `place` is not supported.
    fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        let walk = || Walk::new(Discipline::Easy, self.order, partitions);
        (self.guard != Guard::Place).then(|| Box::new(walk()) as Box<dyn Scheduler>)
    }
}

/// The naming table of `easy`.
pub(super) fn table() -> Table<EasyOptions> {
    let about = "EASY (aggressive) backfilling. A head of the queue that does not fit has a shadow time: the \
                 estimated end of the running job (visited by estimated end, then job) whose processors make the head \
                 fit. A later job that fits now starts if now + estimate <= shadow time, or if the head still fits \
                 alongside the later job at the shadow time. The first such job in queue order starts; then the \
                 search restarts at the head. Nothing is backfilled while a running job's estimated end \
                 equals the current time. A head that fits by count but is refused by the allocator has \
                 missed its reservation: until the head starts, its shadow time is the last estimated end of all \
                 running jobs and nothing fits alongside the head. The head starts on an empty machine at the latest. \
                 If \
                 the allocator rounds up, a running job is counted with the processors that it holds, and a waiting \
                 job with the maximum number of processors that it can be given.";
    let entry = Entry::new("easy", EasyOptions::default())
        .about(about)
        .source("Lifka 1995; Mu'alem, Feitelson 2001")
        .aliases(&["backfill", "easy-backfill"])
        .param("order", QueueOrder::kind(), "order of the queue; the values longest and shortest compare estimated run times", |o| {
            &mut o.order
        })
        .param(
            "guard",
            kind::one_of(&Guard::ALL),
            "what to reserve for the head if the allocator may refuse the head: a number of processors (count), or \
             a place that the allocator finds on a copy of the machine and that later jobs leave free \
             (place); auto is count, except for the rules of trees and blocks: the head gets the first expected end at \
             which the rule finds a place, and a job that runs longer is started only if the rule still finds one; \
             with place a job may start on processors that go out of service before the job ends",
            |o| &mut o.guard,
        );
    Table::new("scheduler", [entry])
}
