//! The selection of jobs of a log by partition, user, state and time.

use std::str::FromStr;

use super::entry::{Entry, dropped, status};
use super::value::{digits, local};
use super::zone::Zone;
use replay_workload::sanitize::excerpt;

/// The jobs of a log that are imported. An empty list, or no time, selects all jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Partitions or queues.
    pub partitions: Vec<String>,
    /// Users.
    pub users: Vec<String>,
    /// Slurm's states in any case, such as `TIMEOUT`, or their short names, such as `TO`. If the log does not have Slurm's
    /// states: completed, failed, cancelled, partial or unknown.
    pub states: Vec<String>,
    /// Jobs that were submitted at this time or later.
    pub from: Option<When>,
    /// Jobs that were submitted before this time.
    pub until: Option<When>,
}

/// A time of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Seconds as in the log: since 1970, or since the origin of a log without dates.
    Seconds(i64),
    /// A date, or a date and a time, as seconds since 1970 on the clock of the log.
    Clock(i64),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        if let Some(seconds) = digits(text) {
            return Ok(When::Seconds(seconds));
        }
        let midnight = || local(&format!("{text}T00:00:00"));
        match local(text).or_else(midnight) {
            Some((seconds, None)) => Ok(When::Clock(seconds)),
            Some((seconds, Some(offset))) => Ok(When::Seconds(seconds - offset)),
            None => Err(format!(
                "\"{}\": a time is YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS, or seconds as in the log",
                excerpt(text)
            )),
        }
    }
}

impl When {
    /// Returns the time in seconds of the log. A time that the clock skips is the time after the change of the clock.
    fn seconds(self, zone: &Zone) -> i64 {
        match self {
            When::Seconds(seconds) => seconds,
            When::Clock(local) => {
                let moment = zone.moment(local).or_else(|| zone.moment(local.saturating_add(3600)));
                moment.map_or(local, |moment| moment.earlier)
            }
        }
    }
}

/// Slurm's short names of states.
const SHORT: [(&str, &str); 14] = [
    ("BF", "BOOT_FAIL"),
    ("CA", "CANCELLED"),
    ("CD", "COMPLETED"),
    ("DL", "DEADLINE"),
    ("F", "FAILED"),
    ("NF", "NODE_FAIL"),
    ("OOM", "OUT_OF_MEMORY"),
    ("PD", "PENDING"),
    ("PR", "PREEMPTED"),
    ("R", "RUNNING"),
    ("RQ", "REQUEUED"),
    ("RS", "RESIZING"),
    ("S", "SUSPENDED"),
    ("TO", "TIMEOUT"),
];

/// A selection with its times in seconds of the log.
pub(super) struct Filter {
    selection: Selection,
    from: i64,
    until: i64,
}

impl Filter {
    /// Creates a filter. `zone` is the clock of the log; `None` if the log has no dates.
    ///
    /// # Errors
    /// A message if the selection has a date, but the log does not.
    pub fn new(selection: &Selection, zone: Option<&Zone>) -> Result<Filter, String> {
        let mut selection = selection.clone();
        for state in &mut selection.states {
            if let Some((_, long)) =
                SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(state))
            {
                *state = (*long).to_string();
            }
        }
        let seconds = |when: Option<When>, none: i64| match (when, zone) {
            (None, _) => Ok(none),
            (Some(when), Some(zone)) => Ok(when.seconds(zone)),
            (Some(When::Seconds(seconds)), None) => Ok(seconds),
            (Some(When::Clock(_)), None) => {
                Err("--from and --until: this log has no dates; give seconds as in the log"
                    .to_string())
            }
        };
        let (from, until) =
            (seconds(selection.from, i64::MIN)?, seconds(selection.until, i64::MAX)?);
        if from >= until {
            return Err("--from is not before --until".to_string());
        }
        Ok(Filter { selection, from, until })
    }

    /// Returns why a job is not selected; `None` if it is selected.
    pub fn excludes(&self, entry: &Entry<'_>) -> Option<&'static str> {
        let Selection { partitions, users, states, .. } = &self.selection;
        let is_one =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|own| own == name);
        // A job that waits for several partitions names all of them.
        if !entry.queue.split(',').any(|queue| is_one(partitions, queue)) {
            return Some(dropped::OTHER_PARTITION);
        }
        if !is_one(users, entry.user) {
            return Some(dropped::OTHER_USER);
        }
        let state = match (entry.state.0, entry.status) {
            ("", status::COMPLETED) => "completed",
            ("", status::FAILED) => "failed",
            ("", status::CANCELLED) => "cancelled",
            ("", status::PARTIAL) => "partial",
            ("", _) => "unknown",
            (word, _) => word,
        };
        if !states.is_empty() && !states.iter().any(|own| own.eq_ignore_ascii_case(state)) {
            return Some(dropped::OTHER_STATE);
        }
        (!(self.from..self.until).contains(&entry.submit)).then_some(dropped::OTHER_TIME)
    }
}
