use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::progress::ticking;
use crate::cli::threads::Ticker;
use crate::experiment::search::Archive;
use crate::number::{fixed, grouped};

/// Progress of a search on standard error: evaluations, the best so far, time. Nothing is
/// drawn off a terminal or if the user wants quiet.
pub struct Progress {
    bar: ProgressBar,
    _ticker: Option<Ticker>,
}

impl Progress {
    /// Watches a search, of so many evaluations if that is known.
    pub fn new(quiet: bool, evaluations: Option<u64>) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(evaluations, target);
        let template = match evaluations {
            Some(_) => "{wide_bar} {human_pos}/{human_len} vectors, {msg}, {eta} left",
            None => "{spinner} {human_pos} vectors, {msg}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { _ticker: ticking(&bar), bar }
    }

    /// The archive has grown.
    pub fn show(&self, archive: &Archive) {
        self.bar.set_position(archive.evaluations().len() as u64);
        if let Some(best) = archive.best() {
            let improvement = fixed(best.improvement_percent, 3);
            self.bar.set_message(format!("best ({}) {improvement} %", best.candidate));
        }
    }

    /// The search has ended.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What a search did, in one line.
pub fn account(name: &str, archive: &Archive, decisions: u64, equal_ratios: u64) -> String {
    let spared = archive.spared(decisions);
    let mut line = format!(
        "{name}: {} evaluations, {} decisions",
        grouped(archive.evaluations().len() as u64),
        grouped(archive.decisions())
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
    part(spared.dropped, "dropped by halving");
    if !parts.is_empty() {
        line.push_str(&format!("; spared: {}", parts.join(", ")));
    }
    line
}
