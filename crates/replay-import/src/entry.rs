//! A job as read from a log of any kind, and the line of a log.

use std::hash::{Hash, Hasher};

use replay_workload::lines::LONGEST_LINE;
use replay_workload::workload::RecordedPlacements;
use replay_workload::workload::nodes::{self, NodeListProblem};

/// One line of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Number of the line, 1-based.
    pub number: u64,
    /// Text of the line without the line break.
    pub text: &'a str,
}

/// The status of a job, SWF field 11.
pub(super) mod status {
    /// The job failed.
    pub const FAILED: i64 = 0;
    /// The job completed.
    pub const COMPLETED: i64 = 1;
    /// A part of the job ran, and a further part may follow.
    pub const PARTIAL: i64 = 2;
    /// The job was cancelled, perhaps before it ran.
    pub const CANCELLED: i64 = 5;
}

/// Marks an unknown value.
pub(super) const UNKNOWN: i64 = -1;

/// Longest estimate, run time and wait, in seconds: ten years. A longer time is a mark for an unlimited or unknown time,
/// such as 4294967295 minutes.
pub(super) const LONGEST_LIMIT: i64 = 10 * 366 * 86_400;

/// The state of a job as a word of the log; empty if the log has no such word. The word does not distinguish jobs, because
/// the status does.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<'a>(pub &'a str);

impl Hash for State<'_> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A job. Times are in seconds; submit times are counted from 1970, or from the origin of the log.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Entry<'a> {
    /// Id of the job in the log; empty if the job has no id. The id determines which rows are merged and which jobs are
    /// repeated.
    pub id: &'a str,
    /// Submit time.
    pub submit: i64,
    /// Start minus submit time, or [`UNKNOWN`].
    pub wait: i64,
    /// Run time: end minus start.
    pub run: i64,
    /// Number of processors or nodes, above 0.
    pub size: i64,
    /// Requested number of processors or nodes, if the log contains this number in addition to the allocated number.
    pub requested: i64,
    /// The user's estimate of the run time, as in the log. An estimate of 0 or less is counted and treated as unknown.
    pub estimate: Option<i64>,
    /// Status, see [`status`].
    pub status: i64,
    /// The state as a word.
    pub state: State<'a>,
    /// Name of the user; empty if unknown.
    pub user: &'a str,
    /// Name of the group; empty if unknown.
    pub group: &'a str,
    /// Name of the queue; empty if unknown.
    pub queue: &'a str,
    /// List of the job's nodes, for the nodes file; empty if unknown.
    pub nodes: &'a str,
    /// Requested side lengths, if the job requested a box.
    pub shape: Option<[u16; 3]>,
}

impl Entry<'_> {
    /// A job without any known value.
    pub const NONE: Entry<'static> = Entry {
        id: "",
        submit: 0,
        wait: UNKNOWN,
        run: 0,
        size: 0,
        requested: UNKNOWN,
        estimate: None,
        status: UNKNOWN,
        state: State(""),
        user: "",
        group: "",
        queue: "",
        nodes: "",
        shape: None,
    };
}

/// Upper bound of the number of bytes in a line of the nodes file besides the list: a number, a comma, two quotes and
/// the line break.
const AROUND: usize = 32;

/// Counts the nodes in a list. If the list is invalid or too long for the nodes file, returns a note for the report
/// instead; the job is then kept without its list.
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

/// Declares texts of the report, each with what the user can do about it, in the imperative. A text without an advice
/// needs no action.
macro_rules! reasons {
    ($(#[$about:meta])* $module:ident, $advice:ident {
        $(pub const $name:ident: &str = $text:literal $(, $todo:literal)?;)*
    }) => {
        $(#[$about])*
        pub(super) mod $module {
            $(pub const $name: &str = $text;)*

            /// All texts of this module.
            #[cfg(test)]
            pub const ALL: &[&str] = &[$($name),*];
        }

        /// Returns what the user can do; the empty text if no action is needed or the text is not in this list.
        fn $advice(what: &str) -> &'static str {
            match what {
                $($module::$name => concat!($($todo)?),)*
                _ => "",
            }
        }
    };
}

/// Returns what the user can do about the lines that the report counts under `what`; the empty text if no action is
/// needed.
pub(super) fn advice(what: &str) -> &'static str {
    match advice_on_dropped(what) {
        "" => advice_on_noted(what),
        advice => advice,
    }
}

reasons! {
/// Notes about jobs that are kept. Several kinds of log use the same notes.
noted, advice_on_noted {
    pub const NEVER_STARTED: &str = "never started";
    pub const ESTIMATE: &str = "estimate of 0 or less, treated as unknown";
    pub const LONG_ESTIMATE: &str = "estimate of more than 10 years, treated as unknown",
        "check the unit of time limits; in a map, none lists texts for an unlimited time";
    pub const REQUESTED: &str = "no allocated size; the requested size is used";
    pub const OTHER_LENGTH: &str =
        "record with another number of fields than the format; missing fields are unknown";
    pub const WAIT: &str = "wait differs from start minus submission; the recorded wait is used";
    pub const RUN: &str = "run time differs from end minus start; the recorded run time is used";
    pub const ELAPSED: &str = "elapsed time differs from end minus start; end minus start is used";
    pub const AGAIN: &str = "repeated job id, kept";
    pub const AGAIN_IN_FILE: &str =
        "job id that occurs with other values in an earlier file; the job is kept";
    pub const NOT_COMPARED: &str =
        "job id that is not checked for repetition, because the limit is reached";
    pub const ROW_NOT_COMPARED: &str =
        "row that is not compared with later files, because the limit is reached";
    pub const RUN_AGAIN: &str =
        "further record of a run (same id and start), which replaces the earlier record";
    pub const RUN_ELSEWHERE: &str =
        "further record of a run on other nodes; the nodes of the first record are kept";
    pub const RUN_NOT_COMPARED: &str =
        "run that is not compared with later records, because the limit is reached";
    pub const SHIFTED: &str = "elapsed time differs from end minus start by whole or half hours",
        "if the times are local times, set the zone, such as zone=Europe/Prague (sacct[zone=Europe/Prague])";
    pub const BAD_ELAPSED: &str = "elapsed time that is negative or INVALID, ignored";
    pub const BAD_LIMIT: &str = "time limit that is negative or INVALID, treated as unknown";
    pub const UNLIMITED: &str = "unlimited time limit, treated as unknown";
    pub const PARTITION_LIMIT: &str = "time limit of the partition, treated as unknown",
        "export the limits of these jobs in seconds or minutes, if they are known";
    pub const NO_LIMITS: &str = "no time limits: backfilling will know all run times",
        "export the time limits if the log can have them (sacct: the column TimelimitRaw)";
    pub const NO_LIMIT: &str = "no time limit: backfilling will know the run time";
    pub const SHARED: &str = "job with fewer processors than its nodes have",
        "if jobs share nodes, use sacct[size=cores]: sizes in nodes count a shared node several times";
    pub const TASKS_CUT: &str = "list of tasks truncated by Slurm", "export the log with SLURM_BITSTR_LEN=0";
    pub const TASKS: &str = "tasks of arrays that did not start";
    pub const NO_SHAPE: &str = "no shape";
    pub const NO_LIST: &str = "unreadable node list, omitted",
        "write lists such as n[1-4,7]; without its list, a job has no recorded placement";
    pub const LONG_LIST: &str = "list of nodes longer than any machine allows, omitted";
    pub const UNLIKE: &str = "length of the node list differs from the number of nodes";
}
}

reasons! {
/// Reasons for dropping a job although its line is well formed. The report prints these texts.
dropped, advice_on_dropped {
    pub const UNFINISHED: &str = "not ended when the log was written",
        "export the log again after these jobs have ended (sacct: running=yes keeps running jobs)";
    pub const NOT_STARTED: &str = "array of tasks that did not start",
        "export the log again after these tasks have started; until then they use no processors";
    pub const SAME_ARRAY: &str = "array of tasks that did not start, repeated from an earlier file",
        "no action is needed: the earlier file has this array";
    pub const WAIT: &str = "started before it was submitted",
        "check the times in this line; if they are local times, set the zone (replay list sources)";
    pub const RUN: &str = "ended before it started",
        "check the times in this line; if they are local times, set the zone (replay list sources)";
    pub const NO_END: &str = "neither end nor run time",
        "export a column with the end or the elapsed time";
    pub const NO_SIZE: &str = "no size",
        "export a column with the number of nodes or processors";
    pub const IDLE: &str = "never started, and no requested size",
        "export a column with the requested size (requested in a map) to keep these jobs";
    pub const ZERO: &str = "a time of 0 stands for a missing time",
        "add none = [\"0\"], or the number that stands for a missing time, to the column in the map";
    pub const SIZE: &str = "size not positive",
        "check the size in this line; a job without processors cannot be replayed";
    pub const LARGE: &str = "size of more than 32 bits",
        "check the size in this line";
    pub const FRACTION: &str = "size with a fraction",
        "set round-up=yes to round these sizes up";
    pub const NO_RUN: &str = "no run time",
        "assign run, or start and end, in the map";
    pub const LONG: &str = "run time or wait of more than 10 years",
        "check the unit of the times in this line; in a map, none lists numbers for a missing time";
    pub const FAR: &str = "times too far apart",
        "check the times in this line and their unit";
    pub const SAME_ROW: &str = "identical job in an earlier file",
        "no action is needed: the job is kept once";
    pub const OTHER_PARTITION: &str = "partition not selected",
        "no action is needed, unless --partition lacks a partition";
    pub const OTHER_USER: &str = "user not selected",
        "no action is needed, unless --user lacks a user";
    pub const OTHER_STATE: &str = "state not selected",
        "no action is needed, unless --state lacks a state";
    pub const OTHER_TIME: &str = "submitted at a time that is not selected",
        "no action is needed, unless --from or --until is wrong";
}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job is dropped only for a reason with an advice. The texts differ, because the advice is found by the text.
    #[test]
    fn every_reason_for_dropping_a_job_has_an_advice() {
        assert!(dropped::ALL.iter().all(|what| !advice(what).is_empty()));
        let mut all = [dropped::ALL, noted::ALL].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
