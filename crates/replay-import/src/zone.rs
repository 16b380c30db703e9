//! Clocks of logs: a fixed offset from UTC, or a zone with summer time.
//!
//! When summer time ends, the clocks show one hour twice. For a time in the repeated hour, a log does not state whether
//! the first or the second hour is meant. The first hour is used by default. The second hour is used if the elapsed
//! time requires it. The second hour is also used if the first hour would place a job's start before its submission, or
//! its end before its start; see [`in_order`]. When summer time begins, the clocks skip one hour; times in this hour do
//! not exist.
//!
//! The time-zone database is compiled into the program, so that an import gives the same trace on every machine.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use replay_workload::naming::nearest;
use replay_workload::number::pair;
use replay_workload::sanitize::excerpt;

/// The clock of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Seconds ahead of UTC.
    Fixed(i64),
    /// A zone of the IANA database.
    Named(TimeZone),
}

impl Default for Zone {
    fn default() -> Zone {
        Zone::Fixed(0)
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Zone, String> {
        if matches!(text, "UTC" | "utc" | "Z" | "z") {
            return Ok(Zone::default());
        }
        if let Some(offset) = offset(text) {
            return Ok(Zone::Fixed(offset));
        }
        let zones = TimeZoneDatabase::bundled();
        zones.get(text).map(Zone::Named).map_err(|_| {
            let names: Vec<String> = zones.available().map(|name| name.to_string()).collect();
            let near = nearest(text, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            format!(
                "\"{}\": a zone is UTC, an offset from UTC such as +01:00, or a name such as \
                 Europe/Prague{near}",
                excerpt(text)
            )
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Zone::Fixed(0) => f.write_str("UTC"),
            Zone::Fixed(seconds) => {
                let (sign, minutes) = (if *seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Zone::Named(zone) => f.write_str(zone.iana_name().unwrap_or_default()),
        }
    }
}

impl Zone {
    /// Converts a local time, which is given in seconds since 1970 on the zone's clock, to a point in time. Returns
    /// `None` if the clock skips this time.
    pub(super) fn moment(&self, local: i64) -> Option<Moment> {
        let zone = match self {
            Zone::Fixed(offset) => return Some(Moment::at(local - offset)),
            Zone::Named(zone) => zone,
        };
        // For years without rules, the offset of the nearest year with rules is used.
        let clock = local.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let clock = Offset::UTC.to_datetime(Timestamp::from_second(clock).ok()?);
        let at = |offset: Offset| local - i64::from(offset.seconds());
        match zone.to_ambiguous_timestamp(clock).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some(Moment::at(at(offset))),
            AmbiguousOffset::Gap { .. } => None,
            AmbiguousOffset::Fold { before, after } => {
                let (one, other) = (at(before), at(after));
                Some(Moment { earlier: one.min(other), later: one.max(other) })
            }
        }
    }
}

/// A point in time in seconds since 1970, or two points in time at which a clock shows the same local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub earlier: i64,
    pub later: i64,
}

impl Moment {
    /// Creates a single point.
    pub fn at(time: i64) -> Moment {
        Moment { earlier: time, later: time }
    }

    /// Returns whether the clock shows this local time at two points in time.
    fn is_twice(self) -> bool {
        self.earlier < self.later
    }

    /// Returns the later of the two points in time if only this point is at or after `time`; otherwise, returns the
    /// earlier point.
    fn not_before(self, time: i64) -> i64 {
        if self.earlier < time && time <= self.later { self.later } else { self.earlier }
    }
}

/// The times of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub submit: i64,
    pub start: Option<i64>,
    pub end: Option<i64>,
    /// Note about the choice between two points in time with the same local time.
    pub note: Option<&'static str>,
}

/// Chooses the times of a job if the clock shows some of these times twice. `elapsed` is the time between start and end
/// in seconds, as recorded in the log; `None` if the log does not record it. The function returns the earliest start
/// and end that agree with `elapsed` to within a second. If there are no such times, the function returns the earliest
/// times that are in order.
pub(super) fn in_order(
    submit: Moment,
    start: Option<Moment>,
    end: Option<Moment>,
    elapsed: Option<i64>,
) -> Times {
    let began = start.map(|start| start.not_before(submit.earlier));
    let ended = end.map(|end| end.not_before(began.unwrap_or(submit.earlier)));
    let ordered = (began, ended);
    let by_elapsed = || {
        let (start, end, elapsed) = (start?, end?, elapsed?);
        let pairs =
            [start.earlier, start.later].map(|start| [(start, end.earlier), (start, end.later)]);
        let agrees = |&(began, ended): &(i64, i64)| {
            began >= submit.earlier && ended.saturating_sub(began).abs_diff(elapsed) <= 1
        };
        pairs.into_iter().flatten().find(agrees).map(|(began, ended)| (Some(began), Some(ended)))
    };
    let (began, ended) = by_elapsed().unwrap_or(ordered);
    let later = [(start, began), (end, ended)];
    let later = later.into_iter().any(|(of, taken)| of.map(|of| of.earlier) != taken);
    let twice = [Some(submit), start, end].into_iter().flatten().any(Moment::is_twice);
    let note = match (later, twice) {
        _ if (began, ended) != ordered => {
            Some("time in a repeated hour, chosen to agree with the elapsed time")
        }
        (true, _) => Some(
            "time in a repeated hour; the later time is used because of the order of the job's times",
        ),
        (_, true) => Some("time in a repeated hour; the earlier time is used"),
        _ => None,
    };
    Times { submit: submit.earlier, start: began, end: ended, note }
}

/// Parses `+01:00`, `-0530` or `+02` as seconds.
pub(super) fn offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = &text[1..];
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 && rest.is_ascii() => rest.split_at(2),
        None => (rest, "00"),
    };
    let (hours, minutes) = (pair(hours)?, pair(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (3600 * hours + 60 * minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_zones_are_canonical() {
        for text in ["UTC", "+01:00", "-05:30", "Europe/Prague", "America/Chicago"] {
            assert_eq!(text.parse::<Zone>().expect("a zone").to_string(), text);
        }
        let other_case: Zone = "europe/prague".parse().expect("a zone");
        assert_eq!(other_case.to_string(), "Europe/Prague");
        for text in ["", "+1:00", "+24:00", "Prague/Europe", "+0a:00"] {
            assert!(text.parse::<Zone>().is_err(), "{text}");
        }
        let advice = "Europe/Parris".parse::<Zone>().expect_err("no such place");
        assert!(advice.ends_with("did you mean \"Europe/Paris\"?"), "{advice}");
    }
}
