//! A rough estimate of the time of a sweep.
//!
//! The sampling takes one second on all threads, divided among the [kinds](crate::cli::cell_kinds) of cells. For each kind,
//! a cell replays windows of jobs from the middle of the trace. Each window is several times as long as the previous
//! window. The last two windows give the time per job start. The estimate is the time per job start multiplied by the
//! number of jobs in the trace. Tie vectors that share one replay are estimated as separate replays, because windows do
//! not show when the decisions of the vectors diverge.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
/// Number of jobs in the first window.
const FEWEST: usize = 64;
/// Maximum ratio of the length of a window to the length of the previous window.
const GROWTH: usize = 8;

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

/// The times of one window, in CPU seconds.
#[derive(Clone, Copy)]
struct Window {
    jobs: f64,
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
    let by_kind = kinds.cells(plan, cells);
    let mut order: Vec<(&CellKind, &Vec<u32>)> = by_kind.iter().filter(|_| timed).collect();
    order.sort_by_key(|(kind, runs)| (std::cmp::Reverse(weight(plan, runs)), **kind));
    let samples = samples(plan, traces, &order)?;
    let mut schedules = HashMap::new();
    let (mut sampled, mut sampled_jobs, mut longest) = (0.0, 0, 0f64);
    let of_kind = |(kind, runs): (&CellKind, &Vec<u32>)| {
        let jobs = plan.jobs(runs[0]);
        let each = samples.get(kind).map(|windows| {
            let schedule = extrapolated(windows, |window| window.schedule, jobs as f64);
            schedules.insert([kind[0], kind[1]], schedule);
            extrapolated(windows, |window| window.cell, jobs as f64)
        });
        if let Some(each) = each {
            sampled += each * runs.len() as f64;
            sampled_jobs += weight(plan, runs);
            longest = longest.max(each);
        }
        let strategy = kinds.strategies[kind[2]].clone();
        KindEstimate { first: runs[0], strategy, cells: runs.len(), jobs, each }
    };
    let kinds: Vec<_> = by_kind.iter().map(of_kind).collect();
    let unsampled = || kinds.iter().filter(|kind| kind.each.is_none());
    let jobs: u64 = unsampled().map(|kind| kind.jobs * kind.cells as u64).sum();
    let others = sampled / sampled_jobs.max(1) as f64 * jobs as f64;
    let schedules = schedules.values().sum::<f64>() * f64::from(1 + plan.grid.copies());
    let all = sampled + others + schedules;
    let threads = rayon::current_num_threads().clamp(1, cells.len().max(1));
    Ok(Estimate {
        all: (!samples.is_empty()).then_some(all),
        elapsed: (all / threads as f64).max(longest),
        threads,
        unsampled: unsampled().map(|kind| kind.cells).sum(),
        kinds,
    })
}

/// Returns the total number of job starts in all cells of a kind.
fn weight(plan: &Plan, runs: &[u32]) -> u64 {
    plan.jobs(runs[0]).saturating_mul(runs.len() as u64)
}

/// The number of started jobs.
#[derive(Default)]
struct Started(AtomicU64);

impl Watch for Started {
    fn jobs_done(&self, jobs: u64) {
        self.0.fetch_add(jobs, Ordering::Relaxed);
    }
}

/// Samples the kinds on all threads, in the order of `order`, until [`BUDGET`] is used up.
fn samples(
    plan: &Plan,
    traces: &[Arc<Trace>],
    order: &[(&CellKind, &Vec<u32>)],
) -> Result<HashMap<CellKind, Vec<Window>>, Failure> {
    let (next, samples) = (AtomicUsize::new(0), Mutex::new(HashMap::new()));
    let until = Instant::now() + BUDGET;
    let threads = rayon::current_num_threads().max(1);
    let on_one_thread = |_| -> Result<(), Failure> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let left = until.saturating_duration_since(Instant::now());
            let Some((kind, runs)) = order.get(at).filter(|_| !left.is_zero()) else { break };
            let share = left / (order.len() - at).div_ceil(threads) as u32;
            let cell = plan.cell(traces, runs[runs.len() / 2]).map_err(Failure::usage)?;
            let windows = windows(&cell, plan.grid.measure, Instant::now() + share);
            if !windows.is_empty() {
                let mut samples = samples.lock().unwrap_or_else(PoisonError::into_inner);
                samples.insert(**kind, windows);
            }
        }
        Ok(())
    };
    (0..threads).into_par_iter().with_max_len(1).try_for_each(on_one_thread)?;
    Ok(samples.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Replays windows of a cell's trace, each longer than the previous one, and returns the time of each window.
fn windows(cell: &Cell, measure: Measure, until: Instant) -> Vec<Window> {
    let (stop, mut windows) = (CancelToken::new().until(until), Vec::new());
    let (trace, scheduler) = (&cell.trace, &cell.scheduler);
    let all = &trace.workload.jobs;
    let mut size = FEWEST.min(all.len());
    let mut shares_schedule = false;
    loop {
        let first = (all.len() - size) / 2;
        let window = Arc::new(trace.with_jobs(all[first..first + size].to_vec()));
        let begin = thread_time();
        if shares_schedule && window.schedule(scheduler, &stop).is_err() {
            return windows;
        }
        let schedule = thread_time() - begin;
        let started = Started::default();
        let watch = RunContext { watch: &started, ..RunContext::new(&stop) };
        let in_window = Cell { trace: window.clone(), ..cell.clone() };
        // If the cell fails, the time until the failure is used.
        let _ = run_cell(0, &in_window, measure, watch);
        let took = thread_time() - begin - schedule;
        if stop.is_raised() {
            // If a strategy did not finish the first window, its time is estimated from the number of jobs that it has
            // started so far.
            let started = started.0.into_inner() as f64;
            if windows.is_empty() && started > 0.0 {
                windows.push(Window { jobs: started, schedule, cell: took });
            }
            return windows;
        }
        windows.push(Window { jobs: size as f64, schedule, cell: took });
        shares_schedule = window.scheduled(scheduler).is_some();
        let left = until.saturating_duration_since(Instant::now()).as_secs_f64();
        let affordable = (size as f64 * left / (2.0 * (took + schedule))) as usize;
        let next = affordable.min(GROWTH * size).min(all.len());
        if next < (2 * size).min(all.len()) || size == all.len() {
            return windows;
        }
        size = next;
    }
}

/// Returns the CPU time of the current thread in seconds.
fn thread_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Returns the time of `jobs` jobs by linear extrapolation from the last two windows.
fn extrapolated(windows: &[Window], time: impl Fn(&Window) -> f64, jobs: f64) -> f64 {
    let Some(last) = windows.last() else { return 0.0 };
    let before = windows.len().checked_sub(2).map(|at| &windows[at]);
    let slope = before.map(|before| (time(last) - time(before)) / (last.jobs - before.jobs));
    // If a longer window took less time, the samples were disturbed or consist mostly of set-up time. Use the mean time
    // per job of the longer window.
    let each = slope.filter(|&slope| slope > 0.0).unwrap_or(time(last) / last.jobs);
    time(last) + each * (jobs - last.jobs).max(0.0)
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

    #[test]
    fn set_up_counts_once() {
        let window = |jobs, cell| Window { jobs, schedule: 0.0, cell };
        let of = |windows: &[Window]| extrapolated(windows, |window| window.cell, 1000.0);
        assert_eq!(of(&[window(10.0, 9.0), window(100.0, 5.0), window(200.0, 6.0)]), 14.0);
        assert_eq!(of(&[window(100.0, 5.0)]), 50.0);
        assert_eq!(of(&[window(50.0, 5.0), window(100.0, 5.0)]), 50.0);
        assert_eq!(of(&[]), 0.0);
    }
}
