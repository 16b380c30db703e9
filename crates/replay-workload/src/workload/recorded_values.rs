//! Recorded values of the jobs of a log: wait times (SWF field 3) and users (field 12).

use super::job::Job;

/// A value of each record, in ascending order of lines of the log. The values are stored separately from the jobs
/// because few computations use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedValues(Vec<(u32, i64)>);

impl RecordedValues {
    /// Adds the value of the record on line `line`. A negative value means unknown.
    pub(super) fn push(&mut self, line: u64, value: i64) {
        if let (Ok(line), true) = (u32::try_from(line), value >= 0) {
            self.0.push((line, value));
        }
    }

    /// Returns the value of a job; `None` if unknown.
    pub fn of(&self, job: &Job) -> Option<i64> {
        let at = self.0.binary_search_by_key(&job.line, |&(line, _)| line).ok()?;
        Some(self.0[at].1)
    }

    /// Returns the recorded start time of a job, in trace seconds, if the values are wait times; `None` if unknown.
    pub fn start(&self, job: &Job) -> Option<i64> {
        self.of(job).map(|wait| job.submit.saturating_add(wait))
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::{Policy, Window, Workload};

    #[test]
    fn users_stay_with_their_jobs() {
        let job = |number: u32, submit: u32, user: i64| {
            format!("{number} {submit} 0 60 4 -1 -1 4 60 -1 1 {user} -1 -1 -1 -1 -1 -1\n")
        };
        // The second job is submitted first; the third job has no user.
        let trace = ["; MaxProcs: 16\n".to_string(), job(1, 9, 7), job(2, 5, 0), job(3, 9, -1)];
        let workload = Workload::from_reader(
            trace.concat().as_bytes(),
            "tiny.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        );
        let workload = workload.expect("a trace");
        let users = workload.jobs.iter().map(|job| (job.number, workload.users.of(job)));
        assert_eq!(users.collect::<Vec<_>>(), [(2, Some(0)), (1, Some(7)), (3, None)]);
    }
}
