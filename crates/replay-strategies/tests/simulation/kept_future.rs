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

type Drawn = Vec<(i64, i64, i64, bool, u32)>;

/// Returns jobs from the time since the previous job, the run time, the estimate, whether the estimate is the run time,
/// and the size.
fn jobs(drawn: Drawn) -> Vec<Job> {
    let mut now = 0;
    let job = |(wait, run, estimate, is_exact, size)| {
        now += wait;
        job(now, run, if is_exact { run } else { estimate }, size)
    };
    drawn.into_iter().map(job).collect()
}

/// Returns the schedules with searches on new copies and in the kept future. An outage after the last job changes no
/// start and no place; with this outage, each search uses new copies of the machine.
fn both(jobs: &[Job], on: [&str; 3]) -> [Log; 2] {
    let nodes = vec![NodeId(0)];
    let windows = vec![Window { from: 1 << 40, until: None, nodes }];
    let outages = Outages { windows, ..Outages::NONE };
    [&outages, &Outages::NONE].map(|outages| run_with_outages(jobs, outages, on).expect("it runs"))
}

/// A job that becomes the head on arrival may start in the place reserved for the head before it. The place must then
/// be searched again.
#[test]
fn a_new_head_ends_the_reservation_of_the_head_before() {
    let drawn = [
        (0, 14, 0, false, 23),
        (0, 23, 0, false, 10),
        (0, 8, 0, true, 21),
        (8, 0, 0, false, 1),
        (7, 0, 8, false, 1),
        (1, 9, 0, false, 2),
        (0, 8, 0, true, 2),
        (1, 0, 8, false, 1),
    ];
    let rule = "slurm-block[segment=3,consolidate=yes]";
    let [expected, found] = both(&jobs(drawn.to_vec()), [BLOCKS, "easy[order=shortest]", rule]);
    assert_eq!(expected.nodes, found.nodes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Jobs end before, at and after their estimated ends.
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
        let mut jobs = jobs(drawn);
        let (machine, rule) = on;
        let on = [machine, scheduler, rule];
        let topology: Topology = machine.parse().expect("a machine");
        let mut allocator =
            replay_strategies::allocator(rule).expect("a strategy").build(&topology, 1).expect("it works there");
        jobs.retain(|job| allocator.bounds(Request::of_size(job.size)).servable);
        prop_assume!(!jobs.is_empty());
        let [expected, found] = both(&jobs, on);
        prop_assert_eq!(&expected.starts, &found.starts);
        prop_assert_eq!(&expected.nodes, &found.nodes);
        prop_assert_eq!(&expected.order, &found.order);
        prop_assert_eq!(expected.promises, found.promises);
    }
}
