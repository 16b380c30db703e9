//! How close together the processors of an allocation are.

use crate::topology::{Grid, NodeId, Topology};

/// Sum of hop distances over all unordered pairs of processors: pairwise L1 on a mesh
/// (with wrap-around on a torus), Hamming on a hypercube. Zero for one processor.
pub fn pairwise_l1(topology: &Topology, nodes: &[NodeId]) -> u64 {
    match topology {
        Topology::Grid(grid) => {
            let mut histogram = Vec::new();
            let axes = 0..grid.dimensions();
            axes.map(|axis| along_axis(grid, axis, nodes, &mut histogram)).sum()
        }
        Topology::Hypercube(cube) => (0..cube.dimensions())
            .map(|bit| {
                let ones = nodes.iter().filter(|n| n.0 >> bit & 1 == 1).count() as u64;
                ones * (nodes.len() as u64 - ones)
            })
            .sum(),
    }
}

fn along_axis(grid: &Grid, axis: usize, nodes: &[NodeId], histogram: &mut Vec<u64>) -> u64 {
    histogram.clear();
    histogram.resize(grid.extent(axis), 0);
    for &node in nodes {
        histogram[usize::from(grid.coord(node)[axis])] += 1;
    }
    if grid.axes()[axis].wrapped {
        let n = histogram.len();
        (1..n)
            .map(|step| {
                let pairs: u64 = (0..n - step).map(|i| histogram[i] * histogram[i + step]).sum();
                pairs * step.min(n - step) as u64
            })
            .sum()
    } else {
        // Every cut between neighbouring positions is crossed by one path per pair with
        // an end on each side.
        let (mut before, all) = (0, nodes.len() as u64);
        let mut sum = 0;
        for &count in histogram.iter() {
            before += count;
            sum += before * (all - before);
        }
        sum
    }
}
