//! Table of `gabl`.

use crate::busy_list::MESH;
use crate::gabl::{Gabl, GablOptions, TieShrink};
use replay_engine::allocator::{Allocator, AllocatorOptions, mesh_of};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::Topology;

impl AllocatorOptions for GablOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(Gabl::new(mesh_of(topology, MESH)?, *self)))
    }
}

/// Returns the table of `gabl`.
pub fn table() -> Table<GablOptions> {
    let gabl = Entry::new("gabl", GablOptions::default())
        .about(
            "Greedy Available Busy List: one free sub-mesh for the whole request; if there is none, several free sub-meshes, found by shrinking the longest side. Never refuses if enough processors are free. b m^2 steps with m allocated sub-meshes and b searches.",
        )
        .source("Bani-Mohammad 2008, section 4.2")
        .param("rotate", kind::yes_no(), "whether sub-meshes may be rotated", |o| &mut o.rotate)
        .param(
            "tie-shrink",
            kind::one_of(&TieShrink::ALL),
            "side that shrinks if several sides are equally long: the first (a) or the last (b)",
            |o| &mut o.tie_shrink,
        );
    Table::new("allocator", [gabl])
}
