//! Parsing of numbers, times and durations in logs.

use super::Reason;
use super::zone::{Moment, Zone, offset};
pub(super) use replay_workload::number::{digits, pair};
use replay_workload::workload::days_since_1970;

/// Parses a number, optionally with a sign and a fraction, but not `inf` or `nan`.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    let number: f64 = if text.bytes().all(plain) { text.parse().ok()? } else { return None };
    (number.abs() < 2f64.powi(53)).then_some(number)
}

/// Parses an integer, possibly written as `512.0`.
pub(super) fn whole(text: &str) -> Option<i64> {
    if let Some(digits) = digits(text) {
        return Some(digits);
    }
    let number = number(text)?;
    (number.fract() == 0.0).then_some(number as i64)
}

/// Removes the fraction from a name that is an integer written as `512.0`.
pub(super) fn bare(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}

/// Parses a number and rounds it to whole seconds.
pub(super) fn seconds(text: &str) -> Option<i64> {
    digits(text)
        .filter(|&n| n < 1 << 53)
        .or_else(|| number(text).map(|number| number.round() as i64))
}

/// Numbers of 32 bits that databases write for a time that is not known: the largest signed number, and the two largest
/// unsigned numbers. As sizes, they are unknown too, because no machine has 2^31 processors.
const NOT_SET: [i64; 3] = [0x7fff_ffff, 0xffff_fffe, 0xffff_ffff];

/// Returns whether a time in Unix seconds, or a size, is a number of 32 bits that stands for an unknown value.
pub(super) fn is_not_set(value: i64) -> bool {
    NOT_SET.contains(&value)
}

/// Returns a time in Unix seconds, or 0 if the number stands for a time that has not happened.
pub(super) fn happened(time: i64) -> i64 {
    if is_not_set(time) { 0 } else { time }
}

/// Parses a time in Unix seconds; 0 if the time has not happened, see [`happened`].
pub(super) fn event(text: &str) -> Option<i64> {
    digits(text).map(happened)
}

/// Parses a time in Unix seconds that must be known.
pub(super) fn known_time(text: &str) -> Option<i64> {
    digits(text).filter(|&time| !is_not_set(time))
}

/// Parses `2026-03-01T08:00:00`. A blank may replace the letter T between date and time; a fraction of a second is
/// truncated; an offset from UTC may follow. Without an offset, the time is in `zone`.
pub(super) fn date(text: &str, zone: &Zone) -> Result<Moment, Reason> {
    let (local, offset) = local(text).ok_or(Reason::NotATime)?;
    match offset {
        Some(offset) => Ok(Moment::at(local - offset)),
        None => zone.moment(local).ok_or(Reason::Skipped),
    }
}

/// Parses a date. Returns the seconds since 1970 in local time, and the offset from UTC if the date has an offset.
pub(super) fn local(text: &str) -> Option<(i64, Option<i64>)> {
    let (date, rest) = text.split_at_checked(10)?;
    let day = day(date, '-', [0, 5, 8])?;
    let rest = rest.strip_prefix(['T', ' '])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let clock = clock_time(clock)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let offset = match rest.trim_start() {
        "" => None,
        "Z" | "z" | "UTC" => Some(0),
        rest => Some(offset(rest)?),
    };
    Some((day * 86_400 + clock, offset))
}

/// Parses a date of ten bytes as days since 1970. The array contains the offsets of year, month and day in the text.
fn day(text: &str, separator: char, [year, month, day]: [usize; 3]) -> Option<i64> {
    if text.matches(separator).count() != 2 {
        return None;
    }
    let part = |at: usize, len: usize| digits(text.get(at..at + len)?);
    let (year, month, day) = (part(year, 4)?, part(month, 2)?, part(day, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let good = (1..=days).contains(&day) && year > 0;
    good.then(|| days_since_1970(year as u32, month as u32, day as u32))
}

/// Returns whether a text is `MM/DD/YYYY HH:MM:SS`, as written by Torque.
pub(super) fn is_american(text: &str) -> bool {
    let split = text.split_at_checked(10);
    let date = split.and_then(|(date, clock)| day(date, '/', [6, 0, 3]).map(|_| clock));
    date.and_then(|clock| clock_time(clock.strip_prefix(' ')?)).is_some()
}

/// Parses `HH:MM:SS` as seconds since midnight.
fn clock_time(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (h, m, s) = (pair(parts.next()?)?, pair(parts.next()?)?, pair(parts.next()?)?);
    // A leap second is treated as the next second.
    (parts.next().is_none() && h < 24 && m < 60 && s <= 60).then_some(3600 * h + 60 * m + s)
}

/// Parses Slurm's durations: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`.
pub(super) fn slurm_duration(text: &str) -> Option<i64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(digits(days)?), rest),
        None => (None, text),
    };
    let mut parts = [0; 3];
    let mut count = 0;
    for part in rest.split(':') {
        // Elapsed times sometimes have a fraction.
        let part = part.split_once('.').map_or(part, |(whole, _)| whole);
        *parts.get_mut(count)? = digits(part)?;
        count += 1;
    }
    let [a, b, c] = parts;
    let seconds = match (days, count) {
        (None, 1) => a.checked_mul(60)?,
        (None, 2) => a.checked_mul(60)?.checked_add(b)?,
        _ => a.checked_mul(3600)?.checked_add(b.checked_mul(60)?)?.checked_add(c)?,
    };
    seconds.checked_add(days.unwrap_or(0).checked_mul(86_400)?)
}

/// Parses `HH:MM:SS` with any number of hours.
pub(super) fn hours(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (h, m, s) = (digits(parts.next()?)?, pair(parts.next()?)?, pair(parts.next()?)?);
    let good = parts.next().is_none() && m < 60 && s < 60 && h < 1 << 40;
    good.then_some(3600 * h + 60 * m + s)
}

/// Parses the durations of PBS and Torque: seconds, `MM:SS`, `HH:MM:SS` or `DD:HH:MM:SS`. A fraction of a second is
/// truncated.
pub(super) fn pbs_duration(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    digits(fraction)?;
    let parts: Vec<i64> = whole.split(':').map(digits).collect::<Option<_>>()?;
    // Number of seconds of each unit, and the largest value of a unit that is not the first.
    let units = [(86_400, i64::MAX), (3600, 23), (60, 59), (1, 59)];
    let units = units.get(units.len().checked_sub(parts.len())?..)?;
    let mut seconds = 0i64;
    for (at, (part, (unit, most))) in parts.iter().zip(units).enumerate() {
        if at > 0 && part > most {
            return None;
        }
        seconds = seconds.checked_add(part.checked_mul(*unit)?)?;
    }
    Some(seconds)
}

/// Parses a value that other text may follow after a separator, such as `2` in `2:ppn=24:gpu=4`. Returns the value and
/// whether other text follows. The other text begins with a letter after a separator: `1,024` and `2.5` are not values,
/// because digits after a separator can belong to the number.
pub(super) fn leading(text: &str, read: fn(&str) -> Option<i64>) -> Option<(i64, bool)> {
    if let Some(value) = read(text) {
        return Some((value, false));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':')?;
    let front = text[..end].trim_end_matches(':');
    let rest = &text[front.len()..];
    let separators = [':', ',', ';', ' ', '(', '='];
    let is_separated = rest.starts_with(separators)
        && rest.trim_start_matches(separators).starts_with(|c: char| c.is_alphabetic());
    read(front).filter(|_| is_separated).map(|value| (value, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::in_order;
    use replay_workload::workload::civil;

    #[test]
    fn parses_dates() {
        let utc = |text| date(text, &Zone::default()).ok().map(|moment| moment.earlier);
        assert_eq!(utc("1970-01-01T00:00:00"), Some(0));
        assert_eq!(utc("2026-03-01T08:00:05"), Some(1_772_352_005));
        assert_eq!(utc("2015-01-01 01:06:41.000000"), Some(1_420_074_401));
        assert_eq!(utc("2025-05-01T00:18:03+00:00"), utc("2025-05-01T02:18:03+0200"));
        assert_eq!(utc("2000-02-29T00:00:00Z"), Some(951_782_400));
        let zone = &"+01:30".parse().expect("a zone");
        assert_eq!(date("1970-01-01 01:30:00", zone), Ok(Moment::at(0)));
        for text in [
            "",
            "Unknown",
            "2026-13-01T00:00:00",
            "2025-02-29T00:00:00",
            "2026-03-01",
            "2026-03-01T24:00:00",
            "2026-03-01T08:00",
            "2026-03-01T08:00:00 ECT",
            "2026é03-01T08:00:00",
        ] {
            assert_eq!(utc(text), None, "{text}");
        }
    }

    #[test]
    fn civil_inverts_days_since_1970() {
        for (year, month, last) in (1890..2110).flat_map(|year| (1..13).map(move |m| (year, m, 28)))
        {
            for date in 1..=last {
                let days = days_since_1970(year, month, date);
                assert_eq!(civil(days), (i64::from(year), i64::from(month), i64::from(date)));
            }
        }
        assert_eq!(civil(days_since_1970(2000, 2, 29)), (2000, 2, 29));
        assert_eq!((civil(-719_529), civil(-1)), ((-1, 12, 31), (1969, 12, 31)));
    }

    #[test]
    fn parses_values_with_text_after_them() {
        for (text, value) in [
            ("2", Some((2, false))),
            ("2:ppn=24:gpu=4", Some((2, true))),
            ("2,mem=4gb", Some((2, true))),
            ("12 (nodes)", Some((12, true))),
            ("2x4", None),
            ("2.5", None),
            ("2e5", None),
            ("2+3", None),
            ("2:3", None),
            ("1,024", None),
            ("1, 024", None),
            ("1 024", None),
            ("1;024", None),
            ("1,.5", None),
            ("1,", None),
            (":2", None),
            ("x2", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(leading(text, digits), value, "{text}");
        }
        assert_eq!(leading("48:00:00:ppn=2", hours), Some((172_800, true)));
        assert_eq!(leading("48:00:00,mem=1", hours), Some((172_800, true)));
        assert_eq!((leading("48:00:x", hours), leading("48:x", hours)), (None, None));
    }

    #[test]
    fn parses_durations_of_pbs() {
        for (text, seconds) in [
            ("3600", Some(3600)),
            ("90:30", Some(5430)),
            ("48:00:00", Some(172_800)),
            ("100:59:59", Some(363_599)),
            ("2:03:00:01.5", Some(183_601)),
            ("1:60", None),
            ("1:24:00:00", None),
            ("1:2:3:4:5", None),
            ("", None),
            ("1:", None),
            ("-5", None),
            ("9223372036854775807", None),
        ] {
            assert_eq!(pbs_duration(text), seconds, "{text}");
        }
    }

    #[test]
    fn parses_durations() {
        for (text, seconds) in [
            ("90", 5400),
            ("01:00", 60),
            ("02:00:00", 7200),
            ("2-12", 216_000),
            ("2-12:30", 217_800),
            ("2-00:30:15", 174_615),
            ("00:00:01.500", 1),
        ] {
            assert_eq!(slurm_duration(text), Some(seconds), "{text}");
        }
        for text in ["", "-1", "1:2:3:4", "UNLIMITED", "1-", "a:b", "999999999999999999-00"] {
            assert_eq!(slurm_duration(text), None, "{text}");
        }
        assert_eq!(
            (hours("48:00:00"), hours("1:60:00"), hours("48:00")),
            (Some(172_800), None, None)
        );
    }

    #[test]
    fn parses_numbers() {
        assert_eq!(
            (whole("512.0"), whole("4000.00000"), whole("0.46")),
            (Some(512), Some(4000), None)
        );
        assert_eq!(
            (whole("-3"), whole("nan"), whole(""), whole("1e3")),
            (Some(-3), None, None, Some(1000))
        );
        assert_eq!(
            (bare("40.000"), bare("40"), bare("a.b"), bare("4.05")),
            ("40", "40", "a.b", "4.05")
        );
        assert_eq!((seconds("18431.92"), seconds("0.5")), (Some(18432), Some(1)));
        assert!(is_american("03/18/2017 00:00:00") && !is_american("18/03/2017 00:00:00"));
    }

    /// In Prague, the clocks went from 2 to 3 o'clock on 2024-03-31 and from 3 to 2 o'clock on 2024-10-27.
    #[test]
    fn converts_times_in_a_zone_with_summer_time() {
        let zone = &"Europe/Prague".parse().expect("a zone");
        let utc = |text: &str| date(text, &Zone::default()).expect(text).earlier;
        let at = |text: &str| date(text, zone);
        assert_eq!(at("2024-01-15T12:00:00"), Ok(Moment::at(utc("2024-01-15T11:00:00"))));
        assert_eq!(at("2024-07-15T12:00:00"), Ok(Moment::at(utc("2024-07-15T10:00:00"))));
        assert_eq!(at("2024-07-15T12:00:00Z"), Ok(Moment::at(utc("2024-07-15T12:00:00"))));
        assert_eq!(at("2024-03-31T02:30:00"), Err(Reason::Skipped));
        let earlier = utc("2024-10-27T00:30:00");
        assert_eq!(at("2024-10-27T02:30:00"), Ok(Moment { earlier, later: earlier + 3600 }));
        assert_eq!(at("2024-10-27"), Err(Reason::NotATime));
        // Times for which the zone has no rules are converted without a panic.
        for text in ["0001-01-01T00:00:00", "9999-12-31T23:59:60"] {
            assert!(at(text).is_ok(), "{text}");
        }
    }

    /// A job ran during the change of the clocks. The times 02:50, 02:10 and 02:40 of the job are in order only if the
    /// clocks went back between the first and the second time.
    #[test]
    fn the_order_of_times_determines_the_hour() {
        let zone: Zone = "Europe/Prague".parse().expect("a zone");
        let at = |text: &str| date(&format!("2024-10-27T{text}:00"), &zone).expect(text);
        let times = in_order(at("02:50"), Some(at("02:10")), Some(at("02:40")), None);
        assert_eq!(times.start.map(|start| start - times.submit), Some(20 * 60));
        assert_eq!(times.end.map(|end| end - times.submit), Some(50 * 60));
        assert!(times.note.is_some_and(|note| note.contains("the later time")));
        let times = in_order(at("01:50"), Some(at("02:10")), Some(at("02:40")), None);
        assert_eq!(times.end.map(|end| end - times.submit), Some(50 * 60));
        assert!(times.note.is_some_and(|note| note.contains("the earlier time")));
        assert_eq!(in_order(at("03:00"), None, None, None).note, None);
        // If the times are out of order with either of the two hours, the times are not changed.
        let times = in_order(at("03:50"), Some(at("02:10")), None, None);
        assert!(times.start.is_some_and(|start| start < times.submit));
    }

    /// The interval from 02:30 to 03:30 has a length of one hour or two hours, because the hour from 2 to 3 o'clock is
    /// repeated. For the same reason, the interval from 01:30 to 02:30 has a length of one hour or two hours.
    #[test]
    fn the_elapsed_time_determines_the_hour() {
        let zone: Zone = "Europe/Prague".parse().expect("a zone");
        let at = |text: &str| date(&format!("2024-10-27T{text}:00"), &zone).expect(text);
        let ran = |start, end, elapsed| {
            let times = in_order(at("01:00"), Some(at(start)), Some(at(end)), elapsed);
            let length = times.end.zip(times.start).map(|(end, start)| end - start);
            (length.expect("both"), times.note.expect("a note"))
        };
        for (start, end) in [("02:30", "03:30"), ("01:30", "02:30")] {
            for hours in [1, 2] {
                assert_eq!(ran(start, end, Some(3600 * hours)).0, 3600 * hours, "{start}");
            }
        }
        assert!(ran("02:30", "03:30", Some(3600)).1.contains("agree with the elapsed time"));
        assert!(ran("02:30", "03:30", Some(7200)).1.contains("the earlier time"));
        // Without an elapsed time, or if the elapsed time agrees with neither hour, the earlier hour is used.
        for elapsed in [None, Some(60)] {
            assert_eq!(ran("02:30", "03:30", elapsed).0, 7200);
        }
        // Start and end are both in the repeated hour. The elapsed time shows whether the clocks went back in between.
        assert_eq!(ran("02:10", "02:40", Some(1800)).0, 1800);
        assert_eq!(ran("02:10", "02:40", Some(5400)).0, 5400);
        // A start before the submission is not used, even if it agrees with the elapsed time.
        let times = in_order(at("03:00"), Some(at("02:30")), Some(at("03:30")), Some(7200));
        assert_eq!(times.end.zip(times.start).map(|(end, start)| end - start), Some(7200));
    }
}
