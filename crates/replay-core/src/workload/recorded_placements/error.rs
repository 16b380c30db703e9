//! Placements that cannot be read.

use std::io;

use crate::number::grouped;
use crate::swf;
use crate::workload::sidecar::OtherTrace;

/// Placements that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordedPlacementsError {
    /// The input's own complaint.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The trace is malformed.
    #[error(transparent)]
    Trace(#[from] swf::Error),
    /// The file belongs to another trace.
    #[error(transparent)]
    Other(#[from] OtherTrace),
    /// A line of the file is no job with nodes.
    #[error("{file}:{line}: field {field}: {problem}")]
    Field {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// `job` or `nodes`.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A node has no place in the file that says where nodes stand.
    #[error("{file}: there is no node \"{node}\", where the log says that jobs ran{}", and_more(*.more))]
    Unmapped {
        /// The file.
        file: String,
        /// The first such node.
        node: String,
        /// Other such nodes.
        more: u64,
    },
    /// Two files beside the trace may be meant.
    #[error("{one} and {other} are both there, and nobody knows which is meant: move one away")]
    Both {
        /// The plain file.
        one: String,
        /// The packed one.
        other: String,
    },
    /// Two jobs have the number by which placements are told.
    #[error(
        "{trace}: lines {} and {} are both job {job}, and nodes are told by job number: nobody knows which of \
         them ran there",
        lines[0], lines[1]
    )]
    Repeated {
        /// The trace.
        trace: String,
        /// The number.
        job: i64,
        /// The lines, ascending.
        lines: [u32; 2],
    },
    /// Neither source tells of any node.
    #[error(
        "{trace}: nothing tells where its jobs ran: {beside}, and field 19 of its records holds \
         no lists of nodes"
    )]
    Nowhere {
        /// The trace.
        trace: String,
        /// Why nothing beside it does.
        beside: String,
    },
}

/// Nothing of none.
fn and_more(more: u64) -> String {
    if more > 0 { format!("; and {} more", grouped(more)) } else { String::new() }
}
