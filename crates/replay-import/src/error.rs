//! What can go wrong in an import, each with its place.

use std::fmt;
use std::io;

use super::{Place, Report};
use replay_core::number::counted;
use replay_core::sanitize::excerpt;
use replay_core::swf;
use replay_core::swf::snippet::snippet;

/// Why a line is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It has fewer fields than the header, or than its kind of line needs.
    TooFewFields,
    /// It has more.
    TooManyFields,
    /// A quote that does not end in its line, or ends within a field.
    Quote,
    /// A field that must not be empty.
    Empty,
    /// No number.
    NotANumber,
    /// No point in time.
    NotATime,
    /// A time that its clock skipped.
    Skipped,
    /// No span of time.
    NotADuration,
    /// No list of nodes.
    NotANodeList,
    /// No number of a job.
    NotAJob,
    /// No shape, such as `4x4x8`.
    NotAShape,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reason::TooFewFields => "too few fields",
            Reason::TooManyFields => "too many fields",
            Reason::Quote => "a quote that does not end",
            Reason::Empty => "nothing where something is needed",
            Reason::NotANumber => "not a number",
            Reason::NotATime => "not a time",
            Reason::Skipped => "a time that the clocks of its zone skipped",
            Reason::NotADuration => "not a duration",
            Reason::NotANodeList => "not a list of nodes",
            Reason::NotAJob => "not a job's name",
            Reason::NotAShape => "not a shape",
        })
    }
}

/// What is wrong with a line, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub reason: Reason,
    /// The field, as the log calls it.
    pub field: String,
    /// First byte of the text in its line, from 0.
    pub at: usize,
    /// The text.
    pub text: String,
}

/// A malformed line: where it is, what is wrong, and the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LineFault {
    /// The log as the user named it.
    pub file: String,
    /// Whether it has lines or rows.
    pub unit: Place,
    /// Number of the line or row, from 1.
    pub line: u64,
    /// What is wrong.
    pub fault: Fault,
    /// The line.
    pub text: String,
}

impl Fault {
    /// Whether the line does not even have its fields.
    pub(super) fn is_of_form(&self) -> bool {
        matches!(self.reason, Reason::TooFewFields | Reason::TooManyFields | Reason::Quote)
    }
}

impl LineFault {
    /// Of a record that begins in line `line`, and may be of several: at the line that the fault is in.
    pub(super) fn new(file: &str, unit: Place, line: u64, text: &str, fault: Fault) -> LineFault {
        if unit == Place::Row {
            let (file, text) = (file.to_string(), text.to_string());
            return LineFault { file, unit, line, fault, text };
        }
        let before = text.get(..fault.at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = line + before.matches('\n').count() as u64;
        let text = text[start..].lines().next().unwrap_or_default().to_string();
        let fault = Fault { at: fault.at - start, ..fault };
        LineFault { file: file.to_string(), unit, line, fault, text }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineFault { file, line, fault: Fault { reason, field, at, text }, .. } = self;
        match self.unit {
            Place::Line => {
                writeln!(f, "{file}:{line}:{}: {field} \"{}\": {reason}", at + 1, excerpt(text))?;
                f.write_str(&snippet(*line, self.text.as_bytes(), *at, text.len()))
            }
            Place::Row => {
                write!(f, "{file}: row {line}, column {field} \"{}\": {reason}", excerpt(text))
            }
        }
    }
}

/// Why an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The log cannot be read, or its gzip data are cut short or damaged.
    #[error(transparent)]
    Unreadable(#[from] swf::Error),
    /// A line of more than [`LONGEST_LINE`](replay_core::lines::LONGEST_LINE) bytes.
    #[error(
        "{file}:{line}: a line of more than {} bytes: this is no log",
        replay_core::lines::LONGEST_LINE
    )]
    TooLong {
        /// The log.
        file: String,
        /// Number of the line.
        line: u64,
    },
    /// The header is not that of such a log.
    #[error("{file}:{line}: {what}")]
    Header {
        /// The log.
        file: String,
        /// Number of the line.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// The log is Parquet, and another kind is asked for.
    #[error("{file}: this is Parquet: replay import fdata, pm100, or parquet with --map MAP.toml")]
    Parquet {
        /// The log.
        file: String,
    },
    /// A file has the very text of an earlier one.
    #[error("{file}: its text is that of {other}: its jobs would all come twice")]
    SameText {
        /// The file.
        file: String,
        /// The earlier one.
        other: String,
    },
    /// The log is no Parquet that can be read, or lacks a column.
    #[error("{file}: {what}")]
    NoParquet {
        /// The log.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A malformed line, and none may be skipped.
    #[error(transparent)]
    Line(Box<LineFault>),
    /// More malformed lines than may be skipped.
    #[error("{file}: gave up after {}, {} allowed\n{report}\nfirst: {first}",
        counted(*.limit as u64 + 1, "malformed line"), .limit)]
    TooMany {
        /// The log.
        file: String,
        /// The limit.
        limit: usize,
        /// What was counted until then.
        report: Box<Report>,
        /// The first malformed line.
        first: Box<LineFault>,
    },
    /// No job is left.
    #[error("{file}: no job in the log\n{report}")]
    NoJobs {
        /// The log.
        file: String,
        /// What became of its lines.
        report: Box<Report>,
    },
    /// A column map is needed, or of no use.
    #[error("{0}")]
    Map(String),
    /// The trace cannot be written.
    #[error("cannot write: {0}")]
    Output(#[source] io::Error),
}
