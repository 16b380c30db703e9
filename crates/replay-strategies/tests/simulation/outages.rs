//! Runs with outages.

use super::*;
use replay_contract::{MACHINE_KINDS, machine_for};
use replay_engine::allocator::Reduction;
use replay_engine::simulation::WhenDown;
use replay_engine::simulation::outages::Window;
use replay_slurm::topology_file::TopologyFile;

fn window(from: i64, until: Option<i64>, nodes: std::ops::Range<u32>) -> Window {
    Window { from, until, nodes: nodes.map(NodeId).collect() }
}

/// Records the time and the processors of each start of a job, and the end of each job.
#[derive(Default)]
struct Watcher {
    starts: Vec<Vec<(i64, Vec<NodeId>)>>,
    /// The job of each start: the submitted job, or the folded job if the allocator folds it.
    started_as: Vec<Vec<Job>>,
    submitted: Vec<Job>,
    folded: Option<Job>,
    ends: Vec<i64>,
    cut: Vec<(JobId, i64, bool)>,
    /// Time spans: begin, end, number of processors held, number of processors out of service.
    spans: Vec<(i64, i64, u32, u32)>,
    promises: Option<Promises>,
}

impl Observer for Watcher {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.spans.push((from, to, state.held, state.down));
    }

    fn reduced(&mut self, _: JobId, requested: &Job, reduction: &Reduction) {
        self.folded = Some(reduction.of(*requested));
    }

    fn started(&mut self, Decision { job, now, nodes, .. }: Decision<'_>) {
        self.starts[job.index()].push((now, nodes.to_vec()));
        let as_submitted = self.submitted[job.index()];
        self.started_as[job.index()].push(self.folded.take().unwrap_or(as_submitted));
    }

    fn cut_off(&mut self, job: JobId, now: i64, _: &[NodeId], again: bool) {
        self.cut.push((job, now, again));
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.ends[job.index()] = now;
    }
}

fn run_with_outages(
    jobs: &[Job],
    outages: &Outages,
    scheduler: &str,
    allocator: &str,
) -> Result<Watcher, SimulationError> {
    run_on(&"4x4".parse().expect("a machine"), jobs, outages, scheduler, allocator)
}

fn run_on(
    topology: &Topology,
    jobs: &[Job],
    outages: &Outages,
    scheduler: &str,
    allocator: &str,
) -> Result<Watcher, SimulationError> {
    let allocator = replay_strategies::allocator(allocator).expect("a strategy");
    let mut allocator = allocator.build(topology, 1).expect("it works there");
    let scheduler = replay_strategies::scheduler(scheduler).expect("a scheduler");
    let mut scheduler = scheduler.build(topology.processors() as u32);
    let stop = CancelToken::new();
    let mut watcher = Watcher {
        starts: vec![Vec::new(); jobs.len()],
        started_as: vec![Vec::new(); jobs.len()],
        submitted: jobs.to_vec(),
        ends: vec![i64::MIN; jobs.len()],
        ..Watcher::default()
    };
    let simulation = Simulation::new(jobs, topology, &stop).with_outages(outages);
    let simulation = simulation.with_every_event();
    let starts = Starts::Scheduler(scheduler.as_mut());
    let overhead = simulation.run(starts, allocator.as_mut(), &mut watcher)?;
    watcher.promises = overhead.promises;
    Ok(watcher)
}

/// Strategies with parameters, in addition to the registered names.
const VARIANTS: [&str; 6] = [
    "mc1x1[tie=2,13,20,6]",
    "mc1x1[tie=auto,shadows=2,every=16]",
    "snake-first-fit",
    "paging[size=1]",
    "placements[tie=1,1,1,1,1,1]",
    "rsr[inner=buddy]",
];

/// A strategy that supports outages, with its first machine and its properties there.
#[derive(Clone, Debug)]
struct Candidate {
    name: &'static str,
    machine: &'static str,
    capabilities: Capabilities,
    has_copies: bool,
}

fn with_outages() -> Vec<Candidate> {
    let candidate = |name: &'static str| {
        let spec = replay_strategies::allocator(name).expect("a strategy");
        // The strategy that repeats a log makes no decisions.
        if spec.recorded() {
            return None;
        }
        let (machine, topology) = machine_for(&spec, MACHINE_KINDS.map(|kind| kind.small));
        let built = spec.build(&topology, 1).expect("a supported machine");
        let (capabilities, has_copies) = (built.capabilities(), built.try_clone().is_some());
        Some(Candidate { name, machine, capabilities, has_copies })
    };
    let all = standard().allocators.names().chain(VARIANTS).filter_map(candidate);
    all.filter(|candidate| candidate.capabilities.supports_outages).collect()
}

impl Candidate {
    /// Returns whether the scheduler supports the strategy.
    fn goes_with(&self, scheduler: &str) -> bool {
        let Capabilities { keeps_schedule, refusals_last, reserves_by_trial, .. } =
            self.capabilities;
        match scheduler {
            "conservative" => keeps_schedule,
            "easy[guard=place]" => self.has_copies && (refusals_last || reserves_by_trial),
            _ => true,
        }
    }
}

/// Returns the jobs that the strategy accepts on the machine.
fn accepted(jobs: &[Job], allocator: &str, topology: &Topology) -> Vec<Job> {
    let spec = replay_strategies::allocator(allocator).expect("a strategy");
    let mut built = spec.build(topology, 1).expect("a supported machine");
    let rejects = built.capabilities().rejects_unsupported_sizes;
    let mut servable = |job: &Job| built.bounds(Request::shaped(job.size, job.shape)).servable;
    jobs.iter().filter(|job| !rejects || servable(job)).copied().collect()
}

/// Job 0 holds the whole machine from 0 to 100. Job 1 requests the whole machine, job 2 three quarters of it. A quarter
/// is out of service from 50 to 200.
#[test]
fn a_quarter_of_the_machine_goes_out_of_service() {
    let jobs = [job(0, 100, 100, 16), job(10, 10, 10, 16), job(20, 10, 10, 12)];
    let at =
        |rule| Outages { windows: vec![window(50, Some(200), 0..4)], running: rule, walls: false };
    for (rule, scheduler, starts, ends) in [
        (WhenDown::Drain, "fcfs", [0, 200, 210], [100, 210, 220]),
        // Job 2 is backfilled: the head gets its processors at 200.
        (WhenDown::Drain, "easy", [0, 200, 100], [100, 210, 110]),
        (WhenDown::Drain, "conservative", [0, 200, 100], [100, 210, 110]),
        (WhenDown::Drain, "out-of-order", [0, 200, 100], [100, 210, 110]),
        (WhenDown::Kill, "fcfs", [0, 200, 210], [50, 210, 220]),
        (WhenDown::Kill, "easy", [0, 200, 50], [50, 210, 60]),
        // Job 0 returns to the queue before later jobs, and runs again.
        (WhenDown::Requeue, "fcfs", [200, 300, 310], [300, 310, 320]),
        // Job 0 is the head again and can start at 200 at the earliest.
        (WhenDown::Requeue, "easy", [200, 300, 50], [300, 310, 60]),
    ] {
        let is_exact = |one: &Candidate| one.machine == "4x4" && one.capabilities.keeps_schedule;
        for Candidate { name: allocator, .. } in with_outages().into_iter().filter(is_exact) {
            // Job 0 has a short estimate, because a correct estimate would delay it until after the known window.
            let underestimated = [job(0, 100, 40, 16), jobs[1], jobs[2]];
            let jobs = if scheduler == "fcfs" { &jobs } else { &underestimated };
            let run = run_with_outages(jobs, &at(rule), scheduler, allocator).expect("it runs");
            let last: Vec<i64> = run.starts.iter().map(|all| all[all.len() - 1].0).collect();
            let name = format!("{rule:?} {scheduler} {allocator}");
            assert_eq!((last, run.ends), (starts.to_vec(), ends.to_vec()), "{name}");
            let cut = match rule {
                WhenDown::Drain => vec![],
                rule => vec![(JobId(0), 50, rule == WhenDown::Requeue)],
            };
            assert_eq!(run.cut, cut, "{name}");
        }
    }
    let drained = run_with_outages(&jobs, &at(WhenDown::Drain), "fcfs", "random").expect("it runs");
    let spans: Vec<_> = drained.spans.iter().filter(|span| span.1 > 50).copied().collect();
    let expected = [(50, 100, 16, 0), (100, 200, 0, 4), (200, 210, 16, 0), (210, 220, 12, 0)];
    assert_eq!(spans, expected);
}

/// Under schedulers that use estimates, a known window delays jobs. Under other schedulers, the jobs start despite the
/// window, and their processors go out of service when the jobs end.
#[test]
fn schedulers_with_estimates_plan_for_windows() {
    let jobs = [job(0, 100, 100, 16), job(0, 40, 40, 8)];
    let outages = Outages { windows: vec![window(50, Some(60), 0..16)], ..Outages::NONE };
    for (scheduler, starts) in [("fcfs", [0, 100]), ("easy", [60, 0]), ("conservative", [60, 0])] {
        let run = run_with_outages(&jobs, &outages, scheduler, "random").expect("it runs");
        let first: Vec<i64> = run.starts.iter().map(|all| all[0].0).collect();
        assert_eq!(first, starts, "{scheduler}");
    }
}

/// The head requests the whole machine, which is available after the window. Jobs that end before the window's end may
/// start. Jobs that would hold processors of the head's place for longer may not start.
#[test]
fn a_place_is_reserved_around_a_window() {
    let jobs =
        [job(0, 100, 100, 8), job(10, 10, 10, 16), job(20, 100, 100, 4), job(30, 500, 500, 2)];
    let outages = Outages { windows: vec![window(50, Some(200), 0..4)], ..Outages::NONE };
    for allocator in ["first-fit[shape=near-square]", "placements", "mc1x1"] {
        let run =
            run_with_outages(&jobs, &outages, "easy[guard=place]", allocator).expect("it runs");
        let starts: Vec<i64> = run.starts.iter().map(|all| all[0].0).collect();
        assert_eq!(starts, [0, 200, 20, 210], "{allocator}");
        let promises = Promises { given: 1, broken: 0, worst: 0 };
        assert_eq!(run.promises, Some(promises), "{allocator}");
    }
    // If the window never ends, the whole machine cannot be reserved.
    let forever = Outages { windows: vec![window(50, None, 0..4)], ..Outages::NONE };
    let error = run_with_outages(&jobs, &forever, "easy[guard=place]", "placements")
        .err()
        .expect("no place");
    assert!(matches!(error, SimulationError::Down(1)), "{error}");
}

fn first_starts(run: &Watcher) -> Vec<i64> {
    run.starts.iter().map(|all| all[0].0).collect()
}

/// The head needs seven of eight nodes, which are free at 100. A job of one node may run longer, because the rule finds
/// other nodes for the head. Outages before 100, or after the last job, do not change this.
#[test]
fn a_place_is_replaced_by_another_place_around_a_window() {
    let tree: Topology = "tree:2x4".parse().expect("a tree");
    let jobs = [job(0, 100, 100, 2), job(1, 50, 50, 7), job(12, 300, 300, 1)];
    let windows = [None, Some(window(400, Some(410), 6..8)), Some(window(10, Some(20), 6..8))];
    for windows in windows.map(|one| one.into_iter().collect::<Vec<_>>()) {
        let outages = Outages { windows, ..Outages::NONE };
        for rule in ["slurm-tree[switches=2]", "kueue[mode=required,level=1]", "slurm-tree"] {
            let run = run_on(&tree, &jobs, &outages, "easy", rule).expect("it runs");
            assert_eq!(first_starts(&run), [0, 100, 12], "{rule} {outages:?}");
        }
    }
    // Two nodes are out of service at 100. The head needs the six other nodes, so the job waits.
    let jobs = [job(0, 100, 100, 2), job(1, 50, 50, 6), job(12, 300, 300, 1)];
    let outages = Outages { windows: vec![window(50, Some(160), 6..8)], ..Outages::NONE };
    for rule in ["slurm-tree[switches=2]", "kueue[mode=required,level=1]"] {
        let run = run_on(&tree, &jobs, &outages, "easy", rule).expect("it runs");
        // The job gets the first of the free nodes, which the head needs.
        assert_eq!(first_starts(&run), [0, 1, 51], "{rule}");
        let late = [jobs[0], Job { submit: 60, ..jobs[1] }, Job { submit: 61, ..jobs[2] }];
        let run = run_on(&tree, &late, &outages, "easy", rule).expect("it runs");
        assert_eq!(first_starts(&run), [0, 100, 150], "{rule}");
    }
}

/// Nodes 6 to 9 are below the second of two roots and go out of service at 20, so the job that runs there is requeued.
/// Before its first start, the rule refused the job although enough nodes were free. After its return, later jobs start
/// as if the job had arrived at 10, and the job starts at the first time at which four nodes below one root are free.
#[test]
fn a_start_ends_a_miss() {
    let machine = "SwitchName=a Nodes=n[0-5]\nSwitchName=b Nodes=n[6-9]\n";
    let file = TopologyFile::read(machine, "two.conf", None).expect("a machine");
    let topology = Topology::Hierarchy(file.machine);
    let sizes = [(0, 10, 2), (0, 30, 1), (0, 200, 1), (0, 10, 1)];
    let filler: Vec<Job> = sizes.map(|(submit, run, size)| job(submit, run, run, size)).into();
    for (submit, expected) in [(0, 30), (10, 30)] {
        let rest = [job(submit, 100, 100, 4), job(12, 100, 100, 1), job(20, 100, 100, 1)];
        let jobs = [&filler[..], &rest].concat();
        let outages = Outages {
            windows: vec![window(20, Some(1000), 6..10)],
            running: WhenDown::Requeue,
            walls: false,
        };
        let run = run_on(&topology, &jobs, &outages, "easy[guard=count]", "slurm-tree");
        let run = run.expect("it runs");
        assert_eq!(run.starts[4].last().map(|start| start.0), Some(expected), "{submit}");
    }
}

#[test]
fn impossible_runs_are_errors() {
    let jobs = [job(0, 10, 10, 4), job(20, 10, 10, 16)];
    let forever = Outages { windows: vec![window(5, None, 0..1)], ..Outages::NONE };
    for scheduler in ["fcfs", "easy", "conservative", "largest"] {
        let error = run_with_outages(&jobs, &forever, scheduler, "random")
            .err()
            .expect("a job that never starts");
        assert!(matches!(error, SimulationError::Down(1)), "{scheduler}: {error}");
    }
    let error = run_with_outages(&jobs, &forever, "fcfs", "recorded")
        .err()
        .expect("an unsupported allocator");
    assert!(matches!(error, SimulationError::NoOutages(_)), "{error}");
    // Outages after the end of the last job do not affect the run.
    let late = Outages { windows: vec![window(1000, None, 0..16)], ..Outages::NONE };
    let run = run_with_outages(&jobs, &late, "fcfs", "random").expect("it runs");
    assert_eq!(run.spans.last().map(|span| span.1), Some(30));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    /// For any windows, every job runs to its end on processors that were in service when it started. No two jobs share
    /// a processor, and no processor is both held and out of service.
    #[test]
    fn jobs_start_on_processors_in_service(
        jobs in jobs(16),
        windows in proptest::collection::vec((0i64..60, 1i64..40, 0u32..16, 1u32..16), 1..5),
        rule in proptest::sample::select(WhenDown::ALL.map(|(_, rule)| rule).to_vec()),
        scheduler in proptest::sample::select(
            vec!["fcfs", "easy", "easy[order=largest]", "easy[guard=place]", "conservative", "out-of-order", "scan", "lazy", "shortest"]
        ),
        candidate in proptest::sample::select(with_outages()),
    ) {
        prop_assume!(candidate.goes_with(scheduler));
        let Candidate { name: allocator, machine, .. } = candidate;
        let topology: Topology = machine.parse().expect("a machine");
        let jobs = accepted(&jobs, allocator, &topology);
        let windows = windows.into_iter().map(|(from, length, first, count)| {
            window(from, Some(from + length), first..(first + count).min(16))
        });
        let outages = Outages { windows: windows.collect(), running: rule, walls: true };
        let run = run_on(&topology, &jobs, &outages, scheduler, allocator);
        let run = run.map_err(|error| TestCaseError::fail(format!("{allocator}: {error}")))?;
        let cut = |id: JobId, at: i64| run.cut.iter().any(|&(job, when, _)| (job, when) == (id, at));
        let mut spans: Vec<(NodeId, i64, i64)> = Vec::new();
        for id in (0..jobs.len() as u32).map(JobId) {
            let starts = &run.starts[id.index()];
            for (i, (start, nodes)) in starts.iter().enumerate() {
                let job = &run.started_as[id.index()][i];
                prop_assert!(*start >= job.submit && nodes.len() >= job.size as usize);
                let last = i + 1 == starts.len();
                let cut_at = run.cut.iter().filter(|one| one.0 == id && one.1 > *start).map(|one| one.1).min();
                let end = cut_at.unwrap_or(start + job.run);
                if last {
                    prop_assert_eq!(run.ends[id.index()], end);
                    prop_assert!(end == start + job.run || cut(id, end) && rule == WhenDown::Kill);
                } else {
                    prop_assert!(rule == WhenDown::Requeue && cut(id, end));
                }
                for &node in nodes {
                    let covers = |at: i64| outages.windows.iter().any(|window| {
                        window.nodes.contains(&node) && window.from <= at && window.until.is_some_and(|until| at < until)
                    });
                    prop_assert!(!covers(*start), "job {} starts on {}", id.0, node.0);
                    if rule != WhenDown::Drain && end > *start {
                        prop_assert!(!covers(end - 1));
                    }
                    spans.push((node, *start, end));
                }
            }
        }
        spans.sort_unstable();
        prop_assert!(spans.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1));
        for &(_, _, held, down) in &run.spans {
            prop_assert!((held + down) as usize <= topology.processors());
        }
    }
}

proptest! {

    /// For any windows, the reserved place of the head is free at the guaranteed time.
    #[test]
    fn a_reserved_place_is_kept(
        drawn in proptest::collection::vec((0i64..30, 1i64..40, 0i64..30, 1u32..=16), 2..30),
        windows in proptest::collection::vec((0i64..60, 1i64..40, 0u32..16, 1u32..16), 1..5),
        allocator in proptest::sample::select(vec!["placements[anchors=all,tie=slurm]", "first-fit[shape=near-square]"]),
    ) {
        let mut jobs: Vec<Job> =
            drawn.iter().map(|&(t, run, more, size)| job(t, run, run + more, size)).collect();
        jobs.sort_by_key(|job| job.submit);
        let windows = windows.into_iter().map(|(from, length, first, count)| {
            window(from, Some(from + length), first..(first + count).min(16))
        });
        let outages = Outages { windows: windows.collect(), ..Outages::NONE };
        let run = run_with_outages(&jobs, &outages, "easy[guard=place]", allocator).expect("it runs");
        let promises = run.promises.expect("EASY promises");
        prop_assert_eq!((promises.broken, promises.worst), (0, 0));
    }

    /// For any windows, the head starts no later than at its reservation if the rule's refusals last, although other
    /// places replace its place.
    #[test]
    fn a_replaceable_place_is_kept(
        drawn in proptest::collection::vec((0i64..30, 1i64..40, 0i64..30, 1u32..=8), 2..30),
        windows in proptest::collection::vec((0i64..60, 1i64..40, 0u32..16, 1u32..16), 1..5),
    ) {
        let mut jobs: Vec<Job> =
            drawn.iter().map(|&(t, run, more, size)| job(t, run, run + more, size)).collect();
        jobs.sort_by_key(|job| job.submit);
        let windows = windows.into_iter().map(|(from, length, first, count)| {
            window(from, Some(from + length), first..(first + count).min(16))
        });
        let outages = Outages { windows: windows.collect(), ..Outages::NONE };
        let rule = "kueue[mode=required,level=1]";
        let tree: Topology = "tree:2x2x4".parse().expect("a tree");
        let run = run_on(&tree, &jobs, &outages, "easy", rule).expect("it runs");
        let promises = run.promises.expect("EASY promises");
        prop_assert_eq!((promises.broken, promises.worst), (0, 0));
    }

    /// Windows after the last job do not change a run with a rule that may refuse jobs.
    #[test]
    fn windows_after_the_last_job_change_nothing_for_rules_that_refuse(
        jobs in jobs(8),
        scheduler in proptest::sample::select(vec!["fcfs", "easy", "easy[guard=place]", "out-of-order"]),
        rule in proptest::sample::select(vec![
            ("tree:2x2x4", "slurm-tree[switches=1,wait=20]"),
            ("tree:2x2x4", "kueue[mode=required,level=1]"),
            ("block[4,16]:4x4", "slurm-block"),
        ]),
    ) {
        let (machine, rule) = rule;
        let machine: Topology = machine.parse().expect("a machine");
        let none = run_on(&machine, &jobs, &Outages::NONE, scheduler, rule).expect("it runs");
        let far = Outages { windows: vec![window(1 << 40, Some(1 << 41), 0..9)], ..Outages::NONE };
        let far = run_on(&machine, &jobs, &far, scheduler, rule).expect("it runs");
        prop_assert_eq!(none.starts, far.starts);
        prop_assert_eq!(none.ends, far.ends);
    }

    /// Windows after the last job do not change the run.
    #[test]
    fn windows_after_the_last_job_change_nothing(
        jobs in jobs(16),
        scheduler in proptest::sample::select(vec!["fcfs", "easy", "conservative", "out-of-order"]),
        candidate in proptest::sample::select(with_outages()),
    ) {
        prop_assume!(candidate.goes_with(scheduler));
        let Candidate { name: allocator, machine, .. } = candidate;
        let topology: Topology = machine.parse().expect("a machine");
        let jobs = accepted(&jobs, allocator, &topology);
        let run = |outages: &Outages| run_on(&topology, &jobs, outages, scheduler, allocator);
        let none = run(&Outages::NONE).expect("it runs");
        let far = Outages { windows: vec![window(1 << 40, Some(1 << 41), 0..9)], ..Outages::NONE };
        let far = run(&far).expect("it runs");
        prop_assert_eq!(none.starts, far.starts);
        prop_assert_eq!(none.ends, far.ends);
    }
}

/// Job 0 holds exactly the processors that are or will be out of service. The processors of job 0 are not counted
/// twice, so job 1 gets the other half of the machine immediately. When job 0 ends before its estimate, job 2 gets none
/// of the processors of job 0.
#[test]
fn draining_processors_are_counted_once() {
    let jobs = [job(0, 300, 1000, 8), job(10, 900, 900, 8), job(400, 50, 50, 8)];
    for from in [5, 200, 500] {
        // The two windows overlap and together cover the first two rows of the machine.
        let of = |from, until, nodes: &[u32]| Window {
            from,
            until: Some(until),
            nodes: nodes.iter().map(|&node| NodeId(node)).collect(),
        };
        let first = of(from, 2000, &[0, 4, 8, 12, 1, 5]);
        let windows = vec![first, of(from + 1, 1500, &[1, 5, 9, 13])];
        let outages = Outages { windows, running: WhenDown::Drain, walls: false };
        for scheduler in ["fcfs", "easy", "conservative", "out-of-order"] {
            let run = run_with_outages(&jobs, &outages, scheduler, "row-major-first-fit")
                .expect("it runs");
            let starts: Vec<i64> = run.starts.iter().map(|all| all[0].0).collect();
            // When job 0 ends at 300, its processors go out of service if the window has begun; otherwise they are free
            // until the window begins.
            let third = if from < 500 { 910 } else { 400 };
            assert_eq!(starts, [0, 10, third], "{scheduler} from {from}");
        }
    }
}
