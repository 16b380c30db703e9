//! Diagnosis of a deadlock.

use super::Network;
use crate::channel::ChannelId;
use crate::stalled::{Stalled, Wait};
use crate::usage::NONE;

impl Network {
    /// Follows the waits from any waiting header until the waits form a cycle.
    #[cold]
    pub(super) fn diagnosis(&self) -> Stalled {
        let mut seen = Vec::new();
        let mut slot = self.states.iter().map(|state| state.first).find(|&slot| slot != NONE);
        while let Some(waiting) = slot.filter(|slot| !seen.contains(slot)) {
            seen.push(waiting);
            let channel = self.worms[waiting as usize].head.channel;
            slot = Some(self.states[channel as usize].holder).filter(|&holder| holder != NONE);
        }
        let first = seen.iter().position(|&worm| Some(worm) == slot).unwrap_or(0);
        let ring = seen[first..].iter().filter_map(|&slot| {
            let channel = ChannelId(self.worms[slot as usize].head.channel);
            let channel = self.wiring.channel(channel)?;
            Some(Wait { tag: self.labels[slot as usize].tag, channel })
        });
        Stalled { cycle: self.now(), in_flight: self.in_flight, ring: ring.collect() }
    }
}
