//! Reference implementations of scheduling disciplines, which follow the definitions directly.

use std::collections::{BTreeMap, BTreeSet};

use replay_engine::scheduler::{
    Capabilities, Guard, Promises, QueueOrder, QueuedJob, Rejection, Reservation, Scheduler,
    SchedulerEvent, Selection, System,
};
use replay_engine::workload::JobId;

/// A sorted queue, and the jobs that were refused since the last completion. If a refusal lasts only until the number
/// of free processors changes, the refusal is stored with this number.
#[derive(Clone, Debug, Default)]
struct Queue {
    order: QueueOrder,
    jobs: Vec<QueuedJob>,
    refused: BTreeMap<JobId, Option<u32>>,
    selected: Option<(usize, QueuedJob, u32)>,
}

impl Queue {
    fn arrive(&mut self, job: QueuedJob) {
        let at = self.order.position(&self.jobs, |other| other, &job);
        self.jobs.insert(at, job);
    }

    fn may_be_placed(&self, job: &QueuedJob, free: u32) -> bool {
        let stands = |then: &Option<u32>| then.is_none_or(|then| then == free);
        job.size <= free && !self.refused.get(&job.id).is_some_and(stands)
    }

    fn select(&mut self, position: usize, free: u32) -> Option<Selection> {
        let job = self.jobs.remove(position);
        self.selected = Some((position, job, free));
        Some(Selection::new(job.id, None))
    }

    /// Puts the last selected job back at its position in the queue, and returns the job.
    fn refused(&mut self, lasts: bool) -> QueuedJob {
        let (position, job, free) = self.selected.take().expect("a selected job");
        self.jobs.insert(position, job);
        self.refused.insert(job.id, (!lasts).then_some(free));
        job
    }
}

/// Reference version of [`Easy`](replay_engine::scheduler::Easy). This reference version of the EASY scheduler searches
/// the queue from the head after every start.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    queue: Queue,
    free: u32,
    missed: Option<JobId>,
    /// The head that the allocator postponed, and the end of the postponement.
    postponed: Option<(JobId, i64)>,
    /// The first guaranteed start time of every job that got a guarantee.
    pub guarantees: Vec<(JobId, i64)>,
    /// Jobs that were refused although enough processors were free.
    pub all_missed: BTreeSet<JobId>,
}

impl Easy {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue { order, ..Queue::default() }, ..Self::default() }
    }
}

impl Scheduler for Easy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queue.arrive(job);
    }

    fn on_event(&mut self, _event: SchedulerEvent<'_>) {
        self.queue.refused.clear();
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let System { now, free, running, .. } = system;
        self.free = free;
        let head = *self.queue.jobs.first()?;
        if self.queue.may_be_placed(&head, free) {
            return self.queue.select(0, free);
        }
        if running.iter().any(|job| job.estimated_end == now) {
            return None;
        }
        let free_at = |time: i64| {
            let ended = running.iter().filter(|job| job.estimated_end <= time);
            free + ended.map(|job| job.size).sum::<u32>()
        };
        let missed = self.missed == Some(head.id);
        let ends = running.iter().map(|job| job.estimated_end);
        let shadow = match self.postponed {
            _ if missed => ends.max(),
            Some((job, until)) if job == head.id && until > now => {
                let later = ends.chain([until]).filter(|&end| end >= until);
                later.filter(|&end| free_at(end) >= head.takes).min()
            }
            _ => ends.filter(|&end| free_at(end) >= head.takes).min(),
        }?;
        if !missed && self.guarantees.iter().all(|(id, _)| *id != head.id) {
            self.guarantees.push((head.id, shadow));
        }
        let may = |job: &QueuedJob| {
            let beside = !missed && free_at(shadow) >= head.takes + job.takes;
            self.queue.may_be_placed(job, free) && (now + job.estimate <= shadow || beside)
        };
        let at = (1..self.queue.jobs.len()).find(|&i| may(&self.queue.jobs[i]))?;
        self.queue.select(at, free)
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        let is_head = self.queue.selected.is_some_and(|(position, ..)| position == 0);
        if self.queue.refused(rejection.lasts()).takes <= self.free && is_head {
            if let Rejection::Postponed { until } = rejection {
                self.postponed = Some((job, until));
            } else {
                self.missed = Some(job);
                self.all_missed.insert(job);
            }
        }
    }

    fn waiting(&self) -> usize {
        self.queue.jobs.len()
    }
}

/// Reference version of [`Easy`](replay_engine::scheduler::Easy) with reserved placements. The reference version
/// determines the reserved placement again after every start and at every instant.
#[derive(Clone, Debug, Default)]
pub struct EasyWithPlace {
    queue: Queue,
    reserved: Option<(JobId, i64)>,
    /// Jobs that would have used processors of the reserved placement, with the time and the number of running jobs.
    would_take: Vec<(JobId, i64, usize)>,
    called_at: (i64, usize),
}

impl EasyWithPlace {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { queue: Queue { order, ..Queue::default() }, ..Self::default() }
    }

    /// Returns the head of the queue if it cannot start and other jobs may start.
    fn blocked(&self, system: &System<'_>) -> Option<QueuedJob> {
        let head = *self.queue.jobs.first()?;
        let fits = self.queue.may_be_placed(&head, system.free);
        (!fits && !system.running.any_due_at(system.now)).then_some(head)
    }
}

impl Scheduler for EasyWithPlace {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queue.arrive(job);
    }

    fn on_event(&mut self, _event: SchedulerEvent<'_>) {
        self.queue.refused.clear();
        self.would_take.clear();
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let System { now, free, running, .. } = system;
        self.called_at = (now, running.iter().count());
        let head = *self.queue.jobs.first()?;
        if self.queue.may_be_placed(&head, free) {
            return self.queue.select(0, free);
        }
        self.blocked(&system).filter(|_| free > 0)?;
        let (_, at) = self.reserved.filter(|(job, _)| *job == head.id)?;
        let (instant, running) = self.called_at;
        let may = |job: &QueuedJob| {
            self.queue.may_be_placed(job, free)
                && !self.would_take.contains(&(job.id, instant, running))
        };
        let first = (1..self.queue.jobs.len()).find(|&i| may(&self.queue.jobs[i]))?;
        let respects_reservation = now + self.queue.jobs[first].estimate > at;
        let selected = self.queue.select(first, free)?;
        Some(Selection { respects_reservation, ..selected })
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        match rejection {
            Rejection::Refused { .. } | Rejection::Postponed { .. } => {
                self.queue.refused(rejection.lasts());
            }
            Rejection::TakesReserved { .. } => {
                let (now, running) = self.called_at;
                self.queue.refused(false);
                self.queue.refused.remove(&job);
                self.would_take.push((job, now, running));
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { guard: Guard::Place, ..Capabilities::default() }
    }

    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        Some(self)
    }

    fn waiting(&self) -> usize {
        self.queue.jobs.len()
    }
}

impl Reservation for EasyWithPlace {
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId> {
        Some(self.blocked(&system).filter(|_| system.free > 0)?.id)
    }

    fn set_reservation(&mut self, job: JobId, at: i64) {
        self.reserved = Some((job, at));
    }

    fn promises(&self) -> Promises {
        Promises::default()
    }
}

/// Reference version of [`OutOfOrder`](replay_engine::scheduler::OutOfOrder). This reference version of the scheduler
/// always searches the queue from the head.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrder(Queue);

impl OutOfOrder {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self(Queue { order, ..Queue::default() })
    }
}

impl Scheduler for OutOfOrder {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.0.arrive(job);
    }

    fn on_event(&mut self, _event: SchedulerEvent<'_>) {
        self.0.refused.clear();
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let fits = |job: &QueuedJob| self.0.may_be_placed(job, system.free);
        let at = self.0.jobs.iter().position(fits)?;
        self.0.select(at, system.free)
    }

    fn on_refused(&mut self, _job: JobId, rejection: Rejection) {
        self.0.refused(rejection.lasts());
    }

    fn waiting(&self) -> usize {
        self.0.jobs.len()
    }
}

/// Reference version of [`Strict`](replay_engine::scheduler::Strict) with a sorted list.
#[derive(Clone, Debug, Default)]
pub struct Strict(Queue);

impl Strict {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self(Queue { order, ..Queue::default() })
    }
}

impl Scheduler for Strict {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.0.arrive(job);
    }

    fn on_event(&mut self, _event: SchedulerEvent<'_>) {
        self.0.refused.clear();
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let head = self.0.jobs.first()?;
        if self.0.may_be_placed(head, system.free) { self.0.select(0, system.free) } else { None }
    }

    fn on_refused(&mut self, _job: JobId, rejection: Rejection) {
        self.0.refused(rejection.lasts());
    }

    fn waiting(&self) -> usize {
        self.0.jobs.len()
    }
}

/// Reference version of [`Conservative`](replay_engine::scheduler::Conservative). The profile of the reference scheduler
/// is a single list, which is searched and changed step by step.
#[derive(Clone, Debug)]
pub struct Conservative {
    order: QueueOrder,
    queue: Vec<QueuedJob>,
    /// Reserved start times, in the order of `queue`.
    reserved: Vec<i64>,
    running: Vec<JobReservation>,
    profile: Profile,
    compress: bool,
}

#[derive(Clone, Copy, Debug)]
struct JobReservation {
    id: JobId,
    until: i64,
    size: u32,
}

impl Conservative {
    /// Creates an empty queue in the given order for a machine with `processors` processors.
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

    /// Returns the duration of a job's reservation. A job with estimate 0 needs its processors for one second.
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
            // The reservation must be made in the compressed schedule.
            self.compress(now);
            self.compress = false;
        }
        let duration = Self::duration(&job);
        let start = self.profile.earliest(now, job.size, duration);
        self.profile.take(start, start + duration, i64::from(job.size));
        let at = self.order.position(&self.queue, |other| other, &job);
        self.queue.insert(at, job);
        self.reserved.insert(at, start);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        let SchedulerEvent::Completed { job, now } = event else { return };
        if let Some(at) = self.running.iter().position(|held| held.id == job) {
            let held = self.running.swap_remove(at);
            self.profile.take(now, held.until, -i64::from(held.size));
            self.compress |= now < held.until;
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let now = system.now;
        if self.compress {
            self.profile.forget_before(now);
            self.compress(now);
            self.compress = false;
        }
        let due = |i: &usize| self.reserved[*i] <= now && self.queue[*i].size <= system.free;
        let at = (0..self.queue.len()).find(due)?;
        let (job, start) = (self.queue.remove(at), self.reserved.remove(at));
        // The job may start later than reserved; move its reservation so that it begins now.
        let duration = Self::duration(&job);
        self.profile.take(start, start + duration, -i64::from(job.size));
        self.profile.take(now, now + duration, i64::from(job.size));
        self.running.push(JobReservation { id: job.id, until: now + duration, size: job.size });
        Some(Selection::new(job.id, None))
    }

    fn on_refused(&mut self, job: JobId, _rejection: Rejection) {
        unreachable!(
            "job {} was refused, but conservative backfilling does not support refusals",
            job.0
        );
    }

    /// Returns capabilities without support for refusals, because reservations are made for the requested numbers of
    /// processors. If a job could not be placed when its reservation is due, or if more processors than requested were
    /// allocated to it, all other reservations would be invalid.
    fn capabilities(&self) -> Capabilities {
        Capabilities { takes_refusals: false, ..Capabilities::default() }
    }

    /// Returns the time of the next reservation, because compression can move a reservation to a time at which no job
    /// ends. A reservation whose time has passed waits for a completion and must not delay other reservations.
    fn next_wakeup(&self, after: i64) -> Option<i64> {
        self.reserved.iter().copied().filter(|&start| start > after).min()
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// The future number of free processors as a step function of time.
#[derive(Clone, Debug)]
struct Profile {
    /// Steps of the function: start time and number of free processors. Times increase. The first step starts in the
    /// past.
    steps: Vec<(i64, i64)>,
}

impl Profile {
    /// Creates a profile in which `processors` are always free.
    fn new(processors: u32) -> Self {
        Self { steps: vec![(i64::MIN, i64::from(processors))] }
    }

    /// Returns the earliest time, `now` or later, from which `size` processors are free for `duration` seconds.
    fn earliest(&self, now: i64, size: u32, duration: i64) -> i64 {
        let size = i64::from(size);
        let first = self.steps.partition_point(|&(time, _)| time <= now) - 1;
        let mut start = now;
        for (i, &(time, free)) in self.steps.iter().enumerate().skip(first) {
            if time > start && time - start >= duration {
                break;
            }
            if free < size {
                start = self.steps.get(i + 1).map_or(i64::MAX, |&(next, _)| next);
            }
        }
        start
    }

    /// Subtracts `size` free processors between `from` and `to`. A negative `size` adds processors.
    fn take(&mut self, from: i64, to: i64, size: i64) {
        if from >= to {
            return;
        }
        let (first, last) = (self.step_at(from), self.step_at(to));
        for (_, free) in &mut self.steps[first..last] {
            *free -= size;
        }
        self.merge_around(last);
        self.merge_around(first);
    }

    /// Removes the part of the profile before `now`.
    fn forget_before(&mut self, now: i64) {
        let first = self.steps.partition_point(|&(time, _)| time <= now) - 1;
        self.steps.drain(..first);
    }

    /// Returns the index of the step that starts at `time`, creating it if necessary.
    fn step_at(&mut self, time: i64) -> usize {
        let at = self.steps.partition_point(|&(t, _)| t < time);
        if self.steps.get(at).is_none_or(|&(t, _)| t != time) {
            let free = if at == 0 { self.steps[0].1 } else { self.steps[at - 1].1 };
            self.steps.insert(at, (time, free));
        }
        at
    }

    fn merge_around(&mut self, at: usize) {
        if at > 0 && self.steps.get(at).is_some_and(|step| step.1 == self.steps[at - 1].1) {
            self.steps.remove(at);
        }
    }
}
