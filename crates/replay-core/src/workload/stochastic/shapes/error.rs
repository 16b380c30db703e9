//! What can be wrong with a side file, each with its place.

use std::io;

use thiserror::Error;

use super::SHAPES_HEADER;
use crate::lines::LONGEST_LINE;
use crate::number::counted;
use crate::sanitize::excerpt;
use crate::workload::sidecar::OtherTrace;

/// Why a side file gives no shapes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file as the user named it.
        file: String,
        /// The system's complaint.
        source: io::Error,
    },
    /// The file belongs to another trace.
    #[error(transparent)]
    Other(#[from] OtherTrace),
    /// A line without end.
    #[error("{file}:{line}: the line has more than {LONGEST_LINE} bytes")]
    TooLong {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
    },
    /// The first line is another one.
    #[error("{file}:{line}: the header is \"{text}\", but must be \"{SHAPES_HEADER}\"")]
    Header {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// What stands there.
        text: String,
    },
    /// A field is missing or no number in range.
    #[error("{file}:{line}: {field} \"{text}\" is not {expected} (field {number} of 4)")]
    Field {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Name of the field.
        field: &'static str,
        /// Its number, 1-based.
        number: usize,
        /// What stands there.
        text: String,
        /// What a correct file has there.
        expected: &'static str,
    },
    /// There are more than four fields.
    #[error("{file}:{line}: the line has {}, but must have 4", counted(*.fields as u64, "field"))]
    Extra {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Number of fields.
        fields: usize,
    },
    /// A job has two shapes.
    #[error("{file}:{line}: job {job} has its shape on line {first} already (field 1 of 4)")]
    Twice {
        /// The file as the user named it.
        file: String,
        /// Line of the second, 1-based.
        line: u64,
        /// Job number.
        job: i64,
        /// Line of the first.
        first: u64,
    },
    /// No job has a shape.
    #[error("{file}: no job of the trace has a shape there, such as job {job}")]
    Missing {
        /// The file as the user named it.
        file: String,
        /// Job number.
        job: i64,
    },
    /// Two records have the number of a job with a shape.
    #[error(
        "{file}:{line}: lines {} and {} of the trace are both job {job}, and shapes are told by job number: nobody \
         knows which of them has this one",
        .records[0], .records[1]
    )]
    Repeated {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Job number.
        job: i64,
        /// Lines of the trace, ascending.
        records: [u32; 2],
    },
    /// The cleaning policy has given the jobs other numbers.
    #[error(
        "{file}: policy {policy} numbers jobs anew, and shapes are told by job number: it goes with policies that \
         keep these"
    )]
    Renumbered {
        /// The file as the user named it.
        file: String,
        /// Name of the policy.
        policy: String,
    },
    /// The sides do not multiply to the job's size.
    #[error(
        "{file}:{line}: job {job} needs {size} processors in its trace, its shape is {} x {} x {}",
        .shape[0], .shape[1], .shape[2]
    )]
    Size {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Job number.
        job: i64,
        /// Sides, in processors.
        shape: [u16; 3],
        /// Processors of the job in its trace.
        size: u32,
    },
}

impl ShapeError {
    pub(super) fn header(file: &str, line: u64, text: &str) -> Self {
        Self::Header { file: file.to_string(), line, text: excerpt(text) }
    }

    /// An error in the field with this index.
    pub(super) fn field(file: &str, line: u64, index: usize, text: &str) -> Self {
        Self::Field {
            file: file.to_string(),
            line,
            field: SHAPES_HEADER.split(',').nth(index).unwrap_or("field"),
            number: index + 1,
            text: excerpt(text),
            expected: if index == 0 { "a job number" } else { "a side from 1 to 65535" },
        }
    }
}
