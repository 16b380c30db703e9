//! Sums of hop distances over all pairs of a set of processors.

use super::{Coord, Grid, NodeId, Topology};

/// Computes sums of hop distances over the unordered pairs of a set of processors: the pairwise L1
/// distance on a mesh (with wrap-around on a torus), and the Hamming distance on a hypercube.
/// Reuses its buffers.
///
/// Distances are sums over dimensions, so a histogram of coordinates along each dimension suffices:
/// the cost is O(k + extents) for k processors. On several tori, the computation is repeated for each
/// torus.
#[derive(Clone, Debug)]
pub struct PairDistances {
    topology: Topology,
    coords: Vec<Coord>,
    /// Histograms of coordinates, one per axis.
    histograms: [Vec<u32>; 3],
}

impl PairDistances {
    /// Creates the buffers for sets of processors of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let grid = topology.grid();
        Self {
            topology: topology.clone(),
            coords: grid.map(Grid::coords).unwrap_or_default(),
            histograms: [0, 1, 2].map(|axis| vec![0; grid.map_or(0, |grid| grid.extent(axis))]),
        }
    }

    /// Returns the sum for a set of distinct processors, in hops; zero for one processor.
    pub fn sum(&mut self, nodes: &[NodeId]) -> u64 {
        if nodes.len() < 2 {
            return 0;
        }
        match &self.topology {
            Topology::Grid(grid) => {
                let axes = grid.dimensions();
                for histogram in &mut self.histograms[..axes] {
                    histogram.fill(0);
                }
                for &node in nodes {
                    let coord = self.coords[node.index()];
                    for (histogram, p) in self.histograms[..axes].iter_mut().zip(coord) {
                        histogram[usize::from(p)] += 1;
                    }
                }
                let sum = |axis: usize| {
                    along_axis(&self.histograms[axis], grid.axes()[axis].wrapped, nodes.len())
                };
                (0..axes).map(sum).sum()
            }
            Topology::Hypercube(cube) => (0..cube.dimensions())
                .map(|bit| {
                    let ones = nodes.iter().filter(|n| n.0 >> bit & 1 == 1).count() as u64;
                    ones * (nodes.len() as u64 - ones)
                })
                .sum(),
            Topology::Hierarchy(hierarchy) => hierarchy.pairwise_hops(nodes),
            Topology::Cluster(_) => nodes.len() as u64 * (nodes.len() as u64 - 1) / 2,
            Topology::MultiTorus(toruses) => {
                let (mut sum, mut counts) = (0, Vec::with_capacity(toruses.parts().len()));
                for (torus, part) in toruses.parts().iter().enumerate() {
                    let here = nodes.iter().map(|&node| toruses.place(node));
                    let here = here.filter(|place| place.0 == torus);
                    let mut count = 0;
                    for (axis, histogram) in self.histograms.iter_mut().enumerate() {
                        histogram.clear();
                        histogram.resize(part.grid.extent(axis), 0);
                        count = 0;
                        for (_, at) in here.clone() {
                            histogram[usize::from(at[axis])] += 1;
                            count += 1;
                        }
                        sum += along_axis(histogram, part.grid.axes()[axis].wrapped, count);
                    }
                    let between = |(other, &there): (usize, &usize)| {
                        (count * there) as u64 * u64::from(toruses.between(torus, other))
                    };
                    sum += counts.iter().enumerate().map(between).sum::<u64>();
                    counts.push(count);
                }
                sum
            }
        }
    }
}

/// Returns the sum of the distances along one dimension over all pairs of `all` processors. `histogram` contains the
/// number of processors at each position.
#[inline]
pub fn along_axis(histogram: &[u32], wrapped: bool, all: usize) -> u64 {
    let (all, mut sum) = (all as u64, 0);
    if wrapped {
        // Among all arcs whose length is half the circle, rounded down, the number of arcs that separate two positions
        // is exactly twice the distance between the positions.
        let half = histogram.len() / 2;
        let mut arc: u64 = histogram[..half].iter().map(|&count| u64::from(count)).sum();
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
        return sum / 2;
    }
    // A cut between two neighbouring positions separates pairs of processors. The path between two separated processors
    // crosses the cut once.
    let mut before = 0;
    for &count in histogram {
        before += u64::from(count);
        sum += before * (all - before);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_sum_over_pairs(
            machine in proptest::sample::select(vec!["5x7", "torus:6x5", "torus[y]:4x5", "3x4x5", "torus:3x5x4", "hypercube:5", "toruses:4x3x2[5]+3x3x1[0-3]+5x1x1"]),
            members in proptest::collection::vec(any::<bool>(), 64),
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let nodes: Vec<_> = topology.nodes().filter(|n| members[n.index()]).collect();
            let pairs = nodes.iter().enumerate().flat_map(|(i, &a)| nodes[..i].iter().map(move |&b| (a, b)));
            let expected: u64 = pairs.map(|(a, b)| u64::from(topology.hops(a, b))).sum();
            let mut distances = PairDistances::new(&topology);
            prop_assert_eq!(distances.sum(&nodes), expected);
            // A call does not influence the following calls.
            prop_assert_eq!(distances.sum(&nodes[..nodes.len().min(1)]), 0);
            prop_assert_eq!(distances.sum(&nodes), expected);
        }
    }
}
