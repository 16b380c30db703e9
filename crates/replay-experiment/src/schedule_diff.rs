//! Two schedules of the same jobs: who starts earlier, who later.

use replay_core::table::{Column, Table, name};

/// A job in two schedules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The run that is compared with.
    pub base: String,
    /// The run that is compared.
    pub run: String,
    /// Number of the job.
    pub job: i64,
    /// Submission, in seconds.
    pub submit: i64,
    /// Processors that it asks for.
    pub size: i64,
    /// Its start in the base and in the run that is compared, in seconds.
    pub starts: [i64; 2],
}

impl Moved {
    /// How many seconds later it starts; less than 0 if it starts earlier.
    pub fn later(&self) -> i64 {
        self.starts[1] - self.starts[0]
    }
}

impl Table for Moved {
    const NAME: &'static str = "moved";
    const ROW: &'static str = "one row per job that two runs have: when it starts in each";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<Moved>;
        vec![
            C::text(name::base, "run that is compared with", |row| Some(&row.base)),
            C::text(name::compared_run, "run that is compared", |row| Some(&row.run)),
            C::new(name::job, "", "job number in the trace", |row| row.job),
            C::new(name::submit, "s", "submission, in trace time", |row| row.submit),
            C::new(name::size, "processors", "processors that a job requests", |row| row.size),
            C::new(name::base_start, "s", "start in the base, in trace time", |row| row.starts[0]),
            C::new(name::compared_start, "s", "start in the run that is compared, in trace time", |row| row.starts[1]),
            C::new(name::later, "s", "that start less the base's; less than 0 if it is earlier", |row: &Moved| row.later()),
        ]
    }
}

/// What moves come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScheduleDiff {
    /// Jobs that start at the same second.
    pub same: u64,
    /// Jobs that start earlier, and by how many seconds all together.
    pub earlier: (u64, i64),
    /// Jobs that start later, likewise.
    pub later: (u64, i64),
}

impl ScheduleDiff {
    /// Adds up.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Moved>) -> Self {
        let mut moves = Self::default();
        for row in rows {
            let by = row.later();
            let (jobs, seconds) = match by {
                0 => {
                    moves.same += 1;
                    continue;
                }
                ..0 => &mut moves.earlier,
                _ => &mut moves.later,
            };
            (*jobs, *seconds) = (*jobs + 1, *seconds + by.abs());
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_add_up() {
        let row = |job: i64, starts: [i64; 2]| Moved {
            base: String::new(),
            run: String::new(),
            job,
            submit: 0,
            size: 1,
            starts,
        };
        let rows = [row(1, [5, 5]), row(2, [9, 4]), row(3, [0, 7]), row(4, [3, 2])];
        let moves = ScheduleDiff::of(&rows);
        assert_eq!(moves, ScheduleDiff { same: 1, earlier: (2, 6), later: (1, 7) });
    }
}
