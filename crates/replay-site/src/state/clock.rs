//! Instants as Slurm prints them: `2026-11-29T08:30:00` without a zone, or seconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use replay_engine::sanitize::excerpt;

/// How instants are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// As `2026-11-29T08:30:00`, without a zone.
    Iso,
    /// As seconds since 1970.
    #[default]
    Seconds,
}

/// Returns the instant of a text, in seconds since 1970 of the clock of the text, and its form. `None` for the words that
/// Slurm prints for an unknown instant.
///
/// # Errors
/// A message if the text is not an instant.
///
/// ```
/// use replay_site::state::clock::{instant, Clock};
///
/// assert_eq!(instant("1970-01-02T00:00:01"), Ok(Some((86_401, Clock::Iso))));
/// assert_eq!(instant("86401"), Ok(Some((86_401, Clock::Seconds))));
/// assert_eq!(instant("Unknown"), Ok(None));
/// assert!(instant("tomorrow").is_err());
/// ```
pub fn instant(text: &str) -> Result<Option<(i64, Clock)>, String> {
    let text = text.trim();
    if ["unknown", "n/a", "none", "(null)", ""].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() < 13 {
        let seconds = text.parse().map_err(|_| bad(text))?;
        return Ok(Some((seconds, Clock::Seconds)));
    }
    let time: DateTime = text.parse().map_err(|_| bad(text))?;
    let time = Offset::UTC.to_timestamp(time).map_err(|_| bad(text))?;
    Ok(Some((time.as_second(), Clock::Iso)))
}

fn bad(text: &str) -> String {
    format!("\"{}\" is not a time; write YYYY-MM-DDTHH:MM:SS or seconds since 1970", excerpt(text))
}

impl Clock {
    /// Formats an instant.
    pub fn format(self, at: i64) -> String {
        match (self, Timestamp::from_second(at)) {
            (Clock::Iso, Ok(time)) => Offset::UTC.to_datetime(time).to_string(),
            _ => at.to_string(),
        }
    }
}
