//! The processor sets of running jobs, each kept once however many machines agree on it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Mixed;
use crate::topology::{NodeId, PairDistances, Topology};

/// A set of processors that a running job has on at least one machine.
#[derive(Debug)]
pub struct Held {
    /// Sum of what its processors [`mix`] to.
    pub hash: u64,
    /// In the order in which they were chosen first.
    pub nodes: Vec<NodeId>,
    /// Sum of hop distances over all pairs.
    pub pairwise_l1: u64,
}

/// The sets of all running jobs, by the slot of the job.
#[derive(Debug)]
pub struct Sets {
    by_slot: Vec<Slot>,
    /// By processor, what it mixes to.
    mixed: Vec<u64>,
    distances: PairDistances,
    spare: Vec<Vec<NodeId>>,
    sorted: [Vec<NodeId>; 2],
}

/// The sets that one job has.
#[derive(Debug, Default)]
struct Slot {
    held: Vec<Held>,
    /// By hash, the first that has it.
    first: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
}

impl Sets {
    /// No job runs.
    pub fn new(topology: &Topology) -> Self {
        let mixed = topology.nodes().map(|node| mix(u64::from(node.0))).collect();
        let distances = PairDistances::new(topology);
        Self {
            by_slot: Vec::new(),
            mixed,
            distances,
            spare: Vec::new(),
            sorted: Default::default(),
        }
    }

    /// Nobody has anything in this slot yet.
    pub fn open(&mut self, slot: usize) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize_with(slot + 1, Slot::default);
        }
    }

    /// The number of a set among those of its job, which is kept if it is new.
    pub fn number(&mut self, slot: usize, nodes: &[NodeId]) -> u32 {
        let hash = nodes.iter().fold(0u64, |sum, node| sum.wrapping_add(self.mixed[node.index()]));
        let first = self.by_slot[slot].first.get(&hash).copied();
        if let Some(first) = first {
            // Another set of the same hash has yet to be seen.
            for place in first..self.count(slot) as u32 {
                let alike = self.by_slot[slot].held[place as usize].hash == hash;
                if alike && self.same(slot, place as usize, nodes) {
                    return place;
                }
            }
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(nodes);
        let pairwise_l1 = self.distances.sum(nodes);
        let Slot { held, first } = &mut self.by_slot[slot];
        let place = held.len() as u32;
        held.push(Held { hash, nodes: kept, pairwise_l1 });
        first.entry(hash).or_insert(place);
        place
    }

    /// Whether a kept set has the same processors, in whatever order.
    fn same(&mut self, slot: usize, place: usize, nodes: &[NodeId]) -> bool {
        let kept = &self.by_slot[slot].held[place].nodes;
        if kept == nodes {
            return true;
        }
        let [ours, others] = &mut self.sorted;
        for (sorted, nodes) in [(&mut *ours, &kept[..]), (&mut *others, nodes)] {
            sorted.clear();
            sorted.extend_from_slice(nodes);
            sorted.sort_unstable();
        }
        ours == others
    }

    /// A set of the job in a slot.
    pub fn get(&self, slot: usize, number: u32) -> &Held {
        &self.by_slot[slot].held[number as usize]
    }

    /// How many sets the job in a slot has.
    pub fn count(&self, slot: usize) -> usize {
        self.by_slot[slot].held.len()
    }

    /// The job in a slot has ended everywhere.
    pub fn close(&mut self, slot: usize) {
        let of = &mut self.by_slot[slot];
        self.spare.extend(of.held.drain(..).map(|held| held.nodes));
        of.first.clear();
    }
}

/// Spreads a number over 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_one_in_any_order() {
        let mut sets = Sets::new(&"4x4".parse().expect("a mesh"));
        sets.open(2);
        let number = |sets: &mut Sets, nodes: &[u32]| {
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
