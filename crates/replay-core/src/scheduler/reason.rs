//! Reasons for which a scheduler selected a job.

use crate::workload::JobId;

/// Reason for which a job was [selected](super::Selection).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The job is the head of the queue and fits.
    First {
        /// The guaranteed start, if the job had to wait as the head.
        promised: Option<i64>,
    },
    /// The job overtakes the head of the queue, which does not fit now.
    Backfilled {
        /// The head of the queue.
        head: JobId,
        /// The time at which the head fits if running jobs end at their estimates.
        shadow: i64,
        /// Processors that the head leaves free at that time, before this job takes any of them; `None` if they are not
        /// counted, because a place is reserved or processors go out of service.
        extra: Option<u32>,
    },
    /// The job's reservation is due.
    Reserved {
        /// The reserved start.
        at: i64,
    },
    /// The job is the first one in queue order that fits.
    FirstThatFits,
}
