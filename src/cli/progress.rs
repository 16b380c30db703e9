//! How far a command has come, on standard error. Nothing is drawn off a terminal or if the user wants quiet.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::cost::length;
use super::exit::tell;
use super::threads::Ticker;
use replay_core::number::grouped;

/// A bar with so many steps, if that is known, and what keeps its time going. Beside the keys of the library a
/// template has `{rate}`, steps per second, and `{left}`, the time left: both of all that was done since it began.
pub fn bar(quiet: bool, steps: Option<u64>, template: &str) -> (ProgressBar, Option<Ticker>) {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(steps, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, to: &mut dyn Write| {
            // Nobody reads an error of what is drawn.
            let _ = to.write_str(&rate(state.pos(), state.elapsed()));
        };
        let left = |state: &ProgressState, to: &mut dyn Write| {
            let _ = to.write_str(&left(state.pos(), state.len(), state.elapsed()));
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

/// Steps per second with about two digits.
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

/// The time left, if the rest takes as long as what was done; as long as nothing was, nobody knows.
fn left(done: u64, all: Option<u64>, elapsed: Duration) -> String {
    match all {
        Some(all) if done > 0 => {
            let rest = all.saturating_sub(done) as f64 / done as f64;
            format!("{} left", length(elapsed.mul_f64(rest)))
        }
        _ => format!("{} so far", length(elapsed)),
    }
}

/// Progress of cells: those done, jobs per second, time left.
pub struct Progress {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
    cells: usize,
    done: AtomicUsize,
}

impl Progress {
    /// Progress of so many cells, counted in jobs.
    pub fn new(quiet: bool, cells: usize, jobs: u64) -> Self {
        let template = "{wide_bar} {msg} cells, {human_pos}/{human_len} jobs, {rate} {left}";
        let (bar, _ticker) = bar(quiet, Some(jobs), template);
        bar.set_message(format!("0/{cells}"));
        Self { _ticker, bar, cells, done: AtomicUsize::new(0) }
    }

    /// A cell is done, whose jobs have been counted.
    pub fn cell_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{done}/{}", self.cells));
    }

    /// So many jobs of a cell that goes on are done. Jobs that were cut off and start again are not counted beyond
    /// all that there are.
    pub fn jobs_done(&self, jobs: u64) {
        let room = self.bar.length().map_or(jobs, |all| all.saturating_sub(self.bar.position()));
        self.bar.inc(jobs.min(room));
    }

    /// A line above the bar.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| tell(line));
    }

    /// All cells are done.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress of points, of which nobody knows how many jobs they take: those done, and the jobs so far.
pub struct Points {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
    jobs: AtomicU64,
}

impl Points {
    /// Progress of so many points.
    pub fn new(quiet: bool, points: usize) -> Self {
        let template = "{spinner} {human_pos}/{human_len} points, {msg} jobs, {elapsed}";
        let (bar, _ticker) = bar(quiet, Some(points as u64), template);
        bar.set_message("0");
        Self { bar, _ticker, jobs: AtomicU64::new(0) }
    }

    /// A point is done.
    pub fn point_done(&self) {
        self.bar.inc(1);
    }

    /// So many jobs more have run.
    pub fn jobs_done(&self, jobs: u64) {
        let all = self.jobs.fetch_add(jobs, Ordering::Relaxed) + jobs;
        self.bar.set_message(grouped(all));
    }

    /// Does something that writes lines above the bar.
    pub fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// All points are done.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_by_what_was_done() {
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
