//! Why a trace gives no workload.

use std::fmt;

use super::report::{Change, CleaningReport, DropReason};
use super::window::WindowError;
use crate::swf::{self, ErrorTally, Field};

/// A record that the cleaning policy does not admit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleaningError {
    /// The file, if known.
    pub file: Option<String>,
    /// Line of the record, 1-based; 0 for a job that stands in no file.
    pub line: u64,
    /// Job number (field 1).
    pub job: i64,
    /// The field concerned; for a job found too large after loading, field 5 stands for the size.
    pub field: AnyField,
    /// Name of the policy.
    pub policy: String,
    /// What is wrong.
    pub problem: Problem,
}

/// A field of a record: one of the eighteen, or one after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyField {
    /// One of the eighteen.
    Named(Field),
    /// One after them, by its number.
    Extra(usize),
}

impl From<Field> for AnyField {
    fn from(field: Field) -> AnyField {
        AnyField::Named(field)
    }
}

impl fmt::Display for AnyField {
    /// `allocated processors, field 5 of 18`, or `field 21`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyField::Named(field) => write!(f, "{field}, field {} of 18", field.number()),
            AnyField::Extra(number) => write!(f, "field {number}"),
        }
    }
}

/// What a policy objects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The record would be dropped, and the policy is strict.
    Drop(DropReason),
    /// The record would be changed, and the policy is strict.
    Change(Change),
    /// There are fields after the eighteenth, and the policy is strict.
    TooManyFields,
    /// The number of processors does not fit 32 bits.
    SizeOutOfRange {
        /// Processors.
        size: i64,
    },
    /// The job is larger than the machine.
    LargerThanMachine {
        /// Processors of the job.
        size: u32,
        /// Processors of the machine.
        procs: u32,
    },
}

impl CleaningError {
    /// The same error, with the file's name.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> CleaningError {
        self.file = Some(file.to_owned());
        self
    }
}

impl fmt::Display for CleaningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}: job {} ", self.line, self.job)?,
            None => write!(f, "line {}: job {} ", self.line, self.job)?,
        }
        let (policy, field) = (&self.policy, self.field);
        match self.problem {
            Problem::Drop(reason) => {
                write!(f, "would be dropped ({reason}; {field}): policy {policy} forbids it")
            }
            Problem::Change(change) => {
                write!(f, "would be changed ({change}; {field}): policy {policy} forbids it")
            }
            Problem::TooManyFields => {
                write!(f, "has more than 18 fields: policy {policy} forbids it")
            }
            Problem::SizeOutOfRange { size } => {
                write!(f, "has {size} processors, more than 32 bits hold ({field})")
            }
            // The field is left out: after loading nobody knows which of the two it was.
            Problem::LargerThanMachine { size, procs } => {
                write!(
                    f,
                    "needs {size} processors, the machine has {procs}; drop or clamp such jobs to go on"
                )
            }
        }
    }
}

impl std::error::Error for CleaningError {}

/// The bad lines on lines of their own, nothing if there are none.
fn skipped(tally: &ErrorTally) -> String {
    if tally.total() == 0 { String::new() } else { format!("\n{tally}") }
}

/// Why loading a workload failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] swf::Error),
    /// The policy does not admit a record.
    #[error(transparent)]
    Clean(#[from] CleaningError),
    /// The window cannot be applied.
    #[error("{file}: {error}")]
    Window {
        /// The file as the user named it.
        file: String,
        /// What is wrong.
        error: WindowError,
    },
    /// The side file with the shapes of the jobs cannot be used.
    #[error(transparent)]
    Shapes(#[from] super::stochastic::ShapeError),
    /// There is no record in the file.
    #[error("{file}: no job records in the file{}", skipped(.tally))]
    NoRecords {
        /// The file as the user named it.
        file: String,
        /// Lines that were no records and were skipped (collecting mode).
        tally: Box<ErrorTally>,
    },
    /// Cleaning left no job.
    #[error("{file}: cleaning leaves no job: {report}")]
    NoJobs {
        /// The file as the user named it.
        file: String,
        /// What cleaning did.
        report: Box<CleaningReport>,
    },
}
