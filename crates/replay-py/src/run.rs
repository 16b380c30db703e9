//! Grids of runs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::ThreadPoolBuilder;
use replay::cli::embed;

use crate::allocator::{Raised, raised, strategy};
use crate::error::{UsageError, rejected, report};
use crate::interrupt::interruptible;
use crate::pool::on_threads;
use crate::table::to_python;
use crate::trace::Workload;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::RunMetrics;
use replay_engine::naming::NameError;
use replay_engine::topology::Topology;
use replay_engine::workload::Notation;
use replay_experiment::log_comparison::{CAVEAT, NOT_COMPARED};
use replay_experiment::pool::{Turn, on_pool};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::shaken::Estimates;
use replay_experiment::sweep::Plan;
use replay_experiment::{
    Cell, Measure, RunContext, RunKey, RunResult, Watch, run_cell, run_experiment,
};
use replay_explore::{MOST_RUNS, RunTables, Subject, page};
use replay_output::plot::{FigureStyle, Plots, WaitDistributions, gallery};
use replay_results::Results;

/// An allocator of a grid: a name of the command line or an object with a method `allocate`.
#[derive(FromPyObject)]
pub enum Strategy<'py> {
    Named(String),
    Object(Bound<'py, PyAny>),
}

/// The finished runs of a grid.
#[pyclass(frozen, module = "replay._engine")]
pub struct Runs {
    results: Results,
    /// Canonical name of the allocator of each run; `None` for allocators that are written in Python.
    strategies: Vec<Option<String>>,
    /// Wall-clock time of the engine, in seconds.
    seconds: f64,
    /// Dates and ids of each trace, by name.
    notations: HashMap<String, Notation>,
    /// Machines by name.
    machines: HashMap<String, Topology>,
}

/// Indices of a run in its grid: trace, copy, scheduler, strategy, seed. Runs are ordered by their indices.
type Place = [usize; 5];

/// The number of started jobs.
#[derive(Default)]
struct Done(AtomicU64);

impl Watch for Done {
    fn jobs_done(&self, jobs: u64) {
        self.0.fetch_add(jobs, Ordering::Relaxed);
    }
}

/// A finished run, and the name of its allocator if this allocator is not written in Python.
struct Finished {
    place: Place,
    result: RunResult,
    strategy: Option<String>,
}

/// Allocators of a grid, split by kind, each with its index in the list of allocators.
#[derive(Default)]
struct Split {
    named: Vec<usize>,
    objects: Vec<(usize, AllocatorSpec)>,
}

impl Split {
    /// Splits allocators and appends the named allocators to the options of the command line.
    fn of(
        allocators: &[Strategy<'_>],
        options: &mut Vec<OsString>,
        slot: &Raised,
    ) -> PyResult<Self> {
        let mut split = Self::default();
        for (index, allocator) in allocators.iter().enumerate() {
            match allocator {
                Strategy::Named(name) => {
                    split.named.push(index);
                    options.extend(["--alloc".into(), name.into()]);
                }
                Strategy::Object(object) => split.objects.push((index, strategy(object, slot)?)),
            }
        }
        split.check_names(allocators)?;
        if split.only_objects() {
            // To resolve traces and schedulers, the command line needs an allocator. No cell with this allocator is
            // run.
            options.extend(["--alloc".into(), "random".into()]);
        }
        Ok(split)
    }

    /// Returns an error if an allocator that is written in Python has the name of another allocator, because tables identify
    /// runs by the names.
    fn check_names(&self, allocators: &[Strategy<'_>]) -> PyResult<()> {
        let named = allocators.iter().filter_map(|allocator| match allocator {
            Strategy::Named(name) => Some(name.split('[').next().unwrap_or_default().to_string()),
            Strategy::Object(_) => None,
        });
        let mut names: HashSet<String> = named.collect();
        for (_, object) in &self.objects {
            let name = object.to_string();
            if !names.insert(name.clone()) {
                return Err(UsageError::new_err(format!(
                    "alloc: two allocators have the name {name}; set the attribute name of one of them"
                )));
            }
        }
        Ok(())
    }

    fn only_objects(&self) -> bool {
        self.named.is_empty() && !self.objects.is_empty()
    }

    /// Returns the index of a strategy of the plan among all allocators. The number of strategies differs from the
    /// number of names if names are repeated or combined with tie vectors. If the two numbers differ, allocators that
    /// are written in Python come last.
    fn index_of_named(&self, plan: &Plan, strategy: usize) -> usize {
        match plan.grid.strategies.len() == self.named.len() {
            true => self.named[strategy],
            false => strategy,
        }
    }

    /// Returns the cells of the allocators that are written in Python.
    fn cells(&self, ResolvedGrid { plan, traces }: &ResolvedGrid) -> Vec<(Place, Cell)> {
        let grid = &plan.grid;
        let strategies = grid.strategies.len();
        let shift = if strategies == self.named.len() { 0 } else { strategies };
        let mut cells = Vec::new();
        for (at, trace) in traces.iter().enumerate() {
            for copy in 0..=grid.copies() {
                let trace = grid.shake.map_or(trace.clone(), |shake| trace.shaken(&shake, copy));
                for (scheduler, spec) in grid.schedulers.iter().enumerate() {
                    for (index, allocator) in &self.objects {
                        for (seed, &value) in grid.seeds.iter().enumerate() {
                            let (trace, scheduler_spec) = (trace.clone(), spec.clone());
                            let allocator = allocator.clone();
                            let cell =
                                Cell { trace, scheduler: scheduler_spec, allocator, seed: value };
                            cells.push(([at, copy as usize, scheduler, shift + index, seed], cell));
                        }
                    }
                }
            }
        }
        cells
    }
}

/// Runs, on the given traces, every combination that the options of the command line and the allocators select.
/// `allocators` are the strategies in their order; if the list is empty, the command line selects the strategies.
/// `progress` is called with the number of started jobs and the number of all jobs.
#[pyfunction]
#[pyo3(signature = (workloads, options, allocators, *, jobs, placements, progress, recorded))]
#[expect(clippy::too_many_arguments, reason = "the Python package passes the arguments by name")]
pub fn run(
    py: Python<'_>,
    workloads: Vec<PyRef<'_, Workload>>,
    mut options: Vec<OsString>,
    allocators: Vec<Strategy<'_>>,
    jobs: bool,
    placements: bool,
    progress: Option<Bound<'_, PyAny>>,
    recorded: bool,
) -> PyResult<Runs> {
    let measure = Measure { placements: true, jobs, nodes: placements, ..Measure::default() };
    let slot = Raised::default();
    let split = Split::of(&allocators, &mut options, &slot)?;
    let loaded: Vec<_> = workloads.iter().map(|workload| workload.jobs.clone()).collect();
    let resolve = || {
        embed::with_messages(|| {
            embed::resolve(&crate::program().registries, &options, loaded, measure)
        })
    };
    let (grid, messages) = on_threads(py, resolve)?;
    // With recorded schedules, messages about contradictions in the log are warnings; the message about the machine is
    // not a warning.
    let (warnings, plain) = messages
        .into_iter()
        .partition(|line| line.contains(": warning: ") || recorded && !line.contains(": machine "));
    report(py, plain, false)?;
    report(py, warnings, true)?;
    let grid = grid.map_err(rejected)?;
    // By default, the engine uses one thread per processor of the host.
    let threads = grid.threads.unwrap_or(0);
    let (cancel, jobs_done) = (CancelToken::new(), Done::default());
    let Done(done) = &jobs_done;
    let grid = grid.cells;
    let ResolvedGrid { plan, traces } = &grid;
    let runs: Vec<u32> = if split.only_objects() { Vec::new() } else { (0..plan.len()).collect() };
    let cells = split.cells(&grid);
    let all: u64 = runs.iter().map(|&run| plan.jobs(run)).sum::<u64>()
        + cells.iter().map(|(_, cell)| cell.trace.workload.jobs.len() as u64).sum::<u64>();
    let show = |done: u64| match &progress {
        Some(progress) => progress.call1((done.min(all), all)).map(drop),
        None => Ok(()),
    };
    let context = RunContext { stop: &cancel, watch: &jobs_done };

    let begin = Instant::now();
    let mut estimates = plan.grid.shake.map(|_| Estimates::<RunMetrics>::of_runs(plan));
    let mut finished: Vec<Finished> = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    let named_runs = || {
        let take = |run: u32, outcome: Result<RunResult, _>| {
            match outcome {
                Ok(result) => {
                    if let Some(estimates) = &mut estimates {
                        estimates.take(plan, run, result.compared().0);
                    }
                    let mut place = plan.places(run);
                    place[3] = split.index_of_named(plan, place[3]);
                    let strategy = Some(plan.cell(traces, run)?.allocator.to_string());
                    finished.push(Finished { place, result, strategy });
                }
                Err(error) => failed.push(format!("{error}")),
            }
            Ok::<_, NameError>(true)
        };
        if !runs.is_empty() {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| format!("cannot start the threads: {error}"))?;
            on_pool(pool, || run_experiment(&grid, &runs, Turn::InOrder, context, take))
                .map_err(|error| error.to_string())?;
        }
        // While the interpreter lock is released, compute the schedules that the allocators written in Python use.
        for (_, cell) in &cells {
            let _ = cell.trace.schedule(&cell.scheduler, &cancel);
        }
        Ok::<_, String>(())
    };
    let tick = |_: Python<'_>| show(done.load(Ordering::Relaxed));
    let usage = |error: NameError| UsageError::new_err(error.to_string());
    interruptible(py, &cancel, tick, named_runs)?.map_err(UsageError::new_err)?;
    // The runs of allocators written in Python hold the interpreter lock. Python passes the lock to other threads
    // during allocate.
    for (place, cell) in cells {
        let is_original = place[1] == 0;
        let measure =
            Measure { jobs: jobs && is_original, nodes: placements && is_original, ..measure };
        match run_cell(0, &cell, measure, context) {
            Ok(result) => finished.push(Finished { place, result, strategy: None }),
            Err(error) => match raised(&slot) {
                Some(exception) => return Err(exception),
                None => failed.push(error.to_string()),
            },
        }
        show(done.load(Ordering::Relaxed))?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    show(all)?;
    let shaken = estimates.map_or(Ok(Vec::new()), |estimates| estimates.rows(plan));
    let shaken = shaken.map_err(usage)?;
    // Runs of both kinds are in the order of the grid.
    finished.sort_by_key(|finished| finished.place);
    let (results, strategies): (Vec<_>, Vec<_>) =
        finished.into_iter().map(|finished| (finished.result, finished.strategy)).unzip();
    let objects: HashSet<String> = split.objects.iter().map(|(_, one)| one.to_string()).collect();
    let is_named = |result: &RunResult| !objects.contains(&result.key.allocator);
    let results = Results::new(results, failed, measure).with_shaken(shaken);
    let (results, without) = results.against_log_of(plan, is_named).map_err(usage)?;
    let not_compared = |run: u32| {
        let key = plan.key(run).map_err(usage)?;
        let (RunKey { trace, scheduler, .. }, strategy) = (&key, key.strategy());
        Ok(format!("{trace} {scheduler} {strategy} {NOT_COMPARED}"))
    };
    report(py, without.into_iter().map(not_compared).collect::<PyResult<_>>()?, true)?;
    if results.is_compared_with_log() {
        report(py, vec![CAVEAT.to_string()], false)?;
    }
    let results = if objects.is_empty() { results } else { results.renumbered(is_named) };
    let skipped = embed::jobs_left_out(&crate::program().registries, results.results());
    report(py, skipped, true)?;
    let workloads = traces.iter().map(|trace| &trace.workload);
    // A page without the ids of the log is complete but for them, so an unreadable file of ids is no reason to fail.
    let noted = workloads.map(|one| (one.name.clone(), Notation::of(one).unwrap_or_default()));
    let notations = noted.collect();
    let machines = traces.iter().map(|trace| &trace.topology);
    let machines = machines.map(|machine| (machine.to_string(), machine.clone())).collect();
    Ok(Runs { results, strategies, seconds, notations, machines })
}

/// Converts a failure to write files to an exception.
fn unwritten(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Runs {
    fn __len__(&self) -> usize {
        self.results.results().len()
    }

    /// Messages of the failed runs. The tables do not contain these runs.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.results.failed().to_vec()
    }

    /// Wall-clock time of the engine, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The columns that identify a run, its wall-clock times in seconds, and `strategy`: the name of the allocator on the
    /// command line, `None` for an allocator that is written in Python.
    fn key<'py>(&self, py: Python<'py>, run: usize) -> PyResult<Bound<'py, PyDict>> {
        let result = self.results.results().get(run);
        let result = result.ok_or_else(|| PyIndexError::new_err(format!("no run {run}")))?;
        let RunResult { key, seconds, allocator_seconds, .. } = result;
        let RunKey { trace, topology, scheduler, allocator, tie, policy, seed, copy } = key;
        let columns = PyDict::new(py);
        columns.set_item("run", result.run)?;
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

    /// Returns the table with the given name, of the selected runs or of all runs; `None` if the runs did not keep this
    /// table.
    #[pyo3(signature = (name, runs=None))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        runs: Option<Vec<usize>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let table = py.detach(|| self.results.table(name, runs.as_deref())).map_err(unwritten)?;
        table.map(|table| to_python(py, table)).transpose()
    }

    /// Writes the tables of the selected runs, or of all runs, into a folder, as `--out` does.
    #[pyo3(signature = (dir, runs=None))]
    fn write(&self, py: Python<'_>, dir: PathBuf, runs: Option<Vec<usize>>) -> PyResult<()> {
        py.detach(|| self.results.save(&dir, runs.as_deref())).map(drop).map_err(unwritten)
    }

    /// Returns the page of `replay explore` of the selected runs.
    fn page(&self, py: Python<'_>, runs: Vec<usize>) -> PyResult<String> {
        let results = self.results.results();
        let chosen: Vec<&RunResult> = runs.iter().filter_map(|&run| results.get(run)).collect();
        let usage = |message: &str| UsageError::new_err(format!("explore: {message}"));
        let Some(first) = chosen.first().filter(|_| chosen.len() <= MOST_RUNS) else {
            return Err(usage(&format!(
                "a page shows 1 to {MOST_RUNS} runs; select runs with runs=[0, 1]"
            )));
        };
        let same = |result: &&RunResult| {
            let (a, b) = (&result.key, &first.key);
            (&a.trace, &a.topology, &a.policy, a.copy) == (&b.trace, &b.topology, &b.policy, b.copy)
        };
        if !chosen.iter().all(same) {
            return Err(usage("a page shows runs of one trace, cleaning policy and machine"));
        }
        if chosen.iter().any(|result| result.jobs.is_empty()) {
            return Err(usage("the jobs were not kept; use replay.run(..., jobs=True)"));
        }
        let machine = self.machines.get(&first.key.topology).cloned();
        let topology = machine.ok_or_else(|| usage("the machine of the runs is unknown"))?;
        let trace = first.key.trace.clone();
        let notation = self.notations.get(&trace).cloned().unwrap_or_default();
        let subject = Subject { trace, notation, topology };
        py.detach(|| {
            let tables = chosen.iter().map(|result| RunTables::of(result, Vec::new()));
            let tables = tables.collect::<Result<Vec<_>, _>>().map_err(unwritten)?;
            page(&subject, &tables, &crate::program().build).map_err(unwritten)
        })
    }

    /// Draws the figures of the runs into a folder and returns the paths of the files. `size` and `font` are values of
    /// `--figure-size` and `--font-size`, and `strategies` is a value of `--figure-strategies`.
    #[pyo3(signature = (dir, size=None, font=None, titles=true, strategies=None))]
    fn figures(
        &self,
        py: Python<'_>,
        dir: PathBuf,
        size: Option<&str>,
        font: Option<&str>,
        titles: bool,
        strategies: Option<u16>,
    ) -> PyResult<Vec<PathBuf>> {
        let wrong = |name: &'static str| {
            move |error: String| UsageError::new_err(format!("{name}: {error}"))
        };
        let style = FigureStyle {
            size: size.map(str::parse).transpose().map_err(wrong("figure_size"))?,
            font_size: font.map(str::parse).transpose().map_err(wrong("font_size"))?,
            titles,
            strategies: strategies.map_or(FigureStyle::STRATEGIES, usize::from),
        };
        style.check().map_err(|error| UsageError::new_err(error.to_string()))?;
        on_threads(py, || {
            let waits: Vec<WaitDistributions> =
                self.results.results().iter().filter_map(WaitDistributions::of).collect();
            let plots = Plots::new(&dir, style);
            gallery(&plots, self.results.results(), &waits).map_err(unwritten)
        })?
    }
}
