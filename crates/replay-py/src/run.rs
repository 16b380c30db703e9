//! Grids of runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::ThreadPoolBuilder;
use replay::cli::embed::{self, Grid};

use crate::allocator::{Raised, raised, strategy};
use crate::error::{UsageError, refused, report};
use crate::interrupt::interruptible;
use crate::table::Table;
use crate::trace::Workload;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::cancel::CancelToken;
use replay_core::metrics::RunMetrics;
use replay_core::naming::NameError;
use replay_experiment::log_comparison::{self, Against, AgainstRow};
use replay_experiment::pool::{Turn, on_pool};
use replay_experiment::shaken::{Estimates, ShakenRow};
use replay_experiment::sweep::run_plan;
use replay_experiment::{
    Cell, CellError as Failed, Measure, RunContext, RunKey, RunResult, run_cell,
};
use replay_output::frame::Tables;
use replay_output::plot::{FigureStyle, Plots, Waits, gallery};

/// A strategy of a grid in the order in which it was given.
#[derive(FromPyObject)]
pub enum Strategy<'py> {
    Named(String),
    Object(Bound<'py, PyAny>),
}

/// The finished runs of a grid.
#[pyclass(frozen, module = "replay._engine")]
pub struct Runs {
    results: Vec<RunResult>,
    /// Canonical strategies by run; `None` for those written in Python.
    strategies: Vec<Option<String>>,
    /// Messages of the runs that failed.
    failed: Vec<String>,
    shaken: Vec<ShakenRow>,
    against: Vec<AgainstRow>,
    measure: Measure,
}

/// Where a run stands in its grid: trace, copy, scheduler, strategy, seed.
type Place = [usize; 5];

/// Runs every combination of options of the command line on these traces. `allocators` has the strategies in their
/// order; if it is empty, they are those of the command line. `progress` is called with the number of jobs that have started and of all jobs.
#[pyfunction]
#[pyo3(signature = (workloads, options, allocators, *, jobs, placements, threads, progress, recorded))]
#[expect(clippy::too_many_arguments, reason = "the package names them")]
pub fn run(
    py: Python<'_>,
    workloads: Vec<PyRef<'_, Workload>>,
    mut options: Vec<OsString>,
    allocators: Vec<Strategy<'_>>,
    jobs: bool,
    placements: bool,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    recorded: bool,
) -> PyResult<Runs> {
    let measure = Measure { placements: true, jobs, nodes: placements, ..Measure::default() };
    let slot = Raised::default();
    let mut objects: Vec<(usize, AllocatorSpec)> = Vec::new();
    let mut named = Vec::new();
    for (place, allocator) in allocators.iter().enumerate() {
        match allocator {
            Strategy::Named(name) => {
                named.push(place);
                options.extend(["--alloc".into(), name.into()]);
            }
            Strategy::Object(object) => objects.push((place, strategy(object, &slot)?)),
        }
    }
    let only_objects = named.is_empty() && !objects.is_empty();
    if only_objects {
        // It gives the grid its traces and schedulers; none of its cells runs.
        options.extend(["--alloc".into(), "random".into()]);
    }
    let loaded: Vec<_> = workloads.iter().map(|workload| workload.jobs.clone()).collect();
    let resolve = || embed::with_messages(|| embed::resolve(&options, loaded, measure));
    let (grid, messages) = py.detach(resolve);
    // What a log contradicts is a warning; which machine it gets is none.
    let (plain, warnings) =
        messages.into_iter().partition(|line| !recorded || line.contains(": machine "));
    report(py, plain, false)?;
    report(py, warnings, true)?;
    let Grid { plan, traces } = grid.map_err(refused)?;
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool
        .map_err(|error| UsageError::new_err(format!("cannot start {threads} threads: {error}")))?;

    let cancel = CancelToken::new();
    let done = AtomicU64::new(0);
    let runs: Vec<u32> = if only_objects { Vec::new() } else { (0..plan.len()).collect() };
    let grid = &plan.grid;
    // Strategies may be equal or have several tie vectors: then those written in Python come last.
    let strategies = grid.strategies.len();
    let order = |strategy: usize| match strategies == named.len() {
        true => named[strategy],
        false => strategy,
    };
    let after = |place: usize| if strategies == named.len() { place } else { strategies + place };
    let mut cells: Vec<(Place, Cell)> = Vec::new();
    for (at, trace) in traces.iter().enumerate() {
        for copy in 0..=grid.copies() {
            for (scheduler, spec) in grid.schedulers.iter().enumerate() {
                for (place, allocator) in &objects {
                    for (seed, &value) in grid.seeds.iter().enumerate() {
                        let shaken =
                            grid.shake.map_or(trace.clone(), |shake| trace.shaken(&shake, copy));
                        let (scheduler_spec, allocator) = (spec.clone(), allocator.clone());
                        let cell = Cell {
                            trace: shaken,
                            scheduler: scheduler_spec,
                            allocator,
                            seed: value,
                        };
                        cells.push(([at, copy as usize, scheduler, after(*place), seed], cell));
                    }
                }
            }
        }
    }
    let all: u64 = runs.iter().map(|&run| plan.jobs(run)).sum::<u64>()
        + cells.iter().map(|(_, cell)| cell.trace.workload.jobs.len() as u64).sum::<u64>();
    let show = |done: u64| match &progress {
        Some(progress) => progress.call1((done.min(all), all)).map(drop),
        None => Ok(()),
    };
    let jobs_done = |jobs| {
        done.fetch_add(jobs, Ordering::Relaxed);
    };
    let context = RunContext { jobs_done: &jobs_done, ..RunContext::new(&cancel) };

    let mut estimates = grid.shake.map(|_| Estimates::<RunMetrics>::of_runs(&plan));
    let mut finished: Vec<(Place, RunResult, Option<String>)> = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    let named_runs = || {
        let take = |run: u32, outcome: Result<RunResult, Failed>| {
            match outcome {
                Ok(result) => {
                    if let Some(estimates) = &mut estimates {
                        estimates.take(&plan, run, result.compared().0);
                    }
                    let [trace, copy, scheduler, strategy, seed] = plan.places(run);
                    let allocator = plan.cell(&traces, run)?.allocator.to_string();
                    finished.push((
                        [trace, copy, scheduler, order(strategy), seed],
                        result,
                        Some(allocator),
                    ));
                }
                Err(error) => failed.push(error.to_string()),
            }
            Ok::<_, NameError>(true)
        };
        on_pool(pool, || run_plan(&plan, &traces, &runs, Turn::InOrder, context, take))?;
        // The schedules that allocators in Python replay.
        for (_, cell) in &cells {
            let _ = cell.trace.schedule(&cell.scheduler, &cancel);
        }
        Ok::<_, NameError>(())
    };
    let tick = |_: Python<'_>| show(done.load(Ordering::Relaxed));
    let ran = interruptible(py, &cancel, tick, named_runs)?;
    ran.map_err(|error| UsageError::new_err(error.to_string()))?;
    // These hold the interpreter lock, which Python itself hands to other threads.
    for (place, cell) in cells {
        let itself = place[1] == 0;
        let measure = Measure { jobs: jobs && itself, nodes: placements && itself, ..measure };
        match run_cell(0, &cell, measure, context) {
            Ok(result) => finished.push((place, result, None)),
            Err(error) => match raised(&slot) {
                Some(exception) => return Err(exception),
                None => failed.push(error.to_string()),
            },
        }
        show(done.load(Ordering::Relaxed))?;
    }
    show(all)?;
    let shaken = estimates.map_or(Ok(Vec::new()), |estimates| estimates.rows(&plan));
    let shaken = shaken.map_err(|error| UsageError::new_err(error.to_string()))?;
    let log = Against::new(&plan).map_err(|error| UsageError::new_err(error.to_string()))?;
    let mut against = Vec::new();
    if let Some(log) = log {
        let by_run = |run: u32| {
            finished.iter().map(|(_, result, _)| result).find(|result| result.run == run)
        };
        let named =
            finished.iter().filter(|(.., name)| name.is_some()).map(|(_, result, _)| result);
        for result in named {
            let with = log.of(&plan, result.run).and_then(by_run);
            against.extend(with.into_iter().flat_map(|with| log_comparison::rows(result, with)));
        }
    }
    if !against.is_empty() {
        report(py, vec![log_comparison::CAVEAT.to_string()], false)?;
    }
    if !objects.is_empty() {
        // By their places the runs of both kinds stand together.
        finished.sort_by_key(|(place, ..)| *place);
        for (run, (_, result, _)) in (0..).zip(&mut finished) {
            result.run = run;
        }
    }
    let left_out = embed::jobs_left_out(finished.iter().map(|(_, result, _)| result));
    report(py, left_out, true)?;
    let mut results = Vec::new();
    let mut names = Vec::new();
    for (_, result, name) in finished {
        results.push(result);
        names.push(name);
    }
    Ok(Runs { results, strategies: names, failed, shaken, against, measure })
}

impl Runs {
    /// The runs of these numbers, or all.
    fn chosen(&self, runs: Option<Vec<usize>>) -> impl Iterator<Item = &RunResult> {
        let chosen = move |place: usize| runs.as_ref().is_none_or(|runs| runs.contains(&place));
        self.results
            .iter()
            .enumerate()
            .filter(move |(place, _)| chosen(*place))
            .map(|(_, result)| result)
    }
}

/// A failure to write files.
fn unwritten(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Runs {
    fn __len__(&self) -> usize {
        self.results.len()
    }

    /// Messages of the runs that failed, which are not in the tables.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.failed.clone()
    }

    /// What identifies a run, as the columns of its tables, and `strategy`: the name for the command line, `None` for an
    /// allocator written in Python.
    fn key<'py>(&self, py: Python<'py>, run: usize) -> PyResult<Bound<'py, PyDict>> {
        let RunResult { key, seconds, allocator_seconds, .. } = &self.results[run];
        let RunKey { trace, topology, scheduler, allocator, tie, policy, seed, copy } = key;
        let columns = PyDict::new(py);
        columns.set_item("trace", trace)?;
        columns.set_item("topology", topology)?;
        columns.set_item("scheduler", scheduler)?;
        columns.set_item("allocator", allocator)?;
        columns.set_item("tie", tie)?;
        columns.set_item("policy", policy)?;
        columns.set_item("seed", seed)?;
        columns.set_item("copy", copy)?;
        columns.set_item("strategy", &self.strategies[run])?;
        columns.set_item("seconds", seconds)?;
        columns.set_item("allocator_seconds", allocator_seconds)?;
        Ok(columns)
    }

    /// A table by name, of these runs or of all; `None` if the runs did not keep it.
    #[pyo3(signature = (name, runs=None))]
    fn table(
        &self,
        py: Python<'_>,
        name: &str,
        runs: Option<Vec<usize>>,
    ) -> PyResult<Option<Table>> {
        py.detach(|| {
            let chosen = || self.chosen(runs.clone());
            let table = match name {
                "runs" => {
                    // Without the rows of each job.
                    let rows: Vec<RunResult> = chosen().map(without_jobs).collect();
                    Table::of(&rows)?
                }
                "by_size" => {
                    Table::of(&chosen().flat_map(RunResult::size_rows).collect::<Vec<_>>())?
                }
                "outages" => {
                    Table::of(&chosen().filter_map(RunResult::outage_row).collect::<Vec<_>>())?
                }
                "jobs" if self.measure.jobs => {
                    Table::of(&chosen().flat_map(RunResult::job_rows).collect::<Vec<_>>())?
                }
                "placements" if self.measure.nodes => {
                    Table::of(&chosen().flat_map(RunResult::allocation_rows).collect::<Vec<_>>())?
                }
                "shaken" => Table::of(&self.shaken)?,
                "against_log" => Table::of(&self.against)?,
                _ => return Ok(None),
            };
            Ok(Some(table))
        })
    }

    /// Writes the tables of these runs, or of all, into a folder, as `--out` does.
    #[pyo3(signature = (dir, runs=None))]
    fn write(&self, py: Python<'_>, dir: PathBuf, runs: Option<Vec<usize>>) -> PyResult<()> {
        py.detach(|| {
            let mut tables = Tables::create(&dir, &[], self.measure).map_err(unwritten)?;
            self.chosen(runs).try_for_each(|result| tables.write(result)).map_err(unwritten)?;
            tables.write_against(self.against.clone()).map_err(unwritten)?;
            tables.finish(&self.shaken).map(drop).map_err(unwritten)
        })
    }

    /// Draws the figures of the runs into a folder and returns their files.
    fn figures(&self, py: Python<'_>, dir: PathBuf) -> PyResult<Vec<PathBuf>> {
        py.detach(|| {
            let waits: Vec<Waits> = self.results.iter().filter_map(Waits::of).collect();
            let plots = Plots::new(&dir, FigureStyle::default());
            gallery(&plots, &self.results, &waits).map_err(unwritten)
        })
    }
}

/// A run without its rows of each job.
fn without_jobs(result: &RunResult) -> RunResult {
    RunResult {
        key: result.key.clone(),
        turned_away: result.turned_away.clone(),
        metrics: result.metrics.clone(),
        by_size: Vec::new(),
        over_log: None,
        jobs: Vec::new(),
        allocations: Vec::new(),
        series: Arc::default(),
        ..*result
    }
}
