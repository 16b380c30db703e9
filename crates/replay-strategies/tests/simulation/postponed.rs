//! Jobs that wait for a better place for a limited time.

use super::*;
use replay_engine::simulation::outages::Window;

fn on(machine: &str, allocator: &str, scheduler: &str, jobs: &[Job]) -> Log {
    let topology: Topology = machine.parse().expect("a machine");
    let spec = replay_strategies::allocator(allocator).expect("a strategy");
    let mut allocator = spec.build(&topology, 1).expect("it works there");
    run(jobs, machine, scheduler, allocator.as_mut()).expect("it runs")
}

/// No leaf has six nodes. The job starts when its maximum waiting time has passed. The machine is idle when the job
/// starts.
#[test]
fn a_job_starts_when_it_has_waited_long_enough_for_fewer_switches() {
    let jobs = [job(0, 10, 10, 1), job(5, 100, 100, 6), job(6, 10, 10, 4)];
    for scheduler in ["fcfs", "easy"] {
        let log = on("tree:2x2x4", "slurm-tree[switches=1]", scheduler, &jobs);
        assert_eq!(log.starts[1], 305, "{scheduler}");
        let log = on("tree:2x2x4", "slurm-tree[switches=1,wait=60]", scheduler, &jobs);
        assert_eq!((log.starts[0], log.starts[1]), (0, 65), "{scheduler}");
    }
    // No job overtakes the head in FCFS, so the last job waits for the head.
    let log = on("tree:2x2x4", "slurm-tree[switches=1]", "fcfs", &jobs);
    assert_eq!(log.starts, [0, 305, 305]);
    let log = on("tree:2x2x4", "slurm-tree[switches=2]", "fcfs", &jobs);
    assert_eq!(log.starts, [0, 5, 6]);
}

/// The head has a reservation at the end of its maximum waiting time. If running jobs leave a leaf free earlier, the
/// reservation is at that time.
#[test]
fn a_place_is_reserved_for_a_postponed_head() {
    let jobs = [job(0, 400, 400, 1), job(0, 100, 100, 6), job(1, 50, 50, 2)];
    let log = on("tree:2x2x4", "slurm-tree[switches=1]", "easy[guard=place]", &jobs);
    assert_eq!(log.starts, [0, 300, 1]);
    assert_eq!(log.promises, Some(Promises { given: 1, broken: 0, worst: 0 }));
    // Three nodes of each leaf are busy until 40. Before time 40, no leaf has four free nodes.
    let mut jobs = vec![job(0, 40, 40, 3); 4];
    jobs.push(job(1, 10, 10, 4));
    let log = on("tree:2x2x4", "slurm-tree[switches=1]", "easy[guard=place]", &jobs);
    assert_eq!(log.starts[4], 40);
}

/// The head needs 13 of 16 nodes, which no leaf has, so it waits for 60 s. At 0, another job takes a node until 1000, and
/// a job of one second ends at 1. The end of the wait is a candidate for the reservation, so the head starts at 60, and
/// the job of 500 s, which would delay the head, starts after the head.
#[test]
fn the_end_of_a_wait_is_a_candidate_for_the_reservation() {
    let jobs = [job(0, 10, 10, 13), job(0, 1000, 1000, 1), job(0, 1, 1, 1), job(0, 500, 500, 4)];
    let rule = "slurm-tree[switches=1,wait=60]";
    for guard in ["auto", "place", "count"] {
        let log = on("tree:4x4", rule, &format!("easy[guard={guard}]"), &jobs);
        // With `guard=place`, job 1 does not start on a node of the place.
        let second = if guard == "place" { 60 } else { 0 };
        assert_eq!(log.starts, [60, second, 0, 70], "{guard}");
        let promises = log.promises.expect("EASY promises");
        assert_eq!((promises.broken, promises.worst), (0, 0), "{guard}");
    }
    // An expected end before the end of the wait remains a candidate: at 40, the first leaf has four free nodes.
    let mut jobs = vec![job(0, 40, 40, 4)];
    jobs.extend([job(0, 200, 200, 3); 3]);
    jobs.extend([job(1, 10, 10, 4), job(2, 50, 50, 1)]);
    let log = on("tree:4x4", rule, "easy", &jobs);
    assert_eq!(log.starts, [0, 0, 0, 0, 40, 2]);
    // The end of the wait is a candidate on an idle machine, too. Job 1 ends before it, and job 2 does not.
    let jobs = [job(0, 10, 10, 13), job(5, 50, 50, 4), job(6, 60, 60, 4)];
    for guard in ["auto", "place", "count"] {
        let log = on("tree:4x4", rule, &format!("easy[guard={guard}]"), &jobs);
        assert_eq!(log.starts, [60, 5, 70], "{guard}");
    }
}

proptest! {
    /// If the tree has one root and no job runs longer than its estimate, the head starts no later than at the end of
    /// its wait if this was its reservation. `wait` exceeds all run times, so most reservations are ends of waits.
    #[test]
    fn reservations_at_ends_of_waits_are_kept(
        drawn in proptest::collection::vec((0i64..30, 1i64..200, 1u32..=16), 2..30),
        guard in proptest::sample::select(vec!["auto", "place"]),
    ) {
        let mut jobs: Vec<Job> = drawn.iter().map(|&(t, run, size)| job(t, run, run, size)).collect();
        jobs.sort_by_key(|job| job.submit);
        let log = on("tree:4x4", "slurm-tree[switches=1,wait=30]", &format!("easy[guard={guard}]"), &jobs);
        let promises = log.promises.expect("EASY promises");
        prop_assert_eq!((promises.broken, promises.worst), (0, 0));
    }
}

/// A job may use two of four base blocks. No two blocks have five free nodes until another node becomes free, and the
/// job waits for this node.
#[test]
fn a_place_in_blocks_is_reserved_by_trial() {
    let mut jobs =
        vec![job(0, 100, 100, 2), job(0, 100, 100, 2), job(0, 50, 50, 2), job(0, 30, 30, 2)];
    jobs.push(job(1, 10, 10, 5));
    for scheduler in ["fcfs", "easy", "easy[guard=place]"] {
        let log = on("block[4,16]:4x4", "slurm-block", scheduler, &jobs);
        assert!(log.starts[4] >= 1 && log.starts[4] <= 100, "{scheduler}: {}", log.starts[4]);
    }
}

/// The counts of free nodes per switch and per block are updated when nodes go out of service and return.
#[test]
fn nodes_leave_trees_and_blocks_and_return() {
    let windows = vec![Window { from: 50, until: Some(200), nodes: (0..4).map(NodeId).collect() }];
    let outages = Outages { windows, ..Outages::NONE };
    let jobs = [job(0, 100, 100, 16), job(10, 10, 10, 16), job(20, 10, 10, 12), job(30, 5, 5, 3)];
    for (machine, allocator) in [
        ("tree:2x2x4", "slurm-tree"),
        ("tree:2x2x4", "tree-fit"),
        ("tree:2x2x4", "kueue[level=0]"),
        ("tree:2x2x4", "kueue[mode=required,level=2]"),
        ("tree:2x2x4", "first-fit"),
        ("block[4,16]:4x4", "slurm-block"),
        ("block[4,16]:4x4", "random"),
    ] {
        let topology: Topology = machine.parse().expect("a machine");
        let spec = replay_strategies::allocator(allocator).expect("a strategy");
        let mut built = spec.build(&topology, 1).expect("it works there");
        let mut scheduler = replay_strategies::scheduler("fcfs").expect("a scheduler").build(16);
        let stop = CancelToken::new();
        let mut logger = Logger::new(&jobs);
        let simulation = Simulation::new(&jobs, &topology, &stop).with_outages(&outages);
        let starts = Starts::Scheduler(scheduler.as_mut());
        simulation.run(starts, built.as_mut(), &mut logger).expect("it runs");
        assert_eq!(logger.log.starts, [0, 200, 210, 210], "{machine} {allocator}");
    }
}
