//! First Fit (Zhu 1992; in 3D Ababneh 2001): the first free frame in scan order.
//!
//! First Fit finds a free frame of the requested orientation whenever such a frame exists. Turning
//! First Fit finds a free frame in any orientation: it tries the permutations of the sides in a
//! fixed order and stops at the first permutation that has a free position.
//!
//! [`Frames`] finds all bases at once.

use crate::contiguous::frames::Frames;
use crate::contiguous::node_order::NodeOrder;
use crate::contiguous::scan::Scan;
use crate::contiguous::{Choice, Contiguous, Preference};
use replay_engine::allocator::submesh::{ROTATE, SHAPE, Shaping};
use replay_engine::allocator::{Allocator, AllocatorOptions, grid_of};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::{Coord, Topology};

/// Choice of the first free frame in scan order.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit {
    /// Order in which bases are tried.
    pub scan: Scan,
}

impl Choice for FirstFit {
    fn choose(&mut self, frames: &mut Frames, _: &Machine, sides: [u16; 3]) -> Option<Coord> {
        frames.find(sides);
        frames.first(self.scan)
    }

    fn preference(&mut self, frames: &Frames, _: &Machine, _: [u16; 3]) -> Preference {
        Preference::in_order("the first in scan order", frames)
    }
}

/// Options of First Fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirstFitOptions {
    /// Whether the permutations of a frame's sides are tried too.
    pub turn: bool,
    /// Order in which bases are tried.
    pub scan: Scan,
    /// Rule for the frames of jobs without a shape.
    pub shaping: Shaping,
}

impl AllocatorOptions for FirstFitOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        if topology.hierarchy().is_some() {
            return match *self == Self::default() {
                true => Ok(Box::new(NodeOrder)),
                false => {
                    Err("on trees and blocks only first-fit without parameters is supported".into())
                }
            };
        }
        let (grid, Self { turn, scan, shaping }) = (grid_of(topology)?, *self);
        Ok(Box::new(Contiguous::new(grid, shaping, turn, FirstFit { scan })))
    }
}

/// Returns the table of `first-fit` and `turning-first-fit`.
pub fn table() -> Table<FirstFitOptions> {
    let shared = |entry: Entry<FirstFitOptions>| {
        entry
            .param(
                "scan",
                kind::one_of(&Scan::ALL),
                "order of bases in 2D: y outer and x inner, or x outer and y inner; in 3D always x, y, z",
                |o| &mut o.scan,
            )
            .param("shape", kind::one_of(&Shaping::ALL), SHAPE, |o| &mut o.shaping)
    };
    let plain = FirstFitOptions::default();
    let turning = FirstFitOptions { turn: true, ..plain };
    let plain = Entry::new("first-fit", plain)
        .aliases(&["ff"])
        .about("The first free frame in scan order, as requested or (turning-first-fit) rotated; refuses if no frame is free. On trees and blocks: the free nodes with the lowest numbers. O(N) per decision.")
        .source("Zhu 1992; 3D: Ababneh 2001")
        .param("rotate", kind::yes_no(), ROTATE, |o| &mut o.turn);
    let turning = Entry::new("turning-first-fit", turning)
        .aliases(&["tff"])
        .about("First Fit for each permutation of the sides until a permutation fits; finds a free frame of any orientation. O(N) per permutation.")
        .source("Ababneh 2001; Bani-Mohammad 2008, section 2.2.1");
    Table::new("allocator", [plain, turning].map(shared))
}
