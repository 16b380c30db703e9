//! Jobs that a strategy turns away for their size, and the run without them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Cell;
use super::compatibility::check_cell;
use super::problem::CellProblem;
use replay_core::allocator::{Allocator, Request, RunSetup};
use replay_core::number::{counted, grouped};
use replay_core::simulation::SimulationError;
use replay_core::workload::Job;

/// Jobs of one size that nobody may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TurnedAway {
    /// Processors that they ask for.
    pub size: u32,
    /// How many they are.
    pub jobs: u64,
    /// The number of the first of them.
    pub first: i64,
}

/// A cell with the jobs that its strategy admits.
pub struct Admitted<'a> {
    /// The cell that can run: the same, unless a job is left out.
    pub cell: Cow<'a, Cell>,
    /// Those left out, by ascending size; `None` if the strategy admits every size that it can serve at all.
    pub turned_away: Option<Vec<TurnedAway>>,
}

impl<'a> Admitted<'a> {
    /// The jobs of a cell that are admitted by `allocator`, which was made for it and not asked yet. What follows a job that
    /// is left out follows nothing.
    ///
    /// # Errors
    /// [`CellProblem`] if the cell is [incompatible](crate::compatibility::Incompatible), no job is admitted, or the
    /// strategy cannot be made for the sizes of the jobs.
    pub fn by(allocator: &mut dyn Allocator, cell: &'a Cell) -> Result<Self, CellProblem> {
        check_cell(cell, allocator)?;
        if !allocator.capabilities().rejects_unsupported_sizes {
            return Ok(Self { cell: Cow::Borrowed(cell), turned_away: None });
        }
        // What it can serve may go by what is to come.
        let trace = &cell.trace;
        let setup = RunSetup { jobs: trace.jobs(), ..RunSetup::default() };
        allocator.begin(&setup).map_err(SimulationError::Allocator)?;
        let mut away = BTreeMap::new();
        let mut admits = |(job, in_points): (&Job, &Job)| {
            let admits =
                allocator.bounds(Request::shaped(in_points.size, in_points.shape)).servable;
            if !admits {
                let of_size = TurnedAway { size: job.size, jobs: 0, first: job.number };
                away.entry(job.size).or_insert(of_size).jobs += 1;
            }
            admits
        };
        let all = trace.workload.jobs.iter().zip(trace.jobs());
        let kept: Vec<Job> = all.filter(|&both| admits(both)).map(|(job, _)| *job).collect();
        let away: Vec<TurnedAway> = away.into_values().collect();
        let cell = match (kept.is_empty(), away.is_empty()) {
            (_, true) => Cow::Borrowed(cell),
            (true, _) => return Err(CellProblem::NobodyAdmitted(Sizes(&away).to_string())),
            _ => Cow::Owned(Cell { trace: Arc::new(trace.with_jobs(kept)), ..cell.clone() }),
        };
        Ok(Self { cell, turned_away: Some(away) })
    }
}

/// The size of the first job of this number in a cell, if the strategy leaves out all jobs of the number.
pub fn size_left_out(cell: &Cell, number: i64) -> Option<u32> {
    let mut allocator = cell.allocator.build(&cell.trace.topology, cell.seed).ok()?;
    let admitted = Admitted::by(allocator.as_mut(), cell).ok()?;
    let of_number =
        |cell: &Cell| cell.trace.workload.jobs.iter().find(|job| job.number == number).copied();
    let job = of_number(cell)?;
    of_number(&admitted.cell).is_none().then_some(job.size)
}

/// At most so many sizes are told one by one.
const TOLD: usize = 6;

/// `3 jobs of no such size: 7 (job 4), 33 (2 jobs, the first is job 2)`.
pub struct Sizes<'a>(pub &'a [TurnedAway]);

impl fmt::Display for Sizes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.0.iter().map(|one| one.jobs).sum();
        write!(f, "{} of no such size: ", counted(all, "job"))?;
        for (i, one) in self.0.iter().take(TOLD).enumerate() {
            let between = if i > 0 { ", " } else { "" };
            write!(f, "{between}{} ", grouped(one.size))?;
            match one.jobs {
                1 => write!(f, "(job {})", one.first)?,
                jobs => write!(f, "({} jobs, the first is job {})", grouped(jobs), one.first)?,
            }
        }
        match self.0.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, " and {} more", counted(more as u64, "size")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_with_their_jobs() {
        let of = |size, jobs| TurnedAway { size, jobs, first: i64::from(size) + 1 };
        let told = Sizes(&[of(7, 1), of(1033, 2)]).to_string();
        assert_eq!(
            told,
            "3 jobs of no such size: 7 (job 8), 1,033 (2 jobs, the first is job 1034)"
        );
        let many: Vec<TurnedAway> = (3..11).map(|size| of(size, 1)).collect();
        assert!(Sizes(&many).to_string().ends_with("8 (job 9) and 2 sizes more"));
    }
}
