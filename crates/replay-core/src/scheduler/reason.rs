//! The reason for which a scheduler selected a job.

use crate::workload::JobId;

/// Reason for which a job was [selected](super::Selection).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The job is the head of the queue and fits.
    First {
        /// The guaranteed start; `None` if the job did not have to wait as the head of the queue.
        promised: Option<i64>,
    },
    /// The job overtakes the head of the queue, which does not fit now.
    Backfilled {
        /// The head of the queue.
        head: JobId,
        /// The time at which the head fits, assuming that running jobs end at their estimated ends.
        shadow: i64,
        /// Number of processors that remain free at the shadow time after the start of the head if this job does not
        /// run. `None` if a place is reserved or processors go out of service; processors are then not counted.
        extra: Option<u32>,
    },
    /// The job's reservation is due.
    Reserved {
        /// The reserved start.
        at: i64,
    },
    /// The job is the first job in queue order that fits.
    FirstThatFits,
}
