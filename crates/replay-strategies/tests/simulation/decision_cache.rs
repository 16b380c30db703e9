//! Compares runs with cached decisions to runs in which the allocator is called for every request.

use super::*;

/// A strategy that never declares that a refusal covers other requests. If the flag is set, the strategy also declares
/// that its refusals do not last, so schedulers retry after every start.
struct Uncached(Box<dyn Allocator>, bool);

impl Decorator for Uncached {
    fn inner(&self) -> &dyn Allocator {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.0.as_mut()
    }

    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(Box::new(Uncached(inner, self.1)))
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.0.capabilities();
        let refusals_last = !self.1 && inner.refusals_last;
        Capabilities { refusals_last, chooses_by_free: false, ..inner }
    }

    fn refusal_covers(&mut self, _refused: Request, _asked: Request) -> bool {
        false
    }
}

const MACHINES: [&str; 6] = ["8x8", "6x7", "torus:5x6", "4x4x4", "torus:2x4x4", "hypercube:5"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Start times, processors, refusals and guarantees do not depend on the cache, except under self-tuning
    /// placements.
    #[test]
    fn cached_decisions_do_not_change_the_schedule(
        jobs in jobs(30),
        machine in proptest::sample::select(MACHINES.to_vec()),
        scheduler in proptest::sample::select(vec![
            "easy", "easy[guard=place]", "easy[order=smallest]", "out-of-order", "out-of-order[order=largest]",
        ]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        for spec in coupled_only(&topology).into_iter().filter(|spec| spec.to_string() != "placements") {
            let built = || spec.build(&topology, 5).expect("it works");
            let places = scheduler.contains("place");
            if places && (built().try_clone().is_none() || !built().capabilities().refusals_last) {
                continue;
            }
            let mut uncached = Uncached(built(), false);
            let expected = run(&jobs, machine, scheduler, &mut uncached).map_err(|e| e.to_string());
            let log = run(&jobs, machine, scheduler, built().as_mut()).map_err(|e| e.to_string());
            match (log, expected) {
                (Ok(log), Ok(expected)) => {
                    prop_assert_eq!(&log.starts, &expected.starts, "{}", spec);
                    prop_assert_eq!(&log.nodes, &expected.nodes, "{}", spec);
                    prop_assert_eq!(log.refusals, expected.refusals, "{}", spec);
                    prop_assert_eq!(log.promises, expected.promises, "{}", spec);
                }
                (log, expected) => prop_assert_eq!(log.err(), expected.err(), "{}", spec),
            }
        }
    }

    /// Schedules do not change if schedulers retry after every start. A strategy that declares that its refusals last
    /// needs fewer calls, but makes the same decisions.
    #[test]
    fn retries_after_every_start_do_not_change_the_schedule(
        jobs in jobs(30),
        machine in proptest::sample::select(MACHINES.to_vec()),
        scheduler in proptest::sample::select(vec![
            "easy", "easy[order=smallest]", "out-of-order", "out-of-order[order=largest]", "largest", "lazy", "fcfs", "scan",
        ]),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        for spec in coupled_only(&topology) {
            let built = || spec.build(&topology, 5).expect("it works");
            let expected = run(&jobs, machine, scheduler, &mut Uncached(built(), true)).map_err(|e| e.to_string());
            let log = run(&jobs, machine, scheduler, built().as_mut()).map_err(|e| e.to_string());
            let outcome = |log: Result<Log, String>| log.map(|log| (log.starts, log.nodes, log.promises));
            prop_assert_eq!(outcome(log), outcome(expected), "{}", spec);
        }
    }

    /// If an earlier refusal covers a request, the allocator refuses the request, both on the unchanged machine and
    /// after more jobs have started.
    #[test]
    fn covered_requests_are_refused(
        machine in proptest::sample::select(MACHINES.to_vec()),
        first in proptest::collection::vec(1u32..20, 1..30),
        later in proptest::collection::vec(1u32..20, 0..6),
        leave in any::<u64>(),
        requests in proptest::collection::vec((1u32..40, proptest::option::of([1u16..5, 1u16..5, 1u16..3])), 2..12),
    ) {
        let topology: Topology = machine.parse().expect("a machine");
        let flat = topology.grid().is_none_or(|grid| grid.dimensions() < 3);
        let shape = |[x, y, z]: [u16; 3]| [x, y, if flat { 1 } else { z }];
        let requests: Vec<Request> = requests.iter().map(|&(size, sides)| {
            let sides = sides.map(shape);
            let size = sides.map_or(size, |sides| sides.iter().map(|&side| u32::from(side)).product());
            Request::shaped(size, sides)
        }).collect();
        for spec in coupled_only(&topology) {
            let mut allocator = spec.build(&topology, 5).expect("it works");
            let mut machine = Machine::new(topology.clone());
            let mut held: Vec<Vec<NodeId>> = Vec::new();
            let mut start = |sizes: &[u32], machine: &mut Machine, allocator: &mut dyn Allocator| {
                for &size in sizes {
                    let mut nodes = Vec::new();
                    if allocator.allocate(machine, Request::of_size(size), &mut nodes).is_ok() {
                        machine.occupy(&nodes);
                        held.push(nodes);
                    }
                }
                std::mem::take(&mut held)
            };
            let running = start(&first, &mut machine, allocator.as_mut());
            for (at, nodes) in running.iter().enumerate().filter(|(at, _)| leave >> (at % 64) & 1 == 1) {
                let _ = at;
                machine.release(nodes);
                allocator.on_event(&machine, MachineEvent::Released(nodes));
            }
            let answer = |allocator: &mut dyn Allocator, machine: &mut Machine, request: Request| {
                let mut nodes = Vec::new();
                let answer = allocator.allocate(machine, request, &mut nodes);
                if answer.is_ok() {
                    machine.occupy(&nodes);
                    machine.release(&nodes);
                    allocator.on_event(machine, MachineEvent::Released(&nodes));
                }
                answer
            };
            let mut refused = Vec::new();
            for &request in &requests {
                if answer(allocator.as_mut(), &mut machine, request) == Err(Refusal::Fragmented) {
                    refused.push(request);
                }
            }
            for more in [&[][..], &later] {
                start(more, &mut machine, allocator.as_mut());
                for &one in &refused {
                    for &other in &requests {
                        if !allocator.refusal_covers(one, other) {
                            continue;
                        }
                        let free = machine.free_count() as u64;
                        let expected = match allocator.bounds(other).max_processors > free {
                            true => Refusal::TooFewFree,
                            false => Refusal::Fragmented,
                        };
                        let outcome = answer(allocator.as_mut(), &mut machine, other);
                        prop_assert_eq!(outcome, Err(expected), "{}: {:?} covers {:?}", spec, one, other);
                    }
                }
            }
        }
    }
}

/// In random histories, if a strategy declares that its refusals last, it never finds a place for a refused job after
/// another job has started. With one exception, every strategy without this declaration finds a place for a refused job
/// at least once.
#[test]
fn refusals_last_if_and_only_if_declared() {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const REDUCED: [&str; 4] =
        ["rsr", "rsr[inner=frame-sliding]", "greedy-limit[inner=best-fit]", "limit[k=3]"];
    // By its definition, this strategy may miss a place, but it misses no place in these histories.
    const NOT_FOUND: &str = "placements[segment=4]";
    let mut outcome: std::collections::BTreeMap<String, [bool; 2]> = Default::default();
    for (at, machine) in (0..).zip(MACHINES) {
        let topology: Topology = machine.parse().expect("a machine");
        let reduced = REDUCED.map(|name| replay_strategies::allocator(name).expect("a strategy"));
        for spec in coupled_only(&topology).into_iter().chain(reduced) {
            let Ok(mut allocator) = spec.build(&topology, 5) else { continue };
            let lasts = allocator.capabilities().refusals_last;
            let [declared, found_later] = outcome.entry(spec.to_string()).or_default();
            *declared = lasts;
            for seed in 0..60 {
                if *found_later {
                    break;
                }
                let mut rng = ChaCha8Rng::seed_from_u64(1000 * at + seed);
                allocator.begin(&RunSetup::default()).expect("it works");
                let mut machine = Machine::new(topology.clone());
                let (mut held, mut refused): (Vec<Vec<NodeId>>, Vec<Request>) = Default::default();
                for _ in 0..80 {
                    if !held.is_empty() && rng.random_range(0..3) == 0 {
                        let nodes = held.swap_remove(rng.random_range(0..held.len()));
                        machine.release(&nodes);
                        allocator.on_event(&machine, MachineEvent::Released(&nodes));
                        refused.clear();
                    }
                    let share: f64 = rng.random();
                    let most = (topology.processors() - 1) as f64;
                    let request = Request::of_size(1 + (most * share * share) as u32);
                    let mut ask = |request| {
                        let mut nodes = Vec::new();
                        allocator.allocate(&machine, request, &mut nodes)?;
                        machine.occupy(&nodes);
                        held.push(nodes);
                        Ok(())
                    };
                    match ask(request) {
                        Err(Refusal::Fragmented) => refused.push(request),
                        Err(_) => {}
                        Ok(()) => {
                            *found_later |= refused.iter().any(|&request| ask(request).is_ok())
                        }
                    }
                }
            }
        }
    }
    assert_eq!(outcome.remove(NOT_FOUND), Some([false, false]));
    let wrong: Vec<_> =
        outcome.iter().filter(|(_, [declared, found_later])| declared == found_later).collect();
    assert!(outcome.len() > 25 && wrong.is_empty(), "[declared, found later]: {wrong:?}");
}

/// In a row of nine processors, every second processor is free from time 5 on. If a job of two processors has no place,
/// a job of three has no place either, and starting further jobs creates no place.
#[test]
fn a_refusal_covers_larger_and_later_jobs() {
    let run = |at| if at % 2 == 0 { 5 } else { 1000 };
    let mut jobs: Vec<Job> = (0..9).map(|at| job(0, run(at), run(at), 1)).collect();
    jobs.extend((0..99).map(|more| job(1, 10, 10, 2 + more % 3)));
    // Add one job that has a place and several jobs that have no place.
    jobs.push(job(6, 10, 10, 1));
    jobs.extend((0..9).map(|more| job(7, 10, 10, 2 + more % 3)));
    let allocator = replay_strategies::allocator("first-fit").expect("an allocator");
    let topology: Topology = "9x1".parse().expect("a mesh");
    let calls = |allocator: &mut dyn Allocator| {
        let (stop, scheduler) = (CancelToken::new(), &mut OutOfOrder::new(QueueOrder::Fifo));
        let simulation = Simulation::new(&jobs, &topology, &stop).with_every_event();
        let spent = simulation.run(Starts::Scheduler(scheduler), allocator, &mut ());
        let spent = spent.expect("it runs");
        (spent.attempts, spent.allocator_calls)
    };
    let built = || allocator.build(&topology, 0).expect("it works");
    let (attempts, few) = calls(built().as_mut());
    let (same, all) = calls(&mut Uncached(built(), false));
    assert_eq!(attempts, same);
    // At time 5, one allocator call for size 2 replaces the calls for sizes 2, 3 and 4. At time 7, the allocator is not
    // called.
    assert!(few + 4 <= all && all < attempts, "{few} {all} {attempts}");
}
