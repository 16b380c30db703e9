//! GABL, Greedy Available Busy List (Bani-Mohammad 2008, section 4.2): non-contiguous allocation on
//! 2D and 3D meshes in few large sub-meshes.
//!
//! Turning Busy List searches for the whole request. If it is not free, the longest side shrinks
//! step by step to the largest free sub-mesh that does not exceed the remaining number of
//! processors. That sub-mesh is allocated, and the same shape is tried again, until exactly the
//! requested number is allocated. A single processor can always be allocated while one is free, so
//! every request for no more processors than are free is served, and no processor is lost. A shape
//! longer than the mesh is allowed. As printed, a failed search would repeat for ever; here it
//! shrinks the shape.
//!
//! Cost per decision with m sub-meshes allocated and b searches, as printed: b m^2 subtractions of
//! boxes, times the orientations; per release: m. The fast engine keeps a map of free processors: a
//! search without success costs N / 64 words times the logarithm of the sides, a search with
//! success m subtractions and as many lookups in the map.

mod factor;
mod names;
mod shrink;

pub use names::table;
pub use shrink::TieShrink;

use std::collections::HashMap;

use super::busy_list::describe_search;
use super::busy_list::placer::Placer;
use super::explain::ExplanationLog;
use super::submesh::{SubMesh, volume};
use super::{
    Allocator, Capabilities, Census, Engine, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};

/// The GABL allocator. A request without shape gets the most nearly square shape of exactly its
/// size, whether or not that shape fits the machine; a request with a shape gets the volume of the
/// shape.
///
/// The [`Census`] counts executions of Step 6 as searches (one shape each, in all its
/// orientations), and subtractions of a prohibited region from a plane of bases, or from a piece of
/// a plane, as operations.
#[derive(Clone, Debug)]
pub struct Gabl {
    placer: Placer,
    tie_shrink: TieShrink,
    /// Most nearly square shape by size.
    shapes: HashMap<u32, [u16; 3]>,
    blocks: u32,
    searches: u64,
    explanation: ExplanationLog,
}

/// Options of [`Gabl`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GablOptions {
    /// Whether all orientations of a shape are tried, both for the whole request and for its parts.
    pub rotate: bool,
    /// Which of equally long sides shrinks.
    pub tie_shrink: TieShrink,
    /// Implementation of the search.
    pub engine: Engine,
}

impl Default for GablOptions {
    fn default() -> Self {
        Self { rotate: true, tie_shrink: TieShrink::default(), engine: Engine::default() }
    }
}

impl Gabl {
    /// Creates an allocator for a mesh; wrapped dimensions are used as if they did not wrap.
    pub fn new(grid: &Grid, options: GablOptions) -> Self {
        Self {
            placer: Placer::new(grid, options.rotate, options.engine).with_map(),
            tie_shrink: options.tie_shrink,
            shapes: HashMap::new(),
            blocks: 0,
            searches: 0,
            explanation: ExplanationLog::default(),
        }
    }

    /// Adds allocated sub-meshes, in this order. They must lie on the mesh, be disjoint, and be
    /// busy on the machine.
    pub fn holding(mut self, units: &[SubMesh]) -> Self {
        units.iter().for_each(|&unit| self.placer.enter(unit));
        self
    }

    fn shape(&mut self, size: u32) -> Option<[u16; 3]> {
        if let Some(&known) = self.shapes.get(&size) {
            return Some(known);
        }
        let shape = factor::most_square(size, self.placer.grid())?;
        self.shapes.insert(size, shape);
        Some(shape)
    }

    fn place(&mut self, sides: [u16; 3]) -> Option<SubMesh> {
        let listed = self.placer.units();
        let placed = self.placer.place(sides);
        self.explanation.sentence(|| describe_search(self.placer.grid(), listed, sides, placed));
        placed
    }

    /// Executes Steps 3 to 7: appends sub-meshes with `job` processors in total, each with sides at
    /// most as long as those before, and returns their number. `None` if not even a single
    /// processor can be placed.
    fn allocate_parts(
        &mut self,
        job: u64,
        mut sides: [u16; 3],
        chosen: &mut Vec<NodeId>,
    ) -> Option<u32> {
        let (mut blocks, mut wanted) = (0, job);
        self.tie_shrink.shrink(&mut sides)?;
        while wanted > 0 {
            while volume(sides) > wanted {
                self.tie_shrink.shrink(&mut sides)?;
            }
            self.searches += 1;
            match self.place(sides) {
                Some(unit) => {
                    unit.append_to(self.placer.grid(), chosen);
                    wanted -= volume(sides);
                    blocks += 1;
                }
                None => self.tie_shrink.shrink(&mut sides)?,
            }
        }
        Some(blocks)
    }
}

impl Allocator for Gabl {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.placer.set_stop(&setup.stop);
        self.placer.reset();
        (self.blocks, self.searches) = (0, 0);
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let free = machine.free_count();
        if request.size as usize > free {
            return Err(Refusal::TooFewFree);
        }
        let sides =
            request.shape.or_else(|| self.shape(request.size)).ok_or(Refusal::Fragmented)?;
        let job = volume(sides);
        if job > free as u64 {
            return Err(Refusal::TooFewFree);
        }
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
                    // Reached only if processors are busy without a job of this allocator.
                    return Err(Refusal::Fragmented);
                }
            },
        };
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) | MachineEvent::NodesUp(nodes) => {
                self.placer.release(nodes);
            }
            MachineEvent::NodesDown(nodes) => self.placer.enter_each(nodes),
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        let census = Census {
            blocks: self.blocks,
            busy_list: self.placer.units(),
            searches: self.searches,
            operations: self.placer.subtractions(),
        };
        Stats { census: Some(census), ..Stats::default() }
    }
}

#[cfg(test)]
mod tests;
