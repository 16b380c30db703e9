//! Runs a sweep, or a shard of it.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::Write;
use std::time::Instant;

use super::args::SweepArgs;
use super::estimate::duration;
use super::folder;
use super::grid;
use super::results::{self, Extras};
use crate::cli::exit::{Exit, Failure};
use crate::cli::interrupt::cancel_token;
use crate::cli::journal::{self, PLAN_FILE, PlanFile, of_experiment, of_journal, print_path};
use crate::cli::program::Invocation;
use crate::cli::progress::Progress;
use crate::cli::result_kind::Kind;
use crate::cli::resumable_run::JournalHandle;
use crate::cli::session::Session;
use crate::cli::terminal::stdout;
use replay_engine::number::{counted, fixed, grouped};
use replay_engine::registries::Registries;
use replay_experiment::files::Folder;
use replay_experiment::grid::ParameterGrid;
use replay_experiment::journal::Journal;
use replay_experiment::pool::Turn;
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::sweep::{Plan, Shard};
use replay_experiment::{Measure, Record, RunContext, RunResult, pending, run_recorded};
use replay_results::{FrameError, Tables};

/// Runs the cells of a grid that have no record in the journal of the folder, then writes the results.
///
/// # Errors
/// A usage error for a wrong option or an output that cannot be written; a data error for an invalid trace.
pub fn run(
    registries: &Registries,
    args: &SweepArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    let quiet = args.grid.process.quiet;
    let sorting = args.sort.of()?;
    let dir = match &args.out {
        Some(dir) if !args.print_config => dir,
        _ => {
            args.grid.process.set_threads()?;
            return print(&grid::resolve(registries, &args.grid)?.grid);
        }
    };
    // This call sets the number of threads, which are also used to read traces.
    let mut session =
        Session::within(Kind::Sweep, Some(dir), args.force, &args.grid.process, command)?;
    session.set_table(args.table);
    let grid = grid::resolve(registries, &args.grid)?;
    let mut loaded = grid::load(&args.grid, grid)?;
    // With jobs or placements, the tables are written while the cells run.
    let kept_tables =
        Measure { jobs: args.job_table, nodes: args.placements, ..Measure::default() };
    let observes = kept_tables != Measure::default();
    (loaded.plan.grid.measure.jobs, loaded.plan.grid.measure.nodes) =
        (kept_tables.jobs, kept_tables.nodes);
    let inputs: Vec<_> = args.grid.file.iter().cloned().chain(loaded.inputs()).collect();
    let ResolvedGrid { plan, .. } = &loaded;
    let baseline = args.baseline.read(plan, quiet)?;
    let includes = |folder: &Folder| folder::includes(registries, folder, plan, args.placements);
    session.configure_growing(&folder::configuration(plan, args.placements)?, includes)?;
    if let Some(folder) = session.folder().filter(|_| args.force) {
        // Discard the journal of any command. Results are replaced when the new results are complete.
        journal::discard(folder.dir())?;
        folder.cancel_removals();
    }
    let shard = args.grid.shard.unwrap_or(Shard::WHOLE);
    let json = plan.to_json(session.build()).map_err(|e| Failure::output(PLAN_FILE, e))?;
    let mut file = PlanFile::new(Kind::Sweep, json)?;
    file.shard = Some(shard.to_string());
    let kept = JournalHandle::begin(&mut session, file, None, Some(args.other_build))?;
    let Some(kept) = kept else { return print(&plan.grid) };
    let mut journal = kept.open();
    let runs = pending(&loaded, plan.len(), shard, &journal, args.retry_failed);
    let mut runs = runs.map_err(Failure::usage)?;
    let mut before = finished(plan, shard, &journal, args.retry_failed)?;
    let mut observed_jobs = None;
    if observes {
        // The journal has no jobs and placements, so finished cells run again.
        runs = observed(plan, &journal, args.retry_failed)?;
        before = plan.len() as usize - runs.len();
        let tables = results::begin(&mut session, plan, kept_tables)?;
        observed_jobs = tables.map(|tables| ObservedJobs::new(tables, &runs));
    }

    let stop = cancel_token(quiet);
    let mut tally = Tally::new(shard.cells(plan.len()).count(), before, runs.len());
    let progress = Progress::of_plan(quiet, plan, &runs)?;
    let context = RunContext { stop: &stop, watch: &progress };
    let record = Some(Record { journal: &mut *journal, failures: true });
    let outcome = run_recorded(&loaded, &runs, Turn::AsDone, record, context, |run, outcome| {
        tally.record(plan.jobs(run), outcome.is_err());
        progress.cell_done();
        if let Err(error) = &outcome {
            progress.print_line(&format!("replay: cell failed: {error}"));
        }
        observed_jobs.as_mut().is_none_or(|jobs| jobs.take(run, outcome.ok()))
    });
    progress.finish();
    outcome.map_err(of_experiment)?;
    let tables = observed_jobs.map(ObservedJobs::finish).transpose();
    let tables = tables.map_err(|error| Failure::output("results", error))?;
    journal.sync().map_err(of_journal)?;
    session.print_line(&tally);
    if tally.finished < runs.len() {
        session.abandon();
        return Ok(session.report_left(&counted((runs.len() - tally.finished) as u64, "cell")));
    }
    if shard.is_whole() {
        let journals = std::slice::from_mut(&mut *journal);
        let builds = kept.earlier_builds.iter().chain([session.build()]).cloned().collect();
        session.reads(inputs);
        let extras = Extras { tables, baseline, sorting };
        results::write(registries, session, plan, builds, journals, tally.finished, extras)
    } else {
        let exit = exit_of_shard(plan, shard, &journal)?;
        print_path(journal.path()).map(|()| exit)
    }
}

/// Tables of jobs and placements, which are written while the cells run. Rows are in the order of the cells; the results
/// of cells that finish early are kept until their turn.
struct ObservedJobs {
    tables: Tables,
    /// The cells whose rows are not written yet, in order.
    left: VecDeque<u32>,
    /// Results of cells that are not next; `None` for a failed cell.
    early: HashMap<u32, Option<RunResult>>,
    /// The first error of writing. No further rows are written after an error.
    unwritten: Option<FrameError>,
}

impl ObservedJobs {
    fn new(tables: Tables, runs: &[u32]) -> Self {
        let left = runs.iter().copied().collect();
        Self { tables, left, early: HashMap::new(), unwritten: None }
    }

    /// Writes the rows of a cell, or keeps its result. Returns `false` if rows cannot be written.
    fn take(&mut self, run: u32, result: Option<RunResult>) -> bool {
        self.early.insert(run, result);
        while self.unwritten.is_none()
            && let Some(next) = self.left.front().and_then(|run| self.early.remove(run))
        {
            self.left.pop_front();
            if let Some(result) = next {
                let jobs = self.tables.write_jobs(&result);
                self.unwritten = jobs.and_then(|()| self.tables.write_allocations(&result)).err();
            }
        }
        self.unwritten.is_none()
    }

    /// Returns the tables.
    ///
    /// # Errors
    /// The first error of writing.
    fn finish(self) -> Result<Tables, FrameError> {
        self.unwritten.map_or(Ok(self.tables), Err)
    }
}

/// Counts of cells, and of jobs that this process has replayed.
struct Tally {
    begin: Instant,
    cells: usize,
    /// Number of cells that were finished before this process started.
    before: usize,
    /// Number of cells that do not run because they have the same results as a cell that runs.
    equal: usize,
    finished: usize,
    failed: usize,
    jobs: u64,
}

impl Tally {
    /// Returns the tally before the first cell. `cells` is the number of all cells, `before` the number of finished
    /// cells, and `runs` the number of cells to run.
    fn new(cells: usize, before: usize, runs: usize) -> Self {
        let equal = cells.saturating_sub(before + runs);
        Self { begin: Instant::now(), cells, before, equal, finished: 0, failed: 0, jobs: 0 }
    }

    fn record(&mut self, jobs: u64, failed: bool) {
        self.finished += 1;
        self.failed += usize::from(failed);
        self.jobs += jobs;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |cells: usize| grouped(cells as u64);
        let (cells, before) = (counted(self.cells as u64, "cell"), count(self.before));
        write!(f, "sweep: {cells}: {before} done before, {} run", count(self.finished))?;
        if self.equal > 0 {
            write!(f, ", {} equal to others", count(self.equal))?;
        }
        if self.finished > 0 {
            let seconds = self.begin.elapsed().as_secs_f64();
            let rate = fixed(self.jobs as f64 / seconds.max(1e-9), 0);
            write!(f, " in {} ({rate} jobs/s), {} failed", duration(seconds), count(self.failed))?;
        }
        Ok(())
    }
}

/// Returns the number of cells of a shard that have a record in the journal and will not run again.
fn finished(
    plan: &Plan,
    shard: Shard,
    journal: &Journal<RunResult>,
    retry: bool,
) -> Result<usize, Failure> {
    let mut finished = 0;
    for run in shard.cells(plan.len()) {
        let failed = journal.failed(plan.id(run).map_err(Failure::usage)?);
        finished += usize::from(failed.is_some_and(|failed| !(failed && retry)));
    }
    Ok(finished)
}

/// Returns the cells that run if their jobs or placements are written: all cells except those that failed and are not run
/// again.
fn observed(plan: &Plan, journal: &Journal<RunResult>, retry: bool) -> Result<Vec<u32>, Failure> {
    let mut runs = Vec::new();
    for run in 0..plan.len() {
        if retry || journal.failed(plan.id(run).map_err(Failure::usage)?) != Some(true) {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Returns the exit code of a finished shard.
fn exit_of_shard(plan: &Plan, shard: Shard, journal: &Journal<RunResult>) -> Result<Exit, Failure> {
    for run in shard.cells(plan.len()) {
        if journal.failed(plan.id(run).map_err(Failure::usage)?) == Some(true) {
            return Ok(Exit::Differs);
        }
    }
    Ok(Exit::Done)
}

fn print(grid: &ParameterGrid) -> Result<Exit, Failure> {
    let text = grid.file.to_toml().map_err(|e| Failure::output("the grid", e))?;
    let mut out = stdout();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(Failure::stdout)?;
    Ok(Exit::Done)
}
