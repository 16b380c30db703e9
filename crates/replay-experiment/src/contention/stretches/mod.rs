//! A run of a trace in several stretches at a time.
//!
//! Where nothing is in the system, what follows depends on nothing that was. Where that is, the network
//! decides; so it is guessed ([`cuts`]), by schedules in which every job takes so many times as long as alone. From each
//! of these places a *part* is run from an empty machine, several at a time, and ends at the first of
//! them at which really nothing is in the system ([`board`]). The run is the first part, the part that
//! begins where it ended, and so on; parts that are not among them were run in vain.
//!
//! # What is certain
//!
//! A part ends at the arrival of a job if, before it, nothing runs or waits, all packets are delivered, all
//! channels are free, and no job ends at that very instant. The network then is as at the beginning
//! of a part. Scheduler and allocator are so if they keep nothing of the past, and say so themselves
//! ([`Capabilities::forgets_when_empty`](replay_core::scheduler::Capabilities::forgets_when_empty),
//! [also of allocators](replay_core::allocator::Capabilities::forgets_when_empty)); a run with others is in one piece. Jobs draw by their own numbers, and
//! cycles are those of the whole run. What is added up over jobs and parts are integers; so the outcome is
//! that of one piece, to the last bit. What fails is run once more in one piece, so that errors are the same,
//! too.
//!
//! # What is done in vain
//!
//! The *head* is the part that is certain to belong to the run; it goes on over places at which
//! something is in the system. A part that is run ahead goes on over such a place only if nobody has begun
//! there, else it is given up, unless it has become the head by then. So every job is run ahead at most once,
//! and in vain at most once. When more than a quarter of the work was in vain,
//! nothing more is run ahead: what is in vain is at most that quarter and the parts that were being run then.
//!
//! # Threads
//!
//! Whoever is alone takes the parts in order, each of which is the head then: nothing is run in vain, and to
//! cut costs next to nothing. Others join in as rayon has them steal, threads without a cell of their own. So
//! cells come before stretches, without a rule that says so, and the last cells of a grid, or its only
//! one, are run on all threads. On one thread there is nothing to cut for.

mod board;
mod cuts;

use std::sync::{Mutex, PoisonError};

use super::watcher::{Heard, Seen, Strategies, Watcher};
use super::{Isolation, Stage, TraceError};
use board::{Board, Outcome, Whole};
use replay_core::allocator::Allocator;
use replay_core::simulation::{Observer, Scene, simulate_from};
use replay_core::stop::Stop;
use replay_core::workload::JobId;
use replay_network::traffic::JobTraffic;

/// Parts for each thread: enough that they end at about the same time, though they are not of even work.
const PARTS: u64 = 16;

/// What jobs came to on the network.
pub struct Ran {
    /// What was seen of them.
    pub seen: Seen,
    /// What every one sent.
    pub sent: Vec<JobTraffic>,
    /// By channel, cycles for which it was reserved; only of links.
    pub busy: Vec<u64>,
    /// The last cycle.
    pub now: u64,
}

impl Ran {
    /// Takes in the jobs that follow, from an empty machine on.
    fn append(mut self, later: Self) -> Self {
        self.seen.append(later.seen);
        self.sent.extend(later.sent);
        self.busy.iter_mut().zip(later.busy).for_each(|(sum, busy)| *sum += busy);
        self.now = later.now;
        self
    }
}

/// Runs isolated jobs together.
///
/// # Errors
/// [`TraceError`].
pub fn run(
    stage: Stage<'_>,
    isolation: &Isolation,
    strategies: Strategies<'_>,
) -> Result<Ran, TraceError> {
    let course = Course::new(stage, isolation, strategies);
    let scheduler = strategies.scheduler;
    let processors = stage.topology.processors() as u32;
    let allocator = course.allocator()?;
    let forgets = allocator.capabilities().forgets_when_empty
        && scheduler.build(processors).capabilities().forgets_when_empty;
    course.done_with(allocator);
    let parts = match rayon::current_num_threads() as u64 {
        threads if threads > 1 && forgets => PARTS * threads,
        _ => 1,
    };
    let cuts = cuts::guess(isolation, processors, parts, stage.watch.stop);
    if cuts.len() > 1 {
        match course.in_parts(&cuts) {
            Ok(whole) => {
                if let Some(ran) = whole.parts.into_iter().reduce(Ran::append) {
                    return Ok(ran);
                }
            }
            Err(stopped @ TraceError::Stopped(_)) => return Err(stopped),
            // In one piece it says of what.
            Err(_) => {}
        }
    }
    course.in_one_piece()
}

/// A run, and what its parts share.
struct Course<'a> {
    stage: Stage<'a>,
    isolation: &'a Isolation,
    strategies: Strategies<'a>,
    heard: Heard<'a>,
    /// Allocators that a part has done with.
    allocators: Mutex<Vec<Box<dyn Allocator>>>,
}

impl<'a> Course<'a> {
    fn new(stage: Stage<'a>, isolation: &'a Isolation, strategies: Strategies<'a>) -> Self {
        let heard = Heard::new(stage.watch, isolation.jobs.len());
        Self { stage, isolation, strategies, heard, allocators: Mutex::default() }
    }

    fn in_one_piece(&self) -> Result<Ran, TraceError> {
        let (_, ran) = self.ran(0, Gate::new(&[], 0, &|_| true, self.stage.watch.stop))?;
        Ok(ran)
    }

    /// Cut before these jobs, the first of which is the first of all.
    fn in_parts(&self, cuts: &[usize]) -> Result<Whole<Ran>, TraceError> {
        let ends = cuts.iter().skip(1).copied().chain([self.isolation.jobs.len()]);
        let work = cuts.iter().zip(ends).map(|(&cut, end)| cuts::work(self.isolation, cut..end));
        let board = Board::new(work.collect());
        let others = rayon::current_num_threads().min(cuts.len()) - 1;
        rayon::scope(|scope| {
            (0..others).for_each(|_| scope.spawn(|_| self.work(cuts, &board)));
            self.work(cuts, &board);
        });
        board.whole()
    }

    /// Runs parts as long as there are some.
    fn work(&self, cuts: &[usize], board: &Board<Ran, TraceError>) {
        while let Some(part) = board.take() {
            let stop = self.stage.watch.stop.part();
            let goes_on = |cut| board.goes_on(part, cut);
            let ran = self.ran(cuts[part], Gate::new(cuts, part + 1, &goes_on, &stop));
            let outcome = match ran {
                Ok((cut, ran)) => Outcome::Ended(cut, ran),
                Err(TraceError::Stopped(_)) if !self.stage.watch.stop.is_raised() => Outcome::Left,
                Err(error @ TraceError::Stopped(_)) => Outcome::Stopped(error),
                Err(error) => Outcome::Failed(error),
            };
            board.over(part, outcome);
        }
    }

    /// Runs the jobs from `first` on, from an empty machine to where the gate ends it: which cut that is, and
    /// what became of the jobs before it.
    fn ran(&self, first: usize, gate: Gate<'_>) -> Result<(usize, Ran), TraceError> {
        let Stage { topology, messages, watch, .. } = self.stage;
        let Strategies { scheduler, seed, .. } = self.strategies;
        let (jobs, quotas) = (&self.isolation.jobs, &self.isolation.quotas);
        let mut allocator = self.allocator()?;
        let mut scheduler = scheduler.build(topology.processors() as u32);
        let mut service = messages
            .on(topology, seed, Some(quotas.clone()))?
            .recording(jobs.len())
            .stopped_by(watch.stop.clone());
        let stop = gate.stop.clone();
        let scene = Scene { jobs, topology, timed: false, stop: &stop };
        let mut observers = (Watcher::new(topology, self.isolation, &self.heard), gate);
        let overhead = simulate_from(
            scene,
            JobId(first as u32),
            scheduler.as_mut(),
            allocator.as_mut(),
            &mut service,
            &mut observers,
        )?;
        self.done_with(allocator);
        let (watcher, gate) = observers;
        // A part that is given up can be over before it looks at its flag.
        stop.check()?;
        let jobs = first..gate.cuts.get(gate.next).copied().unwrap_or(jobs.len());
        let network = service.traffic.network();
        let mut busy = vec![0; network.channels()];
        network.carried().for_each(|(id, cycles, _)| busy[id.index()] = cycles);
        let ran = Ran {
            seen: watcher.seen(overhead).only(&jobs),
            sent: service.by_job().get(jobs).unwrap_or_default().to_vec(),
            busy,
            now: network.now(),
        };
        Ok((gate.next, ran))
    }

    /// An allocator that nobody uses, to be reset.
    fn allocator(&self) -> Result<Box<dyn Allocator>, TraceError> {
        let known = self.allocators.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(allocator) = known {
            return Ok(allocator);
        }
        let Strategies { allocator, seed, .. } = self.strategies;
        Ok(allocator.build(self.stage.topology, seed)?)
    }

    fn done_with(&self, allocator: Box<dyn Allocator>) {
        self.allocators.lock().unwrap_or_else(PoisonError::into_inner).push(allocator);
    }
}

/// Ends a part.
struct Gate<'a> {
    cuts: &'a [usize],
    /// The cut that comes next.
    next: usize,
    /// Whether to go on over a cut.
    goes_on: &'a (dyn Fn(usize) -> bool + 'a),
    /// The part's own.
    stop: &'a Stop,
}

impl<'a> Gate<'a> {
    fn new(
        cuts: &'a [usize],
        next: usize,
        goes_on: &'a (dyn Fn(usize) -> bool + 'a),
        stop: &'a Stop,
    ) -> Self {
        Self { cuts, next, goes_on, stop }
    }

    fn is_at(&self, job: JobId) -> bool {
        self.cuts.get(self.next) == Some(&job.index())
    }
}

impl Observer for Gate<'_> {
    fn empty(&mut self, next: JobId, _: i64) -> bool {
        !self.is_at(next)
    }

    fn arrived(&mut self, job: JobId, _: i64) {
        if self.is_at(job) {
            match (self.goes_on)(self.next) {
                true => self.next += 1,
                false => self.stop.raise(),
            }
        }
    }
}

#[cfg(test)]
mod tests;
