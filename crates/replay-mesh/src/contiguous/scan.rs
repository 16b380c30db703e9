//! Order in which positions are scanned.

use replay_engine::topology::{Coord, Grid};

/// Order in which the processors of a 2D grid are scanned. In 3D both variants are the order of the
/// 3D First Fit: x in the outermost loop and z in the innermost loop (Bani-Mohammad 2008, Fig.
/// 2.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scan {
    /// Row by row from the lowest, leftmost processor: y in the outer loop, x in the inner loop.
    #[default]
    RowMajor,
    /// Column by column, in the order of processor numbers: x in the outer loop, y in the inner
    /// loop.
    ColumnMajor,
}

impl Scan {
    /// Every order with its name.
    pub const ALL: [(&'static str, Scan); 2] =
        [("row-major", Scan::RowMajor), ("column-major", Scan::ColumnMajor)];

    /// Returns the axes from the outermost loop to the innermost loop.
    pub fn axes(self, grid: &Grid) -> [usize; 3] {
        if self == Scan::RowMajor && grid.dimensions() == 2 { [2, 1, 0] } else { [0, 1, 2] }
    }

    /// Returns the rank of a processor in the order.
    #[inline]
    pub fn rank(self, grid: &Grid, coord: Coord) -> u32 {
        self.axes(grid).into_iter().fold(0, |rank, axis| {
            rank * u32::from(grid.axes()[axis].extent) + u32::from(coord[axis])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_run_along_x() {
        let grid = Grid::mesh2(4, 3).expect("a mesh");
        assert_eq!(Scan::RowMajor.rank(&grid, [3, 1, 0]), 7);
        assert_eq!(Scan::ColumnMajor.rank(&grid, [3, 1, 0]), 10);
    }
}
