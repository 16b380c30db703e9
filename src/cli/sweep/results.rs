//! Writes the results of a sweep from its journals.

use crate::cli::terminal::stdout;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::cli::baseline::Baseline;
use crate::cli::exit::{Exit, Failure, eprint_line};
use crate::cli::output::ranked_summaries;
use crate::cli::print::{FormatArg, Sorting};
use crate::cli::results::{Results, Tally, metadata};
use crate::cli::session::Session;
use crate::cli::shards;
use crate::cli::skipped_jobs::SkippedJobs;
use replay_engine::registries::Registries;
use replay_engine::table::{Column, Table};
use replay_experiment::journal::{Journal, Outcome};
use replay_experiment::log_comparison::{self, LogBaseline};
use replay_experiment::shaken::{Estimates, ShakenRow};
use replay_experiment::sweep::{Build, Plan};
use replay_experiment::{Measure, RunResult};
use replay_output::report::Sheet;
use replay_output::report::page::{JobComparisons, is_ranking, sentences};
use replay_output::report::sweep::{SweepConfiguration, SweepDetails};
use replay_results::compare::REPLAYED;
use replay_results::read::JobsTable;
use replay_results::{FrameError, ResultTable, Tables, read};

/// Optional outputs of a sweep.
#[derive(Default)]
pub struct Extras {
    /// The tables, if the jobs or the placements of all cells are already in them.
    pub tables: Option<Tables>,
    /// Earlier results with which the new results are compared in the printed tables.
    pub baseline: Option<Arc<Baseline>>,
    /// The order of printed runs. A table of runs is printed only with an order or a baseline.
    pub sorting: Option<Sorting<RunResult>>,
}

/// Maximum number of rows of the printed table.
const SHOWN: usize = 50;

/// Creates the tables of a plan in the folder of a session; `None` without a folder. `kept` selects the tables of jobs and
/// placements.
///
/// # Errors
/// A usage error if the tables cannot be created.
pub fn begin(session: &mut Session, plan: &Plan, kept: Measure) -> Result<Option<Tables>, Failure> {
    let Some(place) = session.stage()? else { return Ok(None) };
    let text = serde_json::to_string(&SweepConfiguration::of(plan))
        .map_err(|e| Failure::output("the configuration", e))?;
    let tables = Tables::create(&place, &metadata(session.build(), &text), kept);
    tables.map(Some).map_err(|e| Failure::output("results", e))
}

/// Writes the results of a plan in grid order, one record at a time. Then prints the names of the files, or all runs as
/// JSON, CSV or Markdown. Each cell of the plan must be in one of `journals`. The bytes of the files do not depend on
/// the order or the number of the journals. `builds` are the builds that ran cells; `cells_run` is the number of cells
/// that this process ran.
///
/// # Errors
/// A usage error if an output cannot be written; a data error if the journals contradict each other.
pub fn write(
    registries: &Registries,
    mut session: Session,
    plan: &Plan,
    builds: Vec<Build>,
    journals: &mut [Journal<RunResult>],
    cells_run: usize,
    Extras { tables, baseline, sorting }: Extras,
) -> Result<Exit, Failure> {
    let Some(mut tables) =
        tables.map_or_else(|| begin(&mut session, plan, Measure::default()), |t| Ok(Some(t)))?
    else {
        return Ok(Exit::Done);
    };
    let mut estimates = plan.grid.shake.map(|_| Estimates::of_runs(plan));
    let log = LogBaseline::new(plan).map_err(Failure::usage)?;
    // The latest run of the recorded schedule. Later cells are compared with this run.
    let mut latest: Option<RunResult> = None;
    let (mut done, mut replay_seconds) = (Vec::new(), 0.0);
    let mut tally = Tally::of("cells", plan.len() as usize);
    let is_data = session.format() != FormatArg::Table;
    let mut shown: Vec<RunResult> = Vec::new();
    let mut left_out = SkippedJobs::new(registries);
    let outcome = |journals: &mut [Journal<RunResult>], run| {
        let id = plan.id(run).map_err(Failure::usage)?;
        shards::outcome(journals, run, id, RunResult::is_same)
    };
    for run in 0..plan.len() {
        match outcome(journals, run)? {
            Outcome::Failed(why) => {
                let key = plan.key(run).map_err(Failure::usage)?;
                let (trace, machine, scheduler) = (&key.trace, &key.topology, &key.scheduler);
                let strategy = key.strategy();
                let failure = format!("{trace} {machine} {scheduler} {strategy}: {why}");
                // Cells that failed in this process were reported when they failed.
                if cells_run == 0 {
                    eprint_line(format_args!("replay: cell failed: {failure}"));
                }
                tally.failed.push(failure);
            }
            Outcome::Done(mut result) => {
                // Journals contain the numbers; names and order are taken from the plan.
                result.run = run;
                result.key = plan.key(run).map_err(Failure::usage)?;
                replay_seconds += result.seconds;
                left_out.add(&result.key, &result.turned_away);
                if let Some(estimates) = &mut estimates {
                    estimates.take(plan, run, result.compared().0);
                }
                if let Some(with) = log.and_then(|log| log.of(plan, run)) {
                    if latest.as_ref().is_none_or(|latest| latest.run != with) {
                        latest = match outcome(journals, with)? {
                            Outcome::Done(log) => Some(RunResult { run: with, ..*log }),
                            Outcome::Failed(_) => None,
                        };
                    }
                    if let Some(latest) = &latest {
                        let rows = log_comparison::rows(&result, latest);
                        tables
                            .write_log_comparison(rows)
                            .map_err(|e| Failure::output("results", e))?;
                    }
                }
                tables.write(&result).map_err(|e| Failure::output("results", e))?;
                done.push(run);
                if (baseline.is_some() || sorting.is_some() || is_data) && result.is_unshaken() {
                    let most = if is_data { usize::MAX } else { SHOWN };
                    show(&mut shown, *result, sorting.as_ref(), most);
                }
            }
        }
    }
    let shaken = estimates.map(|estimates| estimates.rows(plan)).transpose();
    let shaken = shaken.map_err(Failure::usage)?.unwrap_or_default();
    tally.done = done.len();
    let details = SweepDetails {
        plan: plan.digest().map_err(Failure::usage)?,
        cells: plan.len(),
        combinations: plan.combinations(),
        cells_run_now: cells_run,
        builds,
        replay_seconds,
    };
    let (tables, runs, has_jobs) = (Some(tables), None, false);
    let mut results = SweepResults {
        plan,
        tables,
        runs,
        has_jobs,
        shaken,
        details,
        shown,
        is_data,
        baseline,
        sorting,
    };
    let exit = session.publish(&mut results, &tally)?;
    let shown = results.shown.len();
    if let more @ 1.. = done.len().saturating_sub(shown)
        && !is_data
        && shown > 0
    {
        writeln!(stdout(), "and {more} more runs").map_err(Failure::stdout)?;
    }
    if !session.is_quiet() {
        results.sentences()?.iter().for_each(eprint_line);
        left_out.report();
    }
    Ok(exit)
}

/// Results of a sweep. Rows are written to the tables one at a time, and only the printed rows are in memory.
struct SweepResults<'a> {
    plan: &'a Plan,
    /// Result files, until they are finished.
    tables: Option<Tables>,
    /// The written table of runs.
    runs: Option<File>,
    /// Whether the table of jobs was written.
    has_jobs: bool,
    /// Means over perturbed copies.
    shaken: Vec<ShakenRow>,
    details: SweepDetails,
    /// The printed runs, in the printed order.
    shown: Vec<RunResult>,
    /// Whether all runs are printed; otherwise, the paths of the files and the first runs are printed.
    is_data: bool,
    baseline: Option<Arc<Baseline>>,
    sorting: Option<Sorting<RunResult>>,
}

impl SweepResults<'_> {
    /// Returns sentences about the best strategies. They are computed from a few columns of the written table, because
    /// the rows of a large grid need too much memory.
    fn sentences(&self) -> Result<Vec<String>, Failure> {
        let Some(runs) = &self.runs else { return Ok(Vec::new()) };
        let runs = read::columns(runs, is_ranking);
        let runs = runs.map_err(|e| Failure::data(anyhow::Error::msg(e)))?;
        let shaken = ResultTable::of(&self.shaken).map_err(|e| Failure::output("results", e))?;
        let comparisons = match self.has_jobs {
            true => JobComparisons::NotComputed,
            false => JobComparisons::NoTable,
        };
        Ok(sentences(&[ResultTable::new(RunResult::NAME, &[], runs), shaken], comparisons))
    }
}

impl Results for SweepResults<'_> {
    type Row = RunResult;

    fn rows(&self) -> &[RunResult] {
        &self.shown
    }

    fn exist(&self) -> bool {
        true
    }

    fn columns(&self) -> Vec<Column<RunResult>> {
        let mut columns = RunResult::columns();
        columns.extend(self.baseline.as_ref().map(Baseline::columns).unwrap_or_default());
        columns
    }

    fn lists_files(&self) -> bool {
        !self.is_data
    }

    fn sheets(&self) -> Vec<Sheet> {
        if self.shown.is_empty() && !self.is_data {
            return Vec::new();
        }
        let changes = || self.baseline.as_ref().map(Baseline::shown).unwrap_or_default();
        let runs: Vec<&RunResult> = self.shown.iter().collect();
        ranked_summaries(&runs, self.sorting.as_ref(), changes)
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        Ok(SweepConfiguration::of(self.plan))
    }

    fn details(&self) -> impl Serialize {
        &self.details
    }

    fn tables(&mut self, _: &Path, _: &[(String, String)]) -> Result<Vec<PathBuf>, FrameError> {
        let Some(tables) = self.tables.take() else { return Ok(Vec::new()) };
        let files = tables.finish(&self.shaken)?;
        let jobs = JobsTable::file(&REPLAYED);
        self.has_jobs = files.iter().any(|file| file.ends_with(&jobs));
        self.runs = files.first().and_then(|runs| File::open(runs).ok());
        Ok(files)
    }
}

/// Inserts a run in the printed order and keeps only the first `most` runs.
fn show(
    shown: &mut Vec<RunResult>,
    run: RunResult,
    sorting: Option<&Sorting<RunResult>>,
    most: usize,
) {
    let place = match sorting {
        Some(sorting) => shown.partition_point(|one| sorting.order(one, &run).is_le()),
        None => shown.len(),
    };
    if place < most {
        shown.insert(place, RunResult { by_size: Vec::new(), ..run });
        shown.truncate(most);
    }
}
