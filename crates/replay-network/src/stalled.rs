//! The diagnosis of a network in which nothing can move.

use std::fmt;

use super::channel::Channel;

/// Packets are in flight and none of them will ever move. The network is left as it was
/// found; advancing it again gives the same error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Stalled {
    /// The cycle of the last move.
    pub cycle: u64,
    /// Packets handed over and not delivered.
    pub in_flight: usize,
    /// Worms that wait for each other in a ring: each for a channel that the next one holds,
    /// the last for one that the first one holds.
    pub ring: Vec<Wait>,
}

/// A worm in a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Tag of its packet.
    pub tag: u64,
    /// The channel that its header waits for.
    pub channel: Channel,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the network is deadlocked at cycle {} with {} packets in flight",
            self.cycle, self.in_flight
        )?;
        let holders = self.ring.iter().skip(1).chain(self.ring.first());
        for (i, (wait, holder)) in self.ring.iter().zip(holders).enumerate() {
            let joint = if i == 0 { ':' } else { ';' };
            let Wait { tag, channel } = wait;
            write!(f, "{joint} packet {tag} waits for {channel}, held by packet {}", holder.tag)?;
        }
        Ok(())
    }
}
