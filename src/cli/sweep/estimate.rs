//! A rough estimate of the time of a sweep.
//!
//! One cell of each [kind](crate::cli::cell_kinds) replays jobs from the middle of its trace; the time per job start,
//! multiplied by the number of jobs in the trace, is the estimate. All cells together take about one second. Tie vectors
//! that share one replay are estimated as separate replays, because a sample does not show when their decisions diverge.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use crate::cli::cell_kinds::{CellKind, CellKinds};
use crate::cli::exit::Failure;
use replay_engine::cancel::CancelToken;
use replay_engine::number::fixed;
use replay_experiment::sweep::Plan;
use replay_experiment::{Cell, Measure, RunContext, Trace, Watch, run_cell};

/// Total time of the samples on each thread.
const BUDGET: Duration = Duration::from_secs(1);
/// Maximum number of jobs of a sample.
const JOBS: usize = 4096;

/// A kind of cells and its estimate.
pub struct KindEstimate {
    /// The first cell.
    pub first: u32,
    /// The strategy, without tie vectors.
    pub strategy: String,
    /// Number of cells.
    pub cells: usize,
    /// Number of jobs of a cell.
    pub jobs: u64,
    /// CPU seconds of one cell; `None` without a sample.
    pub each: Option<f64>,
}

impl KindEstimate {
    /// Returns the CPU seconds of all cells.
    pub fn all(&self) -> Option<f64> {
        self.each.map(|each| each * self.cells as f64)
    }
}

/// An estimate of a whole grid.
pub struct Estimate {
    /// Estimates by kind, in the order of the grid.
    pub kinds: Vec<KindEstimate>,
    /// CPU seconds of all cells and of the schedules that the cells share; `None` without a sample.
    pub all: Option<f64>,
    /// Estimated wall-clock time in seconds until the last cell is done, on an otherwise idle computer.
    pub elapsed: f64,
    /// Number of busy threads.
    pub threads: usize,
    /// Number of cells of kinds without a sample. The time per job of these kinds is estimated as the mean of the other
    /// kinds.
    pub unsampled: usize,
}

/// Times per job start, in CPU seconds.
struct Sample {
    /// Time to compute the schedule that cells with the same trace and scheduler share; 0 if each cell computes a
    /// schedule.
    schedule: f64,
    /// Time of one cell.
    cell: f64,
}

/// Counts the cells of each kind and, if `timed`, estimates their time.
///
/// # Errors
/// A usage error if a strategy cannot be built.
pub fn estimate(
    plan: &Plan,
    traces: &[Arc<Trace>],
    cells: &[u32],
    timed: bool,
) -> Result<Estimate, Failure> {
    let kinds = CellKinds::new(plan).map_err(Failure::usage)?;
    let by_kind: Vec<(CellKind, Vec<u32>)> = kinds.cells(plan, cells).into_iter().collect();
    let threads = rayon::current_num_threads().max(1);
    let share = BUDGET / by_kind.len().div_ceil(threads).max(1) as u32;
    let sample = |(_, runs): &(CellKind, Vec<u32>)| -> Result<Option<Sample>, Failure> {
        if !timed {
            return Ok(None);
        }
        let cell = plan.cell(traces, runs[runs.len() / 2]).map_err(Failure::usage)?;
        Ok(sample(&cell, plan.grid.measure, share))
    };
    let samples: Result<Vec<_>, _> = by_kind.par_iter().with_max_len(1).map(sample).collect();
    let mut schedules = HashMap::new();
    let of_kind = |((kind, runs), sample): (&(CellKind, Vec<u32>), Option<Sample>)| {
        let jobs = plan.jobs(runs[0]);
        let each = sample.map(|sample| {
            schedules.insert([kind[0], kind[1]], sample.schedule * jobs as f64);
            sample.cell * jobs as f64
        });
        let strategy = kinds.strategies[kind[2]].clone();
        KindEstimate { first: runs[0], strategy, cells: runs.len(), jobs, each }
    };
    let kinds: Vec<_> = by_kind.iter().zip(samples?).map(of_kind).collect();
    let starts = |kind: &KindEstimate| kind.jobs as f64 * kind.cells as f64;
    let (sampled, unsampled): (Vec<_>, Vec<_>) = kinds.iter().partition(|kind| kind.each.is_some());
    let cells_time: f64 = sampled.iter().filter_map(|kind| kind.all()).sum();
    let per_start = cells_time / sampled.iter().map(|kind| starts(kind)).sum::<f64>().max(1.0);
    let others = per_start * unsampled.iter().map(|kind| starts(kind)).sum::<f64>();
    let schedules = schedules.values().sum::<f64>() * f64::from(1 + plan.grid.copies());
    let all = cells_time + others + schedules;
    let threads = threads.min(cells.len().max(1));
    let longest = sampled.iter().filter_map(|kind| kind.each).fold(0.0, f64::max);
    Ok(Estimate {
        all: (!sampled.is_empty()).then_some(all),
        elapsed: (all / threads as f64).max(longest),
        threads,
        unsampled: unsampled.iter().map(|kind| kind.cells).sum(),
        kinds,
    })
}

/// The number of started jobs, and the CPU time of the thread at the first start, in nanoseconds.
#[derive(Default)]
struct Starts {
    jobs: AtomicU64,
    first: AtomicU64,
}

impl Watch for Starts {
    fn jobs_done(&self, jobs: u64) {
        // The time before the first start is set-up and the shared schedule.
        if self.jobs.fetch_add(jobs, Ordering::Relaxed) == 0 {
            self.first.store(thread_time(), Ordering::Relaxed);
        }
    }
}

/// Replays at most [`JOBS`] jobs from the middle of a cell's trace for at most the time `limit`; `None` if no job started.
fn sample(cell: &Cell, measure: Measure, limit: Duration) -> Option<Sample> {
    let all = &cell.trace.workload.jobs;
    let jobs = JOBS.min(all.len());
    let first = (all.len() - jobs) / 2;
    let window = Arc::new(cell.trace.with_jobs(all[first..first + jobs].to_vec()));
    let stop = CancelToken::new().until(Instant::now() + limit);
    let starts = Starts::default();
    let context = RunContext { watch: &starts, ..RunContext::new(&stop) };
    let in_window = Cell { trace: window.clone(), ..cell.clone() };
    // If the cell fails, the time until the failure is used.
    let _ = run_cell(0, &in_window, measure, context);
    let (started, begin) = (starts.jobs.into_inner(), starts.first.into_inner());
    let seconds = 1e-9 * thread_time().saturating_sub(begin) as f64;
    let schedule = window.scheduled(&cell.scheduler).map_or(0.0, |one| one.took.as_secs_f64());
    (started > 0)
        .then(|| Sample { schedule: schedule / jobs as f64, cell: seconds / started as f64 })
}

/// Returns the CPU time of the current thread in nanoseconds.
fn thread_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Formats seconds with a unit from milliseconds to days.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0005 => "< 1 ms".to_string(),
        s if s < 1.0 => format!("{} ms", fixed(1000.0 * s, 0)),
        s if s < 100.0 => format!("{} s", fixed(s, 1)),
        s if s < 6000.0 => format!("{} min", fixed(s / 60.0, 1)),
        s if s < 360_000.0 => format!("{} h", fixed(s / 3600.0, 1)),
        s => format!("{} days", fixed(s / 86_400.0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let texts = [0.0, 0.0004, 0.02, 2.0, 600.0, 7200.0, 864_000.0].map(duration);
        assert_eq!(texts, ["< 1 ms", "< 1 ms", "20 ms", "2.0 s", "10.0 min", "2.0 h", "10.0 days"]);
    }
}
