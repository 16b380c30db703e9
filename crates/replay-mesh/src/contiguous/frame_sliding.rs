//! Frame Sliding (Chuang, Tzeng 1991): the first free frame of a coarse grid of frames.
//!
//! The first frame has its base at the lowest, leftmost free processor. In a row of frames, each
//! next frame begins one frame width to the right; the next row of frames begins one frame height
//! further up. A free frame between two positions of the coarse grid is therefore not found. Frames
//! are never rotated. In 3D frames slide in the order of the 3D First Fit: along z, then y, then x.
//!
//! The papers do not define what happens at the edges of the mesh, so there are two variants
//! ([`Rows`]). With the default variant, finish times agree with Table 1 of Lo et al. (1997) within
//! 3 %. With the other variant, finish times are 4 to 25 % longer than in the table.
//!
//! Cost: the search of [`Frames`], then one bit per frame of the grid.

use crate::contiguous::frames::Frames;
use crate::contiguous::scan::Scan;
use crate::contiguous::{Choice, Contiguous, Preference};
use replay_engine::allocator::submesh::{SHAPE, Shaping};
use replay_engine::allocator::{Allocator, AllocatorOptions, mesh_of};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::{Coord, Topology};

/// Choice of the first free frame among the frames whose distances from the first frame are
/// multiples of the frame's sides.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameSliding {
    /// Start and end of a row of frames.
    pub rows: Rows,
}

impl Choice for FrameSliding {
    const FINDS_ALL: bool = false;

    /// Selects a frame, and counts one operation per examined frame.
    fn choose(&mut self, frames: &mut Frames, _: &Machine, sides: [u16; 3]) -> Option<Coord> {
        let scan = Scan::default();
        let start = frames.first_free(scan)?;
        frames.find(sides);
        let mut last = [0; 3];
        for (last, (axis, side)) in last.iter_mut().zip(frames.grid().axes().iter().zip(sides)) {
            *last = axis.extent.checked_sub(side)?;
        }
        let [outer, middle, inner] = scan.axes(frames.grid());
        let slide = |axis: usize, from: u16| (from..=last[axis]).step_by(usize::from(sides[axis]));
        // Start position along an axis: at the first frame, or at the wall.
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

    fn preference(&mut self, frames: &Frames, _: &Machine, _: [u16; 3]) -> Preference {
        let rule = "the first free frame found when sliding in steps of whole frames from the first free processor";
        Preference::in_order(rule, frames)
    }
}

/// Start and end of a row of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// The first row begins at the first frame; all other rows begin at the left wall. A frame that
    /// would extend past the right wall is moved back to the wall and ends its row.
    #[default]
    Walls,
    /// All rows begin at the x coordinate of the first frame (an interpretation of Bani-Mohammad
    /// 2008, section 2.2.1). Frames that extend past the mesh are skipped.
    First,
}

impl Rows {
    /// Every variant with its name.
    pub const ALL: [(&'static str, Rows); 2] = [("walls", Rows::Walls), ("first", Rows::First)];
}

/// Options of Frame Sliding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameSlidingOptions {
    /// Start and end of a row of frames.
    pub rows: Rows,
    /// Rule for the frames of jobs without a shape.
    pub shaping: Shaping,
}

impl AllocatorOptions for FrameSlidingOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let mesh = mesh_of(topology, "frame sliding")?;
        let choice = FrameSliding { rows: self.rows };
        Ok(Box::new(Contiguous::new(mesh, self.shaping, false, choice)))
    }
}

/// Returns the table of `frame-sliding`.
pub fn table() -> Table<FrameSlidingOptions> {
    let frame_sliding = Entry::new("frame-sliding", FrameSlidingOptions::default())
        .aliases(&["fs"])
        .about("The first free frame in a grid of frames that begins at the first free processor: steps of one width along a row, and of one height between rows. By default, all rows but the first begin at x = 0, and each row ends with a frame at the wall. Does not find every free frame. Meshes only. O(N) per decision.")
        .source("Chuang, Tzeng 1991; Lo et al. 1997, section 2")
        .param(
            "rows",
            kind::one_of(&Rows::ALL),
            "walls: rows after the first begin at x = 0, and each row ends with a frame at the wall, whatever its distance from the frame before; first: all rows begin at the x coordinate of the first frame, and frames past the wall are skipped",
            |o| &mut o.rows,
        )
        .param("shape", kind::one_of(&Shaping::ALL), SHAPE, |o| &mut o.shaping);
    Table::new("allocator", [frame_sliding])
}
