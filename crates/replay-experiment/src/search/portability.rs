use rayon::prelude::*;

use super::SearchError;
use super::candidate::Candidate;
use super::problem::Problem;
use super::row::{excess, mean, worth};
use super::shaken;
use crate::Watch;
use replay_core::allocator::centre::TieVector;
use replay_core::metrics::estimate::Estimate;
use replay_core::stop::Stop;
use replay_core::table::{Column, Table, name};
use replay_core::topology::Topology;

/// Where a candidate was found that the user gave.
pub const GIVEN: &str = "given";

/// Candidates tried where they were not found (Johnson, Bunde, Leung, Fig. 15).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Portability {
    /// The candidates, and on which traces each was found.
    pub found: Vec<Found>,
    /// The traces.
    pub parts: Vec<Tried>,
    /// What they come to, by candidate, then trace.
    pub cells: Vec<Vec<PortabilityCell>>,
}

/// A candidate and where it comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The candidate as it was found.
    pub candidate: Candidate,
    /// The traces it was found on, or "given".
    pub on: String,
    /// The machine it was found on, if scan radii are to be scaled.
    pub width: Option<u32>,
}

/// A trace that candidates are tried on.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Its machine.
    pub topology: String,
    /// The objective without tie-breaking.
    pub baseline: f64,
}

/// A candidate on a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct PortabilityCell {
    /// What ran; its scan radius may have been scaled.
    pub candidate: Candidate,
    /// The objective.
    pub value: f64,
    /// How much better than without tie-breaking, in percent.
    pub improvement_percent: f64,
    /// By how many percent the constraints are exceeded; 0 if all hold.
    pub excess_percent: f64,
    /// The improvement by shaken copy of the trace, in percent; `None` if it is not shaken.
    pub copies: Option<Vec<f64>>,
}

impl Portability {
    /// Tries every candidate on every problem, each of one trace or its shaken copies, in parallel; `None` if
    /// `stop` is raised before all is done.
    ///
    /// # Errors
    /// [`SearchError`] as in [`Problem::evaluate`].
    pub fn new(
        found: Vec<Found>,
        problems: &[Problem],
        stop: &Stop,
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
            let one = problem.evaluate(candidate, None, Watch::new(stop))?;
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
            Err(SearchError::Stopped(_)) => return Ok(None),
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
    /// The improvement over shaken copies with its interval.
    pub fn estimate(&self) -> Option<Estimate> {
        self.copies.as_deref().map(shaken::mean)
    }
}

/// The mean improvement of a candidate over several traces, in percent.
pub fn improvement(cells: &[PortabilityCell]) -> f64 {
    cells.iter().map(|cell| cell.improvement_percent).sum::<f64>() / cells.len() as f64
}

/// The same with its interval over shaken copies; `None` if nothing is shaken.
pub fn shaken_improvement(cells: &[PortabilityCell]) -> Option<Estimate> {
    let copies = cells.first()?.copies.as_ref()?.len();
    let all: Vec<f64> =
        cells.iter().filter_map(|cell| cell.copies.as_ref()).flatten().copied().collect();
    shaken::by_copy(&all, copies).as_deref().map(shaken::mean)
}

/// A candidate tried on a trace.
#[derive(Clone, Copy, Debug)]
pub struct PortabilityRow<'a> {
    /// The candidate as it was found.
    pub found: &'a Found,
    /// The trace.
    pub tried: &'a Tried,
    /// What ran, and what it came to.
    pub cell: &'a PortabilityCell,
}

impl Portability {
    /// Every candidate on every trace.
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
    const ROW: &'static str = "one row per candidate and trace it was tried on";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let [value, improvement] = worth(|r: &Self| Some(r.cell.value), |r| r.cell.improvement_percent);
        vec![
            Column::new(name::found, "", "the candidate as it was found: SR,AF,WF,BF, with a slack SR,AF,WF,BF@SLACK", |r: &Self| r.found.candidate.to_string()),
            Column::text(name::found_on, "the traces it was found on, joined by +, or given", |r: &Self| Some(&r.found.on)),
            Column::text(name::trace, "trace: its file name without .swf and .gz", |r: &Self| Some(&r.tried.name)),
            Column::text(name::topology, "machine, such as 10x10", |r: &Self| Some(&r.tried.topology)),
            Column::new(name::candidate, "", "what ran: as found, but for a scan radius in proportion to the machine with --scale-sr", |r: &Self| r.cell.candidate.to_string()),
            value,
            Column::new(name::baseline, "as the objective", "the objective without tie-breaking", |r: &Self| r.tried.baseline),
            improvement,
            excess(|r: &Self| Some(r.cell.excess_percent)),
            Column::new(name::improvement_half_width, "%", "half the width of the 95 % interval of the improvement over shaken copies; null without shaking", |r: &Self| r.cell.estimate().map(|mean| mean.half_width)),
        ]
    }
}

/// The extent of a machine along its longest dimension; of a hypercube, its dimensions; 1 of a
/// cluster, which has none.
pub fn width(topology: &Topology) -> u32 {
    match topology {
        Topology::Grid(grid) => {
            grid.axes().iter().map(|axis| u32::from(axis.extent)).max().unwrap_or(1)
        }
        Topology::Hypercube(cube) => u32::from(cube.dimensions()),
        Topology::Cluster(_) | Topology::Hierarchy(_) => 1,
        Topology::Toruses(toruses) => toruses.extents().into_iter().max().map_or(1, u32::from),
    }
}

/// The vector with its scan radius in proportion to the machine's width, at least 1.
fn scaled(vector: TieVector, from: u32, to: u32) -> TieVector {
    let (radius, to, from) = (u64::from(vector.scan_radius), u64::from(to), u64::from(from.max(1)));
    let scan_radius = ((radius * to + from / 2) / from).clamp(1, TieVector::MAX as u64);
    TieVector { scan_radius: scan_radius as u32, ..vector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_radii_are_a_fifth_of_the_width_again() {
        // Fig. 15: 2 on 10 is 3 on 16, 4 on 20 and 6 on 32.
        let vector: TieVector = "2,13,20,6".parse().expect("a vector");
        assert_eq!(
            [10, 16, 20, 32, 2].map(|to| scaled(vector, 10, to).scan_radius),
            [2, 3, 4, 6, 1]
        );
        let widest = TieVector { scan_radius: TieVector::MAX as u32, ..vector };
        assert_eq!(scaled(widest, 10, u32::MAX), widest);
    }
}
