//! Progress bar and summary line of a search.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressState;

use crate::cli::exit::{eprint_line, eprint_warning};
use crate::cli::progress::{ProgressLine, steps, time_left};
use replay_engine::number::{counted, fixed, grouped};
use replay_experiment::journal::JournalError;
use replay_experiment::search::{
    Archive, Ended, Expected, Problem, SearchSpec, SearchWatch, Strategy,
};
use replay_experiment::{Eta, Watch};

/// Progress of a search on standard error: evaluations, best vector so far, time; and a line about each search.
pub struct Progress<'a> {
    quiet: bool,
    spec: &'a SearchSpec,
    /// Receives the estimated durations.
    forecasts: &'a dyn Watch,
    /// The line of the current phase.
    line: Mutex<Option<ProgressLine>>,
    /// Number of decisions of an evaluation.
    each: AtomicU64,
    /// Number of decisions since the last update from the archive.
    decisions: AtomicU64,
}

impl<'a> Progress<'a> {
    /// Creates the progress of a search.
    pub fn new(quiet: bool, spec: &'a SearchSpec, forecasts: &'a dyn Watch) -> Self {
        let (each, decisions) = (AtomicU64::new(1), AtomicU64::new(0));
        Self { quiet, spec, forecasts, line: Mutex::new(None), each, decisions }
    }

    fn on_line(&self, act: impl FnOnce(&ProgressLine)) {
        if let Some(line) = &*self.line.lock().unwrap_or_else(PoisonError::into_inner) {
            act(line);
        }
    }
}

/// The jobs of an evaluation are its decisions.
impl Watch for Progress<'_> {
    fn jobs_done(&self, decisions: u64) {
        let before = self.decisions.fetch_add(decisions, Ordering::Relaxed);
        let each = self.each.load(Ordering::Relaxed);
        self.on_line(|line| line.inc((before + decisions) / each - before / each));
    }

    fn forecast(&self, eta: Eta) {
        self.forecasts.forecast(eta);
    }
}

impl SearchWatch for Progress<'_> {
    fn begins(&self, problem: &Problem, expected: Option<Expected>) {
        if let Some(expected) = expected.filter(|_| !self.quiet) {
            eprint_line(format_args!("{}: {}", problem.name(), announcement(expected)));
        }
        let all = || problem_ratios(self.spec);
        if let (Strategy::Exhaustive, Some(most)) = (&self.spec.strategy, self.spec.evaluations)
            && most < all()
        {
            let (most, count) = (grouped(most), grouped(all()));
            eprint_line(format_args!(
                "--evaluations {most}: only this number of the {count} ratios is evaluated"
            ));
        }
    }

    fn phase_begins(&self, problem: &Problem, evaluations: Option<u64>) {
        let text = |state: &ProgressState, best: &str| {
            format!("{} vectors, {}{best}", steps(state), time_left(state))
        };
        self.each.store(problem.decisions().max(1), Ordering::Relaxed);
        self.decisions.store(0, Ordering::Relaxed);
        let line = ProgressLine::new(self.quiet, evaluations, text);
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }

    fn evaluated(&self, archive: &Archive) {
        self.decisions.store(0, Ordering::Relaxed);
        self.on_line(|line| {
            line.set_position(archive.evaluations().len() as u64);
            if let Some(best) = archive.best() {
                let improvement = fixed(best.improvement_percent, 3);
                line.set_message(format!(", best ({}) {improvement} %", best.candidate));
            }
        });
    }

    fn phase_ends(&self) {
        self.on_line(ProgressLine::finish);
    }

    fn ends(&self, problem: &Problem, ended: &Ended, archive: &Archive, equal_ratios: u64) {
        if self.quiet {
            return;
        }
        let name = problem.name();
        // A search ends regularly if the grid is exhausted or if the external program ends.
        let strategy = &self.spec.strategy;
        let is_complete = matches!(strategy, Strategy::Exhaustive | Strategy::External(_));
        let is_reported = match ended {
            Ended::Exhausted => !is_complete || self.spec.time.is_some(),
            Ended::Evaluations | Ended::Time | Ended::Interrupted => true,
            Ended::Failed => false,
        };
        if is_reported {
            eprint_line(format_args!("{name}: the search ended: {}", why(self.spec, *ended)));
        }
        eprint_line(summary_line(&name, archive, problem.decisions(), equal_ratios));
        if archive.best().is_some_and(|best| !best.is_feasible()) {
            eprint_warning(format_args!("{name}: no vector satisfies the constraints"));
        }
    }

    fn unwritten(&self, error: &JournalError) {
        if !self.quiet {
            eprint_line(format_args!("replay: {error}; the results are complete"));
        }
    }
}

/// Returns the number of ratios of the exhaustive grid.
fn problem_ratios(spec: &SearchSpec) -> u64 {
    spec.space().grid().len() as u64
}

/// Returns a text with the number of evaluations that follow at most.
fn announcement(Expected { starts, more }: Expected) -> String {
    let up_to = |count: u64| format!("up to {}", counted(count, "evaluation"));
    match (starts, more) {
        (None, more) => up_to(more.unwrap_or(0)),
        (Some(starts), None) => {
            let starts = counted(starts, "evaluation");
            format!("{starts} for --start, then evaluations until --time is up")
        }
        (Some(starts), Some(more)) => {
            let (total, starts, more) = (up_to(starts + more), grouped(starts), grouped(more));
            format!("{total}: {starts} for --start, {more} near the best vector")
        }
    }
}

/// Returns the reason why a search ended.
pub fn why(spec: &SearchSpec, ended: Ended) -> String {
    match ended {
        Ended::Exhausted => "the strategy has no more vectors".to_string(),
        Ended::Evaluations => {
            let before = if spec.time.is_some() { ", before --time is up" } else { "" };
            match spec.evaluations {
                Some(most) => format!("--evaluations {most} is reached{before}"),
                None => format!(
                    "the strategy's default of {} evaluations is reached{before} (--evaluations allows more)",
                    spec.strategy.usual_evaluations()
                ),
            }
        }
        Ended::Interrupted => "interrupted".to_string(),
        Ended::Time => "--time is up".to_string(),
        Ended::Failed => "an evaluation failed".to_string(),
    }
}

/// Returns a line with three numbers of a search: the evaluations, the decisions, and the vectors that the search
/// skipped.
fn summary_line(name: &str, archive: &Archive, decisions: u64, equal_ratios: u64) -> String {
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
