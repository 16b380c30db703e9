//! Randomly drawn receivers.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::random::{below, other, unit};
use super::table::Weights;

/// A step of random traffic: either a packet between a random pair of processes, or a packet from every process to a
/// random process.
#[derive(Clone, Debug)]
pub struct Drawn {
    rng: ChaCha8Rng,
    law: DrawnLaw,
    /// Sender and receiver of the step; used only if the pair is drawn.
    pair: (u32, u32),
}

/// The distribution of pairs.
#[derive(Clone, Debug)]
pub enum DrawnLaw {
    /// Two distinct processes; the value is the number of processes.
    Pair(u32),
    /// A receiver for each process; the value is the number of processes.
    Receivers(u32),
    /// A pair, with a probability proportional to its weight.
    Weighted(Arc<Weights>),
}

impl Drawn {
    /// Creates the traffic, which draws from the given random stream.
    pub fn new(law: DrawnLaw, rng: ChaCha8Rng) -> Self {
        Self { rng, law, pair: (0, 0) }
    }

    /// Begins a step and appends the ranks that send.
    pub fn senders(&mut self, senders: &mut Vec<u32>) {
        let Self { rng, law, pair } = self;
        *pair = match law {
            DrawnLaw::Receivers(n) => return senders.extend(0..*n),
            DrawnLaw::Pair(n) => {
                let src = below(rng, *n);
                (src, other(rng, *n, src))
            }
            DrawnLaw::Weighted(weights) => weights.pair(unit(rng)),
        };
        senders.push(pair.0);
    }

    /// Returns the number of packets of a rank in the step.
    pub fn count(&self, rank: u32) -> u64 {
        match self.law {
            DrawnLaw::Receivers(n) => u64::from(rank < n),
            DrawnLaw::Pair(_) | DrawnLaw::Weighted(_) => u64::from(rank == self.pair.0),
        }
    }

    /// Returns the receiver of a rank's packet.
    pub fn target(&mut self, rank: u32) -> u32 {
        match self.law {
            DrawnLaw::Receivers(n) => other(&mut self.rng, n, rank),
            DrawnLaw::Pair(_) | DrawnLaw::Weighted(_) => self.pair.1,
        }
    }
}
