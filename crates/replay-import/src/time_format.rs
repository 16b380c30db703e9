//! Notations of points in time in the directives of strftime, such as `%m/%d/%Y %H:%M:%S`.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

use super::Reason;
use super::zone::{Moment, Zone};

/// A notation of points in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeFormat {
    /// The directives that jiff reads.
    directives: String,
    /// Whether a text contains its offset from UTC, or is a number of seconds since 1970.
    is_absolute: bool,
}

/// Directives that abbreviate others in the POSIX locale.
const SHORT: [(char, &str); 4] =
    [('c', "%a %b %e %H:%M:%S %Y"), ('x', "%m/%d/%y"), ('X', "%H:%M:%S"), ('r', "%I:%M:%S %p")];

/// 2016-01-26 13:14:15 UTC.
const SAMPLE: i64 = 1_453_814_055;

/// Replaces the directives that jiff does not read.
fn expanded(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text.chars());
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some(next) => match SHORT.iter().find(|(short, _)| *short == next) {
                Some((_, long)) => out.push_str(long),
                None => out.extend(['%', next]),
            },
            None => out.push('%'),
        }
    }
    out
}

impl FromStr for TimeFormat {
    type Err = String;

    /// Parses a notation. A notation is valid if a sample that is written in this notation is read correctly.
    fn from_str(text: &str) -> Result<TimeFormat, String> {
        let wrong = |what: String| format!("time \"{text}\": {what}");
        let directives = expanded(text);
        let sample = Timestamp::from_second(SAMPLE).map_err(|e| wrong(e.to_string()))?;
        let written = BrokenDownTime::from(sample).to_string(&directives);
        let written = written.map_err(|e| wrong(e.to_string()))?;
        let read = BrokenDownTime::parse(&directives, &written);
        let read = read.map_err(|e| wrong(e.to_string()))?;
        let is_absolute = read.to_timestamp().is_ok();
        let format = TimeFormat { directives, is_absolute };
        let found = format.moment(&written, &Zone::default());
        // A notation without seconds, or without a time of day, is valid.
        let parts = [0, SAMPLE % 60, SAMPLE % 3600, SAMPLE % 86_400];
        match found {
            Ok(found) if parts.iter().any(|part| found.earlier == SAMPLE - part) => Ok(format),
            _ => Err(wrong(
                "the format needs directives for year, month and day, and %p with %I, such as %m/%d/%Y %H:%M:%S"
                    .to_string(),
            )),
        }
    }
}

impl TimeFormat {
    /// Reads a point in time; a fraction of a second is truncated. The time is in `zone` unless the text contains an
    /// offset.
    pub fn moment(&self, text: &str, zone: &Zone) -> Result<Moment, Reason> {
        let read = BrokenDownTime::parse(&self.directives, text);
        let read = read.map_err(|_| Reason::NotATime)?;
        if self.is_absolute {
            let time = read.to_timestamp().map_err(|_| Reason::NotATime)?;
            return Ok(Moment::at(time.as_second()));
        }
        let local = read.to_datetime().and_then(|local| Offset::UTC.to_timestamp(local));
        let local = local.map_err(|_| Reason::NotATime)?;
        zone.moment(local.as_second()).ok_or(Reason::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_in_many_notations() {
        let utc = Zone::default();
        for (format, text, seconds) in [
            ("%m/%d/%Y %H:%M:%S", "01/26/2016 00:00:37", Some(1_453_766_437)),
            ("%m/%d/%Y %H:%M:%S", "1/6/2016 0:00:37", Some(1_452_038_437)),
            ("%d.%m.%Y %H:%M:%S", "26.01.2016 00:00:37", Some(1_453_766_437)),
            ("%a %b %d %H:%M:%S %Y", "Tue Jan 26 00:00:37 2016", Some(1_453_766_437)),
            ("%c", "Tue Jan 26 00:00:37 2016", Some(1_453_766_437)),
            ("%c", "Wed Jan  6 00:00:37 2016", Some(1_452_038_437)),
            ("%c", "Mon Jan 26 00:00:37 2016", None),
            ("%m/%d/%Y %I:%M:%S %p", "1/26/2016 12:00:37 AM", Some(1_453_766_437)),
            ("%m/%d/%y %H:%M", "01/26/16 00:01", Some(1_453_766_460)),
            ("%Y%m%d", "20160126", Some(1_453_766_400)),
            ("%Y-%m-%dT%H:%M:%S%z", "2016-01-26T01:00:37+0100", Some(1_453_766_437)),
            ("%Y-%m-%d %H:%M:%S%.f", "2016-01-26 00:00:37.9", Some(1_453_766_437)),
            ("%s", "1453766437", Some(1_453_766_437)),
            ("%m/%d/%Y %H:%M:%S", "13/26/2016 00:00:37", None),
            ("%m/%d/%Y %H:%M:%S", "01/26/2016 00:00:37 x", None),
            ("%m/%d/%Y %H:%M:%S", "", None),
        ] {
            let format: TimeFormat = format.parse().expect(format);
            let found = format.moment(text, &utc).ok().map(|moment| moment.earlier);
            assert_eq!(found, seconds, "{format:?} {text}");
        }
        let zone: Zone = "Europe/Prague".parse().expect("a zone");
        let format: TimeFormat = "%d.%m.%Y %H:%M".parse().expect("a format");
        let found = format.moment("26.01.2016 01:00", &zone).expect("a time");
        assert_eq!(found, Moment::at(1_453_766_400));
        assert_eq!(format.moment("27.03.2016 02:30", &zone), Err(Reason::Skipped));
    }

    #[test]
    fn rejects_notations_without_a_date() {
        for format in
            ["%H:%M:%S", "%Y", "%m/%d %H:%M:%S", "%Y-%m-%d %J", "%", "%Y-%m-%d %I:%M", "%Z"]
        {
            let error = format.parse::<TimeFormat>().expect_err(format);
            assert!(error.starts_with(&format!("time \"{format}\": ")), "{error}");
        }
    }
}
