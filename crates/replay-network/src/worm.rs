//! A packet that has become head of its sender's queue.

use super::wiring::Leg;
use replay_core::topology::NodeId;

/// A place on a route.
#[derive(Clone, Copy, Default, Debug)]
pub struct Walker {
    /// The channel.
    pub channel: u32,
    step: u32,
    /// Channels left of the leg.
    left: u32,
    leg: u32,
}

impl Walker {
    /// At the first channel of the route.
    #[inline]
    pub fn new(legs: &[Leg]) -> Self {
        let leg = legs[0];
        Self { channel: leg.first, step: leg.step, left: leg.count - 1, leg: 0 }
    }

    /// To the next channel, which must exist.
    #[inline]
    pub fn step(&mut self, legs: &[Leg]) {
        if self.left > 0 {
            self.left -= 1;
            self.channel = self.channel.wrapping_add(self.step);
        } else {
            self.leg += 1;
            let leg = legs[self.leg as usize];
            (self.channel, self.step, self.left) = (leg.first, leg.step, leg.count - 1);
        }
    }
}

/// What changes with every hop: one cache line.
#[derive(Clone, Default, Debug)]
#[repr(align(64))]
pub struct Worm {
    /// The channel that the header asks for next, or has got as its last.
    pub head: Walker,
    /// The first channel that is not given up, or known to be at some time.
    pub tail: Walker,
    /// Place of `head` on the path, 0 being the injection channel.
    pub at: u32,
    /// Place of the ejection channel.
    pub last: u32,
    pub flits: u32,
    /// The next worm in the queue for the same channel.
    pub next: u32,
    /// Cycle at which the header asked for `head`.
    pub asked: u64,
    /// Its waits so far, injection excluded.
    pub blocked: u64,
}

/// What is looked at when a packet starts and ends.
#[derive(Clone, Debug)]
pub struct Label {
    pub tag: u64,
    pub src: NodeId,
    pub dst: NodeId,
    /// Cycle at which it became head of its queue.
    pub clock: u64,
    pub head_arrived: u64,
    /// Rank in the order in which headers began to wait, for the one that waits.
    pub joined: u64,
    /// Its tail has left its sender, or its delivery has been told: the first of the two. A
    /// packet to its own sender may be delivered first.
    pub half_done: bool,
}
