//! What can be wrong with a matrix or a phase file, each with its place.

use std::io;

use super::{Line, PHASE_FIELDS};
use replay_core::lines::LONGEST_LINE;
use replay_core::number::{counted, grouped};
use replay_core::sanitize::excerpt;

/// A file that says of no packets who sends them to whom.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file as the user named it.
        file: String,
        /// The system's complaint.
        source: io::Error,
    },
    /// A line without end.
    #[error("{file}:{line}: the line has more than {LONGEST_LINE} bytes")]
    TooLong {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
    },
    /// The first line of a phase file is another one.
    #[error("{file}:{line}: the header is \"{text}\", but must be \"{}\"", PHASE_FIELDS.join(","))]
    Header {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// What stands there.
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
        /// How many it has.
        fields: usize,
        /// How many it must have: four, or as many as the first line of a matrix.
        expected: usize,
    },
    /// A field is no number in range.
    #[error("{file}:{line}: {field} \"{text}\" is not {expected} (field {number} of {of})")]
    Field {
        /// The file as the user named it.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Name of the field.
        field: &'static str,
        /// Its number, 1-based.
        number: usize,
        /// Fields of a line.
        of: usize,
        /// What stands there.
        text: String,
        /// What a correct file has there.
        expected: &'static str,
    },
    /// A matrix has not as many lines as fields.
    #[error("{file}: the matrix has {} of {}, but must be square",
        counted(*.rows as u64, "line"), counted(*.columns as u64, "field"))]
    NotSquare {
        /// The file as the user named it.
        file: String,
        /// Lines.
        rows: usize,
        /// Fields of a line.
        columns: usize,
    },
    /// No rank sends anything to another.
    #[error("{file}: no rank sends anything to another")]
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

    /// An error in the field with this index.
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
