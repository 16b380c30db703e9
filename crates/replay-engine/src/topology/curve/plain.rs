//! Rank functions of the row-major order, the snake order and the two shuffled orders.

use crate::topology::{Coord, Grid};

pub fn row_major(grid: &Grid, [x, y, z]: Coord) -> u64 {
    let row = u64::from(z) * grid.extent(1) as u64 + u64::from(y);
    row * grid.extent(0) as u64 + u64::from(x)
}

/// Returns the rank in the snake order. Every second plane is traversed with y reversed, and every second row with x
/// reversed, so that consecutive processors are always neighbours.
pub fn snake(grid: &Grid, [x, y, z]: Coord) -> u64 {
    let mirrored = |p: u16, axis: usize| grid.axes()[axis].extent - 1 - p;
    let y_walked = if z % 2 == 0 { y } else { mirrored(y, 1) };
    let row = u64::from(z) * grid.extent(1) as u64 + u64::from(y_walked);
    let x_walked = if row.is_multiple_of(2) { x } else { mirrored(x, 0) };
    row * grid.extent(0) as u64 + u64::from(x_walked)
}

/// Returns the rank in Z order: the interleaved bits of z, y and x. The bit of z is the most significant bit of each
/// group. On 2D grids, only y and x are interleaved.
pub fn shuffled_row_major(grid: &Grid, [x, y, z]: Coord) -> u64 {
    (0..bits(grid)).fold(0, |rank, bit| {
        let digit = bit_of(x, bit) | bit_of(y, bit) << 1 | bit_of(z, bit) << 2;
        rank | digit << (grid.dimensions() as u32 * bit)
    })
}

/// Returns the rank in Z order with quadrants in snake order: in the rank of [`shuffled_row_major`], each group of bits
/// is replaced by its position on the snake through the 2 x 2 (x 2) quadrants.
pub fn shuffled_snake(grid: &Grid, [x, y, z]: Coord) -> u64 {
    (0..bits(grid)).fold(0, |rank, bit| {
        let (x, mut y, z) = (bit_of(x, bit), bit_of(y, bit), bit_of(z, bit));
        if grid.dimensions() == 3 {
            y ^= z;
        }
        let row = z << 1 | y;
        rank | (row << 1 | (x ^ (row & 1))) << (grid.dimensions() as u32 * bit)
    })
}

/// Returns the number of bits of the largest coordinate.
fn bits(grid: &Grid) -> u32 {
    let last = grid.axes().iter().map(|axis| axis.extent - 1).max().unwrap_or(0);
    u16::BITS - last.leading_zeros()
}

fn bit_of(value: u16, bit: u32) -> u64 {
    u64::from(value >> bit & 1)
}
