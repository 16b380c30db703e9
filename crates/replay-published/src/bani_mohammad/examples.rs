//! Worked examples of chapters 2 to 4: processors that are allocated to single requests.

use crate::claim::claim;
use crate::{Check, StrategySwap, Tolerance, VerifyError, defect};
use replay_engine::allocator::submesh::{SubMesh, volume};
use replay_engine::allocator::{Allocator, MachineEvent, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::{Grid, NodeId, Topology};

/// The lowest and the highest corner of a sub-mesh.
type Corners = [[u16; 3]; 2];

/// Checks the numbers of the worked examples.
pub fn checks() -> Result<Vec<Check>, VerifyError> {
    ROWS.iter().map(Row::check).collect()
}

/// One printed number of an example and the computation of replay's value.
struct Row {
    place: &'static str,
    machine: &'static str,
    strategy: &'static str,
    what: &'static str,
    /// Number as printed, or bound of a claim.
    printed: &'static str,
    is_claim: bool,
    ours: fn(&mut Bench) -> usize,
    /// Strategies that replace the row's strategy in the swap test.
    others: &'static [&'static str],
}

const TWO_DIMENSIONAL: [&str; 4] = ["paging", "paging[size=1]", "paging[size=2]", "buddy"];
const CONTIGUOUS: [&str; 5] =
    ["turning-busy-list", "turning-first-fit", "busy-list", "first-fit", "paging"];
const CHAPTER_4: [&str; 5] = ["gabl", "turning-busy-list", "mbs", "paging", "first-fit"];

const ROWS: [Row; 15] = [
    Row {
        place: "Fig. 2.1",
        machine: "8x8",
        strategy: "buddy",
        what: "processors that a job of 2 holds",
        printed: "4",
        is_claim: false,
        ours: |bench| bench.place([1, 2, 1]).len(),
        others: &TWO_DIMENSIONAL,
    },
    Row {
        place: "section 2.2.2",
        machine: "8x8",
        strategy: "paging[size=1]",
        what: "pages of a job of 3x3",
        printed: "3",
        is_claim: false,
        ours: |bench| {
            bench.place([3, 3, 1]);
            bench.blocks()
        },
        others: &TWO_DIMENSIONAL,
    },
    Row {
        place: "section 2.2.2",
        machine: "8x8",
        strategy: "paging[size=1]",
        what: "processors that a job of 3x3 holds",
        printed: "12",
        is_claim: false,
        ours: |bench| bench.place([3, 3, 1]).len(),
        others: &TWO_DIMENSIONAL,
    },
    Row { strategy: "first-fit", printed: "1", ..FIGURE_2_7 },
    Row { strategy: "first-fit[engine=literal]", printed: "1", ..FIGURE_2_7 },
    FIGURE_2_7,
    Row { strategy: "turning-first-fit[engine=literal]", ..FIGURE_2_7 },
    Row {
        what: "number of sides of the second job's sub-mesh that differ from those of 1x3x2",
        printed: "0",
        ours: |bench| {
            bench.place([2, 3, 2]);
            let nodes = bench.place([3, 2, 1]);
            let sides = bench.sides(&nodes);
            sides.iter().zip([1, 3, 2]).filter(|(own, printed)| *own != printed).count()
        },
        ..FIGURE_2_7
    },
    FIGURE_3_6,
    Row { strategy: "turning-busy-list[engine=literal]", ..FIGURE_3_6 },
    FIGURE_4_3,
    Row { strategy: "gabl[engine=literal]", ..FIGURE_4_3 },
    OF_8X2,
    Row { strategy: "gabl[engine=literal]", ..OF_8X2 },
    Row {
        what: "number of searches for parts of a job of 8x2: 7x2 (not found), 6x2 and 2x2",
        printed: "3",
        ours: |bench| {
            bench.in_figure_4_3([8, 2, 1], &[]);
            bench.searches()
        },
        ..FIGURE_4_3
    },
];

const FIGURE_2_7: Row = Row {
    place: "Fig. 2.7",
    machine: "3x3x2",
    strategy: "turning-first-fit",
    what: "number of placed jobs among the two jobs of 2x3x2 and 3x2x1",
    printed: "2",
    is_claim: true,
    ours: |bench| {
        let jobs = [[2, 3, 2], [3, 2, 1]];
        jobs.into_iter().filter(|&sides| !bench.place(sides).is_empty()).count()
    },
    others: &CONTIGUOUS,
};

const FIGURE_3_6: Row = Row {
    place: "Fig. 3.6",
    machine: "4x4x4",
    strategy: "turning-busy-list",
    what: "jobs of 2x4x4 and 2x1x2 whose place differs from the printed place",
    printed: "0",
    is_claim: true,
    ours: |bench| {
        bench.misplaced([2, 4, 4], &[[[0, 0, 0], [1, 3, 3]]])
            + bench.misplaced([2, 1, 2], &[[[2, 0, 0], [3, 0, 1]]])
    },
    others: &CONTIGUOUS,
};

const FIGURE_4_3: Row = Row {
    place: "Fig. 4.3",
    machine: "6x6",
    strategy: "gabl",
    what: "sub-meshes of a job of 2x4 whose place differs from the printed place",
    printed: "0",
    is_claim: true,
    ours: |bench| bench.in_figure_4_3([2, 4, 1], &[[[2, 0, 0], [3, 3, 0]]]),
    others: &CHAPTER_4,
};

const OF_8X2: Row = Row {
    what: "sub-meshes of a job of 8x2 whose place differs from the printed place",
    ours: |bench| bench.in_figure_4_3([8, 2, 1], &[[[0, 0, 0], [5, 1, 0]], [[2, 2, 0], [3, 3, 0]]]),
    ..FIGURE_4_3
};

impl Row {
    fn check(&self) -> Result<Check, VerifyError> {
        let Self { place, machine, strategy, what, printed, is_claim, .. } = *self;
        let ours = |strategy| {
            let mut bench = Bench::new(machine, strategy)?;
            Ok::<f64, VerifyError>((self.ours)(&mut bench) as f64)
        };
        let own = ours(strategy)?;
        let what = format!("{strategy}: {what}");
        let check = claim(place, machine, &what, printed, own, Tolerance::Absolute(0.0))?;
        let mut swaps = Vec::new();
        for with in self.others.iter().filter(|other| **other != strategy) {
            let ours = ours(with)?;
            if ours != own {
                swaps.push(StrategySwap { with: with.to_string(), ours, margin: 0.0 });
            }
        }
        Ok(Check { is_claim, swaps, ..check })
    }
}

/// A mesh, and an allocator that places single jobs on this mesh.
struct Bench {
    grid: Grid,
    machine: Machine,
    allocator: Box<dyn Allocator>,
}

impl Bench {
    fn new(machine: &str, strategy: &str) -> Result<Self, VerifyError> {
        let topology: Topology = machine.parse().map_err(defect)?;
        let spec = crate::allocator(strategy).map_err(defect)?;
        let allocator = spec.build(&topology, 0).map_err(defect)?;
        let grid = topology.grid().ok_or_else(|| defect("a worked example needs a mesh"))?.clone();
        Ok(Self { grid, machine: Machine::new(topology), allocator })
    }

    /// Returns the processors that are allocated to a job with these sides, in the order of allocation; empty if the
    /// job is refused.
    fn place(&mut self, sides: [u16; 3]) -> Vec<NodeId> {
        let request = Request::shaped(volume(sides) as u32, Some(sides));
        let mut nodes = Vec::new();
        if self.allocator.allocate(&self.machine, request, &mut nodes).is_ok() {
            self.machine.occupy(&nodes);
        }
        nodes
    }

    /// Places a job and returns the number of printed sub-meshes that are not allocated to the job. The sub-meshes are
    /// compared in order.
    fn misplaced(&mut self, sides: [u16; 3], printed: &[Corners]) -> usize {
        let nodes = self.place(sides);
        let mut rest = nodes.as_slice();
        let mut misplaced = 0;
        for &[base, end] in printed {
            let mut unit = Vec::new();
            SubMesh::spanning(base, end).append_to(&self.grid, &mut unit);
            match rest.strip_prefix(unit.as_slice()) {
                Some(after) => rest = after,
                None => misplaced += 1,
            }
        }
        misplaced
    }

    /// Places a job in the state of Fig. 4.3 and returns the number of printed sub-meshes that are not allocated to the
    /// job. To reach this state, eight jobs fill the mesh, and four of these jobs are removed. If the strategy does not
    /// place one of the eight jobs at the printed position, the function returns the number of all printed sub-meshes.
    fn in_figure_4_3(&mut self, sides: [u16; 3], printed: &[Corners]) -> usize {
        const JOBS: [(Corners, bool); 8] = [
            ([[0, 0, 0], [5, 1, 0]], false),
            ([[0, 2, 0], [1, 3, 0]], true),
            ([[0, 4, 0], [0, 5, 0]], false),
            ([[1, 4, 0], [5, 5, 0]], true),
            ([[2, 2, 0], [3, 3, 0]], false),
            ([[4, 2, 0], [4, 2, 0]], false),
            ([[4, 3, 0], [5, 3, 0]], true),
            ([[5, 2, 0], [5, 2, 0]], true),
        ];
        let unit = |[base, end]: Corners| SubMesh::spanning(base, end);
        if JOBS.iter().any(|(job, _)| self.misplaced(unit(*job).sides, &[*job]) > 0) {
            return printed.len();
        }
        for (job, _) in JOBS.iter().filter(|(_, stays)| !stays) {
            let mut nodes = Vec::new();
            unit(*job).append_to(&self.grid, &mut nodes);
            self.machine.release(&nodes);
            self.allocator.on_event(&self.machine, MachineEvent::Released(&nodes));
        }
        self.misplaced(sides, printed)
    }

    /// Returns the number of units in the last allocation.
    fn blocks(&self) -> usize {
        self.allocator.stats().census.map_or(0, |census| census.blocks as usize)
    }

    /// Returns the number of searches for a sub-mesh, summed over all requests. The first search of each request is not
    /// counted.
    fn searches(&self) -> usize {
        self.allocator.stats().census.map_or(0, |census| census.searches as usize)
    }

    /// Returns the side lengths of the smallest box that contains the processors; all are 0 if there are no processors.
    fn sides(&self, nodes: &[NodeId]) -> [u16; 3] {
        std::array::from_fn(|axis| {
            let at = || nodes.iter().map(|&node| self.grid.coord(node)[axis]);
            at().max().zip(at().min()).map_or(0, |(high, low)| high - low + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn every_example_agrees_and_every_swap_is_noticed() {
        for row in &ROWS {
            let check = row.check().expect("a valid example");
            let verdict = if row.is_claim { Verdict::Within } else { Verdict::Same };
            assert_eq!(check.verdict(), verdict, "{} {}", row.place, check.what);
            assert!(!check.swaps.is_empty(), "{} {}", row.place, check.what);
            assert_eq!(check.unnoticed().count(), 0, "{} {}", row.place, check.what);
        }
    }
}
