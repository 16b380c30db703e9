//! AS&MB: Adaptive Scan first, then the Multiple Buddy Strategy (Suzaki et al. 1996;
//! Bani-Mohammad 2008, section 2.2.2).
//!
//! A job gets a free frame of exactly its size if [Adaptive Scan](super::contiguous) finds
//! one: its own shape, or the most nearly square factorisation that fits the machine.
//! Otherwise [MBS](super::mbs) serves it from whatever is free, so that it is never
//! refused while enough processors are. Frames need not be made of buddy blocks: the
//! blocks that they touch are split, and merge again when the job ends. Dimensions that
//! wrap are treated as if they did not.
//!
//! Cost per decision: that of Adaptive Scan and that of MBS; a frame of w x h costs
//! O(w + h) splits beside the blocks inside it.

use super::contiguous::adaptive_scan::{AdaptiveScan, adaptive_scan};
use super::mbs::Mbs;
use super::notes::Notes;
use super::options::{AllocatorOptions, grid_of};
use super::submesh::{ShapeRule, Shaping};
use super::{Allocator, Census, Refusal, Request};
use crate::machine::Machine;
use crate::naming::{Entry, Table};
use crate::topology::{Axis, Grid, NodeId, Topology};

/// The AS&MB allocator. [`Census::operations`] sums those of the scan and of the blocks.
#[derive(Debug)]
pub struct AsMb {
    grid: Grid,
    scan: AdaptiveScan,
    mbs: Mbs,
}

impl AsMb {
    /// An allocator for `grid`, as if it did not wrap.
    pub fn new(grid: &Grid) -> Self {
        let grid = unwrapped(grid);
        Self {
            scan: adaptive_scan(&grid, Shaping::One(ShapeRule::Factors)),
            mbs: Mbs::classic(&grid),
            grid,
        }
    }
}

/// The mesh of the same extents.
fn unwrapped(grid: &Grid) -> Grid {
    let axes = grid.axes().map(|axis| Axis { wrapped: false, ..axis });
    Grid::new(&axes[..grid.dimensions()]).expect("the extents of a grid")
}

impl Allocator for AsMb {
    fn takes_outages(&self) -> bool {
        self.scan.takes_outages() && self.mbs.takes_outages()
    }

    fn withdrawn(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.scan.withdrawn(machine, nodes);
        self.mbs.withdrawn(machine, nodes);
    }

    fn restored(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.scan.restored(machine, nodes);
        self.mbs.restored(machine, nodes);
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        // Both tell for themselves.
        match self.scan.find(machine, request) {
            // A frame may hold more than the job where no exact one fits the machine.
            Ok(frame) if frame.volume() == request.size => {
                frame.append_to(&self.grid, chosen);
                self.mbs.carve(frame, chosen[0]);
                Ok(())
            }
            _ => self.mbs.allocate(machine, request, chosen),
        }
    }

    fn released(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.mbs.released(machine, nodes);
    }

    fn census(&self) -> Option<Census> {
        let (scan, mbs) = (self.scan.census()?, self.mbs.census()?);
        Some(Census { operations: scan.operations + mbs.operations, ..mbs })
    }

    fn tells(&mut self, notes: &Notes) {
        self.scan.tells(notes);
        self.mbs.tells(notes);
    }

    fn reset(&mut self) {
        self.scan.reset();
        self.mbs.reset();
    }
}

/// `as-mb` can be told nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsMbOptions;

impl AllocatorOptions for AsMbOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(AsMb::new(grid_of(topology)?)))
    }
}

/// `as-mb`.
pub fn table() -> Table<AsMbOptions> {
    let as_mb = Entry::new("as-mb", AsMbOptions)
        .about(
            "Adaptive Scan; where it finds no frame of exactly the job's size, MBS; serves \
             whatever is free.",
        )
        .source("Suzaki et al. 1996; Bani-Mohammad 2008, section 2.2.2");
    Table::new("allocator", [as_mb])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::submesh::{SubMesh, volume};
    use crate::topology::curve::Curve;
    use proptest::prelude::*;

    /// The first free frame in row-major order, of either orientation, by trying them all.
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

    fn on(machine: &str) -> (Machine, AsMb) {
        let topology: Topology = machine.parse().expect("a machine");
        let as_mb = AsMb::new(topology.grid().expect("a grid"));
        (Machine::new(topology), as_mb)
    }

    fn start(machine: &mut Machine, as_mb: &mut AsMb, request: Request) -> Vec<NodeId> {
        let mut chosen = Vec::new();
        assert_eq!(as_mb.allocate(machine, request, &mut chosen), Ok(()));
        machine.occupy(&chosen);
        chosen
    }

    /// On a mesh of 4 x 3 a job of 3 x 2 leaves its right column and its top row, which a
    /// job of 5 gets by single processors.
    #[test]
    fn what_the_scan_refuses_goes_to_the_blocks() {
        let (mut machine, mut as_mb) = on("4x3");
        let framed = Request::shaped(6, Some([3, 2, 1]));
        let first = start(&mut machine, &mut as_mb, framed);
        assert_eq!(as_mb.census().expect("units").blocks, 1);
        let second = start(&mut machine, &mut as_mb, Request::of_size(5));
        // No factorisation of 5 fits; the strips on the right and on top hold single
        // processors only.
        assert_eq!(
            (
                second.len(),
                as_mb.census().expect("units").blocks,
                as_mb.census().expect("units").busy_list
            ),
            (5, 5, 6)
        );
        machine.release(&first);
        as_mb.released(&machine, &first);
        let third = start(&mut machine, &mut as_mb, Request::of_size(6));
        assert_eq!((&third, as_mb.census().expect("units").blocks), (&first, 1));
        as_mb.reset();
        assert_eq!(as_mb.census(), Some(Census::default()));
        let mut machine = Machine::new("4x3".parse().expect("a mesh"));
        assert_eq!(start(&mut machine, &mut as_mb, Request::of_size(12)).len(), 12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Whatever is free is served exactly, by a frame if there is one, and the blocks
        /// on record agree with the free processors at every step.
        #[test]
        fn serves_whatever_is_free(
            machine in proptest::sample::select(vec!["8x8", "12x10", "torus:7x9", "16x16"]),
            history in proptest::collection::vec((0.0..1.0f64, any::<bool>()), 1..40),
        ) {
            let (mut machine, mut as_mb) = on(machine);
            let mut held: Vec<Vec<NodeId>> = Vec::new();
            let recorded = |as_mb: &AsMb| {
                let records = as_mb.mbs.records();
                let mut nodes = Vec::new();
                for class in 0..records.forest().classes() {
                    records.free_blocks(class).for_each(|area| area.append_to(&as_mb.grid, &mut nodes));
                }
                nodes.sort();
                nodes
            };
            for (share, end) in history {
                if end && !held.is_empty() {
                    let nodes = held.swap_remove((share * held.len() as f64) as usize);
                    machine.release(&nodes);
                    as_mb.released(&machine, &nodes);
                }
                let free = machine.free_count();
                if free == 0 { continue; }
                let request = Request::of_size(1 + ((free - 1) as f64 * share * share) as u32);
                let exact = ShapeRule::Factors.shape(request.size, &as_mb.grid)
                    .filter(|&frame| volume(frame) == u64::from(request.size));
                let frame = exact.and_then(|sides| plain_scan(&as_mb.grid, &machine, sides));
                let nodes = start(&mut machine, &mut as_mb, request);
                prop_assert_eq!(nodes.len(), request.size as usize);
                if let Some(frame) = frame {
                    prop_assert_eq!(&nodes, &frame);
                    prop_assert_eq!(as_mb.census().expect("units").blocks, 1);
                }
                held.push(nodes);
                prop_assert!(recorded(&as_mb).into_iter().eq(machine.free_nodes()));
            }
            for nodes in held {
                machine.release(&nodes);
                as_mb.released(&machine, &nodes);
            }
            prop_assert_eq!(as_mb.census().expect("units").busy_list, 0);
            let records = as_mb.mbs.records();
            let free: usize = (0..records.forest().classes()).map(|class| records.free(class)).sum();
            prop_assert_eq!(free, records.forest().initial().len());
        }
    }
}
