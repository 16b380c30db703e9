//! Errors of recorded placements.

use std::io;

use crate::number::grouped;
use crate::swf;
use crate::workload::sidecar::OtherTrace;

/// Error: recorded placements cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedPlacementsError {
    /// A file cannot be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Error that the operating system reported.
        source: io::Error,
    },
    /// The trace is malformed.
    #[error(transparent)]
    Trace(#[from] swf::Error),
    /// The file of placements names another trace.
    #[error(transparent)]
    Other(#[from] OtherTrace),
    /// A line of the file is malformed.
    #[error("{file}:{line}: field {field}: {problem}")]
    Field {
        /// The file.
        file: String,
        /// Line, 1-based.
        line: u64,
        /// Name of the field: `job`, `nodes`, `node` or a coordinate.
        field: &'static str,
        /// Description of the problem.
        problem: String,
    },
    /// Nodes of the log are missing from the map of nodes.
    #[error("{file}: node \"{node}\" is missing, although the log places jobs on it{}", and_more(*.more))]
    Unmapped {
        /// The map of nodes.
        file: String,
        /// The first missing node.
        node: String,
        /// Number of further missing nodes.
        more: u64,
    },
    /// Both a plain and a compressed file of placements are beside the trace.
    #[error("{one} and {other} both exist: move one of them away")]
    Both {
        /// The plain file.
        one: String,
        /// The compressed file.
        other: String,
    },
    /// Two records have the same job number, and a placement refers to this number.
    #[error(
        "{trace}: lines {} and {} are both job {job}, so the nodes of this job number are ambiguous: \
         make the job numbers unique",
        lines[0], lines[1]
    )]
    Repeated {
        /// The trace.
        trace: String,
        /// The job number.
        job: i64,
        /// Lines of the two records, ascending.
        lines: [u32; 2],
    },
    /// The log records no placements.
    #[error(
        "{trace}: the log does not record where its jobs ran: {beside}, and field 19 of its records holds no lists \
         of nodes"
    )]
    Nowhere {
        /// The trace.
        trace: String,
        /// The reason why there are no placements beside the trace.
        beside: String,
    },
}

/// Formats the number of further nodes; empty if the number is 0.
fn and_more(more: u64) -> String {
    if more > 0 { format!("; and {} more", grouped(more)) } else { String::new() }
}
