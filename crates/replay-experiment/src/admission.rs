//! Jobs that a strategy rejects because of their size, and cells without these jobs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Cell;
use super::compatibility::check_cell;
use super::problem::CellProblem;
use replay_engine::allocator::explain::{ExplanationLog, Part};
use replay_engine::allocator::{Allocator, Request, RunSetup};
use replay_engine::machine::Machine;
use replay_engine::number::{counted, grouped};
use replay_engine::simulation::SimulationError;
use replay_engine::workload::Job;

/// The jobs of one size that a strategy rejects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RejectedSize {
    /// Number of processors requested.
    pub size: u32,
    /// Number of jobs of this size.
    pub jobs: u64,
    /// Job number of the first job of this size.
    pub first: i64,
}

/// A cell restricted to the jobs that its strategy accepts.
pub struct Admitted<'a> {
    /// The cell to run: the original cell, or a copy without the rejected jobs.
    pub cell: Cow<'a, Cell>,
    /// The rejected sizes, ascending; `None` if the strategy accepts every size that fits the machine.
    pub turned_away: Option<Vec<RejectedSize>>,
}

impl<'a> Admitted<'a> {
    /// Removes the jobs that the strategy of a cell rejects, before the cell runs.
    ///
    /// # Errors
    /// [`CellProblem`] under the conditions of [`by`](Self::by); a cell is not checked if its strategy rejects no jobs.
    pub fn of(cell: &'a Cell) -> Result<Self, CellProblem> {
        let Cell { trace, allocator, .. } = cell;
        let capabilities =
            trace.prepared.check(allocator, &trace.topology, |built| Ok(built.capabilities()))?;
        match capabilities.rejects_unsupported_sizes {
            true => Self::by(cell.build_allocator()?.as_mut(), cell),
            false => Ok(Self { cell: Cow::Borrowed(cell), turned_away: None }),
        }
    }

    /// Removes the jobs that `allocator` rejects. `allocator` must be newly built for this cell. Dependencies of the
    /// remaining jobs on removed jobs are also removed.
    ///
    /// # Errors
    /// [`CellProblem`] if the cell is [incompatible](crate::compatibility::Incompatible), every job is rejected, or
    /// the strategy cannot be prepared for the sizes of the jobs.
    pub fn by(allocator: &mut dyn Allocator, cell: &'a Cell) -> Result<Self, CellProblem> {
        check_cell(cell, allocator)?;
        if !allocator.capabilities().rejects_unsupported_sizes {
            return Ok(Self { cell: Cow::Borrowed(cell), turned_away: None });
        }
        // The supported sizes can depend on the jobs of the trace.
        let trace = &cell.trace;
        let setup = RunSetup { jobs: trace.jobs(), ..RunSetup::default() };
        allocator.begin(&setup).map_err(SimulationError::Allocator)?;
        let mut rejected = BTreeMap::new();
        let mut accepts = |(job, in_points): (&Job, &Job)| {
            let accepts =
                allocator.bounds(Request::shaped(in_points.size, in_points.shape)).servable;
            if !accepts {
                let of_size = RejectedSize { size: job.size, jobs: 0, first: job.number };
                rejected.entry(job.size).or_insert(of_size).jobs += 1;
            }
            accepts
        };
        let all = trace.workload.jobs.iter().zip(trace.jobs());
        let kept: Vec<Job> = all.filter(|&both| accepts(both)).map(|(job, _)| *job).collect();
        let rejected: Vec<RejectedSize> = rejected.into_values().collect();
        let cell = match (kept.is_empty(), rejected.is_empty()) {
            (_, true) => Cow::Borrowed(cell),
            (true, _) => {
                return Err(CellProblem::NoJobAdmitted(RejectedSizes(&rejected).to_string()));
            }
            _ => Cow::Owned(Cell { trace: Arc::new(trace.with_jobs(kept)), ..cell.clone() }),
        };
        Ok(Self { cell, turned_away: Some(rejected) })
    }
}

/// A job that a strategy rejects because of its size.
#[derive(Clone, PartialEq, Debug)]
pub struct LeftOutJob {
    /// Number of processors requested.
    pub size: u32,
    /// The explanation of the decision for this job on the idle machine. The explanation is empty unless the machine is
    /// a tree or consists of blocks.
    pub explanation: Vec<Part>,
}

/// Returns the first job with this job number if the cell's strategy rejects all jobs with this number; `None`
/// otherwise.
pub fn left_out_job(cell: &Cell, number: i64) -> Option<LeftOutJob> {
    let mut allocator = cell.build_allocator().ok()?;
    let admitted = Admitted::by(allocator.as_mut(), cell).ok()?;
    let of_number =
        |cell: &Cell| cell.trace.workload.jobs.iter().find(|job| job.number == number).copied();
    let job = of_number(cell)?;
    if of_number(&admitted.cell).is_some() {
        return None;
    }
    let topology = &cell.trace.topology;
    let explanation = topology.hierarchy().map_or(Ok(Vec::new()), |_| {
        let log = ExplanationLog::recording();
        allocator.begin(&RunSetup { explanation: log.clone(), ..RunSetup::default() })?;
        log.set_recording(true);
        let (machine, request) = (Machine::new(topology.clone()), Request::of_size(job.size));
        _ = allocator.allocate(&machine, request, &mut Vec::new());
        Ok::<_, String>(log.take().parts)
    });
    Some(LeftOutJob { size: job.size, explanation: explanation.ok()? })
}

/// Maximum number of sizes that are listed individually.
const MAX_LISTED: usize = 6;

/// Formats rejected sizes as `3 jobs of unsupported size: 7 (job 4), 33 (2 jobs, the first is job 2)`.
pub struct RejectedSizes<'a>(pub &'a [RejectedSize]);

impl fmt::Display for RejectedSizes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.0.iter().map(|one| one.jobs).sum();
        write!(f, "{} of unsupported size: ", counted(all, "job"))?;
        for (i, one) in self.0.iter().take(MAX_LISTED).enumerate() {
            let between = if i > 0 { ", " } else { "" };
            write!(f, "{between}{} ", grouped(one.size))?;
            match one.jobs {
                1 => write!(f, "(job {})", one.first)?,
                jobs => write!(f, "({} jobs, the first is job {})", grouped(jobs), one.first)?,
            }
        }
        match self.0.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, " and {} more", counted(more as u64, "size")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_sizes_with_their_jobs() {
        let rejected = |size, jobs| RejectedSize { size, jobs, first: i64::from(size) + 1 };
        let text = RejectedSizes(&[rejected(7, 1), rejected(1033, 2)]).to_string();
        assert_eq!(
            text,
            "3 jobs of unsupported size: 7 (job 8), 1,033 (2 jobs, the first is job 1034)"
        );
        let many: Vec<RejectedSize> = (3..11).map(|size| rejected(size, 1)).collect();
        assert!(RejectedSizes(&many).to_string().ends_with("8 (job 9) and 2 sizes more"));
    }
}
