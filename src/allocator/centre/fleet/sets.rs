//! The processor sets of running jobs, each kept once however many machines agree on it.

use crate::topology::{NodeId, PairDistances};

/// A set of processors that a running job has on at least one machine.
#[derive(Debug)]
pub struct Held {
    hash: u64,
    /// In the order in which they were chosen first.
    pub nodes: Vec<NodeId>,
    /// Sum of hop distances over all pairs.
    pub pairwise_l1: u64,
}

/// The sets of all running jobs, by the slot of the job.
#[derive(Debug)]
pub struct Sets {
    by_slot: Vec<Vec<Held>>,
    distances: PairDistances,
    spare: Vec<Vec<NodeId>>,
    sorted: [Vec<NodeId>; 2],
}

impl Sets {
    /// No job runs.
    pub fn new(distances: PairDistances) -> Self {
        Self { by_slot: Vec::new(), distances, spare: Vec::new(), sorted: Default::default() }
    }

    /// Nobody has anything in this slot yet.
    pub fn open(&mut self, slot: usize) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize_with(slot + 1, Vec::new);
        }
    }

    /// The number of a set among those of its job, which is kept if it is new.
    pub fn number(&mut self, slot: usize, nodes: &[NodeId]) -> u32 {
        let hash = nodes.iter().fold(0u64, |sum, node| sum.wrapping_add(mix(u64::from(node.0))));
        let known = (0..self.by_slot[slot].len())
            .find(|&place| self.by_slot[slot][place].hash == hash && self.same(slot, place, nodes));
        let place = known.unwrap_or_else(|| {
            let mut kept = self.spare.pop().unwrap_or_default();
            kept.clear();
            kept.extend_from_slice(nodes);
            let pairwise_l1 = self.distances.sum(nodes);
            self.by_slot[slot].push(Held { hash, nodes: kept, pairwise_l1 });
            self.by_slot[slot].len() - 1
        });
        place as u32
    }

    /// Whether a kept set has the same processors, in whatever order.
    fn same(&mut self, slot: usize, place: usize, nodes: &[NodeId]) -> bool {
        let kept = &self.by_slot[slot][place].nodes;
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
        &self.by_slot[slot][number as usize]
    }

    /// How many sets the job in a slot has.
    pub fn count(&self, slot: usize) -> usize {
        self.by_slot[slot].len()
    }

    /// The job in a slot has ended everywhere.
    pub fn close(&mut self, slot: usize) {
        self.spare.extend(self.by_slot[slot].drain(..).map(|held| held.nodes));
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
        let mut sets = Sets::new(PairDistances::new(&"4x4".parse().expect("a mesh")));
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
