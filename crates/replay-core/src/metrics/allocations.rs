//! Which processors jobs were given, one allocation by another.

use crate::table::{Column, Name, name, ranges};
use crate::topology::{Grid, NodeId, Topology};

/// One allocation: a job has several if it was cut off and started again.
#[derive(Clone, PartialEq, Debug)]
pub struct Allocation {
    /// Job number in the trace.
    pub job: i64,
    /// When it got the processors.
    pub start: i64,
    /// When it gave them back.
    pub end: i64,
    /// Points of the machine in the order of allocation.
    pub nodes: Box<[NodeId]>,
    /// The box that they fill, if they fill one.
    pub filled: Option<Filled>,
}

/// A box on a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filled {
    /// Its corner with the smallest coordinates; on a wrapped dimension it goes on from there.
    pub base: [u16; 3],
    /// Points along x, y, z.
    pub sides: [u16; 3],
}

impl Allocation {
    /// An allocation on a machine.
    pub fn new(topology: &Topology, job: i64, [start, end]: [i64; 2], nodes: &[NodeId]) -> Self {
        let filled = topology.grid().and_then(|grid| Filled::by(grid, nodes));
        Self { job, start, end, nodes: nodes.into(), filled }
    }

    /// Its processors as a list of numbers.
    pub fn numbers(&self) -> Vec<i64> {
        numbers(&self.nodes)
    }

    /// The columns.
    #[rustfmt::skip]
    pub fn columns() -> Vec<Column<Self>> {
        type C = Column<Allocation>;
        let mut columns = vec![
            C::new(name::job, "", "job number in the trace", |it| it.job),
            C::new(name::start, "s", "start, in trace time", |it| it.start),
            C::new(name::end, "s", END, |it| it.end),
            C::new(name::nodes, "", NODES, Self::numbers),
        ];
        const FILLED: [(Name, &str, Name, &str); 3] = [
            (name::base_x, "x of the corner with the smallest coordinates, if the processors fill a box; on a torus the box goes on from there; null else, and where there is no grid", name::side_x, "side of that box along x; null if the processors fill none"),
            (name::base_y, "y of that corner", name::side_y, "side of that box along y"),
            (name::base_z, "z of that corner; 0 in two dimensions", name::side_z, "side of that box along z; 1 in two dimensions"),
        ];
        columns.extend((0..3).map(|axis| C::new(FILLED[axis].0, "", FILLED[axis].1, move |it| it.filled.map(|filled| i64::from(filled.base[axis])))));
        columns.extend((0..3).map(|axis| C::new(FILLED[axis].2, "processors", FILLED[axis].3, move |it| it.filled.map(|filled| i64::from(filled.sides[axis])))));
        columns
    }
}

/// What is said of the end of a job.
pub const END: &str = "when the job gave its processors back, in trace time";

/// What is said of the processors of a job.
pub const NODES: &str = "the job's processors by number in the order of allocation, as a list, in CSV as ranges such as 4,7-9; on a grid z counts fastest, then y, then x";

/// Processors as a list of numbers.
pub fn numbers(nodes: &[NodeId]) -> Vec<i64> {
    nodes.iter().map(|node| i64::from(node.0)).collect()
}

/// Processors as text: ranges in the order of allocation, such as `4,7-9`.
pub fn words(nodes: &[NodeId]) -> String {
    ranges(&numbers(nodes))
}

impl Filled {
    /// The box that distinct points of a grid fill.
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

/// First position and length, if the taken positions are one interval; all of them begin at 0.
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
    fn boxes_are_recognised() {
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
        // Around the edge it is one on a torus only.
        let around = [[3, 1, 0], [0, 1, 0]];
        assert_eq!(filled("4x3", &around), None);
        assert_eq!(filled("torus:4x3", &around), Some(([3, 1, 0], [2, 1, 1])));
        let line = [[1, 0, 2], [1, 1, 2], [1, 2, 2]];
        assert_eq!(filled("torus:2x3x4", &line), Some(([1, 0, 2], [1, 3, 1])));
    }

    #[test]
    fn processors_are_ranges_in_their_order() {
        let words = |nodes: &[u32]| words(&nodes.iter().map(|&n| NodeId(n)).collect::<Vec<_>>());
        assert_eq!(words(&[4, 7, 8, 9, 2]), "4,7-9,2");
        assert_eq!(words(&[]), "");
    }
}
