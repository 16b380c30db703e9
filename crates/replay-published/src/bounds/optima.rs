//! The best allocation of every state of a small machine.

use replay_core::topology::{NodeId, Topology};

/// Of every set of free processors and every size, the least sum of pairwise distances that an allocation
/// can have. Sets are bits by processor.
///
/// Exhaustive, by way of smaller sets: the best of a set are the best of the set itself, if all of it is
/// wanted, and of the sets that lack one of its processors.
#[derive(Clone, Debug)]
pub struct Optima {
    processors: usize,
    /// By set, then by size.
    best: Vec<u16>,
}

impl Optima {
    /// Most processors of a machine: a table of 2^20 rows.
    pub const MAX: usize = 20;

    /// All states of a machine of at most [`MAX`](Self::MAX) processors.
    ///
    /// # Panics
    /// With more processors.
    pub fn new(topology: &Topology) -> Self {
        let processors = topology.processors();
        assert!(processors <= Self::MAX, "{processors} processors have too many states");
        let sizes = processors + 1;
        let mut best = vec![0u16; (1 << processors) * sizes];
        for set in 1usize..1 << processors {
            let count = set.count_ones() as usize;
            let nodes = || bits(set);
            for size in 1..count {
                let least = nodes().map(|node| best[(set ^ 1 << node) * sizes + size]).min();
                best[set * sizes + size] = least.unwrap_or(0);
            }
            // All of it: all but the last, and that one's distances to them.
            let last = set.ilog2();
            let rest = set ^ 1 << last;
            let hops = |node| topology.hops(NodeId(last), NodeId(node));
            let more: u32 = bits(rest).map(hops).sum();
            best[set * sizes + count] = best[rest * sizes + count - 1] + more as u16;
        }
        Self { processors, best }
    }

    /// How many sets there are.
    pub fn sets(&self) -> usize {
        1 << self.processors
    }

    /// The least sum of pairwise distances of `size` of the processors in `free`.
    pub fn best(&self, free: usize, size: usize) -> u32 {
        u32::from(self.best[free * (self.processors + 1) + size])
    }

    /// The sum of pairwise distances of a set.
    pub fn distance(&self, set: usize) -> u32 {
        self.best(set, set.count_ones() as usize)
    }
}

/// The processors of a set.
fn bits(set: usize) -> impl Iterator<Item = u32> {
    (0..usize::BITS).filter(move |bit| set & 1 << bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_best_allocation_by_hand() {
        let optima = Optima::new(&"3x3".parse().expect("a mesh"));
        let all = optima.sets() - 1;
        // Two neighbours; a corner of three; a square; all: 18 + 18 over nine processors.
        let best = [2, 3, 4].map(|size| optima.best(all, size));
        assert_eq!(best, [1, 4, 8]);
        assert_eq!(optima.distance(all), 72);
        // The corners alone are two or four apart.
        let corners = 0b101_000_101;
        assert_eq!((optima.best(corners, 2), optima.best(corners, 3)), (2, 8));
    }

    #[test]
    fn what_is_found_is_the_least_of_all_subsets() {
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
