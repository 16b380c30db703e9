//! Jobs of the Lublin-Feitelson model.

use crate::naming::texts;
use serde::Serialize;

texts! {
    /// The kind of a job. The kind selects the constants with which the job is drawn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum JobKind {
        /// A small and short job. The user waits for the result.
        Interactive => "interactive",
        /// A queued job, which is larger and longer than an interactive job.
        Batch => "batch",
        /// A job drawn with the constants of the whole sample.
        Untyped => "untyped",
    }
}

impl JobKind {
    /// Returns the queue number (SWF field 15) by which the program `lublin99.c` distinguishes the kinds: 0
    /// interactive, 1 batch. Untyped jobs have -1 (unknown); the program gives untyped jobs the queue of interactive
    /// jobs.
    #[must_use]
    pub const fn queue(self) -> i64 {
        match self {
            Self::Interactive => 0,
            Self::Batch => 1,
            Self::Untyped => -1,
        }
    }
}

/// A generated rigid job, which needs `size` processors for `run` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SyntheticJob {
    /// Submit time in seconds since the midnight at which the workload starts; at least 0.
    pub submit: i64,
    /// Run time in seconds; at least 1.
    pub run: i64,
    /// The user's estimate of the run time, in seconds; at least `run`.
    pub estimate: i64,
    /// Number of processors, from 1 to the size of the machine.
    pub size: u32,
    /// Kind of the job.
    pub kind: JobKind,
}
