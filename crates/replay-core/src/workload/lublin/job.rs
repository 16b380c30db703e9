//! What the model produces: one job, as plain data.

use serde::Serialize;
use std::fmt;

/// The kind of a job, which decides the constants it is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Somebody waits for it: small and short.
    Interactive,
    /// Queued: larger and longer.
    Batch,
    /// Drawn with the constants of the whole sample.
    Untyped,
}

impl JobKind {
    /// The queue number (SWF field 15) by which the program tells the kinds apart: 0 interactive,
    /// 1 batch. Untyped jobs get -1, unknown; the program calls them interactive for want of better.
    #[must_use]
    pub const fn queue(self) -> i64 {
        match self {
            Self::Interactive => 0,
            Self::Batch => 1,
            Self::Untyped => -1,
        }
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interactive => "interactive",
            Self::Batch => "batch",
            Self::Untyped => "untyped",
        })
    }
}

/// A generated rigid job: it needs `size` processors for `run` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SyntheticJob {
    /// Submission, seconds since the midnight at which the workload starts; at least 0.
    pub submit: i64,
    /// Run time, seconds; at least 1.
    pub run: i64,
    /// The user's estimate of the run time, seconds; at least `run`.
    pub estimate: i64,
    /// Processors, from 1 to the size of the machine.
    pub size: u32,
    /// Interactive or batch.
    pub kind: JobKind,
}
