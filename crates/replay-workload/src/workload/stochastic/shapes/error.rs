//! Errors of shapes files.

use std::io;

use thiserror::Error;

use super::SHAPES_HEADER;
use crate::lines::LONGEST_LINE;
use crate::number::counted;
use crate::sanitize::excerpt;
use crate::workload::sidecar::OtherTrace;

/// Error: a shapes file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file as the user named it.
        file: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The file names another trace.
    #[error(transparent)]
    Other(#[from] OtherTrace),
    /// A line is too long.
    #[error("{file}:{line}: the line has more than {LONGEST_LINE} bytes")]
    TooLong {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
    },
    /// The header is missing or wrong.
    #[error("{file}:{line}: the header is \"{text}\", but must be \"{SHAPES_HEADER}\"")]
    Header {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Text of the line.
        text: String,
    },
    /// A field is missing or is not a number in the permitted range.
    #[error("{file}:{line}: {field} \"{text}\" is not {expected} (field {number} of 4)")]
    Field {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Name of the field.
        field: &'static str,
        /// Number of the field, 1-based.
        number: usize,
        /// Text of the field.
        text: String,
        /// Description of the permitted values.
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
    #[error("{file}:{line}: job {job} already has a shape on line {first} (field 1 of 4)")]
    Twice {
        /// The file as the user named it.
        file: String,
        /// Line of the second shape, 1-based.
        line: u64,
        /// Job number.
        job: i64,
        /// Line of the first shape, 1-based.
        first: u64,
    },
    /// No job of the trace has a shape in the file.
    #[error("{file}: none of the trace's jobs has a shape in this file; the first job is {job}")]
    Missing {
        /// The file as the user named it.
        file: String,
        /// Number of the first job of the trace.
        job: i64,
    },
    /// Two records of the trace have the same job number, and a shape refers to this number.
    #[error(
        "{file}:{line}: lines {} and {} of the trace are both job {job}, so the shape of this job number is \
            ambiguous: make the job numbers unique",
        .records[0], .records[1]
    )]
    Repeated {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Job number.
        job: i64,
        /// Lines of the two records in the trace, ascending.
        records: [u32; 2],
    },
    /// The cleaning policy has renumbered the jobs.
    #[error(
        "{file}: policy {policy} renumbers jobs, but shapes are given by job number: use a policy that keeps the \
         numbers"
    )]
    Renumbered {
        /// The file as the user named it.
        file: String,
        /// Name of the policy.
        policy: String,
    },
    /// The product of the sides differs from the size of the job.
    #[error(
        "{file}:{line}: job {job} needs {size} processors in its trace, but its shape is {} x {} x {}",
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
        /// Number of processors that the job needs in its trace.
        size: u32,
    },
}

impl ShapeError {
    pub(super) fn header(file: &str, line: u64, text: &str) -> Self {
        Self::Header { file: file.to_string(), line, text: excerpt(text) }
    }

    /// Returns the error for a field with an invalid value. The index of the field counts from 0.
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
