//! How long the jobs of a log waited, as it says itself (SWF field 3).

use super::job::Job;

/// Waits by line of the log. Kept beside the jobs, for those few who ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits(Vec<(u32, i64)>);

impl Waits {
    /// The wait of the record in the next line; below 0 it is not known. Fractions are cut off.
    pub(super) fn push(&mut self, line: u64, wait: f64) {
        if let (Ok(line), true) = (u32::try_from(line), wait >= 0.0) {
            self.0.push((line, wait as i64));
        }
    }

    /// Seconds that a job waited; `None` if the log does not tell.
    pub fn of(&self, job: &Job) -> Option<i64> {
        let at = self.0.binary_search_by_key(&job.line, |&(line, _)| line).ok()?;
        Some(self.0[at].1)
    }

    /// When a job started.
    pub fn start(&self, job: &Job) -> Option<i64> {
        self.of(job).map(|wait| job.submit.saturating_add(wait))
    }
}
