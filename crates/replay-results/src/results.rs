use std::collections::HashMap;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, PolarsResult};

use super::{FrameError, Tables, frame};
use replay_engine::naming::NameError;
use replay_engine::table::Table;
use replay_experiment::log_comparison::{self, LogBaseline, LogComparisonRow};
use replay_experiment::shaken::ShakenRow;
use replay_experiment::sweep::Plan;
use replay_experiment::{Measure, RunResult};

/// The results of a grid in memory. Each method without arguments returns a table as a data frame; the column `run` joins
/// the tables. [`TableInfo::of`](replay_engine::table::TableInfo::of) has the units and meanings of their columns.
#[derive(Debug, Default)]
pub struct Results {
    pub(crate) results: Vec<RunResult>,
    pub(crate) failed: Vec<String>,
    pub(crate) notices: Vec<String>,
    shaken: Vec<ShakenRow>,
    log_comparison: Vec<LogComparisonRow>,
    measure: Measure,
}

impl Results {
    /// Creates the results of these runs, which were measured as `measure` defines. `failed` has the message of each cell
    /// that failed.
    pub fn new(results: Vec<RunResult>, failed: Vec<String>, measure: Measure) -> Self {
        Self { results, failed, measure, ..Self::default() }
    }

    /// Adds the means over perturbed copies.
    pub fn with_shaken(self, shaken: Vec<ShakenRow>) -> Self {
        Self { shaken, ..self }
    }

    /// Adds the differences of the runs from the run that repeats the log. `is_in_plan` returns whether a run is a cell of
    /// the plan. Returns the runs that cannot be compared, too.
    ///
    /// # Errors
    /// [`NameError`] if a strategy of the plan cannot be built.
    pub fn against_log_of(
        mut self,
        plan: &Plan,
        is_in_plan: impl Fn(&RunResult) -> bool,
    ) -> Result<(Self, Vec<u32>), NameError> {
        let mut without = Vec::new();
        let Some(log) = LogBaseline::new(plan)? else { return Ok((self, without)) };
        for result in self.results.iter().filter(|result| is_in_plan(result)) {
            let Some(with) = log.of(plan, result.run) else { continue };
            // A failed run has no result to compare with.
            let of_log = |other: &&RunResult| is_in_plan(other) && other.run == with;
            let Some(with) = self.results.iter().find(of_log) else { continue };
            let rows = log_comparison::rows(result, with);
            if rows.is_empty() {
                without.push(result.run);
            }
            self.log_comparison.extend(rows);
        }
        Ok((self, without))
    }

    /// Returns whether a run was compared with the log.
    pub fn is_compared_with_log(&self) -> bool {
        !self.log_comparison.is_empty()
    }

    /// Numbers the runs from 0, in their order, in all tables. `is_in_plan` is that of
    /// [`against_log_of`](Self::against_log_of); other runs are in no other table.
    pub fn renumbered(mut self, is_in_plan: impl Fn(&RunResult) -> bool) -> Self {
        let mut numbers = HashMap::new();
        for (number, result) in (0..).zip(&mut self.results) {
            if is_in_plan(result) {
                numbers.insert(result.run, number);
            }
            result.run = number;
        }
        let renumber = |run: &mut u32| *run = numbers.get(run).copied().unwrap_or(*run);
        for row in &mut self.shaken {
            renumber(&mut row.run);
            row.difference.iter_mut().for_each(|difference| renumber(&mut difference.reference));
        }
        for row in &mut self.log_comparison {
            renumber(&mut row.run);
            renumber(&mut row.log_run);
        }
        self
    }

    /// Returns the results in the order of the grid.
    pub fn results(&self) -> &[RunResult] {
        &self.results
    }

    /// Returns the message of each cell that failed. The tables do not contain these cells.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Returns what a user should know about the traces: how they were cleaned, which jobs are left out, and which machine
    /// was chosen.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Returns one row per run: trace, machine, strategies, seed and metrics.
    ///
    /// # Errors
    /// [`PolarsError`](polars::prelude::PolarsError) never for the tables of the project; see [`frame()`].
    pub fn runs(&self) -> PolarsResult<DataFrame> {
        frame(&self.results)
    }

    /// Returns one row per run and job size.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn by_size(&self) -> PolarsResult<DataFrame> {
        rows(self.chosen(None).flat_map(RunResult::size_rows))
    }

    /// Returns one row per run and job, without perturbed copies; no rows if jobs were not kept.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn jobs(&self) -> PolarsResult<DataFrame> {
        rows(self.chosen(None).flat_map(RunResult::job_rows))
    }

    /// Returns one row per run and allocation with its processors, without perturbed copies; no rows if placements were not
    /// kept.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn placements(&self) -> PolarsResult<DataFrame> {
        rows(self.chosen(None).flat_map(RunResult::allocation_rows))
    }

    /// Returns one row per run and metric: mean over perturbed copies, interval and paired difference.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn shaken(&self) -> PolarsResult<DataFrame> {
        frame(&self.shaken)
    }

    /// Returns one row per run and metric: the difference from the run with scheduler `recorded`.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn against_log(&self) -> PolarsResult<DataFrame> {
        frame(&self.log_comparison)
    }

    /// Returns the table with this name, such as `jobs` or `outages`, of all runs or of the runs with these indices; `None`
    /// for an unknown name, or if jobs or placements were not kept.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn table(&self, name: &str, only: Option<&[usize]>) -> PolarsResult<Option<DataFrame>> {
        let chosen = self.chosen(only);
        match name {
            "runs" => frame(chosen),
            "by_size" => rows(chosen.flat_map(RunResult::size_rows)),
            "groups" => rows(chosen.flat_map(RunResult::group_rows)),
            "outages" => rows(chosen.filter_map(RunResult::outage_row)),
            "jobs" if self.measure.jobs => rows(chosen.flat_map(RunResult::job_rows)),
            "placements" if self.measure.nodes => rows(chosen.flat_map(RunResult::allocation_rows)),
            "shaken" => self.shaken(),
            "against_log" => self.against_log(),
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// Writes the tables of all runs, or of the runs with these indices, into a folder as Parquet and CSV, as `--out` does.
    /// Returns the paths of the files.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn save(&self, dir: &Path, only: Option<&[usize]>) -> Result<Vec<PathBuf>, FrameError> {
        let mut tables = Tables::create(dir, &[], self.measure)?;
        self.chosen(only).try_for_each(|result| tables.write(result))?;
        tables.write_log_comparison(self.log_comparison.clone())?;
        tables.finish(&self.shaken)
    }

    fn chosen<'a>(
        &'a self,
        only: Option<&'a [usize]>,
    ) -> impl Iterator<Item = &'a RunResult> + Clone + use<'a> {
        let is_chosen = move |index: &usize| only.is_none_or(|only| only.contains(index));
        let results = self.results.iter().enumerate();
        results.filter(move |(index, _)| is_chosen(index)).map(|(_, result)| result)
    }
}

/// Returns a data frame of rows that are made from runs.
fn rows<Row: Table>(rows: impl Iterator<Item = Row>) -> PolarsResult<DataFrame> {
    frame(&rows.collect::<Vec<_>>())
}
