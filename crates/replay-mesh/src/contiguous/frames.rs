//! Computes all positions at which a frame is free.
//!
//! The result is Zhu's coverage array (1992, section 3), stored as rows of bits along the last
//! dimension. Bit `p` of the result is set if the frame with lowest corner `p` contains only free
//! processors. Within a row, the first bits of all runs of `n` bits are found by combining the row
//! with copies of the row that are shifted by 1, 2, 4, ... bits. Neighbouring rows are combined in
//! the same way as the bits within a row. A frame with sides a x b x c therefore costs log2 a +
//! log2 b + log2 c passes over N / 64 words (at least one word per row). The cost does not depend
//! on the number of busy processors. On a wrapped dimension, frames wrap around the edge.

mod neighbour_counts;

pub use neighbour_counts::NeighbourCounts;

use std::ops::RangeInclusive;

use crate::contiguous::scan::Scan;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::bits;
use replay_engine::topology::{Axis, Coord, Grid};

/// Free processors of a grid, and the bases of all free frames with the last requested sides.
#[derive(Clone, Debug)]
pub struct Frames {
    grid: Grid,
    /// The axes of the outer, the middle and the lane dimension. On a 2D grid, the outer, middle
    /// and lane axes are x, z (of extent one) and y; on a 3D grid, they are x, y and z.
    order: [usize; 3],
    /// Number of words of a row.
    words: usize,
    free: Vec<u64>,
    bases: Vec<u64>,
    spare: Vec<u64>,
    /// Number of words (of up to 64 processors) that were packed or combined, plus the operations
    /// that a strategy adds.
    pub operations: u64,
}

impl Frames {
    /// Creates the state for `grid`. All processors are busy until the first [`read`](Self::read).
    pub fn new(grid: &Grid) -> Self {
        let order = if grid.dimensions() == 2 { [0, 2, 1] } else { [0, 1, 2] };
        let lanes = grid.extent(order[2]);
        let words = lanes.div_ceil(bits::WORD);
        let rows = vec![0; grid.processors() / lanes * words];
        Self {
            grid: grid.clone(),
            order,
            words,
            free: rows.clone(),
            bases: rows.clone(),
            spare: rows,
            operations: 0,
        }
    }

    /// Returns the grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Sets which processors are free; `free` is indexed by processor number.
    pub fn read(&mut self, free: &[bool]) {
        let lanes = self.grid.extent(self.order[2]);
        for (row, flags) in self.free.chunks_exact_mut(self.words).zip(free.chunks_exact(lanes)) {
            bits::pack(flags, row);
        }
        self.operations += self.free.len() as u64;
    }

    /// Marks all processors as free until the next [`read`](Self::read).
    pub fn clear(&mut self) {
        let lanes = self.grid.extent(self.order[2]);
        self.free.chunks_exact_mut(self.words).for_each(|row| bits::set(row, 0, lanes));
    }

    /// Marks the processors of a sub-mesh as busy until the next [`read`](Self::read).
    pub fn take(&mut self, taken: &SubMesh) {
        self.change(taken, bits::clear);
    }

    /// Marks the processors of a sub-mesh as free until the next [`read`](Self::read).
    pub fn give(&mut self, given: &SubMesh) {
        self.change(given, bits::set);
    }

    /// Changes the free bits of a sub-mesh. Calls `bits` with each row, the first bit and the
    /// number of bits.
    fn change(&mut self, unit: &SubMesh, bits: fn(&mut [u64], usize, usize)) {
        let [outer, middle, lane] = self.order.map(|axis| {
            let start = usize::from(unit.base[axis]);
            (start, usize::from(unit.sides[axis]), self.grid.extent(axis))
        });
        let before_edge = lane.1.min(lane.2 - lane.0);
        for i in 0..outer.1 {
            for j in 0..middle.1 {
                let row = (outer.0 + i) % outer.2 * middle.2 + (middle.0 + j) % middle.2;
                let row = &mut self.free[row * self.words..][..self.words];
                bits(row, lane.0, before_edge);
                bits(row, 0, lane.1 - before_edge);
            }
        }
    }

    /// Finds the bases of all free frames with these sides. There are no bases if a frame is longer
    /// than the grid.
    pub fn find(&mut self, sides: [u16; 3]) {
        if (0..3).any(|i| sides[i] == 0 || sides[i] > self.grid.axes()[i].extent) {
            self.bases.fill(0);
            return;
        }
        self.bases.copy_from_slice(&self.free);
        let [outer, middle, lane] =
            self.order.map(|i| (self.grid.axes()[i], usize::from(sides[i])));
        let row = self.words;
        let plane = row * usize::from(middle.0.extent);
        self.narrow_lanes(lane.0, lane.1);
        self.narrow_rows(row, plane, middle.0, middle.1);
        self.narrow_rows(plane, self.bases.len(), outer.0, outer.1);
    }

    /// Keeps only the bits at which a run of `side` set bits of the row begins.
    fn narrow_lanes(&mut self, axis: Axis, side: usize) {
        let extent = usize::from(axis.extent);
        for step in doublings(side) {
            self.operations += self.bases.len() as u64;
            match (self.words, axis.wrapped) {
                (1, false) => self.bases.iter_mut().for_each(|row| *row &= *row >> step),
                (1, true) => {
                    let turned = |row: u64| row >> step | row << (extent - step);
                    self.bases.iter_mut().for_each(|row| *row &= turned(*row));
                }
                (words, wrapped) => {
                    let rows = self.bases.chunks_exact(words);
                    for (row, to) in rows.zip(self.spare.chunks_exact_mut(words)) {
                        for (i, to) in to.iter_mut().enumerate() {
                            let over_edge =
                                if wrapped { bits::up(row, i, extent - step) } else { 0 };
                            *to = row[i] & (bits::down(row, i, step) | over_edge);
                        }
                    }
                    std::mem::swap(&mut self.bases, &mut self.spare);
                }
            }
        }
    }

    /// Combines every block of words with the `side - 1` blocks after it. Blocks are combined only
    /// within a stretch of `stretch` words.
    fn narrow_rows(&mut self, block: usize, stretch: usize, axis: Axis, side: usize) {
        for step in doublings(side) {
            self.operations += self.bases.len() as u64;
            let moved = step * block;
            let stretches = self.bases.chunks_exact(stretch);
            for (from, to) in stretches.zip(self.spare.chunks_exact_mut(stretch)) {
                let (inner, edge) = to.split_at_mut(stretch - moved);
                bits::and(inner, from, &from[moved..]);
                if axis.wrapped {
                    bits::and(edge, &from[stretch - moved..], from);
                } else {
                    edge.fill(0);
                }
            }
            std::mem::swap(&mut self.bases, &mut self.spare);
        }
    }

    /// Returns the first base in scan order.
    pub fn first(&self, scan: Scan) -> Option<Coord> {
        self.lowest(&self.bases, scan)
    }

    /// Returns the first free processor in scan order.
    pub fn first_free(&self, scan: Scan) -> Option<Coord> {
        self.lowest(&self.free, scan)
    }

    fn lowest(&self, bits: &[u64], scan: Scan) -> Option<Coord> {
        if self.grid.dimensions() == 3 || scan == Scan::ColumnMajor {
            let word = bits.iter().position(|&word| word != 0)?;
            let row = word / self.words;
            let lane = bits::first(&bits[row * self.words..][..self.words])?;
            return Some(self.coord(row, lane));
        }
        // Rows of bits run along y. The result is the lowest bit position that is set in any row,
        // and the first row in which this bit is set.
        let mut lowest = None;
        for (x, row) in bits.chunks_exact(self.words).enumerate() {
            match bits::first(row) {
                Some(0) => return Some(self.coord(x, 0)),
                Some(y) if lowest.is_none_or(|(lowest, _)| y < lowest) => lowest = Some((y, x)),
                _ => {}
            }
        }
        lowest.map(|(y, x)| self.coord(x, y))
    }

    /// Returns whether a frame with this base is free.
    #[inline]
    pub fn contains(&self, base: Coord) -> bool {
        let (row, lane) = self.row_of(base);
        bits::get(&self.bases[row * self.words..][..self.words], lane)
    }

    /// Returns the row of bits that contains a processor, and the processor's bit in this row.
    #[inline]
    pub fn row_of(&self, processor: Coord) -> (usize, usize) {
        let [outer, middle, lane] = self.order.map(|axis| usize::from(processor[axis]));
        (outer * self.grid.extent(self.order[1]) + middle, lane)
    }

    /// Returns the maximal runs of bases in a row of bits, in ascending order. A run is given as
    /// first bit and length.
    pub fn base_runs(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        bits::runs(&self.bases[row * self.words..][..self.words])
    }

    /// Returns whether the last search found a base.
    pub fn has_base(&self) -> bool {
        self.bases.iter().any(|&word| word != 0)
    }

    /// Returns whether there is a base at this outer position within these ranges of middle and
    /// lane positions.
    pub fn has_base_in(
        &self,
        outer: usize,
        middle: RangeInclusive<usize>,
        lane: RangeInclusive<usize>,
    ) -> bool {
        let first = outer * self.grid.extent(self.order[1]);
        let length = lane.end() + 1 - lane.start();
        let mut rows = middle.map(|at| &self.bases[(first + at) * self.words..][..self.words]);
        rows.any(|row| bits::any_of(row, *lane.start(), length))
    }

    /// Returns the number of bases.
    pub fn count(&self) -> u64 {
        self.bases.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns all bases in the order of processor numbers.
    pub fn bases(&self) -> impl Iterator<Item = Coord> + '_ {
        let rows = self.bases.chunks_exact(self.words).enumerate();
        rows.flat_map(move |(row, bits)| bits::ones(bits).map(move |lane| self.coord(row, lane)))
    }

    /// Returns the row of free processors at these outer and middle positions.
    #[inline]
    pub fn free_row(&self, outer: usize, middle: usize) -> &[u64] {
        let row = outer * self.grid.extent(self.order[1]) + middle;
        &self.free[row * self.words..][..self.words]
    }

    /// Returns the axes that are the outer, the middle and the lane dimension.
    pub fn order(&self) -> [usize; 3] {
        self.order
    }

    #[inline]
    fn coord(&self, row: usize, lane: usize) -> Coord {
        let middle = self.grid.extent(self.order[1]);
        let mut coord = [0; 3];
        for (axis, at) in self.order.into_iter().zip([row / middle, row % middle, lane]) {
            coord[axis] = at as u16;
        }
        coord
    }
}

/// Returns the shift distances by which a window of length one grows to length `side`.
fn doublings(side: usize) -> impl Iterator<Item = usize> {
    let mut spanned = 1;
    std::iter::from_fn(move || {
        let step = spanned.min(side - spanned);
        spanned += step;
        (step > 0).then_some(step)
    })
}

#[cfg(test)]
mod tests;
