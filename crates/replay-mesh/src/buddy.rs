//! The two-dimensional buddy system (Li and Cheng 1991; Bani-Mohammad 2008, section 2.2.1): each
//! job gets one square whose side is a power of two.
//!
//! On a square machine of side 2^k a job of w x h gets a square of side 2^ceil(log2 max(w, h)). A
//! job without shape gets the smallest square that can hold it. If no square of this size is free,
//! the smallest larger square is split into four buddies, repeatedly. A released square merges with
//! its buddies. Squares of one size are allocated in row-major order. If the square has more
//! processors than the job needs, the other processors of the square stay idle (internal
//! fragmentation). A job is refused if no free square is large enough (external fragmentation).
//! Wrapped dimensions are treated as if they did not wrap.
//!
//! Cost per decision: O(log n) for n processors, plus one step per allocated processor.

use crate::mbs::forest::{Division, Forest, ListOrder};
use crate::mbs::records::Records;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Bounds, Capabilities, Census, Folding, MachineEvent, Refusal,
    Request, RunSetup, Stats, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table};
use replay_engine::topology::{Grid, NodeId, Topology};

/// The buddy allocator. [`Census::operations`] counts the squares that are taken, split, merged and
/// released.
#[derive(Clone, Debug)]
pub struct Buddy {
    records: Records,
    census: Census,
    explanation: ExplanationLog,
}

impl Buddy {
    /// Creates an allocator for `grid`. Returns `None` unless the grid is a 2D square of side 2^k.
    pub fn new(grid: &Grid) -> Option<Self> {
        let side = grid.extent(0);
        let fits = grid.dimensions() == 2 && side == grid.extent(1) && side.is_power_of_two();
        fits.then(|| Self {
            records: Records::new(Forest::new(grid, Division::Corners, ListOrder::RowMajor)),
            census: Census::default(),
            explanation: ExplanationLog::default(),
        })
    }
}

/// Returns log2 of the side of the smallest square that holds the job and its shape.
fn class(request: Request) -> usize {
    let of_size = request.size.saturating_sub(1).isqrt() + 1;
    let of_shape = request.shape.map_or(1, |[w, h, _]| u32::from(w.max(h)));
    of_size.max(of_shape).next_power_of_two().ilog2() as usize
}

/// Returns the number of processors of the smallest square that holds the job, but at least the
/// size of the job and the volume of its shape.
fn processors_needed(request: Request) -> u64 {
    let volume = |shape: [u16; 3]| shape.into_iter().map(u64::from).product();
    let processors = request.shape.map_or(0, volume).max(u64::from(request.size));
    processors.max(1 << (2 * class(request)))
}

impl Allocator for Buddy {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.records.reset();
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let class = class(request);
        if class >= self.records.forest().classes() {
            return Err(Refusal::Fragmented);
        }
        // The job needs the whole square. If fewer processors are free than the square has, the
        // refusal is not caused by fragmentation.
        require_free(machine, processors_needed(request))?;
        self.explanation.sentence(|| {
            let side = 1 << class;
            format!("the job needs a square of side {side}; {}", self.records.describe())
        });
        let possible = self.records.free(class) > 0 || self.records.generate(class);
        if !possible || !self.records.take(class, chosen) {
            return Err(Refusal::Fragmented);
        }
        self.census.add_job(1);
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                // The first processor is the base of the job's square.
                self.records.release(nodes.get(..1).unwrap_or_default());
                self.census.busy_list -= 1;
            }
            MachineEvent::NodesDown(nodes) => {
                self.records.carve_each(nodes);
            }
            MachineEvent::NodesUp(nodes) => {
                self.records.release(nodes);
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            refusals_last: true,
            supports_outages: true,
            folding: Folding::Square,
            ..Capabilities::coupled()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::up_to(processors_needed(request), request)
    }

    fn stats(&self) -> Stats {
        let census = Census { operations: self.records.operations, ..self.census };
        Stats { census: Some(census), ..Stats::default() }
    }

    /// Returns whether the square for `asked` is at least as large as the square for `refused`.
    /// Squares merge as soon as possible, so a free square contains free squares of all smaller
    /// sizes.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        class(refused) <= class(asked) && class(asked) < self.records.forest().classes()
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

/// Options of `buddy`, which has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuddyOptions;

impl AllocatorOptions for BuddyOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let problem = "needs a square 2D mesh or torus whose side is a power of two";
        Ok(Box::new(Buddy::new(grid_of(topology)?).ok_or(problem)?))
    }
}

/// Returns the table of `buddy`.
pub fn table() -> Table<BuddyOptions> {
    let buddy = Entry::new("buddy", BuddyOptions)
        .aliases(&["2d-buddy"])
        .about("One square of side 2^i per job, on square machines of side 2^k; O(log n).")
        .source("Li, Cheng 1991");
    Table::new("allocator", [buddy])
}

#[cfg(test)]
mod tests;
