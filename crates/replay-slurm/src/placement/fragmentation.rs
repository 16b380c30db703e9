//! Fragmentation: the part of the placements that is blocked.

use std::sync::Arc;

use crate::placement::torus::{Cells, Layout, Torus};

/// Returns the sum of the placement sizes over all anchors whose nodes are not all free. The sum is
/// 0 on an idle machine. An anchor with holes is free if its nodes are free (Slurm 26.05,
/// `topology/torus3d`).
pub fn fragmentation(layout: &Layout, free: &[Cells]) -> u64 {
    let of = |(torus, free): (&Arc<Torus>, &Cells)| -> u64 {
        let blocked = |placement: &super::Placement| {
            let blocked = |&anchor: &usize| !free.holds(placement.mask(anchor));
            (0..placement.anchors()).filter(blocked).count() as u64 * u64::from(placement.size)
        };
        torus.placements().iter().map(blocked).sum()
    };
    layout.toruses().iter().zip(free).map(of).sum()
}

/// Returns the maximum of [`fragmentation`]: the sum of the placement sizes over all anchors.
pub fn most(layout: &Layout) -> u64 {
    let placements = layout.toruses().iter().flat_map(|torus| torus.placements());
    placements.map(|placement| placement.anchors() as u64 * u64::from(placement.size)).sum()
}
