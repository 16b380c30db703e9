//! Recorded values of the jobs of a log: wait times (SWF field 3), and users, groups, queues and partitions (fields 12,
//! 13, 15 and 16).

use super::job::Job;
use crate::swf::Record;

/// A value of each record, run-length encoded in ascending order of lines of the log. The values are stored separately
/// from the jobs because few computations use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedValues(
    /// Line and value of each record whose value differs from that of the record before. Negative values are unknown.
    Vec<(u32, i64)>,
);

impl RecordedValues {
    /// Adds the value of the record on line `line`. A negative value means unknown.
    pub(super) fn push(&mut self, line: u64, value: i64) {
        // The lines of jobs saturate at 32 bits, so these lines are ambiguous.
        let (line, value) = match u32::try_from(line) {
            Ok(line) if line < u32::MAX => (line, value.max(-1)),
            _ => (u32::MAX, -1),
        };
        if self.0.last().map_or(-1, |last| last.1) != value {
            self.0.push((line, value));
        }
    }

    /// Returns the value of a job; `None` if unknown.
    pub fn of(&self, job: &Job) -> Option<i64> {
        let after = self.0.partition_point(|&(line, _)| line <= job.line);
        let value = self.0[after.checked_sub(1)?].1;
        (value >= 0).then_some(value)
    }

    /// Returns the recorded start time of a job, in trace seconds, if the values are wait times; `None` if unknown.
    pub fn start(&self, job: &Job) -> Option<i64> {
        self.of(job).map(|wait| job.submit.saturating_add(wait))
    }
}

/// The numbers of the user, group, queue and partition of a job in the log; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobLabels {
    /// SWF field 12.
    pub user: Option<i64>,
    /// SWF field 13.
    pub group: Option<i64>,
    /// SWF field 15.
    pub queue: Option<i64>,
    /// SWF field 16.
    pub partition: Option<i64>,
}

/// The recorded users, groups, queues and partitions of the jobs of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedLabels {
    users: RecordedValues,
    groups: RecordedValues,
    queues: RecordedValues,
    partitions: RecordedValues,
}

impl RecordedLabels {
    /// Adds the values of the record on line `line`.
    pub(super) fn push(&mut self, line: u64, record: &Record) {
        self.users.push(line, record.user);
        self.groups.push(line, record.group);
        self.queues.push(line, record.queue);
        self.partitions.push(line, record.partition);
    }

    /// Returns the values of a job.
    pub fn of(&self, job: &Job) -> JobLabels {
        JobLabels {
            user: self.users.of(job),
            group: self.groups.of(job),
            queue: self.queues.of(job),
            partition: self.partitions.of(job),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::{JobLabels, Policy, Window, Workload};

    #[test]
    fn labels_stay_with_their_jobs() {
        let job = |number: u32, submit: u32, labels: &str| {
            format!("{number} {submit} 0 60 4 -1 -1 4 60 -1 1 {labels} -1 -1\n")
        };
        // The second job is submitted first, the third has no labels, and the fourth those of the first.
        let trace = [
            "; MaxProcs: 16\n".to_string(),
            job(1, 9, "7 3 -1 0 2"),
            job(2, 5, "0 3 5 1 2"),
            "; a comment\n".to_string(),
            job(3, 9, "-1 -1 -1 -1 -1"),
            job(4, 9, "7 3 -1 0 2"),
        ];
        let workload = Workload::from_reader(
            trace.concat().as_bytes(),
            "tiny.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        );
        let workload = workload.expect("a trace");
        let labels = workload.jobs.iter().map(|job| (job.number, workload.labels.of(job)));
        let all = |[user, group, queue, partition]: [i64; 4]| {
            let [user, group, queue, partition] = [user, group, queue, partition].map(Some);
            JobLabels { user, group, queue, partition }
        };
        let expected = [
            (2, all([0, 3, 1, 2])),
            (1, all([7, 3, 0, 2])),
            (3, JobLabels::default()),
            (4, all([7, 3, 0, 2])),
        ];
        assert_eq!(labels.collect::<Vec<_>>(), expected);
    }
}
