//! Errors of matrices and phase files.

use std::io;

use super::{Line, PHASE_FIELDS};
use replay_engine::lines::LONGEST_LINE;
use replay_engine::number::{counted, grouped};
use replay_engine::sanitize::excerpt;

/// Error: a matrix or phase file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file as the user named it.
        file: String,
        /// Error that the operating system reported.
        source: io::Error,
    },
    /// A line is too long.
    #[error("{file}:{line}: the line has more than {LONGEST_LINE} bytes")]
    TooLong {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
    },
    /// The header of a phase file is missing or wrong.
    #[error("{file}:{line}: the header is \"{text}\", but must be \"{}\"", PHASE_FIELDS.join(","))]
    Header {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Text of the line.
        text: String,
    },
    /// A line has too many or too few fields.
    #[error("{file}:{line}: the line has {}, but must have {}", counted(*.fields as u64, "field"),
        grouped(*.expected as u64))]
    Fields {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Number of fields of the line.
        fields: usize,
        /// Required number of fields: four in a phase file, and the number of fields of the first
        /// line in a matrix.
        expected: usize,
    },
    /// A field is not a number, or the number is out of range.
    #[error("{file}:{line}: {field} \"{text}\" is not {expected} (field {number} of {of})")]
    Field {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Name of the field.
        field: &'static str,
        /// Number of the field, 1-based.
        number: usize,
        /// Number of fields of the line.
        of: usize,
        /// Text of the field.
        text: String,
        /// Description of the permitted values.
        expected: &'static str,
    },
    /// A matrix is not square.
    #[error("{file}: the matrix has {} of {}, but must be square",
        counted(*.rows as u64, "line"), counted(*.columns as u64, "field"))]
    NotSquare {
        /// The file as the user named it.
        file: String,
        /// Number of lines.
        rows: usize,
        /// Number of fields of a line.
        columns: usize,
    },
    /// No rank sends packets to another rank.
    #[error("{file}: no rank sends packets to another rank")]
    Nothing {
        /// The file as the user named it.
        file: String,
    },
}

impl Line<'_> {
    pub(super) fn header(self) -> TableError {
        TableError::Header {
            file: self.file.to_string(),
            line: self.number,
            text: excerpt(self.text),
        }
    }

    pub(super) fn fields(self, fields: usize, expected: usize) -> TableError {
        TableError::Fields { file: self.file.to_string(), line: self.number, fields, expected }
    }

    /// Returns the error for a field with an invalid value. The index of the field counts from 0.
    pub(super) fn field(
        self,
        field: &'static str,
        index: usize,
        of: usize,
        text: &str,
        expected: &'static str,
    ) -> TableError {
        let (file, number, text) = (self.file.to_string(), index + 1, excerpt(text));
        TableError::Field { file, line: self.number, field, number, of, text, expected }
    }
}
