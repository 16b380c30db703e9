//! Adaptive Scan (Ding, Bhuyan 1993): Frame Sliding that misses nothing.
//!
//! Frames slide up by one row, and right to just past the sub-mesh that blocks them;
//! if no frame of the requested orientation is free, the turned one is tried. A frame that
//! begins before the end of its blocker overlaps it, so that a slide never passes a free
//! frame: the scan ends at the first free frame in row-major order, and takes it. That is
//! found here by rows of bits, like a Turning First Fit, without the list of sub-meshes.

use super::Contiguous;
use super::first_fit::FirstFit;
use super::options::{self, Options};
use super::shapes::Shaping;
use crate::allocator::shape::ShapeRule;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::allocator::submesh::SubMesh;
use crate::allocator::{Allocator, Census, Refusal, Request};
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// The Adaptive Scan allocator.
#[derive(Clone, Debug)]
pub struct AdaptiveScan {
    search: Contiguous<FirstFit>,
}

impl AdaptiveScan {
    /// An allocator for a mesh; jobs without a shape get one by `rule`.
    pub fn new(grid: &Grid, rule: ShapeRule) -> Self {
        Self::shaped(grid, Shaping::One(rule))
    }

    fn shaped(grid: &Grid, shaping: Shaping) -> Self {
        Self { search: Contiguous::new(grid, shaping, true, FirstFit::default()) }
    }

    /// The sub-mesh that the request would get now. It depends on nothing but which
    /// processors of the machine are free, whoever holds the others.
    ///
    /// # Errors
    /// [`Refusal`] if no frame is free.
    pub fn find(&mut self, machine: &Machine, request: Request) -> Result<SubMesh, Refusal> {
        self.search.find(machine, request)
    }
}

impl Allocator for AdaptiveScan {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.search.allocate(machine, request, chosen)
    }

    fn largest_allocation(&mut self, request: Request) -> u64 {
        self.search.largest_allocation(request)
    }

    fn released(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.search.released(machine, nodes);
    }

    fn census(&self) -> Option<Census> {
        self.search.census()
    }

    fn keeps_schedule(&self) -> bool {
        false
    }

    fn reset(&mut self) {
        self.search.reset();
    }
}

/// `adaptive-scan`.
pub fn strategies() -> Vec<Strategy> {
    const KEYS: [&str; 1] = ["shape"];
    vec![Strategy {
        name: "adaptive-scan".to_string(),
        aliases: &["as"],
        about: "Frames slide up by one and right past whatever blocks them, then turned: the first free frame. Meshes only. O(N) per orientation."
            .to_string(),
        source: "Ding, Bhuyan 1993; Bani-Mohammad 2008, section 2.2.1",
        parameters: || vec![options::shape()],
        canonical: |name| Ok(Options::fixed(name, &KEYS)?.canonical("adaptive-scan")),
        build: |name, topology, _seed| {
            let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
            let Options { shaping, .. } = Options::fixed(name, &KEYS)?;
            if grid.is_wrapped() {
                return Err(options::needs_mesh(name, "the sliding of a frame"));
            }
            Ok(Box::new(AdaptiveScan::shaped(grid, shaping)))
        },
    }]
}
