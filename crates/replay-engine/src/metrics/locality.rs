//! Distances, diameter, dispersal and components of allocations.

use super::hierarchy::{HierarchyLocality, HierarchyPlacement};
use crate::table::{Column, names};
use crate::topology::{Coord, Grid, MultiTorus, NodeId, PairDistances, Topology};

/// Locality of the processors of one job. An allocation may have more processors than the job requested. The pairwise
/// L1 excludes processors that run no process of the job, because these processors do not communicate. All other fields
/// include these processors, because the job holds them.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// Sum of hop distances over unordered pairs (pairwise L1).
    pub pairwise_l1: u64,
    /// Largest L-infinity distance between two processors.
    pub diameter: u32,
    /// Sides of the smallest enclosing box; on a wrapped dimension, the length of the shortest enclosing arc. On
    /// machines that are not a single grid, the value has the form (volume, 1, 1). On a hypercube, the value is
    /// (processors of the smallest enclosing subcube, 1, 1); on a cluster, it is (processors of the job, 1, 1). For a
    /// job on several tori, the value is (total cells of the boxes on all these tori, 1, 1). On a tree or blocks, it is
    /// (nodes of the smallest enclosing switch or block, 1, 1).
    pub bounding_box: [u32; 3],
    /// Share of processors in the bounding box that are not held by the job: (volume - k) / volume for k processors.
    /// The share is 0 if the job fills the box. Source: Lo et al., section 5.
    pub dispersal: f64,
    /// Dispersal multiplied by k, the number of processors. Source: Lo et al., section 5.
    pub weighted_dispersal: f64,
    /// Number of connected components.
    pub components: u32,
    /// Leaves, blocks and levels; `None` on machines other than trees and blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchyPlacement>,
}

impl Placement {
    names! {
        COMPONENTS = "components",
        DISTANCE = "distance",
        PAIRWISE_L1 = "pairwise_l1",
    }

    /// Returns the mean hop distance over the pairs of a job's `size` processors; 0 for one processor.
    pub fn distance(&self, size: u32) -> f64 {
        mean_distance(self.pairwise_l1, size)
    }

    /// Returns the columns of a placement. `of` returns, for a row, its placement and the number of processors of the
    /// job. Values are null for rows without a placement.
    #[rustfmt::skip]
    pub fn columns<Row>(
        of: impl for<'a> Fn(&'a Row) -> Option<(&'a Placement, u32)> + Copy + Send + Sync + 'static,
    ) -> Vec<Column<Row>> {
        type C<Row> = Column<Row>;
        vec![
            C::new(Placement::PAIRWISE_L1, "hops", "sum of hop distances over all pairs of requested processors, without \
                processors lost to internal fragmentation", move |row| of(row).map(|of| of.0.pairwise_l1)),
            C::new(Placement::DISTANCE, "hops", "mean hop distance over all pairs of requested processors; 0 for one processor", move |row| of(row).map(|(place, size)| place.distance(size))),
            C::new("diameter", "hops", "largest L-infinity distance between two processors of the job, including \
                processors lost to internal fragmentation", move |row| of(row).map(|of| of.0.diameter)),
            C::new("dispersal", "share", "share of processors in the smallest enclosing box that are not held by \
                the job, from 0 \
                to 1; processors lost to internal fragmentation are counted as held", move |row| of(row).map(|of| of.0.dispersal)),
            C::new("weighted_dispersal", "processors", "dispersal multiplied by the number of processors, \
                including \
                processors lost to internal fragmentation", move |row| of(row).map(|of| of.0.weighted_dispersal)),
            C::new(Placement::COMPONENTS, "components", "number of connected components of the job's processors, including \
                processors lost to internal fragmentation", move |row| of(row).map(|of| of.0.components)),
            C::new("box_x", "processors", "side along x of the smallest box around the job's processors, \
                including processors lost to internal fragmentation; on a hypercube the size of the smallest \
                enclosing subcube", move |row| of(row).map(|of| of.0.bounding_box[0])),
            C::new("box_y", "processors", "side along y of the smallest box around the job's processors; 1 on a \
                hypercube", move |row| of(row).map(|of| of.0.bounding_box[1])),
            C::new("box_z", "processors", "side along z of the smallest box around the job's processors; 1 in two \
                dimensions and on a hypercube", move |row| of(row).map(|of| of.0.bounding_box[2])),
        ]
    }
}

/// Returns the mean hop distance over all pairs of `size` processors, given the sum `pairwise_l1` of the distances; 0
/// for one processor.
pub fn mean_distance(pairwise_l1: u64, size: u32) -> f64 {
    let pairs = u64::from(size) * u64::from(size.saturating_sub(1)) / 2;
    if pairs == 0 { 0.0 } else { pairwise_l1 as f64 / pairs as f64 }
}

/// Computes the locality of allocations on one machine. The buffers are reused.
#[derive(Clone, Debug)]
pub struct Locality {
    topology: Topology,
    distances: PairDistances,
    /// Computes leaves and levels; `None` on machines other than trees and blocks.
    hierarchy: Option<HierarchyLocality>,
    coords: Vec<Coord>,
    /// Histograms of coordinates, one per axis.
    histograms: [Vec<u32>; 3],
    /// For each processor, the number of the last visit that marked it.
    marks: Vec<u64>,
    visit: u64,
    stack: Vec<NodeId>,
}

impl Locality {
    /// Creates the buffers for `topology`.
    pub fn new(topology: &Topology) -> Self {
        let grid = topology.grid();
        Self {
            topology: topology.clone(),
            distances: PairDistances::new(topology),
            hierarchy: topology.hierarchy().map(HierarchyLocality::new),
            coords: grid.map(Grid::coords).unwrap_or_default(),
            histograms: [0, 1, 2].map(|axis| vec![0; grid.map_or(0, |grid| grid.extent(axis))]),
            marks: vec![0; topology.processors()],
            visit: 0,
            stack: Vec::new(),
        }
    }

    /// Returns the sum of hop distances over all unordered pairs of processors.
    pub fn pairwise_l1(&mut self, nodes: &[NodeId]) -> u64 {
        self.distances.sum(nodes)
    }

    /// Returns the pairwise L1 over the first `size` processors, which run the job's processes; the other processors
    /// are lost to internal fragmentation.
    pub fn between(&mut self, nodes: &[NodeId], size: u32) -> u64 {
        self.pairwise_l1(&nodes[..nodes.len().min(size as usize)])
    }

    /// Returns the locality of an allocation of at least one processor. The pairwise L1 counts only the first `size`
    /// processors, as in [`between`](Self::between).
    pub fn placement(&mut self, nodes: &[NodeId], size: u32) -> Placement {
        let pairwise_l1 = self.between(nodes, size);
        let (diameter, bounding_box) = match &self.topology {
            Topology::Grid(grid) => {
                for (axis, histogram) in self.histograms.iter_mut().enumerate() {
                    histogram.fill(0);
                    for &node in nodes {
                        histogram[usize::from(self.coords[node.index()][axis])] += 1;
                    }
                }
                let wrapped = |axis: usize| grid.axes()[axis].wrapped;
                let reach = [0, 1, 2].map(|axis| reach(&self.histograms[axis], wrapped(axis)));
                let span = [0, 1, 2].map(|axis| span(&self.histograms[axis], wrapped(axis)));
                (reach.into_iter().max().unwrap_or(0), span)
            }
            Topology::Hypercube(_) => {
                let first = nodes.first().map_or(0, |n| n.0);
                let differing = nodes.iter().fold(0, |bits, n| bits | (n.0 ^ first));
                (u32::from(differing != 0), [1 << differing.count_ones(), 1, 1])
            }
            Topology::Cluster(_) => (u32::from(nodes.len() > 1), [nodes.len() as u32, 1, 1]),
            Topology::MultiTorus(toruses) => on_toruses(toruses, nodes),
            Topology::Hierarchy(hierarchy) => {
                let farthest = |from: NodeId| {
                    let far = nodes.iter().max_by_key(|&&node| hierarchy.hops(from, node));
                    far.copied().unwrap_or(from)
                };
                // In a tree, the node farthest from any given node is one end of a longest path.
                let end = farthest(nodes.first().copied().unwrap_or(NodeId(0)));
                let diameter = hierarchy.hops(end, farthest(end));
                (diameter, [hierarchy.enclosing_nodes(nodes), 1, 1])
            }
        };
        let volume = bounding_box.iter().map(|&side| f64::from(side)).product::<f64>();
        let dispersal = (volume - nodes.len() as f64) / volume;
        Placement {
            pairwise_l1,
            diameter,
            bounding_box,
            dispersal,
            weighted_dispersal: dispersal * nodes.len() as f64,
            components: self.components(nodes),
            hierarchy: self.hierarchy.as_mut().map(|hierarchy| {
                let processes = nodes.len().min(size as usize) as u32;
                hierarchy.placement(nodes, mean_distance(pairwise_l1, processes))
            }),
        }
    }

    fn components(&mut self, nodes: &[NodeId]) -> u32 {
        if self.topology.cluster().is_some() {
            return 1;
        }
        if let Some(hierarchy) = self.topology.hierarchy() {
            return hierarchy.leaf_count(nodes);
        }
        let (member, reached) = (self.visit + 1, self.visit + 2);
        self.visit = reached;
        for node in nodes {
            self.marks[node.index()] = member;
        }
        let mut components = 0;
        for &start in nodes {
            if self.marks[start.index()] == reached {
                continue;
            }
            components += 1;
            self.marks[start.index()] = reached;
            self.stack.push(start);
            while let Some(node) = self.stack.pop() {
                let (marks, stack) = (&mut self.marks, &mut self.stack);
                self.topology.for_neighbours(node, |neighbour| {
                    if marks[neighbour.index()] == member {
                        marks[neighbour.index()] = reached;
                        stack.push(neighbour);
                    }
                });
            }
        }
        components
    }
}

/// Returns the occupied positions in ascending order.
fn occupied(histogram: &[u32]) -> impl DoubleEndedIterator<Item = u32> + Clone + '_ {
    (0..histogram.len() as u32).filter(|&p| histogram[p as usize] > 0)
}

/// Returns the largest distance between two occupied positions.
fn reach(histogram: &[u32], wrapped: bool) -> u32 {
    let mut positions = occupied(histogram);
    if !wrapped {
        let first = positions.next().unwrap_or(0);
        return positions.next_back().unwrap_or(first) - first;
    }
    let n = histogram.len() as u32;
    let pairs = positions.clone().flat_map(|a| positions.clone().map(move |b| a.abs_diff(b)));
    pairs.map(|d| d.min(n - d)).max().unwrap_or(0)
}

/// Returns the length of the shortest interval that contains all occupied positions.
fn span(histogram: &[u32], wrapped: bool) -> u32 {
    let mut positions = occupied(histogram);
    let Some(first) = positions.next() else { return 0 };
    let last = positions.next_back().unwrap_or(first);
    let direct = last - first + 1;
    if !wrapped {
        return direct;
    }
    // The length is the whole circumference minus the widest gap.
    let n = histogram.len() as u32;
    let mut widest = n - direct;
    let mut before = first;
    for p in occupied(histogram).skip(1) {
        widest = widest.max(p - before - 1);
        before = p;
    }
    n - widest
}

/// Returns the diameter and the bounding box of a job on a machine of several tori. Most jobs use only one of the tori.
fn on_toruses(toruses: &MultiTorus, nodes: &[NodeId]) -> (u32, [u32; 3]) {
    let (mut diameter, mut boxes) = (0, Vec::new());
    let mut met: Vec<usize> = Vec::new();
    for (torus, part) in toruses.parts().iter().enumerate() {
        let places = nodes.iter().map(|&node| toruses.place(node));
        let here = places.filter(|place| place.0 == torus).map(|place| place.1);
        if here.clone().next().is_none() {
            continue;
        }
        let of_axis = |axis: usize| {
            let mut histogram = vec![0; part.grid.extent(axis)];
            here.clone().for_each(|at| histogram[usize::from(at[axis])] += 1);
            let wrapped = part.grid.axes()[axis].wrapped;
            (reach(&histogram, wrapped), span(&histogram, wrapped))
        };
        let axes = [0, 1, 2].map(of_axis);
        let apart = met.iter().map(|&other| toruses.between(torus, other));
        diameter = axes.iter().map(|axis| axis.0).chain(apart).fold(diameter, u32::max);
        boxes.push(axes.map(|axis| axis.1));
        met.push(torus);
    }
    match boxes[..] {
        [one] => (diameter, one),
        _ => (diameter, [boxes.iter().map(|sides| sides.iter().product::<u32>()).sum(), 1, 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nodes(grid: &Grid, coords: &[(u16, u16)]) -> Vec<NodeId> {
        coords.iter().map(|&(x, y)| grid.node([x, y, 0])).collect()
    }

    fn measure(machine: &str, coords: &[(u16, u16)]) -> Placement {
        let topology: Topology = machine.parse().expect("a machine");
        let nodes = nodes(topology.grid().expect("a grid"), coords);
        Locality::new(&topology).placement(&nodes, nodes.len() as u32)
    }

    #[test]
    fn measures_a_block() {
        let block = measure("4x4", &[(1, 1), (1, 2), (2, 1), (2, 2)]);
        assert_eq!((block.pairwise_l1, block.diameter, block.components), (8, 1, 1));
        assert_eq!((block.bounding_box, block.dispersal), ([2, 2, 1], 0.0));
    }

    #[test]
    fn measures_two_corners() {
        let corners = measure("4x4", &[(0, 0), (3, 3)]);
        assert_eq!((corners.pairwise_l1, corners.diameter, corners.components), (6, 3, 2));
        assert_eq!(corners.bounding_box, [4, 4, 1]);
        assert_eq!((corners.dispersal, corners.weighted_dispersal), (14.0 / 16.0, 28.0 / 16.0));
        let around = measure("torus:4x4", &[(0, 0), (3, 3)]);
        assert_eq!((around.pairwise_l1, around.diameter), (2, 1));
        assert_eq!(around.bounding_box, [2, 2, 1]);
    }

    proptest! {
        #[test]
        fn agrees_with_the_sum_over_pairs(
            machine in proptest::sample::select(vec!["5x7", "torus:6x5", "torus[y]:4x5", "3x4x5", "torus:3x5x4", "hypercube:5"]),
            members in proptest::collection::vec(any::<bool>(), 64),
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let nodes: Vec<_> = topology.nodes().filter(|n| members[n.index()]).collect();
            prop_assume!(!nodes.is_empty());
            let placement = Locality::new(&topology).placement(&nodes, nodes.len() as u32);
            let pairs = || nodes.iter().enumerate().flat_map(|(i, &a)| nodes[..i].iter().map(move |&b| (a, b)));
            // `PairDistances::sum` has its own test.
            prop_assert_eq!(placement.pairwise_l1, PairDistances::new(&topology).sum(&nodes));
            prop_assert_eq!(placement.diameter, pairs().map(|(a, b)| topology.chebyshev(a, b)).max().unwrap_or(0));
            prop_assert!((0.0..1.0).contains(&placement.dispersal));
            prop_assert!(placement.components as usize <= nodes.len());
        }
    }
}
