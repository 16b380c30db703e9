//! Counts of free processors in diamonds on a 2D mesh, and in the rows and columns of diamonds.
//!
//! The processors within L1 distance r of a centre form a diamond. The part of a diamond in the row
//! (or column) at distance d is a strip that extends r - d positions to both sides. The count of a strip is
//! the difference of two prefix sums along the row (or column).
//!
//! A whole diamond is a square in the coordinates x + y and x - y, so the count of a diamond needs
//! four entries of a summed-area table over these coordinates. Table entries are stored by their
//! *apex*: the cone of (x, y) contains all (x', y') with x' <= x and |y' - y| <= x - x', and the
//! odd cone of (x, y) is the cone with its apex at (x - 1/2, y + 1/2). The corners of the diamond
//! lie in row x (odd cones) and in rows x + r and x - r - 1 (cones), at lanes that depend on y. As
//! in [`BoxCounts`](super::BoxCounts), the counts of 16 neighbouring centres take a few vector
//! loads. The *lane* dimension is y.

use replay_engine::machine::{LANES, Machine, load};
use replay_engine::topology::Grid;

/// Counts of free processors on one 2D mesh without wrap-around.
#[derive(Clone, Debug)]
pub struct DiamondCounts {
    width: usize,
    height: usize,
    /// Number of lanes before y = 0. The number is at least height - 1, so that strips around any
    /// lane need no clipping.
    pad: usize,
    stride: usize,
    /// The entry `free[x * stride + pad + y]` is 1 if (x, y) is free; padding is 0.
    free: Vec<u8>,
    /// The entry `along_y[x * stride + pad + y]` is the number of free processors of row x before y.
    along_y: Vec<u16>,
    /// The entry `along_x[x * stride + pad + y]` is the number of free processors of column y before x. The table has
    /// one row more than the mesh.
    along_x: Vec<u16>,
    /// Number of lanes of the cone tables before y = 0. A cone of row x < width is empty if its lane is more than width
    /// lanes outside the mesh. In later rows, one more lane per row is incorrect, because entries outside the table are
    /// missing. The incorrect lanes never reach the mesh.
    margin: usize,
    pitch: usize,
    /// The table `cones[(x + 1) * pitch + margin + y]` contains the cones from x = -1, where they are empty, to the
    /// first row in which every cone contains the whole mesh.
    cones: Vec<u16>,
    /// Odd cones, in the layout of `cones`.
    odd_cones: Vec<u16>,
    seen: u64,
}

impl DiamondCounts {
    /// Maximum number of entries of a cone table. The size of a table grows with the square of the
    /// longer side, so the table of a mesh with thousands of rows and one column would exhaust
    /// memory.
    const MOST_ENTRIES: usize = 1 << 24;

    /// Creates the tables for `grid`. The result is `None` if the grid is not a 2D mesh without wrap-around, if it has
    /// more than 65,535 points, or if its tables would exceed the limit. The limit excludes long and narrow meshes.
    pub fn new(grid: &Grid) -> Option<Self> {
        if grid.dimensions() != 2 || grid.is_wrapped() {
            return None;
        }
        // Counts have 16 bits.
        if grid.processors() > usize::from(u16::MAX) {
            return None;
        }
        let (width, height) = (grid.extent(0), grid.extent(1));
        let pad = height - 1;
        let stride = pad + height + height.next_multiple_of(LANES);
        let margin = width.max((width + height) / 2) + LANES;
        let pitch = 2 * margin + height.next_multiple_of(LANES);
        if (width + height) * pitch > Self::MOST_ENTRIES {
            return None;
        }
        let cones = vec![0; (width + height) * pitch];
        Some(Self {
            width,
            height,
            pad,
            stride,
            free: vec![0; width * stride],
            along_y: vec![0; width * stride],
            along_x: vec![0; (width + 1) * stride],
            margin,
            pitch,
            odd_cones: cones.clone(),
            cones,
            seen: 0,
        })
    }

    /// Updates the tables from `machine`. The topology of `machine` must be the grid for which the tables were created.
    pub fn update(&mut self, machine: &Machine) {
        if machine.version() == self.seen {
            return;
        }
        let (pad, height, stride) = (self.pad, self.height, self.stride);
        let mut first_dirty = None;
        for (x, &version) in machine.row_versions().iter().enumerate() {
            if version <= self.seen {
                continue;
            }
            first_dirty.get_or_insert(x);
            let free = &machine.free_map()[x * height..][..height];
            let bytes = &mut self.free[x * stride + pad..][..height];
            let sums = &mut self.along_y[x * stride + pad..(x + 1) * stride];
            let mut sum = 0;
            for ((byte, entry), &free) in bytes.iter_mut().zip(sums.iter_mut()).zip(free) {
                *byte = u8::from(free);
                *entry = sum;
                sum += u16::from(free);
            }
            sums[height..].fill(sum);
        }
        self.seen = machine.version();
        let Some(first_dirty) = first_dirty else { return };
        for x in first_dirty..self.width {
            let (done, rest) = self.along_x.split_at_mut((x + 1) * stride);
            let below = &done[x * stride..];
            let free = &self.free[x * stride..][..stride];
            for ((entry, &below), &free) in rest[..stride].iter_mut().zip(below).zip(free) {
                *entry = below + u16::from(free);
            }
        }
        for x in first_dirty..self.width + self.height - 1 {
            self.extend_cones(x);
        }
    }

    /// Computes row x of the cones from row x - 1. Sums and differences wrap around; only the
    /// combination of four entries is a count.
    fn extend_cones(&mut self, x: usize) {
        let (pitch, margin) = (self.pitch, self.margin);
        let (before, cones) = self.cones.split_at_mut((x + 1) * pitch);
        let (odd_before, odd_cones) = self.odd_cones.split_at_mut((x + 1) * pitch);
        let (before, odd_before) = (&before[x * pitch..], &odd_before[x * pitch..]);
        let (cones, odd_cones) = (&mut cones[..pitch], &mut odd_cones[..pitch]);
        let sides = before.iter().zip(&before[1..]).zip(odd_before);
        for (odd, ((&left, &right), &both)) in odd_cones.iter_mut().zip(sides) {
            *odd = left.wrapping_add(right).wrapping_sub(both);
        }
        let sides = odd_cones.iter().zip(&odd_cones[1..]).zip(&before[1..]);
        for (cone, ((&left, &right), &both)) in cones[1..].iter_mut().zip(sides) {
            *cone = left.wrapping_add(right).wrapping_sub(both);
        }
        if x < self.width {
            let free = &self.free[x * self.stride + self.pad..][..self.height];
            for (cone, &free) in cones[margin..].iter_mut().zip(free) {
                *cone = cone.wrapping_add(u16::from(free));
            }
        }
    }

    /// Makes the next update read the whole machine.
    pub fn reset(&mut self) {
        self.seen = 0;
    }

    /// Returns the number of rows (extent along x).
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of lanes (extent along y).
    #[inline]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of free processors (x, y') with |y' - y| <= `reach`.
    #[inline(always)]
    pub fn strip_y(&self, x: usize, y: usize, reach: usize) -> u16 {
        let reach = reach.min(self.pad);
        let at = x * self.stride + self.pad + y;
        self.along_y[at + reach + 1] - self.along_y[at - reach]
    }

    /// Returns the number of free processors (x', y) with |x' - x| <= `reach`.
    #[inline(always)]
    pub fn strip_x(&self, x: usize, y: usize, reach: usize) -> u16 {
        // The first row and the row after the last, clipped to the mesh.
        let (low, high) = (x.saturating_sub(reach), (x + reach + 1).min(self.width));
        let at = self.pad + y;
        self.along_x[high * self.stride + at] - self.along_x[low * self.stride + at]
    }

    /// Returns whether (x, y + offset) is on the mesh and free.
    #[inline(always)]
    pub fn is_free(&self, x: usize, y: usize, offset: isize) -> bool {
        offset.unsigned_abs() <= self.pad
            && self.free[(x * self.stride + self.pad + y).wrapping_add_signed(offset)] != 0
    }

    /// Returns, for each of the 16 lanes y that begin at `lane`, the number of free processors within L1 distance
    /// `radius` of (x, y). `lane` must be a multiple of 16 below the height. Entries beyond the end of the row are
    /// meaningless.
    #[inline(always)]
    pub fn within(&self, x: usize, lane: usize, radius: usize) -> Shorts {
        let highest = self.width + self.height - 1;
        let row = |table: &[u16], row, lane| load(&table[row * self.pitch + lane..]);
        // Cones before the first row of the table are empty. Cones after the last row equal the cones of the last row.
        let far = row(&self.cones, (x + radius + 1).min(highest), self.margin + lane);
        let near = row(&self.cones, x.saturating_sub(radius), self.margin + lane);
        // Odd cones of this row are empty at both edges of the table.
        let last = self.pitch - LANES;
        let right = row(&self.odd_cones, x + 1, (self.margin + lane + radius).min(last));
        let left = row(&self.odd_cones, x + 1, (self.margin + lane).saturating_sub(radius + 1));
        std::array::from_fn(|i| {
            far[i].wrapping_add(near[i]).wrapping_sub(right[i]).wrapping_sub(left[i])
        })
    }

    /// Returns, for each of the 16 lanes y that begin at `lane`, 1 if (x, y) is free and 0 if (x, y) is not free.
    #[inline(always)]
    pub fn free_lanes(&self, x: usize, lane: usize) -> [u8; LANES] {
        let lanes = &self.free[x * self.stride + self.pad + lane..];
        // The rows are padded, so there are always enough entries.
        lanes.first_chunk().copied().unwrap_or_default()
    }
}

/// 16 lanes of 16 bits each.
pub type Shorts = [u16; LANES];

#[cfg(test)]
mod tests;
