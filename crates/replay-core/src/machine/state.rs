use std::sync::Arc;

use crate::topology::{NodeId, Topology};

/// A machine: its topology and which of its processors are free.
#[derive(Clone, Debug)]
pub struct Machine {
    topology: Topology,
    free: Vec<bool>,
    free_count: usize,
    /// Row of each processor: a table is faster than a division. Copies of a machine share it.
    row_of: Arc<[u32]>,
    row_versions: Vec<u64>,
    version: u64,
    down: Down,
}

/// The processors that are out of service.
#[derive(Clone, Debug, Default)]
struct Down {
    /// By processor; empty as long as none ever was.
    is_down: Vec<bool>,
    count: usize,
    /// How often that changed.
    version: u64,
    /// Whether they are walls to their neighbours.
    walls: bool,
}

impl Machine {
    /// A machine with every processor free; of a cluster, with every slot.
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

    /// Takes over the state of another machine of the same topology.
    pub fn copy_from(&mut self, other: &Self) {
        debug_assert_eq!(self.topology, other.topology);
        self.free.copy_from_slice(&other.free);
        self.free_count = other.free_count;
        self.row_versions.copy_from_slice(&other.row_versions);
        self.version = other.version;
        self.down.clone_from(&other.down);
    }

    /// Whether the same processors of another machine of the same topology are free, and the same out of
    /// service.
    pub fn is_like(&self, other: &Self) -> bool {
        let [ours, theirs] = [&self.down, &other.down];
        self.free == other.free
            && (ours.count, ours.walls) == (theirs.count, theirs.walls)
            && (ours.count == 0 || ours.is_down == theirs.is_down)
    }

    /// The interconnect.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of processors, busy or free.
    pub fn processors(&self) -> usize {
        self.free.len()
    }

    /// Number of free processors.
    #[inline]
    pub fn free_count(&self) -> usize {
        self.free_count
    }

    /// Whether a processor is free.
    #[inline]
    pub fn is_free(&self, node: NodeId) -> bool {
        self.free[node.index()]
    }

    /// Free or not, by processor number.
    #[inline]
    pub fn free_map(&self) -> &[bool] {
        &self.free
    }

    /// Free processors in scan order.
    pub fn free_nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.free.iter().enumerate().filter(|(_, free)| **free).map(|(id, _)| NodeId(id as u32))
    }

    /// Marks free processors as busy.
    ///
    /// # Panics
    /// If one of them is busy already: an allocator broke its contract.
    pub fn occupy(&mut self, nodes: &[NodeId]) {
        self.set(nodes, false);
        self.free_count -= nodes.len();
    }

    /// Marks busy processors as free.
    ///
    /// # Panics
    /// If one of them is free already: the caller released what nobody held.
    pub fn release(&mut self, nodes: &[NodeId]) {
        self.set(nodes, true);
        self.free_count += nodes.len();
    }

    fn set(&mut self, nodes: &[NodeId], free: bool) {
        self.version += 1;
        for node in nodes {
            let slot = &mut self.free[node.index()];
            assert_ne!(*slot, free, "processor {} changes hands twice", node.0);
            *slot = free;
            self.row_versions[self.row_of[node.index()] as usize] = self.version;
        }
    }

    /// Takes free processors out of service: they are neither free nor anybody's.
    ///
    /// # Panics
    /// If one of them is not free.
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

    /// Puts processors back into service, free.
    ///
    /// # Panics
    /// If one of them is in service.
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

    /// Whether a processor is out of service.
    #[inline]
    pub fn is_down(&self, node: NodeId) -> bool {
        self.down.is_down.get(node.index()).copied().unwrap_or(false)
    }

    /// Number of processors out of service.
    #[inline]
    pub fn down_count(&self) -> usize {
        self.down.count
    }

    /// How often processors have gone out of service or come back.
    #[inline]
    pub fn down_version(&self) -> u64 {
        self.down.version
    }

    /// Lets processors out of service be walls to their neighbours, in tie values, or nothing, as at
    /// first.
    pub fn wall_off(&mut self, walls: bool) {
        self.down.walls = walls;
    }

    /// Whether processors out of service are walls to their neighbours.
    pub fn walls_off(&self) -> bool {
        self.down.walls
    }

    /// Walls that a processor has because of neighbours that are out of service.
    pub fn walls_by_down(&self, node: NodeId) -> u32 {
        let mut walls = 0;
        if self.down.walls && self.down.count > 0 {
            self.topology.for_neighbours(node, |near| walls += u32::from(self.is_down(near)));
        }
        walls
    }

    /// By row, the version at which it last changed; versions only grow.
    pub(super) fn row_versions(&self) -> &[u64] {
        &self.row_versions
    }

    /// The version of the whole machine.
    pub(super) fn version(&self) -> u64 {
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
    fn what_is_out_of_service_is_neither_free_nor_lost() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        machine.withdraw(&[NodeId(5)]);
        assert_eq!((machine.free_count(), machine.down_count()), (15, 1));
        assert!(machine.is_down(NodeId(5)) && !machine.is_free(NodeId(5)));
        // Its neighbours have a wall only if it is to be one.
        assert_eq!(machine.walls_by_down(NodeId(1)), 0);
        machine.wall_off(true);
        let walls = [0, 1, 4, 5, 6, 9, 10].map(|node| machine.walls_by_down(NodeId(node)));
        assert_eq!(walls, [0, 1, 1, 0, 1, 1, 0]);
        machine.restore(&[NodeId(5)]);
        assert_eq!((machine.free_count(), machine.down_count()), (16, 0));
        assert!(machine.is_free(NodeId(5)) && machine.walls_by_down(NodeId(1)) == 0);
    }

    #[test]
    #[should_panic(expected = "changes hands twice")]
    fn a_busy_processor_cannot_be_taken() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        machine.occupy(&[NodeId(3), NodeId(3)]);
    }
}
