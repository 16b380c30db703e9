use std::sync::Arc;

use crate::topology::{NodeId, Topology};

/// A machine: its topology and the state of its processors.
#[derive(Clone, Debug)]
pub struct Machine {
    topology: Topology,
    free: Vec<bool>,
    free_count: usize,
    /// Row of each processor. A table is faster than a division. Clones of a machine share the table.
    row_of: Arc<[u32]>,
    row_versions: Vec<u64>,
    version: u64,
    down: Down,
}

/// The processors that are out of service.
#[derive(Clone, Debug, Default)]
struct Down {
    /// For each processor, whether it is out of service. Empty until a processor goes out of service for the first
    /// time.
    is_down: Vec<bool>,
    count: usize,
    /// Number of times that the set of processors out of service has changed.
    version: u64,
    /// Whether processors out of service are treated as walls of their neighbours.
    walls: bool,
}

impl Machine {
    /// Creates a machine in which every processor (on a cluster, every slot) is free.
    pub fn new(topology: Topology) -> Self {
        let processors = topology.slots();
        // A row is a run of consecutive processors along the fastest dimension.
        let row_length =
            topology.grid().map_or(processors, |grid| grid.extent(grid.dimensions() - 1));
        Self {
            free: vec![true; processors],
            free_count: processors,
            row_of: (0..processors).map(|node| (node / row_length) as u32).collect(),
            row_versions: vec![1; processors / row_length],
            version: 1,
            down: Down::default(),
            topology,
        }
    }

    /// Copies the state of another machine of the same topology.
    pub fn copy_from(&mut self, other: &Self) {
        debug_assert_eq!(self.topology, other.topology);
        self.free.copy_from_slice(&other.free);
        self.free_count = other.free_count;
        self.row_versions.copy_from_slice(&other.row_versions);
        self.version = other.version;
        self.down.clone_from(&other.down);
    }

    /// Returns whether another machine of the same topology has the same free processors and the same processors out of
    /// service.
    pub fn has_same_state(&self, other: &Self) -> bool {
        let [down, other_down] = [&self.down, &other.down];
        self.free == other.free
            && (down.count, down.walls) == (other_down.count, other_down.walls)
            && (down.count == 0 || down.is_down == other_down.is_down)
    }

    /// Returns the interconnect.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the number of processors, whether free or busy. On a cluster, returns the number of slots.
    pub fn processors(&self) -> usize {
        self.free.len()
    }

    /// Returns the number of free processors.
    #[inline]
    pub fn free_count(&self) -> usize {
        self.free_count
    }

    /// Returns whether a processor is free.
    #[inline]
    pub fn is_free(&self, node: NodeId) -> bool {
        self.free[node.index()]
    }

    /// Returns, for each processor number, whether the processor is free.
    #[inline]
    pub fn free_map(&self) -> &[bool] {
        &self.free
    }

    /// Returns the free processors in scan order.
    pub fn free_nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.free.iter().enumerate().filter(|(_, free)| **free).map(|(id, _)| NodeId(id as u32))
    }

    /// Marks free processors as busy.
    ///
    /// # Panics
    /// If a processor is already busy, which means that an allocator violated its contract.
    pub fn occupy(&mut self, nodes: &[NodeId]) {
        self.set(nodes, false);
        self.free_count -= nodes.len();
    }

    /// Marks busy processors as free.
    ///
    /// # Panics
    /// If a processor is already free.
    pub fn release(&mut self, nodes: &[NodeId]) {
        self.set(nodes, true);
        self.free_count += nodes.len();
    }

    fn set(&mut self, nodes: &[NodeId], free: bool) {
        self.version += 1;
        for node in nodes {
            let slot = &mut self.free[node.index()];
            assert_ne!(*slot, free, "processor {} is already free or already busy", node.0);
            *slot = free;
            self.row_versions[self.row_of[node.index()] as usize] = self.version;
        }
    }

    /// Takes free processors out of service. Processors out of service are neither free nor busy.
    ///
    /// # Panics
    /// If a processor is not free.
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        if nodes.is_empty() {
            return;
        }
        self.occupy(nodes);
        self.down.is_down.resize(self.free.len(), false);
        nodes.iter().for_each(|node| self.down.is_down[node.index()] = true);
        self.down.count += nodes.len();
        self.down.version += 1;
    }

    /// Puts processors back into service as free processors.
    ///
    /// # Panics
    /// If a processor is in service.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        if nodes.is_empty() {
            return;
        }
        for node in nodes {
            let is_down = self.is_down(*node);
            assert!(is_down, "processor {} is in service", node.0);
            self.down.is_down[node.index()] = false;
        }
        self.release(nodes);
        self.down.count -= nodes.len();
        self.down.version += 1;
    }

    /// Returns whether a processor is out of service.
    #[inline]
    pub fn is_down(&self, node: NodeId) -> bool {
        self.down.is_down.get(node.index()).copied().unwrap_or(false)
    }

    /// Returns the number of processors out of service.
    #[inline]
    pub fn down_count(&self) -> usize {
        self.down.count
    }

    /// Returns the number of times that the set of processors out of service has changed.
    #[inline]
    pub fn down_version(&self) -> u64 {
        self.down.version
    }

    /// Sets whether tie values treat processors out of service as walls of their neighbours. The default is `false`.
    pub fn set_down_walls(&mut self, walls: bool) {
        self.down.walls = walls;
    }

    /// Returns whether processors out of service are treated as walls of their neighbours.
    #[inline]
    pub fn has_down_walls(&self) -> bool {
        self.down.walls
    }

    /// Returns the number of neighbours of a processor that are out of service and are treated as walls.
    #[inline]
    pub fn walls_by_down(&self, node: NodeId) -> u32 {
        let mut walls = 0;
        if self.down.walls && self.down.count > 0 {
            self.topology.for_neighbours(node, |near| walls += u32::from(self.is_down(near)));
        }
        walls
    }

    /// Returns the machine version at the last change of each row. Versions only increase.
    #[inline]
    pub fn row_versions(&self) -> &[u64] {
        &self.row_versions
    }

    /// Returns the version of the machine, which increases with every change.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupy_and_release_are_inverse() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        let nodes = [NodeId(3), NodeId(7)];
        machine.occupy(&nodes);
        assert_eq!(machine.free_count(), 14);
        assert!(!machine.is_free(NodeId(7)));
        machine.release(&nodes);
        assert_eq!(machine.free_nodes().count(), 16);
    }

    #[test]
    fn processors_out_of_service_are_not_free_until_restored() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        machine.withdraw(&[NodeId(5)]);
        assert_eq!((machine.free_count(), machine.down_count()), (15, 1));
        assert!(machine.is_down(NodeId(5)) && !machine.is_free(NodeId(5)));
        // Neighbours of the processor get a wall only after `set_down_walls`.
        assert_eq!(machine.walls_by_down(NodeId(1)), 0);
        machine.set_down_walls(true);
        let walls = [0, 1, 4, 5, 6, 9, 10].map(|node| machine.walls_by_down(NodeId(node)));
        assert_eq!(walls, [0, 1, 1, 0, 1, 1, 0]);
        machine.restore(&[NodeId(5)]);
        assert_eq!((machine.free_count(), machine.down_count()), (16, 0));
        assert!(machine.is_free(NodeId(5)) && machine.walls_by_down(NodeId(1)) == 0);
    }

    #[test]
    #[should_panic(expected = "already free or already busy")]
    fn rejects_a_busy_processor() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        machine.occupy(&[NodeId(3), NodeId(3)]);
    }
}
