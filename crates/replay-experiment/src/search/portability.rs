use rayon::prelude::*;

use super::SearchError;
use super::candidate::Candidate;
use super::problem::Problem;
use super::row::{excess, mean, objective_columns};
use super::shaken;
use crate::search::SearchRow;
use crate::{RunContext, RunKey};
use replay_engine::allocator::ties::TieVector;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::estimate::Estimate;
use replay_engine::table::{Column, Table};
use replay_engine::topology::Topology;

/// Value of [`Found::on`] for candidates that the user has given.
pub const GIVEN: &str = "given";

/// Improvements of candidates on traces other than the traces on which the candidates were found (Johnson, Bunde,
/// Leung, Fig. 15).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Portability {
    /// Candidates, each with the names of the traces on which it was found.
    pub found: Vec<Found>,
    /// Traces on which the candidates are evaluated.
    pub parts: Vec<Tried>,
    /// Results, indexed by candidate and then by trace.
    pub cells: Vec<Vec<PortabilityCell>>,
}

/// A candidate and its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The candidate as it was found, before its scan radius is scaled.
    pub candidate: Candidate,
    /// Names of the traces on which the candidate was found, or "given".
    pub on: String,
    /// Width of the machine on which the candidate was found, if scan radii are scaled.
    pub width: Option<u32>,
}

/// A trace on which candidates are evaluated.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Name of the trace.
    pub name: String,
    /// Name of the machine.
    pub topology: String,
    /// Value of the objective without tie-breaking.
    pub baseline: f64,
}

/// Result of a candidate on a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct PortabilityCell {
    /// The evaluated candidate, possibly with a scaled scan radius.
    pub candidate: Candidate,
    /// Objective.
    pub value: f64,
    /// Improvement over no tie-breaking in percent.
    pub improvement_percent: f64,
    /// Largest excess over a constraint in percentage points; 0 if all constraints are satisfied.
    pub excess_percent: f64,
    /// Improvement in percent on each perturbed copy of the trace; `None` if there are no perturbed copies.
    pub copies: Option<Vec<f64>>,
}

impl Portability {
    /// Evaluates every candidate on every problem in parallel. Each problem contains a trace or its perturbed copies.
    /// Returns `None` if the computation is cancelled through `stop`.
    ///
    /// # Errors
    /// [`SearchError`] under the conditions of [`Problem::evaluate`].
    pub fn new(
        found: Vec<Found>,
        problems: &[Problem],
        stop: &CancelToken,
    ) -> Result<Option<Self>, SearchError> {
        let places: Vec<_> = (0..found.len())
            .flat_map(|row| (0..problems.len()).map(move |part| (row, part)))
            .collect();
        let cell = |&(row, part): &(usize, usize)| {
            let (found, problem): (&Found, _) = (&found[row], &problems[part]);
            let mut candidate = found.candidate;
            if let Some(from) = found.width {
                let to = width(&problem.parts[0].trace.topology);
                candidate.vector = scaled(candidate.vector, from, to);
            }
            let one = problem.evaluate(candidate, None, RunContext::new(stop))?;
            Ok(PortabilityCell {
                candidate: one.candidate,
                copies: one.by_copy(problem),
                value: mean(&one.values),
                improvement_percent: one.improvement_percent,
                excess_percent: one.excess_percent,
            })
        };
        let cells: Result<Vec<_>, SearchError> = places.par_iter().map(cell).collect();
        let cells = match cells {
            Err(SearchError::Cancelled(_)) => return Ok(None),
            cells => cells?,
        };
        let tried = |problem: &Problem| {
            let part = &problem.parts[0];
            Tried {
                name: part.name.clone(),
                topology: part.trace.topology.to_string(),
                baseline: mean(&problem.baseline_values()),
            }
        };
        Ok(Some(Self {
            parts: problems.iter().map(tried).collect(),
            cells: cells.chunks(problems.len().max(1)).map(<[_]>::to_vec).collect(),
            found,
        }))
    }
}

impl PortabilityCell {
    /// Returns the mean improvement over the perturbed copies, with a confidence interval.
    pub fn estimate(&self) -> Option<Estimate> {
        self.copies.as_deref().map(shaken::mean)
    }
}

/// Returns the mean improvement of a candidate over several traces in percent.
pub fn improvement(cells: &[PortabilityCell]) -> f64 {
    cells.iter().map(|cell| cell.improvement_percent).sum::<f64>() / cells.len() as f64
}

/// Returns the mean improvement of a candidate over several traces and their perturbed copies, with a confidence
/// interval; `None` if there are no perturbed copies.
pub fn shaken_improvement(cells: &[PortabilityCell]) -> Option<Estimate> {
    let copies = cells.first()?.copies.as_ref()?.len();
    let all: Vec<f64> =
        cells.iter().filter_map(|cell| cell.copies.as_ref()).flatten().copied().collect();
    shaken::by_copy(&all, copies).as_deref().map(shaken::mean)
}

/// A row of the table: a candidate on a trace.
#[derive(Clone, Copy, Debug)]
pub struct PortabilityRow<'a> {
    /// The candidate as it was found.
    pub found: &'a Found,
    /// The trace.
    pub tried: &'a Tried,
    /// The result.
    pub cell: &'a PortabilityCell,
}

impl Portability {
    /// Returns the rows of every candidate on every trace.
    pub fn rows(&self) -> Vec<PortabilityRow<'_>> {
        let pairs = self.found.iter().zip(&self.cells);
        let row = |(found, cells)| {
            let tried = self.parts.iter().zip::<&Vec<PortabilityCell>>(cells);
            tried.map(move |(tried, cell)| PortabilityRow { found, tried, cell })
        };
        pairs.flat_map(row).collect()
    }
}

impl Table for PortabilityRow<'_> {
    const NAME: &'static str = "portability";
    const ROW: &'static str = "one row per candidate and trace on which it was evaluated";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let [value, improvement] = objective_columns(|r: &Self| Some(r.cell.value), |r| r.cell.improvement_percent);
        vec![
            Column::new("found", "", "the candidate as it was found: SR,AF,WF,BF, or SR,AF,WF,BF@SLACK if it has a slack", |r: &Self| r.found.candidate.to_string()),
            Column::text("found_on", "traces on which the candidate was found, joined by +; the word \"given\" if the search did not find the candidate", |r: &Self| Some(&r.found.on)),
            Column::text(RunKey::TRACE, "name of the trace: its file name without .swf and .gz", |r: &Self| Some(&r.tried.name)),
            Column::text(RunKey::TOPOLOGY, "machine, such as 10x10", |r: &Self| Some(&r.tried.topology)),
            Column::new("candidate", "", "candidate that was evaluated: the candidate as it was found; with --scale-sr, its scan radius is scaled in proportion to the machine", |r: &Self| r.cell.candidate.to_string()),
            value,
            Column::new("baseline", "as the objective", "the objective without tie-breaking", |r: &Self| r.tried.baseline),
            improvement,
            excess(|r: &Self| Some(r.cell.excess_percent)),
            Column::new(SearchRow::IMPROVEMENT_HALF_WIDTH, "%", "half the width of the 95 % interval of the improvement over perturbed copies; null without --shake", |r: &Self| r.cell.estimate().map(|mean| mean.half_width)),
        ]
    }
}

/// Returns the extent of a machine along its longest dimension. For a hypercube, the result is the number of
/// dimensions; for a cluster, the result is 1.
pub fn width(topology: &Topology) -> u32 {
    match topology {
        Topology::Grid(grid) => {
            grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1)
        }
        Topology::Hypercube(cube) => u32::from(cube.dimensions()),
        Topology::Cluster(_) | Topology::Hierarchy(_) => 1,
        Topology::MultiTorus(toruses) => toruses.extents().into_iter().max().map_or(1, u32::from),
    }
}

/// Scales the scan radius of a vector in proportion to the width of the machine. The scaled radius is at least 1.
fn scaled(vector: TieVector, from: u32, to: u32) -> TieVector {
    let (radius, to, from) = (u64::from(vector.scan_radius), u64::from(to), u64::from(from.max(1)));
    let scan_radius = ((radius * to + from / 2) / from).clamp(1, TieVector::MAX as u64);
    TieVector { scan_radius: scan_radius as u32, ..vector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_radii_scale_with_the_width() {
        // Fig. 15: the scan radius 2 for width 10 corresponds to 3 for width 16, 4 for width 20 and 6 for width 32.
        let vector: TieVector = "2,13,20,6".parse().expect("a vector");
        assert_eq!(
            [10, 16, 20, 32, 2].map(|to| scaled(vector, 10, to).scan_radius),
            [2, 3, 4, 6, 1]
        );
        let widest = TieVector { scan_radius: TieVector::MAX as u32, ..vector };
        assert_eq!(scaled(widest, 10, u32::MAX), widest);
    }
}
