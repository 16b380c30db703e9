use crate::allocator::centre::carried::Cut;
use crate::allocator::centre::options::{Metric, ShellOrder};
use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// What surrounds one centre: the complete shells, and the last one.
///
/// This works on every grid and costs a few steps per free processor and centre.
#[derive(Debug)]
pub struct Survey {
    grid: Grid,
    coords: Vec<Coord>,
    order: ShellOrder,
    cut: Cut,
    /// Distance from the centre, by free processor.
    distances: Vec<u32>,
    /// Free processors by distance.
    shells: Vec<u32>,
    /// The free processors of the last shell, in scan order, and how many of them are
    /// taken, at least one.
    shell: Vec<NodeId>,
    need: usize,
    part: Vec<NodeId>,
    /// By axis and position: processors taken.
    histograms: [Vec<u32>; 3],
}

impl Survey {
    /// For `grid`; of the last shell, processors are taken in `order`.
    pub fn new(grid: &Grid, order: ShellOrder) -> Self {
        let diameter: usize = grid.axes().iter().map(|axis| usize::from(axis.diameter())).sum();
        Self {
            coords: grid.coords(),
            grid: grid.clone(),
            order,
            cut: Cut::default(),
            distances: Vec::new(),
            shells: vec![0; diameter + 1],
            shell: Vec::new(),
            need: 0,
            part: Vec::new(),
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Coordinates by processor number.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Sum of pairwise L1 distances of the `size` processors around `centre`; at least so
    /// many are free. `earlier` are the candidates before it, the latest first.
    pub fn score(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
    ) -> u64 {
        self.histograms.iter_mut().for_each(|histogram| histogram.fill(0));
        let mut histograms = std::mem::take(&mut self.histograms);
        let mut count = |coord: Coord| {
            for (histogram, position) in histograms.iter_mut().zip(coord) {
                histogram[usize::from(position)] += 1;
            }
        };
        self.look(machine, centre, size, |_, coord| count(coord));
        let mut part = std::mem::take(&mut self.part);
        part.clear();
        self.take(earlier, &mut part);
        part.iter().for_each(|node| count(self.coords[node.index()]));
        self.part = part;
        self.histograms = histograms;
        pairs_of(&self.grid, &self.histograms)
    }

    /// Appends the `size` processors around `centre` to `chosen`; returns the shell number
    /// of the outermost. `earlier` as in [`Survey::score`].
    pub fn collect(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
        chosen: &mut Vec<NodeId>,
    ) -> u32 {
        let outermost = self.look(machine, centre, size, |node, _| chosen.push(node));
        self.take(earlier, chosen);
        outermost
    }

    /// Visits the processors of the complete shells, gathers the last one and returns its
    /// number.
    fn look(
        &mut self,
        machine: &Machine,
        centre: Coord,
        size: usize,
        mut inside: impl FnMut(NodeId, Coord),
    ) -> u32 {
        let coords = &self.coords;
        let free = || machine.free_nodes().map(|node| (node, coords[node.index()]));
        self.shells.fill(0);
        self.distances.clear();
        for (_, coord) in free() {
            let distance = self.grid.l1(centre, coord);
            self.distances.push(distance);
            self.shells[distance as usize] += 1;
        }
        let mut within = 0;
        let mut outermost = 0;
        while within + (self.shells[outermost] as usize) < size {
            within += self.shells[outermost] as usize;
            outermost += 1;
        }
        self.need = size - within;
        let outermost = outermost as u32;
        self.shell.clear();
        for ((node, coord), &distance) in free().zip(&self.distances) {
            if distance < outermost {
                inside(node, coord);
            } else if distance == outermost {
                self.shell.push(node);
            }
        }
        outermost
    }

    /// Takes the needed part of the last shell.
    fn take(&mut self, earlier: impl Iterator<Item = Coord>, chosen: &mut Vec<NodeId>) {
        self.cut.take(
            self.order,
            Metric::L1,
            &self.grid,
            &self.coords,
            earlier,
            &self.shell,
            self.need,
            chosen,
        );
    }
}

/// Sum of pairwise L1 distances, from the number of processors at each position of each
/// dimension.
pub fn pairs_of(grid: &Grid, histograms: &[Vec<u32>; 3]) -> u64 {
    let axes = histograms.iter().zip(grid.axes());
    axes.map(|(histogram, axis)| if axis.wrapped { around(histogram) } else { along(histogram) })
        .sum()
}

/// Sum of distances over all pairs on a line: every cut between neighbouring positions is
/// crossed once by each pair with an end on each side.
pub fn along(histogram: &[u32]) -> u64 {
    let all: u64 = histogram.iter().map(|&count| u64::from(count)).sum();
    let (mut before, mut sum) = (0, 0);
    for &count in histogram {
        before += u64::from(count);
        sum += before * (all - before);
    }
    sum
}

/// The same on a circle: of all arcs of half the circle, rounded down, exactly twice as
/// many part two positions as these are apart.
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
