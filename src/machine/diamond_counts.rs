//! Counts of free processors in the rows and columns of diamonds on a 2D mesh.
//!
//! The processors within L1 distance r of a centre form a diamond; the part of it in the
//! row (or column) at distance d is a strip that reaches r - d to both sides. A strip is
//! the difference of two prefix sums along the row (or column).
//!
//! As in [`BoxCounts`](super::BoxCounts), everything is laid out so that the answer for 16
//! neighbouring centres is a few vector loads: y is the *lane* dimension, each table row
//! belongs to one x and is padded on both sides, so that strips around any lane need no
//! clipping. Rows beyond the mesh are the caller's to leave out.

use super::{LANES, Machine};
use crate::topology::Grid;

/// Strip counts of free processors on one 2D mesh without wrap-around.
#[derive(Clone, Debug)]
pub struct DiamondCounts {
    width: usize,
    height: usize,
    /// Lanes before y = 0.
    pad: usize,
    stride: usize,
    /// `free[x * stride + pad + y]`: 1 if (x, y) is free; padding is 0.
    free: Vec<u8>,
    /// `along_y[x * stride + pad + y]`: free processors of row x before y.
    along_y: Vec<u16>,
    /// `along_x[x * stride + pad + y]`: free processors of column y before x; one row
    /// more than the mesh has.
    along_x: Vec<u16>,
    seen: u64,
}

impl DiamondCounts {
    /// Tables for `grid`; `None` unless it is a 2D mesh without wrap-around.
    pub fn new(grid: &Grid) -> Option<Self> {
        if grid.dimensions() != 2 || grid.is_wrapped() {
            return None;
        }
        let (width, height) = (grid.extent(0), grid.extent(1));
        let pad = height - 1;
        let stride = pad + height + height.next_multiple_of(LANES);
        Some(Self {
            width,
            height,
            pad,
            stride,
            free: vec![0; width * stride],
            along_y: vec![0; width * stride],
            along_x: vec![0; (width + 1) * stride],
            seen: 0,
        })
    }

    /// Takes in what has changed on `machine`, whose topology must be the grid.
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
        for x in first_dirty.unwrap_or(self.width)..self.width {
            let (done, rest) = self.along_x.split_at_mut((x + 1) * stride);
            let below = &done[x * stride..];
            let free = &self.free[x * stride..][..stride];
            for ((entry, &below), &free) in rest[..stride].iter_mut().zip(below).zip(free) {
                *entry = below + u16::from(free);
            }
        }
    }

    /// Forgets the machine seen last; the next update takes in the whole of its machine.
    pub fn reset(&mut self) {
        self.seen = 0;
    }

    /// Number of rows (extent along x).
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of lanes (extent along y).
    #[inline]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Free processors (x, y') with |y' - y| <= `reach`.
    #[inline(always)]
    pub fn strip_y(&self, x: usize, y: usize, reach: usize) -> u16 {
        let reach = reach.min(self.pad);
        let at = x * self.stride + self.pad + y;
        self.along_y[at + reach + 1] - self.along_y[at - reach]
    }

    /// Free processors (x', y) with |x' - x| <= `reach`.
    #[inline(always)]
    pub fn strip_x(&self, x: usize, y: usize, reach: usize) -> u16 {
        let [low, high] = self.rows(x, reach);
        let at = self.pad + y;
        self.along_x[high * self.stride + at] - self.along_x[low * self.stride + at]
    }

    /// Whether (x, y + offset) is on the mesh and free.
    #[inline(always)]
    pub fn is_free(&self, x: usize, y: usize, offset: isize) -> bool {
        offset.unsigned_abs() <= self.pad
            && self.free[(x * self.stride + self.pad + y).wrapping_add_signed(offset)] != 0
    }

    /// [`strip_y`](Self::strip_y) of 16 lanes from `lane` on, a multiple of 16 below the
    /// height; entries past the end of the row mean nothing.
    #[inline(always)]
    pub fn strips_y(&self, x: usize, lane: usize, reach: usize) -> Shorts {
        let reach = reach.min(self.pad);
        let from = x * self.stride + self.pad + lane - reach;
        let window = &self.along_y[from..from + 2 * reach + 1 + LANES];
        // Lanes never borrow: the higher sum is not the smaller.
        let [low, high] = [window, &window[2 * reach + 1..]].map(shorts);
        std::array::from_fn(|i| high[i] - low[i])
    }

    /// Of 16 lanes from `lane` on: 1 where (x, y) is free, 0 where it is busy.
    #[inline(always)]
    pub fn free_lanes(&self, x: usize, lane: usize) -> Bytes {
        bytes(&self.free[x * self.stride + self.pad + lane..])
    }

    /// Of 16 lanes from `lane` on: how many of (x, y - `reach`) and (x, y + `reach`) are
    /// free; `reach` must be at least 1 and less than the height.
    #[inline(always)]
    pub fn free_pairs(&self, x: usize, lane: usize, reach: usize) -> Bytes {
        let from = x * self.stride + self.pad + lane - reach;
        let window = &self.free[from..from + 2 * reach + LANES];
        let [left, right] = [window, &window[2 * reach..]].map(bytes);
        [left[0] + right[0], left[1] + right[1]]
    }

    /// First table row and one past the last of |x' - x| <= reach, clipped.
    #[inline(always)]
    fn rows(&self, x: usize, reach: usize) -> [usize; 2] {
        [x.saturating_sub(reach), (x + reach + 1).min(self.width)]
    }
}

/// 16 lanes of a byte each, the first lane lowest. As long as no lane overflows, they add
/// as plain integers, which spares the compiler the question how to vectorise them.
pub type Bytes = [u64; 2];

/// 16 lanes of 16 bits each, likewise.
pub type Shorts = [u64; 4];

#[inline(always)]
fn bytes(entries: &[u8]) -> Bytes {
    let word = |i: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&entries[8 * i..8 * i + 8]);
        u64::from_le_bytes(word)
    };
    [word(0), word(1)]
}

#[inline(always)]
fn shorts(entries: &[u16]) -> Shorts {
    let entries = &entries[..LANES];
    std::array::from_fn(|i| {
        let lane = |j: usize| u64::from(entries[4 * i + j]) << (16 * j);
        lane(0) | lane(1) | lane(2) | lane(3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{NodeId, Topology};
    use proptest::prelude::*;

    fn byte(lanes: Bytes, i: usize) -> u8 {
        (lanes[i / 8] >> (8 * (i % 8))) as u8
    }

    fn short(lanes: Shorts, i: usize) -> u16 {
        (lanes[i / 4] >> (16 * (i % 4))) as u16
    }

    proptest! {
        #[test]
        fn strips_agree_with_a_plain_count(
            width in 1u16..20, height in 1u16..40, seeds in proptest::collection::vec(any::<u64>(), 3),
        ) {
            let grid = Grid::mesh2(width, height).expect("small");
            let mut machine = Machine::new(Topology::Grid(grid.clone()));
            let mut counts = DiamondCounts::new(&grid).expect("a 2D mesh");
            for seed in seeds {
                // Turn a pseudo-random quarter of the machine over and look again.
                let turn: Vec<_> = machine.topology().nodes()
                    .filter(|n| (u64::from(n.0) + 1).wrapping_mul(seed | 1) >> 32 & 3 == 0).collect();
                let (free, busy): (Vec<_>, Vec<_>) = turn.into_iter().partition(|&n| machine.is_free(n));
                machine.occupy(&free);
                machine.release(&busy);
                counts.update(&machine);
                let (w, h) = (isize::from(width as i16), isize::from(height as i16));
                let is_free = |x: isize, y: isize| x >= 0 && x < w && y >= 0 && y < h
                    && machine.is_free(NodeId((x * h + y) as u32));
                for x in 0..w {
                    for y in 0..h {
                        let (ux, uy) = (x as usize, y as usize);
                        let (lane, i) = (uy / LANES * LANES, uy % LANES);
                        for reach in [0, 1, 2, 5, 17, 60] {
                            let r = reach as isize;
                            let along_y = (-r..=r).filter(|d| is_free(x, y + d)).count() as u16;
                            let along_x = (-r..=r).filter(|d| is_free(x + d, y)).count() as u16;
                            prop_assert_eq!(counts.strip_y(ux, uy, reach), along_y);
                            prop_assert_eq!(short(counts.strips_y(ux, lane, reach), i), along_y);
                            prop_assert_eq!(counts.strip_x(ux, uy, reach), along_x);
                        }
                        prop_assert_eq!(byte(counts.free_lanes(ux, lane), i), u8::from(is_free(x, y)));
                        for reach in [1, h / 2, h - 1].into_iter().filter(|&reach| reach < h) {
                            let pairs = u8::from(is_free(x, y - reach)) + u8::from(is_free(x, y + reach));
                            prop_assert_eq!(byte(counts.free_pairs(ux, lane, reach as usize), i), pairs);
                        }
                        for offset in [-50, 1 - h, -1, 0, 1, h - 1, 50] {
                            prop_assert_eq!(counts.is_free(ux, uy, offset), is_free(x, y + offset));
                        }
                    }
                }
            }
        }
    }
}
