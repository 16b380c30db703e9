//! A job record with uninterpreted values.

/// One line of a trace: the eighteen fields of SWF 2.2, with `-1` for unknown values.
///
/// Times are `f64` because the format allows fractions (the archive writes `489.00`). All times that the reader returns
/// are below 2^53 in magnitude, so whole seconds are exact. Values are not interpreted: the cleaning policy defines the
/// treatment of negative run times and missing sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Field 1. Job number: usually 1, 2, 3, ..., possibly with gaps.
    pub job_number: i64,
    /// Field 2. Submit time in seconds since the start of the log (`UnixStartTime`).
    pub submit_time: f64,
    /// Field 3. Wait time in the queue, in seconds.
    pub wait_time: f64,
    /// Field 4. Run time (wall clock) in seconds.
    pub run_time: f64,
    /// Field 5. Number of allocated processors.
    pub allocated_processors: i64,
    /// Field 6. CPU time used, in seconds, as a mean over the processors.
    pub average_cpu_time: f64,
    /// Field 7. Memory used, in kilobytes, as a mean over the processors.
    pub used_memory: i64,
    /// Field 8. Number of requested processors.
    pub requested_processors: i64,
    /// Field 9. Requested time in seconds, which is the user's estimate of the run time.
    pub requested_time: f64,
    /// Field 10. Requested memory in kilobytes per processor.
    pub requested_memory: i64,
    /// Field 11. Status of the job. The value 0 means that the job failed, and 1 means that the job completed. The
    /// values 2 and 3 mark partial executions; 4 means that the last partial execution failed, and 5 means that the job
    /// was cancelled.
    pub status: i64,
    /// Field 12. Number of the user, from 1.
    pub user: i64,
    /// Field 13. Number of the group, from 1.
    pub group: i64,
    /// Field 14. Number of the executable (application), from 1.
    pub executable: i64,
    /// Field 15. Number of the queue; by convention, 0 is the queue of interactive jobs.
    pub queue: i64,
    /// Field 16. Number of the partition, from 1.
    pub partition: i64,
    /// Field 17. Number of the preceding job, which must end before this job is submitted. If the field has several
    /// numbers (`1&2&3`), this is the first;
    /// [`Reader::other_preceding_jobs`](super::Reader::other_preceding_jobs) returns the others.
    pub preceding_job: i64,
    /// Field 18. Seconds from the end of the preceding job to the submission of this job.
    pub think_time: f64,
}

impl Record {
    /// A record without known values: every field is `-1`.
    pub const UNKNOWN: Record = Record {
        job_number: -1,
        submit_time: -1.0,
        wait_time: -1.0,
        run_time: -1.0,
        allocated_processors: -1,
        average_cpu_time: -1.0,
        used_memory: -1,
        requested_processors: -1,
        requested_time: -1.0,
        requested_memory: -1,
        status: -1,
        user: -1,
        group: -1,
        executable: -1,
        queue: -1,
        partition: -1,
        preceding_job: -1,
        think_time: -1.0,
    };

    /// Creates the record of a generated job with status 1 (completed); the size is both allocated and requested.
    pub(crate) fn generated(
        job_number: i64,
        submit: i64,
        run: i64,
        size: u32,
        estimate: i64,
    ) -> Record {
        Record {
            job_number,
            submit_time: submit as f64,
            run_time: run as f64,
            allocated_processors: i64::from(size),
            requested_processors: i64::from(size),
            requested_time: estimate as f64,
            status: 1,
            ..Record::UNKNOWN
        }
    }
}

impl Default for Record {
    /// Returns [`Record::UNKNOWN`].
    fn default() -> Record {
        Record::UNKNOWN
    }
}
