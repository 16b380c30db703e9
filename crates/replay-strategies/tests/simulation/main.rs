//! Simulations with the strategies of the project.

use proptest::prelude::*;

use replay_contract::Intervals;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{
    Allocator, Capabilities, Decorator, MachineEvent, Refusal, Request, RunSetup,
};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::scheduler::{OutOfOrder, Promises, QueueOrder, Scheduler, Selection, System};
use replay_engine::simulation::{
    Decision, Decisions, Observer, Outages, Simulation, SimulationError, Starts, State, Timeline,
};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Job, JobId};
use replay_strategies::standard;

#[derive(Default)]
struct Log {
    starts: Vec<i64>,
    nodes: Vec<Vec<NodeId>>,
    /// The refused heads of the queue in arrival order, each with the latest estimated end among the jobs that were
    /// running when the head was refused.
    missed: Vec<(JobId, i64)>,
    running: Vec<JobId>,
    /// All jobs in order of their starts.
    order: Vec<JobId>,
    refusals: usize,
    promises: Option<Promises>,
}

struct Logger<'a> {
    jobs: &'a [Job],
    log: Log,
}

impl<'a> Logger<'a> {
    fn new(jobs: &'a [Job]) -> Self {
        let log = Log {
            starts: vec![i64::MIN; jobs.len()],
            nodes: vec![Vec::new(); jobs.len()],
            ..Log::default()
        };
        Self { jobs, log }
    }
}

impl Observer for Logger<'_> {
    fn refused(&mut self, job: JobId, _refusal: Refusal) {
        self.log.refusals += 1;
        let is_head = self.log.starts[..job.index()].iter().all(|&start| start != i64::MIN);
        if is_head && !self.log.missed.iter().any(|(id, _)| *id == job) {
            let ends = self
                .log
                .running
                .iter()
                .map(|id| self.log.starts[id.index()] + self.jobs[id.index()].estimate);
            // A postponed job may be refused on an idle machine.
            self.log.missed.extend(ends.max().map(|latest| (job, latest)));
        }
    }

    fn started(&mut self, Decision { job, now, nodes, .. }: Decision<'_>) {
        self.log.starts[job.index()] = now;
        self.log.nodes[job.index()] = nodes.to_vec();
        self.log.running.push(job);
        self.log.order.push(job);
    }

    fn completed(&mut self, job: JobId, _now: i64) {
        self.log.running.retain(|id| *id != job);
    }
}

fn run(
    jobs: &[Job],
    machine: &str,
    scheduler: &str,
    allocator: &mut dyn Allocator,
) -> Result<Log, SimulationError> {
    let topology: Topology = machine.parse().expect("a machine");
    let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
    let mut scheduler = scheduler.build(topology.processors() as u32);
    run_with(jobs, &topology, scheduler.as_mut(), allocator)
}

fn run_with(
    jobs: &[Job],
    topology: &Topology,
    scheduler: &mut dyn Scheduler,
    allocator: &mut dyn Allocator,
) -> Result<Log, SimulationError> {
    let (stop, mut logger) = (CancelToken::new(), Logger::new(jobs));
    let simulation = Simulation::new(jobs, topology, &stop).with_every_event();
    let overhead = simulation.run(Starts::Scheduler(scheduler), allocator, &mut logger)?;
    Ok(Log { promises: overhead.promises, ..logger.log })
}

/// Returns the registered strategies, and variants of them, that may refuse jobs or round up job sizes on this machine.
fn coupled_only(topology: &Topology) -> Vec<AllocatorSpec> {
    let variants = [
        "paging[size=1]",
        "paging[size=2]",
        "midplane[unit=2x2x2]",
        "midplane[unit=1x2x4]",
        "first-fit[shape=near-square]",
        "turning-best-fit[shape=any]",
        "busy-list[shape=near-square]",
        "anca[shape=near-square,cuts=2]",
        "frame-sliding[shape=near-square]",
        "frame-sliding[rows=first,shape=near-square]",
        "adaptive-scan[shape=near-square]",
        "placements[tie=slurm]",
        "placements[segment=4]",
        "placements[segment=4,exact-segments=yes]",
        "non-cubic[adjacent=no]",
        "afl[over=cube-buddy]",
    ];
    let specs = standard()
        .allocators
        .names()
        .chain(variants)
        .map(|name| replay_strategies::allocator(name).expect("a strategy"));
    // Folded jobs run longer than their estimates.
    let may = |spec: &AllocatorSpec| {
        let built = spec.build(topology, 1);
        let built = built.map(|built| built.capabilities());
        built.is_ok_and(|strategy| !strategy.keeps_schedule && !strategy.folds)
    };
    specs.filter(may).collect()
}

#[test]
fn cancellation_ends_a_simulation_and_is_not_a_refusal() {
    let (jobs, topology) = ([job(0, 5, 5, 2)], "4x4".parse().expect("a machine"));
    let stop = CancelToken::new();
    let simulation = || Simulation::new(&jobs, &topology, &stop);
    let mut scheduler = SchedulerSpec::fcfs().build(16);
    // Cancellation during the decision.
    struct Stopping<'a>(&'a CancelToken);
    impl Allocator for Stopping<'_> {
        fn allocate(
            &mut self,
            _: &Machine,
            _: Request,
            _: &mut Vec<NodeId>,
        ) -> Result<(), Refusal> {
            self.0.raise();
            Ok(self.0.check()?)
        }
    }
    let allocator = &mut Stopping(&stop);
    let starts = Starts::Scheduler(scheduler.as_mut());
    let cancelled = simulation().with_every_event().run(starts, allocator, &mut ());
    assert!(matches!(cancelled, Err(SimulationError::Cancelled(_))), "{cancelled:?}");
    // Cancellation before the decision.
    let timeline =
        Timeline::compute(&jobs, 16, SchedulerSpec::fcfs().build(16).as_mut(), &CancelToken::new());
    let timeline = timeline.expect("it runs");
    let decisions = &mut Decisions(|_: Decision<'_>| panic!("a decision"));
    let cancelled = simulation().run(Starts::Timeline(&timeline), allocator, decisions);
    assert!(matches!(cancelled, Err(SimulationError::Cancelled(_))), "{cancelled:?}");
}

fn job(submit: i64, run: i64, estimate: i64, size: u32) -> Job {
    Job { estimate, ..replay_engine::workload::Job::exact(submit, run, size) }
}

fn jobs(largest: u32) -> impl Strategy<Value = Vec<Job>> {
    let one = (0..8i64, 0..40i64, 0..3i64, 1..=largest);
    proptest::collection::vec(one, 1..60).prop_map(|jobs| {
        let mut now = 0;
        let place = |(wait, run, slack, size)| {
            now += wait;
            job(now, run, run * (1 + slack), size)
        };
        jobs.into_iter().map(place).collect()
    })
}

#[test]
fn a_head_that_missed_its_reservation_starts_at_the_latest_on_an_empty_machine() {
    // Jobs 0 to 3 fill the machine with two processors each (2 + 2 + 2 + 2); jobs 0 and 2 end at 10. The head needs 4
    // processors in a row: enough processors are free, but they are not contiguous.
    let jobs = [
        job(0, 10, 10, 2),
        job(0, 50, 50, 2),
        job(0, 10, 10, 2),
        job(0, 20, 20, 2),
        job(1, 5, 5, 4),
        // This job would end after the last running job, so it is not backfilled after the refusal of the head.
        job(2, 41, 41, 1),
        // This job ends together with the last running job, so it is backfilled.
        job(3, 40, 40, 1),
    ];
    let log = run(&jobs, "2x4", "easy", &mut Intervals).expect("it runs");
    assert_eq!(log.missed, [(JobId(4), 50)]);
    assert_eq!(log.starts, [0, 0, 0, 0, 20, 20, 10]);
    // Under `fcfs`, no job overtakes the head. Under `out-of-order`, any job may overtake the head.
    let starts = |scheduler| run(&jobs, "2x4", scheduler, &mut Intervals).expect("it runs").starts;
    assert_eq!(starts("fcfs"), [0, 0, 0, 0, 20, 20, 20]);
    assert_eq!(starts("out-of-order"), [0, 0, 0, 0, 20, 10, 10]);
}

#[test]
fn rejects_a_job_that_can_never_be_placed() {
    struct Never;
    impl Allocator for Never {
        fn allocate(
            &mut self,
            _machine: &Machine,
            _request: Request,
            _chosen: &mut Vec<NodeId>,
        ) -> Result<(), Refusal> {
            Err(Refusal::Fragmented)
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::coupled()
        }
    }
    let jobs = [Job { number: 17, line: 4, ..job(0, 1, 1, 3) }];
    let error = run(&jobs, "2x2", "fcfs", &mut Never).err().expect("an error").to_string();
    assert!(error.starts_with("job 17 (line 4) needs 3 processors"), "{error}");
    let error = run(&jobs, "2x2", "conservative", &mut Never).err().expect("an error");
    assert!(matches!(error, SimulationError::Scheduler));
}

/// Refused jobs are not selected again before a job has ended, even if a new job arrives ahead of them in the queue.
#[test]
fn nothing_is_refused_twice_between_completions() {
    // From time 10 on, there are three holes of one processor; a job of two processors arrives at time 20.
    let held = [1000, 10, 1000, 10, 1000, 10, 1000].map(|run| job(0, run, run, 1));
    let jobs = [&held[..], &[job(20, 100, 100, 2), job(30, 2000, 2000, 1)]].concat();
    let allocator = replay_strategies::allocator("first-fit").expect("an allocator");
    for scheduler in ["out-of-order[order=smallest]", "out-of-order", "easy[order=smallest]"] {
        let topology: Topology = "7x1".parse().expect("a mesh");
        let mut built = allocator.build(&topology, 0).expect("it works");
        let log = run(&jobs, "7x1", scheduler, built.as_mut()).expect("it runs");
        assert_eq!(log.refusals, 1, "{scheduler}");
    }
}

/// Three jobs of one size: the second job gets a new place when two jobs wait per running job. The third job takes the
/// place of the first job.
#[test]
fn a_lazy_job_takes_the_place_of_a_completed_one() {
    let jobs = [job(0, 100, 100, 4), job(1, 100, 100, 4), job(2, 100, 100, 4)];
    for allocator in ["mc1x1", "first-fit"] {
        let allocator = replay_strategies::allocator(allocator).expect("an allocator");
        let topology: Topology = "4x4".parse().expect("a mesh");
        let mut built = allocator.build(&topology, 0).expect("it works");
        let log = run(&jobs, "4x4", "lazy", built.as_mut()).expect("it runs");
        assert_eq!(log.starts, [0, 2, 100], "{allocator}");
    }
}

/// A page has four processors. A job of one processor takes a whole page, so the head, which needs all 64 processors,
/// cannot start.
#[test]
fn rounding_up_does_not_take_processors_from_the_head() {
    let jobs =
        [job(0, 100, 100, 10), job(0, 1000, 1000, 36), job(1, 50, 50, 63), job(2, 5000, 5000, 1)];
    let paging = replay_strategies::allocator("paging[size=1]").expect("an allocator");
    let mut paging = paging.build(&"10x10".parse().expect("a mesh"), 0).expect("it works");
    let log = run(&jobs, "10x10", "easy", paging.as_mut()).expect("it runs");
    assert_eq!(log.starts, [0, 0, 100, 150]);
    // If the head of the queue needs 60 processors, one page remains free.
    let jobs = [&jobs[..2], &[job(1, 50, 50, 60), jobs[3]]].concat();
    let log = run(&jobs, "10x10", "easy", paging.as_mut()).expect("it runs");
    assert_eq!(log.starts, [0, 0, 100, 2]);
}

proptest! {
    #[test]
    fn agrees_with_the_timeline_if_no_job_is_refused(
        jobs in jobs(16),
        scheduler in proptest::sample::select(vec![
            "fcfs", "easy", "conservative", "out-of-order", "largest", "ssd", "easy[order=smallest]",
            "priority[order=least-work]", "scan", "scan[direction=down,turn=batch]", "lazy", "fchp",
        ]),
        allocator in proptest::sample::select(vec![
            "mc1x1", "hilbert-best-fit", "random", "mbs", "paging", "gabl", "as-mb",
        ]),
    ) {
        let topology: Topology = "4x4".parse().expect("a mesh");
        let spec = replay_strategies::scheduler(scheduler).expect("a scheduler");
        let timeline = Timeline::compute(&jobs, 16, spec.build(16).as_mut(), &CancelToken::new()).expect("it runs");
        let allocator = replay_strategies::allocator(allocator).expect("an allocator");
        let mut expected = vec![Vec::new(); jobs.len()];
        let mut built = allocator.build(&topology, 5).expect("it works");
        let stop = CancelToken::new();
        let starts = Starts::Timeline(&timeline);
        let decisions = &mut Decisions(|Decision { job, nodes, .. }: Decision<'_>| {
            expected[job.index()] = nodes.to_vec();
        });
        let simulation = Simulation::new(&jobs, &topology, &stop);
        simulation.run(starts, built.as_mut(), decisions).expect("nothing is refused");
        let log = run(&jobs, "4x4", scheduler, built.as_mut()).expect("it runs");
        prop_assert_eq!(&log.starts[..], timeline.starts());
        prop_assert_eq!(log.nodes, expected);
    }

    #[test]
    fn every_job_starts_and_none_shares_a_processor(
        jobs in jobs(12),
        scheduler in proptest::sample::select(vec![
            "fcfs", "easy", "out-of-order", "largest", "ssd", "easy[order=largest]", "scan",
            "scan[direction=down,turn=batch]", "lazy", "lazy[patience=0]", "fchp",
        ]),
    ) {
        // `Machine` panics if a processor is allocated twice.
        let log = run(&jobs, "3x4", scheduler, &mut Intervals).expect("it runs");
        let waits = log.starts.iter().zip(&jobs).map(|(start, job)| start - job.submit);
        prop_assert!(waits.min().is_some_and(|least| least >= 0));
        if scheduler == "fcfs" {
            prop_assert!(log.starts.is_sorted());
        }
    }

    #[test]
    fn easy_keeps_a_missed_reservation(jobs in jobs(12)) {
        let log = run(&jobs, "3x4", "easy", &mut Intervals).expect("it runs");
        for (id, latest) in log.missed {
            prop_assert!(log.starts[id.index()] <= latest, "{} > {latest}", log.starts[id.index()]);
        }
    }
}

/// Counts calls of `allocate`.
struct Counted(Intervals, usize);

impl Decorator for Counted {
    fn inner(&self) -> &dyn Allocator {
        &self.0
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        &mut self.0
    }

    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(inner)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.1 += 1;
        self.0.allocate(machine, request, chosen)
    }
}

/// The middle two of four processors are held for a long time. A hundred jobs of two processors wait: two processors
/// are free, but they are not contiguous.
#[test]
fn a_refused_request_is_not_repeated_on_the_same_machine() {
    let job = |number, submit, run, size| Job { number, ..job(submit, run, run, size) };
    let mut jobs = vec![job(1, 0, 5, 1), job(2, 0, 1000, 2), job(3, 0, 5, 1)];
    jobs.extend((4..104).map(|number| job(number, 1, 10, 2)));
    let mut allocator = Counted(Intervals, 0);
    let log = run(&jobs, "4x1", "out-of-order", &mut allocator).expect("runs");
    // At time 5, all hundred jobs are tried with one allocator call. In addition, each of the 103 jobs needs one call
    // when it starts.
    assert_eq!((log.refusals, allocator.1), (100, 103 + 1));
}

mod decision_cache;
mod decorated;
mod entry;
mod guard;
mod kept_future;
mod lockstep;
mod outages;
mod partitions;
mod postponed;
