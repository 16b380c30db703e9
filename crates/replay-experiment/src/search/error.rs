use std::io;

use crate::journal::JournalError;
use replay_core::cancel::Cancelled;
use replay_core::naming::NameError;
use replay_core::simulation::SimulationError;

/// A search that cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A trace could not be simulated.
    #[error("{part}: {cause}")]
    Simulation {
        /// The trace.
        part: String,
        /// Why.
        cause: SimulationError,
    },
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The strategy has no tie vector to search for.
    #[error(
        "allocator \"{0}\" breaks no ties by a vector, or has one of its own (of boxes, stream --backlog N --search looks for weights)"
    )]
    NoTie(String),
    /// The objective is 0 or not measured without tie-breaking.
    #[error("{part}: {objective} is {value} without tie-breaking: there is nothing to improve")]
    NothingToImprove {
        /// The trace.
        part: String,
        /// The objective.
        objective: String,
        /// Its value.
        value: f64,
    },
    /// A constraint on job sizes that no trace has.
    #[error("constraint \"{0}\": no trace has such a job size that an allocator can change")]
    NothingConstrained(String),
    /// A share of a trace that leaves nothing on one side.
    #[error(
        "{part}: {share} of it by time leaves {before} jobs before and {after} after; both need some"
    )]
    Split {
        /// The trace.
        part: String,
        /// The share.
        share: f64,
        /// Jobs before the cut.
        before: usize,
        /// Jobs after it.
        after: usize,
    },
    /// The command that asks for vectors could not be started.
    #[error("cannot start \"{command}\": {source}")]
    Command {
        /// The command.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// The command that asks for vectors said something that is no question, or failed.
    #[error("\"{command}\", line {line}: {problem}")]
    Protocol {
        /// The command.
        command: String,
        /// Line of its output, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
