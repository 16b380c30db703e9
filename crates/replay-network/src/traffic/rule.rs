//! The packets of an iteration, for a given number of processes.

use std::sync::Arc;

use super::drawn::Drawn;
use super::exchange::Exchange;
use super::pattern::{Order, Strides, Targets};
use super::table::Table;

/// The steps of an iteration. A step consists of the processes that send in this step and of the packets of each
/// process, in order. Every step has at least one sender, and every rule has at least two processes.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Every process sends to every other process.
    AllToAll { n: u32, order: Order },
    /// One process sends to every other process.
    OneToAll { n: u32, root: u32, targets: Targets },
    /// A ring with n / 2 steps (rounded down) halfway around the ring, and then one step back.
    Ring { n: u32 },
    /// Exchanges between ranks that differ in one bit.
    Butterfly { bits: u32, strides: Strides },
    /// Moves on a grid of processes.
    Exchange(Exchange),
    /// Packets from a file.
    Listed(Arc<Table>),
    /// Random receivers; boxed because the generator's state is large.
    Drawn(Box<Drawn>),
}

impl Rule {
    /// Returns the number of steps of an iteration, at least one.
    pub fn steps(&self) -> u32 {
        match self {
            Rule::AllToAll { .. } | Rule::OneToAll { .. } | Rule::Drawn(_) => 1,
            Rule::Ring { n } => n / 2 + 1,
            Rule::Butterfly { bits, .. } => *bits,
            Rule::Exchange(exchange) => exchange.steps(),
            Rule::Listed(table) => table.steps(),
        }
    }

    /// Returns whether, within a step, the job's sequence contains all packets of one process before the packets of the
    /// next process.
    pub fn one_by_one(&self) -> bool {
        matches!(self, Rule::AllToAll { order: Order::Lexicographic, .. })
    }

    /// Fills `senders` with the ranks that send in a step, in ascending order.
    pub fn senders(&mut self, step: u32, senders: &mut Vec<u32>) {
        senders.clear();
        match self {
            Rule::AllToAll { n, .. } | Rule::Ring { n } => senders.extend(0..*n),
            Rule::OneToAll { root, .. } => senders.push(*root),
            Rule::Butterfly { bits, .. } => senders.extend(0..1 << *bits),
            Rule::Exchange(exchange) => exchange.senders(step, senders),
            Rule::Listed(table) => table.senders(step, senders),
            Rule::Drawn(drawn) => drawn.senders(senders),
        }
    }

    /// Returns the number of packets that a rank sends in a step.
    #[inline]
    pub fn count(&self, step: u32, rank: u32) -> u64 {
        match self {
            Rule::AllToAll { n, .. } => u64::from(n - 1),
            Rule::OneToAll { n, root, .. } => u64::from(if rank == *root { n - 1 } else { 0 }),
            Rule::Ring { .. } => 1,
            Rule::Butterfly { bits, .. } => u64::from(rank < 1 << bits),
            Rule::Exchange(exchange) => exchange.count(step, rank),
            Rule::Listed(table) => table.count(step, rank),
            Rule::Drawn(drawn) => drawn.count(rank),
        }
    }

    /// Returns the number of rounds of a rank in a step. The job's sequence divides the packets of a step into rounds;
    /// all packets of a round are sent before the packets of the next round.
    #[inline]
    pub fn rounds(&self, step: u32, rank: u32) -> u64 {
        match self {
            // There is a round for each receiver.
            Rule::AllToAll { n, order: Order::Same } => u64::from(*n),
            _ => self.count(step, rank),
        }
    }

    /// Returns the index, within the step, of the packet that a rank sends in a round; `None` if the rank sends no
    /// packet in the round.
    #[inline]
    pub fn in_round(&self, rank: u32, round: u64) -> Option<u64> {
        match self {
            Rule::AllToAll { order: Order::Same, .. } => {
                let own = u64::from(rank);
                (round != own).then(|| round - u64::from(round > own))
            }
            _ => Some(round),
        }
    }

    /// Returns the receiver of packet number `k` of a rank in a step, where k is below the rank's count. If receivers
    /// are drawn at random, the receiver of each packet may be requested only once.
    #[inline]
    pub fn target(&mut self, step: u32, rank: u32, k: u64) -> u32 {
        match self {
            Rule::AllToAll { n, order: Order::Shifted } => after(rank, k, *n),
            Rule::OneToAll { n, root, targets: Targets::Cyclic } => after(*root, k, *n),
            Rule::AllToAll { .. } | Rule::OneToAll { .. } => {
                let k = k as u32;
                k + u32::from(k >= rank)
            }
            Rule::Ring { n } if step < *n / 2 => (rank + 1) % *n,
            Rule::Ring { n } => (rank + *n - *n / 2) % *n,
            Rule::Butterfly { bits, strides } => match strides {
                Strides::Ascending => rank ^ 1 << step,
                Strides::Descending => rank ^ 1 << (*bits - 1 - step),
            },
            Rule::Exchange(exchange) => exchange.target(step, rank, k).unwrap_or(rank),
            Rule::Listed(table) => table.target(step, rank, k),
            Rule::Drawn(drawn) => drawn.target(rank),
        }
    }
}

/// Returns the k-th rank after a rank, cyclically; k counts from 0.
fn after(rank: u32, k: u64, n: u32) -> u32 {
    (rank + 1 + k as u32) % n
}
