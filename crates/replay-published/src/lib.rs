//! Comparison of numbers that are printed in papers with the results of replay.
//!
//! A [`Suite`] contains the numbers of one publication, the runs that these numbers need, and the tolerances. A
//! [`Check`] is one printed number and the measured value. The printed numbers are in CSV files next to the code.
//!
//! # How to add numbers
//!
//! 1. To add a number of a publication that has a suite, add a line to the CSV file. For a job stream, the line needs
//!    only a [`Metric`](replay_experiment::stream::Metric) and a point.
//! 2. To add a claim in words, add a call of `claim` with a bound and the measured value to the file of the suite.
//! 3. To add a publication, add a file with a [`Suite`], a CSV file, and an entry in [`SUITES`].
//!
//! A row that cannot be judged is [shown with the reason](Check::not_judged). A judged row that is known to be beyond
//! its tolerance is [declared](Check::known), with the measured value and the reason. It is an error if a row without a
//! declaration is beyond its tolerance. It is also an error if a row with a declaration is within its tolerance, or if
//! the value of such a row differs from the declared value. An [`Audit`] counts the verdicts that would be the same
//! with another strategy.

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

use replay_engine::cancel::CancelToken;
use replay_engine::workload::{SearchPath, Shake};

/// The rows to verify, and the search path of traces.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Directories that are searched for traces.
    pub traces: SearchPath,
    /// Names of traces, meshes or side distributions to verify. The names are matched as prefixes; case and punctuation
    /// are ignored. If the list is empty, everything is verified.
    pub only: Vec<String>,
    /// Whether to run the full form of each suite, see [`Suite::full`].
    pub full: bool,
    /// Perturbed copies of real traces. Some rows can be judged only with perturbed copies.
    pub shake: Option<Shake>,
    /// Token that cancels the verification.
    pub stop: CancelToken,
}

impl Selection {
    /// Returns whether a published trace, mesh or side distribution is selected.
    pub fn includes(&self, trace: &str) -> bool {
        let plain = |text: &str| -> String {
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        // SDSC-Par95 is a short name of SDSC-Par-1995.
        let names = [plain(trace), plain(&trace.replace("-19", ""))];
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|name| names.iter().any(|trace| trace.starts_with(&plain(name))))
    }
}

/// The numbers of one publication.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Name on the command line.
    pub name: &'static str,
    /// Description of the numbers.
    pub about: &'static str,
    /// Description of the full form (`--full`); `None` if the suite has only one form.
    pub full: Option<&'static str>,
    /// Runs the suite.
    pub verify: Verify,
}

impl Suite {
    /// Runs the suite. Runs the suite and returns its checks, each with the name of the suite. The callback receives
    /// progress lines.
    ///
    /// # Errors
    /// Returns the error of the first trace, table or run that fails, or [`VerifyError::Cancelled`] if the suite was
    /// cancelled.
    pub fn checks(
        &self,
        selection: &Selection,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Check>, VerifyError> {
        let checks = (self.verify)(selection, progress)?;
        Ok(checks.into_iter().map(|check| Check { suite: self.name, ..check }).collect())
    }
}

/// A function that runs a suite. The callback receives progress lines.
pub type Verify = fn(&Selection, &mut dyn FnMut(&str)) -> Result<Vec<Check>, VerifyError>;

/// All suites.
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

/// The failure of a whole suite.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A trace cannot be loaded.
    #[error(transparent)]
    Load(#[from] replay_engine::workload::LoadError),
    /// A published row is unreadable. An unreadable row is a defect of the program.
    #[error("published numbers: {0}")]
    Table(String),
    /// A run failed.
    #[error(transparent)]
    Cell(#[from] replay_experiment::CellError),
    /// A run of a job stream failed.
    #[error(transparent)]
    Stream(#[from] replay_experiment::stream::PointError),
    /// The suite was cancelled before all its numbers were computed.
    #[error(transparent)]
    Cancelled(#[from] replay_engine::cancel::Cancelled),
    /// A simulation of two jobs on shared hosts failed.
    #[error(transparent)]
    Pair(#[from] replay_engine::simulation::SimulationError),
}

/// The names are part of the program.
impl From<replay_engine::naming::NameError> for VerifyError {
    fn from(error: replay_engine::naming::NameError) -> Self {
        defect(error)
    }
}

/// Converts the failure of a run whose input is part of the program. The failure is a defect of the program.
fn defect(error: impl std::fmt::Display) -> VerifyError {
    VerifyError::Table(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn select(only: &[&str]) -> Selection {
        Selection {
            traces: SearchPath::new([]),
            only: only.iter().map(|name| name.to_string()).collect(),
            full: false,
            shake: None,
            stop: CancelToken::new(),
        }
    }

    #[test]
    fn checks_name_their_suite() {
        let checks = scheduling::SUITE.checks(&select(&[]), &mut |_| ()).expect("golden schedules");
        assert!(!checks.is_empty());
        assert!(checks.iter().all(|check| check.suite == "scheduling"));
    }

    #[test]
    fn traces_are_selected_by_any_of_their_names() {
        assert!(select(&["KTH-SP2"]).includes("KTH-SP2-1996-2"));
        assert!(select(&["sdsc-par95"]).includes("SDSC-Par-1995-2.1-cln"));
        assert!(select(&["SDSC-Par-1995"]).includes("SDSC-Par-1995-2.1-cln"));
        assert!(!select(&["SDSC-Par96"]).includes("SDSC-Par-1995-2.1-cln"));
        assert!(select(&[]).includes("anything"));
    }
}
