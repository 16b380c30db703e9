//! Contiguous strategies: a job gets one sub-mesh with exactly the sides of its frame.
//!
//! The strategies differ in the free frame that they select, and in whether they examine all frames. Every strategy
//! refuses a job if it finds no free frame, even if enough processors are free (external fragmentation).
//!
//! | module | concept |
//! |---|---|
//! | [`first_fit`] | the first free frame in scan order; rotation |
//! | [`best_fit`] | the free frame that fits most closely, by one of three measures |
//! | [`frame_sliding`] | the first free frame of a grid of frames |
//! | [`adaptive_scan`] | the first free frame, rotated if necessary |
//! | [`frames`] | all free frames at once, by rows of bits |
//! | [`scan`] | the order of positions |
//!
//! Cost per decision, except for Best Fit: each permutation that is tried costs log2 v passes over the N / 64 words of
//! the machine, where v is the volume of the frame. [`Census::operations`] counts the words in all passes over the
//! machine, and the operations that a strategy adds.

pub mod adaptive_scan;
pub mod best_fit;
pub mod first_fit;
pub mod frame_sliding;
pub mod frames;
mod node_order;
pub mod scan;

use self::frames::Frames;
use replay_engine::allocator::explain::{self, ExplanationLog, Listing};
use replay_engine::allocator::submesh::{Shapes, Shaping, SubMesh, volume};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
    require_free,
};
use replay_engine::machine::Machine;
use replay_engine::number::counted;
use replay_engine::topology::{Coord, Grid, NodeId};

/// Selection of a free frame by a strategy.
pub trait Choice: Send {
    /// Returns the base of a free frame with these sides. `frames` contains the free processors of `machine`. An
    /// implementation that performs operations in addition to [`Frames::find`] adds them to [`Frames::operations`].
    fn choose(&mut self, frames: &mut Frames, machine: &Machine, sides: [u16; 3]) -> Option<Coord>;

    /// Returns the criterion by which free frames are compared, with its values for the frames that `frames` found
    /// last. This method is used only for explanations, so it may be slow.
    fn preference(&mut self, frames: &Frames, machine: &Machine, sides: [u16; 3]) -> Preference;

    /// Whether the strategy finds a free frame whenever there is a free frame.
    const FINDS_ALL: bool = true;

    /// Clears all state about the machine.
    fn reset(&mut self) {}
}

/// Criterion by which a strategy prefers one free frame to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preference {
    /// Description that completes the sentence "it takes ...".
    pub rule: &'static str,
    /// The names of the compared values; the frame with the lowest values wins. The list is empty if the order of
    /// positions decides.
    pub columns: Vec<&'static str>,
    /// Bases with their values.
    pub bases: Vec<(Coord, Vec<u64>)>,
}

impl Preference {
    /// Returns the criterion that takes the first frame in the order of positions.
    pub fn in_order(rule: &'static str, frames: &Frames) -> Self {
        let bases = frames.bases().map(|base| (base, Vec::new())).collect();
        Self { rule, columns: Vec::new(), bases }
    }
}

/// A contiguous strategy: allocates the first of a job's frames that has a free position.
#[derive(Clone, Debug)]
pub struct Contiguous<C> {
    shapes: Shapes,
    frames: Frames,
    choice: C,
    census: Census,
    explanation: ExplanationLog,
}

impl<C: Choice> Contiguous<C> {
    /// Creates the strategy on `grid`. If `turn` is set, the permutations of a frame's sides are tried in order until a
    /// permutation has a free position.
    pub fn new(grid: &Grid, shaping: Shaping, turn: bool, choice: C) -> Self {
        Self {
            shapes: Shapes::new(grid, shaping, turn),
            frames: Frames::new(grid),
            choice,
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Returns the sub-mesh that the request would get now. The result depends only on the set of free processors.
    ///
    /// # Errors
    /// [`Refusal`] if the request would be refused now.
    pub fn find(&mut self, machine: &Machine, request: Request) -> Result<SubMesh, Refusal> {
        let free = machine.free_count();
        require_free(machine, request.size.into())?;
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
                explain_choice(&self.explanation, &found, sides, base, &preference);
            }
            if let Some(base) = base {
                return Ok(SubMesh { base, sides });
            }
        }
        Err(refusal)
    }
}

/// Records the positions at which a frame is free, and the chosen position.
fn explain_choice(
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
        (0, _) => format!("no frame of {frame} is free"),
        (_, None) => format!(
            "a frame of {frame} is free at {}, but the strategy examines none of these places",
            counted(free as u64, "place")
        ),
        (_, Some(base)) => format!(
            "a frame of {frame} is free at {}; the strategy takes {}: at {}",
            counted(free as u64, "place"),
            preference.rule,
            explain::point(grid, base)
        ),
    });
    if free > 1 {
        explanation.list(|| {
            let mut bases: Vec<&(Coord, Vec<u64>)> = preference.bases.iter().collect();
            // The chosen base comes first, followed by the next best bases.
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
        self.census.add_job(1);
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
