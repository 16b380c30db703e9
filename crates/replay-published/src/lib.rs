//! Published numbers, and whether ours agree.
//!
//! A [`Suite`] knows the numbers of one work, what has to be run for them, and the rule
//! for each tolerance. [`Check`] is one number beside ours. The numbers stand in CSV
//! files next to the code, as printed.
//!
//! # How to add one
//!
//! 1. A number of a work that is here: a line of its CSV file. Of a stream it names a
//!    [`Metric`](replay_experiment::stream::Metric) and a point, and nothing else is needed.
//! 2. A claim in words: a call of `claim` in the suite's file, with a bound and our value.
//! 3. A work: its file with a [`Suite`] and its CSV file, and a line in [`SUITES`].
//!
//! What cannot be judged is [shown with the reason](Check::not_judged). What is judged and known to be
//! beyond its tolerance is [declared](Check::known) with our number and the reason: it is an error when a
//! row is beyond its tolerance undeclared, comes within it although declared, or moves.
//! [`Audit`] says which verdicts could not fail.

mod audit;
pub mod bani_mohammad;
pub mod bani_mohammad_messages;
mod basis;
pub mod bounds;
pub mod chang_mohapatra;
mod check;
mod claim;
mod exchange;
pub mod johnson;
pub mod lo;
pub mod lo_messages;
pub mod lublin;
pub mod scheduling;
mod streams;
mod tolerance;
pub mod tsafrir;
pub mod turner;
mod worked;

pub use audit::{Audit, AuditBaseline, unnoticed, without_verdict};
pub use basis::{Bound, Class, Sample};
pub use check::{Cause, Check, Known, Measured, NotRun, StrategySwap, UndeclaredChange, Verdict};
pub use tolerance::Tolerance;

use replay_core::cancel::CancelToken;
use replay_core::workload::{SearchPath, Shake};

/// What to verify, and where the traces are.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Where traces are looked for.
    pub traces: SearchPath,
    /// Only published traces whose name matches one of these, ignoring case and
    /// punctuation; all if empty.
    pub only: Vec<String>,
    /// Replicate until every interval is as narrow as the papers', instead of a few times.
    pub full: bool,
    /// Shaken copies of real traces by which rows are judged that one log cannot decide.
    pub shake: Option<Shake>,
    /// Once raised, what is running fails.
    pub stop: CancelToken,
}

impl Selection {
    /// Whether a published trace is asked for.
    pub fn includes(&self, trace: &str) -> bool {
        let plain = |text: &str| -> String {
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        // SDSC-Par95 means SDSC-Par-1995.
        let names = [plain(trace), plain(&trace.replace("-19", ""))];
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|name| names.iter().any(|trace| trace.starts_with(&plain(name))))
    }
}

/// The numbers of one work.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Name as typed.
    pub name: &'static str,
    /// What it reproduces.
    pub about: &'static str,
    /// What the full form does beyond the quick one; none: there is only one form.
    pub full: Option<&'static str>,
    /// Runs what is needed and compares; progress lines go to the callback.
    pub verify: Verify,
}

impl Suite {
    /// Runs the suite and names it in each check; progress lines go to the callback.
    pub fn checks(
        &self,
        selection: &Selection,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Check>, VerifyError> {
        let checks = (self.verify)(selection, progress)?;
        Ok(checks.into_iter().map(|check| Check { suite: self.name, ..check }).collect())
    }
}

/// Runs a suite; progress lines go to the callback.
pub type Verify = fn(&Selection, &mut dyn FnMut(&str)) -> Result<Vec<Check>, VerifyError>;

/// Every suite.
pub const SUITES: [Suite; 11] = [
    johnson::SUITE,
    lo::SUITE,
    lo_messages::SUITE,
    bani_mohammad::SUITE,
    bani_mohammad_messages::SUITE,
    turner::SUITE,
    chang_mohapatra::SUITE,
    bounds::SUITE,
    scheduling::SUITE,
    tsafrir::SUITE,
    lublin::SUITE,
];

/// A suite that cannot be run at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A trace is there but cannot be used.
    #[error(transparent)]
    Load(#[from] replay_core::workload::LoadError),
    /// A published row that cannot be read: a defect of the program.
    #[error("published numbers: {0}")]
    Table(String),
    /// A run failed.
    #[error(transparent)]
    Cell(#[from] replay_experiment::CellError),
    /// A stream failed.
    #[error(transparent)]
    Stream(#[from] replay_experiment::stream::PointError),
    /// It was stopped before it had all its numbers.
    #[error(transparent)]
    Cancelled(#[from] replay_core::cancel::Cancelled),
    /// Two jobs on shared hosts failed.
    #[error(transparent)]
    Pair(#[from] replay_core::simulation::SimulationError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_name_their_suite() {
        let selection = Selection {
            traces: SearchPath::new([]),
            only: vec![],
            full: false,
            shake: None,
            stop: CancelToken::new(),
        };
        let checks = scheduling::SUITE.checks(&selection, &mut |_| ()).expect("golden schedules");
        assert!(!checks.is_empty());
        assert!(checks.iter().all(|check| check.suite == "scheduling"));
    }

    #[test]
    fn traces_are_selected_by_any_of_their_names() {
        let select = |name: &str| Selection {
            traces: SearchPath::new([]),
            only: vec![name.to_string()],
            full: false,
            shake: None,
            stop: CancelToken::new(),
        };
        assert!(select("KTH-SP2").includes("KTH-SP2-1996-2"));
        assert!(select("sdsc-par95").includes("SDSC-Par-1995-2.1-cln"));
        assert!(select("SDSC-Par-1995").includes("SDSC-Par-1995-2.1-cln"));
        assert!(!select("SDSC-Par96").includes("SDSC-Par-1995-2.1-cln"));
        assert!(Selection { only: vec![], ..select("") }.includes("anything"));
    }
}
