//! Errors of packet lists.

use super::super::{PacketError, Stalled};
use super::COLUMNS;
use replay_engine::lines::LONGEST_LINE;

/// Error: a text is not a packet list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct PacketListError {
    /// The file as the user named it.
    pub file: String,
    /// Line number, 1-based.
    pub line: u64,
    /// The problem.
    pub problem: Problem,
}

impl PacketListError {
    /// Returns whether the file could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.problem, Problem::Unreadable(_))
    }
}

/// The reason why a text is not a packet list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The first line is not the header.
    #[error("the header is \"{0}\", but must be \"{columns}\"", columns = COLUMNS.join(","))]
    Header(String),
    /// A line has too many or too few fields.
    #[error("the line has {0} fields, but must have 5: {columns}", columns = COLUMNS.join(","))]
    FieldCount(usize),
    /// A field is not a number, or the number is out of range.
    #[error(
        "{name} \"{text}\" is not an integer of {least} to {most} (field {number} of 5)",
        name = COLUMNS.get(*.field).unwrap_or(&"field"), number = field + 1
    )]
    Field {
        /// Index of the field, from 0.
        field: usize,
        /// Text of the field.
        text: String,
        /// Least permitted value.
        least: u64,
        /// Largest permitted value.
        most: u64,
    },
    /// Two packets have the same id.
    #[error("id {id} already occurs in line {first} (field 1 of 5)")]
    Duplicate {
        /// The id.
        id: u64,
        /// Line of the first packet with this id, 1-based.
        first: u64,
    },
    /// A line is too long.
    #[error("the line has more than {LONGEST_LINE} bytes")]
    TooLong,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Error: a replay of a packet list failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The network rejected a packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The network deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
}
