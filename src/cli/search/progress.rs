//! Progress bar and summary line of a search.

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::ProgressState;

use crate::cli::progress::{ProgressLine, steps, time_left};
use replay_engine::number::{counted, fixed, grouped};
use replay_experiment::search::Archive;
use replay_experiment::{Eta, Watch};

/// Progress of a search on standard error: evaluations, best vector so far, time.
pub struct Progress<'a> {
    line: ProgressLine,
    /// Receives the estimated durations.
    forecasts: &'a dyn Watch,
    /// Number of decisions of an evaluation.
    per: u64,
    /// Number of decisions since the last update from the archive.
    decisions: AtomicU64,
}

impl<'a> Progress<'a> {
    /// Creates the progress bar of a search in which each evaluation has `per` decisions. `evaluations` is the number
    /// of evaluations, if it is known.
    pub fn new(quiet: bool, evaluations: Option<u64>, per: u64, forecasts: &'a dyn Watch) -> Self {
        let text = |state: &ProgressState, best: &str| {
            format!("{} vectors, {}{best}", steps(state), time_left(state))
        };
        let line = ProgressLine::new(quiet, evaluations, text);
        Self { line, forecasts, per: per.max(1), decisions: AtomicU64::new(0) }
    }

    /// Updates the bar with the number of evaluations and the best vector of the archive.
    pub fn show(&self, archive: &Archive) {
        self.decisions.store(0, Ordering::Relaxed);
        self.line.set_position(archive.evaluations().len() as u64);
        if let Some(best) = archive.best() {
            let improvement = fixed(best.improvement_percent, 3);
            self.line.set_message(format!(", best ({}) {improvement} %", best.candidate));
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.line.finish();
    }
}

/// The jobs of an evaluation are its decisions.
impl Watch for Progress<'_> {
    fn jobs_done(&self, decisions: u64) {
        let before = self.decisions.fetch_add(decisions, Ordering::Relaxed);
        self.line.inc((before + decisions) / self.per - before / self.per);
    }

    fn forecast(&self, eta: Eta) {
        self.forecasts.forecast(eta);
    }
}

/// Returns a line with three numbers of a search: the evaluations, the decisions, and the vectors that the search
/// skipped.
pub fn summary_line(name: &str, archive: &Archive, decisions: u64, equal_ratios: u64) -> String {
    let spared = archive.skipped_work(decisions);
    let mut line = format!(
        "{name}: {}, {}",
        counted(archive.evaluations().len() as u64, "evaluation"),
        counted(archive.decisions(), "decision")
    );
    let mut parts = Vec::new();
    let mut part = |count: u64, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", grouped(count)));
        }
    };
    part(equal_ratios, "of equal ratio");
    part(spared.repeats, "repeated");
    part(spared.stopped, "stopped early");
    if !parts.is_empty() {
        line.push_str(&format!("; skipped: {}", parts.join(", ")));
    }
    line
}
