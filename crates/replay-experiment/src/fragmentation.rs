//! Fragmentation of the free processors over time.

use super::RunResult;
use replay_engine::machine::Machine;
use replay_engine::simulation::Outages;
use replay_engine::table::{Column, Table};
use replay_engine::topology::{Grid, Topology};

/// The free processors in an interval between two consecutive changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FreeSpace {
    /// First second of the interval.
    pub at: i64,
    /// Number of free points.
    pub free: u32,
    /// Number of points of the largest free box; `None` for machines without a grid.
    pub largest_box: Option<u32>,
    /// Number of connected regions of free points.
    pub regions: u32,
    /// Number of points of the largest connected region of free points.
    pub largest_region: u32,
}

impl FreeSpace {
    /// Returns the share of the free points that are outside the largest free box; `None` if no point is free or the
    /// machine has no grid.
    pub fn outside(&self) -> Option<f64> {
        let inside = self.largest_box.filter(|_| self.free > 0)?;
        Some(1.0 - f64::from(inside) / f64::from(self.free))
    }
}

impl Table for FreeSpace {
    const NAME: &'static str = "fragmentation";
    const ROW: &'static str =
        "one row per instant of a window at which processors are allocated or released";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<FreeSpace>;
        vec![
            C::new("at", "s", "instant, in trace time; the values hold until the instant of the next row", |it| it.at),
            C::new("free", "processors", "number of free points of the machine", |it| it.free),
            C::new("largest_free_box", "processors", "number of points of the largest box of free points, without wrap-around on a torus; null without a grid", |it| it.largest_box),
            C::new("outside_box", "share", "share of the free points outside the largest box, from 0 to 1; null if no point is free", FreeSpace::outside),
            C::new("free_regions", "regions", "number of connected regions of free points", |it| it.regions),
            C::new("largest_free_region", "processors", "number of points of the largest region", |it| it.largest_region),
        ]
    }
}

/// Computes the fragmentation in the window `[from, until]` of a run whose allocations were recorded. The first row is
/// for the instant `from`. If there are more than `most` instants, rows are returned for at most `most` evenly spread
/// instants. Processors out of service are not free.
pub fn fragmentation(
    run: &RunResult,
    topology: &Topology,
    outages: &Outages,
    [from, until]: [i64; 2],
    most: usize,
) -> Vec<FreeSpace> {
    // Each entry contains a time, a flag that is `true` if a job starts, and the index of the allocation. At equal
    // times, ends of jobs come before starts. An entry with the index `None` marks an instant at which no allocation
    // changes.
    let mut changes: Vec<(i64, bool, Option<usize>)> = vec![(from, false, None)];
    for window in &outages.windows {
        changes.extend(
            [Some(window.from), window.until].into_iter().flatten().map(|at| (at, false, None)),
        );
    }
    for (i, allocation) in run.allocations.iter().enumerate() {
        if allocation.start < allocation.end && allocation.start <= until {
            changes.push((allocation.start, true, Some(i)));
            changes.push((allocation.end, false, Some(i)));
        }
    }
    changes.sort_unstable();
    let instants: Vec<&[(i64, bool, Option<usize>)]> =
        changes.chunk_by(|a, b| a.0 == b.0).collect();
    let inside = instants.iter().filter(|instant| (from..=until).contains(&instant[0].0)).count();
    let step = inside.div_ceil(most.max(1)).max(1);
    let mut machine = Machine::new(topology.clone());
    let (mut spaces, mut seen) = (Vec::new(), 0);
    for instant in instants {
        for &(_, starts, i) in instant {
            let Some(i) = i else { continue };
            let nodes = &run.allocations[i].nodes;
            if starts { machine.occupy(nodes) } else { machine.release(nodes) }
        }
        let at = instant[0].0;
        if (from..=until).contains(&at) {
            if seen % step == 0 {
                let mut down = outages.down_at(at);
                down.retain(|&node| machine.is_free(node));
                machine.occupy(&down);
                spaces.push(FreeSpace { at, ..free_space(&machine) });
                machine.release(&down);
            }
            seen += 1;
        }
    }
    spaces
}

/// Measures the free processors of a machine.
fn free_space(machine: &Machine) -> FreeSpace {
    let topology = machine.topology();
    let mut seen = vec![false; machine.processors()];
    let (mut regions, mut largest_region, mut stack) = (0, 0, Vec::new());
    for first in machine.free_nodes() {
        if std::mem::replace(&mut seen[first.index()], true) {
            continue;
        }
        let mut size = 0;
        stack.push(first);
        while let Some(node) = stack.pop() {
            size += 1;
            topology.for_neighbours(node, |next| {
                if machine.is_free(next) && !std::mem::replace(&mut seen[next.index()], true) {
                    stack.push(next);
                }
            });
        }
        regions += 1;
        largest_region = largest_region.max(size);
    }
    FreeSpace {
        at: 0,
        free: machine.free_count() as u32,
        largest_box: topology.grid().map(|grid| largest_box(grid, machine)),
        regions,
        largest_region,
    }
}

/// Returns the number of points of the largest box of free points. For each range of the third dimension, the function
/// finds the largest rectangle of columns that are free over the whole range.
fn largest_box(grid: &Grid, machine: &Machine) -> u32 {
    let [width, depth, height] = [0, 1, 2].map(|axis| grid.extent(axis));
    let free =
        |x: usize, y: usize, z: usize| machine.is_free(grid.node([x as u16, y as u16, z as u16]));
    let mut best = 0;
    let mut heights = vec![0u32; width];
    for bottom in 0..height {
        let mut columns = vec![true; width * depth];
        for top in bottom..height {
            for y in 0..depth {
                for x in 0..width {
                    columns[y * width + x] &= free(x, y, top);
                }
            }
            heights.fill(0);
            let layers = (top - bottom + 1) as u32;
            for row in columns.chunks_exact(width) {
                for (height, &is_free) in heights.iter_mut().zip(row) {
                    *height = if is_free { *height + 1 } else { 0 };
                }
                best = best.max(layers * largest_rectangle(&heights));
            }
        }
    }
    best
}

/// Returns the area of the largest rectangle under a skyline.
fn largest_rectangle(heights: &[u32]) -> u32 {
    let (mut best, mut open) = (0, Vec::<(usize, u32)>::new());
    for (x, height) in heights.iter().copied().chain([0]).enumerate() {
        let mut first = x;
        while let Some(&(from, tall)) = open.last().filter(|(_, tall)| *tall >= height) {
            best = best.max((x - from) as u32 * tall);
            first = from;
            open.pop();
        }
        open.push((first, height));
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use replay_engine::topology::NodeId;

    proptest! {
        /// The result equals the result of a search that checks every box point by point.
        #[test]
        fn finds_the_largest_free_box(
            machine in prop::sample::select(vec!["5x4", "7x3", "3x3x3", "torus:4x5", "1x6"]),
            busy in prop::collection::vec(any::<bool>(), 27),
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let grid = topology.grid().expect("a grid").clone();
            let mut machine = Machine::new(topology.clone());
            let taken: Vec<NodeId> = topology.nodes().filter(|node| busy[node.index()]).collect();
            machine.occupy(&taken);
            let [w, d, h] = [0, 1, 2].map(|axis| grid.extent(axis) as u16);
            let mut best = 0;
            for (x0, y0, z0) in (0..w).flat_map(|x| (0..d).flat_map(move |y| (0..h).map(move |z| (x, y, z)))) {
                for (x1, y1, z1) in (x0..w).flat_map(|x| (y0..d).flat_map(move |y| (z0..h).map(move |z| (x, y, z)))) {
                    let mut points = (x0..=x1).flat_map(|x| (y0..=y1).flat_map(move |y| (z0..=z1).map(move |z| [x, y, z])));
                    if points.clone().all(|point| machine.is_free(grid.node(point))) {
                        best = best.max(points.by_ref().count() as u32);
                    }
                }
            }
            let space = free_space(&machine);
            prop_assert_eq!(space.largest_box, Some(best));
            prop_assert!(space.largest_region >= best && space.free >= space.largest_region);
            prop_assert_eq!(space.regions == 0, space.free == 0);
        }
    }
}
