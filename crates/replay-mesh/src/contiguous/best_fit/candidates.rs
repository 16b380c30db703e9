//! Best Fit measure: the base with the fewest neighbours that are also bases.

use crate::contiguous::best_fit::areas::Areas;
use crate::contiguous::frames::{Frames, NeighbourCounts};
use crate::contiguous::scan::Scan;
use crate::contiguous::{Choice, Preference};
use replay_engine::machine::Machine;
use replay_engine::topology::Coord;

/// Measure that selects the base with the fewest direct neighbours that are bases too. If several
/// bases have this minimum, the measure selects the base in the smallest connected area of bases.
/// Cost: O(N / 64) words, and a few steps per run of bases along a row.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    neighbour_counts: NeighbourCounts,
    areas: Areas,
    /// Bases with the fewest neighbours that are also bases.
    tied: Vec<Coord>,
}

impl Choice for Candidates {
    /// Selects a base, and counts one operation per base.
    fn choose(&mut self, frames: &mut Frames, _: &Machine, sides: [u16; 3]) -> Option<Coord> {
        frames.find(sides);
        frames.operations += frames.count();
        frames.fewest_neighbours(&mut self.neighbour_counts, &mut self.tied);
        if let [only] = self.tied[..] {
            return Some(only);
        }
        self.areas.read(frames);
        let areas = &mut self.areas;
        let key =
            |base: &Coord| (areas.bases(frames, *base), Scan::default().rank(frames.grid(), *base));
        self.tied.iter().copied().min_by_key(key)
    }

    fn preference(&mut self, frames: &Frames, _: &Machine, _: [u16; 3]) -> Preference {
        self.areas.read(frames);
        let areas = &mut self.areas;
        let grid = frames.grid();
        let of = |base: Coord| {
            let mut neighbours = 0;
            grid.for_neighbours(grid.node(base), |node| {
                neighbours += u64::from(frames.contains(grid.coord(node)));
            });
            (base, vec![neighbours, areas.bases(frames, base) as u64])
        };
        Preference {
            rule: "the base with the fewest neighbours that are bases, of equals that in the smallest area of \
                   them, then the first",
            columns: vec!["neighbours", "area"],
            bases: frames.bases().map(of).collect(),
        }
    }
}
