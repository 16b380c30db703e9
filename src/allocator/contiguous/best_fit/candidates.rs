//! Best is the base with the fewest neighbours that are bases.

use crate::allocator::contiguous::Choice;
use crate::allocator::contiguous::frames::Frames;
use crate::allocator::contiguous::scan::Scan;
use crate::machine::Machine;
use crate::topology::{Axis, Coord, Grid};

/// Takes the base with the fewest direct neighbours that are bases too, then the one whose
/// connected area of bases is smallest. O(N).
#[derive(Clone, Debug)]
pub struct Candidates {
    grid: Grid,
    /// By processor: bases in its area, once known; 0 before.
    area: Vec<u32>,
    /// Bases with the fewest neighbours.
    tied: Vec<Coord>,
    /// The area being walked.
    members: Vec<Coord>,
}

impl Candidates {
    /// The measure on `grid`.
    pub fn new(grid: &Grid) -> Self {
        let area = vec![0; grid.processors()];
        Self { grid: grid.clone(), area, tied: Vec::new(), members: Vec::new() }
    }

    /// Finds the number of bases connected to `base`, itself included.
    fn measure_area(&mut self, frames: &Frames, base: Coord) {
        let index = |coord| self.grid.node(coord).index();
        if self.area[index(base)] != 0 {
            return;
        }
        self.members.clear();
        self.members.push(base);
        self.area[index(base)] = 1;
        let mut walked = 0;
        while let Some(&coord) = self.members.get(walked) {
            walked += 1;
            for neighbour in neighbours(&self.grid, coord).filter(|&n| frames.contains(n)) {
                let area = &mut self.area[index(neighbour)];
                if *area == 0 {
                    *area = 1;
                    self.members.push(neighbour);
                }
            }
        }
        for &coord in &self.members {
            self.area[index(coord)] = walked as u32;
        }
    }
}

/// The direct neighbours of a processor, each once.
fn neighbours(grid: &Grid, coord: Coord) -> impl Iterator<Item = Coord> {
    let axes = *grid.axes();
    (0..2 * grid.dimensions()).filter_map(move |step| {
        let (i, Axis { extent, wrapped }) = (step / 2, axes[step / 2]);
        let at = match (step % 2, coord[i]) {
            (0, 0) => wrapped.then(|| extent - 1),
            (0, at) => Some(at - 1),
            (_, at) if at + 1 == extent => wrapped.then_some(0),
            (_, at) => Some(at + 1),
        };
        let mut neighbour = coord;
        neighbour[i] = at?;
        Some(neighbour)
    })
}

impl Choice for Candidates {
    /// Adds one operation for each base.
    fn choose(
        &mut self,
        frames: &mut Frames,
        _machine: &Machine,
        sides: [u16; 3],
    ) -> Option<Coord> {
        frames.find(sides);
        self.tied.clear();
        let (mut fewest, mut bases) = (usize::MAX, 0);
        for base in frames.bases() {
            let count = neighbours(&self.grid, base).filter(|&n| frames.contains(n)).count();
            if count < fewest {
                fewest = count;
                self.tied.clear();
            }
            if count == fewest {
                self.tied.push(base);
            }
            bases += 1;
        }
        frames.operations += bases;
        self.area.fill(0);
        for i in 0..self.tied.len() {
            self.measure_area(frames, self.tied[i]);
        }
        let key = |base: &Coord| {
            let area = self.area[self.grid.node(*base).index()];
            (area, Scan::default().rank(&self.grid, *base))
        };
        self.tied.iter().copied().min_by_key(key)
    }
}
