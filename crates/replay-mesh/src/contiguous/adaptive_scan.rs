//! Adaptive Scan (Ding, Bhuyan 1993): a variant of Frame Sliding that finds every free frame.
//!
//! In the published procedure, a frame slides to the right until it is just past the sub-mesh that
//! blocks it; at the end of a row it moves up by one row. If no frame of the requested orientation
//! is free, the rotated frame is tried. A frame that begins before the end of the blocking sub-mesh
//! overlaps this sub-mesh, so a slide never skips a free frame. The scan therefore ends at the
//! first free frame in row-major order, which is allocated. This implementation finds the same
//! frame by rows of bits, like Turning First Fit, without a list of sub-meshes.

use crate::contiguous::Contiguous;
use crate::contiguous::first_fit::FirstFit;
use replay_engine::allocator::submesh::{SHAPE, Shaping};
use replay_engine::allocator::{Allocator, AllocatorOptions, mesh_of};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::{Grid, Topology};

/// The Adaptive Scan allocator.
pub type AdaptiveScan = Contiguous<FirstFit>;

/// Creates Adaptive Scan on a mesh.
pub fn adaptive_scan(mesh: &Grid, shaping: Shaping) -> AdaptiveScan {
    Contiguous::new(mesh, shaping, true, FirstFit::default())
}

/// Options of Adaptive Scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdaptiveScanOptions {
    /// Rule for the frames of jobs without a shape.
    pub shaping: Shaping,
}

impl AllocatorOptions for AdaptiveScanOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let mesh = mesh_of(topology, "frame sliding")?;
        Ok(Box::new(adaptive_scan(mesh, self.shaping)))
    }
}

/// Returns the table of `adaptive-scan`.
pub fn table() -> Table<AdaptiveScanOptions> {
    let adaptive_scan = Entry::new("adaptive-scan", AdaptiveScanOptions::default())
        .aliases(&["as"])
        .about("The first free frame in row-major order; if no frame is free, the first free rotated frame. Meshes only. O(N) per orientation.")
        .source("Ding, Bhuyan 1993; Bani-Mohammad 2008, section 2.2.1")
        .param("shape", kind::one_of(&Shaping::ALL), SHAPE, |o| &mut o.shaping);
    Table::new("allocator", [adaptive_scan])
}
