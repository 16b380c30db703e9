//! Frame Sliding (Chuang, Tzeng 1991): the first free frame of a coarse grid of frames.
//!
//! The first frame has its base at the lowest, leftmost free processor; the next ones are
//! one width further right each, and the next row of frames is one height further up. So a
//! free frame between two of these places is not seen, and frames are never turned. In 3D
//! the same is done in the order of the 3D First Fit: frames slide along z, then y, then x.
//!
//! What happens at the sides of the mesh the papers leave open; there are two readings
//! ([`Rows`]). The default is the one whose finish times agree with Table 1 of Lo et al.
//! (1997), within 3 %; those of the other are 4 to 25 % longer than printed.
//!
//! Cost: the search of [`Frames`], then one bit for each frame of the grid.

use super::choices::Rows;
use super::frames::Frames;
use super::options::{self, Options};
use super::scan::Scan;
use super::{Choice, Contiguous};
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::machine::Machine;
use crate::topology::Coord;

/// Takes the first free frame of those that strides of the frame's sides reach.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameSliding {
    /// Where rows begin and end.
    pub rows: Rows,
}

impl Choice for FrameSliding {
    /// Adds one operation for each frame looked at.
    fn choose(
        &mut self,
        frames: &mut Frames,
        _machine: &Machine,
        sides: [u16; 3],
    ) -> Option<Coord> {
        let scan = Scan::default();
        let start = frames.first_free(scan)?;
        frames.find(sides);
        let mut last = [0; 3];
        for (last, (axis, side)) in last.iter_mut().zip(frames.grid().axes().iter().zip(sides)) {
            *last = axis.extent.checked_sub(side)?;
        }
        let [outer, middle, inner] = scan.axes(frames.grid());
        let slide = |axis: usize, from: u16| (from..=last[axis]).step_by(usize::from(sides[axis]));
        // Where frames begin along an axis: at the first frame, or at the wall.
        let begin = |axis: usize, with_first: bool| {
            if with_first || self.rows == Rows::First { start[axis] } else { 0 }
        };
        for i in slide(outer, start[outer]) {
            let first_plane = i == start[outer];
            for j in slide(middle, begin(middle, first_plane)) {
                let from = begin(inner, first_plane && j == start[middle]);
                let at_wall = (self.rows == Rows::Walls).then_some(last[inner]);
                for k in slide(inner, from).chain(at_wall) {
                    let mut base = [0; 3];
                    [base[outer], base[middle], base[inner]] = [i, j, k];
                    frames.operations += 1;
                    if frames.contains(base) {
                        return Some(base);
                    }
                }
            }
        }
        None
    }
}

/// `frame-sliding`.
pub fn strategies() -> Vec<Strategy> {
    const KEYS: [&str; 2] = ["rows", "shape"];
    vec![Strategy {
        name: "frame-sliding".to_string(),
        aliases: &["fs"],
        about: "The first free frame at strides of its own sides from the first free processor; it does not see every free frame. Meshes only. O(N) per decision."
            .to_string(),
        source: "Chuang, Tzeng 1991; Lo et al. 1997, section 2",
        parameters: || vec![options::rows(), options::shape()],
        canonical: |name| Ok(Options::fixed(name, &KEYS)?.canonical("frame-sliding")),
        build: |name, topology, _seed| {
            let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
            let Options { shaping, rows, .. } = Options::fixed(name, &KEYS)?;
            if grid.is_wrapped() {
                return Err(options::needs_mesh(name, "the sliding of a frame"));
            }
            Ok(Box::new(Contiguous::new(grid, shaping, false, FrameSliding { rows })))
        },
    }]
}
