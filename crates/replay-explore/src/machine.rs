//! The machine of a page: its rows on the time line, its cells on the map, and the neighbours of each processor.

use serde_json::{Value, json};

use crate::columns::Columns;
use replay_engine::topology::curve::Curve;
use replay_engine::topology::{NodeId, Topology};
use replay_output::report::machine::{ABSENT, Sheets, leaves};

/// Order of the processors on the time line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    /// Description of the order, such as "leaf by leaf".
    name: &'static str,
    /// Processors in the order of the rows, from the top.
    processors: Vec<NodeId>,
    /// Row of each processor.
    of: Vec<u32>,
    /// Number of slots of a host; 1 on machines other than clusters.
    levels: u32,
}

impl Rows {
    /// Returns the order of a machine: along a generalised Hilbert curve on meshes and tori, leaf by leaf on trees and
    /// blocks, host by host on clusters, and by number on other machines.
    pub fn new(topology: &Topology) -> Self {
        let all = topology.slots() as u32;
        let (name, processors) = match topology {
            Topology::Grid(grid) => ("along a Hilbert curve", Curve::Gilbert.order(grid)),
            Topology::Hierarchy(hierarchy) => {
                let nodes = leaves(hierarchy).into_iter().flat_map(|leaf| leaf.1.iter().copied());
                ("leaf by leaf", nodes.collect())
            }
            Topology::Cluster(cluster) => {
                let (hosts, levels) = (cluster.hosts(), cluster.levels());
                let slots = (0..hosts)
                    .flat_map(|host| (0..levels).map(move |level| NodeId(level * hosts + host)));
                ("host by host", slots.collect())
            }
            Topology::Hypercube(_) | Topology::MultiTorus(_) => {
                ("by number", (0..all).map(NodeId).collect::<Vec<_>>())
            }
        };
        let mut of = vec![0; all as usize];
        for (row, node) in (0..).zip(&processors) {
            if let Some(at) = of.get_mut(node.index()) {
                *at = row;
            }
        }
        let levels = topology.cluster().map_or(1, |cluster| cluster.levels());
        Self { name, processors, of, levels }
    }

    /// Moves an allocation to free slots of its hosts, because jobs that share a host move from slot to slot while they run.
    /// `ends` has the end of the last allocation on each row; allocations must be passed in order of their starts.
    pub fn share_hosts(&self, on: &mut Vec<u32>, [start, end]: [i64; 2], ends: &mut Vec<i64>) {
        if self.levels < 2 {
            return;
        }
        ends.resize(self.processors.len(), i64::MIN);
        for row in &mut *on {
            let host = *row - *row % self.levels;
            let free = (host..host + self.levels).find(|&slot| ends[slot as usize] <= start);
            *row = free.unwrap_or(*row);
            ends[*row as usize] = end;
        }
        on.sort_unstable();
        on.dedup();
    }

    /// Returns the row of a processor; `None` if the machine does not have the processor.
    pub fn of(&self, processor: i64) -> Option<u32> {
        self.of.get(usize::try_from(processor).ok()?).copied()
    }
}

/// Describes a machine, and adds its columns.
pub fn describe(topology: &Topology, rows: &Rows, columns: &mut Columns) -> Value {
    let sheets = Sheets::of(topology);
    let cells = sheets.processors();
    let cells: Vec<i64> = cells.map(|cell| if cell == ABSENT { -1 } else { cell as i64 }).collect();
    columns.integers("cells", &cells);
    let order: Vec<i64> = rows.processors.iter().map(|node| i64::from(node.0)).collect();
    columns.integers("rows", &order);
    let slices: Vec<_> = (0..sheets.sides[2]).filter_map(|z| sheets.slice_name(z)).collect();
    let mut first = 0;
    let groups: Vec<(usize, &str)> = topology.hierarchy().map_or(Vec::new(), |hierarchy| {
        let leaf = |(name, nodes): (_, &[NodeId])| {
            first += nodes.len();
            (first - nodes.len(), name)
        };
        leaves(hierarchy).into_iter().map(leaf).collect()
    });
    // On a tree and on blocks, the page derives neighbours from the leaves.
    if topology.hierarchy().is_none() && topology.cluster().is_none() {
        let (mut counts, mut links) = (Vec::new(), Vec::new());
        for node in topology.nodes() {
            let before = links.len();
            topology
                .for_neighbours(node, |other| links.push(i64::from(other.0) - i64::from(node.0)));
            counts.push((links.len() - before) as i64);
        }
        columns.integers("link_counts", &counts);
        columns.integers("links", &links);
    }
    let (kind, unit) = match topology {
        Topology::Grid(grid) if grid.per_point() > 1 => ("grid", "points"),
        Topology::Grid(_) => ("grid", "processors"),
        Topology::Hypercube(_) => ("hypercube", "processors"),
        Topology::Cluster(_) => ("cluster", "slots"),
        Topology::MultiTorus(_) => ("tori", "processors"),
        Topology::Hierarchy(_) => ("tree", "nodes"),
    };
    let wrapped = topology.grid().map(|grid| grid.axes().map(|axis| axis.wrapped));
    json!({
        "name": topology.to_string(),
        "kind": kind,
        "unit": unit,
        "moves": topology.cluster().is_some_and(|cluster| cluster.levels() > 1),
        "points": rows.processors.len(),
        "per_point": topology.per_point(),
        "order": rows.name,
        "sides": sheets.sides,
        "wrapped": wrapped,
        "row_names": sheets.row_names(),
        "slice_names": slices,
        "groups": groups,
        "layout": Sheets::unfolded(topology),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_has_a_row() {
        for machine in ["5x3", "torus:3x4x2", "hypercube:4", "tree:2x3x4", "cluster:6x2"] {
            let topology: Topology = machine.parse().expect("a machine");
            let rows = Rows::new(&topology);
            let mut of = rows.of.clone();
            of.sort_unstable();
            assert!(of.into_iter().eq(0..topology.slots() as u32), "{machine}");
            assert_eq!(rows.of(topology.slots() as i64), None, "{machine}");
        }
        let mut ends = Vec::new();
        let tree = Rows::new(&"tree:2x2".parse().expect("a machine"));
        let mut on = vec![0, 3];
        tree.share_hosts(&mut on, [0, 9], &mut ends);
        assert_eq!((on, ends.len()), (vec![0, 3], 0));
        // Slots of a host are adjacent, and a second job on the host gets the other slot.
        let rows = Rows::new(&"cluster:6x2".parse().expect("a machine"));
        assert_eq!([rows.of(1), rows.of(7)], [Some(2), Some(3)]);
        for (times, expected) in
            [([0, 9], [2, 4]), ([5, 8], [3, 5]), ([8, 10], [3, 5]), ([9, 12], [2, 4])]
        {
            let mut on = vec![2, 4];
            rows.share_hosts(&mut on, times, &mut ends);
            assert_eq!(on, expected);
        }
    }
}
