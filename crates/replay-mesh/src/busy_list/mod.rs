//! Busy List and Turning Busy List (Bani-Mohammad, Ould-Khaoua, Ababneh, Mackenzie 2006; Bani-Mohammad 2008, chapter
//! 3): contiguous allocation on 2D and 3D meshes that searches a list of allocated sub-meshes instead of a map of free
//! processors.
//!
//! Busy List finds a free sub-mesh of the requested shape in the requested orientation whenever there is one. Turning
//! Busy List finds a free sub-mesh of the requested shape in any orientation whenever there is one. The search lists
//! planes of admissible bases and uses the lowest corner of the first plane. Cost per decision with m allocated
//! sub-meshes: m^2 subtractions of boxes for each orientation. Cost per release: m steps. Neither the cost of a
//! decision nor the cost of a release depends on the size of the mesh.
//!
//! | file | concept |
//! |---|---|
//! | `region` | prohibited bases |
//! | `plane` | a plane minus a region: seventeen cases |
//! | `list` | the sorted list |
//! | `detect` | the search |
//! | `border` | bases of frames that fit on the mesh, right border planes |
//! | `placer` | combination of list and search, shared with [`gabl`](super::gabl) |

mod border;
#[cfg(test)]
pub(crate) mod cases;
mod detect;
mod list;
mod names;
pub(crate) mod placer;
mod plane;

pub(crate) use names::MESH;
pub use names::table;

use placer::Placer;
use replay_engine::allocator::explain::{self, ExplanationLog};
use replay_engine::allocator::submesh::{ShapeRule, Shapes, Shaping, SubMesh, volume};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::number::counted;
use replay_engine::topology::{Grid, NodeId};

/// The Busy List and Turning Busy List allocators. The operations in the [`Census`](super::Census) of both allocators
/// are the subtractions of a prohibited region from a plane of bases, or from a piece of a plane.
#[derive(Clone, Debug)]
pub struct BusyListAllocator {
    placer: Placer,
    shapes: Shapes,
    blocks: u32,
    explanation: ExplanationLog,
}

/// Options of [`BusyListAllocator`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BusyListOptions {
    /// Whether all orientations of a request are tried (Turning Busy List).
    pub turning: bool,
    /// Rule for the side lengths of a request without shape.
    pub rule: ShapeRule,
}

impl Default for BusyListOptions {
    fn default() -> Self {
        Self { turning: false, rule: ShapeRule::Factors }
    }
}

impl BusyListAllocator {
    /// Creates an allocator for a mesh. Wrapped dimensions are treated as if they did not wrap.
    pub fn new(grid: &Grid, options: BusyListOptions) -> Self {
        Self {
            placer: Placer::new(grid, options.turning),
            shapes: Shapes::new(grid, Shaping::One(options.rule), false),
            blocks: 0,
            explanation: ExplanationLog::default(),
        }
    }

    /// Makes every search list all free positions, as published.
    pub(crate) fn listing_all(self) -> Self {
        Self { placer: self.placer.listing_all(), ..self }
    }
}

/// Describes a search in the busy list.
pub(crate) fn describe_search(
    grid: &Grid,
    listed: u32,
    sides: [impl ToString; 3],
    placed: Option<SubMesh>,
) -> String {
    let beside = counted(listed as u64, "busy sub-mesh");
    let beside = beside.replace("meshs", "meshes");
    let wanted = explain::sides(grid, sides);
    match placed {
        Some(unit) => {
            format!(
                "search in the list for a free place for {wanted} next to {beside}: {}",
                explain::place(grid, unit)
            )
        }
        None => {
            format!(
                "search in the list for a free place for {wanted} next to {beside}: none exists"
            )
        }
    }
}

impl Allocator for BusyListAllocator {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.placer.begin(setup);
        self.blocks = 0;
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        require_free(machine, request.size.into())?;
        let sides = *self.shapes.of(request).first().ok_or(Refusal::Fragmented)?;
        require_free(machine, volume(sides))?;
        let listed = self.placer.units();
        let placed = self.placer.place(sides);
        self.explanation.sentence(|| describe_search(self.placer.grid(), listed, sides, placed));
        let Some(unit) = placed else {
            self.placer.check()?;
            return Err(Refusal::Fragmented);
        };
        unit.append_to(self.placer.grid(), chosen);
        self.blocks = 1;
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        self.placer.on_event(event);
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { refusals_last: true, supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::up_to(self.shapes.largest(request), request)
    }

    fn stats(&self) -> Stats {
        let census = self.placer.census(self.blocks, 0);
        Stats { census: Some(census), ..Stats::default() }
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.placer.covers(&mut self.shapes, refused, asked)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests;
