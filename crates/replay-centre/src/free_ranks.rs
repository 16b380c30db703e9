//! Free processors along a linear order, as a bit set.

use replay_engine::bits;
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// The set of free ranks in an order of all processors. An update reads only the rows of the machine that have changed.
/// A search for free ranks processes 64 ranks at a time.
#[derive(Clone, Debug)]
pub struct FreeRanks {
    /// Rank of each processor.
    ranks: Vec<u32>,
    /// A bit for each rank, set if the rank is free; the remaining bits of the last word are 0.
    words: Vec<u64>,
    /// The machine version of the last update; 0 if there was no update.
    seen: u64,
}

impl FreeRanks {
    /// Creates the set for an order of all processors of a machine.
    pub fn new(order: &[NodeId]) -> Self {
        let mut ranks = vec![0; order.len()];
        for (rank, node) in (0..).zip(order) {
            ranks[node.index()] = rank;
        }
        Self { ranks, words: vec![0; order.len().div_ceil(64)], seen: 0 }
    }

    /// Updates the ranks in rows that have changed since the last update.
    pub fn update(&mut self, machine: &Machine) {
        if machine.version() == self.seen {
            return;
        }
        let (rows, free) = (machine.row_versions(), machine.free_map());
        let row_length = free.len() / rows.len().max(1);
        for (row, _) in rows.iter().enumerate().filter(|(_, version)| **version > self.seen) {
            let nodes = row * row_length..(row + 1) * row_length;
            for (&rank, &is_free) in self.ranks[nodes.clone()].iter().zip(&free[nodes]) {
                let (word, bit) = (rank as usize / 64, rank % 64);
                self.words[word] = self.words[word] & !(1 << bit) | u64::from(is_free) << bit;
            }
        }
        self.seen = machine.version();
    }

    /// Makes the next update read the whole machine.
    pub fn reset(&mut self) {
        self.seen = 0;
    }

    /// Returns the free ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        bits::ones(&self.words)
    }

    /// Returns the first rank and the length of each maximal run of free ranks, in ascending order.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        bits::runs(&self.words)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the runs of free ranks, computed rank by rank.
    fn runs_by_rank(machine: &Machine, order: &[NodeId]) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for rank in (0..order.len()).filter(|&rank| machine.is_free(order[rank])) {
            match runs.last_mut() {
                Some((first, length)) if *first + *length == rank => *length += 1,
                _ => runs.push((rank, 1)),
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn agrees_with_the_machine_after_each_update(
            sides in prop_oneof![Just("7x9"), Just("16x8"), Just("3x5x11"), Just("64x1"), Just("hypercube:7")],
            steps in proptest::collection::vec(proptest::collection::vec(0usize..200, 0..40), 1..12),
            seed in 0usize..1000,
        ) {
            let mut machine = Machine::new(sides.parse().expect("a machine"));
            let count = machine.processors();
            // The order consists of multiples of a number that is coprime to the number of processors. The multiples
            // are taken modulo the number of processors.
            let prime = [211, 223, 227, 229][seed % 4];
            let order: Vec<NodeId> =
                (0..count).map(|i| NodeId(((i * prime + seed) % count) as u32)).collect();
            let mut ranks = FreeRanks::new(&order);
            for step in steps {
                for node in step.into_iter().map(|node| NodeId((node % count) as u32)) {
                    match machine.is_free(node) {
                        true => machine.occupy(&[node]),
                        false => machine.release(&[node]),
                    }
                }
                ranks.update(&machine);
                let expected = runs_by_rank(&machine, &order);
                let found: Vec<(usize, usize)> = ranks.runs().collect();
                prop_assert_eq!(&found, &expected);
                let singly = expected.iter().flat_map(|&(first, length)| first..first + length);
                prop_assert!(ranks.iter().eq(singly));
            }
        }
    }
}
