//! Allocators of meshes and tori that give a job sub-meshes, pages, blocks, or single processors at random.
//!
//! Sources: V. Lo, K. Windisch, W. Liu, B. Nitzberg, "Noncontiguous processor allocation algorithms for mesh-connected
//! multicomputers", 1997 (Random, Paging, MBS); S. Bani-Mohammad, PhD thesis, University of Glasgow, 2008 (busy lists,
//! GABL); and the papers that these works compare with. Each module states its source.
//!
//! | module | strategies |
//! |---|---|
//! | [`random`] | uniformly random processors |
//! | `contiguous` | First Fit and Best Fit with or without rotation, Frame Sliding, Adaptive Scan |
//! | `busy_list` | Busy List, Turning Busy List |
//! | `gabl` | GABL: few large sub-meshes, found by busy lists |
//! | `paging` | pages in an order of the mesh |
//! | `mbs` | MBS: power-of-two blocks, and its granular and octet variants |
//! | `as_mb` | Adaptive Scan, then MBS |
//! | `buddy` | the 2D buddy system |
//! | `anca` | ANCA: a job in several equal frames |
//! | `midplane` | whole midplanes, as on BlueGene/L |
//!
//! A contiguous strategy refuses a job if no free sub-mesh fits, although enough processors are free. The other
//! strategies split the job. All of them find sub-meshes in the [`Machine`](replay_engine::machine::Machine) alone, or keep
//! lists of free or busy units that they update when jobs start and end. [`add_to`] adds them to the registries of a
//! program:
//!
//! ```
//! use replay_engine::allocator::Request;
//! use replay_engine::machine::Machine;
//! use replay_engine::registries::Registries;
//!
//! let registries = replay_mesh::add_to(Registries::new());
//! let machine = Machine::new("8x8".parse()?);
//! let mut gabl = registries.allocators.read("gabl")?.build(machine.topology(), 0)?;
//! let mut chosen = Vec::new();
//! gabl.allocate(&machine, Request::shaped(6, Some([3, 2, 1])), &mut chosen)?;
//! // Three processors along x, two along y.
//! assert_eq!(chosen.iter().map(|node| node.0).collect::<Vec<_>>(), [0, 8, 16, 1, 9, 17]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anca;
mod as_mb;
mod buddy;
mod busy_list;
mod contiguous;
mod gabl;
mod mbs;
mod midplane;
mod paging;
pub mod published;
pub mod random;

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::registries::Registries;

/// Adds the strategies of this crate.
pub fn add_to(registries: Registries) -> Registries {
    registries.with_allocators(|all| {
        all.with(random::table(), AllocatorSpec::parse)
            .with(paging::table(), AllocatorSpec::parse)
            .with(mbs::table(), AllocatorSpec::parse)
            .with(contiguous::first_fit::table(), AllocatorSpec::parse)
            .with(contiguous::best_fit::table(), AllocatorSpec::parse)
            .with(contiguous::frame_sliding::table(), AllocatorSpec::parse)
            .with(contiguous::adaptive_scan::table(), AllocatorSpec::parse)
            .with(busy_list::table(), AllocatorSpec::parse)
            .with(gabl::table(), AllocatorSpec::parse)
            .with(as_mb::table(), AllocatorSpec::parse)
            .with(buddy::table(), AllocatorSpec::parse)
            .with(anca::table(), AllocatorSpec::parse)
            .with(midplane::table(), AllocatorSpec::parse)
    })
}

/// Returns the strategy of this crate with this name.
#[cfg(test)]
fn allocator(name: &str) -> Result<AllocatorSpec, replay_engine::naming::NameError> {
    add_to(Registries::new()).allocators.read(name)
}
