//! Progress bars on standard error. Nothing is drawn without a terminal or with `--quiet`.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::cell_kinds::{CellKind, CellKinds};
use super::eta::length;
use super::exit::{Failure, eprint_line};
use super::threads::Ticker;
use replay_core::number::grouped;
use replay_experiment::sweep::Plan;

/// Returns a progress bar with `steps` steps, or a spinner if `steps` is `None`, and the ticker that redraws the bar. A
/// template may contain the keys of the library indicatif, `{rate}` for steps per second, and `{left}` for the
/// remaining time. `{rate}` and `{left}` are computed from the mean speed since the bar was created.
pub fn bar(quiet: bool, steps: Option<u64>, template: &str) -> (ProgressBar, Option<Ticker>) {
    bar_with(quiet, steps, template, |state| left(state.pos(), state.len(), state.elapsed()))
}

/// Returns a [`bar`] in which `{left}` is the text that `left` returns.
fn bar_with(
    quiet: bool,
    steps: Option<u64>,
    template: &str,
    left: impl Fn(&ProgressState) -> String + Clone + Send + Sync + 'static,
) -> (ProgressBar, Option<Ticker>) {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(steps, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, to: &mut dyn Write| {
            // An error while drawing has no effect on the work.
            let _ = to.write_str(&rate(state.pos(), state.elapsed()));
        };
        let left = move |state: &ProgressState, to: &mut dyn Write| {
            let _ = to.write_str(&left(state));
        };
        bar.set_style(style.with_key("rate", rate).with_key("left", left));
    }
    let ticker = (!bar.is_hidden()).then(|| {
        let bar = bar.clone();
        Ticker::new(move || {
            if !bar.is_finished() {
                bar.tick();
            }
        })
    });
    (bar, ticker)
}

/// Formats the mean number of steps per second with two significant digits.
fn rate(done: u64, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-3);
    match rate {
        0.0 => String::new(),
        rate if rate < 10.0 => format!("{rate:.1}/s"),
        rate => {
            let unit = 10f64.powi(rate.log10() as i32 - 1);
            format!("{}/s", grouped(((rate / unit).round() * unit) as u64))
        }
    }
}

/// Formats the remaining time at the mean speed so far. Before the first step, or if the number of steps is unknown,
/// formats the elapsed time instead.
fn left(done: u64, all: Option<u64>, elapsed: Duration) -> String {
    match all {
        Some(all) if done > 0 => {
            let rest = all.saturating_sub(done) as f64 / done as f64;
            format!("{} left", length(elapsed.mul_f64(rest)))
        }
        _ => format!("{} so far", length(elapsed)),
    }
}

/// Work of the cells of one kind: the number of jobs, the number of started jobs, and the time spent on them. All jobs
/// of one kind take about the same time.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    jobs: u64,
    started: u64,
    /// Time spent on the started jobs, summed over threads.
    took: Duration,
}

/// The work of a grid by kind of cells.
#[derive(Default)]
struct GridWork(HashMap<CellKind, Work>);

impl GridWork {
    /// Returns the estimated remaining time of a grid that has run for `elapsed`. The time of a remaining job is
    /// estimated as the mean time of the started jobs of the same kind. If no job of the kind has started, the mean of
    /// all started jobs is used. Returns `None` before the first job.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let started = self.0.values().map(|work| work.started).sum::<u64>();
        let took = self.0.values().map(|work| work.took).sum::<Duration>().as_secs_f64();
        let left = |work: &Work| {
            let each = match work.started {
                0 => took / started as f64,
                started => work.took.as_secs_f64() / started as f64,
            };
            each * work.jobs.saturating_sub(work.started) as f64
        };
        let left = self.0.values().map(left).sum::<f64>();
        (took > 0.0).then(|| elapsed.mul_f64(left / took))
    }
}

/// Progress of cells: finished cells, jobs per second, remaining time.
pub struct Progress {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
    cells: usize,
    done: AtomicUsize,
    /// The kinds of the cells, and the work of each kind; `None` if the cells do not belong to a plan.
    grid: Option<(CellKinds, Arc<Mutex<GridWork>>)>,
}

const CELLS: &str = "{wide_bar} {msg} cells, {human_pos}/{human_len} jobs, {rate} {left}";

impl Progress {
    /// Creates the progress bar of `cells` cells with `jobs` jobs in total.
    pub fn new(quiet: bool, cells: usize, jobs: u64) -> Self {
        let (bar, _ticker) = bar(quiet, Some(jobs), CELLS);
        bar.set_message(format!("0/{cells}"));
        Self { _ticker, bar, cells, done: AtomicUsize::new(0), grid: None }
    }

    /// Creates the progress bar of the cells `runs` of a plan. The remaining time is estimated from the time per job of
    /// each kind of cells.
    ///
    /// # Errors
    /// A usage error if a strategy cannot be built.
    pub fn of_plan(quiet: bool, plan: &Plan, runs: &[u32]) -> Result<Self, Failure> {
        let jobs = runs.iter().map(|&run| plan.jobs(run)).sum();
        let progress = Self::new(quiet, runs.len(), jobs);
        if progress.bar.is_hidden() {
            return Ok(progress);
        }
        let kinds = CellKinds::new(plan).map_err(Failure::usage)?;
        let mut work = GridWork::default();
        for &run in runs {
            work.0.entry(kinds.of(plan, run)).or_default().jobs += plan.jobs(run);
        }
        let work = Arc::new(Mutex::new(work));
        let shared = work.clone();
        let left = move |state: &ProgressState| {
            let work = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match work.left(state.elapsed()) {
                Some(left) => format!("{} left", length(left)),
                None => format!("{} so far", length(state.elapsed())),
            }
        };
        let (bar, _ticker) = bar_with(quiet, Some(jobs), CELLS, left);
        bar.set_message(progress.bar.message());
        Ok(Self { bar, _ticker, grid: Some((kinds, work)), ..progress })
    }

    /// Records that `jobs` jobs of the cell `run` have started, and that they took the time `took`.
    pub fn started(&self, plan: &Plan, run: u32, jobs: u64, took: Duration) {
        let Some((kinds, work)) = &self.grid else { return };
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        let work = work.0.entry(kinds.of(plan, run)).or_default();
        work.started += jobs;
        work.took += took;
    }

    /// Counts a finished cell; its jobs are counted by [`jobs_done`](Self::jobs_done).
    pub fn cell_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{done}/{}", self.cells));
    }

    /// Counts finished jobs. The count never exceeds the number of all jobs, although requeued jobs finish twice.
    pub fn jobs_done(&self, jobs: u64) {
        let room = self.bar.length().map_or(jobs, |all| all.saturating_sub(self.bar.position()));
        self.bar.inc(jobs.min(room));
    }

    /// Prints a line above the bar.
    pub fn print_line(&self, line: &str) {
        self.bar.suspend(|| eprint_line(line));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress of points with an unknown number of jobs: the number of finished points, and the number of jobs so far.
pub struct Points {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
    jobs: AtomicU64,
}

impl Points {
    /// Progress of `points` points.
    pub fn new(quiet: bool, points: usize) -> Self {
        let template = "{spinner} {human_pos}/{human_len} points, {msg} jobs, {elapsed}";
        let (bar, _ticker) = bar(quiet, Some(points as u64), template);
        bar.set_message("0");
        Self { bar, _ticker, jobs: AtomicU64::new(0) }
    }

    /// Counts a finished point.
    pub fn point_done(&self) {
        self.bar.inc(1);
    }

    /// Counts finished jobs.
    pub fn jobs_done(&self, jobs: u64) {
        let all = self.jobs.fetch_add(jobs, Ordering::Relaxed) + jobs;
        self.bar.set_message(grouped(all));
    }

    /// Calls a function that prints lines; the lines appear above the bar.
    pub fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_cost_of_jobs_of_each_kind() {
        let seconds = Duration::from_secs;
        let work = |jobs, started, took| Work { jobs, started, took: seconds(took) };
        let mut grid = GridWork::default();
        grid.0.insert([0, 0, 0], work(100, 0, 0));
        assert_eq!(grid.left(seconds(1)), None);
        // The second kind has no measured time yet, and two threads are working.
        grid.0.insert([0, 0, 0], work(100, 50, 10));
        grid.0.insert([0, 0, 1], work(50, 0, 0));
        assert_eq!(grid.left(seconds(5)), Some(seconds(10)));
        grid.0.insert([0, 0, 0], work(100, 100, 20));
        grid.0.insert([0, 0, 1], work(50, 10, 40));
        assert_eq!(grid.left(seconds(30)), Some(seconds(80)));
    }

    #[test]
    fn time_left_follows_the_speed_so_far() {
        let seconds = Duration::from_secs;
        assert_eq!(left(0, Some(100), seconds(7)), "7 s so far");
        assert_eq!(left(25, Some(100), seconds(10)), "30 s left");
        assert_eq!(left(25, Some(1_000_000), seconds(1)), "11 h left");
        assert_eq!(left(120, Some(100), seconds(10)), "0 s left");
        assert_eq!(left(3, None, seconds(2)), "2 s so far");
        assert_eq!(rate(0, seconds(3)), "");
        assert_eq!(rate(7, seconds(2)), "3.5/s");
        assert_eq!(rate(12_345_678, seconds(10)), "1,200,000/s");
    }
}
