//! Checks that a decorator without overrides changes neither the decisions nor the counts and explanations of
//! schedulers and allocators.

use super::*;
use replay_contract::{MACHINE_KINDS, machines_for};
use replay_engine::allocator::Reduction;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::simulation::WhenDown;
use replay_engine::simulation::outages::Window;
use replay_engine::{allocator, scheduler};

/// A decorator without overrides.
struct Identity<T: ?Sized>(Box<T>);

impl scheduler::Decorator for Identity<dyn Scheduler> {
    fn inner(&self) -> &dyn Scheduler {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Scheduler {
        self.0.as_mut()
    }
}

impl allocator::Decorator for Identity<dyn Allocator> {
    fn inner(&self) -> &dyn Allocator {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.0.as_mut()
    }

    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(Box::new(Identity(inner)))
    }
}

/// Records the scheduler's selections with their reasons.
struct Selections(Box<dyn Scheduler>, Vec<Selection>);

impl scheduler::Decorator for Selections {
    fn inner(&self) -> &dyn Scheduler {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Scheduler {
        self.0.as_mut()
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let selected = self.0.next_job(system)?;
        self.1.push(selected);
        Some(selected)
    }
}

/// Records the allocator's explanations and statistics as text.
struct Explanations(Box<dyn Allocator>, ExplanationLog, String);

impl Explanations {
    fn of(allocator: Box<dyn Allocator>) -> Self {
        let log = ExplanationLog::recording();
        log.set_recording(true);
        Self(allocator, log, String::new())
    }
}

impl allocator::Decorator for Explanations {
    fn inner(&self) -> &dyn Allocator {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.0.as_mut()
    }

    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(inner)
    }

    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.0.begin(&RunSetup { explanation: self.1.clone(), ..setup.clone() })
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let bounds = self.0.bounds(request);
        let outcome = self.0.allocate(machine, request, chosen);
        let (account, stats) = (self.1.take(), self.0.stats());
        self.2 += &format!("{request:?} {bounds:?} {outcome:?} {stats:?} {account:?}\n");
        outcome
    }
}

/// Records all events of a run as text.
#[derive(Default)]
struct Events(String);

impl Events {
    fn add(&mut self, event: impl std::fmt::Debug) {
        self.0 += &format!("{event:?}\n");
    }
}

impl Observer for Events {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.add((from, to, state));
    }

    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.add((job, refusal));
    }

    fn reduced(&mut self, job: JobId, requested: &Job, reduction: &Reduction) {
        self.add((job, requested, reduction));
    }

    fn started(&mut self, decision: Decision<'_>) {
        self.add(decision);
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.add((job, now, nodes, again));
    }
}

/// Generates jobs whose sizes occur in every menu of boxes. Many of the jobs wait, and some end early.
fn busy(count: i64, largest_power: i64) -> Vec<Job> {
    let one = |i: i64| {
        let run = 1 + i * 37 % 41;
        let size = 1 << ((i * i * 7 + i / 3) % (largest_power + 1));
        Job { number: i, ..job(3 * i, run, run + i % 3 * 10, size) }
    };
    (0..count).map(one).collect()
}

/// Returns several windows in which four of at least 16 processors are out of service, and one window without end.
fn outages(running: WhenDown) -> Outages {
    let window = |from, until, nodes: std::ops::Range<u32>| {
        let nodes = nodes.map(NodeId).collect();
        Window { from, until, nodes }
    };
    let windows = vec![window(40, Some(160), 0..4), window(90, None, 9..10)];
    Outages { windows, running, walls: false }
}

/// Formats everything that a run reports: events, selections with their reasons, explanations and cost.
fn run_as_text(
    jobs: &[Job],
    topology: &Topology,
    outages: &Outages,
    scheduler: Box<dyn Scheduler>,
    allocator: Box<dyn Allocator>,
) -> Result<String, String> {
    let (stop, mut events) = (CancelToken::new(), Events::default());
    let mut scheduler = Selections(scheduler, Vec::new());
    let mut allocator = Explanations::of(allocator);
    let simulation = Simulation::new(jobs, topology, &stop).with_outages(outages);
    let simulation = simulation.with_every_event();
    let spent = simulation.run(Starts::Scheduler(&mut scheduler), &mut allocator, &mut events);
    let spent = spent.map_err(|error| error.to_string())?;
    Ok(format!("{spent:?} {:?} {} {}", scheduler.1, allocator.2, events.0))
}

#[test]
fn a_decorated_scheduler_decides_like_the_bare_one() {
    let variants = [
        "easy[guard=place]",
        "easy[order=smallest]",
        "out-of-order[order=largest]",
        "conservative[order=smallest]",
        "scan[direction=down,turn=batch]",
        "lazy[patience=0]",
        "largest",
    ];
    let topology: Topology = "4x4".parse().expect("a machine");
    let mut compared = 0;
    for name in standard().schedulers.names().chain(variants) {
        let spec = replay_strategies::scheduler(name).expect("a scheduler");
        let bare = || spec.build(16);
        let decorated = || Box::new(Identity(bare())) as Box<dyn Scheduler>;
        assert_eq!(decorated().capabilities(), bare().capabilities(), "{name}");
        for allocator in ["mc1x1", "first-fit", "frame-sliding", "buddy"] {
            for outages in [Outages::NONE, outages(WhenDown::Drain), outages(WhenDown::Requeue)] {
                let jobs = busy(120, if outages.is_empty() { 4 } else { 3 });
                let allocator = replay_strategies::allocator(allocator).expect("a strategy");
                let run = |scheduler| {
                    let allocator = allocator.build(&topology, 1).expect("it works there");
                    run_as_text(&jobs, &topology, &outages, scheduler, allocator)
                };
                let expected = run(bare());
                compared += usize::from(expected.is_ok());
                assert_eq!(run(decorated()), expected, "{name}");
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_decorated_allocator_decides_like_the_bare_one() {
    let variants = [
        "mc1x1[tie=2,13,20,6]",
        "mc1x1[tie=auto,shadows=3,every=16]",
        "mm[tie=1,2,3,4,slack=0.2]",
        "paging[size=1]",
        "frame-sliding[rows=first]",
        "placements[fit=up]",
        "non-cubic[adjacent=no]",
        "elmer[threshold=0.5]",
        "rsr[inner=placements]",
        "rsr[inner=buddy,t=2]",
        "rsr[inner=frame-sliding]",
        "limit[k=2,inner=mbs]",
    ];
    let schedulers = ["easy", "easy[guard=place]", "out-of-order"];
    let (mut names, mut compared) = (std::collections::BTreeSet::new(), 0);
    for name in standard().allocators.names().chain(variants) {
        let spec = replay_strategies::allocator(name).expect("a strategy");
        // The strategy that repeats a log makes no decisions.
        if spec.recorded() {
            continue;
        }
        let mut machines = machines_for(&spec, MACHINE_KINDS.map(|kind| kind.small));
        // Only strategies that support no smaller machine run on machines with more processors.
        let fewest = machines.iter().map(|(_, topology)| topology.processors()).min();
        machines.retain(|(_, topology)| topology.processors() <= 64.max(fewest.unwrap_or(0)));
        for (machine, topology) in machines {
            let bare = || spec.build(&topology, 1).expect("it works there");
            let decorated = || Box::new(Identity(bare())) as Box<dyn Allocator>;
            assert_eq!(decorated().capabilities(), bare().capabilities(), "{name}");
            assert_eq!(decorated().try_clone().is_some(), bare().try_clone().is_some(), "{name}");
            for (scheduler, outages) in schedulers
                .map(|name| (name, Outages::NONE))
                .into_iter()
                .chain([("easy", outages(WhenDown::Requeue))])
            {
                let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
                let jobs = busy(60, if machine == "cluster:8x2" { 2 } else { 3 });
                let run = |allocator| {
                    let scheduler = scheduler.build(topology.slots() as u32);
                    run_as_text(&jobs, &topology, &outages, scheduler, allocator)
                };
                let expected = run(bare());
                if expected.is_ok() {
                    names.insert(name);
                    compared += 1;
                }
                assert_eq!(run(decorated()), expected, "{name} {machine} {scheduler}");
            }
            if bare().capabilities().keeps_schedule {
                let run = |allocator| replayed(&busy(60, 4), &topology, allocator);
                assert_eq!(run(decorated()), run(bare()), "{name} {machine}");
            }
        }
    }
    let missing: Vec<_> = standard()
        .allocators
        .names()
        .filter(|name| !names.contains(name))
        .filter(|name| !replay_strategies::allocator(name).expect("a strategy").recorded())
        .collect();
    assert!(
        missing.is_empty(),
        "{missing:?} serve no run; add a machine to MACHINE_KINDS in replay-contract"
    );
    assert!(compared > 400, "{compared}");
}

/// Replays FCFS; returns the decisions with their ties, and the allocator's explanations.
fn replayed(
    jobs: &[Job],
    topology: &Topology,
    allocator: Box<dyn Allocator>,
) -> (Vec<String>, String) {
    let mut fcfs = SchedulerSpec::fcfs().build(topology.processors() as u32);
    let (stop, mut decisions) = (CancelToken::new(), Vec::new());
    let simulation = Simulation::new(jobs, topology, &stop).counting_ties(true);
    let timeline = simulation.schedule(fcfs.as_mut()).expect("it runs");
    let mut allocator = Explanations::of(allocator);
    let observer = &mut Decisions(|decision: Decision<'_>| decisions.push(format!("{decision:?}")));
    let starts = Starts::Timeline(&timeline);
    simulation.run(starts, &mut allocator, observer).expect("nothing is refused");
    (decisions, allocator.2)
}
