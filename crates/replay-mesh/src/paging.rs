//! Paging: jobs get whole pages in the order of an index (Lo et al. 1997, section 3.2; Bani-Mohammad 2008, section
//! 2.2).
//!
//! The machine is cut into pages, which are blocks of side 2^size. An indexing scheme numbers the pages from the lower
//! left corner. A job takes free pages in the order of their numbers until it has enough processors. If a side of the
//! machine is not a multiple of the page side, the last pages are smaller and have fewer processors. With pages of one
//! processor, no processors are lost. With larger pages, jobs are more contiguous, but the surplus processors of a
//! job's last page are lost. Wrapped dimensions are treated as if they did not wrap.
//!
//! Processes are assigned to the pages of a job in the order of its [`Walk`]. The surplus processors are the last
//! processors of the walk.
//!
//! Cost per decision: one step per allocated page, and one search of the summary of the free list.

use crate::mbs::ordered_set::OrderedSet;
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::submesh::SubMesh;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Bounds, Capabilities, Census, Folding, MachineEvent, Refusal,
    Request, RunSetup, Stats, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::topology::curve::Curve;
use replay_engine::topology::{Axis, Grid, NodeId, Topology};

/// The indexing schemes of Lo et al., figure 2.
const INDEXES: [(&str, Curve); 4] = [
    ("row-major", Curve::RowMajor),
    ("snake", Curve::Snake),
    ("shuffled-row-major", Curve::ShuffledRowMajor),
    ("shuffled-snake", Curve::ShuffledSnake),
];

/// The maximum page size. A page side of 2^15 exceeds every side of a machine unless the machine is a single row.
pub const MAX_SIZE: u32 = 15;

/// The Paging allocator. [`Census::operations`] counts the pages that are taken from the free list and returned to it.
#[derive(Clone, Debug)]
pub struct Paging {
    /// All processors, ordered by page, and row-major within a page.
    nodes: Vec<NodeId>,
    /// Index in `nodes` of the start of each page; the last entry is the length of `nodes`.
    starts: Vec<u32>,
    /// Page of each processor.
    page_of: Vec<u32>,
    free: OrderedSet,
    /// For each page, the number of processors out of service. A page with a processor out of service is not allocated.
    down: Vec<u32>,
    /// Total number of processors of all free pages.
    open: usize,
    /// Number of processors of the largest page.
    largest: u64,
    /// Greatest common divisor of the numbers of processors of all pages.
    divisor: u64,
    walk: Walk,
    /// Pages of the current decision, in the order of allocation.
    taken: Vec<usize>,
    census: Census,
    explanation: ExplanationLog,
}

/// Order in which processes are assigned to the pages of a job. Within a page, the ranks are row-major.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Walk {
    /// In the order of allocation.
    FirstTaken,
    /// In the reverse order of allocation, as in a list to which every new page is prepended.
    LastTaken,
}

/// Every walk with its name.
const WALKS: [(&str, Walk); 2] =
    [("first-taken", Walk::FirstTaken), ("last-taken", Walk::LastTaken)];

impl Paging {
    /// Creates an allocator for `grid` with pages of side 2^`size`; `size` is at most [`MAX_SIZE`]. Pages are numbered
    /// along `index`, and `walk` is the order of processes.
    pub fn new(grid: &Grid, index: Curve, size: u32, walk: Walk) -> Self {
        let side = 1u16 << size.min(MAX_SIZE);
        let pages = page_grid(grid, side);
        let (mut nodes, mut starts) = (Vec::with_capacity(grid.processors()), vec![0]);
        let mut page_of = vec![0; grid.processors()];
        for (page, at) in index.order(&pages).into_iter().enumerate() {
            let at = pages.coord(at);
            let base = at.map(|position| position * side);
            let sides = std::array::from_fn(|i| side.min(grid.axes()[i].extent - base[i]));
            let first = nodes.len();
            SubMesh { base, sides }.append_to(grid, &mut nodes);
            nodes[first..].iter().for_each(|node| page_of[node.index()] = page as u32);
            starts.push(nodes.len() as u32);
        }
        let mut free = OrderedSet::new(starts.len() - 1);
        free.fill();
        let sizes = || starts.windows(2).map(|ends| u64::from(ends[1] - ends[0]));
        let largest = sizes().max().unwrap_or(1);
        let divisor = sizes().fold(0, greatest_common_divisor).max(1);
        let (taken, census, explanation) =
            (Vec::new(), Census::default(), ExplanationLog::default());
        let (down, open) = (vec![0; starts.len() - 1], nodes.len());
        Self {
            nodes,
            starts,
            page_of,
            free,
            down,
            open,
            largest,
            divisor,
            walk,
            taken,
            census,
            explanation,
        }
    }

    /// Returns the range of a page in `nodes`.
    fn page(&self, page: usize) -> std::ops::Range<usize> {
        self.starts[page] as usize..self.starts[page + 1] as usize
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns a grid with one node per page.
fn page_grid(grid: &Grid, side: u16) -> Grid {
    let pages = |axis: &Axis| Axis { extent: axis.extent.div_ceil(side), wrapped: false };
    let axes = grid.axes().each_ref().map(pages);
    Grid::new(&axes[..grid.dimensions()]).expect("no more pages than processors")
}

impl Allocator for Paging {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.free.fill();
        self.down.fill(0);
        self.open = self.nodes.len();
        self.census = Census::default();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        // Pages are allocated as a whole, so all free processors are on free pages, except processors on pages with
        // outages.
        require_free(machine, request.size.into())?;
        if size > self.open {
            return Err(Refusal::Fragmented);
        }
        let Self { nodes, starts, free, taken, .. } = self;
        let of = |page: usize| starts[page] as usize..starts[page + 1] as usize;
        let (mut held, pages) = (0, free.len());
        taken.clear();
        free.pop_while(|page| {
            let wanted = held < size;
            if wanted {
                taken.push(page);
                held += of(page).len();
            }
            wanted
        });
        if self.walk == Walk::LastTaken {
            taken.reverse();
        }
        taken.iter().for_each(|&page| chosen.extend_from_slice(&nodes[of(page)]));
        self.open -= held;
        self.explanation.sentence(|| {
            let numbers: Vec<String> = taken.iter().map(usize::to_string).collect();
            format!(
                "{} free, in the order of their index; the first pages are taken until their number of processors reaches {size} ({held} in total): {}",
                counted(pages as u64, "page"),
                numbers.join(", ")
            )
        });
        let taken = taken.len() as u32;
        self.census.add_job(taken);
        self.census.operations += u64::from(taken);
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                let mut next = 0;
                while let Some(node) = nodes.get(next) {
                    let page = self.page_of[node.index()] as usize;
                    self.free.insert(page);
                    next += self.page(page).len();
                    self.open += self.page(page).len();
                    self.census.busy_list -= 1;
                    self.census.operations += 1;
                }
            }
            // A page goes out of service as soon as one of its processors goes out of service; the page must be free at
            // this time.
            MachineEvent::NodesDown(nodes) => {
                for node in nodes {
                    let page = self.page_of[node.index()] as usize;
                    self.down[page] += 1;
                    if self.down[page] == 1 {
                        self.free.remove(page);
                        self.open -= self.page(page).len();
                    }
                }
            }
            MachineEvent::NodesUp(nodes) => {
                for node in nodes {
                    let page = self.page_of[node.index()] as usize;
                    self.down[page] -= 1;
                    if self.down[page] == 0 {
                        self.free.insert(page);
                        self.open += self.page(page).len();
                    }
                }
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            // With larger pages, requests are not refused more often, but they get more processors than requested.
            keeps_schedule: self.largest == 1,
            // Free pages are interchangeable: a request is refused only if the free pages have too few processors.
            refusals_last: true,
            supports_outages: true,
            // A request is refused only if it cannot be rounded up to whole pages.
            folding: Folding::Count,
            ..Capabilities::coupled()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        // Without its last page, the job has too few processors; the last page has at most the largest size. The value
        // is exact if all pages are equal, and an upper bound if the last pages are smaller.
        let before_the_last = u64::from(request.size - 1) / self.divisor * self.divisor;
        Bounds::up_to(before_the_last + self.largest, request)
    }

    fn stats(&self) -> Stats {
        Stats { census: Some(self.census), ..Stats::default() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(self.clone()))
    }
}

/// Options of `paging`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PagingOptions {
    /// Order of the pages.
    pub index: Curve,
    /// log2 of a page's side, at most [`MAX_SIZE`].
    pub size: u32,
    /// Order in which processes are assigned to the pages of a job.
    pub walk: Walk,
}

impl AllocatorOptions for PagingOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        Ok(Box::new(Paging::new(grid_of(topology)?, self.index, self.size, self.walk)))
    }
}

/// Returns the table of `paging`.
pub fn table() -> Table<PagingOptions> {
    let options = PagingOptions { index: Curve::RowMajor, size: 0, walk: Walk::FirstTaken };
    let paging = Entry::new("paging", options)
        .about("Pages of side 2^size in the order of an index; O(pages taken) per decision.")
        .source("Lo et al. 1997, section 3.2")
        .param(
            "index",
            kind::one_of(&INDEXES),
            "order of the pages, from the lower left corner",
            |o| &mut o.index,
        )
        .param(
            "size",
            kind::integer(0..=MAX_SIZE),
            "log2 of the page side in processors; a size of 1 or more can cause internal fragmentation",
            |o| &mut o.size,
        )
        .param(
            "walk",
            kind::one_of(&WALKS),
"order of a job's pages and thus of its ranks: the order of allocation (first-taken) or the reverse order (last-taken)",
            |o| &mut o.walk,
        );
    Table::new("allocator", [paging])
}

#[cfg(test)]
mod tests;
