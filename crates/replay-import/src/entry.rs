//! A job as every kind of log tells it, and the line it stands in.

use replay_core::lines::LONGEST_LINE;
use replay_core::workload::RecordedPlacements;
use replay_core::workload::nodes::{self, NodeListProblem};

/// One line of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Number, from 1.
    pub number: u64,
    /// Without its end.
    pub text: &'a str,
}

/// Status of a job, SWF field 11.
pub(super) mod status {
    /// It failed.
    pub const FAILED: i64 = 0;
    /// It came to its end.
    pub const COMPLETED: i64 = 1;
    /// A part of it ran, and another may follow.
    pub const PARTIAL: i64 = 2;
    /// Somebody ended it, perhaps before it ran.
    pub const CANCELLED: i64 = 5;
}

/// What is not known.
pub(super) const UNKNOWN: i64 = -1;

/// A job. Times are seconds; submission counts from 1970, or from wherever the log does.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Entry<'a> {
    /// What the log calls it, by which rows are joined, or a job that comes again is told; empty if it has
    /// no name.
    pub id: &'a str,
    /// Submission.
    pub submit: i64,
    /// Start less submission, or [`UNKNOWN`].
    pub wait: i64,
    /// End less start.
    pub run: i64,
    /// Processors or nodes, above 0.
    pub size: i64,
    /// What was asked for, if the log tells it apart.
    pub requested: i64,
    /// The user's estimate as the log has it; one that is not above 0 becomes unknown, and is counted.
    pub estimate: Option<i64>,
    /// See [`status`].
    pub status: i64,
    /// Names; empty if there are none.
    pub user: &'a str,
    /// As `user`.
    pub group: &'a str,
    /// As `user`.
    pub queue: &'a str,
    /// Its nodes, for the side file; empty if the log names none.
    pub nodes: &'a str,
    /// Sides, if it asked for a box.
    pub shape: Option<[u16; 3]>,
}

impl Entry<'_> {
    /// A job of which nothing is known.
    pub const NONE: Entry<'static> = Entry {
        id: "",
        submit: 0,
        wait: UNKNOWN,
        run: 0,
        size: 0,
        requested: UNKNOWN,
        estimate: None,
        status: UNKNOWN,
        user: "",
        group: "",
        queue: "",
        nodes: "",
        shape: None,
    };
}

/// Bytes of a line of the side file beside its list: a number, a comma, two quotes and the end.
const AROUND: usize = 32;

/// How many nodes a list names. One that the side file cannot tell of is left out, and the job kept: else the words of
/// the report.
pub(super) fn count_nodes(list: &str) -> Result<u64, &'static str> {
    match nodes::count(list) {
        Ok(count) if count <= RecordedPlacements::MOST && list.len() + AROUND <= LONGEST_LINE => {
            Ok(count)
        }
        Ok(_) => Err(noted::LONG_LIST),
        Err(bad) if matches!(bad.problem, NodeListProblem::TooMany(_)) => Err(noted::LONG_LIST),
        Err(_) => Err(noted::NO_LIST),
    }
}

/// What is told of jobs that are kept, by more than one kind of log.
pub(super) mod noted {
    pub const NEVER_STARTED: &str = "never started";
    pub const ESTIMATE: &str = "estimate of 0 or less, taken as unknown";
    pub const WAIT: &str = "wait unlike start less submission, the wait taken";
    pub const RUN: &str = "run time unlike end less start, the run time taken";
    pub const ELAPSED: &str = "time elapsed unlike end less start, those taken";
    pub const AGAIN: &str = "the same job again, kept";
    pub const AGAIN_IN_FILE: &str = "the same job as in an earlier file, but otherwise, kept";
    pub const NOT_COMPARED: &str = "more jobs than are compared for coming again";
    pub const ROW_NOT_COMPARED: &str = "more rows than are compared with those of later files";
    pub const TASKS: &str = "tasks of arrays that did not start";
    pub const NO_SHAPE: &str = "no shape";
    pub const NO_LIST: &str = "list of nodes that cannot be read, left out";
    pub const LONG_LIST: &str = "list of more nodes than a machine has, left out";
    pub const UNLIKE: &str = "list of nodes unlike their number";
}

/// NodeListProblem a job is left out, though its line is well formed. The words of the report.
pub(super) mod dropped {
    pub const UNFINISHED: &str = "not ended when the log was written";
    pub const NOT_STARTED: &str = "array of tasks that did not start";
    pub const SAME_ARRAY: &str = "array of tasks that did not start, as in an earlier file";
    pub const WAIT: &str = "started before it was submitted";
    pub const RUN: &str = "ended before it started";
    pub const NO_END: &str = "neither end nor run time";
    pub const NO_SIZE: &str = "no size";
    pub const SIZE: &str = "size not positive";
    pub const LARGE: &str = "size of more than 32 bits";
    pub const FRACTION: &str = "size with a fraction";
    pub const NO_RUN: &str = "no run time";
    pub const FAR: &str = "times too far from each other";
    pub const SAME_ROW: &str = "the same job as in an earlier file, the same in all";
}
