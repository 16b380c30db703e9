//! Best Fit (Zhu 1992; in 3D Ababneh 2001): the free frame that fits most closely.
//!
//! Best Fit finds the same free frames as First Fit, but selects a different frame. The papers do
//! not define the best frame, so there are three measures:
//!
//! * [`Surroundings`]: the frame with the fewest free processors next to it, so that most of its
//!   surface touches busy processors or walls.
//! * [`Candidates`]: the base with the fewest neighbours that are bases too; among these bases, the base in the
//!   smallest connected area of bases (Bani-Mohammad 2008, section 2.2.1: most busy neighbours, then least surrounding
//!   free area). [`Candidates`] is the default measure: its finish times agree with Table 1 of Lo et al. (1997) within
//!   2 %. The finish times with [`Surroundings`] are up to 6 % shorter.
//! * [`SmallestBox`]: the lowest corner of the smallest maximal free box that contains the frame
//!   ("the smallest suitable sub-mesh" of the 3D paper). Meshes only.
//!
//! If several frames are equally good, the first of them in scan order is taken. Turning Best Fit tries the
//! permutations of the sides in order. Turning Best Fit takes the best position of the first permutation that has a
//! free position.

mod areas;
mod candidates;
mod smallest_box;
mod surroundings;

pub use candidates::Candidates;
pub use smallest_box::SmallestBox;
pub use surroundings::Surroundings;

use crate::contiguous::Contiguous;
use replay_engine::allocator::submesh::{ROTATE, SHAPE, Shaping};
use replay_engine::allocator::{Allocator, AllocatorOptions, grid_of, mesh_of};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::Topology;

/// Measure by which Best Fit compares free frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Measure {
    /// Fewest free neighbours of the frame ([`Surroundings`]).
    Surroundings,
    /// Fewest neighbours of the base that are also bases ([`Candidates`]).
    #[default]
    Candidates,
    /// Smallest maximal free box ([`SmallestBox`]).
    SmallestBox,
}

impl Measure {
    /// Every measure with its name.
    pub const ALL: [(&'static str, Measure); 3] = [
        ("surroundings", Measure::Surroundings),
        ("candidates", Measure::Candidates),
        ("smallest-box", Measure::SmallestBox),
    ];
}

/// Options of Best Fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BestFitOptions {
    /// Whether the permutations of a frame's sides are tried too.
    pub turn: bool,
    /// Measure of the best frame.
    pub measure: Measure,
    /// Rule for the frames of jobs without a shape.
    pub shaping: Shaping,
}

impl AllocatorOptions for BestFitOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let (grid, Self { turn, measure, shaping }) = (grid_of(topology)?, *self);
        Ok(match measure {
            Measure::Surroundings => {
                Box::new(Contiguous::new(grid, shaping, turn, Surroundings::new(grid)))
            }
            Measure::Candidates => {
                Box::new(Contiguous::new(grid, shaping, turn, Candidates::default()))
            }
            Measure::SmallestBox => {
                let mesh = mesh_of(topology, "measure=smallest-box")?;
                Box::new(Contiguous::new(mesh, shaping, turn, SmallestBox::default()))
            }
        })
    }
}

/// Returns the table of `best-fit` and `turning-best-fit`.
pub fn table() -> Table<BestFitOptions> {
    let shared = |entry: Entry<BestFitOptions>| {
        entry
            .param(
                "measure",
                kind::one_of(&Measure::ALL),
                "measure of the best frame: fewest free neighbours of the frame (surroundings), fewest neighbours of its base that are also bases of free frames (candidates), or smallest maximal free box (smallest-box)",
                |o| &mut o.measure,
            )
            .param("shape", kind::one_of(&Shaping::ALL), SHAPE, |o| &mut o.shaping)
    };
    let plain = BestFitOptions::default();
    let turning = BestFitOptions { turn: true, ..plain };
    let plain = Entry::new("best-fit", plain)
        .aliases(&["bf"])
        .about("The free frame that fits most closely, as requested or (turning-best-fit) rotated; refuses if no frame is free. O(N) per decision (smallest-box: O(N L / 64) in 2D).")
        .source("Zhu 1992; 3D: Ababneh 2001")
        .param("rotate", kind::yes_no(), ROTATE, |o| &mut o.turn);
    let turning = Entry::new("turning-best-fit", turning)
        .aliases(&["tbf"])
        .about("Best Fit for each permutation of the sides until a permutation fits; finds a free frame of any orientation. O(N) per permutation.")
        .source("Ababneh 2001; Bani-Mohammad 2008, section 2.2.1");
    Table::new("allocator", [plain, turning].map(shared))
}
