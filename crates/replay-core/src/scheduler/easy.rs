mod free_profile;

use self::free_profile::FreeProfile;
use super::options::order;
use super::queue::{Bounds, Place, Queue, Until};
use super::{
    Capabilities, Outage, Promises, QueueOrder, QueuedJob, Reason, Rejection, Reservation,
    Scheduler, SchedulerEvent, SchedulerOptions, Selection, System,
};
use std::collections::BTreeMap;

use crate::naming::{Entry, Table, kind};
use crate::workload::JobId;

/// EASY (aggressive) backfilling: Lifka 1995, Mu'alem and Feitelson 2001.
///
/// The scheduler begins at the head of the queue, and begins again there whenever it has
/// started a job:
///
/// 1. If the head fits now, it starts.
/// 2. Otherwise it has a guarantee, the *shadow time*: walk the running jobs by estimated
///    end, adding their processors to the free ones, until the head fits. The shadow time is
///    the estimated end at which it does.
/// 3. The first later job in queue order starts that fits now, and that either ends by its
///    estimate no later than the shadow time, or leaves enough processors for the head to fit
///    beside it at the shadow time, when all running jobs estimated to end by then have ended.
///
/// Nothing is backfilled while a running job's estimated end is the present instant, since
/// its completion is about to be processed.
///
/// # Allocators that take more than was asked for
///
/// A guarantee counts processors as the allocator hands them out. A running job counts with
/// all that it holds ([`Running::size`](super::Running::size)), a waiting job with the most
/// that it can be given ([`QueuedJob::takes`]): the head fits at the shadow time, and beside
/// a backfilled job, if the most that it can be given is there. Only whether a job fits *now*
/// is left to the allocator: it is asked as soon as the processors asked for are free.
///
/// # Allocators that refuse
///
/// An allocator that needs processors in a certain shape may refuse the head although as many
/// as it takes are free. The head has then missed its reservation and gets another: the last
/// estimated end of all running jobs, beside which nothing fits. Until the head starts, jobs
/// are backfilled only if they end by then, so that this instant never moves back and the
/// head finds an empty machine at the latest. It is tried again after every completion. A
/// head for which less is free than it takes has missed nothing. A job that was to be
/// backfilled and is refused is passed over until a job completes. Where refusals
/// [do not last](crate::allocator::Capabilities::refusals_last), both are tried again after every start, too.
///
/// # A place for the head
///
/// With [`Guard::Place`] such an allocator is asked itself: the shadow time is the earliest
/// instant at which, running jobs ending at their estimates, it finds a place for the head on a
/// copy of the machine. A later job starts if it ends by then, or if it leaves that place free;
/// one that would take of it is passed over until another job starts, another place is kept, or, where the
/// allocator does not go by the free processors alone, time passes: it may choose others for it then. Where allocators never
/// refuse, both guards are the same. Allocators whose refusals do not last are not supported: they may refuse the head at
/// the promised instant although its place is free.
///
/// # Processors out of service
///
/// Outages are jobs that hold so many processors from a known start to a known end. A job then fits now
/// if its processors are free, and as many remain for its whole estimate beside these and the running
/// jobs; the shadow time is the first instant from which the head fits for its whole estimate; and a
/// later job starts that fits now and ends by then, or leaves the head what it needs.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Queue,
    guard: Guard,
    /// The place that was found for a head, and when it is free.
    found: Option<(JobId, i64)>,
    /// The first promise to a head.
    promised: Option<(JobId, i64)>,
    promises: Promises,
    guarantee: Option<Guarantee>,
    named: Option<Named>,
    /// When it was asked last.
    asked: Option<i64>,
    /// The head that has missed its reservation.
    missed: Option<JobId>,
    /// What will be out of service, of how many processors.
    outages: Vec<Outage>,
    processors: u32,
    /// What of it running jobs hold.
    held: BTreeMap<JobId, Vec<Outage>>,
}

/// What keeps later jobs from delaying the head of the queue for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Guard {
    /// As many processors as it takes; if it is refused all the same, an empty machine.
    #[default]
    Count,
    /// A place that the allocator has found for it.
    Place,
}

impl Guard {
    /// Every guard with its name.
    pub const ALL: [(&'static str, Guard); 2] = [("count", Guard::Count), ("place", Guard::Place)];
}

/// The job named last. It stays in the queue until something else happens: it may be refused.
#[derive(Clone, Copy, Debug)]
struct Named {
    place: Place,
    job: QueuedJob,
    is_head: bool,
    /// Its promise, if it is the head, and how late it is.
    late: Option<i64>,
    /// Processors that were free.
    free: u32,
    /// Processors taken from those beside the head.
    beside: u32,
}

/// What the head was promised in a round.
///
/// A backfilled job that takes what was counted leaves the shadow time as it is: before it,
/// even fewer processors are free; at it, the head fits by the condition.
#[derive(Clone, Copy, Debug)]
struct Guarantee {
    round: u64,
    /// Processors free if the job named last took what was counted.
    free: Option<u32>,
    shadow: i64,
    /// Processors free beside the head at the shadow time.
    extra: u32,
}

impl Easy {
    /// An empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue::new(order), ..Self::default() }
    }

    /// The same with this guard.
    pub fn with_guard(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    /// A head that cannot start is told an instant.
    fn promise(&mut self, head: JobId, at: i64) {
        if self.promised.is_none_or(|(job, _)| job != head) {
            self.promised = Some((head, at));
            self.promises.given += 1;
        }
    }

    /// The first later job that fits now, and ends in time or leaves the head's place free.
    fn beside_place(&mut self, head: JobId, free: u32, now: i64, shadow: i64) -> Option<Selection> {
        let in_time = shadow.saturating_sub(now);
        let bounds = Bounds { size: free, estimate: in_time, beside: u32::MAX };
        let (place, job) =
            self.queue.first(&bounds).map(|(place, waiting)| (place, waiting.job))?;
        let (is_head, late, beside) = (false, None, 0);
        self.named = Some(Named { place, job, is_head, late, free, beside });
        let reason = Some(Reason::Backfilled { head, shadow, extra: None });
        let respects_reservation = job.estimate > in_time;
        Some(Selection { job: job.id, reason, respects_reservation })
    }

    /// Shadow time of a head that does not fit now, and the processors free beside it then.
    fn shadow(&self, head: &QueuedJob, system: System<'_>) -> Option<(i64, u32)> {
        if self.missed == Some(head.id) {
            return Some((system.running.last_estimated_end()?, 0));
        }
        let mut free = system.free;
        let mut shadow = None;
        for job in system.running.iter() {
            if shadow.is_some_and(|shadow| job.estimated_end > shadow) {
                break;
            }
            free += job.size;
            if shadow.is_none() && free >= head.takes {
                shadow = Some(job.estimated_end);
            }
        }
        shadow.map(|shadow| (shadow, free - head.takes))
    }

    /// As [`next_job`](Scheduler::next_job), where processors are out of service at times.
    fn next_amid(&mut self, system: System<'_>) -> Option<Selection> {
        let System { now, free, running, .. } = system;
        let (place, &head) = self.queue.head()?;
        let forecast = FreeProfile::new(&system, self.processors, &self.outages, &self.held);
        let fits = |job: &QueuedJob| job.size <= free && forecast.fits(job, now);
        let named =
            |place, job, is_head, late| Some(Named { place, job, is_head, late, free, beside: 0 });
        if head.refused.is_none() && fits(&head.job) {
            let promised = self.promised.filter(|(job, _)| *job == head.job.id);
            let late = promised.map(|(_, at)| now.saturating_sub(at));
            let reason = Reason::First { promised: promised.map(|(_, at)| at) };
            self.named = named(place, head.job, true, late);
            return Some(Selection::new(head.job.id, Some(reason)));
        }
        if free == 0 || running.any_due_at(now) {
            return None;
        }
        let head = head.job;
        let missed = self.missed == Some(head.id);
        let shadow = match missed {
            true => running.last_estimated_end()?,
            false => forecast.earliest(&head)?,
        };
        let in_time = shadow.saturating_sub(now);
        let spares = |job: &QueuedJob| {
            job.estimate <= in_time || !missed && forecast.fits_beside(&head, shadow, job, now)
        };
        let may = |job: &QueuedJob| job.id != head.id && fits(job) && spares(job);
        let found = self.queue.first_that(may).map(|(place, waiting)| (place, waiting.job));
        self.promise(head.id, shadow);
        let (place, job) = found?;
        let reason = Reason::Backfilled { head: head.id, shadow, extra: None };
        self.named = named(place, job, false, None);
        Some(Selection::new(job.id, Some(reason)))
    }

    /// It is asked at this instant: at another than before an allocator may choose another place.
    fn asked_at(&mut self, now: i64) {
        self.settle();
        if self.asked.replace(now) != Some(now) {
            self.queue.retry(Until::Instant);
        }
    }

    /// All that was refused may be tried again.
    fn retry_all(&mut self) {
        self.queue.retry(Until::Completion);
        self.retry_after_change();
    }

    /// Whoever would have taken of the head's place may be tried again.
    fn retry_after_change(&mut self) {
        self.queue.retry(Until::Change);
        self.queue.retry(Until::Instant);
    }

    /// The job named last was placed.
    fn settle(&mut self) {
        if let Some(named) = self.named.take() {
            self.retry_after_change();
            self.queue.remove(named.place);
            if let Some(late) = named.late {
                self.promised = None;
                self.promises.broken += u64::from(late > 0);
                self.promises.worst = self.promises.worst.max(late);
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
                self.held.remove(&job);
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
                self.held.insert(job, outages);
            }
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.asked_at(system.now);
        if !self.outages.is_empty() {
            return self.next_amid(system);
        }
        let System { now, free, round, running } = system;
        let (place, &head) = self.queue.head()?;
        if head.job.size <= free && head.refused.is_none() {
            self.guarantee = None;
            let promised = self.promised.filter(|(job, _)| *job == head.job.id);
            let late = promised.map(|(_, at)| now.saturating_sub(at));
            let reason = Reason::First { promised: promised.map(|(_, at)| at) };
            let (job, is_head, beside) = (head.job, true, 0);
            self.named = Some(Named { place, job, is_head, late, free, beside });
            return Some(Selection::new(job.id, Some(reason)));
        }
        if free == 0 || running.any_due_at(now) {
            return None;
        }
        let head = head.job;
        if let Some((_, at)) = self.found.filter(|(job, _)| *job == head.id) {
            return self.beside_place(head.id, free, now, at);
        }
        let holds = |promise: &Guarantee| promise.round == round && promise.free == Some(free);
        let mut promise = match self.guarantee.filter(holds) {
            Some(promise) => promise,
            None => {
                let (shadow, extra) = self.shadow(&head, system)?;
                self.promise(head.id, shadow);
                Guarantee { round, free: Some(free), shadow, extra }
            }
        };
        let in_time = promise.shadow.saturating_sub(now);
        let bounds = Bounds { size: free, estimate: in_time, beside: promise.extra };
        let found = self.queue.first(&bounds).map(|(place, waiting)| (place, waiting.job));
        let selected = found.map(|(place, job)| {
            let beside = if job.estimate <= in_time { 0 } else { job.takes };
            let (shadow, extra) = (promise.shadow, Some(promise.extra));
            let reason = Reason::Backfilled { head: head.id, shadow, extra };
            promise.extra -= beside;
            promise.free = free.checked_sub(job.takes);
            let (is_head, late) = (false, None);
            self.named = Some(Named { place, job, is_head, late, free, beside });
            Selection::new(job.id, Some(reason))
        });
        self.guarantee = Some(promise);
        selected
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        let Some(named) = self.named.take() else { return };
        self.queue.refuse(named.place, Until::of(rejection));
        if let Rejection::TakesReserved { .. } = rejection {
            return;
        }
        if let Some(promise) = &mut self.guarantee {
            promise.extra += named.beside;
            promise.free = Some(named.free);
        }
        if named.is_head && named.job.takes <= named.free {
            self.missed = Some(job);
        }
    }

    fn capabilities(&self) -> Capabilities {
        let reserves_places = self.guard == Guard::Place;
        Capabilities { reserves_places, ..Capabilities::default() }
    }

    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        Some(self)
    }

    fn waiting(&self) -> usize {
        self.queue.len() - usize::from(self.named.is_some())
    }
}

impl Reservation for Easy {
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId> {
        let System { now, free, running, .. } = system;
        self.asked_at(now);
        let (_, head) = self.queue.head()?;
        let blocked = head.job.size > free || head.refused.is_some();
        (blocked && free > 0 && !running.any_due_at(now)).then_some(head.job.id)
    }

    fn set_reservation(&mut self, job: JobId, at: i64) {
        if self.found.replace((job, at)) != Some((job, at)) {
            self.retry_after_change();
        }
        self.promise(job, at);
    }

    fn promises(&self) -> Promises {
        self.promises
    }
}

/// What it can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EasyOptions {
    /// The order of the queue.
    pub order: QueueOrder,
    /// What keeps the head from waiting for ever.
    pub guard: Guard,
}

impl SchedulerOptions for EasyOptions {
    fn uses_estimates(&self) -> bool {
        true
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Easy::new(self.order).with_guard(self.guard))
    }
}

/// `easy`.
pub(super) fn table() -> Table<EasyOptions> {
    let about = "EASY (aggressive) backfilling. A head of queue that does not fit has a shadow time: the \
                 estimated end of the running job (walked by estimated end, then job) whose processors make \
                 it fit. A later job that fits now starts if now + estimate <= shadow time, or if the head \
                 still fits beside it at the shadow time. First such job in queue order, then again from the \
                 head. Nothing is backfilled while a running job's estimated end equals the present instant. \
                 A head that fits by count but is refused by the allocator has missed its reservation: until \
                 it starts, its shadow time is the last estimated end of all running jobs and nothing fits \
                 beside it, so that it starts on an empty machine at the latest. Where the allocator rounds \
                 up, a running job counts with what it holds and a waiting job with the most it can be given.";
    let entry = Entry::new("easy", EasyOptions::default())
        .about(about)
        .source("Lifka 1995; Mu'alem, Feitelson 2001")
        .aliases(&["backfill", "easy-backfill"])
        .param("order", order(), "order of the queue; estimates for longest and shortest", |o| {
            &mut o.order
        })
        .param(
            "guard",
            kind::one_of(&Guard::ALL),
            "where the allocator may refuse: promise the head so many processors (count), or a place \
             that the allocator finds on a copy of the machine, which later jobs leave free (place); by \
             place a job may start on processors that are to be out of service before it ends",
            |o| &mut o.guard,
        );
    Table::new("scheduler", [entry])
}
