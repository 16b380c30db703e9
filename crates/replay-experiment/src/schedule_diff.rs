//! Differences between two schedules of the same jobs.

use replay_engine::metrics::Submitted;
use replay_engine::table::{Column, Table};

/// The start times of one job in two schedules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartChange {
    /// The base run.
    pub base: String,
    /// The run compared with the base.
    pub run: String,
    /// Number of the job.
    pub job: i64,
    /// Submission, in seconds.
    pub submit: i64,
    /// Number of processors requested.
    pub size: i64,
    /// Start time in the base and start time in the compared run, in seconds.
    pub starts: [i64; 2],
}

impl StartChange {
    /// Returns the difference between the start times in seconds: the start in the compared run minus the start in the
    /// base. The difference is negative if the job starts earlier than in the base.
    pub fn later(&self) -> i64 {
        self.starts[1] - self.starts[0]
    }
}

impl Table for StartChange {
    const NAME: &'static str = "moved";
    const ROW: &'static str = "one row per job that both runs have: its start in each run";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<StartChange>;
        vec![
            C::text("base", "base run of the comparison", |row| Some(&row.base)),
            C::text("compared_run", "run compared with the base", |row| Some(&row.run)),
            C::new(Submitted::JOB, "", "job number in the trace", |row| row.job),
            C::new(Submitted::SUBMIT, "s", "submission, in trace time", |row| row.submit),
            C::new(Submitted::SIZE, "processors", "processors that a job requests", |row| row.size),
            C::new("base_start", "s", "start in the base run, in trace time", |row| row.starts[0]),
            C::new("compared_start", "s", "start in the compared run, in trace time", |row| row.starts[1]),
            C::new("later", "s", "compared_start minus base_start; negative if the job starts earlier than in the base", |row: &StartChange| row.later()),
        ]
    }
}

/// Totals of the differences between start times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScheduleDiff {
    /// Number of jobs that start in the same second in both runs.
    pub same: u64,
    /// Number of jobs that start earlier, and the sum of their differences in seconds.
    pub earlier: (u64, i64),
    /// Number of jobs that start later, and the sum of their differences in seconds.
    pub later: (u64, i64),
}

impl ScheduleDiff {
    /// Sums up the differences.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a StartChange>) -> Self {
        let mut totals = Self::default();
        for row in rows {
            let by = row.later();
            let (jobs, seconds) = match by {
                0 => {
                    totals.same += 1;
                    continue;
                }
                ..0 => &mut totals.earlier,
                _ => &mut totals.later,
            };
            (*jobs, *seconds) = (*jobs + 1, *seconds + by.abs());
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_start_changes() {
        let row = |job: i64, starts: [i64; 2]| StartChange {
            base: String::new(),
            run: String::new(),
            job,
            submit: 0,
            size: 1,
            starts,
        };
        let rows = [row(1, [5, 5]), row(2, [9, 4]), row(3, [0, 7]), row(4, [3, 2])];
        let totals = ScheduleDiff::of(&rows);
        assert_eq!(totals, ScheduleDiff { same: 1, earlier: (2, 6), later: (1, 7) });
    }
}
