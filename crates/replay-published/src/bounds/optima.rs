//! Optimal allocations in every state of a small machine.

use replay_engine::topology::{NodeId, Topology};

/// The smallest sum of pairwise distances of an allocation, for every set of free processors and every job size. Sets
/// are bit masks over processors.
///
/// The search is exhaustive and uses the results for smaller sets. If the job needs all processors of the set, the only
/// allocation is the set itself. If the job needs fewer processors, each set that results from removing one processor
/// is considered; the smallest optimum of these sets is the optimum.
#[derive(Clone, Debug)]
pub struct Optima {
    processors: usize,
    /// Smallest sums, indexed by set and then by size.
    best: Vec<u16>,
}

impl Optima {
    /// Maximum number of processors of a machine. With this number, the table has 2^20 rows.
    pub const MAX: usize = 20;

    /// Computes the optima of all states of a machine with at most [`MAX`](Self::MAX) processors.
    ///
    /// # Panics
    /// Panics if the machine has more than [`MAX`](Self::MAX) processors.
    pub fn new(topology: &Topology) -> Self {
        let processors = topology.processors();
        assert!(processors <= Self::MAX, "more than {} processors: {processors}", Self::MAX);
        let sizes = processors + 1;
        let mut best = vec![0u16; (1 << processors) * sizes];
        for set in 1usize..1 << processors {
            let count = set.count_ones() as usize;
            let nodes = || bits(set);
            for size in 1..count {
                let least = nodes().map(|node| best[(set ^ 1 << node) * sizes + size]).min();
                best[set * sizes + size] = least.unwrap_or(0);
            }
            // The sum for the whole set is the sum without the last processor, plus the distances from the last
            // processor to all other processors.
            let last = set.ilog2();
            let rest = set ^ 1 << last;
            let hops = |node| topology.hops(NodeId(last), NodeId(node));
            let more: u32 = bits(rest).map(hops).sum();
            best[set * sizes + count] = best[rest * sizes + count - 1] + more as u16;
        }
        Self { processors, best }
    }

    /// Returns the number of sets of processors.
    pub fn sets(&self) -> usize {
        1 << self.processors
    }

    /// Returns the smallest sum of pairwise distances, in hops, of `size` processors in the set `free`.
    pub fn best(&self, free: usize, size: usize) -> u32 {
        u32::from(self.best[free * (self.processors + 1) + size])
    }

    /// Returns the sum of pairwise distances of a set, in hops.
    pub fn distance(&self, set: usize) -> u32 {
        self.best(set, set.count_ones() as usize)
    }
}

/// Iterates over the processors of a set.
fn bits(set: usize) -> impl Iterator<Item = u32> {
    (0..usize::BITS).filter(move |bit| set & 1 << bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optimal_allocations_computed_by_hand() {
        let optima = Optima::new(&"3x3".parse().expect("a mesh"));
        let all = optima.sets() - 1;
        // The optimal allocations are two neighbours, three processors around a corner, and a square of four. The sum
        // for all nine processors is 36 along each axis.
        let best = [2, 3, 4].map(|size| optima.best(all, size));
        assert_eq!(best, [1, 4, 8]);
        assert_eq!(optima.distance(all), 72);
        // Any two of the four corners are two or four hops apart.
        let corners = 0b101_000_101;
        assert_eq!((optima.best(corners, 2), optima.best(corners, 3)), (2, 8));
    }

    #[test]
    fn the_optimum_is_the_least_of_all_subsets() {
        let topology: Topology = "2x2x3".parse().expect("a mesh");
        let optima = Optima::new(&topology);
        let distance = |set: usize| -> u32 {
            let pairs = bits(set).flat_map(|a| bits(set).map(move |b| (a, b)));
            pairs.map(|(a, b)| topology.hops(NodeId(a), NodeId(b))).sum::<u32>() / 2
        };
        for free in (0..optima.sets()).step_by(37) {
            for size in 1..=free.count_ones() {
                let subsets =
                    (0..optima.sets()).filter(|set| set & !free == 0 && set.count_ones() == size);
                let least = subsets.map(distance).min();
                assert_eq!(Some(optima.best(free, size as usize)), least, "{free:b} {size}");
            }
        }
    }
}
