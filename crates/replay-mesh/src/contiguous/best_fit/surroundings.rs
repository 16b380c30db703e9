//! Best Fit measure: the frame with the fewest free processors next to it.

use crate::contiguous::frames::Frames;
use crate::contiguous::scan::Scan;
use crate::contiguous::{Choice, Preference};
use replay_engine::machine::{BoxCounts, Machine};
use replay_engine::topology::{Axis, Coord, Grid};

/// Measure that selects the frame with the fewest free neighbours. A neighbour of a frame is a
/// processor outside the frame at a distance of one step from a processor of the frame. Cost: one
/// box count per base and dimension.
#[derive(Clone, Debug)]
pub struct Surroundings {
    grid: Grid,
    counts: BoxCounts<u32>,
}

impl Surroundings {
    /// Creates the measure on `grid`.
    pub fn new(grid: &Grid) -> Self {
        Self { counts: BoxCounts::new(grid), grid: grid.clone() }
    }

    /// Returns the number of free neighbours of the free frame at `base`.
    fn free_neighbours(&self, base: Coord, sides: [u16; 3]) -> u32 {
        let frame = [0, 1, 2].map(|i| (i32::from(base[i]), u32::from(sides[i])));
        let volume: u32 = frame.iter().map(|(_, side)| side).product();
        (0..self.grid.dimensions())
            .map(|i| {
                let mut spans = frame;
                for (j, span) in spans.iter_mut().enumerate() {
                    *span = grown(&self.grid.axes()[j], *span, u32::from(i == j));
                }
                self.counts.count_box(spans) - volume
            })
            .sum()
    }
}

/// Returns the interval extended by `more` positions on both sides and limited to the positions of
/// the dimension. The result is in the range of the box counts. Box counts extend a wrapped
/// dimension on both sides by less than the extent of the dimension.
fn grown(axis: &Axis, (low, length): (i32, u32), more: u32) -> (i32, u32) {
    let extent = i32::from(axis.extent);
    let (low, high) = (low - more as i32, low + (length + more) as i32);
    if !axis.wrapped {
        let (low, high) = (low.max(0), high.min(extent));
        return (low, (high - low) as u32);
    }
    if high - low >= extent {
        return (0, extent as u32);
    }
    let continued = 2 * extent - 1 - (extent - 1) / 2;
    (if high > continued { low - extent } else { low }, (high - low) as u32)
}

impl Choice for Surroundings {
    fn choose(&mut self, frames: &mut Frames, machine: &Machine, sides: [u16; 3]) -> Option<Coord> {
        frames.find(sides);
        self.counts.update(machine);
        let mut scored = 0;
        let scan = Scan::default();
        let best = frames.bases().min_by_key(|&base| {
            scored += 1;
            (self.free_neighbours(base, sides), scan.rank(&self.grid, base))
        });
        frames.operations += scored;
        best
    }

    fn preference(&mut self, frames: &Frames, machine: &Machine, sides: [u16; 3]) -> Preference {
        self.counts.update(machine);
        let of = |base| (base, vec![u64::from(self.free_neighbours(base, sides))]);
        Preference {
            rule: "the frame with the fewest adjacent free processors (if several are equal, the first)",
            columns: vec!["free next to it"],
            bases: frames.bases().map(of).collect(),
        }
    }

    fn reset(&mut self) {
        self.counts.reset();
    }
}
