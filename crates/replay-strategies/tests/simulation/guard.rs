//! EASY with a reserved place for the head of the queue.

use super::*;
use replay_engine::allocator::{Bounds, MachineEvent, RunSetup};
use replay_slurm::hierarchy::slurm_tree::TreeOptions;
use replay_slurm::hierarchy::{RuleAllocator, RuleOptions};

/// In a row of ten processors, the head requests five contiguous processors, and gets processors 0 to 4 at 100.
#[test]
fn the_head_keeps_its_place() {
    let jobs = [
        job(0, 100, 100, 3), // 0 to 2
        job(0, 10, 10, 2),   // 3 and 4
        job(0, 200, 200, 2), // 5 and 6
        job(0, 10, 10, 2),   // 7 and 8
        job(10, 20, 20, 5),  // the head
        job(10, 150, 150, 2),
        job(10, 500, 500, 3),
    ];
    // With `guard=count`, the head is guaranteed an empty machine at 200, so a job of 150 s may take processors 3
    // and 4.
    let count = run(&jobs, "1x10", "easy", &mut Intervals).expect("it runs");
    assert_eq!(count.starts[4..], [160, 10, 160]);
    // With `guard=place`, no job may hold processors 3 and 4 beyond 100, but jobs of any length may take other
    // processors.
    let place = run(&jobs, "1x10", "easy[guard=place]", &mut Intervals).expect("it runs");
    assert_eq!(place.starts[4..], [100, 120, 10]);
    assert_eq!(place.promises, Some(Promises { given: 1, broken: 0, worst: 0 }));
    assert_eq!(place.nodes[4], [0, 1, 2, 3, 4].map(NodeId));
}

/// The head gets processors 0 to 4 at 100. At time 10, first fit would give processors 3 and 4, which are reserved, to
/// a long job of two processors. From time 20 on, a short job holds processors 3 and 4, and the long job gets other
/// processors.
#[test]
fn jobs_that_would_take_reserved_processors_are_retried_after_a_start() {
    let jobs = [
        job(0, 100, 100, 3), // 0 to 2
        job(0, 10, 10, 2),   // 3 and 4
        job(0, 200, 200, 2), // 5 and 6
        job(10, 20, 20, 5),  // the head
        job(10, 500, 500, 2),
        job(20, 50, 50, 2),
    ];
    let log = run(&jobs, "1x10", "easy[guard=place]", &mut Intervals).expect("it runs");
    assert_eq!(log.starts[3..], [100, 20, 20]);
    assert_eq!(log.nodes[4], [7, 8].map(NodeId));
}

/// Reserved places require an allocator that can be copied.
#[test]
fn rejects_an_allocator_without_copies() {
    struct WithoutCopies(Intervals);
    impl Decorator for WithoutCopies {
        fn inner(&self) -> &dyn Allocator {
            &self.0
        }

        fn inner_mut(&mut self) -> &mut dyn Allocator {
            &mut self.0
        }

        fn decorate_copy(&self, _inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
            None
        }
    }
    let jobs = [job(0, 1, 1, 1)];
    let run_with =
        |scheduler| run(&jobs, "1x4", scheduler, &mut WithoutCopies(Intervals)).map(drop);
    assert!(matches!(run_with("easy[guard=place]"), Err(SimulationError::NoCopies)));
    assert!(run_with("easy").is_ok());
}

/// A folded job gets a reservation at the first time at which there is a place for one of its sizes, even if the
/// requested size exceeds the machine.
#[test]
fn folded_jobs_get_reservations() {
    let jobs = [job(0, 100, 100, 8), job(1, 200, 200, 4), job(2, 60, 60, 32), job(3, 150, 150, 4)];
    for name in ["rsr[t=2,inner=first-fit]", "limit[k=3,inner=first-fit]"] {
        let topology: Topology = "4x4".parse().expect("a mesh");
        let spec = replay_strategies::allocator(name).expect("a strategy");
        let mut allocator = spec.build(&topology, 1).expect("it works there");
        let log = run(&jobs, "4x4", "easy[guard=place]", allocator.as_mut()).expect("it runs");
        // The third job has a place for size eight at 100.
        assert_eq!(log.starts[..3], [0, 1, 100], "{name}");
        assert_eq!(log.promises, Some(Promises { given: 1, broken: 0, worst: 0 }), "{name}");
    }
}

/// Returns the earliest time at which the running jobs leave a gap of `size` processors if they end at their estimates.
fn earliest(jobs: &[Job], log: &Log, running: &[JobId], size: u32, now: i64) -> Option<i64> {
    let end = |id: &JobId| (log.starts[id.index()] + jobs[id.index()].estimate).max(now);
    let mut ends: Vec<i64> = running.iter().map(end).chain([now]).collect();
    ends.sort_unstable();
    ends.into_iter().find(|&instant| {
        let mut free = [true; 10];
        for id in running.iter().filter(|id| end(id) > instant || instant == now) {
            log.nodes[id.index()].iter().for_each(|node| free[node.index()] = false);
        }
        free.windows(size as usize).any(|gap| gap.iter().all(|&free| free))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Jobs that overtake the head do not delay the earliest time at which the head has a place. A direct search
    /// computes this time.
    #[test]
    fn jobs_that_overtake_do_not_delay_the_head(
        drawn in proptest::collection::vec((0i64..30, 1i64..40, 0i64..30, 1u32..=10), 2..40),
    ) {
        let mut jobs: Vec<Job> =
            drawn.iter().map(|&(t, run, more, size)| job(t, run, run + more, size)).collect();
        jobs.sort_by_key(|job| job.submit);
        let log = run(&jobs, "1x10", "easy[guard=place]", &mut Intervals).expect("it runs");
        let promises = log.promises.expect("EASY promises");
        prop_assert_eq!((promises.broken, promises.worst), (0, 0));
        let end = |id: &JobId| log.starts[id.index()] + jobs[id.index()].run;
        for (at, id) in log.order.iter().enumerate() {
            let now = log.starts[id.index()];
            let waits = |other: &&JobId| **other < *id && jobs[other.index()].submit <= now;
            let Some(head) = log.order[at + 1..].iter().filter(waits).min() else { continue };
            let mut running: Vec<JobId> =
                log.order[..at].iter().copied().filter(|other| end(other) > now).collect();
            let size = jobs[head.index()].size;
            let before = earliest(&jobs, &log, &running, size, now);
            running.push(*id);
            let after = earliest(&jobs, &log, &running, size, now);
            prop_assert_eq!(before, after, "job {:?} at {} delays {:?}", id, now, head);
        }
    }

    /// Every strategy that can be copied keeps all guarantees; strategies with refusals that do not last are rejected.
    /// Strategies that never refuse a job have the same schedule with both guards.
    #[test]
    fn all_strategies_keep_guarantees(
        drawn in proptest::collection::vec((0i64..30, 0i64..40, 0i64..30, 1u32..=16), 2..25),
    ) {
        let mut jobs: Vec<Job> =
            drawn.iter().map(|&(t, run, more, size)| job(t, run, run + more, size)).collect();
        jobs.sort_by_key(|job| job.submit);
        let topology: Topology = "4x4".parse().expect("a mesh");
        for spec in coupled_only(&topology) {
            let mut allocator = spec.build(&topology, 1).expect("it works there");
            let whole = jobs.iter().all(|job| allocator.bounds(Request::of_size(job.size)).servable);
            if allocator.try_clone().is_none() || !whole {
                continue;
            }
            let lasts = allocator.capabilities().refusals_last;
            match run(&jobs, "4x4", "easy[guard=place]", allocator.as_mut()) {
                Ok(log) => {
                    prop_assert!(lasts && log.starts.iter().all(|&start| start >= 0), "{}", spec);
                    let promises = log.promises.expect("EASY promises");
                    prop_assert_eq!((promises.broken, promises.worst), (0, 0), "{}", spec);
                }
                Err(SimulationError::NoLastingPlaces) => prop_assert!(!lasts, "{}", spec),
                Err(SimulationError::NeverFits { .. }) => {}
                Err(other) => prop_assert!(false, "{}: {}", spec, other),
            }
        }
        let mut plain = replay_strategies::allocator("mc1x1").expect("one").build(&topology, 0).expect("it works");
        let count = run(&jobs, "4x4", "easy", plain.as_mut()).expect("it runs");
        let place = run(&jobs, "4x4", "easy[guard=place]", plain.as_mut()).expect("it runs");
        prop_assert_eq!(count.starts, place.starts);
    }
}

/// A rule that never refuses a job, but whose capabilities do not declare this.
#[derive(Clone)]
struct Doubted(Box<RuleAllocator>);

impl Allocator for Doubted {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.0.begin(setup)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.0.allocate(machine, request, chosen)
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        self.0.on_event(machine, event);
    }

    fn capabilities(&self) -> replay_engine::allocator::Capabilities {
        let capabilities = self.0.capabilities();
        assert!(capabilities.keeps_schedule);
        replay_engine::allocator::Capabilities {
            keeps_schedule: false,
            reserves_places: true,
            ..capabilities
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        self.0.bounds(request)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

proptest! {
    /// If a rule never refuses a job, reserving a replaceable place gives the same schedule as reserving a number of
    /// processors.
    #[test]
    fn a_replaceable_place_is_a_count_if_the_rule_never_refuses(jobs in jobs(16)) {
        let topology: Topology = "tree:2x2x4".parse().expect("a tree");
        let rule = RuleAllocator::new(&topology, RuleOptions::Tree(TreeOptions::default())).expect("a rule");
        let expected = run(&jobs, "tree:2x2x4", "easy", &mut rule.clone()).expect("it runs");
        let mut doubted = Doubted(Box::new(rule));
        let found = run(&jobs, "tree:2x2x4", "easy", &mut doubted).expect("it runs");
        prop_assert_eq!(&expected.starts, &found.starts);
        prop_assert_eq!(&expected.nodes, &found.nodes);
    }

    /// If the rule's refusals last, the head starts no later than at its reservation.
    #[test]
    fn a_replaceable_place_is_kept(jobs in jobs(8), level in 1..=2) {
        let name = format!("kueue[mode=required,level={level}]");
        let spec = replay_strategies::allocator(&name).expect("a rule");
        let topology: Topology = "tree:2x2x4".parse().expect("a tree");
        let mut rule = spec.build(&topology, 0).expect("it works there");
        let jobs: Vec<Job> = jobs.into_iter().filter(|job| level == 1 || job.size <= 4).collect();
        prop_assume!(!jobs.is_empty());
        let log = run(&jobs, "tree:2x2x4", "easy", rule.as_mut()).expect("it runs");
        let promises = log.promises.expect("EASY promises");
        prop_assert_eq!((promises.broken, promises.worst), (0, 0));
    }
}
