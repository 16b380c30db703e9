//! The packets that a file lists, for a given number of processes.
//!
//! A file has N ranks. On n >= N processes, each of the first N processes runs one rank, and the other processes are
//! idle. On n < N processes, rank r runs on process floor(r n / N). Packets within a process never enter the network
//! and are omitted.

use std::ops::Range;

/// An entry of a file: the number of packets that a rank sends to another rank in a step, or a weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry<V> {
    /// Number of the step; only the order of these numbers matters.
    pub step: u64,
    /// Rank of the sender.
    pub src: u32,
    /// Rank of the receiver.
    pub dst: u32,
    /// Number of packets, or weight.
    pub value: V,
}

/// The contents of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct List<V> {
    /// Number of ranks.
    pub ranks: u32,
    /// Entries in the order of the file; no value is zero.
    pub entries: Vec<Entry<V>>,
}

impl<V: Copy> List<V> {
    /// Returns the entries on `n` processes, in the order of the file.
    fn on(&self, n: u32) -> impl Iterator<Item = Entry<V>> + '_ {
        let (processes, ranks) = (u64::from(n.min(self.ranks)), u64::from(self.ranks));
        let process = move |rank: u32| (u64::from(rank) * processes / ranks) as u32;
        let moved = move |entry: &Entry<V>| Entry {
            src: process(entry.src),
            dst: process(entry.dst),
            ..*entry
        };
        self.entries.iter().map(moved).filter(|entry| entry.src != entry.dst)
    }
}

/// The packets of a file, ordered by step, then by sender. The packets of a sender are in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// End of each step in `senders`.
    steps: Vec<usize>,
    senders: Vec<Sender>,
    packets: Vec<Packets>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Sender {
    rank: u32,
    /// Range of the sender's packets in `Table::packets`.
    packets: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Packets {
    dst: u32,
    /// Number of the sender's packets in the step, up to and including this entry.
    up_to: u64,
}

impl Table {
    /// Returns the table of a list for `n` processes; `None` if no packets are sent between processes.
    pub fn new(list: &List<u32>, n: u32) -> Option<Self> {
        let mut entries: Vec<_> = list.on(n).collect();
        entries.sort_by_key(|entry| (entry.step, entry.src));
        let mut table = Self::default();
        for of_step in entries.chunk_by(|a, b| a.step == b.step) {
            for of_sender in of_step.chunk_by(|a, b| a.src == b.src) {
                let first = table.packets.len();
                let mut up_to = 0;
                table.packets.extend(of_sender.iter().map(|entry| {
                    up_to += u64::from(entry.value);
                    Packets { dst: entry.dst, up_to }
                }));
                let packets = first..table.packets.len();
                table.senders.push(Sender { rank: of_sender[0].src, packets });
            }
            table.steps.push(table.senders.len());
        }
        (!table.steps.is_empty()).then_some(table)
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Appends the ranks that send in a step.
    pub fn senders(&self, step: u32, senders: &mut Vec<u32>) {
        senders.extend(self.of_step(step).iter().map(|sender| sender.rank));
    }

    /// Returns the number of packets of a rank in a step.
    pub fn count(&self, step: u32, rank: u32) -> u64 {
        self.of_sender(step, rank).last().map_or(0, |packets| packets.up_to)
    }

    /// Returns the receiver of packet number `k` of a rank in a step, where `k` must be less than the number of packets
    /// of the rank.
    pub fn target(&self, step: u32, rank: u32, k: u64) -> u32 {
        let packets = self.of_sender(step, rank);
        let at = packets.partition_point(|packets| packets.up_to <= k);
        packets.get(at).map_or(rank, |packets| packets.dst)
    }

    fn of_step(&self, step: u32) -> &[Sender] {
        let step = step as usize;
        let first = if step == 0 { 0 } else { self.steps[step - 1] };
        &self.senders[first..self.steps[step]]
    }

    fn of_sender(&self, step: u32, rank: u32) -> &[Packets] {
        let senders = self.of_step(step);
        match senders.binary_search_by_key(&rank, |sender| sender.rank) {
            Ok(at) => &self.packets[senders[at].packets.clone()],
            Err(_) => &[],
        }
    }
}

/// Pairs of sender and receiver, with weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights {
    pairs: Vec<(u32, u32)>,
    /// For each pair, the sum of the weights up to and including this pair.
    sums: Vec<f64>,
}

impl Weights {
    /// Returns the pairs of a list for `n` processes; `None` if no packets are sent between processes.
    pub fn new(list: &List<f64>, n: u32) -> Option<Self> {
        let (mut pairs, mut sums, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for entry in list.on(n) {
            sum += entry.value;
            pairs.push((entry.src, entry.dst));
            sums.push(sum);
        }
        (!pairs.is_empty()).then_some(Self { pairs, sums })
    }

    /// Returns sender and receiver of the pair that a uniform number `u` in [0, 1) selects.
    pub fn pair(&self, u: f64) -> (u32, u32) {
        let last = self.pairs.len() - 1;
        let at = self.sums.partition_point(|&sum| sum <= u * self.sums[last]);
        // The index is limited, because the product may be rounded up to the sum of all weights.
        self.pairs[at.min(last)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn list<V: Copy>(ranks: u32, entries: &[(u64, u32, u32, V)]) -> List<V> {
        let entry = |&(step, src, dst, value): &_| Entry { step, src, dst, value };
        List { ranks, entries: entries.iter().map(entry).collect() }
    }

    #[test]
    fn a_sender_keeps_the_order_of_the_file() {
        let list = list(4, &[(9, 2, 3, 2), (3, 0, 1, 1), (9, 2, 0, 1), (9, 1, 0, 3), (9, 2, 3, 1)]);
        let table = Table::new(&list, 4).expect("packets");
        assert_eq!(table.steps(), 2);
        assert_eq!((table.count(0, 0), table.count(0, 2), table.target(0, 0, 0)), (1, 0, 1));
        let mut senders = Vec::new();
        table.senders(1, &mut senders);
        assert_eq!(senders, [1, 2]);
        let targets = [0, 1, 2, 3].map(|k| table.target(1, 2, k));
        assert_eq!((table.count(1, 2), targets), (4, [3, 3, 0, 3]));
        // If there are more processes than ranks, the processes without a rank are idle.
        assert_eq!(Table::new(&list, 9), Some(table));
    }

    #[test]
    fn packets_within_a_process_are_left_out() {
        let list = list(4, &[(0, 0, 1, 5), (0, 1, 2, 1), (1, 2, 3, 1), (2, 2, 2, 7), (3, 3, 0, 2)]);
        let table = Table::new(&list, 2).expect("packets");
        assert_eq!((table.steps(), table.count(0, 0), table.count(1, 1)), (2, 1, 2));
        assert_eq!((table.target(0, 0, 0), table.target(1, 1, 1)), (1, 0));
        assert_eq!(Table::new(&list, 1), None);
    }

    #[test]
    fn pairs_are_drawn_by_weight() {
        let weights = Weights::new(&list(3, &[(0, 0, 1, 1.0), (0, 1, 1, 5.0), (0, 2, 0, 3.0)]), 3);
        let weights = weights.expect("packets");
        let at = [0.0, 0.2499, 0.25, 0.999, 1.0].map(|u| weights.pair(u));
        assert_eq!(at, [(0, 1), (0, 1), (2, 0), (2, 0), (2, 0)]);
    }

    proptest! {
        /// The packets are the same as the packets of a reference implementation that adds entries in a map.
        #[test]
        fn tables_keep_every_packet(
            entries in proptest::collection::vec((0u64..3, 0u32..6, 0u32..6, 1u32..4), 0..20),
            n in 1u32..9,
        ) {
            let process = |rank: u32| rank * n.min(6) / 6;
            let mut expected = BTreeMap::new();
            for &(step, src, dst, packets) in &entries {
                if process(src) != process(dst) {
                    *expected.entry((step, process(src), process(dst))).or_insert(0) += packets;
                }
            }
            let mut steps: Vec<_> = expected.keys().map(|&(step, _, _)| step).collect();
            steps.dedup();
            let table = Table::new(&list(6, &entries), n).unwrap_or_default();
            prop_assert_eq!(table.steps() as usize, steps.len());
            let mut found = BTreeMap::new();
            for (s, &step) in (0..).zip(&steps) {
                for rank in 0..n {
                    for k in 0..table.count(s, rank) {
                        *found.entry((step, rank, table.target(s, rank, k))).or_insert(0) += 1;
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
