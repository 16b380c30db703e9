//! Paging: whole pages in the order of an index (Lo et al. 1997, section 3.2;
//! Bani-Mohammad 2008, section 2.2).
//!
//! The machine is cut into pages, blocks of side 2^size, which an indexing scheme numbers
//! from the lower left corner. A job takes free pages in the order of their numbers until
//! it has enough processors. Where the page side does not divide a side of the machine
//! the last pages are smaller and count for what they hold. With pages of one processor
//! nothing is lost; larger pages lose what the last of them has over, and give more
//! contiguity for it. Dimensions that wrap are treated as if they did not.
//!
//! Cost per decision: the pages taken and one look at the summary of the free list.

use super::mbs::ordered_set::OrderedSet;
use super::strategy::{Strategy, needs_grid};
use super::submesh::SubMesh;
use super::{Allocator, Census, Refusal, Request};
use crate::machine::Machine;
use crate::naming::{NameError, Parameter, StrategyName};
use crate::topology::curve::Curve;
use crate::topology::{Axis, Grid, NodeId};

/// The indexing schemes of Lo et al., figure 2.
const INDEXES: [(&str, Curve); 4] = [
    ("row-major", Curve::RowMajor),
    ("snake", Curve::Snake),
    ("shuffled-row-major", Curve::ShuffledRowMajor),
    ("shuffled-snake", Curve::ShuffledSnake),
];

/// The largest page size: a side of 2^15 is more than any side but that of a bare row.
pub const MAX_SIZE: u32 = 15;

/// The Paging allocator. [`Census::operations`] counts pages taken from the free list and
/// put back.
#[derive(Debug)]
pub struct Paging {
    /// Processors page after page, row-major within a page.
    nodes: Vec<NodeId>,
    /// Where each page begins in `nodes`, and their end.
    starts: Vec<u32>,
    /// Page of each processor.
    page_of: Vec<u32>,
    free: OrderedSet,
    /// Processors of the largest page, and what divides those of every page.
    largest: u64,
    divisor: u64,
    census: Census,
}

impl Paging {
    /// An allocator for `grid` with pages of side 2^`size`, `size` at most [`MAX_SIZE`],
    /// numbered along `index`.
    pub fn new(grid: &Grid, index: Curve, size: u32) -> Self {
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
        Self { nodes, starts, page_of, free, largest, divisor, census: Census::default() }
    }

    /// The processors of a page.
    fn page(&self, page: usize) -> std::ops::Range<usize> {
        self.starts[page] as usize..self.starts[page + 1] as usize
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// One node for each page.
fn page_grid(grid: &Grid, side: u16) -> Grid {
    let pages = |axis: &Axis| Axis { extent: axis.extent.div_ceil(side), wrapped: false };
    let axes = grid.axes().each_ref().map(pages);
    Grid::new(&axes[..grid.dimensions()]).expect("no more pages than processors")
}

impl Allocator for Paging {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        // Pages are free or busy as a whole: free processors are those of free pages.
        if size > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        let before = self.free.len();
        let (nodes, starts) = (&self.nodes, &self.starts);
        self.free.pop_while(|page| {
            let wanted = chosen.len() < size;
            if wanted {
                chosen.extend_from_slice(&nodes[starts[page] as usize..starts[page + 1] as usize]);
            }
            wanted
        });
        let taken = (before - self.free.len()) as u32;
        self.census.blocks = taken;
        self.census.busy_list += taken;
        self.census.operations += u64::from(taken);
        Ok(())
    }

    /// Before its last page the job lacks processors; the last page is the largest at most.
    /// That is exact where all pages are equal, an upper bound where the last ones are cut.
    fn largest_allocation(&mut self, request: Request) -> u64 {
        let before_the_last = u64::from(request.size - 1) / self.divisor * self.divisor;
        before_the_last + self.largest
    }

    fn released(&mut self, _machine: &Machine, nodes: &[NodeId]) {
        let mut next = 0;
        while let Some(node) = nodes.get(next) {
            let page = self.page_of[node.index()] as usize;
            self.free.insert(page);
            next += self.page(page).len();
            self.census.busy_list -= 1;
            self.census.operations += 1;
        }
    }

    fn census(&self) -> Option<Census> {
        Some(self.census)
    }

    /// Larger pages never refuse either, but take more than asked for.
    fn keeps_schedule(&self) -> bool {
        self.largest == 1
    }

    fn reset(&mut self) {
        self.free.fill();
        self.census = Census::default();
    }
}

/// `paging`.
pub fn strategies() -> Vec<Strategy> {
    fn parts(name: &StrategyName) -> Result<(Curve, u32), NameError> {
        name.expect_keys("allocator", &["index", "size"])?;
        let index = name.choice("allocator", "index", Curve::RowMajor, &INDEXES)?;
        let size = name.value("allocator", "size", 0)?;
        if size > MAX_SIZE {
            let problem = format!("size={size}: a page has the side 2^size, size 0 to {MAX_SIZE}");
            return Err(name.error("allocator", problem));
        }
        Ok((index, size))
    }
    vec![Strategy {
        name: "paging".to_string(),
        aliases: &[],
        about: "Pages of side 2^size in the order of an index; O(pages taken) per decision."
            .to_string(),
        source: "Lo et al. 1997, section 3.2",
        parameters: || {
            vec![
                Parameter {
                    key: "index",
                    values: INDEXES.map(|(name, _)| name).join("|"),
                    default: "row-major".into(),
                    about: "order of the pages, from the lower left corner",
                },
                Parameter {
                    key: "size",
                    values: format!("0..{MAX_SIZE}"),
                    default: "0".into(),
                    about: "log2 of the page side in processors; from 1 on processors are lost",
                },
            ]
        },
        canonical: |name| {
            let (index, size) = parts(name)?;
            let mut canonical = StrategyName::plain(&name.name);
            if index != Curve::RowMajor {
                canonical.set("index", index.name());
            }
            if size != 0 {
                canonical.set("size", size.to_string());
            }
            Ok(canonical)
        },
        build: |name, topology, _seed| {
            let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
            let (index, size) = parts(name)?;
            Ok(Box::new(Paging::new(grid, index, size)))
        },
    }]
}

#[cfg(test)]
mod tests;
