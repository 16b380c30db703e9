//! Contiguous strategies: a job gets one sub-mesh, of exactly the sides of its frame.
//!
//! They differ in which of the free frames they take, and whether they look at all of
//! them. All refuse when no frame is free that they see, however many processors are
//! (external fragmentation).
//!
//! | room | concept |
//! |---|---|
//! | [`first_fit`] | the first free frame in scan order; turning |
//! | [`best_fit`] | the free frame that is most hemmed in, by one of three measures |
//! | [`frame_sliding`] | the first free frame of a grid of frames |
//! | [`adaptive_scan`] | the first free frame, turned if need be |
//! | [`frames`], [`bits`] | all free frames at once, by rows of bits |
//! | [`scan`] | the order of places |
//!
//! Cost per decision of all but Best Fit: log2 of the frame's volume passes over the N / 64
//! words of the machine for each permutation tried. [`Census::operations`] counts these
//! words, and what a strategy says it adds.

pub mod adaptive_scan;
pub mod best_fit;
pub mod bits;
pub mod first_fit;
pub mod frame_sliding;
pub mod frames;
pub mod scan;

use self::frames::Frames;
use super::explain::{self, ExplanationLog, Listing, count};
use super::submesh::{Shapes, Shaping, SubMesh, volume};
use super::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// Which free frame a strategy takes.
pub trait Choice: Send {
    /// The base of a free frame of these sides, where `frames` has read `machine`. A
    /// choice that does more than [`Frames::find`] adds what it does to
    /// [`Frames::operations`].
    fn choose(&mut self, frames: &mut Frames, machine: &Machine, sides: [u16; 3]) -> Option<Coord>;

    /// By what it prefers one free frame to another, of those that `frames` found last. For explanations
    /// only: it may take its time.
    fn preference(&mut self, frames: &Frames, machine: &Machine, sides: [u16; 3]) -> Preference;

    /// Whether it finds a free frame wherever there is one.
    const FINDS_ALL: bool = true;

    /// Forgets the machine seen so far.
    fn reset(&mut self) {}
}

/// Why one free frame is taken and not another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preference {
    /// In words, behind "it takes".
    pub rule: &'static str,
    /// What is compared, the least wins; nothing where the order of places decides.
    pub columns: Vec<&'static str>,
    /// The bases with these values.
    pub bases: Vec<(Coord, Vec<u64>)>,
}

impl Preference {
    /// The order of places decides.
    pub fn in_order(rule: &'static str, frames: &Frames) -> Self {
        let bases = frames.bases().map(|base| (base, Vec::new())).collect();
        Self { rule, columns: Vec::new(), bases }
    }
}

/// A contiguous strategy: the first of a job's frames for which the choice finds a place.
#[derive(Clone, Debug)]
pub struct Contiguous<C> {
    shapes: Shapes,
    frames: Frames,
    choice: C,
    census: Census,
    explanation: ExplanationLog,
}

impl<C: Choice> Contiguous<C> {
    /// A strategy on `grid`; with `turn` the permutations of a frame are tried in order,
    /// the next only if the choice finds no place for the one before.
    pub fn new(grid: &Grid, shaping: Shaping, turn: bool, choice: C) -> Self {
        Self {
            shapes: Shapes::new(grid, shaping, turn),
            frames: Frames::new(grid),
            choice,
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// The sub-mesh that the request would get now. It depends on nothing but which
    /// processors of the machine are free, whoever holds the others.
    ///
    /// # Errors
    /// [`Refusal`] if there is none.
    pub fn find(&mut self, machine: &Machine, request: Request) -> Result<SubMesh, Refusal> {
        let free = machine.free_count();
        if request.size as usize > free {
            return Err(Refusal::TooFewFree);
        }
        let mut refusal = Refusal::TooFewFree;
        for &sides in self.shapes.of(request) {
            if volume(sides) > free as u64 {
                self.explanation.sentence(|| {
                    let frame = explain::sides(self.frames.grid(), sides);
                    format!("a frame of {frame} has more processors than are free")
                });
                continue;
            }
            if refusal == Refusal::TooFewFree {
                refusal = Refusal::Fragmented;
                self.frames.read(machine.free_map());
            }
            let base = self.choice.choose(&mut self.frames, machine, sides);
            if self.explanation.is_recording() {
                let mut found = Frames::new(self.frames.grid());
                found.read(machine.free_map());
                found.find(sides);
                let preference = self.choice.preference(&found, machine, sides);
                tell(&self.explanation, &found, sides, base, &preference);
            }
            if let Some(base) = base {
                return Ok(SubMesh { base, sides });
            }
        }
        Err(refusal)
    }
}

/// Tells where a frame has a place, and which is taken.
fn tell(
    explanation: &ExplanationLog,
    frames: &Frames,
    sides: [u16; 3],
    taken: Option<Coord>,
    preference: &Preference,
) {
    let grid = frames.grid();
    let free = frames.count() as usize;
    let frame = explain::sides(grid, sides);
    explanation.sentence(|| match (free, taken) {
        (0, _) => format!("a frame of {frame} is free nowhere"),
        (_, None) => format!(
            "a frame of {frame} is free at {}, none of which it looks at",
            count(free, "place")
        ),
        (_, Some(base)) => format!(
            "a frame of {frame} is free at {}; it takes {}: at {}",
            count(free, "place"),
            preference.rule,
            explain::point(grid, base)
        ),
    });
    if free > 1 {
        explanation.list(|| {
            let mut bases: Vec<&(Coord, Vec<u64>)> = preference.bases.iter().collect();
            // The one that is taken first, then those that come next.
            bases.sort_by_key(|(base, values)| (Some(*base) != taken, values.clone()));
            let rows = bases.into_iter().map(|(base, values)| {
                let values = values.iter().map(u64::to_string);
                [explain::point(grid, *base)].into_iter().chain(values).collect()
            });
            let columns: Vec<&str> = [&["base"], &preference.columns[..]].concat();
            Listing::of(format!("places where {frame} is free"), &columns, rows)
        });
    }
}

impl<C: Choice + Clone + 'static> Allocator for Contiguous<C> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.census = Census::default();
        self.frames.operations = 0;
        self.choice.reset();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.find(machine, request)?.append_to(self.frames.grid(), chosen);
        self.census.blocks = 1;
        self.census.busy_list += 1;
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::Released(_) = event {
            self.census.busy_list = self.census.busy_list.saturating_sub(1);
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            refusals_last: C::FINDS_ALL,
            chooses_by_free: true,
            supports_outages: true,
            ..Capabilities::coupled()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::up_to(self.shapes.largest(request), request)
    }

    fn stats(&self) -> Stats {
        let census = Census { operations: self.frames.operations, ..self.census };
        Stats { census: Some(census), ..Stats::default() }
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        C::FINDS_ALL && self.shapes.cover(refused, asked)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
pub(crate) mod reference;
#[cfg(test)]
mod tests;
