//! GABL, Greedy Available Busy List (Bani-Mohammad 2008, section 4.2): non-contiguous allocation on
//! 2D and 3D meshes in few large sub-meshes.
//!
//! Turning Busy List searches for a sub-mesh of the whole request. If no such sub-mesh is free, the
//! longest side of the shape shrinks step by step, until a sub-mesh of the shape is free and has no
//! more processors than the job still needs. This sub-mesh is allocated, and the same shape is
//! tried again, until exactly the requested number of processors is allocated. A single processor
//! can always be allocated while any processor is free. Therefore every request is served if enough
//! processors are free, and no processor is lost. A shape may be longer than the mesh. In the
//! published procedure a failed search would be repeated for ever; in this implementation a failed
//! search shrinks the shape.
//!
//! Cost of the published procedure with m allocated sub-meshes and b searches per decision: each decision needs b m^2
//! subtractions of boxes for each orientation, and each release needs m steps. The fast engine has a map of free
//! processors. A search without success costs N / 64 words times the logarithm of the sides; a search with success
//! costs m subtractions and m lookups in the map.

mod factor;
mod names;
mod shrink;

pub use names::table;
pub use shrink::TieShrink;

use std::collections::HashMap;

use crate::busy_list::describe_search;
use crate::busy_list::placer::Placer;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::allocator::{
    Allocator, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Grid, NodeId};

/// The GABL allocator. A request without shape begins with the shape of exactly its size that is
/// nearest to a square, even if this shape does not fit the machine. A request with a shape gets as
/// many processors as the volume of the shape.
///
/// The searches in the [`Census`](super::Census) of GABL are the executions of Step 6; each execution searches for one
/// shape in all orientations. [`Census::operations`] counts how often a prohibited region is subtracted from a plane of
/// bases or from a piece of a plane.
#[derive(Clone, Debug)]
pub struct Gabl {
    placer: Placer,
    tie_shrink: TieShrink,
    /// Cache: for each size, the shape nearest to a square.
    shapes: HashMap<u32, [u32; 3]>,
    blocks: u32,
    searches: u64,
    explanation: ExplanationLog,
}

/// Options of [`Gabl`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GablOptions {
    /// Whether all orientations of a shape are tried, for the whole request and for its parts.
    pub rotate: bool,
    /// Choice of the side that shrinks if several sides are equally long.
    pub tie_shrink: TieShrink,
}

impl Default for GablOptions {
    fn default() -> Self {
        Self { rotate: true, tie_shrink: TieShrink::default() }
    }
}

impl Gabl {
    /// Creates an allocator for a mesh. Wrapped dimensions are treated as if they did not wrap.
    pub fn new(grid: &Grid, options: GablOptions) -> Self {
        Self {
            placer: Placer::new(grid, options.rotate).with_map(),
            tie_shrink: options.tie_shrink,
            shapes: HashMap::new(),
            blocks: 0,
            searches: 0,
            explanation: ExplanationLog::default(),
        }
    }

    /// Makes every search list all free positions, as published.
    pub(crate) fn listing_all(self) -> Self {
        Self { placer: self.placer.listing_all(), ..self }
    }

    fn shape(&mut self, size: u32) -> Option<[u32; 3]> {
        if let Some(&known) = self.shapes.get(&size) {
            return Some(known);
        }
        let shape = factor::most_square(size, self.placer.grid())?;
        self.shapes.insert(size, shape);
        Some(shape)
    }

    /// A box whose sides exceed the range of coordinates is longer than the mesh and has no place.
    fn place(&mut self, sides: [u32; 3]) -> Option<SubMesh> {
        let listed = self.placer.units();
        let placed = factor::coordinates(sides).and_then(|sides| self.placer.place(sides));
        self.explanation.sentence(|| describe_search(self.placer.grid(), listed, sides, placed));
        placed
    }

    /// Executes Steps 3 to 7: appends sub-meshes with a total of `job` processors and returns the
    /// number of sub-meshes. The sides of each sub-mesh are at most as long as the sides of the
    /// previous sub-mesh. Returns `None` if not even a single processor can be placed.
    fn allocate_parts(
        &mut self,
        job: u64,
        mut sides: [u32; 3],
        chosen: &mut Vec<NodeId>,
    ) -> Option<u32> {
        let (mut blocks, mut wanted) = (0, job);
        self.tie_shrink.shrink(&mut sides)?;
        while wanted > 0 {
            while processors(sides) > wanted {
                self.tie_shrink.shrink(&mut sides)?;
            }
            self.searches += 1;
            match self.place(sides) {
                Some(unit) => {
                    unit.append_to(self.placer.grid(), chosen);
                    wanted -= processors(sides);
                    blocks += 1;
                }
                None => self.tie_shrink.shrink(&mut sides)?,
            }
        }
        Some(blocks)
    }
}

/// Returns the number of processors of a box.
fn processors(sides: [u32; 3]) -> u64 {
    sides.into_iter().map(u64::from).product()
}

impl Allocator for Gabl {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.placer.begin(setup);
        (self.blocks, self.searches) = (0, 0);
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        require_free(machine, request.size.into())?;
        let given = request.shape.map(|shape| shape.map(u32::from));
        let sides = given.or_else(|| self.shape(request.size)).ok_or(Refusal::Fragmented)?;
        let job = processors(sides);
        require_free(machine, job)?;
        self.blocks = match self.place(sides) {
            Some(unit) => {
                unit.append_to(self.placer.grid(), chosen);
                1
            }
            None => match self.allocate_parts(job, sides, chosen) {
                Some(blocks) => blocks,
                None => {
                    self.placer.release(chosen);
                    chosen.clear();
                    self.placer.check()?;
                    // This code is reached only if the machine has busy processors that this allocator did not
                    // allocate.
                    return Err(Refusal::Fragmented);
                }
            },
        };
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        self.placer.on_event(event);
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        let census = self.placer.census(self.blocks, self.searches);
        Stats { census: Some(census), ..Stats::default() }
    }
}

#[cfg(test)]
mod tests;
