//! Points in time of a trace, and their notations.

use std::fmt;
use std::str::FromStr;

use super::window::{date, since_start};
use crate::number::ungrouped;
use crate::swf::Header;

/// A point in time of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceTime {
    /// Seconds since the start of the log (time 0 of its submit times).
    Seconds(i64),
    /// Local time of the log, in seconds since 1970-01-01 00:00. The time zone is `TimeZone` of the header, or UTC if
    /// the header has no `TimeZone`.
    Local(i64),
}

/// Error: the text is not a point in time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "write seconds of the trace (2000000), a time since its start (1d2h, 2h30m, 3:20:00) or a date (1996-09-23T12:00)"
)]
pub struct TraceTimeError;

/// Error: a date was given, but the trace's header has no `UnixStartTime`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a date needs UnixStartTime in the trace's header: give a time since the trace's start, such as 2000000 or 1d2h"
)]
pub struct NoStart;

impl TraceTime {
    /// Returns the seconds since the start of the log.
    ///
    /// # Errors
    /// [`NoStart`] for a date if the header has no `UnixStartTime`.
    pub fn seconds(self, header: &Header) -> Result<i64, NoStart> {
        match self {
            TraceTime::Seconds(seconds) => Ok(seconds),
            TraceTime::Local(local) => since_start(header, local).ok_or(NoStart),
        }
    }
}

impl FromStr for TraceTime {
    type Err = TraceTimeError;

    /// ```
    /// use replay_workload::workload::TraceTime;
    ///
    /// for (text, seconds) in [("2000000", 2_000_000), ("1d2h", 93_600), ("2h30m", 9_000), ("3:20:00", 12_000)] {
    ///     assert_eq!(text.parse(), Ok(TraceTime::Seconds(seconds)));
    /// }
    /// assert_eq!("1970-01-02T00:30".parse(), Ok(TraceTime::Local(86_400 + 1_800)));
    /// ```
    fn from_str(text: &str) -> Result<Self, TraceTimeError> {
        let text = text.trim();
        if let Ok(seconds) = ungrouped(text).parse() {
            return Ok(TraceTime::Seconds(seconds));
        }
        let since = clock(text, 4).or_else(|| units(text)).map(TraceTime::Seconds);
        since.or_else(|| local(text).map(TraceTime::Local)).ok_or(TraceTimeError)
    }
}

impl fmt::Display for TraceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceTime::Seconds(seconds) => write!(f, "second {seconds}"),
            TraceTime::Local(local) => write!(f, "second {local} since 1970-01-01"),
        }
    }
}

fn parse_digits(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Parses a time like `3:20:00`: the hours have at most `digits` digits; the minutes and the seconds have two digits
/// and are below 60.
fn clock(text: &str, digits: usize) -> Option<i64> {
    let mut parts = text.split(':');
    let hours = parts.next().filter(|hours| hours.len() <= digits).and_then(parse_digits)?;
    let minutes = parts.next().and_then(sixtieths)?;
    let seconds = parts.next().and_then(sixtieths)?;
    parts.next().is_none().then_some((hours * 60 + minutes) * 60 + seconds)
}

fn sixtieths(text: &str) -> Option<i64> {
    parse_digits(text).filter(|&value| text.len() == 2 && value < 60)
}

/// Parses a time like `1d2h`, `2h30m` or `90s`, in which each unit occurs at most once, the largest unit first.
fn units(text: &str) -> Option<i64> {
    let (mut rest, mut sum) = (text, 0i64);
    for (unit, seconds) in [('d', 86_400i64), ('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((count, after)) = rest.split_once(unit) {
            sum = sum.checked_add(parse_digits(count)?.checked_mul(seconds)?)?;
            rest = after;
        }
    }
    (rest.is_empty() && !text.is_empty()).then_some(sum)
}

/// Parses `1996-09-23`, `1996-09-23T12:00` or `1996-09-23T12:00:30`; a blank may replace the T.
fn local(text: &str) -> Option<i64> {
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let midnight = date(day)? * 86_400;
    let Some(time) = time else { return Some(midnight) };
    let time = if time.len() == 5 { format!("{time}:00") } else { time.to_string() };
    let seconds = clock(&time, 2).filter(|&seconds| seconds < 86_400)?;
    Some(midnight + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Option<TraceTime> {
        text.parse().ok()
    }

    #[test]
    fn parses_all_notations() {
        let seconds = |text: &str| match at(text) {
            Some(TraceTime::Seconds(seconds)) => Some(seconds),
            _ => None,
        };
        assert_eq!(
            ["-5", "352,182", "1d2h3m4s", "90s", "90m", "0:00:10", "100:00:00"].map(seconds),
            [Some(-5), Some(352_182), Some(93_784), Some(90), Some(5400), Some(10), Some(360_000)]
        );
        for no in [
            "",
            "noon",
            "1h2d",
            "1h1h",
            "h",
            "1d2",
            "-1d",
            "3:20",
            "3:60:00",
            "3:2:00",
            "1.5",
            "352,18",
            "1996-13-01",
            "1996-09-23T24:00",
            "1996-09-23T1:00",
            "9999999999999999999d",
        ] {
            assert_eq!(at(no), None, "{no}");
        }
        let header = |text: &str| Header::parse(text.as_bytes());
        let noon = at("1996-09-23T12:00").expect("a date");
        assert_eq!(at("1996-09-23 12:00:00"), Some(noon));
        assert_eq!(at("1996-09-23"), Some(TraceTime::Local(843_436_800)));
        let log = header("; UnixStartTime: 843436800\n");
        assert_eq!(noon.seconds(&log), Ok(43_200));
        // In time zones east of Greenwich, noon is earlier than noon in UTC.
        let log = header("; UnixStartTime: 843436800\n; TimeZone: 3600\n");
        assert_eq!(noon.seconds(&log), Ok(39_600));
        assert_eq!(noon.seconds(&header("")), Err(NoStart));
        assert_eq!(TraceTime::Seconds(7).seconds(&header("")), Ok(7));
    }

    proptest! {
        #[test]
        fn parses_any_text_without_panic(text in "[-0-9dhmsT: ]{0,24}") {
            let _ = at(&text);
        }

        #[test]
        fn days_hours_minutes_and_seconds_add_up(d in 0i64..9999, h in 0i64..99, m in 0i64..99, s in 0i64..99) {
            let seconds = ((d * 24 + h) * 60 + m) * 60 + s;
            prop_assert_eq!(at(&format!("{d}d{h}h{m}m{s}s")), Some(TraceTime::Seconds(seconds)));
        }
    }
}
