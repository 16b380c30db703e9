use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// What surrounds one centre: the complete shells, and the last one.
///
/// This works on every grid and costs a few steps per free processor and centre.
#[derive(Debug, Default)]
pub struct Survey {
    /// Shell number of the outermost processor taken.
    pub outermost: u32,
    /// How many processors of the last shell are taken, at least one.
    pub need: usize,
    /// The free processors of the last shell, in scan order.
    pub shell: Vec<NodeId>,
    /// By axis and position: processors of the complete shells.
    pub histograms: [Vec<u32>; 3],
    distances: Vec<u32>,
    shells: Vec<u32>,
}

impl Survey {
    /// Looks around `centre` for `size` processors; at least so many are free. `coords`
    /// are all coordinates by processor number. Those of the complete shells are put into
    /// `inside`, too.
    pub fn look(
        &mut self,
        grid: &Grid,
        coords: &[Coord],
        machine: &Machine,
        centre: Coord,
        size: usize,
        mut inside: Option<&mut Vec<NodeId>>,
    ) {
        let diameter: u32 = grid.axes().iter().map(|axis| u32::from(axis.diameter())).sum();
        self.shells.clear();
        self.shells.resize(diameter as usize + 1, 0);
        self.distances.clear();
        let free = || machine.free_nodes().map(|node| (node, coords[node.index()]));
        for (_, coord) in free() {
            let distance = grid.l1(centre, coord);
            self.distances.push(distance);
            self.shells[distance as usize] += 1;
        }
        let (mut within, mut outermost) = (0, 0);
        while within + (self.shells[outermost] as usize) < size {
            within += self.shells[outermost] as usize;
            outermost += 1;
        }
        self.outermost = outermost as u32;
        self.need = size - within;

        self.shell.clear();
        for (axis, histogram) in self.histograms.iter_mut().enumerate() {
            histogram.clear();
            histogram.resize(grid.extent(axis), 0);
        }
        for ((node, coord), &distance) in free().zip(&self.distances) {
            if distance == self.outermost {
                self.shell.push(node);
            } else if distance < self.outermost {
                count(&mut self.histograms, coord);
                if let Some(inside) = &mut inside {
                    inside.push(node);
                }
            }
        }
    }

    /// Counts one more processor as taken.
    pub fn add(&mut self, coord: Coord) {
        count(&mut self.histograms, coord);
    }

    /// Sum of pairwise L1 distances of the processors taken.
    pub fn pairwise_l1(&self, grid: &Grid) -> u64 {
        let axes = self.histograms.iter().zip(grid.axes());
        axes.map(|(histogram, axis)| if axis.wrapped { around(histogram) } else { along(histogram) })
            .sum()
    }
}

fn count(histograms: &mut [Vec<u32>; 3], coord: Coord) {
    for (histogram, position) in histograms.iter_mut().zip(coord) {
        histogram[usize::from(position)] += 1;
    }
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
        let end = if start + half < histogram.len() { start + half } else { start + half - histogram.len() };
        arc += u64::from(histogram[end]);
        arc -= u64::from(histogram[start]);
    }
    sum / 2
}
