use std::fs;
use std::path::{Path, PathBuf};

use super::FrameError;
use super::files::{Files, write};
use replay_engine::metrics::{Allocation, JobMeasures, SizeRow};
use replay_engine::table::Table;
use replay_experiment::log_comparison::LogComparisonRow;
use replay_experiment::shaken::ShakenRow;
use replay_experiment::{Measure, RunResult, WithRun};

/// Maximum number of buffered rows of a small table. When the buffer is full, its rows are written as a Parquet row
/// group.
const BUFFERED_ROWS: usize = 1 << 16;

/// Maximum number of jobs in one Parquet row group. If a run has millions of jobs and all these jobs were in one row
/// group, writing the row group would need most of the memory of the run.
const JOB_ROWS: usize = 1 << 18;

/// Maximum number of processors in one Parquet row group of the table of placements; a single job with more processors
/// exceeds this number.
const PLACEMENT_PROCESSORS: usize = 1 << 20;

/// Result files of a grid, written as results arrive.
///
/// The rows of jobs and placements are written after each run, which bounds the memory use; the small rows of runs and
/// sizes are buffered. If the value is dropped without [`finish`](Tables::finish), no file remains.
pub struct Tables {
    runs: Files,
    by_size: Files,
    jobs: Option<Files>,
    allocations: Option<Files>,
    /// Files of the outages, created with the first run that has outages.
    outages: Option<Files>,
    /// Files of the groups, created with the first run that has partitions.
    groups: Option<Files>,
    dir: PathBuf,
    metadata: Vec<(String, String)>,
    buffered: Vec<RunResult>,
    buffered_rows: usize,
    /// Files of the comparison with the log, created when a run is first compared with a run that repeats the log.
    log_comparison: Option<Files>,
    buffered_comparisons: Vec<LogComparisonRow>,
}

impl Tables {
    /// Creates the directory `dir` and all files in it, so that an invalid path fails before any work is done.
    /// `metadata` is added to every Parquet file. `jobs.parquet` and `placements.parquet` are created if `kept`
    /// includes them. If `kept` does not include `jobs.parquet` or `placements.parquet`, a file with this name from an
    /// earlier grid in `dir` is not changed.
    ///
    /// # Errors
    /// [`FrameError`] if the directory or a file cannot be created.
    pub fn create(
        dir: &Path,
        metadata: &[(String, String)],
        kept: Measure,
    ) -> Result<Self, FrameError> {
        fs::create_dir_all(dir).map_err(FrameError::io(dir))?;
        let jobs = || Files::create::<WithRun<'_, JobMeasures>>(dir, metadata, false);
        let allocations = || Files::create::<WithRun<'_, Allocation>>(dir, metadata, false);
        Ok(Self {
            jobs: kept.jobs.then(jobs).transpose()?,
            allocations: kept.nodes.then(allocations).transpose()?,
            runs: Files::create::<RunResult>(dir, metadata, true)?,
            by_size: Files::create::<WithRun<'_, SizeRow>>(dir, metadata, true)?,
            outages: None,
            groups: None,
            dir: dir.to_path_buf(),
            metadata: metadata.to_vec(),
            buffered: Vec::new(),
            buffered_rows: 0,
            log_comparison: None,
            buffered_comparisons: Vec::new(),
        })
    }

    /// Appends one result. The rows in the files are in the order of the calls.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write(&mut self, result: &RunResult) -> Result<(), FrameError> {
        self.write_jobs(result)?;
        self.write_allocations(result)?;
        self.buffered_rows += 1 + result.by_size.len() + result.groups.len();
        self.buffered.push(without_jobs(result));
        if self.buffered_rows >= BUFFERED_ROWS { self.flush() } else { Ok(()) }
    }

    /// Appends rows with the differences between a run and the log.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write_log_comparison(&mut self, rows: Vec<LogComparisonRow>) -> Result<(), FrameError> {
        self.buffered_comparisons.extend(rows);
        if self.buffered_comparisons.len() >= BUFFERED_ROWS {
            self.flush_comparisons()
        } else {
            Ok(())
        }
    }

    fn flush_comparisons(&mut self) -> Result<(), FrameError> {
        let Self { log_comparison, dir, metadata, buffered_comparisons, .. } = self;
        append_to(log_comparison, dir, metadata, buffered_comparisons)?;
        buffered_comparisons.clear();
        Ok(())
    }

    /// Appends only the jobs of a result.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write_jobs(&mut self, result: &RunResult) -> Result<(), FrameError> {
        let Some(jobs) = &mut self.jobs else { return Ok(()) };
        let mut rows = result.job_rows().peekable();
        while rows.peek().is_some() {
            jobs.append(&rows.by_ref().take(JOB_ROWS).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Appends only the allocations of a result.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write_allocations(&mut self, result: &RunResult) -> Result<(), FrameError> {
        let Some(allocations) = &mut self.allocations else { return Ok(()) };
        let rows: Vec<_> = result.allocation_rows().collect();
        parts(&rows).try_for_each(|rows| allocations.append(rows))
    }

    fn flush(&mut self) -> Result<(), FrameError> {
        self.runs.append(&self.buffered)?;
        let sizes: Vec<_> = self.buffered.iter().flat_map(RunResult::size_rows).collect();
        self.by_size.append(&sizes)?;
        let outages: Vec<_> = self.buffered.iter().filter_map(RunResult::outage_row).collect();
        append_to(&mut self.outages, &self.dir, &self.metadata, &outages)?;
        let groups: Vec<_> = self.buffered.iter().flat_map(RunResult::group_rows).collect();
        append_to(&mut self.groups, &self.dir, &self.metadata, &groups)?;
        self.buffered.clear();
        self.buffered_rows = 0;
        Ok(())
    }

    /// Completes the files and renames them to their final names. `shaken` contains the means over perturbed copies.
    /// Returns the paths in this order: runs, job sizes, and, if present, jobs, placements, outages, groups, the
    /// comparison with the log, and the means over perturbed copies.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written or renamed.
    pub fn finish(mut self, shaken: &[ShakenRow]) -> Result<Vec<PathBuf>, FrameError> {
        self.flush()?;
        self.flush_comparisons()?;
        let mut paths = Vec::new();
        let further = [self.jobs, self.allocations, self.outages, self.groups, self.log_comparison];
        for files in [self.runs, self.by_size].into_iter().chain(further.into_iter().flatten()) {
            paths.extend(files.finish()?);
        }
        if !shaken.is_empty() {
            paths.extend(write(&self.dir, shaken, &self.metadata)?);
        }
        Ok(paths)
    }
}

/// Appends rows to the files of a table, which are created with the first row.
fn append_to<Row: Table>(
    files: &mut Option<Files>,
    dir: &Path,
    metadata: &[(String, String)],
    rows: &[Row],
) -> Result<(), FrameError> {
    if rows.is_empty() {
        return Ok(());
    }
    let open = match files.take() {
        Some(open) => open,
        None => Files::create::<Row>(dir, metadata, true)?,
    };
    files.insert(open).append(rows)
}

/// Splits rows into parts with a bounded number of processors, which bounds the memory for the lists of processors.
fn parts<'a, 'b>(
    mut rows: &'b [WithRun<'a, Allocation>],
) -> impl Iterator<Item = &'b [WithRun<'a, Allocation>]> {
    std::iter::from_fn(move || {
        let mut listed = 0;
        let end = rows.iter().position(|of| {
            listed += of.row.nodes.len();
            listed > PLACEMENT_PROCESSORS
        });
        // A single row with more processors than the bound forms a part of its own.
        let (part, rest) = rows.split_at(end.map_or(rows.len(), |end| end.max(1)));
        rows = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// Returns a copy with only the fields required by the small tables.
fn without_jobs(result: &RunResult) -> RunResult {
    RunResult {
        key: result.key.clone(),
        metrics: result.metrics.clone(),
        turned_away: result.turned_away.clone(),
        by_size: result.by_size.clone(),
        groups: result.groups.clone(),
        over_log: None,
        jobs: Vec::new(),
        allocations: Vec::new(),
        series: Default::default(),
        hierarchy_series: Default::default(),
        ..*result
    }
}
