//! The processors of each job, with one entry for each allocation.

use crate::metrics::{JobMeasures, Submitted};
use crate::table::{Column, names, ranges};
use crate::topology::{Grid, NodeId, Topology};

/// One allocation. A job has several allocations if it was interrupted and started again.
#[derive(Clone, PartialEq, Debug)]
pub struct Allocation {
    /// Job number in the trace.
    pub job: i64,
    /// Start of the allocation.
    pub start: i64,
    /// End of the allocation.
    pub end: i64,
    /// Machine points in the order of allocation.
    pub nodes: Box<[NodeId]>,
    /// The box that the points fill; `None` if they do not fill a box.
    pub filled: Option<Filled>,
}

/// A box on a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filled {
    /// The corner with the smallest coordinates; on a wrapped dimension, the box may extend from
    /// this corner across the edge.
    pub base: [u16; 3],
    /// Number of points along x, y, z.
    pub sides: [u16; 3],
}

impl Allocation {
    names! {
        NODES = "nodes",
    }

    /// Creates an allocation on a machine.
    pub fn new(topology: &Topology, job: i64, [start, end]: [i64; 2], nodes: &[NodeId]) -> Self {
        let filled = topology.grid().and_then(|grid| Filled::by(grid, nodes));
        Self { job, start, end, nodes: nodes.into(), filled }
    }

    /// Returns the processors of the allocation as a list of numbers.
    pub fn numbers(&self) -> Vec<i64> {
        numbers(&self.nodes)
    }

    /// Returns the columns.
    #[rustfmt::skip]
    pub fn columns() -> Vec<Column<Self>> {
        type C = Column<Allocation>;
        let mut columns = vec![
            C::new(Submitted::JOB, "", "job number in the trace", |it| it.job),
            C::new(JobMeasures::START, "s", "start, in trace time", |it| it.start),
            C::new(JobMeasures::END, "s", END, |it| it.end),
            C::new(Allocation::NODES, "", NODES, Self::numbers),
        ];
        const FILLED: [(&str, &str, &str, &str); 3] = [
            ("base_x", "x of the corner with the smallest coordinates if the processors fill a box, which may \
                wrap around on a torus; null otherwise and on machines that are not grids", "side_x", "side along \
                x of the box that the processors fill; null if the processors do not fill a box"),
            ("base_y", "y of that corner", "side_y", "side along y of the box that the processors fill"),
            ("base_z", "z of that corner; 0 in two dimensions", "side_z", "side along z of the box that the \
                processors fill; 1 in two dimensions"),
        ];
        columns.extend((0..3).map(|axis| C::new(FILLED[axis].0, "", FILLED[axis].1, move |it| it.filled.map(|filled| i64::from(filled.base[axis])))));
        columns.extend((0..3).map(|axis| C::new(FILLED[axis].2, "processors", FILLED[axis].3, move |it| it.filled.map(|filled| i64::from(filled.sides[axis])))));
        columns
    }
}

/// Meaning of the column `end`.
pub(crate) const END: &str = "completion, in trace time";

/// Meaning of the column with the processors of a job.
pub const NODES: &str = "list of the job's processor numbers in the order of allocation (in CSV, as ranges such as 4,7-9); on a grid, processor numbers increase along z first, then y, then x";

/// Returns processors as a list of numbers.
pub fn numbers(nodes: &[NodeId]) -> Vec<i64> {
    nodes.iter().map(|node| i64::from(node.0)).collect()
}

/// Formats processors as ranges in the order of allocation, such as `4,7-9`.
pub fn format_nodes(nodes: &[NodeId]) -> String {
    ranges(&numbers(nodes))
}

impl Filled {
    /// Returns the box that the points `nodes` of a grid fill; `None` if they do not fill a box.
    /// The points must be distinct.
    pub fn by(grid: &Grid, nodes: &[NodeId]) -> Option<Self> {
        let (mut base, mut sides) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let mut taken = vec![false; grid.extent(axis)];
            for &node in nodes {
                taken[usize::from(grid.coord(node)[axis])] = true;
            }
            (base[axis], sides[axis]) = interval(&taken, grid.axes()[axis].wrapped)?;
        }
        let volume: u64 = sides.iter().map(|&side| u64::from(side)).product();
        (volume == nodes.len() as u64).then_some(Self { base, sides })
    }
}

/// Returns the first position and the length of the interval that the taken positions form; `None`
/// if they do not form a single interval. An interval of all positions begins at 0.
fn interval(taken: &[bool], wrapped: bool) -> Option<(u16, u16)> {
    let length = taken.iter().filter(|&&taken| taken).count();
    if length == taken.len() {
        return Some((0, length as u16));
    }
    let before = |p: usize| match p {
        0 => wrapped && taken[taken.len() - 1],
        p => taken[p - 1],
    };
    let mut firsts = (0..taken.len()).filter(|&p| taken[p] && !before(p));
    let first = firsts.next()?;
    firsts.next().is_none().then_some((first as u16, length as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_boxes() {
        let filled = |machine: &str, points: &[[u16; 3]]| {
            let machine: Topology = machine.parse().expect("a machine");
            let grid = machine.grid().expect("a grid");
            let nodes: Vec<NodeId> = points.iter().map(|&point| grid.node(point)).collect();
            Filled::by(grid, &nodes).map(|filled| (filled.base, filled.sides))
        };
        let square = [[1, 1, 0], [2, 1, 0], [2, 2, 0], [1, 2, 0]];
        assert_eq!(filled("4x3", &square), Some(([1, 1, 0], [2, 2, 1])));
        assert_eq!(filled("4x3", &square[..3]), None);
        assert_eq!(filled("4x3", &[[3, 2, 0]]), Some(([3, 2, 0], [1, 1, 1])));
        assert_eq!(filled("4x3", &[[0, 0, 0], [2, 0, 0]]), None);
        // Points on both sides of the edge form a box only on a torus.
        let around = [[3, 1, 0], [0, 1, 0]];
        assert_eq!(filled("4x3", &around), None);
        assert_eq!(filled("torus:4x3", &around), Some(([3, 1, 0], [2, 1, 1])));
        let line = [[1, 0, 2], [1, 1, 2], [1, 2, 2]];
        assert_eq!(filled("torus:2x3x4", &line), Some(([1, 0, 2], [1, 3, 1])));
    }

    #[test]
    fn formats_processors_as_ranges_in_order() {
        let format =
            |nodes: &[u32]| format_nodes(&nodes.iter().map(|&n| NodeId(n)).collect::<Vec<_>>());
        assert_eq!(format(&[4, 7, 8, 9, 2]), "4,7-9,2");
        assert_eq!(format(&[]), "");
    }
}
