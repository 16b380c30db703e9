//! Jobs of Slurm's accounting: the rules that the text and the JSON of `sacct` share.

use super::entry::{Entry, State, UNKNOWN, count_nodes, dropped, noted, status};
use super::pending_arrays::{self, Pending, Taken};
use super::source::{Source, Unit};
use super::value::{digits, slurm_duration};
use super::zone::{Moment, in_order};
use super::{Fault, ReadStop, Sink};

/// Texts for unknown values.
pub(super) const NOTHING: [&str; 4] = ["", "Unknown", "None", "N/A"];

/// Smallest elapsed time that is a negative number written as an unsigned number of 32 bits.
const WRAPPED: i64 = 1 << 31;

/// Smallest of the numbers of 32 bits with a special meaning: a value that is not set, or an infinite value.
const SPECIAL: i64 = 0xffff_fffc;

/// A duration in seconds, or the reason why it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// The log does not have the duration.
    Unknown,
    /// The duration is negative; Slurm prints `INVALID`, and older versions print a sign.
    Invalid,
    /// There is no limit.
    Unlimited,
    /// The limit is the limit of the partition.
    OfPartition,
    /// Seconds.
    Seconds(i64),
}

impl Span {
    /// Parses a duration that `unit` converts to seconds; `None` if the text is not a duration.
    pub fn read(text: &str, unit: impl FnOnce(&str) -> Option<i64>) -> Option<Span> {
        Some(match text {
            "UNLIMITED" | "INFINITE" => Span::Unlimited,
            "Partition_Limit" => Span::OfPartition,
            "NOT_SET" => Span::Unknown,
            "INVALID" => Span::Invalid,
            _ if NOTHING.contains(&text) => Span::Unknown,
            _ => match text.strip_prefix('-') {
                Some(rest) => {
                    digits(rest).or_else(|| slurm_duration(rest))?;
                    Span::Invalid
                }
                None => Span::Seconds(unit(text)?),
            },
        })
    }

    /// Returns the elapsed time of a job in seconds. A negative time that is written as an unsigned number is invalid.
    pub fn elapsed(self) -> Span {
        match self {
            Span::Seconds(seconds) if seconds >= WRAPPED => Span::Invalid,
            other => other,
        }
    }
}

/// Reads a number of nodes or processors: 0 if the number is one of Slurm's special values; `None` if the text is not a
/// number.
pub(super) fn count(text: &str) -> Option<i64> {
    let number = if NOTHING.contains(&text) { 0 } else { digits(text)? };
    Some(if (SPECIAL..=i64::from(u32::MAX)).contains(&number) { 0 } else { number })
}

/// Returns the first word of a state: `CANCELLED` for `CANCELLED by 2017`, and for `CANCELLED+`, which Slurm writes in
/// narrow columns.
pub(super) fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default().trim_end_matches('+')
}

/// Classifies a state of Slurm by its first word. Returns the status, whether the job has ended, and whether
/// the word is known.
pub(super) fn state(word: &str) -> (i64, bool, bool) {
    match word {
        "COMPLETED" => (status::COMPLETED, true, true),
        "FAILED" | "NODE_FAIL" | "BOOT_FAIL" | "OUT_OF_MEMORY" | "DEADLINE" | "TIMEOUT"
        | "LAUNCH_FAILED" | "RECONFIG_FAIL" => (status::FAILED, true, true),
        "CANCELLED" | "REVOKED" => (status::CANCELLED, true, true),
        // When a job is resized, its record ends; the next record has the rest of the job.
        "PREEMPTED" | "REQUEUED" | "SUSPENDED" | "RESIZING" => (status::PARTIAL, true, true),
        "RUNNING" | "PENDING" | "COMPLETING" | "CONFIGURING" | "SIGNALING" | "STAGE_OUT"
        | "STOPPED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD"
        | "POWER_UP_NODE" => (UNKNOWN, false, true),
        _ => (status::FAILED, true, false),
    }
}

/// The meaning of a job id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id<'a> {
    /// `N`, `N_T` or `N+K`: a job, with a note if it is a part, and the task if it is a task of an array.
    Job(Option<&'static str>, Option<(&'a str, u64)>),
    /// `N.step`.
    Step,
    /// `N_[T-T:S%M]`: tasks that did not start; the id of the array, and the text within the brackets.
    Tasks(&'a str, &'a str),
}

impl<'a> Id<'a> {
    /// Parses an id; `None` if the text is not an id.
    pub fn read(id: &'a str) -> Option<Id<'a>> {
        let (number, kind) = id.split_at(id.bytes().take_while(u8::is_ascii_digit).count());
        if number.is_empty() {
            return None;
        }
        if kind.contains('.') && !kind.starts_with("_[") {
            return Some(Id::Step);
        }
        if let Some(tasks) = kind.strip_prefix("_[") {
            return Some(Id::Tasks(number, tasks.split(['%', ']']).next().unwrap_or_default()));
        }
        let part = match kind.as_bytes().first() {
            None => return Some(Id::Job(None, None)),
            Some(b'_') => "task of an array",
            Some(b'+') => "part of a heterogeneous job",
            _ => return None,
        };
        let task = digits(&kind[1..])?;
        let task = kind.starts_with('_').then_some((number, task as u64));
        Some(Id::Job(Some(part), task))
    }
}

/// A record of a job. The fields that may be invalid are checked when they are needed.
pub(super) struct Job<'a> {
    pub id: &'a str,
    /// Note about the id.
    pub part: Option<&'static str>,
    pub submit: Moment,
    /// Time at which the job became eligible, if it is used as the time of submission.
    pub eligible: Option<Moment>,
    pub start: Option<Moment>,
    pub end: Option<Moment>,
    /// Whether the log has ends of jobs.
    pub has_ends: bool,
    /// Whether the times are local times.
    pub on_clock: bool,
    pub elapsed: Span,
    /// First word of the state.
    pub state: &'a str,
    /// Size of a job that ran; `None` if the log does not have it.
    pub ran: Result<Option<i64>, Fault>,
    /// Size of a job that did not run.
    pub asked: Result<Option<i64>, Fault>,
    /// Whether sizes are numbers of processors although the user asked for nodes.
    pub by_cores: bool,
    pub requested: i64,
    pub limit: Result<Span, Fault>,
    /// Number of allocated nodes, and of allocated processors.
    pub allocated: Option<i64>,
    pub cores: Option<i64>,
    pub nodes: &'a str,
    pub user: &'a str,
    pub account: &'a str,
    pub partition: &'a str,
}

/// Converts records to jobs.
pub(super) struct Jobs {
    pub source: Source,
    /// Arrays with tasks that did not start, if the log has several files.
    pending: Pending,
}

impl Jobs {
    pub fn new(source: Source) -> Jobs {
        Jobs { source, pending: Pending::default() }
    }

    /// Counts the tasks of an array that did not start. Returns `false` if `tasks` is not a list of tasks.
    pub fn tasks(&mut self, number: u64, array: &str, tasks: &str, sink: &mut Sink<'_>) -> bool {
        // Slurm truncates long lists of tasks with `,...`, unless SLURM_BITSTR_LEN is 0.
        let cut = tasks.strip_suffix(",...");
        let tasks = cut.unwrap_or(tasks);
        let Some((count, ranges)) = pending_arrays::tasks(tasks) else { return false };
        if cut.is_some() {
            sink.noted(number, noted::TASKS_CUT);
        }
        let taken = match sink.is_of_several() {
            true => self.pending.take(array, ranges, sink.place(number)),
            false => Taken::Full,
        };
        match taken {
            Taken::New => sink.dropped(number, dropped::NOT_STARTED),
            Taken::Again => sink.dropped(number, dropped::SAME_ARRAY),
            Taken::Full => {
                sink.dropped(number, dropped::NOT_STARTED);
                sink.noted_times(number, noted::TASKS, count);
            }
        }
        true
    }

    /// Records that a task of an array is a separate job, even if this job is dropped.
    pub fn started(&mut self, (array, task): (&str, u64)) {
        self.pending.started(array, task);
    }

    /// Passes a job to `sink`, which keeps or drops it.
    pub fn take(&mut self, number: u64, job: Job<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let (status, over, known) = state(job.state);
        let elapsed = match job.elapsed.elapsed() {
            Span::Seconds(seconds) => Some(seconds),
            Span::Invalid => {
                sink.about(noted::BAD_ELAPSED);
                None
            }
            _ => None,
        };
        let (started, ended) = (job.start, job.end);
        // If a job was cancelled while it waited, older versions of Slurm record the time of cancellation as its start,
        // and no nodes.
        let no_time = elapsed.unwrap_or(0) == 0 && (ended.is_none() || ended == started);
        let had_none = status == status::CANCELLED
            && no_time
            && job.ran.clone().map_err(ReadStop::from)?.unwrap_or(0) == 0;
        let started = started.filter(|_| !had_none);
        let is_open = started.is_some() && ended.is_none() && job.has_ends;
        // A job that may continue has no end yet. For other jobs, the elapsed time determines the end.
        let may_go_on = !known || status == status::PARTIAL;
        let unfinished = !over || (is_open && (may_go_on || elapsed.is_none()));
        let is_known = self.source.running && started.is_some() && elapsed.is_some();
        if unfinished && !is_known {
            sink.dropped(number, dropped::UNFINISHED);
            return Ok(());
        }
        let Some(size) = (if started.is_some() { job.ran } else { job.asked })? else {
            sink.dropped(number, dropped::NO_SIZE);
            return Ok(());
        };
        let times = in_order(job.submit, started, ended.filter(|_| over), elapsed);
        let (submitted, started, ended) = (times.submit, times.start, times.end);
        let eligible = job.eligible.map(|eligible| eligible.earlier);
        let later = eligible.filter(|&eligible| eligible > submitted);
        let from = later.unwrap_or(submitted);
        let (wait, run) = match started {
            None => (UNKNOWN, 0),
            Some(started) => {
                let ended = ended.or(elapsed.map(|elapsed| started.saturating_add(elapsed)));
                let run = ended.map_or(UNKNOWN, |ended| ended.saturating_sub(started));
                (started.saturating_sub(from), run)
            }
        };
        let measured = started.zip(ended).map(|(started, ended)| ended.saturating_sub(started));
        if let (Some(elapsed), Some(measured), true) = (elapsed, measured, job.on_clock) {
            sink.elapsed(number, elapsed, measured);
        }
        if started.is_some() && (wait < 0 || run < 0) {
            let without_end = ended.is_none() && elapsed.is_none();
            sink.dropped(
                number,
                match (wait < 0, without_end) {
                    (true, _) => dropped::WAIT,
                    (false, true) => dropped::NO_END,
                    (false, false) => dropped::RUN,
                },
            );
            return Ok(());
        }
        let estimate = match job.limit? {
            Span::Seconds(seconds) => Some(seconds),
            unknown => {
                match unknown {
                    Span::Invalid => sink.about(noted::BAD_LIMIT),
                    Span::Unlimited => sink.about(noted::UNLIMITED),
                    Span::OfPartition => sink.about(noted::PARTITION_LIMIT),
                    Span::Unknown | Span::Seconds(_) => {}
                }
                None
            }
        };
        let list = if job.nodes == "None assigned" || NOTHING.contains(&job.nodes) {
            ""
        } else {
            job.nodes
        };
        let list = match count_nodes(list) {
            Ok(0) => "",
            Ok(named) => {
                if job.allocated.is_some_and(|nodes| nodes as u64 != named) {
                    sink.about(noted::UNLIKE);
                }
                list
            }
            Err(why) => {
                sink.about(why);
                ""
            }
        };
        if job.by_cores {
            sink.about("size in processors, because no column has numbers of nodes");
        }
        if is_open && over && !unfinished {
            sink.about("end computed from the elapsed time, because the log has no end");
        }
        times.note.into_iter().chain(job.part).for_each(|note| sink.about(note));
        if !known {
            sink.about("unknown state, treated as failed");
        }
        if later.is_some() {
            sink.about("submission moved to the time at which the job became eligible");
        }
        if started.is_none() {
            sink.about(noted::NEVER_STARTED);
        } else if ended.is_some() && elapsed.is_some_and(|elapsed| elapsed.abs_diff(run) > 1) {
            sink.about(noted::ELAPSED);
        }
        let entry = Entry {
            id: job.id,
            submit: from,
            wait,
            run,
            size,
            requested: job.requested,
            estimate,
            status: if started.is_none() { status::CANCELLED } else { status },
            state: State(job.state),
            user: job.user,
            group: job.account,
            queue: job.partition,
            nodes: list,
            ..Entry::NONE
        };
        let kept = sink.job(number, &entry)?;
        let by_nodes = self.source.size == Unit::Nodes && !job.by_cores && started.is_some();
        if let (Some(cores), true) = (job.cores, kept && by_nodes) {
            sink.share(number, job.partition, size, cores);
        }
        Ok(())
    }

    /// Counts the tasks that did not start, at the end of the log.
    pub fn end(&mut self, sink: &mut Sink<'_>) {
        for (place, tasks) in std::mem::take(&mut self.pending).finish() {
            sink.noted_at(place, noted::TASKS, tasks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_are_not_seconds_are_distinguished() {
        for (text, span) in [
            ("02:00:00", Span::Seconds(7200)),
            ("INVALID", Span::Invalid),
            ("-0:00:16", Span::Invalid),
            ("-00:00:16", Span::Invalid),
            ("-1-00:00:16", Span::Invalid),
            ("-16", Span::Invalid),
            ("UNLIMITED", Span::Unlimited),
            ("Partition_Limit", Span::OfPartition),
            ("", Span::Unknown),
        ] {
            assert_eq!(Span::read(text, slurm_duration), Some(span), "{text}");
        }
        for text in ["-", "--1", "-x", "x", "1:2:3:4"] {
            assert_eq!(Span::read(text, slurm_duration), None, "{text}");
        }
        // -16 s as an unsigned number of 32 bits.
        assert_eq!(Span::Seconds(4_294_967_280).elapsed(), Span::Invalid);
        assert_eq!((count("4294967294"), count("12"), count("1K")), (Some(0), Some(12), None));
    }

    #[test]
    fn parses_ids() {
        assert_eq!(Id::read("13"), Some(Id::Job(None, None)));
        assert_eq!(Id::read("13_4"), Some(Id::Job(Some("task of an array"), Some(("13", 4)))));
        assert_eq!(Id::read("13+1"), Some(Id::Job(Some("part of a heterogeneous job"), None)));
        assert_eq!(Id::read("13_[1-3%2]"), Some(Id::Tasks("13", "1-3")));
        assert_eq!((Id::read("13.batch"), Id::read("13_4.0")), (Some(Id::Step), Some(Id::Step)));
        for text in ["", "x", "13x", "13_", "13_x"] {
            assert_eq!(Id::read(text), None, "{text}");
        }
    }
}
