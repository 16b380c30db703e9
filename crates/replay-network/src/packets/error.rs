//! What can be wrong with a packet list.

use super::super::{PacketError, Stalled};
use super::COLUMNS;
use replay_core::lines::LONGEST_LINE;

/// A text that is no packet list: where and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct PacketListError {
    /// The file as the user named it.
    pub file: String,
    /// Line number, 1-based.
    pub line: u64,
    /// What was wrong.
    pub problem: Problem,
}

impl PacketListError {
    /// Whether the file could not be read at all, whatever is in it.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.problem, Problem::Unreadable(_))
    }
}

/// Why a line is no packet.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The first line is not the header.
    #[error("the first line is \"{0}\"; it must be \"{columns}\"", columns = COLUMNS.join(","))]
    Header(String),
    /// A line has too many or too few fields.
    #[error("the line has {0} fields; a packet has 5: {columns}", columns = COLUMNS.join(","))]
    FieldCount(usize),
    /// A field is no number, or out of range.
    #[error(
        "{name} \"{text}\" is not an integer of {least} to {most} (field {number} of 5)",
        name = COLUMNS.get(*.field).unwrap_or(&"field"), number = field + 1
    )]
    Field {
        /// Which field, 0-based.
        field: usize,
        /// What stands there.
        text: String,
        /// The least that may stand there.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Two packets have one name.
    #[error("id {id} stands in line {first} already (field 1 of 5)")]
    Duplicate {
        /// The name.
        id: u64,
        /// Line of the first packet of that name, 1-based.
        first: u64,
    },
    /// A line without end.
    #[error("the line has more than {LONGEST_LINE} bytes")]
    TooLong,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Why a replay stopped.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// A packet that the network does not take.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A deadlock.
    #[error(transparent)]
    Stalled(#[from] Stalled),
}
