//! Why a scheduler named a job.

use crate::workload::JobId;

/// Why a job was [selected](super::Selection).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It is the first of the queue, and fits.
    First {
        /// The instant at which it was to start at the latest, if it had to wait as the first.
        promised: Option<i64>,
    },
    /// It overtakes the first of the queue, which does not fit now.
    Backfilled {
        /// The first of the queue.
        head: JobId,
        /// When that will fit, running jobs ending at their estimates.
        shadow: i64,
        /// Processors that it leaves free then, before this job takes of them; `None` if they were not
        /// counted by number: where a place is promised, or processors go out of service.
        extra: Option<u32>,
    },
    /// Its reservation is due.
    Reserved {
        /// When it was to start.
        at: i64,
    },
    /// It is the first in the order of the queue that fits.
    FirstThatFits,
}
