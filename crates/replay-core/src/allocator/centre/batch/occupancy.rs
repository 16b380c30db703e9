//! Occupancies shared by configurations, and the processor sets of running jobs.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::machine::Machine;
use crate::topology::{NodeId, PairDistances, Topology};

/// Set number of a job without processors.
pub const NO_SET: u32 = u32::MAX;

/// Map with keys that are already hashes.
pub type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Unhashed>>;

/// State on which decisions depend: the set of free processors. Which jobs use the busy processors does not matter.
#[derive(Debug)]
pub struct SharedOccupancy {
    pub machine: Machine,
    /// Groups of configurations that differ in the processors of some running job.
    pub groups: Vec<Group>,
    /// Hash of the free processors and of the processors out of service.
    hash: u64,
}

/// Configurations that gave the same processor set to every running job.
#[derive(Debug, Default)]
pub struct Group {
    /// Set number of the job in each slot.
    pub sets: Vec<u32>,
    /// Numbers of the configurations.
    pub configs: Vec<u32>,
    /// Hash of all running jobs and their sets.
    hash: u64,
}

impl SharedOccupancy {
    /// Creates an occupancy from a machine. Only hashes of copies of one occupancy can be compared.
    pub fn new(machine: Machine) -> Self {
        Self { machine, groups: Vec::new(), hash: 0 }
    }

    /// Copies the machine of another occupancy, and removes all groups.
    pub fn copy_from(&mut self, other: &Self) {
        self.machine.copy_from(&other.machine);
        self.hash = other.hash;
        self.groups.clear();
    }

    /// Marks the processors of `set` as busy.
    pub fn occupy(&mut self, set: &ProcessorSet) {
        self.hash = self.hash.wrapping_sub(set.hash);
        self.machine.occupy(&set.nodes);
    }

    /// Marks the processors of `set` as free.
    pub fn release(&mut self, set: &ProcessorSet) {
        self.hash = self.hash.wrapping_add(set.hash);
        self.machine.release(&set.nodes);
    }

    /// Takes a free processor out of service.
    pub fn withdraw(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_add(hash_of_down(node)).wrapping_sub(hash_of(node));
        self.machine.withdraw(&[node]);
    }

    /// Returns a processor to service.
    pub fn restore(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_sub(hash_of_down(node)).wrapping_add(hash_of(node));
        self.machine.restore(&[node]);
    }

    /// Returns a hash of the occupancy. Different occupancies nearly always have different hashes.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

impl Group {
    /// Creates a group of configurations without running jobs.
    pub fn new(configs: Vec<u32>) -> Self {
        Self { configs, ..Self::default() }
    }

    /// Copies the jobs of another group, and removes all configurations.
    pub fn copy_from(&mut self, other: &Self) {
        self.sets.clone_from(&other.sets);
        self.hash = other.hash;
        self.configs.clear();
    }

    /// Assigns a set to the job in a slot.
    pub fn start(&mut self, slot: usize, set: u32) {
        if slot >= self.sets.len() {
            self.sets.resize(slot + 1, NO_SET);
        }
        self.sets[slot] = set;
        self.hash = self.hash.wrapping_add(hash_of_job(slot, set));
    }

    /// Ends the job in a slot.
    pub fn end(&mut self, slot: usize) {
        self.hash = self.hash.wrapping_sub(hash_of_job(slot, self.sets[slot]));
        self.sets[slot] = NO_SET;
    }

    /// Returns a hash of the running jobs and their sets. Different groups nearly always have different hashes.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// Set of processors that at least one configuration gave to a running job.
#[derive(Debug)]
pub struct ProcessorSet {
    /// Sum of the hashes of the processors.
    hash: u64,
    /// Processors in the order in which the set was first chosen.
    pub nodes: Vec<NodeId>,
    /// Sum of hop distances over all pairs.
    pub pairwise_l1: u64,
}

/// Processor sets of all running jobs, by the slot of the job. Each set is stored once for all configurations that
/// choose this set.
#[derive(Debug)]
pub struct SetTable {
    by_slot: Vec<Slot>,
    /// Hashes by processor.
    hashes: Vec<u64>,
    distances: PairDistances,
    spare: Vec<Vec<NodeId>>,
    sorted: [Vec<NodeId>; 2],
}

/// Processor sets of one job.
#[derive(Debug, Default)]
struct Slot {
    sets: Vec<ProcessorSet>,
    /// Number of the first set with each hash.
    first: ByHash<u32>,
}

impl SetTable {
    /// Creates a table without running jobs.
    pub fn new(topology: &Topology) -> Self {
        Self {
            by_slot: Vec::new(),
            hashes: topology.nodes().map(hash_of).collect(),
            distances: PairDistances::new(topology),
            spare: Vec::new(),
            sorted: Default::default(),
        }
    }

    /// Prepares a slot for a job, which has no set yet.
    pub fn open(&mut self, slot: usize) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize_with(slot + 1, Slot::default);
        }
    }

    /// Returns the number of a set among the sets of its job; adds the set if it is new.
    pub fn number(&mut self, slot: usize, nodes: &[NodeId]) -> u32 {
        let hash = nodes.iter().fold(0u64, |sum, node| sum.wrapping_add(self.hashes[node.index()]));
        let first = self.by_slot[slot].first.get(&hash).copied();
        if let Some(first) = first {
            // Different sets can have the same hash.
            for number in first..self.count(slot) as u32 {
                let has_same_hash = self.get(slot, number).hash == hash;
                if has_same_hash && self.is_equal(slot, number, nodes) {
                    return number;
                }
            }
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(nodes);
        let pairwise_l1 = self.distances.sum(nodes);
        let Slot { sets, first } = &mut self.by_slot[slot];
        let number = sets.len() as u32;
        sets.push(ProcessorSet { hash, nodes: kept, pairwise_l1 });
        first.entry(hash).or_insert(number);
        number
    }

    /// Returns whether a set has these processors, in any order.
    fn is_equal(&mut self, slot: usize, number: u32, nodes: &[NodeId]) -> bool {
        let kept = &self.by_slot[slot].sets[number as usize].nodes;
        if kept == nodes {
            return true;
        }
        let [first_sorted, second_sorted] = &mut self.sorted;
        for (sorted, nodes) in [(&mut *first_sorted, &kept[..]), (&mut *second_sorted, nodes)] {
            sorted.clear();
            sorted.extend_from_slice(nodes);
            sorted.sort_unstable();
        }
        first_sorted == second_sorted
    }

    /// Returns a set of the job in a slot.
    pub fn get(&self, slot: usize, number: u32) -> &ProcessorSet {
        &self.by_slot[slot].sets[number as usize]
    }

    /// Returns the number of sets of the job in a slot.
    pub fn count(&self, slot: usize) -> usize {
        self.by_slot[slot].sets.len()
    }

    /// Removes the sets of the job in a slot.
    pub fn close(&mut self, slot: usize) {
        let Slot { sets, first } = &mut self.by_slot[slot];
        self.spare.extend(sets.drain(..).map(|set| set.nodes));
        first.clear();
    }
}

fn hash_of(node: NodeId) -> u64 {
    mix(u64::from(node.0))
}

fn hash_of_down(node: NodeId) -> u64 {
    mix(1 << 32 | u64::from(node.0))
}

fn hash_of_job(slot: usize, set: u32) -> u64 {
    mix((slot as u64) << 32 | u64::from(set))
}

/// Spreads a number over 64 bits (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hasher that returns `u64` keys unchanged, for keys that are already hashes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unhashed(u64);

impl Hasher for Unhashed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_equal_in_any_order() {
        let mut sets = SetTable::new(&"4x4".parse().expect("a mesh"));
        sets.open(2);
        let number = |sets: &mut SetTable, nodes: &[u32]| {
            sets.number(2, &nodes.iter().map(|&node| NodeId(node)).collect::<Vec<_>>())
        };
        assert_eq!(number(&mut sets, &[0, 1, 4]), 0);
        assert_eq!(number(&mut sets, &[0, 1, 5]), 1);
        assert_eq!(number(&mut sets, &[4, 0, 1]), 0);
        assert_eq!(
            (sets.count(2), sets.get(2, 0).pairwise_l1, sets.get(2, 1).pairwise_l1),
            (2, 4, 4)
        );
        sets.close(2);
        assert_eq!((sets.count(2), number(&mut sets, &[5, 1, 0])), (0, 0));
    }
}
