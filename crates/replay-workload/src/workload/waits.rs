//! Recorded wait times of the jobs of a log (SWF field 3).

use super::job::Job;

/// Wait times of the records, in ascending order of lines of the log. Wait times are stored separately from the jobs
/// because few computations use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits(Vec<(u32, i64)>);

impl Waits {
    /// Adds the wait time of the record on line `line`. A negative time means unknown. Fractions of seconds are
    /// truncated.
    pub(super) fn push(&mut self, line: u64, wait: f64) {
        if let (Ok(line), true) = (u32::try_from(line), wait >= 0.0) {
            self.0.push((line, wait as i64));
        }
    }

    /// Returns the recorded wait time of a job, in seconds; `None` if unknown.
    pub fn of(&self, job: &Job) -> Option<i64> {
        let at = self.0.binary_search_by_key(&job.line, |&(line, _)| line).ok()?;
        Some(self.0[at].1)
    }

    /// Returns the recorded start time of a job, in trace seconds; `None` if unknown.
    pub fn start(&self, job: &Job) -> Option<i64> {
        self.of(job).map(|wait| job.submit.saturating_add(wait))
    }
}
