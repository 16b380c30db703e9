//! Procedures of Bani-Mohammad's thesis as published, to count their operations.
//!
//! They choose the same processors as the strategies of the same names, at a higher cost, and are not among the
//! strategies of the project.

mod first_fit;

use crate::busy_list::{BusyListAllocator, BusyListOptions, MESH};
use crate::gabl::{Gabl, GablOptions};
use first_fit::PublishedFirstFit;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Allocator, AllocatorOptions, mesh_of};
use replay_engine::naming::{Entry, NameError, Registry, Table};
use replay_engine::topology::Topology;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Published {
    FirstFit { turn: bool },
    BusyList { turning: bool },
    Gabl,
}

impl AllocatorOptions for Published {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let grid = mesh_of(topology, MESH)?;
        Ok(match *self {
            Self::FirstFit { turn } => Box::new(PublishedFirstFit::new(grid, turn)),
            Self::BusyList { turning } => {
                let options = BusyListOptions { turning, ..BusyListOptions::default() };
                Box::new(BusyListAllocator::new(grid, options).listing_all())
            }
            Self::Gabl => Box::new(Gabl::new(grid, GablOptions::default()).listing_all()),
        })
    }
}

/// Returns the published procedure of `first-fit`, `turning-first-fit`, `busy-list`, `turning-busy-list` or `gabl`.
///
/// # Errors
/// [`NameError`] if there is no published procedure with this name.
pub fn allocator(name: &str) -> Result<AllocatorSpec, NameError> {
    let entries = [
        ("first-fit", Published::FirstFit { turn: false }),
        ("turning-first-fit", Published::FirstFit { turn: true }),
        ("busy-list", Published::BusyList { turning: false }),
        ("turning-busy-list", Published::BusyList { turning: true }),
        ("gabl", Published::Gabl),
    ];
    let table = Table::new("allocator", entries.map(|(name, options)| Entry::new(name, options)));
    Registry::new("allocator").with(table, AllocatorSpec::parse).read(name)
}

#[cfg(test)]
mod tests;
