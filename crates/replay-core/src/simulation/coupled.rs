mod answers;
mod down;
mod reserved;
mod sharing;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use self::answers::{Answer, Answers};
use self::down::Down;
use self::reserved::{Reserved, Wanted};
use self::sharing::Sharing;
use super::arrivals::Arrivals;
use super::input::Input;
use super::{Decision, Observer, Overhead, Service, Shared, SimulationError, State};
use crate::allocator::{
    Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats, Times,
};
use crate::machine::Machine;
use crate::scheduler::{
    QueuedJob, Rejection, Running, RunningJobs, Scheduler, SchedulerEvent, Selection, System,
};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Runs the jobs through scheduler, allocator and service in one event loop, in the order
/// of events of [`simulation`](crate::simulation). The loop allocates no memory per
/// decision once its buffers have grown.
///
/// # Errors
/// [`SimulationError`].
pub fn simulate(
    input: Input<'_>,
    scheduler: &mut dyn Scheduler,
    allocator: &mut dyn Allocator,
    service: &mut dyn Service,
    observer: &mut dyn Observer,
) -> Result<Overhead, SimulationError> {
    let (discipline, strategy) = (scheduler.capabilities(), allocator.capabilities());
    if !strategy.keeps_schedule && !discipline.takes_refusals {
        return Err(SimulationError::Scheduler);
    }
    let places = discipline.reserves_places && !strategy.keeps_schedule;
    if places && allocator.try_clone().is_none() {
        return Err(SimulationError::NoCopies);
    }
    if places && !strategy.refusals_last {
        return Err(SimulationError::NoLastingPlaces);
    }
    if strategy.folds && !service.takes_folded() {
        return Err(SimulationError::Folded);
    }
    let Input { jobs, topology, follows, outages, .. } = input;
    if !outages.is_empty() {
        if !strategy.supports_outages || strategy.hosts.is_some() {
            return Err(SimulationError::NoOutages("an allocator with books of its own"));
        }
        // Who is told places need not count processors.
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
        // Strategies that reduce jobs count their refusals, and hosts of a cluster change in use.
        answers: (!strategy.folds && strategy.hosts.is_none()).then(Answers::default),
        reserved: None,
        last_place: None,
        down: Down::new(outages, topology.slots()),
        turns: vec![0; jobs.len()],
        overhead: Overhead::default(),
    };
    system.machine.wall_off(outages.walls);
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
        // What was due already waits for a completion: only the future is an instant of its own.
        let due = scheduler.next_wakeup(last);
        // What leaves or returns when all is over is of no interest.
        let change = system.down.next_time().filter(|_| left > 0);
        let until = next_arrival.into_iter().chain(due).chain(change).min();
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
        if observer.is_done() {
            return Ok(system.overhead);
        }
        while let Some((id, arrival)) = arrivals.arrived(now) {
            input.stop.check()?;
            observer.arrived(id, arrival);
            arrived += 1;
            system.turns[id.index()] = arrived;
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
                        observer.reduced(id, jobs[id.index()].size, reduction);
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
                    if !outages.is_empty() {
                        let outages = outages.steps_of(&system.held[slot], now);
                        scheduler.on_event(SchedulerEvent::OutagesOverlap { job: id, outages });
                    }
                }
                Err(Refusal::Cancelled(stopped)) => return Err(stopped.into()),
                Err(refusal) => {
                    system.may_fit_later(id, refusal)?;
                    let lasts = refusal == Refusal::TooFewFree || strategy.refusals_last;
                    scheduler.on_refused(id, Rejection::Refused { lasts });
                    // A scheduler goes by the fewest processors that a job may ever have.
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
    /// Of the allocator.
    strategy: Capabilities,
    machine: Machine,
    running: RunningJobs,
    /// Processors of running jobs, by slot.
    held: Vec<Vec<NodeId>>,
    spare: Vec<usize>,
    /// If jobs share processors.
    sharing: Option<Sharing>,
    /// Slot by job.
    slots: Vec<u32>,
    requested: u32,
    /// Processors that running jobs got instead of those they ask for.
    reduced: HashMap<JobId, u32>,
    fragmented: bool,
    /// What need not be asked again.
    answers: Option<Answers>,
    /// The place that the head of the queue waits for. It holds until a job completes: whoever starts
    /// leaves it free, or gives it back in time.
    reserved: Option<Reserved>,
    /// The head for which a place was found last, and when it was to be free.
    last_place: Option<(JobId, i64)>,
    down: Down<'a>,
    /// By job: its place in the order of arrival.
    turns: Vec<u64>,
    overhead: Overhead,
}

/// A job that starts.
struct Placed {
    slot: usize,
    /// As it runs.
    job: Job,
    /// What the allocator counts then.
    stats: Stats,
}

impl Coupled<'_> {
    fn request(&self, id: JobId) -> Request {
        let &Job { size, shape, .. } = &self.input.jobs[id.index()];
        Request::shaped(size, shape)
    }

    /// A job joins the queue.
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

    /// What was known of the machine as it was is known no more.
    fn known_no_more(&mut self) {
        self.reserved = None;
        if let Some(answers) = &mut self.answers {
            answers.freed();
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

    /// When the head of the queue will have a place.
    fn reserve(
        &mut self,
        head: JobId,
        now: i64,
        allocator: &mut dyn Allocator,
    ) -> Result<i64, SimulationError> {
        if let Some(known) = self.reserved.as_ref().filter(|known| known.job == head) {
            return Ok(known.at);
        }
        let processors = |id: JobId| self.held[self.slots[id.index()] as usize].as_slice();
        let running = self.running.iter().map(|job| (job.estimated_end, processors(job.id)));
        let request = self.request(head);
        let least = allocator.bounds(request).min_processors_now;
        // Where it was before is where it is looked for first.
        let before = self.last_place.filter(|(job, _)| *job == head).map(|(_, at)| at);
        let wanted = Wanted { job: head, request, least, now, before };
        match Reserved::find(wanted, &self.machine, &self.down, allocator, running) {
            Ok(Some(found)) => {
                let at = found.at;
                self.last_place = Some((head, at));
                self.reserved = Some(found);
                // Whom another place would not have spared this one may.
                if let Some(answers) = &mut self.answers {
                    answers.taken();
                }
                Ok(at)
            }
            // By the windows that are known: whoever comes may start meanwhile.
            Ok(None) if self.down.matters() => Ok(i64::MAX),
            Ok(None) => Err(self.never_fits(head, Refusal::Fragmented)),
            Err(Refusal::Cancelled(stopped)) => Err(stopped.into()),
            Err(refusal) => Err(self.never_fits(head, refusal)),
        }
    }

    /// Gives the job processors; `None` if it `spares` the reserved place and would take of it.
    fn place(
        &mut self,
        id: JobId,
        now: i64,
        spares: bool,
        allocator: &mut dyn Allocator,
    ) -> Result<Option<Placed>, Refusal> {
        let mut job = self.input.jobs[id.index()];
        let times = Times { now, limit: job.limit, job: Some(job.number) };
        let request = Request { times, ..self.request(id) };
        self.overhead.attempts += 1;
        let free = self.machine.free_count();
        let known = |answers: &mut Answers| answers.known(request, free, spares, allocator);
        match self.answers.as_mut().and_then(known) {
            Some(Answer::Refused(refusal)) => return Err(refusal),
            Some(Answer::Takes) => return Ok(None),
            None => self.overhead.asked += 1,
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
            return Err(refusal);
        }
        let reserved = self.reserved.as_ref().filter(|_| spares);
        if reserved.is_some_and(|reserved| !reserved.spared_by(nodes)) {
            // The allocator takes it for placed: it is, for no time.
            self.machine.occupy(nodes);
            self.machine.release(nodes);
            allocator.on_event(&self.machine, MachineEvent::Released(nodes));
            self.spare.push(slot);
            if let Some(answers) = self.answers.as_mut().filter(|_| self.strategy.chooses_by_free) {
                answers.took(request);
            }
            return Ok(None);
        }
        let stats = allocator.stats();
        if let Some(answers) = &mut self.answers {
            answers.taken();
        }
        if let Some(reduction) = &stats.reduction {
            job = reduction.of(job);
            self.reduced.insert(id, job.size);
        }
        debug_assert!(nodes.len() >= job.size as usize);
        self.machine.occupy(nodes);
        self.slots[id.index()] = slot as u32;
        self.requested += job.size;
        self.running.insert(Running {
            estimated_end: now + job.estimate,
            id,
            size: nodes.len() as u32,
        });
        Ok(Some(Placed { slot, job, stats }))
    }

    /// The processors of a job.
    fn processors_of(&mut self, slot: usize) -> &[NodeId] {
        match &mut self.sharing {
            None => &self.held[slot],
            Some(sharing) => sharing.processors(&self.held[slot]),
        }
    }

    fn complete(&mut self, id: JobId, allocator: &mut dyn Allocator) {
        self.known_no_more();
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
        self.running.remove_job(id);
        let asked = self.request(id);
        self.requested -= self.reduced.remove(&id).unwrap_or(asked.size);
        allocator.on_event(&self.machine, MachineEvent::JobFinished(asked));
        self.spare.push(slot);
    }

    /// Notes a refusal; an error if the machine is empty and can never be better.
    fn may_fit_later(&mut self, id: JobId, refusal: Refusal) -> Result<(), SimulationError> {
        if self.machine.free_count() == self.machine.processors() {
            return Err(self.never_fits(id, refusal));
        }
        self.fragmented |= refusal == Refusal::Fragmented;
        Ok(())
    }

    fn never_fits(&self, id: JobId, refusal: Refusal) -> SimulationError {
        let processors = self.input.topology.processors();
        let &Job { number, line, size, .. } = &self.input.jobs[id.index()];
        SimulationError::NeverFits { number, line, size, processors, refusal }
    }
}

#[cfg(test)]
mod tests;
