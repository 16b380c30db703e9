//! Two engines: `Survey` scores single candidates on every grid, and `Line` scores all candidates on a line.

use super::candidates::Selection;
use crate::allocator::centre::definition::{Metric, ShellOrder};
use crate::allocator::centre::shell::ShellCut;
use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// Engine that gathers the complete shells and the last shell around one centre.
///
/// This engine supports every grid. The cost is a few steps per free processor and centre.
#[derive(Debug)]
pub struct Survey {
    grid: Grid,
    coords: Vec<Coord>,
    order: ShellOrder,
    cut: ShellCut,
    /// For each free processor, its distance from the centre.
    distances: Vec<u32>,
    /// For each distance, the number of free processors at this distance.
    counts: Vec<u32>,
    /// Free processors of the last shell, in scan order.
    shell: Vec<NodeId>,
    /// Processors around a centre.
    set: Vec<NodeId>,
    /// For each axis and each position along this axis, the number of processors taken.
    histograms: [Vec<u32>; 3],
}

impl Survey {
    /// Creates a survey of `grid`; processors are taken from the last shell in `order`.
    pub fn new(grid: &Grid, order: ShellOrder) -> Self {
        let diameter: usize = grid.axes().iter().map(|axis| usize::from(axis.diameter())).sum();
        Self {
            coords: grid.coords(),
            grid: grid.clone(),
            order,
            cut: ShellCut::default(),
            distances: Vec::new(),
            counts: vec![0; diameter + 1],
            shell: Vec::new(),
            set: Vec::new(),
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Returns the coordinates by processor number.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Returns the sum of pairwise L1 distances of the `size` processors around `centre`. At least `size` processors
    /// must be free. `earlier` are the candidates before this candidate, the latest first.
    pub fn score(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
    ) -> u64 {
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        self.collect(machine, centre, earlier, size, &mut set);
        self.histograms.iter_mut().for_each(|histogram| histogram.fill(0));
        for node in &set {
            for (histogram, position) in self.histograms.iter_mut().zip(self.coords[node.index()]) {
                histogram[usize::from(position)] += 1;
            }
        }
        self.set = set;
        pairs_of(&self.grid, &self.histograms)
    }

    /// Appends the `size` processors around `centre` to `chosen`. Returns the shell number of the outermost processor.
    /// `earlier` are the candidates before this candidate, the latest first.
    pub fn collect(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
        chosen: &mut Vec<NodeId>,
    ) -> u32 {
        let Self { grid, coords, order, cut, distances, counts, shell, .. } = self;
        let free = || machine.free_nodes().map(|node| (node, coords[node.index()]));
        counts.fill(0);
        distances.clear();
        for (_, coord) in free() {
            let distance = grid.l1(centre, coord);
            distances.push(distance);
            counts[distance as usize] += 1;
        }
        let (mut within, mut outermost) = (0, 0);
        while within + (counts[outermost] as usize) < size {
            within += counts[outermost] as usize;
            outermost += 1;
        }
        let outermost = outermost as u32;
        shell.clear();
        for ((node, _), &distance) in free().zip(&*distances) {
            if distance < outermost {
                chosen.push(node);
            } else if distance == outermost {
                shell.push(node);
            }
        }
        cut.take(*order, Metric::L1, grid, coords, earlier, shell, size - within, chosen);
        outermost
    }
}

/// Engine that scores candidates on a mesh of one dimension.
///
/// On such a mesh the candidates of Gen-Alg and MM are the free processors, and the nearest processors to a candidate
/// are consecutive free processors. If two processors are equally near, scan order takes the first processor. Carried
/// order also takes the first processor, because the preceding candidate is on the same side. The range of processors
/// therefore moves forward with the candidates, and scores are computed from prefix sums.
#[derive(Debug)]
pub struct Line {
    /// Positions of the free processors, in scan order.
    positions: Vec<u64>,
    /// Prefix sums, indexed by number of free processors: the sum of the positions, and the sum of positions times
    /// indices.
    sums: Vec<[u64; 2]>,
}

impl Line {
    /// Creates the engine. Returns `None` unless `grid` is a mesh with at most one dimension longer than one.
    pub fn new(grid: &Grid) -> Option<Self> {
        let long = grid.axes().iter().filter(|axis| axis.extent > 1).count();
        (long <= 1 && !grid.is_wrapped()).then(|| Self { positions: Vec::new(), sums: Vec::new() })
    }

    /// Enters the score of every candidate.
    pub fn compete(&mut self, machine: &Machine, size: usize, selection: &mut Selection) {
        self.positions.clear();
        self.positions.extend(machine.free_nodes().map(|node| u64::from(node.0)));
        let (mut positions, mut products) = (0, 0);
        self.sums.clear();
        self.sums.push([0, 0]);
        for (number, &position) in (0..).zip(&self.positions) {
            positions += position;
            products += number * position;
            self.sums.push([positions, products]);
        }
        let mut first = 0;
        for (index, &centre) in self.positions.iter().enumerate() {
            let nearer = |first: usize| {
                let next = self.positions.get(first + size)?;
                Some(*next > centre && next - centre < centre.abs_diff(self.positions[first]))
            };
            while index >= first + size || nearer(first) == Some(true) {
                first += 1;
            }
            selection.enter(self.score(first, size), index);
        }
    }

    /// Returns the pairwise sum of `size` consecutive free processors from `first` on. Each position is added once for
    /// every processor before it and subtracted once for every processor after it.
    fn score(&self, first: usize, size: usize) -> u64 {
        let ([positions, products], [end_places, end_products]) =
            (self.sums[first], self.sums[first + size]);
        let (positions, products) = (end_places - positions, end_products - products);
        2 * (products - first as u64 * positions) - (size as u64 - 1) * positions
    }
}

/// Returns the sum of pairwise L1 distances, computed from the number of processors at each position of each
/// dimension.
pub fn pairs_of(grid: &Grid, histograms: &[Vec<u32>; 3]) -> u64 {
    let axes = histograms.iter().zip(grid.axes());
    axes.map(|(histogram, axis)| if axis.wrapped { around(histogram) } else { along(histogram) })
        .sum()
}

/// Returns the sum of distances over all pairs on a line. A cut between neighbouring positions separates pairs of
/// processors. The sum of distances is the number of separated pairs, summed over all cuts.
pub fn along(histogram: &[u32]) -> u64 {
    let all: u64 = histogram.iter().map(|&count| u64::from(count)).sum();
    let (mut before, mut sum) = (0, 0);
    for &count in histogram {
        before += u64::from(count);
        sum += before * (all - before);
    }
    sum
}

/// Returns the sum of distances over all pairs on a circle. Consider all arcs whose length is half the circle, rounded
/// down. Among all arcs whose length is half the circle, rounded down, the number of arcs that separate two positions
/// is exactly twice the distance between the positions.
fn around(histogram: &[u32]) -> u64 {
    let half = histogram.len() / 2;
    let all: u64 = histogram.iter().map(|&count| u64::from(count)).sum();
    let mut arc: u64 = histogram[..half].iter().map(|&count| u64::from(count)).sum();
    let mut sum = 0;
    for start in 0..histogram.len() {
        sum += arc * (all - arc);
        let end = if start + half < histogram.len() {
            start + half
        } else {
            start + half - histogram.len()
        };
        arc += u64::from(histogram[end]);
        arc -= u64::from(histogram[start]);
    }
    sum / 2
}
