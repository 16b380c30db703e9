use super::sets::mix;
use crate::allocator::centre::mc1x1::Counts;
use crate::machine::{Count, Machine};
use crate::topology::{NodeId, Topology};
use crate::workload::JobId;

/// Nobody is in a slot.
const NOTHING: u32 = u32::MAX;

/// Ways that stand before the same machine.
#[derive(Debug)]
pub struct Group<C> {
    pub machine: Machine,
    pub counts: Counts<C>,
    /// By slot, the number of the set that the job there has.
    pub places: Vec<u32>,
    /// Numbers of the ways.
    pub ways: Vec<u32>,
    /// Of all running jobs and their sets.
    hash: u64,
}

impl<C: Count> Group<C> {
    /// On an empty machine, of whose counts nothing is known.
    pub fn new(topology: &Topology, counts: Counts<C>, ways: Vec<u32>) -> Self {
        let machine = Machine::new(topology.clone());
        Self { machine, counts, places: Vec::new(), ways, hash: 0 }
    }

    /// Takes over the state of another; its ways stay where they are.
    pub fn copy_from(&mut self, other: &Self) {
        self.machine.copy_from(&other.machine);
        self.counts.copy_from(&other.counts);
        self.places.clone_from(&other.places);
        self.hash = other.hash;
        self.ways.clear();
    }

    /// A job gets a set.
    pub fn start(&mut self, id: JobId, slot: usize, set: u32, nodes: &[NodeId]) {
        if slot >= self.places.len() {
            self.places.resize(slot + 1, NOTHING);
        }
        self.places[slot] = set;
        self.hash = self.hash.wrapping_add(of(id, set));
        self.machine.occupy(nodes);
    }

    /// A job gives its set back.
    pub fn end(&mut self, id: JobId, slot: usize, set: u32, nodes: &[NodeId]) {
        self.places[slot] = NOTHING;
        self.hash = self.hash.wrapping_sub(of(id, set));
        self.machine.release(nodes);
    }

    /// Different for groups that are not alike, nearly always.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether all running jobs have the same sets.
    pub fn is_like(&self, other: &Self) -> bool {
        self.places == other.places
    }
}

fn of(id: JobId, set: u32) -> u64 {
    mix(u64::from(id.0) << 32 | u64::from(set))
}
