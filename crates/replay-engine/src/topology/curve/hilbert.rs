//! The truncated Hilbert curve: the curve of the smallest enclosing power-of-two square or cube,
//! without the positions outside the grid.
//!
//! In 2D, the side of the square is 2^ceil(log2 Y), where Y is the extent of the grid along y. The
//! curve of the square starts at (0, 0), visits the quadrants in the order lower left, upper left,
//! upper right, lower right, and ends at (side - 1, 0). If the grid is wider than this square,
//! several adjacent squares cover it. The curve of each square begins next to the end of the curve
//! of the previous square. In 3D, the curve is Skilling's ("Programming the Hilbert curve", 2004).
//! The side of the cube is the longest side of the grid, rounded up to a power of two.

use crate::topology::{Coord, Grid};

pub fn rank(grid: &Grid, coord: Coord) -> u64 {
    let order = |extent: usize| extent.next_power_of_two().trailing_zeros();
    if grid.dimensions() == 3 {
        let longest = (0..3).map(|axis| grid.extent(axis)).max().unwrap_or(1);
        return rank3(order(longest), coord);
    }
    let order = order(grid.extent(1));
    let [x, y, _] = coord;
    let square = u64::from(x >> order);
    (square << (2 * order)) + rank2(order, x & ((1 << order) - 1), y)
}

/// Returns the rank of (x, y) on the curve of side 2^order.
fn rank2(order: u32, x: u16, y: u16) -> u64 {
    let (mut x, mut y) = (u64::from(x), u64::from(y));
    let mut rank = 0;
    for bit in (0..order).rev() {
        let half = 1u64 << bit;
        let quadrant = match (x >= half, y >= half) {
            (false, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (true, false) => 3,
        };
        rank += quadrant * half * half;
        // Each quadrant contains a smaller copy of the curve. The first copy is transposed; the
        // last copy is transposed about the other diagonal.
        (x, y) = match quadrant {
            0 => (y, x),
            1 => (x, y - half),
            2 => (x - half, y - half),
            _ => (half - 1 - y, 2 * half - 1 - x),
        };
    }
    rank
}

/// Returns the rank on Skilling's three-dimensional curve of side 2^order.
fn rank3(order: u32, coord: Coord) -> u64 {
    let mut p = coord.map(u32::from);
    // Convert coordinates to the transposed Hilbert index: undo the excess exchanges and
    // inversions, highest bit first, then Gray-encode.
    for bit in (1..order).rev() {
        let q = 1u32 << bit;
        for i in 0..3 {
            if p[i] & q != 0 {
                p[0] ^= q - 1;
            } else {
                let exchange = (p[0] ^ p[i]) & (q - 1);
                p[0] ^= exchange;
                p[i] ^= exchange;
            }
        }
    }
    p[1] ^= p[0];
    p[2] ^= p[1];
    let flip =
        (1..order).rev().filter(|bit| p[2] >> bit & 1 == 1).fold(0, |t, bit| t ^ ((1 << bit) - 1));
    p = p.map(|v| v ^ flip);
    (0..order)
        .rev()
        .fold(0, |rank, bit| p.iter().fold(rank, |rank, v| rank << 1 | u64::from(v >> bit & 1)))
}
