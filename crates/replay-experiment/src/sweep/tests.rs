use std::sync::Arc;

use super::*;
use crate::grid::ParameterGrid;
use crate::journal::Journal;
use crate::pool::Turn;
use crate::resolve::ResolvedGrid;
use crate::{
    Experiment, Record, RunContext, RunResult, Trace, pending, run_cell, run_experiment,
    run_recorded,
};
use replay_engine::cancel::CancelToken;
use replay_engine::workload::{Job, Policy, Window, Workload};

const SWF: &str = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n3 9 -1 10 6\n4 11 -1 10 3\n";

fn plan(text: &str, swf: &str) -> (Plan, Vec<Arc<Trace>>) {
    let grid =
        ParameterGrid::parse(text, "grid.toml", replay_strategies::standard()).expect("a grid");
    let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
    let jobs =
        Workload::from_reader(swf.as_bytes(), "tiny.swf", policy, window, Default::default());
    let mesh = "4x4".parse().expect("a machine");
    let trace = Trace::new(Arc::new(jobs.expect("a trace")), mesh, "johnson", &grid.schedulers);
    let traces = vec![Arc::new(trace)];
    (Plan::new(grid, &traces).expect("a plan"), traces)
}

const GRID: &str = "schedulers = ['fcfs', 'easy']\nseeds = '0..1'\n\
    allocator = ['random', { name = 'mc1x1', tie = ['none', '1,2,3,4', '1,4,6,8'] }]";

fn ids(plan: &Plan) -> Vec<CellId> {
    (0..plan.len()).map(|run| plan.id(run).expect("a cell")).collect()
}

#[test]
fn cells_are_numbered_in_grid_order() {
    let (plan, _) = plan(GRID, SWF);
    assert_eq!((plan.len(), plan.combinations()), (12, 16));
    let name = |run| {
        let key = plan.key(run).expect("a cell");
        format!("{} {} {}", key.scheduler, key.strategy(), key.seed)
    };
    assert_eq!(name(0), "fcfs random 0");
    assert_eq!(name(1), "fcfs random 1");
    assert_eq!(name(4), "fcfs mc1x1 (1,2,3,4) 0");
    assert_eq!(name(11), "easy mc1x1 (1,2,3,4) 1");
}

#[test]
fn ids_depend_on_the_computation_not_on_names() {
    let (plan_a, _) = plan(GRID, SWF);
    let ids_a = ids(&plan_a);
    let distinct: std::collections::HashSet<_> = ids_a.iter().collect();
    assert_eq!(distinct.len(), 12);
    // An additional vector with the same ratio in the grid, or an additional comment in the trace, does not change the
    // cells.
    let again = GRID.replace("'1,2,3,4', ", "");
    assert_eq!(ids(&plan(&again, &format!("; Note: moved\n{SWF}")).0), ids_a);
    // A change of a job or of the measurements changes all ids.
    for other in
        [plan(GRID, &SWF.replace("60 4", "61 4")), plan(&format!("ties = true\n{GRID}"), SWF)]
    {
        assert!(ids(&other.0).iter().all(|id| !ids_a.contains(id)));
    }
}

/// Ids must not change by accident, because journals would become useless.
#[test]
fn ids_are_stable() {
    let (plan, _) = plan("", SWF);
    assert_eq!(plan.id(0).expect("a cell").to_string(), "cf71fe08d7770d805a28b05a47367b93");
}

#[test]
fn plans_round_trip_through_json() {
    let (plan, _) = plan(GRID, SWF);
    let again = Plan::from_json(
        plan.to_json(&Build::default()).expect("JSON"),
        replay_strategies::standard(),
    )
    .expect("a plan");
    assert_eq!(ids(&again), ids(&plan));
    assert_eq!(again.digest(), plan.digest());
    assert_eq!(again.traces, plan.traces);
    assert!(matches!(
        Plan::from_json(serde_json::json!({}), replay_strategies::standard()),
        Err(PlanError::Json(_))
    ));
}

#[test]
fn a_plan_whose_machine_cannot_be_read_is_an_error() {
    let (plan, _) = plan(GRID, SWF);
    let mut json = plan.to_json(&Build::default()).expect("JSON");
    json["traces"][0]["topology"] = "absent/topology.conf".into();
    let error =
        Plan::from_json(json, replay_strategies::standard()).expect_err("no machine").to_string();
    assert!(error.contains("absent/topology.conf"), "{error}");
}

#[test]
fn an_error_of_the_recorded_schedule_is_part_of_ids() {
    let grid = "schedulers = ['fcfs', 'recorded']";
    let log_jobs = |swf: &str| plan(grid, swf).0.traces[0].log_jobs_digest.clone();
    // A job of 17 processors does not fit the machine of 16.
    let too_large = "; MaxProcs: 32\n1 0 5 60 4\n2 100 7 30 17\n";
    assert_eq!(log_jobs(&too_large.replace(" 17\n", " 16\n")), None);
    let digest = log_jobs(too_large).expect("a digest of the error");
    assert_ne!(Some(digest), log_jobs(&too_large.replace(" 17\n", " 18\n")));
}

#[test]
fn a_sweep_resumes_after_an_interruption() {
    let dir = tempfile::tempdir().expect("a folder");
    let (plan, traces) = plan(GRID, SWF);
    let grid = ResolvedGrid { plan, traces };
    let cells = grid.plan.len();
    let mut journal = Journal::open(&crate::files::Dir::open(dir.path()).expect("a folder"), false)
        .expect("a journal");
    let all = pending(&grid, cells, Shard::WHOLE, &journal, false).expect("cells");
    assert!(all.iter().copied().eq(0..12));
    let stop = CancelToken::new();
    let watch = RunContext::new(&stop);
    let stop_after_three = |journal: &mut Journal<RunResult>| {
        let mut count = 0;
        let stopped = run_recorded(
            &grid,
            &all,
            Turn::AsDone,
            Some(Record { journal, failures: true }),
            watch,
            |_, outcome| {
                assert!(outcome.is_ok());
                count += 1;
                count < 3
            },
        );
        stopped.expect("it stops");
        count
    };
    // A single-threaded pool runs one cell at a time.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    assert_eq!(pool.install(|| stop_after_three(&mut journal)), 3);
    let rest = pending(&grid, cells, Shard::WHOLE, &journal, false).expect("cells");
    assert!(rest.iter().copied().eq(3..12));
    // If several threads are used, the cells that are already running finish.
    let count = stop_after_three(&mut journal);
    assert!(count >= 3 && journal.len() >= count, "{count}");
    let rest = pending(&grid, cells, Shard::WHOLE, &journal, false).expect("cells");
    let record = Some(Record { journal: &mut journal, failures: true });
    run_recorded(&grid, &rest, Turn::AsDone, record, watch, |_, _| true).expect("it ends");
    assert_eq!(pending(&grid, cells, Shard::WHOLE, &journal, true), Ok(Vec::new()));
    // A failed cell is not run again unless the caller requests this.
    journal.append(grid.plan.id(5).expect("a cell"), Err("broken")).expect("a record");
    assert_eq!(pending(&grid, cells, Shard::WHOLE, &journal, false), Ok(Vec::new()));
    assert_eq!(pending(&grid, cells, Shard::WHOLE, &journal, true), Ok(vec![5]));
}

/// The digest includes the users' limits, because strategies that use these limits must not reuse results from a log
/// with other limits.
#[test]
fn digests_cover_all_numbers_of_many_jobs() {
    let jobs: Vec<Job> = (0..5000i64)
        .map(|n| Job {
            number: n,
            submit: 7 * n,
            run: n % 91,
            estimate: n % 97,
            size: n as u32 % 64 + 1,
            line: 0,
            shape: None,
            limit: None,
        })
        .collect();
    let number = |job: &Job| {
        let times = [job.number, job.submit, job.run, job.estimate].map(i64::to_le_bytes);
        [times.concat(), job.size.to_le_bytes().to_vec()].concat()
    };
    let bytes: Vec<u8> = jobs.iter().flat_map(number).collect();
    let whole = blake3::hash(&bytes).to_hex().to_string();
    assert_eq!(super::configuration::jobs_digest(&jobs), whole);
}

#[test]
fn digests_depend_on_user_limits() {
    let job = |limit| Job {
        number: 1,
        submit: 0,
        run: 50,
        estimate: 50,
        size: 3,
        line: 1,
        shape: None,
        limit,
    };
    let digest = |limit| super::configuration::jobs_digest(&[job(limit)]);
    let all = [None, Some(50), Some(40), Some(30)].map(digest);
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other != one), "{i}");
    }
}

/// Cells that share a replay have the same results as in separate runs, except for the elapsed time.
#[test]
fn bundles_equal_separate_cells() {
    let jobs = |number: i64| {
        let (size, run) = (1 + number * 7 % 5, 20 + number * 13 % 50);
        format!("{number} {} -1 {run} {size}\n", 6 * number)
    };
    let swf = format!("; MaxProcs: 16\n{}", (1..80).map(jobs).collect::<String>());
    let text = "schedulers = ['fcfs', 'easy']\nallocator = ['random', { name = 'mc1x1', tie = ['none', \
        '1,2,3,4', '1,4,6,8', '2,0,1,3', '3,1,0,0', '2,1,1,1'], slack = ['0', '0.1'] }, 'hilbert-best-fit']";
    let stop = CancelToken::new();
    let comparable = |run: &RunResult| format!("{:?}", RunResult { seconds: 0.0, ..run.clone() });
    for (placements, threads) in [(false, 1), (false, 3), (true, 1), (true, 3)] {
        let (plan, traces) = plan(&format!("placements = {placements}\n{text}"), &swf);
        let all: Vec<u32> = (0..plan.len()).collect();
        let grid = ResolvedGrid { plan, traces };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut seen = Vec::new();
        pool.install(|| {
            // Check that some replays in this comparison are shared.
            let bundles = grid.bundles(&all).expect("cells");
            assert!(bundles.iter().any(|bundle| bundle.len() > 4), "no replay is shared");
            run_experiment(&grid, &all, Turn::InOrder, RunContext::new(&stop), |run, outcome| {
                let cell = grid.plan.cell(&grid.traces, run)?;
                let alone = run_cell(run, &cell, grid.plan.grid.measure, RunContext::new(&stop));
                assert_eq!(
                    comparable(&outcome.expect("it runs")),
                    comparable(&alone.expect("it runs"))
                );
                seen.push(run);
                Ok::<_, replay_engine::naming::NameError>(true)
            })
        })
        .expect("it ends");
        assert_eq!(seen, all);
    }
}
