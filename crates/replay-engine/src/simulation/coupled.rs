mod decision_cache;
mod future;
mod outage_state;
mod reserved;
mod sharing;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use self::decision_cache::{CachedDecision, DecisionCache};
use self::future::Future;
use self::outage_state::OutageState;
use self::reserved::{PlaceQuery, Reserved};
use self::sharing::Sharing;
use super::arrivals::Arrivals;
use super::input::Input;
use super::{Decision, Observer, Overhead, Service, Shared, SimulationError, State};
use crate::allocator::{
    Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats, Times,
};
use crate::machine::Machine;
use crate::scheduler::{
    self, Guard, QueuedJob, Rejection, Running, RunningJobs, Scheduler, SchedulerEvent, Selection,
    System,
};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Checks that a scheduler with these capabilities supports an allocator.
///
/// # Errors
/// [`SimulationError::Scheduler`], [`SimulationError::NoCopies`] or [`SimulationError::NoLastingPlaces`].
pub fn check_pair(
    discipline: &scheduler::Capabilities,
    allocator: &dyn Allocator,
) -> Result<(), SimulationError> {
    let strategy = allocator.capabilities();
    if !strategy.keeps_schedule && !discipline.takes_refusals {
        return Err(SimulationError::Scheduler);
    }
    let places = discipline.reserves_places_for(&strategy);
    if places && allocator.try_clone().is_none() {
        return Err(SimulationError::NoCopies);
    }
    if places && !strategy.refusals_last && !strategy.reserves_by_trial {
        return Err(SimulationError::NoLastingPlaces);
    }
    Ok(())
}

/// Runs scheduler, allocator and service in one event loop. [`simulation`](crate::simulation) defines the order of
/// events. The loop allocates no memory per decision once its buffers have grown.
///
/// # Errors
/// [`SimulationError`] if the strategies do not support the input or each other, if a job can never start, or on
/// cancellation.
pub fn simulate(
    input: Input<'_>,
    scheduler: &mut dyn Scheduler,
    allocator: &mut dyn Allocator,
    service: &mut dyn Service,
    observer: &mut dyn Observer,
) -> Result<Overhead, SimulationError> {
    let (discipline, strategy) = (scheduler.capabilities(), allocator.capabilities());
    check_pair(&discipline, allocator)?;
    let places = discipline.reserves_places_for(&strategy);
    if strategy.folds && !service.takes_folded() {
        return Err(SimulationError::Folded);
    }
    let Input { jobs, topology, follows, outages, partitions, .. } = input;
    if !outages.is_empty() {
        if !strategy.supports_outages || strategy.shares_hosts {
            return Err(SimulationError::NoOutages("this allocator"));
        }
        // A scheduler that reserves places does not need the numbers of processors out of service.
        if !places {
            let (outages, processors) = (&outages.steps()[..], topology.slots() as u32);
            scheduler.on_event(SchedulerEvent::OutagesKnown { outages, processors });
        }
    }
    let setup = RunSetup { jobs, stop: input.stop.clone(), ..RunSetup::default() };
    allocator.begin(&setup).map_err(SimulationError::Allocator)?;
    let mut system = Coupled {
        input,
        strategy,
        machine: Machine::new(topology.clone()),
        running: RunningJobs::default(),
        held: Vec::new(),
        spare: Vec::new(),
        sharing: Sharing::on(topology),
        slots: vec![u32::MAX; jobs.len()],
        requested: 0,
        reduced: HashMap::new(),
        fragmented: false,
        // Decisions are not cached in two cases. A strategy that folds jobs counts how often it refuses a job, so it
        // must receive every request. Decisions about hosts depend on the utilization of the hosts, which changes.
        // On a machine with partitions, decisions depend on the partition of the job.
        answers: (!strategy.folds && !strategy.shares_hosts && partitions.is_none())
            .then(DecisionCache::default),
        reserved: None,
        keeps_future: strategy.reserves_by_trial
            && !strategy.refusals_last
            && !strategy.shares_hosts
            && outages.is_empty(),
        future: None,
        postponed: None,
        replaces_places: discipline.guard == Guard::Auto,
        last_place: None,
        down: OutageState::new(outages, topology.slots()),
        turns: vec![0; jobs.len()],
        submitted: vec![None; jobs.len()],
        retries: BTreeSet::new(),
        overhead: Overhead::default(),
    };
    system.machine.set_down_walls(outages.walls);
    for id in (0..jobs.len() as u32).map(JobId) {
        input.stop.check()?;
        if !allocator.bounds(system.request(id)).servable {
            return Err(system.never_fits(id, Refusal::TooFewFree));
        }
    }
    let mut arrivals = Arrivals::new(jobs, follows);
    let mut completed = Vec::new();
    let (mut round, mut arrived) = (0, 0u64);
    let mut left = jobs.len();
    let begin = arrivals.next_time().unwrap_or(i64::MIN);
    let mut last = i64::MIN;
    loop {
        let next_arrival = arrivals.next_time();
        // A reservation that is already due waits for a completion. Only a reservation in the future needs an event.
        let due = scheduler.next_wakeup(last);
        // Outages after the last job are irrelevant.
        let change = system.down.next_time().filter(|_| left > 0);
        let retry = system.retries.first().copied().filter(|_| left > 0);
        let until = next_arrival.into_iter().chain(due).chain(change).chain(retry).min();
        completed.clear();
        let completion = service
            .advance(until.unwrap_or(i64::MAX), &mut completed)
            .map_err(SimulationError::of_service)?;
        let Some(now) = completion.or(until) else { break };
        if last >= begin && last != i64::MIN && now > last {
            observer.passed(last, now, &system.state(scheduler.waiting(), allocator));
        }
        last = now;
        input.stop.check()?;

        completed.sort_unstable();
        for &id in &completed {
            system.complete(id, allocator);
            scheduler.on_event(SchedulerEvent::Completed { job: id, now });
            arrivals.completed(id, now);
            observer.completed(id, now);
        }
        left -= completed.len();
        if change.is_some_and(|change| change <= now) {
            for id in system.change(now, scheduler, allocator, service, observer)? {
                arrivals.completed(id, now);
                observer.completed(id, now);
                left -= 1;
            }
        }
        if system.retry(now) {
            scheduler.on_event(SchedulerEvent::MachineChanged);
        }
        if observer.is_done() {
            return Ok(system.overhead);
        }
        while let Some((id, arrival)) = arrivals.arrived(now) {
            input.stop.check()?;
            observer.arrived(id, arrival);
            arrived += 1;
            system.turns[id.index()] = arrived;
            system.submitted[id.index()].get_or_insert(arrival);
            system.queue(id, now, scheduler, allocator);
        }
        round += 1;
        loop {
            let free = system.machine.free_count() as u32;
            let view = System { now, free, round, running: &system.running };
            if places
                && let Some(reservation) = scheduler.reservation()
                && let Some(head) = reservation.reservation_request(view)
            {
                let at = system.reserve(head, now, allocator)?;
                reservation.set_reservation(head, at);
            }
            let view = System { now, free, round, running: &system.running };
            let Some(selected) = scheduler.next_job(view) else { break };
            let Selection { job: id, respects_reservation, .. } = selected;
            input.stop.check()?;
            if let Some(utilization) = service.utilization() {
                allocator.on_event(&system.machine, MachineEvent::HostsObserved(utilization));
            }
            match system.place(id, now, respects_reservation, allocator) {
                Ok(None) => {
                    let lasts = strategy.chooses_by_free;
                    scheduler.on_refused(id, Rejection::TakesReserved { lasts });
                }
                Ok(Some(Placed { slot, job, stats })) => {
                    if let Some(reduction) = &stats.reduction {
                        observer.reduced(id, &jobs[id.index()], reduction);
                    }
                    if topology.cluster().is_some() {
                        observer.took(id, now, &system.held[slot]);
                    }
                    let (nodes, census) = (system.processors_of(slot), stats.census);
                    observer.started(Decision { job: id, now, nodes, census, tied: None });
                    if observer.is_done() {
                        return Ok(system.overhead);
                    }
                    service.start(id, &job, &system.held[slot], now);
                    if let Some(partitions) = partitions {
                        let counts = &partitions.count(&system.held[slot])[..];
                        scheduler.on_event(SchedulerEvent::Held { job: id, now, counts });
                    }
                    if !outages.is_empty() {
                        let outages = outages.steps_of(&system.held[slot], now);
                        scheduler.on_event(SchedulerEvent::OutagesOverlap { job: id, outages });
                    }
                }
                Err(Refusal::Cancelled(cancelled)) => return Err(cancelled.into()),
                Err(refusal) => {
                    system.may_fit_later(id, refusal)?;
                    system.overhead.too_few_free += u64::from(refusal == Refusal::TooFewFree);
                    let rejection = match refusal {
                        Refusal::Postponed { until } => Rejection::Postponed { until },
                        _ => Rejection::Refused {
                            lasts: refusal == Refusal::TooFewFree || strategy.refusals_last,
                        },
                    };
                    scheduler.on_refused(id, rejection);
                    // If jobs are folded, the scheduler uses the minimum number of processors on which the job can run.
                    let least = match strategy.folds {
                        true => allocator.bounds(system.request(id)).min_processors_now,
                        false => jobs[id.index()].size,
                    };
                    if free >= least {
                        observer.refused(id, refusal);
                    }
                }
            }
        }
    }
    match scheduler.waiting() {
        0 => {
            let stats = allocator.stats();
            system.overhead.operations = stats.census.map_or(0, |census| census.operations);
            system.overhead.refused_sizes = stats.refused_sizes;
            system.overhead.promises = scheduler.reservation().map(|it| it.promises());
            let of_computed = |computed| Shared { slots: topology.slots(), computed };
            system.overhead.shared = service.computed().map(of_computed);
            Ok(system.overhead)
        }
        waiting if system.machine.down_count() > 0 => Err(SimulationError::Down(waiting)),
        waiting => Err(SimulationError::Starved(waiting)),
    }
}

struct Coupled<'a> {
    input: Input<'a>,
    /// Capabilities of the allocator.
    strategy: Capabilities,
    machine: Machine,
    running: RunningJobs,
    /// Processors of each running job; the index is the job's slot.
    held: Vec<Vec<NodeId>>,
    spare: Vec<usize>,
    /// State of shared hosts, if jobs share processors.
    sharing: Option<Sharing>,
    /// Slot of each job.
    slots: Vec<u32>,
    requested: u32,
    /// Sizes of running jobs that have fewer processors than requested.
    reduced: HashMap<JobId, u32>,
    fragmented: bool,
    /// Cached decisions of the allocator.
    answers: Option<DecisionCache>,
    /// The place reserved for the head of the queue. The reservation is valid until a job completes, or until a job that
    /// arrives before the head in the order of the queue starts and ends after the time of the reservation. All other
    /// jobs that start leave the place free or release it in time.
    reserved: Option<Reserved>,
    /// Whether searches for a place use the kept future.
    keeps_future: bool,
    /// The kept future, from the first search on.
    future: Option<Future>,
    /// The last postponement of a request.
    postponed: Option<Postponement>,
    /// Whether another place may replace a reserved place.
    replaces_places: bool,
    /// The head of the queue for which a place was found last, and the time at which this place becomes free.
    last_place: Option<(JobId, i64)>,
    down: OutageState<'a>,
    /// Position of each job in the order of arrival.
    turns: Vec<u64>,
    /// Time at which each job arrived first; an interrupted job arrives again.
    submitted: Vec<Option<i64>>,
    /// Instants at which [postponed](Refusal::Postponed) requests are made again.
    retries: BTreeSet<i64>,
    overhead: Overhead,
}

/// A postponed request.
#[derive(Clone, Copy)]
struct Postponement {
    job: JobId,
    now: i64,
    /// [Version](Machine::version) of the machine at the request.
    version: u64,
    until: i64,
}

/// A job that starts.
struct Placed {
    slot: usize,
    /// The job as it runs, possibly folded.
    job: Job,
    /// Statistics of the allocator directly after the allocation.
    stats: Stats,
}

/// Returns the estimated end and the processors of each running job, in the order of the estimated ends.
fn held_by_running<'a>(
    running: &'a RunningJobs,
    held: &'a [Vec<NodeId>],
    slots: &'a [u32],
) -> impl Iterator<Item = (i64, &'a [NodeId])> {
    running.iter().map(|job| {
        let slot = slots[job.id.index()] as usize;
        (job.estimated_end, held[slot].as_slice())
    })
}

impl Coupled<'_> {
    fn request(&self, id: JobId) -> Request {
        let &Job { size, shape, .. } = &self.input.jobs[id.index()];
        let partition = self.input.partitions.map_or(0, |partitions| partitions.of[id.index()]);
        Request { partition, ..Request::shaped(size, shape) }
    }

    /// Removes the retry times that are due. Returns whether any retry was due.
    fn retry(&mut self, now: i64) -> bool {
        let later = self.retries.split_off(&now.saturating_add(1));
        !std::mem::replace(&mut self.retries, later).is_empty()
    }

    /// Adds a job to the queue.
    fn queue(
        &self,
        id: JobId,
        now: i64,
        scheduler: &mut dyn Scheduler,
        allocator: &mut dyn Allocator,
    ) {
        let request = self.request(id);
        allocator.on_event(&self.machine, MachineEvent::JobQueued(request));
        let bounds = allocator.bounds(request);
        let size = bounds.min_processors;
        let takes = bounds.max_processors.min(self.machine.processors() as u64) as u32;
        let (estimate, turn) = (self.input.jobs[id.index()].estimate, self.turns[id.index()]);
        scheduler.arrive(QueuedJob { id, size, takes, estimate, turn }, now);
    }

    /// Discards state that is invalid after processors become free or go out of service.
    fn invalidate(&mut self) {
        self.reserved = None;
        if let Some(answers) = &mut self.answers {
            answers.clear();
        }
        self.fragmented = false;
    }

    fn state(&self, waiting: usize, allocator: &dyn Allocator) -> State {
        let down = self.machine.down_count();
        let stats = allocator.stats();
        State {
            held: (self.machine.processors() - self.machine.free_count() - down) as u32,
            down: down as u32,
            requested: self.requested,
            waiting: waiting as u32,
            fragmented: self.fragmented,
            census: stats.census,
            blocked: stats.menu_fragmentation,
        }
    }

    /// Reserves a place for the head of the queue and returns the time at which the place is free.
    fn reserve(
        &mut self,
        head: JobId,
        now: i64,
        allocator: &mut dyn Allocator,
    ) -> Result<i64, SimulationError> {
        if let Some(known) = self.reserved.as_ref().filter(|known| known.job == head) {
            return Ok(known.at);
        }
        let times = Times { submitted: self.submitted[head.index()], ..Times::default() };
        let request = Request { times, ..self.request(head) };
        let least = allocator.bounds(request).min_processors_now;
        // A new search for the same job starts at the result of the previous search.
        let before = self.last_place.filter(|(job, _)| *job == head).map(|(_, at)| at);
        let is_replaceable = self.replaces_places;
        let query = PlaceQuery { job: head, request, least, now, before, is_replaceable };
        let found = match self.keeps_future {
            true => {
                let refusal = self.known_refusal(query, allocator);
                self.find_in_future(query, refusal, allocator)
            }
            false => {
                let running = held_by_running(&self.running, &self.held, &self.slots);
                Reserved::find(query, &self.machine, &self.down, allocator, running)
            }
        };
        match found {
            Ok(Some(found)) => {
                let at = found.at;
                self.last_place = Some((head, at));
                self.reserved = Some(found);
                // Cached decisions may refuse a job because it overlaps the previous place. The job may not overlap the
                // new place.
                if let Some(answers) = &mut self.answers {
                    answers.machine_changed();
                }
                Ok(at)
            }
            // The head has no place because of outages. Other jobs may start until the head has a place.
            Ok(None) if self.down.is_active() => Ok(i64::MAX),
            Ok(None) => Err(self.never_fits(head, Refusal::Fragmented)),
            Err(Refusal::Cancelled(cancelled)) => Err(cancelled.into()),
            Err(refusal) => Err(self.never_fits(head, refusal)),
        }
    }

    /// Finds a place in the kept future.
    fn find_in_future(
        &mut self,
        query: PlaceQuery,
        refusal: Option<Option<i64>>,
        allocator: &dyn Allocator,
    ) -> Result<Option<Reserved>, Refusal> {
        if self.future.is_none() {
            let copy = allocator.try_clone();
            self.future = copy.map(|copy| Future::new(self.machine.clone(), copy));
        }
        let Some(future) = &mut self.future else { return Ok(None) };
        let running: Vec<_> = held_by_running(&self.running, &self.held, &self.slots).collect();
        let found = future.find(query, refusal, self.machine.free_count(), &running)?;
        Ok(found.map(|(at, place)| {
            let times = Times { now: at, ..query.request.times };
            let request = Request { times, ..query.request };
            let query = PlaceQuery { request, ..query };
            Reserved::new(query, at, place, None, self.machine.processors())
        }))
    }

    /// Returns whether a refusal of the head in the current state is known. The value is the end of the postponement,
    /// if any.
    fn known_refusal(
        &mut self,
        query: PlaceQuery,
        allocator: &mut dyn Allocator,
    ) -> Option<Option<i64>> {
        let PlaceQuery { job, request, now, .. } = query;
        let version = self.machine.version();
        let is_same = |one: &Postponement| (one.job, one.now, one.version) == (job, now, version);
        if let Some(postponed) = self.postponed.filter(is_same) {
            return Some(Some(postponed.until));
        }
        let free = self.machine.free_count();
        let known = self.answers.as_mut()?.known(request, free, false, allocator)?;
        matches!(known, CachedDecision::Refused(_)).then_some(None)
    }

    /// Allocates processors for a job. Returns `None` if `spares` is set and the reserved place [does not admit the
    /// job](Reserved::admits).
    fn place(
        &mut self,
        id: JobId,
        now: i64,
        spares: bool,
        allocator: &mut dyn Allocator,
    ) -> Result<Option<Placed>, Refusal> {
        let mut job = self.input.jobs[id.index()];
        let submitted = self.submitted[id.index()];
        let times = Times { now, limit: job.limit, submitted, job: Some(job.number) };
        let request = Request { times, ..self.request(id) };
        self.overhead.attempts += 1;
        let free = self.machine.free_count();
        let known = |answers: &mut DecisionCache| answers.known(request, free, spares, allocator);
        match self.answers.as_mut().and_then(known) {
            Some(CachedDecision::Refused(refusal)) => return Err(refusal),
            Some(CachedDecision::TakesReserved) => return Ok(None),
            None => self.overhead.allocator_calls += 1,
        }
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.held.push(Vec::new());
            self.held.len() - 1
        });
        let nodes = &mut self.held[slot];
        nodes.clear();
        let begin = self.input.timed.then(Instant::now);
        let outcome = allocator.allocate(&self.machine, request, nodes);
        self.overhead.time += begin.map_or(Duration::ZERO, |begin| begin.elapsed());
        if let Err(refusal) = outcome {
            self.spare.push(slot);
            if let Some(answers) = &mut self.answers {
                answers.refused(request, refusal, allocator);
            }
            if let Refusal::Postponed { until } = refusal {
                let version = self.machine.version();
                self.postponed = Some(Postponement { job: id, now, version, until });
            }
            return Err(refusal);
        }
        let admitted = match self.reserved.as_mut().filter(|_| spares) {
            Some(reserved) => reserved.admits(nodes, self.future.as_mut().map(Future::copies))?,
            None => true,
        };
        if !admitted {
            // Undo the allocation. The allocator is notified as if the job had started and ended at the same time.
            self.machine.occupy(nodes);
            self.machine.release(nodes);
            allocator.on_event(&self.machine, MachineEvent::Released(nodes));
            self.spare.push(slot);
            if let Some(answers) = self.answers.as_mut().filter(|_| self.strategy.chooses_by_free) {
                answers.takes_reserved(request);
            }
            return Ok(None);
        }
        let stats = allocator.stats();
        if let Some(answers) = &mut self.answers {
            answers.machine_changed();
        }
        if let Some(reduction) = &stats.reduction {
            job = reduction.of(job);
            self.reduced.insert(id, job.size);
        }
        debug_assert!(nodes.len() >= job.size as usize);
        self.machine.occupy(nodes);
        self.slots[id.index()] = slot as u32;
        self.requested += job.size;
        let estimated_end = now + job.estimate;
        if !spares {
            self.reserved.take_if(|reserved| reserved.at < estimated_end);
        }
        self.running.insert(Running { estimated_end, id, size: nodes.len() as u32 });
        if let Some(future) = &mut self.future {
            future.start(estimated_end, nodes);
        }
        Ok(Some(Placed { slot, job, stats }))
    }

    /// Returns the processors of a job.
    fn processors_of(&mut self, slot: usize) -> &[NodeId] {
        match &mut self.sharing {
            None => &self.held[slot],
            Some(sharing) => sharing.processors(&self.held[slot]),
        }
    }

    fn complete(&mut self, id: JobId, allocator: &mut dyn Allocator) {
        self.invalidate();
        let slot = self.slots[id.index()] as usize;
        let nodes = &self.held[slot];
        self.machine.release(nodes);
        let begin = self.input.timed.then(Instant::now);
        allocator.on_event(&self.machine, MachineEvent::Released(nodes));
        self.overhead.time += begin.map_or(Duration::ZERO, |begin| begin.elapsed());
        self.down.drain(&mut self.machine, nodes, allocator);
        if let Some(sharing) = &mut self.sharing {
            let freed = std::mem::take(&mut self.held[slot]);
            sharing.promote(&mut self.machine, &freed, &mut self.held);
        }
        let ended = self.running.remove_job(id);
        if let (Some(future), Some(ended)) = (&mut self.future, ended) {
            future.complete(ended.estimated_end, &self.held[slot]);
        }
        let request = self.request(id);
        self.requested -= self.reduced.remove(&id).unwrap_or(request.size);
        allocator.on_event(&self.machine, MachineEvent::JobFinished(request));
        self.spare.push(slot);
    }

    /// Records a refusal. Fails if the machine is empty, because a job that was refused on the empty machine can never
    /// start.
    fn may_fit_later(&mut self, id: JobId, refusal: Refusal) -> Result<(), SimulationError> {
        if let Refusal::Postponed { until } = refusal {
            self.retries.insert(until);
        } else if self.machine.free_count() == self.machine.processors() {
            return Err(self.never_fits(id, refusal));
        }
        self.fragmented |= refusal != Refusal::TooFewFree;
        Ok(())
    }

    fn never_fits(&self, id: JobId, refusal: Refusal) -> SimulationError {
        let processors = self.input.topology.processors();
        let &Job { number, line, size, .. } = &self.input.jobs[id.index()];
        SimulationError::NeverFits { number, line, size, processors, refusal }
    }
}
