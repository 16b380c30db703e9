//! Tests of single cells with hand-computed results.

use super::*;
use crate::Cell;
use replay_engine::cancel::CancelToken;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::workload::{Dependencies, Policy, Window, Workload};

/// Runs a trace under FCFS.
fn fcfs(swf: &str, machine: &str, allocator: &str) -> RunResult {
    run_of(swf, machine, allocator, Dependencies::Ignore)
}

fn run_of(swf: &str, machine: &str, allocator: &str, rule: Dependencies) -> RunResult {
    run_under(SchedulerSpec::fcfs(), swf, machine, allocator, rule)
}

fn run_under(
    scheduler: SchedulerSpec,
    swf: &str,
    machine: &str,
    allocator: &str,
    rule: Dependencies,
) -> RunResult {
    let jobs = Workload::from_reader(
        swf.as_bytes(),
        "tiny.swf",
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    )
    .expect("a trace");
    let topology = machine.parse().expect("a machine");
    let trace = Trace::new(Arc::new(jobs), topology, "johnson", &[]).with_dependencies(rule);
    let cell = Cell {
        trace: Arc::new(trace),
        scheduler,
        allocator: replay_strategies::allocator(allocator).expect("a strategy"),
        seed: 0,
    };
    let measure = Measure { jobs: true, ..Measure::default() };
    run_cell(0, &cell, measure, RunContext::new(&CancelToken::new())).expect("it runs")
}

/// If the log has more busy processors than the machine has, some jobs get no processors; these jobs are excluded from
/// all metrics.
#[test]
fn metrics_cover_the_jobs_that_had_processors() {
    let swf =
        "; MaxProcs: 4\n1 0 3 10 2\n2 1 4 10 2\n3 2 0 1 1\n4 6 500 5 4\n5 6 0 5 1\n6 7 1 900 2\n";
    for allocator in ["mc1x1", "random"] {
        let scheduler = replay_strategies::scheduler("recorded").expect("a scheduler");
        let run = run_under(scheduler, swf, "2x2", allocator, Dependencies::Ignore);
        let numbers: Vec<i64> = run.jobs.iter().map(|job| job.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4], "{allocator}");
        let schedule = &run.metrics.schedule;
        let mean = |of: &dyn Fn(&replay_engine::metrics::JobMeasures) -> f64| {
            run.jobs.iter().map(of).sum::<f64>() / run.jobs.len() as f64
        };
        assert_eq!(schedule.jobs, 4);
        assert_eq!(schedule.mean_wait, mean(&|job| job.wait() as f64));
        assert_eq!(schedule.mean_turnaround, mean(&|job| job.turnaround() as f64));
        assert_eq!(schedule.mean_bounded_slowdown, mean(&|job| job.bounded_slowdown()));
        let pairwise = mean(&|job| job.placement.map_or(0.0, |place| place.pairwise_l1 as f64));
        assert_eq!(run.metrics.pairwise.mean_pairwise_l1, pairwise);
        // The jobs use 20 + 20 + 1 + 20 processor-seconds in 511 s.
        assert_eq!((schedule.makespan, schedule.max_wait), (511, 500));
        assert_eq!(schedule.utilization, 61.0 / (4.0 * 511.0));
        assert!(run.series.busy.iter().all(|&busy| busy <= 4));
        let sizes: Vec<_> = run.by_size.iter().map(|row| (row.size, row.jobs)).collect();
        assert_eq!(sizes, [(1, 1), (2, 2), (4, 1)]);
    }
}

/// Both jobs hold the two hosts from the beginning, but the second job computes only after the first job has ended.
#[test]
fn utilization_counts_computing_not_waiting_jobs() {
    let swf = "; MaxProcs: 2\n1 0 -1 100 2\n2 0 -1 100 2\n";
    for (machine, allocator, makespan, utilization, held) in [
        ("cluster:2x2", "elmer", 200, 1.0, 75.0),
        ("cluster:2x2", "elmer[demand=0.5]", 100, 1.0, 100.0),
        // A fifth of each host remains for the second job, which then runs at a quarter of its speed.
        ("cluster:2x3", "elmer[demand=0.8]", 175, 1.6 / 1.75, 550.0 / 10.5),
        ("cluster:2", "elmer", 200, 1.0, 100.0),
        // No other job can use the rest of the hosts.
        ("cluster:2", "elmer[demand=0.5]", 200, 0.5, 100.0),
    ] {
        let run = fcfs(swf, machine, allocator);
        let (schedule, system) = (&run.metrics.schedule, run.metrics.system.expect("shared"));
        let name = format!("{machine} {allocator}");
        assert_eq!(schedule.makespan, makespan, "{name}");
        for actual in [
            schedule.utilization,
            system.fragmentation.utilization,
            system.fragmentation.allocated_utilization,
        ] {
            assert!((actual - utilization).abs() < 1e-12, "{name}: {actual}");
        }
        let percent = system.sharing.slots_held_percent.expect("slots");
        assert!((percent - held).abs() < 1e-9, "{name}: {percent}");
    }
    let whole = fcfs(swf, "cluster:2", "random");
    assert_eq!((whole.metrics.schedule.utilization, whole.metrics.system), (1.0, None));
}

/// The test uses the sample of the SWF specification: jobs 1 to 9 on 16 processors under FCFS (rule F7). Arrival times
/// do not depend on the allocator.
#[test]
fn honours_dependencies_of_jobs() {
    let text = "; MaxProcs: 16\n\
        1 0 -1 100 8 -1 -1 8 200 -1 1 1 1 -1 -1 -1 -1 -1\n\
        2 10 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 1 20\n\
        3 500 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 2 -1\n\
        4 20 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 99 5\n\
        5 30 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 6 0\n\
        6 40 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 -1 -1\n\
        7 50 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 7 0\n\
        8 60 -1 0 4 -1 -1 4 100 -1 0 2 1 -1 -1 -1 1 0\n\
        9 70 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 8 0\n";
    let expected = [0, 120, 500, 20, 70, 40, 50, 100, 100];
    let submitted = [0, 10, 500, 20, 30, 40, 50, 60, 70];
    for (rule, arrivals) in [(Dependencies::Honour, expected), (Dependencies::Ignore, submitted)] {
        for allocator in ["mc1x1", "random", "mbs", "first-fit"] {
            let jobs = run_of(text, "4x4", allocator, rule).jobs;
            for job in jobs {
                let at = (job.number - 1) as usize;
                let name = format!("{allocator} {rule:?} {}", job.number);
                assert_eq!((job.arrival, job.submit), (arrivals[at], submitted[at]), "{name}");
                assert_eq!(job.wait(), job.start - arrivals[at], "{name}");
            }
        }
    }
    let run = run_of(text, "4x4", "mbs", Dependencies::Honour);
    assert_eq!(run.key.policy, "johnson[deps=honour]");
    let timeline = run_of(text, "4x4", "random", Dependencies::Honour);
    assert_eq!(run.metrics.schedule, timeline.metrics.schedule);
    assert_eq!(run.series, timeline.series);
}

/// The second job requests 8 processors for 10 s. The second job runs on 4 processors for 20 s.
#[test]
fn counts_a_folded_job_as_it_ran() {
    let swf = "; MaxProcs: 8\n1 0 -1 100 4\n2 0 -1 10 8\n";
    let run = fcfs(swf, "hypercube:3", "rsr[inner=cube-buddy]");
    let schedule = &run.metrics.schedule;
    assert_eq!((schedule.utilization, schedule.makespan), ((400.0 + 80.0) / 800.0, 100));
    assert_eq!(schedule.mean_bounded_slowdown, (1.0 + 2.0) / 2.0);
    assert!(run.series.busy.iter().all(|&busy| busy <= 8));
    let sizes: Vec<_> = run.by_size.iter().map(|row| (row.size, row.mean_turnaround)).collect();
    assert_eq!(sizes, [(4, 100.0), (8, 20.0)]);
    let job = &run.jobs[1];
    assert_eq!((job.size, job.served_size), (8, 4));
    assert_eq!((job.run, job.own_run, job.turnaround()), (20, 10, 20));
    assert_eq!(job.bounded_slowdown(), 2.0);
}
