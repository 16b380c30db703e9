//! Notation of jobs and instants of a trace in text for people.

use super::job_ids::{JobIds, JobIdsError};
use super::load::Workload;
use super::scale::unscaled_name;
use super::window::civil;
use crate::number::grouped;

/// The data that the notation of the jobs and instants of a trace depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notation {
    /// Second 0 of the trace in local time, in seconds since 1970-01-01 00:00; `None` if the trace has no dates.
    pub epoch: Option<i64>,
    /// The ids of the jobs in the log, if they are known.
    pub ids: Option<JobIds>,
}

impl Notation {
    /// Returns the notation of a trace: dates if the header has `UnixStartTime` and the times are not scaled, and the ids
    /// in the file beside the trace.
    ///
    /// # Errors
    /// [`JobIdsError`] if the file with the ids cannot be used.
    pub fn of(workload: &Workload) -> Result<Notation, JobIdsError> {
        let header = &workload.header;
        let is_scaled = unscaled_name(&workload.name).is_some();
        let start = header.unix_start_time().filter(|_| !is_scaled);
        let epoch = start.map(|start| start.saturating_add(header.time_zone().unwrap_or(0)));
        Ok(Notation { epoch, ids: JobIds::beside(workload)? })
    }

    /// Formats a job: its number, and its id in the log if the id is another one: `335 (500333)`.
    pub fn job(&self, number: i64) -> String {
        match self.ids.as_ref().and_then(|ids| ids.id(number)) {
            Some(id) => format!("{number} ({id})"),
            None => number.to_string(),
        }
    }

    /// Formats an instant: `2026-03-06 01:49 (352,182 s)`, or `352,182 s` without dates.
    pub fn instant(&self, seconds: i64) -> String {
        match self.date(seconds) {
            Some(date) => format!("{date} ({} s)", grouped(seconds)),
            None => format!("{} s", grouped(seconds)),
        }
    }

    /// Formats an instant as a date, truncated to minutes: `2026-03-06 01:49`; `None` without dates.
    pub fn date(&self, seconds: i64) -> Option<String> {
        let local = self.epoch?.saturating_add(seconds);
        let (year, month, day) = civil(local.div_euclid(86_400));
        let minute = local.rem_euclid(86_400) / 60;
        Some(format!("{year}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Policy, Window};

    fn notation(header: &str) -> Notation {
        let text = format!("{header}1 0 0 5 2\n");
        let workload = Workload::from_reader(
            text.as_bytes(),
            "no/such.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        );
        Notation::of(&workload.expect("a trace")).expect("no ids")
    }

    #[test]
    fn instants_are_dates_in_local_time() {
        let utc = notation("; UnixStartTime: 1772496000\n");
        assert_eq!(utc.instant(352_182), "2026-03-07 01:49 (352,182 s)");
        assert_eq!(utc.date(-1).as_deref(), Some("2026-03-02 23:59"));
        let local = notation("; UnixStartTime: 1772496000\n; TimeZone: -28,800\n");
        assert_eq!(local.date(0).as_deref(), Some("2026-03-02 16:00"));
        assert_eq!(notation("").instant(352_182), "352,182 s");
        assert_eq!(notation("").job(335), "335");
    }
}
