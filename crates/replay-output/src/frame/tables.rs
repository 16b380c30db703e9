use std::fs;
use std::path::{Path, PathBuf};

use super::FrameError;
use super::files::{Files, write};
use replay_core::metrics::system::OutageMetrics;
use replay_core::metrics::{Allocation, JobMeasures, SizeRow};
use replay_experiment::log_comparison::AgainstRow;
use replay_experiment::shaken::ShakenRow;
use replay_experiment::{Measure, OfRun, RunResult};

/// Rows of the table of job sizes that are held back to fill a Parquet row group.
const HELD_ROWS: usize = 1 << 16;

/// Jobs in one Parquet row group: the columns of a run of millions, all at once, would be the most
/// of its memory.
const JOB_ROWS: usize = 1 << 18;

/// Processors in one Parquet row group of the table of placements, but for jobs that have more.
const HELD_PROCESSORS: usize = 1 << 20;

/// The result files of a grid, written as results arrive.
///
/// Jobs and placements go out at once, row groups for each run, so that memory stays flat; the small rows
/// of runs and sizes are held back and go out together. If the value is dropped without
/// [`finish`](Tables::finish), nothing stays.
pub struct Tables {
    runs: Files,
    by_size: Files,
    jobs: Option<Files>,
    allocations: Option<Files>,
    /// From the first run that has any.
    outages: Option<Files>,
    place: PathBuf,
    metadata: Vec<(String, String)>,
    held: Vec<RunResult>,
    held_rows: usize,
    /// From the first run that is set against one that repeats the log.
    against: Option<Files>,
    held_against: Vec<AgainstRow>,
}

impl Tables {
    /// Creates the folder `dir` and all files in it, so that a bad path fails before any
    /// work is done. `metadata` goes into every Parquet file beside the columns'
    /// documentation. `jobs.parquet` and `placements.parquet` come with what `kept`
    /// says that results keep; those that an earlier grid left in `dir` are not touched.
    ///
    /// # Errors
    /// [`FrameError`] if the folder or a file cannot be created.
    pub fn create(
        dir: &Path,
        metadata: &[(String, String)],
        kept: Measure,
    ) -> Result<Self, FrameError> {
        fs::create_dir_all(dir).map_err(FrameError::io(dir))?;
        let jobs = || Files::create::<OfRun<'_, JobMeasures>>(dir, metadata, false);
        let allocations = || Files::create::<OfRun<'_, Allocation>>(dir, metadata, false);
        Ok(Self {
            jobs: kept.jobs.then(jobs).transpose()?,
            allocations: kept.nodes.then(allocations).transpose()?,
            runs: Files::create::<RunResult>(dir, metadata, true)?,
            by_size: Files::create::<OfRun<'_, SizeRow>>(dir, metadata, true)?,
            outages: None,
            place: dir.to_path_buf(),
            metadata: metadata.to_vec(),
            held: Vec::new(),
            held_rows: 0,
            against: None,
            held_against: Vec::new(),
        })
    }

    /// Takes in one result. Rows stand in the files in the order of the calls.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write(&mut self, result: &RunResult) -> Result<(), FrameError> {
        self.write_jobs(result)?;
        self.write_allocations(result)?;
        self.held_rows += 1 + result.by_size.len();
        self.held.push(without_jobs(result));
        if self.held_rows >= HELD_ROWS { self.flush() } else { Ok(()) }
    }

    /// Takes in how a run differs from what the log did.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write_against(&mut self, rows: Vec<AgainstRow>) -> Result<(), FrameError> {
        self.held_against.extend(rows);
        if self.held_against.len() >= HELD_ROWS { self.flush_against() } else { Ok(()) }
    }

    fn flush_against(&mut self) -> Result<(), FrameError> {
        if self.held_against.is_empty() {
            return Ok(());
        }
        let files = match self.against.take() {
            Some(files) => files,
            None => Files::create::<AgainstRow>(&self.place, &self.metadata, true)?,
        };
        self.against.insert(files).append(&self.held_against)?;
        self.held_against.clear();
        Ok(())
    }

    /// Takes in the jobs of a result alone.
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

    /// Takes in the allocations of a result alone.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written.
    pub fn write_allocations(&mut self, result: &RunResult) -> Result<(), FrameError> {
        let Some(allocations) = &mut self.allocations else { return Ok(()) };
        let rows: Vec<_> = result.allocation_rows().collect();
        parts(&rows).try_for_each(|rows| allocations.append(rows))
    }

    fn flush(&mut self) -> Result<(), FrameError> {
        self.runs.append(&self.held)?;
        let sizes: Vec<_> = self.held.iter().flat_map(RunResult::size_rows).collect();
        self.by_size.append(&sizes)?;
        let outages: Vec<_> = self.held.iter().filter_map(RunResult::outage_row).collect();
        if !outages.is_empty() {
            let files = match self.outages.take() {
                Some(files) => files,
                None => {
                    Files::create::<OfRun<'_, OutageMetrics>>(&self.place, &self.metadata, true)?
                }
            };
            self.outages.insert(files).append(&outages)?;
        }
        self.held.clear();
        self.held_rows = 0;
        Ok(())
    }

    /// Completes the files and gives them their names. Returns their paths: runs, job
    /// sizes, jobs, placements, and if there are any outages, what runs are against the log, and what runs come to over
    /// `shaken` copies.
    ///
    /// # Errors
    /// [`FrameError`] if a file cannot be written or renamed.
    pub fn finish(mut self, shaken: &[ShakenRow]) -> Result<Vec<PathBuf>, FrameError> {
        self.flush()?;
        self.flush_against()?;
        let mut paths = self.runs.finish()?;
        paths.extend(self.by_size.finish()?);
        if let Some(jobs) = self.jobs {
            paths.extend(jobs.finish()?);
        }
        if let Some(allocations) = self.allocations {
            paths.extend(allocations.finish()?);
        }
        if let Some(outages) = self.outages {
            paths.extend(outages.finish()?);
        }
        if let Some(against) = self.against {
            paths.extend(against.finish()?);
        }
        if !shaken.is_empty() {
            paths.extend(write(&self.place, shaken, &self.metadata)?);
        }
        Ok(paths)
    }
}

/// The rows in parts of a bounded number of processors, so that their lists never lie in memory all at once.
fn parts<'a, 'b>(
    mut rows: &'b [OfRun<'a, Allocation>],
) -> impl Iterator<Item = &'b [OfRun<'a, Allocation>]> {
    std::iter::from_fn(move || {
        let mut listed = 0;
        let end = rows.iter().position(|of| {
            listed += of.row.nodes.len();
            listed > HELD_PROCESSORS
        });
        // Of a row with more there is a part all the same.
        let (part, rest) = rows.split_at(end.map_or(rows.len(), |end| end.max(1)));
        rows = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// A copy of what the small tables need.
fn without_jobs(result: &RunResult) -> RunResult {
    RunResult {
        key: result.key.clone(),
        metrics: result.metrics.clone(),
        turned_away: result.turned_away.clone(),
        by_size: result.by_size.clone(),
        over_log: None,
        jobs: Vec::new(),
        allocations: Vec::new(),
        series: Default::default(),
        ..*result
    }
}
