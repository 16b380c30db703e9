//! The diagnosis of a deadlocked network.

use std::fmt;

use super::channel::Channel;

/// Error: packets are in flight, but no packet can ever move. The network is unchanged, and advancing the network
/// again gives the same error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Stalled {
    /// The cycle of the last move.
    pub cycle: u64,
    /// Number of packets sent and not delivered.
    pub in_flight: usize,
    /// Worms in a cyclic wait. Each worm waits for a channel that the next worm holds, and the last worm waits for a
    /// channel that the first worm holds.
    pub ring: Vec<Wait>,
}

/// A worm in a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Tag of the worm's packet.
    pub tag: u64,
    /// The channel for which the worm's header waits.
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
