//! First Fit and Turning First Fit as published, to measure their cost (Bani-Mohammad 2008, Figs.
//! 2.5 and 2.6).
//!
//! Every free processor is tried as a base. All processors of a frame are counted, even after a
//! busy processor has been found. All permutations of the sides are tried, even if they are equal.
//! A release scans all processors of the machine. The cost is O(N x volume) per permutation and
//! O(N) per release.

use crate::contiguous::scan::Scan;
use replay_engine::allocator::submesh::{Shapes, Shaping, SubMesh, permutations, volume};
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
    require_free,
};
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, NodeId};

/// The published procedures on a mesh. [`Census::operations`] counts the processors that are tried
/// as a base, counted in a frame, marked, or scanned by a release.
#[derive(Clone, Debug)]
pub struct PublishedFirstFit {
    grid: Grid,
    shapes: Shapes,
    turn: bool,
    axes: [usize; 3],
    /// Job that holds each processor; 0 for free processors.
    owners: Vec<u32>,
    jobs: u32,
    census: Census,
}

impl PublishedFirstFit {
    /// Creates the strategy on `grid`. Wrapped dimensions are treated as if they did not wrap.
    pub fn new(grid: &Grid, turn: bool) -> Self {
        Self {
            shapes: Shapes::new(grid, Shaping::default(), false),
            turn,
            axes: Scan::default().axes(grid),
            owners: vec![0; grid.processors()],
            jobs: 0,
            census: Census::default(),
            grid: grid.clone(),
        }
    }

    fn first(&mut self, machine: &Machine, sides: [u16; 3]) -> Option<Coord> {
        let wanted = volume(sides);
        let [outer, middle, inner] = self.axes;
        let extent = |axis: usize| self.grid.axes()[axis].extent;
        for i in 0..extent(outer) {
            for j in 0..extent(middle) {
                for k in 0..extent(inner) {
                    let mut base = [0; 3];
                    [base[outer], base[middle], base[inner]] = [i, j, k];
                    self.census.operations += 1;
                    if !machine.is_free(self.grid.node(base)) {
                        continue;
                    }
                    let (available, counted) = count(&self.grid, machine, base, sides);
                    self.census.operations += counted;
                    if available == wanted {
                        return Some(base);
                    }
                }
            }
        }
        None
    }
}

/// Cuts a frame to the mesh. Returns the number of its free processors and the number of all its
/// processors.
fn count(grid: &Grid, machine: &Machine, base: Coord, sides: [u16; 3]) -> (u64, u64) {
    let end = |i: usize| base[i].saturating_add(sides[i]).min(grid.axes()[i].extent);
    let (mut available, mut counted) = (0, 0);
    for x in base[0]..end(0) {
        for y in base[1]..end(1) {
            for z in base[2]..end(2) {
                available += u64::from(machine.is_free(grid.node([x, y, z])));
                counted += 1;
            }
        }
    }
    (available, counted)
}

impl Allocator for PublishedFirstFit {
    fn begin(&mut self, _setup: &RunSetup<'_>) -> Result<(), String> {
        self.owners.fill(0);
        self.jobs = 0;
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let free = machine.free_count();
        require_free(machine, request.size.into())?;
        let mut refusal = Refusal::TooFewFree;
        for i in 0..self.shapes.of(request).len() {
            let shape = self.shapes.of(request)[i];
            if volume(shape) > free as u64 {
                continue;
            }
            refusal = Refusal::Fragmented;
            let turns = if self.turn { 6 } else { 1 };
            for sides in permutations(shape, self.grid.dimensions()).take(turns) {
                if let Some(base) = self.first(machine, sides) {
                    SubMesh { base, sides }.append_to(&self.grid, chosen);
                    self.jobs += 1;
                    chosen.iter().for_each(|node| self.owners[node.index()] = self.jobs);
                    self.census.operations += chosen.len() as u64;
                    self.census.add_job(1);
                    return Ok(());
                }
            }
        }
        Err(refusal)
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        let MachineEvent::Released(nodes) = event else { return };
        let Some(job) = nodes.first().map(|node| self.owners[node.index()]) else { return };
        for owner in &mut self.owners {
            if *owner == job {
                *owner = 0;
            }
        }
        self.census.operations += self.owners.len() as u64;
        self.census.busy_list = self.census.busy_list.saturating_sub(1);
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { refusals_last: true, ..Capabilities::coupled() }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Bounds::up_to(self.shapes.largest(request), request)
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}
