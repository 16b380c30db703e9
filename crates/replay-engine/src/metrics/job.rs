//! Metrics of single jobs.

use super::Placement;
use super::allocations::END;
use super::schedule::bounded_slowdown;
use crate::table::{Column, names};
use crate::workload::JobLabels;

/// One job in one run. Times are in trace seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobMeasures {
    /// Job number in the trace.
    pub number: i64,
    /// Submission time.
    pub submit: i64,
    /// Arrival time. A job without a predecessor arrives at its submission; for a job with a predecessor, the end of
    /// the predecessor determines the arrival.
    pub arrival: i64,
    /// Start time; the end is the start plus the run time.
    pub start: i64,
    /// Time for which the job held its processors.
    pub run: i64,
    /// Run time on the requested processors without sharing; `run` is longer if the job is folded or shares processors.
    pub own_run: i64,
    /// The user's estimate of the run time, after cleaning.
    pub estimate: i64,
    /// User, group, queue and partition in the log.
    pub labels: JobLabels,
    /// Number of requested processors.
    pub size: u32,
    /// Number of processors of the request that was served; less than `size` if the job is folded.
    pub served_size: u32,
    /// Number of machine points on which processes of the job run.
    pub points: u32,
    /// Total number of processors of the points that the job held.
    pub held: u32,
    /// Metrics of the job's allocation; `None` if the job has no recorded placement.
    pub placement: Option<Placement>,
    /// Number of distinct processor sets with the best score; `None` if not counted.
    pub tied: Option<u32>,
}

impl JobMeasures {
    names! {
        BOUNDED_SLOWDOWN = "bounded_slowdown",
        END = "end",
        LEAVES = "leaves",
        RUN_TIME = "run_time",
        START = "start",
        TIED = "tied",
        TURNAROUND = "turnaround",
        WAIT = "wait",
    }

    /// Returns start minus arrival, in seconds.
    pub fn wait(&self) -> i64 {
        self.start - self.arrival
    }

    /// Returns completion minus arrival, in seconds (the response time of Lo et al.).
    pub fn turnaround(&self) -> i64 {
        self.wait() + self.run
    }

    /// Returns the bounded slowdown: turnaround divided by `own_run`, but at least 1. Run times below
    /// [`SLOWDOWN_BOUND`] are replaced by [`SLOWDOWN_BOUND`] (Feitelson et al. 1997).
    ///
    /// [`SLOWDOWN_BOUND`]: super::schedule::SLOWDOWN_BOUND
    pub fn bounded_slowdown(&self) -> f64 {
        bounded_slowdown(self.turnaround(), self.own_run)
    }

    /// Returns the columns.
    #[rustfmt::skip]
    pub fn columns() -> Vec<Column<Self>> {
        type C = Column<JobMeasures>;
        let [number, submit, estimate, user, group, queue, partition, size] = Submitted::columns(|job: &Self| Submitted {
            number: job.number,
            submit: Some(job.submit),
            estimate: Some(job.estimate),
            labels: job.labels,
            size: job.size,
        });
        let mut columns = vec![
            number,
            submit,
            C::new("arrival", "s", "arrival in trace time; the wait begins at the arrival; differs from the \
                submission only for jobs that follow others (--deps)", |job| job.arrival),
            C::new(JobMeasures::START, "s", "start, in trace time", |job| job.start),
            C::new(JobMeasures::RUN_TIME, "s", "time for which the job held its processors", |job| job.run),
            C::new(JobMeasures::END, "s", END, |job| job.start + job.run),
            estimate,
            user,
            group,
            queue,
            partition,
            size,
            C::new("served_size", "processors", "processors of the served request; fewer than size if the job was folded", |job| job.served_size),
            C::new(JobMeasures::WAIT, "s", "start minus arrival", |job| job.wait()),
            C::new(JobMeasures::TURNAROUND, "s", "completion minus arrival", |job| job.turnaround()),
            C::new(JobMeasures::BOUNDED_SLOWDOWN, "", "turnaround divided by the run time on the requested processors, with \
                run times below 10 s replaced by 10 s; at least 1", |job| job.bounded_slowdown()),
        ];
        columns.push(C::new("held_size", "processors", "processors that the job held, including processors lost \
            to internal fragmentation and processors of its points that the job did not request", |job| job.held));
        columns.extend(Placement::columns(|job: &Self| Some((job.placement.as_ref()?, job.points))));
        columns.push(C::new(JobMeasures::LEAVES, "leaves", "leaves (switches with nodes, or base blocks) on which the job has nodes; null, like upper_blocks and level, on machines other than trees and blocks", |job| Some(job.placement.as_ref()?.hierarchy?.leaves)));
        columns.push(C::new("upper_blocks", "blocks", "switches of level 1, or blocks of the second size, that \
            contain nodes of the job; a leaf that is not directly below a switch of level 1 counts as one; null if the \
            machine has neither", |job| job.placement.as_ref()?.hierarchy?.upper_blocks));
        columns.push(C::new("level", "", "level of the lowest switch above all nodes, 0 for a leaf, or the index \
            from 0 of the smallest block size whose block holds all nodes; null if no switch or block holds all \
            nodes", |job| job.placement.as_ref()?.hierarchy?.level));
        columns.push(C::new(JobMeasures::TIED, "sets", "number of distinct processor sets with the best score in the decision; null if not counted", |job| job.tied));
        columns
    }
}

/// The request of a job, which every table of jobs contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// Job number in the trace.
    pub number: i64,
    /// Submission time in trace seconds.
    pub submit: Option<i64>,
    /// The user's estimate of the run time in seconds, after cleaning.
    pub estimate: Option<i64>,
    /// User, group, queue and partition in the trace.
    pub labels: JobLabels,
    /// Number of requested processors.
    pub size: u32,
}

impl Submitted {
    names! {
        ESTIMATE = "estimate",
        GROUP = "group",
        JOB = "job",
        PARTITION = "partition",
        QUEUE = "queue",
        SIZE = "size",
        SUBMIT = "submit",
        USER = "user",
    }

    /// Returns the columns `job`, `submit`, `estimate`, `user`, `group`, `queue`, `partition` and `size` for rows that
    /// contain a request.
    #[rustfmt::skip]
    pub fn columns<Row>(
        of: impl Fn(&Row) -> Self + Copy + Send + Sync + 'static,
    ) -> [Column<Row>; 8] {
        [
            Column::new(Submitted::JOB, "", "job number in the trace", move |row| of(row).number),
            Column::new(Submitted::SUBMIT, "s", "submission, in trace time", move |row| of(row).submit),
            Column::new(Submitted::ESTIMATE, "s", "the user's estimate of the run time, after cleaning", move |row| of(row).estimate),
            Column::new(Submitted::USER, "", "number of the user in the trace (field 12); null if missing", move |row| of(row).labels.user),
            Column::new(Submitted::GROUP, "", "number of the group in the trace (field 13); null if missing", move |row| of(row).labels.group),
            Column::new(Submitted::QUEUE, "", "number of the queue in the trace (field 15); null if missing", move |row| of(row).labels.queue),
            Column::new(Submitted::PARTITION, "", "number of the partition in the trace (field 16); null if missing", move |row| of(row).labels.partition),
            Column::new(Submitted::SIZE, "processors", "processors that a job requests", move |row| of(row).size),
        ]
    }
}
