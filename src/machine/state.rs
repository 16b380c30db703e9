use crate::topology::{NodeId, Topology};

/// A machine: its topology and which of its processors are free.
#[derive(Clone, Debug)]
pub struct Machine {
    topology: Topology,
    free: Vec<bool>,
    free_count: usize,
    /// Row of each processor: a table is faster than a division.
    row_of: Vec<u32>,
    row_versions: Vec<u64>,
    version: u64,
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
            topology,
        }
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
    #[should_panic(expected = "changes hands twice")]
    fn a_busy_processor_cannot_be_taken() {
        let mut machine = Machine::new("4x4".parse().expect("a mesh"));
        machine.occupy(&[NodeId(3), NodeId(3)]);
    }
}
