//! AS&MB: Adaptive Scan first, then the Multiple Buddy Strategy (Suzaki et al. 1996; Bani-Mohammad
//! 2008, section 2.2.2).
//!
//! A job gets a free frame of exactly its size if [Adaptive Scan](super::contiguous) finds such a
//! frame. The sides of the frame are the job's shape or, without a shape, the two factors nearest
//! to a square that fit the machine. If there is no free frame, [MBS](super::mbs) serves the job,
//! so that a job is never refused while enough processors are free. Frames need not consist of
//! buddy blocks. The blocks that a frame touches are split, and merge again when the job ends.
//! Wrapped dimensions are treated as if they did not wrap.
//!
//! Cost per decision: the sum of the costs of Adaptive Scan and MBS. Taking a frame of w x h causes
//! O(w + h) splits, in addition to the steps for the blocks inside the frame.

use crate::contiguous::adaptive_scan::{AdaptiveScan, adaptive_scan};
use crate::mbs::Mbs;
use replay_engine::allocator::submesh::{ShapeRule, Shaping};
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup,
    Stats, grid_of,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table};
use replay_engine::topology::{Grid, NodeId, Topology};

/// The AS&MB allocator. [`Census::operations`] is the sum of the operations of Adaptive Scan and
/// MBS.
#[derive(Debug)]
pub struct AsMb {
    grid: Grid,
    scan: AdaptiveScan,
    mbs: Mbs,
}

impl AsMb {
    /// Creates an allocator for `grid`, ignoring wrap-around.
    pub fn new(grid: &Grid) -> Self {
        let grid = grid.unwrapped();
        Self {
            scan: adaptive_scan(&grid, Shaping::One(ShapeRule::Factors)),
            mbs: Mbs::classic(&grid),
            grid,
        }
    }
}

impl Allocator for AsMb {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.scan.begin(setup)?;
        self.mbs.begin(setup)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        // Adaptive Scan and MBS each record their own explanations.
        match self.scan.find(machine, request) {
            // A frame may be larger than the job if no frame of exactly the job's size fits the
            // machine.
            Ok(frame) if frame.volume() == request.size => {
                frame.append_to(&self.grid, chosen);
                self.mbs.carve(frame, chosen[0]);
                Ok(())
            }
            _ => self.mbs.allocate(machine, request, chosen),
        }
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        // Adaptive Scan keeps no state.
        self.mbs.on_event(machine, event);
    }

    fn capabilities(&self) -> Capabilities {
        self.mbs.capabilities()
    }

    fn stats(&self) -> Stats {
        let (scan, mbs) = (self.scan.stats().census, self.mbs.stats().census);
        let census = scan
            .zip(mbs)
            .map(|(scan, mbs)| Census { operations: scan.operations + mbs.operations, ..mbs });
        Stats { census, ..Stats::default() }
    }
}

/// Options of `as-mb`, which has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsMbOptions;

impl AllocatorOptions for AsMbOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(AsMb::new(grid_of(topology)?)))
    }
}

/// Returns the table of `as-mb`.
pub fn table() -> Table<AsMbOptions> {
    let as_mb = Entry::new("as-mb", AsMbOptions)
        .about(
            "Adaptive Scan; MBS if no frame of exactly the job's size is free; never refuses if \
             enough processors are free.",
        )
        .source("Suzaki et al. 1996; Bani-Mohammad 2008, section 2.2.2");
    Table::new("allocator", [as_mb])
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use proptest::prelude::*;
    use replay_contract::{Bench, Expected, starts_and_ends};
    use replay_engine::allocator::submesh::{SubMesh, volume};
    use replay_engine::topology::curve::Curve;

    /// Tries all frames in both orientations and returns the first free frame in row-major order.
    fn plain_scan(grid: &Grid, machine: &Machine, [w, h, d]: [u16; 3]) -> Option<Vec<NodeId>> {
        let free = |base: NodeId, sides: [u16; 3]| {
            let area = SubMesh { base: grid.coord(base), sides };
            let mut nodes = Vec::new();
            if (0..3).all(|i| usize::from(area.end()[i]) < grid.extent(i)) {
                area.append_to(grid, &mut nodes);
            }
            nodes.retain(|&node| machine.is_free(node));
            (nodes.len() == area.volume() as usize).then_some(nodes)
        };
        let bases = Curve::RowMajor.order(grid);
        let of = |sides| bases.iter().find_map(|&base| free(base, sides));
        of([w, h, d]).or_else(|| of([h, w, d]))
    }

    fn on(machine: &str) -> Bench<AsMb> {
        Bench::on_grid(machine, AsMb::new)
    }

    /// On a mesh of 4 x 3, a job of 3 x 2 leaves the right column and the top row free. A job of 5
    /// gets single processors of this column and row.
    #[test]
    fn blocks_serve_requests_that_the_scan_refuses() {
        let mut bench = on("4x3");
        let first = bench.serve(Request::shaped(6, Some([3, 2, 1])));
        assert_eq!(bench.census().blocks, 1);
        // No factorisation of 5 fits; the strips on the right and on top hold single processors
        // only.
        assert_eq!(bench.serve(Request::of_size(5)).len(), 5);
        assert_eq!(bench.units(), (5, 6));
        bench.end(&first);
        assert_eq!(bench.serve(Request::of_size(6)), first);
        assert_eq!(bench.census().blocks, 1);
        bench.begin();
        bench.gets_whole(None);
    }

    /// Returns the free frame of exactly the requested size that the scan finds.
    fn exact_frame(machine: &Machine, request: Request) -> Option<Vec<NodeId>> {
        let grid = machine.topology().grid().expect("a grid");
        let sides = ShapeRule::Factors.shape(request.size, grid);
        let exact = sides.filter(|&sides| volume(sides) == u64::from(request.size));
        exact.and_then(|sides| plain_scan(grid, machine, sides))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// A request that does not exceed the number of free processors gets exactly its size. The
        /// request gets a frame if a frame of this size is free. The recorded blocks agree with the
        /// free processors after every step.
        #[test]
        fn serves_every_request_that_free_processors_allow(
            machine in proptest::sample::select(vec!["8x8", "12x10", "torus:7x9", "16x16"]),
            history in starts_and_ends(1..80),
        ) {
            let is_frame = Cell::new(false);
            let mut bench = on(machine).with_oracle(|machine: &Machine, request: Request| {
                let frame = exact_frame(machine, request);
                is_frame.set(frame.is_some());
                let is_served = request.size as usize <= machine.free_count();
                frame.map_or(Expected::from(is_served), Expected::Nodes)
            });
            let size = |machine: &Machine, share: f64, _| {
                Request::of_size(1 + (machine.free_count().saturating_sub(1) as f64 * share * share) as u32)
            };
            bench.run(&history, size, |bench| {
                let AsMb { mbs, grid, .. } = &*bench.allocator;
                let mut recorded = Vec::new();
                for class in 0..mbs.records.forest().classes() {
                    mbs.records.free_blocks(class).for_each(|area| area.append_to(grid, &mut recorded));
                }
                recorded.sort();
                assert!(recorded.into_iter().eq(bench.machine.free_nodes()));
                assert!(!is_frame.get() || bench.census().blocks == 1);
            });
            bench.end_all();
            let records = &bench.allocator.mbs.records;
            let free: usize = (0..records.forest().classes()).map(|class| records.free(class)).sum();
            prop_assert_eq!(free, records.forest().initial().len());
        }
    }
}
