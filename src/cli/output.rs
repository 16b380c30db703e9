//! Results of the main job, printed and written as they are computed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::args::RunArgs;
use super::baseline::Baseline;
use super::exit::{Failure, eprint_line, eprint_warning};
use super::named_value::some;
use super::print::{FormatArg, Sorting};
use super::results::{Results, metadata};
use super::session::Session;
use super::skipped_jobs::SkippedJobs;
use crate::cli::terminal::stdout;
use replay_engine::metrics::{RunMetrics, comparable};
use replay_engine::number::counted;
use replay_engine::registries::Registries;
use replay_engine::table::{Column, Name, Table, write_csv, write_json_line};
use replay_experiment::files::{AtomicFile, MANIFEST};
use replay_experiment::log_comparison::{
    self, CAVEAT, LogBaseline, LogComparisonRow, NOT_COMPARED,
};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::shaken::{Estimates, ShakenRow};
use replay_experiment::sweep::PlannedTrace;
use replay_experiment::{RunKey, RunResult, Trace};
use replay_output::plot::{Plots, WaitDistributions};
use replay_output::report::manifest::{
    Configuration, RunDetails, RunRecord, TraceRecord, WindowRecord,
};
use replay_output::report::{
    RUN_FIGURES, RunChange, Sheet, Shown, log_comparison_summary, shaken_summary, summary,
};
use replay_results::{FrameError, Tables};

/// The runs of a grid, which are printed and written as they are computed.
pub struct Runs<'a> {
    loaded: &'a ResolvedGrid,
    ties: bool,
    /// Whether the columns on standard output were selected with `--columns`.
    named: bool,
    format: FormatArg,
    /// The order of printed rows. If an order is given, rows are printed after the last run.
    sorting: Option<Sorting<RunResult>>,
    /// Result files. The files are created before the first result, so that the jobs of each run can be written and
    /// then removed from memory.
    tables: Option<Tables>,
    /// Earlier results.
    baseline: Option<Arc<Baseline>>,
    /// Columns on standard output.
    columns: Vec<Column<RunResult>>,
    /// Results without their jobs, for summary and figures.
    results: Vec<RunResult>,
    /// Distributions of the waits of jobs in each run, for figures.
    waits: Vec<WaitDistributions>,
    /// Estimates over perturbed copies, if there are copies.
    estimates: Option<Estimates<RunMetrics>>,
    /// Means over perturbed copies, after the last run.
    shaken: Vec<ShakenRow>,
    /// Differences between runs and the recorded schedule, after the last run.
    against: Vec<LogComparisonRow>,
    /// Jobs that were skipped because their size has no placement.
    left_out: SkippedJobs,
    quiet: bool,
    csv_header_written: bool,
    /// Whether the reader of standard output has closed the pipe.
    unread: bool,
}

impl<'a> Runs<'a> {
    /// Creates the result files, before the first result.
    ///
    /// # Errors
    /// A usage error if a column is unknown or a file cannot be created; a data error if the baseline cannot be read.
    pub fn begin(
        registries: &Registries,
        session: &mut Session,
        args: &RunArgs,
        loaded: &'a ResolvedGrid,
    ) -> Result<Self, Failure> {
        let baseline = args.baseline.read(&loaded.plan, args.output.process.quiet)?;
        let columns = || printed(loaded, baseline.as_ref());
        let named = chosen(&args.columns, columns())?;
        let mut runs = Self {
            loaded,
            ties: loaded.plan.grid.measure.ties,
            named: !args.columns.is_empty(),
            format: session.format(),
            sorting: args.sort.among(columns())?,
            tables: None,
            columns: named,
            results: Vec::new(),
            waits: Vec::new(),
            estimates: loaded.plan.grid.shake.map(|_| Estimates::of_runs(&loaded.plan)),
            shaken: Vec::new(),
            against: Vec::new(),
            left_out: SkippedJobs::new(registries),
            quiet: args.output.process.quiet,
            baseline,
            csv_header_written: false,
            unread: false,
        };
        if let Some(place) = session.stage()? {
            let metadata = metadata(session.build(), &runs.origin()?);
            let tables = Tables::create(&place, &metadata, loaded.plan.grid.measure);
            runs.tables = Some(tables.map_err(|e| Failure::output("results", e))?);
        }
        Ok(runs)
    }

    /// Prints and writes a result; results must be passed in grid order.
    ///
    /// # Errors
    /// A usage error if the result cannot be written.
    pub fn take(&mut self, mut result: RunResult) -> Result<(), Failure> {
        if let Some(estimates) = &mut self.estimates {
            estimates.take(&self.loaded.plan, result.run, result.compared().0);
        }
        if let Some(tables) = &mut self.tables {
            tables.write(&result).map_err(|e| Failure::output("results", e))?;
        }
        self.left_out.add(&result.key, &result.turned_away);
        let mut out = stdout();
        let written = match self.format {
            _ if self.unread || self.sorting.is_some() => Ok(()),
            FormatArg::Json => write_json_line(&self.columns, &result, &mut out),
            FormatArg::Csv => {
                let header = !std::mem::replace(&mut self.csv_header_written, true);
                write_csv(&self.columns, [&result], header, &mut out)
            }
            // A table is printed when all its rows are known, because its layout depends on all rows.
            FormatArg::Table | FormatArg::Md | FormatArg::Latex => Ok(()),
        };
        match written {
            // A closed pipe does not end the command: files are still written.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe && self.tables.is_some() => {
                self.unread = true;
            }
            written => written.map_err(Failure::stdout)?,
        }
        if self.tables.is_some() {
            self.waits.extend(WaitDistributions::of(&result));
        }
        (result.jobs, result.allocations) = (Vec::new(), Vec::new());
        if !result.is_unshaken() {
            // Figures show the load over time only for the unperturbed trace.
            result.series = Default::default();
            result.hierarchy_series = Default::default();
        }
        self.results.push(result);
        Ok(())
    }

    /// Computes means over perturbed copies and differences from the log, after the last result.
    ///
    /// # Errors
    /// A usage error if a row cannot be written.
    pub fn sum_up(&mut self) -> Result<(), Failure> {
        if !self.quiet {
            self.left_out.report();
        }
        if let Some(estimates) = &self.estimates {
            self.shaken = estimates.rows(&self.loaded.plan).map_err(Failure::usage)?;
        }
        // Text and Markdown tables contain this line, so it is printed only with JSON and CSV.
        if let Some(sorting) = self.sorting.as_ref().filter(|_| !self.quiet)
            && matches!(self.format, FormatArg::Json | FormatArg::Csv)
        {
            unranked(&self.results, sorting, "run").iter().for_each(eprint_line);
        }
        let plan = &self.loaded.plan;
        let Some(log) = LogBaseline::new(plan).map_err(Failure::usage)? else { return Ok(()) };
        for result in &self.results {
            let Some(with) = log.of(plan, result.run) else { continue };
            // If the run of the recorded schedule failed, there is nothing to compare with.
            let Some(with) = self.results.iter().find(|other| other.run == with) else { continue };
            let rows = log_comparison::rows(result, with);
            if rows.is_empty() && !self.quiet {
                let RunKey { trace, scheduler, .. } = &result.key;
                let strategy = result.key.strategy();
                eprint_warning(format_args!("{trace} {scheduler} {strategy} {NOT_COMPARED}"));
            }
            if let Some(tables) = &mut self.tables {
                tables
                    .write_log_comparison(rows.clone())
                    .map_err(|e| Failure::output("results", e))?;
            }
            // Rows for single job sizes are written to files but not printed.
            self.against.extend(rows.into_iter().filter(|row| row.size.is_none()));
        }
        if !self.against.is_empty() && !self.quiet {
            eprint_line(CAVEAT);
        }
        Ok(())
    }
}

impl Results for Runs<'_> {
    type Row = RunResult;

    fn rows(&self) -> &[RunResult] {
        &self.results
    }

    fn columns(&self) -> Vec<Column<RunResult>> {
        let all = printed(self.loaded, self.baseline.as_ref());
        select(&self.columns.iter().map(|column| column.name).collect::<Vec<_>>(), all)
    }

    fn is_printed(&self) -> bool {
        matches!(self.format, FormatArg::Json | FormatArg::Csv) && self.sorting.is_none()
    }

    fn arrange(&mut self) {
        if let Some(sorting) = &self.sorting {
            self.results.sort_by(|a, b| sorting.order(a, b));
        }
    }

    fn sheets(&self) -> Vec<Sheet> {
        let unshaken: Vec<&RunResult> =
            self.results.iter().filter(|result| result.is_unshaken()).collect();
        let against = self.against.iter().filter(|row| row.key.copy == 0);
        let against = log_comparison_summary(&against.cloned().collect::<Vec<_>>());
        let mut sheets = match self.named {
            true => {
                let shown = |column: Column<RunResult>| {
                    let unit = column.unit;
                    let title = if unit.is_empty() {
                        column.name.to_string()
                    } else {
                        format!("{} {unit}", column.name)
                    };
                    Shown::of(column, title, 1.0, 3)
                };
                vec![Sheet::of(unshaken, self.columns().into_iter().map(shown).collect())]
            }
            false => {
                let changes = || self.baseline.as_ref().map(Baseline::shown).unwrap_or_default();
                ranked_summaries(&unshaken, self.sorting.as_ref(), changes)
            }
        };
        sheets.push(against);
        sheets.push(shaken_summary(&self.shaken, RUN_FIGURES, &RunResult::columns()));
        sheets.into_iter().filter(|sheet| !sheet.is_empty()).collect()
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.loaded, self.ties)
    }

    fn details(&self) -> impl Serialize {
        let record =
            |r: &RunResult| RunRecord { run: r.run, key: r.key.clone(), seconds: r.seconds };
        RunDetails { runs: self.results.iter().map(record).collect() }
    }

    fn tables(&mut self, _: &Path, _: &[(String, String)]) -> Result<Vec<PathBuf>, FrameError> {
        let shaken = &self.shaken;
        self.tables.take().map_or(Ok(Vec::new()), |tables| tables.finish(shaken))
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        Ok(replay_output::plot::gallery(plots, &self.results, &self.waits)?)
    }
}

/// Returns a message with the number of rows that an order does not rank and with the reason; `None` if the order ranks
/// all rows.
pub fn unranked<Row: Table>(rows: &[Row], sorting: &Sorting<Row>, what: &str) -> Option<String> {
    let apart: Vec<bool> = rows.iter().map(|row| sorting.puts_apart(row)).collect();
    let behind = comparable::ranked(&apart).iter().filter(|ranked| !**ranked).count();
    let (by, why) = (sorting.column(), comparable::WHY);
    let rows = counted(behind as u64, what);
    (behind > 0).then(|| format!("not ranked by {by} (the last {rows}): {why}"))
}

/// Returns the summary tables of runs: one table, or two tables as in [`ranked_sheets`].
pub fn ranked_summaries(
    runs: &[&RunResult],
    sorting: Option<&Sorting<RunResult>>,
    changes: impl Fn() -> Vec<RunChange>,
) -> Vec<Sheet> {
    ranked_sheets(runs, sorting, |runs| summary(runs.iter().copied(), changes()))
}

/// Returns the rows as one table, or as two tables if an order ranks only some of the rows. The second table has the
/// rows that the order does not rank, with the reason.
pub fn ranked_sheets<Row: Table>(
    rows: &[&Row],
    sorting: Option<&Sorting<Row>>,
    sheet: impl Fn(&[&Row]) -> Sheet,
) -> Vec<Sheet> {
    let Some(sorting) = sorting else { return vec![sheet(rows)] };
    let apart: Vec<bool> = rows.iter().map(|row| sorting.puts_apart(row)).collect();
    let ranked = comparable::ranked(&apart);
    let part = |is_ranked: bool| -> Vec<&Row> {
        let both = rows.iter().zip(&ranked).filter(|(_, ranked)| **ranked == is_ranked);
        both.map(|(row, _)| *row).collect()
    };
    let (first, behind) = (part(true), part(false));
    if behind.is_empty() {
        return vec![sheet(rows)];
    }
    let why = format!("Not ranked by {}: {}.", sorting.column(), comparable::WHY);
    vec![sheet(&first), sheet(&behind).led_by(Some(why))]
}

/// Returns the named columns in the order of the names; all columns if there are no names.
fn chosen(
    names: &[String],
    all: Vec<Column<RunResult>>,
) -> Result<Vec<Column<RunResult>>, Failure> {
    let known: Vec<_> = all.iter().map(|column| (column.name.text(), column.name)).collect();
    let names = some("--columns", names, &known)?;
    Ok(if names.is_empty() { all } else { select(&names, all) })
}

/// Returns the columns with these names in the order of the names, without repetitions.
fn select(names: &[Name], mut all: Vec<Column<RunResult>>) -> Vec<Column<RunResult>> {
    let mut take = |name: &Name| {
        let place = all.iter().position(|column| column.name == *name)?;
        Some(all.swap_remove(place))
    };
    names.iter().filter_map(&mut take).collect()
}

/// Returns the columns on standard output: columns of runs, columns of outages if there are outages, and changes from a
/// baseline if there is a baseline.
fn printed(loaded: &ResolvedGrid, baseline: Option<&Arc<Baseline>>) -> Vec<Column<RunResult>> {
    let mut columns = RunResult::printed();
    if loaded.traces.iter().any(|trace| !trace.outages().is_empty()) {
        columns.extend(RunResult::outage_columns());
    }
    columns.extend(baseline.map(Baseline::columns).unwrap_or_default());
    columns
}

/// Returns the traces of a grid on their machines, as the configuration contains them.
pub fn trace_records(loaded: &ResolvedGrid) -> Vec<TraceRecord> {
    let traces = loaded.traces.iter().zip(&loaded.plan.traces);
    let record = |(trace, planned): (&Arc<Trace>, &PlannedTrace)| TraceRecord {
        outages: planned.outages_digest.clone(),
        name: trace.workload.name.clone(),
        source: trace.workload.source.display().to_string(),
        digest: trace.workload.digest.clone(),
        unix_start_time: planned.unix_start_time,
        topology: trace.topology.to_string(),
        policy: None,
        jobs: trace.workload.jobs.len(),
        cleaning: trace.workload.report.clone(),
    };
    traces.map(record).collect()
}

/// Returns the configuration of a grid, which determines the numbers of the results.
///
/// # Errors
/// A usage error if a strategy cannot be built.
pub fn configuration(loaded: &ResolvedGrid, ties: bool) -> Result<Configuration, Failure> {
    let grid = &loaded.plan.grid;
    Ok(Configuration {
        traces: trace_records(loaded),
        schedulers: grid.schedulers.iter().map(ToString::to_string).collect(),
        allocators: loaded.allocators()?.iter().map(ToString::to_string).collect(),
        seeds: grid.seeds.clone(),
        down: grid.file.down.clone(),
        partitions: grid.file.partitions.clone(),
        window: WindowRecord::of(&grid.file.window),
        grid: None,
        pattern: None,
        shake: grid.shake,
        policy: grid.file.policies.join(","),
        policy_rules: grid.policies.iter().flat_map(|policy| policy.describe()).collect(),
        ties,
    })
}

/// Creates a folder and checks that files can be created in it.
///
/// # Errors
/// A usage error if the folder or a file cannot be created.
pub fn writable(dir: &Path) -> Result<(), Failure> {
    let probe = || AtomicFile::create(&dir.join("figure"));
    if dir.join(MANIFEST).exists() {
        return Err(Failure::usage_message(format!(
            "--out {}: contains the results of another command, which figures must not be mixed with; choose another \
             directory",
            dir.display()
        )));
    }
    let tried = fs::create_dir_all(dir).and_then(|()| probe());
    tried.map(drop).map_err(|e| Failure::output(dir.display(), e))
}
