//! Clocks of logs: a fixed offset from UTC, or a zone with summer time.
//!
//! When summer time ends an hour comes twice. Which of both a log means it does not say: the earlier is
//! taken, unless a start would then come before its submission, or an end before its start; see
//! [`in_order`]. The hour that summer time skips is no time.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, MappedLocalTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};

use crate::naming::nearest;
use crate::number::pair;
use crate::shown::shown;

/// The clock of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// So many seconds ahead of UTC.
    Fixed(i64),
    /// A zone of the IANA database.
    Named(Tz),
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
        text.parse().map(Zone::Named).map_err(|_| {
            let near = nearest(text, TZ_VARIANTS.iter().map(|zone| zone.name()));
            let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            format!(
                "\"{}\": a zone is UTC, hours and minutes from it such as +01:00, or a name such as \
                 Europe/Prague{near}",
                shown(text)
            )
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Zone::Fixed(0) => f.write_str("UTC"),
            Zone::Fixed(seconds) => {
                let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Zone::Named(zone) => f.write_str(zone.name()),
        }
    }
}

impl Zone {
    /// What its clock means, in seconds since 1970 there; `None` if it skips that.
    pub(super) fn moment(self, local: i64) -> Option<Moment> {
        match self {
            Zone::Fixed(offset) => Some(Moment::at(local - offset)),
            Zone::Named(zone) => {
                let clock = DateTime::from_timestamp(local, 0)?.naive_utc();
                let at =
                    |of: &<Tz as TimeZone>::Offset| local - i64::from(of.fix().local_minus_utc());
                match zone.offset_from_local_datetime(&clock) {
                    MappedLocalTime::None => None,
                    MappedLocalTime::Single(of) => Some(Moment::at(at(&of))),
                    MappedLocalTime::Ambiguous(one, other) => {
                        let (one, other) = (at(&one), at(&other));
                        Some(Moment { earlier: one.min(other), later: one.max(other) })
                    }
                }
            }
        }
    }
}

/// A point in time, in seconds since 1970; two of them, if a clock shows the same at both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub earlier: i64,
    pub later: i64,
}

impl Moment {
    /// One point.
    pub fn at(time: i64) -> Moment {
        Moment { earlier: time, later: time }
    }

    /// Whether it is two.
    fn is_twice(self) -> bool {
        self.earlier < self.later
    }

    /// The earlier, unless only the later is not before `time`.
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
    /// What is to be told of them.
    pub note: Option<&'static str>,
}

/// The times of a job in the order in which they must have been.
pub(super) fn in_order(submit: Moment, start: Option<Moment>, end: Option<Moment>) -> Times {
    let began = start.map(|start| start.not_before(submit.earlier));
    let ended = end.map(|end| end.not_before(began.unwrap_or(submit.earlier)));
    let later = [(start, began), (end, ended)];
    let later = later.into_iter().any(|(of, taken)| of.map(|of| of.earlier) != taken);
    let twice = [Some(submit), start, end].into_iter().flatten().any(Moment::is_twice);
    let note = match (later, twice) {
        (true, _) => {
            Some("time in an hour that came twice, the later one by the order of its times")
        }
        (_, true) => Some("time in an hour that came twice, taken as the earlier one"),
        _ => None,
    };
    Times { submit: submit.earlier, start: began, end: ended, note }
}

/// `+01:00`, `-0530`, `+02`, as seconds.
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
    fn zones_have_names() {
        for text in ["UTC", "+01:00", "-05:30", "Europe/Prague", "America/Chicago"] {
            assert_eq!(text.parse::<Zone>().expect("a zone").to_string(), text);
        }
        for text in ["", "+1:00", "+24:00", "Prague/Europe", "+0a:00"] {
            assert!(text.parse::<Zone>().is_err(), "{text}");
        }
        let advice = "Europe/Parris".parse::<Zone>().expect_err("no such place");
        assert!(advice.ends_with("did you mean \"Europe/Paris\"?"), "{advice}");
    }
}
