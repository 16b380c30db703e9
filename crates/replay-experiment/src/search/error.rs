use std::io;

use crate::journal::JournalError;
use replay_engine::cancel::Cancelled;
use replay_engine::naming::NameError;
use replay_engine::simulation::SimulationError;

/// Error that prevents or ends a search.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A trace could not be simulated.
    #[error("{part}: {cause}")]
    Simulation {
        /// Name of the trace.
        part: String,
        /// Cause of the failure.
        cause: SimulationError,
    },
    /// The strategy does not support the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The strategy has no tie vector, or its tie vector is already set.
    #[error(
        "allocator \"{0}\" has no tie vector, or its tie vector is already set (stream --backlog N --search searches for weights of boxes)"
    )]
    NoTie(String),
    /// Settings contradict each other or are out of range. The message names the options of `replay search`.
    #[error("{0}")]
    Settings(String),
    /// Without tie-breaking, the objective is 0 or was not measured.
    #[error("{part}: {objective} is {value} without tie-breaking: there is nothing to improve")]
    NothingToImprove {
        /// Name of the trace.
        part: String,
        /// The objective.
        objective: String,
        /// Value of the objective.
        value: f64,
    },
    /// A constraint does not apply to any job size of the traces.
    #[error(
        "constraint \"{0}\": no trace has a matching job size whose placement an allocator can change"
    )]
    NothingConstrained(String),
    /// A trace cannot be split, because there are no jobs before the split or no jobs after it.
    #[error(
        "{part}: a split at {share} of its time leaves {before} jobs before and {after} jobs after the split: both parts need jobs"
    )]
    Split {
        /// Name of the trace.
        part: String,
        /// Share of the trace's duration that lies before the split.
        share: f64,
        /// Number of jobs before the split.
        before: usize,
        /// Number of jobs after the split.
        after: usize,
    },
    /// The external search program could not be started.
    #[error("cannot start \"{command}\": {source}")]
    Command {
        /// The command.
        command: String,
        /// Error that the operating system reported.
        source: io::Error,
    },
    /// The external search program failed or printed an invalid line.
    #[error("\"{command}\", line {line}: {problem}")]
    Protocol {
        /// The command.
        command: String,
        /// Line number in the output of the program, from 1.
        line: u64,
        /// Description of the problem.
        problem: String,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The search was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
