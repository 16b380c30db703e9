//! Recorded users of the jobs of a log (SWF field 12).

use super::job::Job;

/// Users of the records, in ascending order of lines of the log. Users are stored separately from the jobs because
/// schedulers do not need them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users(Vec<(u32, i64)>);

impl Users {
    /// Adds the user of the record on line `line`. A negative number means unknown.
    pub(super) fn push(&mut self, line: u64, user: i64) {
        if let (Ok(line), true) = (u32::try_from(line), user >= 0) {
            self.0.push((line, user));
        }
    }

    /// Returns the number of the user who submitted a job; `None` if unknown.
    pub fn of(&self, job: &Job) -> Option<i64> {
        let at = self.0.binary_search_by_key(&job.line, |&(line, _)| line).ok()?;
        Some(self.0[at].1)
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
