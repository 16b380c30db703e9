//! Progress bars on standard error. Nothing is drawn without a terminal or with `--quiet`.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::cell_kinds::{CellKind, CellKinds};
use super::eta::{EtaReporter, First, length};
use super::exit::{Failure, eprint_line};
use super::threads::Ticker;
use replay_engine::number::grouped;
use replay_experiment::sweep::Plan;
use replay_experiment::{Eta, Watch};

/// A progress line on standard error. It always fits one line of the terminal.
pub struct ProgressLine {
    bar: ProgressBar,
    /// Text that commands set, such as the number of finished cells.
    message: Arc<Mutex<String>>,
    _ticker: Option<Ticker>,
}

/// Narrowest bar that is drawn, in characters.
const NARROWEST: usize = 8;

impl ProgressLine {
    /// Creates a line with `steps` steps and the text that `text` returns for the state and the message. If the number
    /// of steps is known, a bar fills the rest of the line.
    pub fn new(
        quiet: bool,
        steps: Option<u64>,
        text: impl Fn(&ProgressState, &str) -> String + Clone + Send + Sync + 'static,
    ) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(steps, target);
        let message = Arc::new(Mutex::new(String::new()));
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            let shared = message.clone();
            let line = move |state: &ProgressState, to: &mut dyn Write| {
                let text = text(state, &shared.lock().unwrap_or_else(PoisonError::into_inner));
                let done = state.len().map(|all| state.pos() as f64 / all.max(1) as f64);
                // The width is read each time, because a terminal can change its size. An error while drawing has no
                // effect on the work.
                let _ = to.write_str(&fitted(&text, done, width()));
            };
            bar.set_style(style.with_key("line", line));
        }
        let ticker = (!bar.is_hidden()).then(|| {
            let bar = bar.clone();
            Ticker::new(move || {
                if !bar.is_finished() {
                    bar.tick();
                }
            })
        });
        Self { bar, message, _ticker: ticker }
    }

    /// Returns whether nothing is drawn.
    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Sets the message, which appears when the line is drawn again.
    pub fn set_message(&self, message: String) {
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = message;
    }

    /// Adds steps.
    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Sets the number of finished steps.
    pub fn set_position(&self, steps: u64) {
        self.bar.set_position(steps);
    }

    /// Calls a function that prints lines; the lines appear above this line.
    pub fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the width of the terminal on standard error in characters.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    size.map_or(80, |size| usize::from(size.ws_col)).max(1)
}

/// Returns a line of at most `width - 1` characters: the text, and before it a bar of the share `done` if there is room.
/// A longer text is cut. The last column stays free, because some terminals begin a new line after it.
fn fitted(text: &str, done: Option<f64>, width: usize) -> String {
    let room = width.saturating_sub(1);
    let length = text.chars().count();
    if length > room {
        return text.chars().take(room).collect();
    }
    match done {
        Some(done) if room - length > NARROWEST => {
            let bar = room - length - 1;
            let full = ((bar as f64 * done) as usize).min(bar);
            format!("{}{} {text}", "█".repeat(full), "░".repeat(bar - full))
        }
        _ => text.to_string(),
    }
}

/// Returns the number of finished steps, and of all steps if it is known.
pub fn steps(state: &ProgressState) -> String {
    let all = state.len().map_or(String::new(), |all| format!("/{}", grouped(all)));
    format!("{}{all}", grouped(state.pos()))
}

/// Returns the remaining time at the mean speed so far; see [`remaining`].
pub fn time_left(state: &ProgressState) -> String {
    remaining(state.pos(), state.len(), state.elapsed())
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
fn remaining(done: u64, all: Option<u64>, elapsed: Duration) -> String {
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

/// Progress of cells: finished cells, jobs per second, remaining time. Reports the estimated duration of long cells.
pub struct Progress<'a> {
    line: ProgressLine,
    reporter: EtaReporter,
    cells: usize,
    done: AtomicUsize,
    /// The plan, the kinds of its cells, and the work of each kind; `None` if the cells do not belong to a plan.
    grid: Option<(&'a Plan, CellKinds, Arc<Mutex<GridWork>>)>,
}

/// Returns the text of a line about cells; `left` returns the remaining time. The most important numbers are first,
/// because a narrow terminal cuts the text.
fn of_cells(state: &ProgressState, cells: &str, left: String) -> String {
    let jobs = steps(state);
    format!("{cells} cells, {left}, {jobs} jobs {}", rate(state.pos(), state.elapsed()))
}

impl<'a> Progress<'a> {
    /// Creates the progress line of `cells` cells with `jobs` jobs in total.
    pub fn new(quiet: bool, first: First, cells: usize, jobs: u64) -> Self {
        let text = |state: &ProgressState, cells: &str| of_cells(state, cells, time_left(state));
        let line = ProgressLine::new(quiet, Some(jobs), text);
        line.set_message(format!("0/{cells}"));
        let reporter = EtaReporter::of(first, quiet);
        Self { line, reporter, cells, done: AtomicUsize::new(0), grid: None }
    }

    /// Creates the progress line of the cells `runs` of a plan. The remaining time is estimated from the time per job of
    /// each kind of cells.
    ///
    /// # Errors
    /// A usage error if a strategy cannot be built.
    pub fn of_plan(quiet: bool, plan: &'a Plan, runs: &[u32]) -> Result<Self, Failure> {
        let jobs = runs.iter().map(|&run| plan.jobs(run)).sum();
        let progress = Self::new(quiet, First::Started, runs.len(), jobs);
        if progress.line.is_hidden() {
            return Ok(progress);
        }
        let kinds = CellKinds::new(plan).map_err(Failure::usage)?;
        let mut work = GridWork::default();
        for &run in runs {
            work.0.entry(kinds.of(plan, run)).or_default().jobs += plan.jobs(run);
        }
        let work = Arc::new(Mutex::new(work));
        let shared = work.clone();
        let text = move |state: &ProgressState, cells: &str| {
            let work = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let left = match work.left(state.elapsed()) {
                Some(left) => format!("{} left", length(left)),
                None => format!("{} so far", length(state.elapsed())),
            };
            of_cells(state, cells, left)
        };
        let line = ProgressLine::new(quiet, Some(jobs), text);
        line.set_message(format!("0/{}", runs.len()));
        Ok(Self { line, grid: Some((plan, kinds, work)), ..progress })
    }

    /// Counts a finished cell; its jobs are counted by [`jobs_done`](Watch::jobs_done).
    pub fn cell_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.line.set_message(format!("{done}/{}", self.cells));
    }

    /// Records that no job is awaited.
    pub fn begun(&self) {
        self.reporter.begun();
    }

    /// Prints a line above the progress line.
    pub fn print_line(&self, line: &str) {
        self.line.above(|| eprint_line(line));
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.line.finish();
    }
}

impl Watch for Progress<'_> {
    /// The count never exceeds the number of all jobs, although requeued jobs finish twice.
    fn jobs_done(&self, jobs: u64) {
        self.reporter.begun();
        let bar = &self.line.bar;
        let room = bar.length().map_or(jobs, |all| all.saturating_sub(bar.position()));
        self.line.inc(jobs.min(room));
    }

    fn forecast(&self, eta: Eta) {
        self.reporter.update(eta, |line| self.print_line(line));
    }

    fn cell_jobs(&self, cell: u32, jobs: u64, took: Duration) {
        let Some((plan, kinds, work)) = &self.grid else { return };
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        let work = work.0.entry(kinds.of(plan, cell)).or_default();
        work.started += jobs;
        work.took += took;
    }
}

/// Progress of points with an unknown number of jobs: the number of finished points, and the number of jobs so far.
pub struct Points {
    line: ProgressLine,
    reporter: EtaReporter,
    jobs: AtomicU64,
}

impl Points {
    /// Progress of `points` points.
    pub fn new(quiet: bool, points: usize) -> Self {
        let text = |state: &ProgressState, jobs: &str| {
            format!("{} points, {jobs} jobs, {}", steps(state), length(state.elapsed()))
        };
        let line = ProgressLine::new(quiet, Some(points as u64), text);
        line.set_message("0".to_string());
        Self { line, reporter: EtaReporter::of(First::Started, quiet), jobs: AtomicU64::new(0) }
    }

    /// Counts a finished point.
    pub fn point_done(&self) {
        self.line.inc(1);
    }

    /// Calls a function that prints lines; the lines appear above the progress line.
    pub fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.line.above(write)
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.line.finish();
    }
}

impl Watch for Points {
    fn jobs_done(&self, jobs: u64) {
        let all = self.jobs.fetch_add(jobs, Ordering::Relaxed) + jobs;
        self.line.set_message(grouped(all));
    }

    fn forecast(&self, eta: Eta) {
        self.reporter.update(eta, |line| self.above(|| eprint_line(line)));
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
    fn a_line_fits_the_terminal() {
        let text = "1/3 cells, 5 s left";
        for width in [1, 5, 20, 21, 28, 29, 30, 80, 300] {
            let line = fitted(text, Some(0.5), width);
            assert!(line.chars().count() < width, "{line}");
            assert_eq!(line.contains('█'), width > text.len() + NARROWEST + 1, "{line}");
        }
        assert_eq!(fitted(text, None, 80), text);
        assert_eq!(fitted(text, Some(0.5), 10), "1/3 cells");
        assert_eq!(fitted("x", Some(2.0), 12), "█████████ x");
    }

    #[test]
    fn time_left_follows_the_speed_so_far() {
        let seconds = Duration::from_secs;
        assert_eq!(remaining(0, Some(100), seconds(7)), "7 s so far");
        assert_eq!(remaining(25, Some(100), seconds(10)), "30 s left");
        assert_eq!(remaining(25, Some(1_000_000), seconds(1)), "11 h left");
        assert_eq!(remaining(120, Some(100), seconds(10)), "0 s left");
        assert_eq!(remaining(3, None, seconds(2)), "2 s so far");
        assert_eq!(rate(0, seconds(3)), "");
        assert_eq!(rate(7, seconds(2)), "3.5/s");
        assert_eq!(rate(12_345_678, seconds(10)), "1,200,000/s");
    }
}
