use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::RunContext;
use crate::contention::{Messages, isolate};
use replay_engine::cancel::CancelToken;
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::Job;
use replay_network::Settings;
use replay_network::traffic::{Demand, Mapping, Preset, Program, Quota, Traffic, TrafficOptions};

fn job(submit: i64, run: i64, size: u32) -> Job {
    Job { number: 0, submit, run, estimate: run, size, line: 0, shape: None, limit: None }
}

/// Runs jobs under FCFS.
fn run_with(
    input: ContentionInput<'_>,
    isolation: &Isolation,
    allocator: &str,
    seed: u64,
) -> Result<TraceRun, TraceError> {
    let allocator = replay_strategies::allocator(allocator).expect("a name");
    let mut allocator = allocator.build(input.topology, seed)?;
    run_trace(input, isolation, &SchedulerSpec::fcfs(), allocator.as_mut(), seed)
}

fn run(machine: &str, jobs: &[Job], stop: bool) -> Result<TraceRun, TraceError> {
    let topology = machine.parse().expect("a machine");
    let messages = Messages::new(Preset::Lo, "n-body".parse().expect("a pattern")).expect("fine");
    let (flag, topology, messages) = (CancelToken::new(), &topology, &messages);
    let watch = RunContext::new(&flag);
    let input = ContentionInput { jobs, topology, messages, watch };
    let isolation = isolate(input, 1.0, 0)?;
    if stop {
        flag.raise();
    }
    run_with(input, &isolation, "first-fit", 0)
}

/// A job of one processor holds the processor for its run time, so that other jobs wait as in the trace.
#[test]
fn jobs_without_packets_take_their_run_time() {
    let jobs = [job(0, 700, 1), job(0, 400, 1), job(0, 5000, 4), job(10, 50, 1)];
    let run = run("2x2", &jobs, false).expect("it runs");
    let times = |i: usize| (run.jobs[i].wait, run.jobs[i].service, run.jobs[i].packets);
    assert_eq!((times(0), times(1)), ((0, 700, 0), (0, 400, 0)));
    // The whole machine is free at 700; the last job needs the whole machine.
    assert_eq!(run.jobs[2].wait, 700);
    assert_eq!((run.jobs[2].service, run.jobs[2].stretch()), (run.jobs[2].isolated, Some(1.0)));
    assert_eq!(times(3), (690 + run.jobs[2].service, 50, 0));
    assert_eq!(run.jobs[0].stretch(), None);
}

#[test]
fn cancellation_ends_a_run() {
    let error = run("4x4", &[job(0, 90_000, 9)], true).expect_err("interrupted");
    assert!(matches!(error, TraceError::Cancelled(_)), "{error}");
}

/// Packets that go around a ring may use either virtual channel of a link. The two channels are treated as one link.
#[test]
fn virtual_channels_of_a_link_count_as_one_link() {
    let share = |machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        let options = TrafficOptions::default();
        let mut traffic = Traffic::new(&topology, Settings::BANI_MOHAMMAD, options).expect("fine");
        let program = Program::load("one-to-all".parse().expect("a pattern")).expect("no file");
        let demand = Demand { program: Arc::new(program), quota: Quota::fixed(1), seed: 0 };
        traffic.start(0, &[NodeId(1), NodeId(2)], &demand).expect("nodes");
        traffic.advance(None, &mut Vec::new()).expect("no deadlock");
        let network = traffic.network();
        let used = network.carried().map(|(id, busy, _)| (id, busy as f64));
        link_use(network, 5, network.now(), used)
    };
    // Only one link is used. A processor at an end of the line has one link instead of two.
    let (mesh, torus) = (share("5x1"), share("torus:5x1"));
    let used = |links: &[LinkUse]| links.iter().flatten().flatten().sum::<f64>();
    assert!(used(&mesh) > 0.0);
    assert_eq!(used(&mesh), used(&torus));
    let existing_links = |links: &[LinkUse]| -> Vec<usize> {
        links.iter().map(|of| of.iter().flatten().count()).collect()
    };
    assert_eq!((existing_links(&mesh), existing_links(&torus)), (vec![1, 2, 2, 2, 1], vec![2; 5]));
    // The sending processor has two links, so the mean is half of the share of the used link.
    let from = mesh.iter().position(|of| of.iter().flatten().any(|&share| share > 0.0));
    let mean = mean_use(&mesh[from.expect("a link")]).expect("links");
    assert_eq!(2.0 * mean, used(&mesh));
    assert_eq!(mean_use(&Vec::new()), None);
}

/// Runs jobs with every allocator that supports the machine. Each job ends before the next job starts.
fn one_by_one(machine: &str, jobs: &[(u32, i64)], pattern: &str, mapping: Mapping, seed: u64) {
    let topology: Topology = machine.parse().expect("a machine");
    let pattern = pattern.parse().expect("a pattern");
    let mut messages = Messages::new(Preset::Lo, pattern).expect("no file");
    messages.options.mapping = mapping;
    let jobs: Vec<Job> =
        (0..).zip(jobs).map(|(i, &(size, run))| job(i * 40_000_000, run, size)).collect();
    let (flag, topology, messages) = (CancelToken::new(), &topology, &messages);
    let input = ContentionInput { jobs: &jobs, topology, messages, watch: RunContext::new(&flag) };
    let isolation = isolate(input, 1.0, seed).expect("it runs");
    let mut ran = 0;
    for name in replay_strategies::standard().allocators.names() {
        // Some allocators do not support the machine. For some allocators, the run fails because the allocator folds
        // jobs or rounds up sizes.
        let Ok(run) = run_with(input, &isolation, name, seed) else { continue };
        ran += 1;
        for job in run.jobs.iter().filter(|job| job.packets > 0) {
            assert_eq!(job.contention_factor(), Some(1.0), "{name}: {job:?}");
            assert_eq!(job.stretch(), job.placement_factor(), "{name}");
        }
    }
    assert!(ran > 20, "{ran} allocators work on {machine}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// A job that runs alone on the machine has no contention, whichever processors it gets.
    #[test]
    fn a_lone_job_has_no_contention(
        jobs in proptest::collection::vec((2u32..30, 1i64..4000), 1..4),
        machine in prop_oneof![Just("8x8"), Just("torus:8x4"), Just("4x4x4")],
        pattern in prop_oneof![Just("n-body"), Just("all-to-all"), Just("random"), Just("one-to-all")],
        along_rows in any::<bool>(),
        seed in 0u64..50,
    ) {
        let mapping = if along_rows { "row-major" } else { "allocation" };
        one_by_one(machine, &jobs, pattern, mapping.parse().expect("a mapping"), seed);
    }
}

/// Jobs slow each other down if and only if they run at the same time on shared links.
#[test]
fn separates_contention_from_placement() {
    // The random allocator scatters both jobs. The jobs run at the same time or one after the other.
    let run = |second: i64| {
        let jobs = [job(0, 60_000, 8), job(second, 60_000, 8)];
        let (flag, topology) = (CancelToken::new(), "4x4".parse().expect("a machine"));
        let messages = Messages::new(Preset::Lo, "all-to-all".parse().expect("one")).expect("fine");
        let input = ContentionInput {
            jobs: &jobs,
            topology: &topology,
            messages: &messages,
            watch: RunContext::new(&flag),
        };
        let isolation = isolate(input, 1.0, 0).expect("it runs");
        run_with(input, &isolation, "random", 0).expect("it runs").jobs
    };
    let (apart, together) = (run(1_000_000), run(0));
    assert_eq!(apart[0].contention_factor(), Some(1.0));
    assert!(apart[0].placement_factor() > Some(1.0), "{:?}", apart[0]);
    // The first job has the same processors in both runs, so its additional time is caused by the second job.
    assert_eq!(apart[0].placement_factor(), together[0].placement_factor());
    assert!(together[0].contention_factor() > Some(1.0), "{:?}", together[0]);
    let factors = together[0].placement_factor().zip(together[0].contention_factor());
    let product = factors.map(|(placement, contention)| placement * contention);
    let stretch = together[0].stretch();
    assert!(product.zip(stretch).is_some_and(|(a, b)| (a - b).abs() < 1e-12), "{together:?}");
}

/// Simulates jobs on a machine: flit by flit if `window` is `None`, otherwise with link loads.
fn run_with_window(
    window: Option<u64>,
    machine: &str,
    pattern: &str,
    alloc: &str,
    jobs: &[Job],
) -> TraceRun {
    let topology: Topology = machine.parse().expect("a machine");
    let pattern = pattern.parse().expect("a pattern");
    let mut messages = Messages::new(Preset::Lo, pattern).expect("no file");
    messages.window = window;
    let (flag, topology, messages) = (CancelToken::new(), &topology, &messages);
    let input = ContentionInput { jobs, topology, messages, watch: RunContext::new(&flag) };
    let isolation = isolate(input, 1.0, 3).expect("it runs");
    run_with(input, &isolation, alloc, 3).expect("it runs")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// A job that runs alone and is simulated as a whole has the same results with flits and with link loads.
    #[test]
    fn link_loads_equal_flits_for_a_job_alone(
        sizes in proptest::collection::vec((1u32..30, 1i64..4000), 1..4),
        machine in prop_oneof![Just("8x8"), Just("torus:8x4"), Just("hypercube:5")],
        pattern in prop_oneof![Just("n-body"), Just("all-to-all"), Just("random"), Just("one-to-all")],
    ) {
        let jobs: Vec<Job> =
            (0..).zip(&sizes).map(|(i, &(size, run))| job(i * 40_000_000, run, size)).collect();
        let [flits, links] = [None, Some(1 << 30)].map(|w| run_with_window(w, machine, pattern, "random", &jobs));
        prop_assert_eq!(flits.jobs, links.jobs);
    }
}

/// In the model of link loads, two jobs slow each other down if and only if their processors share links.
#[test]
fn link_loads_slow_down_jobs_with_shared_links() {
    let jobs = [job(0, 60_000, 8), job(0, 60_000, 8)];
    let run = |alloc| run_with_window(Some(2000), "4x4", "all-to-all", alloc, &jobs).jobs;
    for apart in run("first-fit") {
        assert_eq!(apart.contention_factor(), Some(1.0), "{apart:?}");
    }
    for mixed in run("random") {
        let factor = mixed.contention_factor().expect("it sends");
        assert!(factor > 1.01 && factor < 2.5, "{mixed:?}");
        assert!(mixed.service.abs_diff((mixed.alone as f64 * factor) as u64) <= 1);
    }
}
