//! Errors of an import.

use std::fmt;
use std::io;

use super::{Place, Report};
use replay_workload::naming::texts;
use replay_workload::number::counted;
use replay_workload::sanitize::excerpt;
use replay_workload::swf;
use replay_workload::swf::snippet::snippet;

texts! {
    /// The reason why a line is malformed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reason {
        /// The line has fewer fields than the header, or fewer than its type of line requires.
        TooFewFields => "too few fields",
        /// The line has more fields than the header.
        TooManyFields => "too many fields",
        /// The line has more fields than the header, and the fields can be assigned to the columns in several ways.
        Ambiguous => "too many fields, which can be assigned to the columns in several ways",
        /// An opening quote has no closing quote in its line, or the closing quote is not at the end of the field.
        Quote => "unclosed quote",
        /// A field that must not be empty is empty.
        Empty => "a value is missing",
        /// A field is not a number.
        NotANumber => "not a number",
        /// A field is not a point in time.
        NotATime => "not a time",
        /// A local time does not exist in its time zone, because clocks are set forward past it when summer time begins.
        Skipped => "a time that does not exist in its zone (skipped by a clock change)",
        /// A field is not a duration.
        NotADuration => "not a duration",
        /// A field is not a list of nodes.
        NotANodeList => "not a list of nodes",
        /// The first field is not the type of an event, such as `JOB_FINISH`.
        NotAnEvent => "not the type of an event",
        /// A field is not the id of a job.
        NotAJob => "not a job id",
        /// A field is not a shape, such as `4x4x8`.
        NotAShape => "not a shape",
    }
}

impl Reason {
    /// Returns what the user can do about lines that are malformed for this reason, in the imperative.
    pub fn advice(self) -> &'static str {
        match self {
            Reason::TooFewFields => {
                "check whether the line is cut, or a field contains a line break"
            }
            Reason::TooManyFields => {
                "export the log with a separator that no field contains (sacct -P --delimiter=^)"
            }
            Reason::Ambiguous => {
                "export the log with a separator that no field contains (sacct -P --delimiter=^), or without free text"
            }
            Reason::Quote => {
                "close the quote at the end of its field; double a quote within a field"
            }
            Reason::Empty => "export the log with this value, which every job needs",
            Reason::NotANumber => {
                "write plain digits, without a unit or a separator of thousands (sacct: --noconvert)"
            }
            Reason::NotATime => {
                "write YYYY-MM-DDTHH:MM:SS or Unix seconds (SLURM_TIME_FORMAT=standard); for a table, set time in the map"
            }
            Reason::Skipped => "set the zone of the log (replay list sources)",
            Reason::NotADuration => "write [D-]HH:MM:SS, or a number in the unit of the column",
            Reason::NotANodeList => "write a list of nodes, such as n[1-4,7]",
            Reason::NotAnEvent => "check whether this file is lsb.acct of LSF",
            Reason::NotAJob => "check the job id in this line",
            Reason::NotAShape => "write a shape such as 4x4x8",
        }
    }
}

/// The fault of a line, and its position in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of error.
    pub reason: Reason,
    /// Name of the field in the log.
    pub field: String,
    /// Offset of the faulty text in its line, in bytes from 0.
    pub at: usize,
    /// The invalid text.
    pub text: String,
}

/// A malformed line: its file and number, its text and its fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LineFault {
    /// The log as the user named it.
    pub file: String,
    /// Whether the log has lines, rows or records.
    pub unit: Place,
    /// Number of the line or row, 1-based.
    pub line: u64,
    /// Description of the problem.
    pub fault: Fault,
    /// Text of the line.
    pub text: String,
}

impl Fault {
    /// Returns whether the line cannot be split into its fields.
    pub(super) fn is_of_form(&self) -> bool {
        matches!(self.reason, Reason::TooFewFields | Reason::TooManyFields | Reason::Quote)
    }
}

impl LineFault {
    /// Creates the error of a record that begins on line `line`. The error names the line that contains the fault,
    /// which may be a later line of the record.
    pub(super) fn new(file: &str, unit: Place, line: u64, text: &str, fault: Fault) -> LineFault {
        if unit != Place::Line {
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
            Place::Record => {
                write!(f, "{file}: record {line}, field {field} \"{}\": {reason}", excerpt(text))
            }
        }
    }
}

/// An import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The log cannot be read, or its gzip data are truncated or damaged.
    #[error(transparent)]
    Unreadable(#[from] swf::Error),
    /// A line has more than [`LONGEST_LINE`](replay_workload::lines::LONGEST_LINE) bytes.
    #[error(
        "{file}:{line}: the line has more than {} bytes: this is not a log",
        replay_workload::lines::LONGEST_LINE
    )]
    TooLong {
        /// The log.
        file: String,
        /// Number of the line.
        line: u64,
    },
    /// The header does not belong to this kind of log.
    #[error("{file}:{line}: {what}")]
    Header {
        /// The log.
        file: String,
        /// Number of the line.
        line: u64,
        /// Description of the problem.
        what: String,
    },
    /// The log is a Parquet file, but this kind of log is a text format.
    #[error(
        "{file}: this is Parquet: use replay import fdata, pm100, or parquet with --map MAP.toml"
    )]
    Parquet {
        /// The log.
        file: String,
    },
    /// A file is identical to an earlier file.
    #[error("{file}: the file is identical to {other}: all its jobs would occur twice")]
    SameText {
        /// The file.
        file: String,
        /// The earlier file.
        other: String,
    },
    /// The log is not a readable Parquet file, or lacks a column.
    #[error("{file}: {what}")]
    NoParquet {
        /// The log.
        file: String,
        /// Description of the problem.
        what: String,
    },
    /// A line is malformed, and no malformed line may be skipped.
    #[error("{}\nhint: {}; --max-errors N skips up to N malformed lines", .0, .0.fault.reason.advice())]
    Line(Box<LineFault>),
    /// The number of malformed lines exceeds the number that may be skipped.
    #[error("{file}: reading stopped after {} (at most {} allowed)\n{report}\nfirst: {first}",
        counted(*.limit as u64 + 1, "malformed line"), .limit)]
    TooMany {
        /// The log.
        file: String,
        /// The limit.
        limit: usize,
        /// Report of the lines that were read before the import stopped.
        report: Box<Report>,
        /// The first malformed line.
        first: Box<LineFault>,
    },
    /// The log has no job that can be replayed.
    #[error("{file}: no job in the log\n{report}")]
    NoJobs {
        /// The log.
        file: String,
        /// Report of all lines of the log.
        report: Box<Report>,
    },
    /// A column map is missing, invalid or not applicable.
    #[error("{0}")]
    Map(String),
    /// The selection of jobs, or the given header, is not applicable.
    #[error("{0}")]
    Usage(String),
    /// The log is not JSON, or its JSON is damaged.
    #[error("{file}: {what}")]
    Json {
        /// The log.
        file: String,
        /// Description of the problem.
        what: String,
    },
    /// The trace cannot be written.
    #[error("cannot write: {0}")]
    Output(#[source] io::Error),
}
