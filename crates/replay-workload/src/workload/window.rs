//! A window of a trace: its start, its number of jobs and its length in days.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::job::Job;
use crate::number::counted;
use crate::swf::Header;

const SECONDS_PER_DAY: i64 = 86_400;

/// The start of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Seconds since the start of the log (time 0 of its submit times).
    Seconds(i64),
    /// Midnight of a day in local time of the log, as days since 1970-01-01. The time zone is `TimeZone` of the header,
    /// or UTC if the header has no `TimeZone`.
    Day(i64),
}

/// The part of a cleaned, sorted trace that is replayed. Times are not shifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Window {
    /// Start of the window. `None` means the submit time of the first job.
    pub from: Option<Start>,
    /// Maximum number of jobs.
    pub jobs: Option<usize>,
    /// Length of the window in days; a job that is submitted exactly at the end is outside the window.
    pub days: Option<f64>,
}

/// Numbers of jobs outside a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Number of jobs submitted before the window.
    pub before: usize,
    /// Number of jobs submitted after the window, or beyond the window's maximum number of jobs.
    pub after: usize,
}

/// Error: a window is invalid, or contains no jobs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WindowError {
    /// The text is neither seconds nor a date.
    #[error("\"{0}\" is neither seconds since the trace's start nor a date like 1996-09-23")]
    Start(String),
    /// The start is a date, but the header does not contain the start time of the log.
    #[error("a window from a date needs UnixStartTime in the trace's header: give seconds instead")]
    NoStartTime,
    /// The number of days is not a positive number.
    #[error("a window of {0} days: the number must be positive")]
    Days(f64),
    /// The window contains no jobs.
    #[error(
        "the window contains none of the {jobs} jobs, which were submitted from second {first} to {last}"
    )]
    Empty {
        /// Jobs in the trace after cleaning.
        jobs: usize,
        /// First submit time, seconds.
        first: i64,
        /// Last submit time, seconds.
        last: i64,
    },
}

impl Window {
    /// The whole trace.
    pub const ALL: Window = Window { from: None, jobs: None, days: None };

    /// Creates a window from the command line's `--from`, `--jobs` and `--days`.
    ///
    /// # Errors
    /// [`WindowError::Start`] if `from` is neither seconds nor a date; [`WindowError::Days`] if `days` is not positive.
    ///
    /// ```
    /// use replay_workload::workload::{Start, Window};
    ///
    /// let window = Window::parse(Some("1970-01-03"), Some(1000), None)?;
    /// assert_eq!(window.from, Some(Start::Day(2)));
    /// # Ok::<(), replay_workload::workload::WindowError>(())
    /// ```
    pub fn parse(
        from: Option<&str>,
        jobs: Option<usize>,
        days: Option<f64>,
    ) -> Result<Window, WindowError> {
        let from = from.map(str::parse).transpose()?;
        match days {
            Some(days) if !(days > 0.0 && days.is_finite()) => Err(WindowError::Days(days)),
            _ => Ok(Window { from, jobs, days }),
        }
    }

    /// Removes the jobs outside the window; `jobs` must be sorted by submit time.
    ///
    /// # Errors
    /// [`WindowError`] if the start is a date and the header has no `UnixStartTime`, if the number of days is not
    /// positive, or if no job is inside the window. `jobs` is then unchanged.
    pub fn apply(&self, jobs: &mut Vec<Job>, header: &Header) -> Result<Outside, WindowError> {
        let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else {
            return Ok(Outside::default());
        };
        let (first, last) = (first.submit, last.submit);
        let from = match self.from {
            None => first,
            Some(Start::Seconds(seconds)) => seconds,
            Some(Start::Day(day)) => {
                let midnight = day.saturating_mul(SECONDS_PER_DAY);
                since_start(header, midnight).ok_or(WindowError::NoStartTime)?
            }
        };
        let begin = jobs.partition_point(|job| job.submit < from);
        let mut end = jobs.len();
        if let Some(days) = self.days {
            if !(days > 0.0 && days.is_finite()) {
                return Err(WindowError::Days(days));
            }
            let until = from.saturating_add((days * SECONDS_PER_DAY as f64).ceil() as i64);
            end = jobs.partition_point(|job| job.submit < until);
        }
        if let Some(count) = self.jobs {
            end = end.min(begin.saturating_add(count));
        }
        if begin >= end {
            return Err(WindowError::Empty { jobs: jobs.len(), first, last });
        }
        let outside = Outside { before: begin, after: jobs.len() - end };
        jobs.truncate(end);
        jobs.drain(..begin);
        Ok(outside)
    }
}

impl FromStr for Start {
    type Err = WindowError;

    /// Parses seconds (`86400`) or a date (`1996-09-23`).
    fn from_str(text: &str) -> Result<Start, WindowError> {
        let unknown = || WindowError::Start(text.to_owned());
        if let Ok(seconds) = text.parse() {
            return Ok(Start::Seconds(seconds));
        }
        date(text).map(Start::Day).ok_or_else(unknown)
    }
}

/// Converts local time of a log, in seconds since 1970-01-01 00:00, to seconds since the start of the log; `None` if
/// the header has no `UnixStartTime`.
pub(super) fn since_start(header: &Header, local: i64) -> Option<i64> {
    let start = header.unix_start_time()?;
    Some(local.saturating_sub(header.time_zone().unwrap_or(0)).saturating_sub(start))
}

/// Parses a date like `1996-09-23` as days since 1970-01-01.
pub(super) fn date(text: &str) -> Option<i64> {
    let mut parts =
        text.split('-').map(|part| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse::<u32>().ok(),
            false => None,
        });
    match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten(), parts.next()) {
        (Some(year @ 1..=9999), Some(month @ 1..=12), Some(day), None)
            if (1..=month_days(year, month)).contains(&day) =>
        {
            Some(days_since_1970(year, month, day))
        }
        _ => None,
    }
}

impl fmt::Display for Window {
    /// Formats the window, for example as `from second 86400, 1000 jobs, 7 days`, or as `all jobs` if it has no limits.
    ///
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map(|start| match start {
            Start::Seconds(seconds) => format!("from second {seconds}"),
            Start::Day(day) => format!("from day {day} since 1970-01-01"),
        });
        let parts = [
            from,
            self.jobs.map(|n| counted(n as u64, "job")),
            self.days.map(|d| format!("{d} days")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.pad(&if parts.is_empty() { "all jobs".to_owned() } else { parts.join(", ") })
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_days(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap(year)),
        _ => 31,
    }
}

/// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar. The date must exist.
pub fn days_since_1970(year: u32, month: u32, day: u32) -> i64 {
    let before = i64::from(year) - 1;
    let leap_days = before / 4 - before / 100 + before / 400;
    let months: u32 = (1..month).map(|m| month_days(year, m)).sum();
    before * 365 + leap_days + i64::from(months) + i64::from(day) - 1 - 719_162
}

/// Converts a number of days since 1970-01-01 to year, month and day. Any number of days is valid.
pub fn civil(day: i64) -> (i64, i64, i64) {
    // In this computation, years begin in March, so that a leap day is the last day of its year. A cycle of 400 years
    // has 146,097 days.
    let day = day.saturating_add(719_468);
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + later, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn jobs(submits: &[i64]) -> Vec<Job> {
        submits
            .iter()
            .map(|&submit| Job {
                number: submit,
                submit,
                run: 1,
                estimate: 1,
                size: 1,
                line: 0,
                shape: None,
                limit: None,
            })
            .collect()
    }

    fn inside(
        window: Window,
        submits: &[i64],
        header: &str,
    ) -> Result<(Vec<i64>, Outside), WindowError> {
        let mut jobs = jobs(submits);
        let outside = window.apply(&mut jobs, &Header::parse(header.as_bytes()))?;
        Ok((jobs.iter().map(|job| job.submit).collect(), outside))
    }

    #[test]
    fn parses_dates() {
        let day = |text: &str| text.parse::<Start>();
        assert_eq!(day("1970-01-01"), Ok(Start::Day(0)));
        assert_eq!(day("2000-03-01"), Ok(Start::Day(11_017)));
        assert_eq!(day("1996-02-29"), Ok(Start::Day(9_555)));
        assert_eq!(day("-60"), Ok(Start::Seconds(-60)));
        for wrong in
            ["1997-02-29", "1996-13-01", "1996-1", "1996-01-01-01", "", "today", "1996-+1-01"]
        {
            assert_eq!(day(wrong), Err(WindowError::Start(wrong.into())));
        }
    }

    #[test]
    fn seconds_jobs_and_days() {
        let submits = [100, 200, 86_500, 86_501, 200_000];
        let window = |from, jobs, days| Window::parse(from, jobs, days).unwrap();
        let all = inside(Window::ALL, &submits, "").unwrap();
        assert_eq!(all, (submits.to_vec(), Outside { before: 0, after: 0 }));
        // If the window has no start, its length is measured from the submit time of the first job.
        let day = inside(window(None, None, Some(1.0)), &submits, "").unwrap();
        assert_eq!(day, (vec![100, 200], Outside { before: 0, after: 3 }));
        let some = inside(window(Some("200"), Some(2), None), &submits, "").unwrap();
        assert_eq!(some, (vec![200, 86_500], Outside { before: 1, after: 2 }));
        assert!(matches!(
            inside(window(Some("200001"), None, None), &submits, ""),
            Err(WindowError::Empty { jobs: 5, .. })
        ));
        assert!(Window::parse(None, None, Some(f64::NAN)).is_err());
    }

    #[test]
    fn a_date_is_local_midnight() {
        let window = Window::parse(Some("1970-01-02"), None, None).unwrap();
        let header = "; UnixStartTime: 3600\n; TimeZone: 3600\n";
        // Midnight at UTC+1 is second 82,800 of the day in UTC, which is 79,200 s after the log's start.
        assert_eq!(inside(window, &[79_199, 79_200], header).unwrap().0, [79_200]);
        assert_eq!(inside(window, &[0], ""), Err(WindowError::NoStartTime));
    }

    proptest! {
        #[test]
        fn all_jobs_are_kept_or_counted_outside(mut submits in proptest::collection::vec(0i64..1000, 1..50), from in -10i64..1000, jobs in 1usize..60) {
            submits.sort_unstable();
            let window = Window { from: Some(Start::Seconds(from)), jobs: Some(jobs), days: None };
            match inside(window, &submits, "") {
                Ok((kept, outside)) => {
                    prop_assert_eq!(outside.before + kept.len() + outside.after, submits.len());
                    prop_assert!(kept.len() <= jobs && kept[0] >= from);
                }
                Err(error) => {
                    let empty = matches!(error, WindowError::Empty { last, .. } if last < from);
                    prop_assert!(empty, "{error}");
                }
            }
        }
    }
}
