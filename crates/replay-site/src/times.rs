//! Times of Slurm's configuration: `minutes`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`, `INFINITE`,
//! `UNLIMITED`, `-1`.

use replay_engine::number::digits;
use replay_engine::sanitize::excerpt;

/// Longest time that is accepted, in minutes: 1,000 years.
const LONGEST: i64 = 366 * 1000 * 24 * 60;

/// Parses a time and returns minutes, rounded up; `None` for a time without limit.
///
/// # Errors
/// A message if the text is not a time.
///
/// ```
/// use replay_site::times::minutes;
///
/// assert_eq!(minutes("90"), Ok(Some(90)));
/// assert_eq!(minutes("1:30"), Ok(Some(2)));
/// assert_eq!(minutes("02:00:00"), Ok(Some(120)));
/// assert_eq!(minutes("7-0"), Ok(Some(7 * 24 * 60)));
/// assert_eq!(minutes("1-02:30"), Ok(Some(26 * 60 + 30)));
/// assert_eq!(minutes("UNLIMITED"), Ok(None));
/// assert!(minutes("1-").is_err() && minutes("2h").is_err());
/// ```
pub fn minutes(text: &str) -> Result<Option<u32>, String> {
    let text = text.trim();
    if ["INFINITE", "UNLIMITED"].iter().any(|name| text.eq_ignore_ascii_case(name)) || text == "-1"
    {
        return Ok(None);
    }
    let bad = || {
        format!(
            "\"{}\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED",
            excerpt(text)
        )
    };
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(digits(days).ok_or_else(bad)?), clock),
        None => (None, text),
    };
    let parts: Option<Vec<i64>> = clock.split(':').map(digits).collect();
    let parts = parts.ok_or_else(bad)?;
    let [hours, minutes, seconds] = match (days, &parts[..]) {
        (None, &[minutes]) => [0, minutes, 0],
        (None, &[minutes, seconds]) => [0, minutes, seconds],
        (_, &[hours, minutes, seconds]) => [hours, minutes, seconds],
        (Some(_), &[hours]) => [hours, 0, 0],
        (Some(_), &[hours, minutes]) => [hours, minutes, 0],
        _ => return Err(bad()),
    };
    let parts = [days.unwrap_or(0), hours, minutes, seconds];
    if parts.iter().any(|&part| part > LONGEST) {
        return Err(bad());
    }
    let total = (days.unwrap_or(0) * 24 + hours) * 60 + minutes + (seconds + 59) / 60;
    u32::try_from(total).ok().filter(|&total| i64::from(total) <= LONGEST).map(Some).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_anything_else_is_an_error() {
        for (text, expected) in [
            ("0", Some(0)),
            ("600", Some(600)),
            ("0:01", Some(1)),
            ("10:00:00", Some(600)),
            ("10:00:01", Some(601)),
            ("1-0", Some(1440)),
            ("2-03:04:05", Some(2 * 1440 + 185)),
            ("infinite", None),
            ("-1", None),
        ] {
            assert_eq!(minutes(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "x",
            "1:2:3:4",
            "-2",
            "1-2:3:4:5",
            "1.5",
            "1 2",
            "99999999999",
            "9999999999999999999-0",
        ] {
            assert!(minutes(text).is_err(), "{text}");
        }
        assert_eq!(
            minutes("4h").expect_err("no unit"),
            "\"4h\" is not a time; write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED"
        );
    }
}
