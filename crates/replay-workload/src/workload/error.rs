//! Errors of loading and cleaning a trace.

use std::fmt;

use super::report::{Change, CleaningReport, DropReason};
use super::window::WindowError;
use crate::swf::{self, ErrorTally, Field};

/// A record that the cleaning policy does not admit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleaningError {
    /// Name of the file, if known.
    pub file: Option<String>,
    /// Line of the record, 1-based; 0 if the job is not from a file.
    pub line: u64,
    /// Job number (field 1).
    pub job: i64,
    /// The field that causes the error. If the job was found to be too large after loading, the field that is given is
    /// field 5, regardless of the field from which the size was taken.
    pub field: AnyField,
    /// Name of the policy.
    pub policy: String,
    /// The reason why the policy does not admit the record.
    pub problem: Problem,
}

/// A field of a record: one of the 18 fields of SWF, or a field after field 18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyField {
    /// One of the 18 fields of SWF.
    Named(Field),
    /// A field after field 18, by its number.
    Extra(usize),
}

impl From<Field> for AnyField {
    fn from(field: Field) -> AnyField {
        AnyField::Named(field)
    }
}

impl fmt::Display for AnyField {
    /// Formats the field: `allocated processors, field 5 of 18`, or `field 21`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyField::Named(field) => write!(f, "{field}, field {} of 18", field.number()),
            AnyField::Extra(number) => write!(f, "field {number}"),
        }
    }
}

/// The reason why a policy does not admit a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The record would be dropped, and the policy is strict.
    Drop(DropReason),
    /// The record would be changed, and the policy is strict.
    Change(Change),
    /// The record has more than 18 fields, and the policy is strict.
    TooManyFields,
    /// The number of processors does not fit in 32 bits.
    SizeOutOfRange {
        /// Processors of the job.
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
    /// Sets the name of the file in the error and returns the error.
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
                write!(f, "would be dropped ({reason}; {field}): policy {policy} forbids drops")
            }
            Problem::Change(change) => {
                write!(f, "would be changed ({change}; {field}): policy {policy} forbids changes")
            }
            Problem::TooManyFields => {
                write!(f, "has more than 18 fields: policy {policy} forbids extra fields")
            }
            Problem::SizeOutOfRange { size } => {
                write!(f, "has {size} processors, which do not fit in 32 bits ({field})")
            }
            // The field is omitted, because after loading it is unknown which field the size came from.
            Problem::LargerThanMachine { size, procs } => {
                write!(
                    f,
                    "needs {size} processors, but the machine has {procs}; drop or clamp such jobs to continue"
                )
            }
        }
    }
}

impl std::error::Error for CleaningError {}

/// Formats the malformed lines, starting with a line break; empty if there are no malformed lines.
fn skipped(tally: &ErrorTally) -> String {
    if tally.total() == 0 { String::new() } else { format!("\n{tally}") }
}

/// Error: a workload cannot be loaded.
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
        /// The reason why the window cannot be applied.
        error: WindowError,
    },
    /// The shapes file of the trace cannot be used.
    #[error(transparent)]
    Shapes(#[from] super::stochastic::ShapeError),
    /// The file contains no records.
    #[error("{file}: no job records in the file{}", skipped(.tally))]
    NoRecords {
        /// The file as the user named it.
        file: String,
        /// Malformed lines that were skipped (collecting mode).
        tally: Box<ErrorTally>,
    },
    /// Cleaning left no jobs.
    #[error("{file}: cleaning leaves no job: {report}\nhint: {hint}")]
    NoJobs {
        /// The file as the user named it.
        file: String,
        /// The report of cleaning, which counts drops and changes.
        report: Box<CleaningReport>,
        /// Policies that keep records.
        hint: String,
    },
}
