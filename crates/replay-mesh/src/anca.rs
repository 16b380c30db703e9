//! ANCA, Adaptive Non-Contiguous Allocation (Chang, Mohapatra 1998): the frame of a job is halved
//! repeatedly, until all of the resulting equal frames fit.
//!
//! First Fit searches for the job's frame. If the frame does not fit, it is cut into two equal
//! frames. If these two frames do not fit, each of the two is cut into two smaller frames. After i
//! cuts, the job needs 2^i sub-meshes of one shape. All sub-meshes must be found in one attempt; a
//! failed attempt keeps none of them. A cut halves the longest even side; if several even sides are
//! equally long, it halves the first of them. The job is refused if the frames still do not fit
//! after the largest permitted number of cuts, if no side is even, or if a cut would shrink a side
//! to one. A job can therefore be refused although enough processors are free.
//!
//! Cost: one search by First Fit, O(N), for each frame. After i cuts, up to 2^i frames are searched
//! for.

use crate::contiguous::frames::Frames;
use crate::contiguous::scan::Scan;
use replay_engine::allocator::explain::{self, ExplanationLog};
use replay_engine::allocator::submesh::{
    ROTATE, ShapeRule, Shapes, Shaping, SubMesh, turned, volume,
};
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Bounds, Capabilities, Census, MachineEvent, Refusal, Request,
    RunSetup, Stats, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::topology::{Grid, NodeId, Topology};

/// Upper limit of the number of cuts; 16 cuts give 2^16 frames.
const MAX_CUTS: u32 = 16;

/// The ANCA allocator. [`Census::operations`] counts the words read by the searches of ANCA.
#[derive(Clone, Debug)]
pub struct Anca {
    shapes: Shapes,
    turn: bool,
    cuts: u32,
    frames: Frames,
    /// Permutations of the current frame.
    turned: Vec<[u16; 3]>,
    found: Vec<SubMesh>,
    /// Number of sub-meshes of each job, indexed by the job's first processor.
    units: Vec<u32>,
    census: Census,
    explanation: ExplanationLog,
}

/// Options of ANCA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AncaOptions {
    /// Rule for the frame of a job without a shape.
    pub rule: ShapeRule,
    /// Whether each frame may be rotated.
    pub turn: bool,
    /// Largest number of cuts.
    pub cuts: u32,
}

impl Default for AncaOptions {
    fn default() -> Self {
        Self { rule: ShapeRule::Factors, turn: false, cuts: MAX_CUTS }
    }
}

impl AllocatorOptions for AncaOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(Anca::new(grid_of(topology)?, *self)))
    }
}

impl Anca {
    /// Creates an allocator for `grid`; on a torus, frames may wrap around the edge.
    pub fn new(grid: &Grid, options: AncaOptions) -> Self {
        Self {
            shapes: Shapes::new(grid, Shaping::One(options.rule), false),
            turn: options.turn,
            cuts: options.cuts,
            frames: Frames::new(grid),
            turned: Vec::new(),
            found: Vec::new(),
            units: vec![0; grid.processors()],
            census: Census::default(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Finds `count` disjoint free frames. Each frame gets the first position that the previous
    /// frames leave free. Returns whether all frames were found.
    fn find_all(&mut self, machine: &Machine, frame: [u16; 3], count: u32) -> bool {
        self.turned.clear();
        self.turned.extend(turned(frame, self.frames.grid().dimensions(), self.turn));
        self.found.clear();
        self.frames.read(machine.free_map());
        for _ in 0..count {
            let frames = &mut self.frames;
            let place = self.turned.iter().find_map(|&sides| {
                frames.find(sides);
                frames.first(Scan::default()).map(|base| SubMesh { base, sides })
            });
            let Some(place) = place else { return false };
            frames.take(&place);
            self.found.push(place);
        }
        true
    }
}

/// Halves the longest even side of a frame; `None` if no side is even or a side would become one.
fn halved(mut frame: [u16; 3]) -> Option<[u16; 3]> {
    let even = (0..3).filter(|&i| frame[i].is_multiple_of(2));
    let longest = even.max_by_key(|&i| (frame[i], std::cmp::Reverse(i)))?;
    frame[longest] /= 2;
    (frame[longest] > 1).then_some(frame)
}

impl Allocator for Anca {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.units.fill(0);
        self.census = Census::default();
        self.frames.operations = 0;
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let frame = self.shapes.of(request).first().copied();
        let mut frame = frame.ok_or(Refusal::TooFewFree)?;
        require_free(machine, volume(frame).max(request.size.into()))?;
        for cut in 0..=self.cuts {
            let all = self.find_all(machine, frame, 1 << cut);
            self.explanation.sentence(|| {
                let wanted = explain::sides(self.frames.grid(), frame);
                let found = self.found.len();
                format!("{} of {wanted}: {found} found", counted(1u64 << cut, "frame"))
            });
            if all {
                for place in &self.found {
                    place.append_to(self.frames.grid(), chosen);
                }
                let units = self.found.len() as u32;
                if let Some(first) = chosen.first() {
                    self.units[first.index()] = units;
                }
                self.census.add_job(units);
                return Ok(());
            }
            frame = halved(frame).ok_or(Refusal::Fragmented)?;
        }
        Err(Refusal::Fragmented)
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        let MachineEvent::Released(nodes) = event else { return };
        if let Some(first) = nodes.first() {
            let units = std::mem::take(&mut self.units[first.index()]);
            self.census.busy_list -= units;
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::up_to(self.shapes.largest(request), request)
    }

    fn stats(&self) -> Stats {
        let census = Census { operations: self.frames.operations, ..self.census };
        Stats { census: Some(census), ..Stats::default() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

/// Returns the table of `anca`.
pub fn table() -> Table<AncaOptions> {
    let anca = Entry::new("anca", AncaOptions::default())
        .about("First Fit; if First Fit fails, the frame is cut into 2, 4, 8, ... equal frames until all fit. Can refuse although enough processors are free. O(N) per searched frame.")
        .source("Chang, Mohapatra 1998; Bani-Mohammad 2008, section 2.2.2")
        .param(
            "cuts",
            kind::integer(0..=MAX_CUTS),
            "maximum number of times that the frame is halved; 16 sets no limit",
            |o| &mut o.cuts,
        )
        .param("rotate", kind::yes_no(), ROTATE, |o| &mut o.turn)
        .param(
            "shape",
            kind::one_of(&ShapeRule::FACTORS_FIRST),
            "sides for a job without a shape: exact factors nearest to a square, or least total side length",
            |o| &mut o.rule,
        );
    Table::new("allocator", [anca])
}

#[cfg(test)]
mod tests;
