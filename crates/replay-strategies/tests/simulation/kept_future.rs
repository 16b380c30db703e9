//! Runs in which the future of the machine is kept between searches for a place.

use super::*;
use replay_engine::simulation::outages::Window;

fn run_with_outages(
    jobs: &[Job],
    outages: &Outages,
    [machine, scheduler, rule]: [&str; 3],
) -> Result<Log, SimulationError> {
    let topology: Topology = machine.parse().expect("a machine");
    let spec = replay_strategies::allocator(rule).expect("a strategy");
    let mut allocator = spec.build(&topology, 1).expect("it works there");
    let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
    let mut scheduler = scheduler.build(topology.processors() as u32);
    let (stop, mut logger) = (CancelToken::new(), Logger::new(jobs));
    let simulation =
        Simulation::new(jobs, &topology, &stop).with_every_event().with_outages(outages);
    let scheduler = Starts::Scheduler(scheduler.as_mut());
    let overhead = simulation.run(scheduler, allocator.as_mut(), &mut logger)?;
    Ok(Log { promises: overhead.promises, ..logger.log })
}

const BLOCKS: &str = "block[4,8,16]:8x4";
const TREE: &str = "tree:2x2x8";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// An outage after the last job changes no start and no place. With this outage, each search uses new copies of
    /// the machine. Jobs end before, at and after their estimated ends.
    #[test]
    fn gives_the_schedule_of_searches_on_new_copies(
        drawn in proptest::collection::vec((0i64..12, 0i64..40, 0i64..60, any::<bool>(), 1u32..=32), 2..50),
        on in proptest::sample::select(vec![
            (BLOCKS, "slurm-block"),
            (BLOCKS, "slurm-block[segment=2]"),
            (BLOCKS, "slurm-block[segment=4,spread=yes]"),
            (BLOCKS, "slurm-block[segment=3,consolidate=yes]"),
            (TREE, "slurm-tree[switches=1,wait=20]"),
            (TREE, "slurm-tree[switches=2,wait=60]"),
            ("tree:4x8", "slurm-tree[switches=1]"),
        ]),
        scheduler in proptest::sample::select(vec![
            "easy", "easy[guard=place]", "easy[order=shortest]", "easy[order=longest,guard=place]",
        ]),
    ) {
        let mut now = 0;
        let mut jobs = Vec::new();
        for (wait, run, estimate, is_exact, size) in drawn {
            now += wait;
            jobs.push(job(now, run, if is_exact { run } else { estimate }, size));
        }
        let (machine, rule) = on;
        let on = [machine, scheduler, rule];
        let topology: Topology = machine.parse().expect("a machine");
        let mut allocator =
            replay_strategies::allocator(rule).expect("a strategy").build(&topology, 1).expect("it works there");
        jobs.retain(|job| allocator.bounds(Request::of_size(job.size)).servable);
        prop_assume!(!jobs.is_empty());
        let nodes = vec![NodeId(0)];
        let windows = vec![Window { from: 1 << 40, until: None, nodes }];
        let outages = Outages { windows, ..Outages::NONE };
        let expected = run_with_outages(&jobs, &outages, on).expect("it runs");
        let found = run_with_outages(&jobs, &Outages::NONE, on).expect("it runs");
        prop_assert_eq!(&expected.starts, &found.starts);
        prop_assert_eq!(&expected.nodes, &found.nodes);
        prop_assert_eq!(&expected.order, &found.order);
        prop_assert_eq!(expected.promises, found.promises);
    }
}
