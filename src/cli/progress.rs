use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit::tell;
use super::threads::Ticker;

/// Progress on standard error: cells done, jobs per second, time left. Nothing is drawn
/// off a terminal or if the user wants quiet.
pub struct Progress {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
    cells: usize,
    done: AtomicUsize,
}

impl Progress {
    /// Progress of so many cells, counted in jobs.
    pub fn new(quiet: bool, cells: usize, jobs: u64) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(jobs), target);
        let template =
            "{wide_bar} {msg} cells, {human_pos}/{human_len} jobs, {per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(format!("0/{cells}"));
        Self { _ticker: ticking(&bar), bar, cells, done: AtomicUsize::new(0) }
    }

    /// A cell of so many jobs is done.
    pub fn advance(&self, jobs: u64) {
        self.cell_done();
        self.jobs_done(jobs);
    }

    /// A cell is done, whose jobs have been counted.
    pub fn cell_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{done}/{}", self.cells));
    }

    /// So many jobs of a cell that goes on are done.
    pub fn jobs_done(&self, jobs: u64) {
        self.bar.inc(jobs);
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

/// Keeps the time on a bar going, if anybody sees it.
pub fn ticking(bar: &ProgressBar) -> Option<Ticker> {
    if bar.is_hidden() {
        return None;
    }
    let bar = bar.clone();
    Some(Ticker::new(move || {
        if !bar.is_finished() {
            bar.tick();
        }
    }))
}
