//! Comparison of the fast disciplines with the reference disciplines, with counts of free processors and with
//! allocators that refuse requests.

use proptest::prelude::*;

use replay_contract::Intervals;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Allocator, Refusal, Request};
use replay_engine::cancel::CancelToken;
use replay_engine::scheduler::{
    Conservative, Easy, Guard, OutOfOrder, QueueOrder, Scheduler, Strict,
};
use replay_engine::simulation::{
    Decision, Observer, Simulation, SimulationError, Starts, Timeline,
};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Job, JobId};
use replay_reference::scheduler as reference;

fn job(submit: i64, run: i64, estimate: i64, size: u32) -> Job {
    Job { number: 0, submit, run, estimate, size, line: 0, shape: None, limit: None }
}

/// Creates jobs from tuples of the gap between submissions, the run time, the estimate minus the run time, and the
/// size.
fn jobs_of(drawn: Vec<(i64, i64, i64, u32)>) -> Vec<Job> {
    let mut now = 0;
    let place = |(gap, run, over, size)| {
        now += gap;
        job(now, run, run + over, size)
    };
    drawn.into_iter().map(place).collect()
}

fn timeline(jobs: &[Job], processors: u32, scheduler: &mut dyn Scheduler) -> Timeline {
    Timeline::compute(jobs, processors, scheduler, &CancelToken::new()).expect("schedulable")
}

fn orders() -> impl Strategy<Value = QueueOrder> {
    proptest::sample::select(QueueOrder::ALL.map(|(_, order)| order).to_vec())
}

proptest! {
    #[test]
    fn easy_agrees_with_its_definition(
        jobs in proptest::collection::vec((0i64..4, 0i64..12, 0i64..6, 1u32..9), 1..60).prop_map(jobs_of),
        order in orders(),
    ) {
        let reference = timeline(&jobs, 8, &mut reference::Easy::new(order));
        prop_assert_eq!(timeline(&jobs, 8, &mut Easy::new(order)), reference);
    }

    /// Compares schedules with estimates that are too high or too low. On some machines, there are more job sizes than
    /// sizes with separate bounds in the profile.
    #[test]
    fn conservative_agrees_with_its_definition(
        jobs in proptest::collection::vec((0i64..30, 0i64..60, -1.0..3.0f64, 0.0..1.0f64), 1..150),
        processors in proptest::sample::select(vec![4u32, 16, 100, 1000]),
        pace in 1i64..100,
        order in orders(),
    ) {
        let mut now = 0;
        let jobs: Vec<_> = jobs.into_iter().map(|(gap, run, over, share)| {
            now += gap / 10;
            let estimate = (pace * run) as f64 * (1.0 + over);
            job(now, pace * run, estimate as i64, (f64::from(processors).powf(share) as u32).max(1))
        }).collect();
        let reference = timeline(&jobs, processors, &mut reference::Conservative::new(order, processors));
        let fast = timeline(&jobs, processors, &mut Conservative::new(order, processors));
        prop_assert_eq!(fast, reference);
    }

    /// Compares schedules with queues that are so long that a compression skips jobs. Many jobs share an estimate, some
    /// jobs share an arrival, and some jobs exceed their estimates.
    #[test]
    fn conservative_agrees_with_its_definition_on_long_queues(
        jobs in proptest::collection::vec((0i64..30, 1i64..500, -0.2..3.0f64, 0.0..1.0f64), 80..350),
        processors in proptest::sample::select(vec![16u32, 100, 1000, 9000]),
        unit in proptest::sample::select(vec![1i64, 60, 100_000]),
        order in orders(),
    ) {
        let mut now = 0;
        let jobs: Vec<_> = jobs.into_iter().map(|(gap, run, over, share)| {
            now += unit * (gap / 20);
            let estimate = unit * (run as f64 * (1.0 + over)) as i64 / 60 * 60;
            job(now, unit * run, estimate, (f64::from(processors).powf(share) as u32).max(1))
        }).collect();
        let reference = timeline(&jobs, processors, &mut reference::Conservative::new(order, processors));
        let fast = timeline(&jobs, processors, &mut Conservative::new(order, processors));
        prop_assert_eq!(fast, reference);
    }

    /// Compares the disciplines on queues that are too long for a list.
    #[test]
    fn disciplines_agree_with_their_definitions(
        jobs in proptest::collection::vec((0i64..30, 1i64..500, 0.0..3.0f64, 0.0..1.0f64), 1..900),
        processors in proptest::sample::select(vec![16u32, 100, 1000]),
        order in orders(),
    ) {
        let mut now = 0;
        let jobs: Vec<_> = jobs.into_iter().map(|(gap, run, over, share)| {
            now += gap / 10;
            let estimate = (run as f64 * (1.0 + over)) as i64;
            job(now, run, estimate, (f64::from(processors).powf(share) as u32).max(1))
        }).collect();
        let pairs: [(Box<dyn Scheduler>, Box<dyn Scheduler>); 3] = [
            (Box::new(reference::Strict::new(order)), Box::new(Strict::new(order))),
            (Box::new(reference::Easy::new(order)), Box::new(Easy::new(order))),
            (Box::new(reference::OutOfOrder::new(order)), Box::new(OutOfOrder::new(order))),
        ];
        for (mut reference, mut fast) in pairs {
            let reference = timeline(&jobs, processors, reference.as_mut());
            prop_assert_eq!(timeline(&jobs, processors, fast.as_mut()), reference);
        }
    }
}

/// Start time and processors of each job, and the number of refusals.
#[derive(PartialEq, Debug)]
struct Log {
    starts: Vec<i64>,
    nodes: Vec<Vec<NodeId>>,
    refusals: usize,
}

impl Observer for Log {
    fn refused(&mut self, _job: JobId, _refusal: Refusal) {
        self.refusals += 1;
    }

    fn started(&mut self, Decision { job, now, nodes, .. }: Decision<'_>) {
        self.starts[job.index()] = now;
        self.nodes[job.index()] = nodes.to_vec();
    }
}

fn run(
    jobs: &[Job],
    topology: &Topology,
    scheduler: &mut dyn Scheduler,
    allocator: &mut dyn Allocator,
) -> Result<Log, SimulationError> {
    let stop = CancelToken::new();
    let (starts, nodes) = (vec![i64::MIN; jobs.len()], vec![Vec::new(); jobs.len()]);
    let mut log = Log { starts, nodes, refusals: 0 };
    let simulation = Simulation::new(jobs, topology, &stop).with_every_event();
    simulation.run(Starts::Scheduler(scheduler), allocator, &mut log)?;
    Ok(log)
}

/// Returns the strategies that may refuse requests or round requests up on a machine: registered strategies, and
/// variants of some registered strategies.
fn refusing(topology: &Topology) -> impl Iterator<Item = AllocatorSpec> {
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
        "placements[segment=4]",
        "placements[segment=4,exact-segments=yes]",
        "non-cubic[adjacent=no]",
        "afl[over=cube-buddy]",
    ];
    let names = replay_strategies::standard().allocators.names().chain(variants);
    let specs = names.map(|name| replay_strategies::allocator(name).expect("a strategy"));
    // Strategies that fold jobs are excluded, because folded jobs run longer than their estimates.
    specs.filter(|spec| {
        let built = spec.build(topology, 1);
        let strategy = built.map(|built| built.capabilities());
        strategy.is_ok_and(|strategy| !strategy.keeps_schedule && !strategy.folds)
    })
}

fn jobs(largest: u32) -> impl Strategy<Value = Vec<Job>> {
    proptest::collection::vec((0..8i64, 0..40i64, 0..3i64, 1..=largest), 1..60).prop_map(|drawn| {
        jobs_of(
            drawn
                .into_iter()
                .map(|(gap, run, times, size)| (gap, run, run * times, size))
                .collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares schedules with every strategy that may refuse or round up. Checks that the head of an EASY queue starts
    /// at its guaranteed time if fragmentation does not delay the start.
    #[test]
    fn disciplines_agree_if_jobs_are_refused(
        jobs in jobs(30),
        order in orders(),
        machine in proptest::sample::select(vec!["8x8", "6x7", "torus:5x6", "4x4x4", "2x4x4"]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        for spec in refusing(&topology) {
            let mut built = spec.build(&topology, 5).expect("it works");
            let mut reference = reference::Easy::new(order);
            let expected = run(&jobs, &topology, &mut reference, built.as_mut()).expect("it runs");
            let log = run(&jobs, &topology, &mut Easy::new(order), built.as_mut()).expect("it runs");
            prop_assert_eq!(&log, &expected, "{}", spec);
            let pairs: [(Box<dyn Scheduler>, Box<dyn Scheduler>); 2] = [
                (Box::new(reference::Strict::new(order)), Box::new(Strict::new(order))),
                (Box::new(reference::OutOfOrder::new(order)), Box::new(OutOfOrder::new(order))),
            ];
            for (mut literal, mut fast) in pairs {
                let expected = run(&jobs, &topology, literal.as_mut(), built.as_mut()).expect("it runs");
                let log = run(&jobs, &topology, fast.as_mut(), built.as_mut()).expect("it runs");
                prop_assert_eq!(log, expected, "{}", spec);
            }
            if order == QueueOrder::Fifo {
                for (head, latest) in reference.guarantees {
                    let start = log.starts[head.index()];
                    prop_assert!(start <= latest || reference.all_missed.contains(&head), "{} {:?}", spec, head);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Compares schedules with contiguous allocation on a row of processors, and with every strategy that supports
    /// copies.
    #[test]
    fn easy_with_reserved_places_agrees_with_its_definition(
        jobs in jobs(16),
        order in proptest::sample::select(vec![QueueOrder::Fifo, QueueOrder::Smallest]),
        machine in proptest::sample::select(vec!["4x4", "1x20", "torus:2x4x4"]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        let built = refusing(&topology)
            .map(|spec| (spec.to_string(), spec.build(&topology, 1).expect("it works there")))
            .chain([("intervals".to_string(), Box::new(Intervals) as Box<dyn Allocator>)]);
        for (name, mut allocator) in built {
            let whole = jobs.iter().all(|job| allocator.bounds(Request::of_size(job.size)).servable);
            if allocator.try_clone().is_none() || !allocator.capabilities().refusals_last || !whole {
                continue;
            }
            let mut outcome = |scheduler: &mut dyn Scheduler| {
                run(&jobs, &topology, scheduler, allocator.as_mut())
                    .map(|log| (log.starts, log.nodes))
                    .map_err(|error| error.to_string())
            };
            let expected = outcome(&mut reference::EasyWithPlace::new(order));
            let fast = outcome(&mut Easy::new(order).with_guard(Guard::Place));
            prop_assert_eq!(fast, expected, "{}", name);
        }
    }
}
