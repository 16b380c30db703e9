//! `busy-list` and `turning-busy-list`.

use super::{BusyListAllocator, BusyListOptions, Engine};
use crate::allocator::Allocator;
use crate::allocator::options::{AllocatorOptions, grid_of};
use crate::allocator::shape::ShapeRule;
use crate::naming::{Entry, Table, kind};
use crate::topology::{Grid, Topology};

/// What `engine` means for all strategies of the family.
pub(in crate::allocator) const ENGINE: &str =
    "stop at the first place, or carry out the whole published search; same places";

impl AllocatorOptions for BusyListOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(BusyListAllocator::new(mesh_of(topology)?, *self)))
    }
}

/// Both strategies.
pub fn table() -> Table<BusyListOptions> {
    let entry = |name: &str, turning| {
        let shape =
            "side lengths of a job that comes without: exact factors, or least total side length";
        Entry::new(name, BusyListOptions { turning, ..BusyListOptions::default() })
            .source("Bani-Mohammad et al. 2006; Bani-Mohammad 2008, section 3.3")
            .param("shape", kind::one_of(&ShapeRule::FACTORS_FIRST), shape, |o| &mut o.rule)
            .param("engine", kind::one_of(&Engine::ALL), ENGINE, |o| &mut o.engine)
    };
    let plain = entry("busy-list", false).about(
        "Busy List: the first free sub-mesh of the requested shape at the right of an \
         allocated one or at the left wall; m^2 steps with m sub-meshes allocated.",
    );
    let turning = entry("turning-busy-list", true).about(
        "Turning Busy List: Busy List in the requested orientation, then in the others; \
         m^2 steps for each with m sub-meshes allocated.",
    );
    Table::new("allocator", [plain, turning])
}

/// The grid of a machine without wrap-around.
///
/// # Errors
/// In words, if the machine is no grid or a dimension wraps.
pub(in crate::allocator) fn mesh_of(topology: &Topology) -> Result<&Grid, String> {
    let grid = grid_of(topology)?;
    match grid.is_wrapped() {
        true => Err("is defined on meshes; this machine wraps around".to_string()),
        false => Ok(grid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_meshes_will_do() {
        let refused = |machine: &str| {
            let topology: Topology = machine.parse().expect("a machine");
            mesh_of(&topology).err()
        };
        assert_eq!(refused("8x8x8"), None);
        assert!(refused("torus[y]:8x8").expect("wrapped").contains("wraps around"));
        assert!(refused("hypercube:4").expect("no grid").contains("mesh or torus"));
    }
}
