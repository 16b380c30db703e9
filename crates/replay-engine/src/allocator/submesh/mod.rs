//! Sub-meshes: boxes of processors, shapes of jobs, and their rotation.
//!
//! Papers on contiguous allocation write a 2D sub-mesh as `<x, y, w, h>` or `(x, y, x', y')`. In
//! this crate, a sub-mesh consists of a base and sides in three dimensions. On a 2D grid the third
//! coordinate is 0, and the third side is 1.

mod shape;
mod shapes;
mod turning;

pub use shape::ShapeRule;
pub use shapes::factorisations;
pub use shapes::{SHAPE, Shapes, Shaping};
pub use turning::{ROTATE, distinct, permutations, turned};

use crate::topology::{Coord, Grid, NodeId};

/// A box of processors. On a wrapped dimension, the sub-mesh may extend past the last position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubMesh {
    /// The lowest corner.
    pub base: Coord,
    /// Number of processors along x, y, z. Each number is at least one.
    pub sides: [u16; 3],
}

impl SubMesh {
    /// Creates the box with these corners. Both corners are in the box.
    #[inline]
    pub fn spanning(base: Coord, end: Coord) -> Self {
        Self { base, sides: std::array::from_fn(|i| end[i] - base[i] + 1) }
    }

    /// Returns the highest corner, which is in the box. The corner may be past the last position of
    /// a wrapped dimension; a position above 65,535, which no dimension has, is then replaced by 65,535.
    #[inline]
    pub fn end(&self) -> Coord {
        std::array::from_fn(|i| self.base[i].saturating_add(self.sides[i] - 1))
    }

    /// Returns the number of processors.
    #[inline]
    pub fn volume(&self) -> u32 {
        volume(self.sides) as u32
    }

    /// Returns whether the two sub-meshes share a processor of a mesh.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (end, other_end) = (self.end(), other.end());
        (0..3).all(|i| self.base[i] <= other_end[i] && other.base[i] <= end[i])
    }

    /// Appends the processors in row-major order; x varies fastest, then y, then z.
    #[inline]
    pub fn append_to(&self, grid: &Grid, nodes: &mut Vec<NodeId>) {
        let at = |i: usize, offset: u16| {
            let position = u32::from(self.base[i]) + u32::from(offset);
            (position % u32::from(grid.axes()[i].extent)) as u16
        };
        let [w, d, h] = self.sides;
        nodes.reserve(self.volume() as usize);
        for z in 0..h {
            for y in 0..d {
                nodes.extend((0..w).map(|x| grid.node([at(0, x), at(1, y), at(2, z)])));
            }
        }
    }
}

/// Returns the number of processors in a box with these sides. The box need not fit any machine.
#[inline]
pub fn volume(sides: [u16; 3]) -> u64 {
    sides.into_iter().map(u64::from).product()
}

/// Parses the sides of a box, such as `2x2x1`; `None` unless there are three sides of at least 1.
#[inline]
pub fn parse_sides(text: &str) -> Option<[u16; 3]> {
    let side = |side: &str| side.parse().ok().filter(|&side| side > 0);
    text.split('x').map(side).collect::<Option<Vec<u16>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn nodes(machine: &str, base: Coord, sides: [u16; 3]) -> Vec<Coord> {
        let topology: Topology = machine.parse().expect("a machine");
        let grid = topology.grid().expect("a grid");
        let mut nodes = Vec::new();
        SubMesh { base, sides }.append_to(grid, &mut nodes);
        nodes.into_iter().map(|node| grid.coord(node)).collect()
    }

    #[test]
    fn appends_processors_row_by_row() {
        assert_eq!(
            nodes("4x4", [1, 2, 0], [2, 2, 1]),
            [[1, 2, 0], [2, 2, 0], [1, 3, 0], [2, 3, 0]]
        );
        assert_eq!(nodes("2x2x3", [0, 0, 1], [1, 1, 2]), [[0, 0, 1], [0, 0, 2]]);
        assert_eq!(nodes("torus:4x4", [3, 0, 0], [2, 1, 1]), [[3, 0, 0], [0, 0, 0]]);
    }

    #[test]
    fn corners_are_included() {
        let s = SubMesh::spanning([1, 4, 0], [5, 5, 0]);
        assert_eq!((s.sides, s.end(), s.volume()), ([5, 2, 1], [5, 5, 0], 10));
        assert!(s.overlaps(&SubMesh::spanning([5, 5, 0], [5, 5, 0])));
        assert!(!s.overlaps(&SubMesh::spanning([0, 0, 0], [0, 5, 0])));
    }
}
