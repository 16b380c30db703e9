use std::sync::Arc;

use super::*;
use crate::grid::{GridFile, ParameterGrid};
use crate::resolve::ResolvedGrid;
use crate::sweep::Plan;
use crate::{ExperimentError, RunContext, Trace, pool::Turn, run_experiment};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::{PairwiseMetrics, ScheduleMetrics};
use replay_engine::workload::{Policy, Shake, Window, Workload};

const SWF: &[u8] = include_bytes!("../../../../traces/lublin-10x10.swf");

/// Creates a plan on the first jobs of the trace that is part of the project, and runs the plan.
fn run(grid: &str) -> (Plan, Vec<RunResult>) {
    let grid = ParameterGrid::resolve(
        &GridFile::parse(grid, "grid").expect("a grid"),
        replay_strategies::standard(),
    )
    .expect("names");
    let window = Window { jobs: Some(200), ..Window::ALL };
    let own = Workload::from_reader(SWF, "own.swf", &Policy::JOHNSON, &window, Default::default());
    let workload = own.expect("the trace that comes with the project");
    let machine = "10x10".parse().expect("a mesh");
    let trace = Trace::new(Arc::new(workload), machine, "johnson", &grid.schedulers);
    let traces = vec![Arc::new(trace)];
    let plan = Plan::new(grid, &traces).expect("few cells");
    let runs: Vec<u32> = (0..plan.len()).collect();
    let (stop, mut results) = (CancelToken::new(), Vec::new());
    let grid = ResolvedGrid { plan, traces };
    run_experiment(&grid, &runs, Turn::InOrder, RunContext::new(&stop), |_, outcome| {
        results.push(outcome.expect("a result"));
        Ok::<_, ExperimentError>(true)
    })
    .expect("known names");
    (grid.plan, results)
}

const GRID: &str = "schedulers = ['fcfs', 'easy']\nseeds = [3, 4]\nshake = { copies = 5, width = 60 }\n\
    allocator = ['row-major-free-list', 'random', 'paging[size=0]']";

#[test]
fn cell_numbers_and_positions_correspond() {
    let (plan, results) = run(GRID);
    assert_eq!(plan.len(), 6 * 2 * 3 * 2);
    let mut ids = std::collections::HashSet::new();
    for (run, result) in (0..).zip(&results) {
        assert_eq!(plan.run_at(plan.places(run)), run);
        assert_eq!((result.run, plan.key(run).expect("a key")), (run, result.key.clone()));
        assert!(ids.insert(plan.id(run).expect("an id")));
    }
    // The first cells and their ids equal the cells and ids of a plan without perturbed copies.
    let (plain, unshaken) = self::run(&GRID.replace("shake = { copies = 5, width = 60 }", ""));
    assert_eq!(plain.len(), 12);
    for (run, result) in (0..).zip(&unshaken) {
        assert!(result.is_same(&results[run as usize]));
        assert_eq!(plain.id(run).expect("an id"), plan.id(run).expect("an id"));
    }
    // Additional copies do not change the existing copies.
    let (more, _) = self::run(&GRID.replace("copies = 5", "copies = 6"));
    assert!((0..plan.len()).all(|run| more.id(run).ok() == plan.id(run).ok()));
}

#[test]
fn estimates_match_the_results() {
    let (plan, results) = run(GRID);
    let mut estimates = Estimates::of_runs(&plan);
    results.iter().for_each(|result| estimates.take(&plan, result.run, &result.metrics));
    let rows = estimates.rows(&plan).expect("rows");
    let value = |[copy, scheduler, strategy, seed]: [usize; 4]| {
        let run = plan.run_at([0, copy, scheduler, strategy, seed]) as usize;
        results[run].metrics.pairwise.mean_pairwise_l1
    };
    for (scheduler, strategy, seed) in [(0, 0, 0), (0, 1, 1), (1, 2, 0)] {
        let own = |copy| value([copy, scheduler, strategy, seed]);
        let run = plan.run_at([0, 0, scheduler, strategy, seed]);
        let row = rows
            .iter()
            .find(|row| row.run == run && row.metric == PairwiseMetrics::mean_pairwise_l1);
        let row = row.expect("a row");
        let values: Accumulator = (1..=5).map(own).collect();
        assert_eq!((row.unshaken, row.mean), (Some(own(0)), values.estimate(0.95)));
        assert!(row.mean.half_width > 0.0, "{row:?}");
        let paired = |copy| own(copy) - value([copy, scheduler, 0, seed]);
        let differences: Accumulator = (1..=5).map(paired).collect();
        match row.difference {
            None => assert_eq!(strategy, 0),
            Some(other) => {
                assert_eq!(other.reference, plan.run_at([0, 0, scheduler, 0, seed]));
                assert_eq!(other.mean, differences.estimate(0.95));
            }
        }
    }
    // None of these strategies refuses a job. On each copy, all strategies therefore have equal schedule metrics.
    let waits = rows.iter().filter(|row| row.metric == ScheduleMetrics::mean_wait);
    let verdicts: Vec<_> = waits.filter_map(|row| row.difference).map(|it| it.verdict).collect();
    assert_eq!(verdicts, [Significance::Same; 8]);
}

#[test]
fn compares_schedulers_in_a_grid_of_one_strategy() {
    let grid =
        "schedulers = ['fcfs', 'easy']\nshake = { copies = 3, width = 60 }\nallocator = ['random']";
    let (plan, results) = run(grid);
    let mut estimates = Estimates::of_runs(&plan);
    results.iter().for_each(|result| estimates.take(&plan, result.run, &result.metrics));
    let rows = estimates.rows(&plan).expect("rows");
    let reference = |run| {
        let row =
            rows.iter().find(|row| row.run == run && row.metric == ScheduleMetrics::mean_wait);
        row.expect("a row").difference.map(|other| other.reference)
    };
    assert_eq!((reference(0), reference(1)), (None, Some(0)));
}

#[test]
fn creates_a_copy_once_while_in_use() {
    let (_, results) = run(GRID);
    assert_eq!(results.len(), 72);
    let jobs = "; MaxProcs: 4\n1 0 -1 60 4\n2 5 -1 30 2\n";
    let jobs = Workload::from_reader(
        jobs.as_bytes(),
        "two.swf",
        &Policy::JOHNSON,
        &Window::ALL,
        Default::default(),
    );
    let machine = "2x2".parse().expect("a mesh");
    let trace = Arc::new(Trace::new(Arc::new(jobs.expect("jobs")), machine, "johnson", &[]));
    let shake = Shake::of(9);
    assert!(Arc::ptr_eq(&trace.shaken(&shake, 0), &trace));
    let first = trace.shaken(&shake, 1);
    assert_eq!(first.workload.jobs, shake.copy(&trace.workload.jobs, 1));
    let second = trace.shaken(&shake, 2);
    assert!(Arc::ptr_eq(&trace.shaken(&shake, 1), &first));
    assert!(Arc::ptr_eq(&trace.shaken(&Shake::of(3), 2), &second));
    let other = trace.shaken(&Shake { seed: 1, ..shake }, 1);
    assert_ne!(other.workload.jobs, first.workload.jobs);
    // A copy that is no longer used is kept only if it is the latest copy.
    let weak = Arc::downgrade(&first);
    drop((first, second));
    assert!(weak.upgrade().is_none());
    assert_eq!(Arc::strong_count(&other), 2);
}
