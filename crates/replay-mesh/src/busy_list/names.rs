//! Table of `busy-list` and `turning-busy-list`.

use crate::busy_list::{BusyListAllocator, BusyListOptions};
use replay_engine::allocator::submesh::ShapeRule;
use replay_engine::allocator::{Allocator, AllocatorOptions, mesh_of};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::Topology;

/// Name of the strategies in error messages about machines that are not meshes.
pub(crate) const MESH: &str = "a busy list";

impl AllocatorOptions for BusyListOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(BusyListAllocator::new(mesh_of(topology, MESH)?, *self)))
    }
}

/// Returns the table of both strategies.
pub fn table() -> Table<BusyListOptions> {
    let entry = |name: &str, turning| {
        let shape =
            "sides for a job without a shape: factors of its size, or the least total side length";
        Entry::new(name, BusyListOptions { turning, ..BusyListOptions::default() })
            .source("Bani-Mohammad et al. 2006; Bani-Mohammad 2008, section 3.3")
            .param("shape", kind::one_of(&ShapeRule::FACTORS_FIRST), shape, |o| &mut o.rule)
    };
    let plain = entry("busy-list", false).about(
        "Busy List: the first free sub-mesh of the requested shape that touches the left wall or the right side of an allocated sub-mesh; m^2 steps with m allocated sub-meshes.",
    );
    let turning = entry("turning-busy-list", true).about(
        "Turning Busy List: Busy List in the requested orientation, then in the other orientations; m^2 steps per orientation with m allocated sub-meshes.",
    );
    Table::new("allocator", [plain, turning])
}
