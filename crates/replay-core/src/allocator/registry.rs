//! Names of allocation strategies.

use std::str::FromStr;
use std::sync::LazyLock;

pub use super::spec::{AllocatorSpec, ParameterValue};
use super::{
    anca, as_mb, buddy, busy_list, centre, contiguous, curve, elmer, gabl, hierarchy, hypercube,
    mbs, mc, midplane, paging, random, recorded, reduced, torus3d,
};
use crate::naming::{Description, NameError, Registry};

static STANDARD: LazyLock<Registry<AllocatorSpec>> = LazyLock::new(|| {
    Registry::new("allocator")
        .listed_by("replay list allocators")
        .with(centre::table(), AllocatorSpec::parse)
        .with(mc::table(), AllocatorSpec::parse)
        .with(curve::table(), AllocatorSpec::parse)
        .with(random::table(), AllocatorSpec::parse)
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
        .with(torus3d::table(), AllocatorSpec::parse)
        .with(hypercube::names::cubic(), AllocatorSpec::parse)
        .with(hypercube::names::auxiliary(), AllocatorSpec::parse)
        .with(hypercube::names::non_cubic(), AllocatorSpec::parse)
        .with(elmer::table(), AllocatorSpec::parse)
        .with(hierarchy::slurm_tree_table(), AllocatorSpec::parse)
        .with(hierarchy::tree_fit_table(), AllocatorSpec::parse)
        .with(hierarchy::slurm_block_table(), AllocatorSpec::parse)
        .with(hierarchy::kueue_table(), AllocatorSpec::parse)
        .with(recorded::table(), AllocatorSpec::parse)
        .with(reduced::names::table(), AllocatorSpec::parse)
});

/// Returns the registry of built-in strategies.
pub fn standard() -> &'static Registry<AllocatorSpec> {
    &STANDARD
}

/// Returns the listing entry of every built-in strategy.
pub fn descriptions() -> Vec<Description> {
    standard().descriptions()
}

impl FromStr for AllocatorSpec {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        standard().read(text)
    }
}

#[cfg(test)]
mod tests;
