//! The number of direct neighbours of each base that are bases too, computed for all bases at once.

use crate::contiguous::frames::Frames;
use replay_engine::bits;
use replay_engine::topology::Coord;

/// A number from 0 to 7 for every processor, stored as three planes of bits. The plane of the lowest bits comes first.
#[derive(Clone, Debug, Default)]
pub struct NeighbourCounts {
    planes: [Vec<u64>; 3],
    moved: Vec<u64>,
}

impl Frames {
    /// Replaces `least` by the bases with the fewest direct neighbours that are also bases, in the order of processor
    /// numbers. A base has at most six neighbours. For each direction, all bits are shifted, and the shifted bits are
    /// added to the counts.
    pub fn fewest_neighbours(&self, counts: &mut NeighbourCounts, least: &mut Vec<Coord>) {
        for plane in &mut counts.planes {
            plane.clear();
            plane.resize(self.bases.len(), 0);
        }
        counts.moved.resize(self.bases.len(), 0);
        let [outer, middle, lane] = self.order.map(|axis| self.grid.axes()[axis]);
        let plane = self.words * usize::from(middle.extent);
        for up in [false, true] {
            self.lanes_moved(lane.wrapped, up, &mut counts.moved);
            counts.add();
            for (block, stretch, axis) in
                [(self.words, plane, middle), (plane, self.bases.len(), outer)]
            {
                if axis.extent > 1 {
                    self.rows_moved(block, stretch, axis.wrapped, up, &mut counts.moved);
                    counts.add();
                }
            }
        }
        let left = &mut counts.moved;
        left.copy_from_slice(&self.bases);
        for plane in counts.planes.iter().rev() {
            // Entries with a 0 in this plane have smaller counts than entries with a 1.
            if left.iter().zip(plane).any(|(left, plane)| left & !plane != 0) {
                left.iter_mut().zip(plane).for_each(|(left, plane)| *left &= !plane);
            }
        }
        least.clear();
        let rows = left.chunks_exact(self.words).enumerate();
        least.extend(
            rows.flat_map(|(row, word)| bits::ones(word).map(move |lane| self.coord(row, lane))),
        );
    }

    /// Writes every row of bases, shifted by one position. Bits after the end of the row are undefined.
    fn lanes_moved(&self, wrapped: bool, up: bool, moved: &mut [u64]) {
        let round = self.grid.extent(self.order[2]) - 1;
        let rows = self.bases.chunks_exact(self.words);
        for (row, to) in rows.zip(moved.chunks_exact_mut(self.words)) {
            for (i, to) in to.iter_mut().enumerate() {
                *to = match (up, wrapped) {
                    (true, false) => bits::up(row, i, 1),
                    (false, false) => bits::down(row, i, 1),
                    (true, true) => bits::up(row, i, 1) | bits::down(row, i, round),
                    (false, true) => bits::down(row, i, 1) | bits::up(row, i, round),
                };
            }
        }
    }

    /// Writes every block of words, shifted by one block within its stretch.
    fn rows_moved(&self, block: usize, stretch: usize, wrapped: bool, up: bool, moved: &mut [u64]) {
        let stretches = self.bases.chunks_exact(stretch);
        for (from, to) in stretches.zip(moved.chunks_exact_mut(stretch)) {
            let last = stretch - block;
            let (inner, edge, beyond) = match up {
                true => (block..stretch, 0..block, last..stretch),
                false => (0..last, last..stretch, 0..block),
            };
            let source = if up { 0..last } else { block..stretch };
            to[inner].copy_from_slice(&from[source]);
            match wrapped {
                true => to[edge].copy_from_slice(&from[beyond]),
                false => to[edge].fill(0),
            }
        }
    }
}

impl NeighbourCounts {
    /// Adds one to the number of each processor whose bit in `moved` is set.
    fn add(&mut self) {
        let [ones, twos, fours] = &mut self.planes;
        let words = ones.iter_mut().zip(twos).zip(fours).zip(&self.moved);
        for (((ones, twos), fours), &moved) in words {
            let carry = *ones & moved;
            *ones ^= moved;
            *fours ^= *twos & carry;
            *twos ^= carry;
        }
    }
}
