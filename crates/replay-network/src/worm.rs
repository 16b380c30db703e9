//! Worms: packets that have become head of their sender's queue.

use super::wiring::Leg;
use replay_engine::topology::NodeId;

/// A position on a route.
#[derive(Clone, Copy, Default, Debug)]
pub struct Walker {
    /// Number of the channel.
    pub channel: u32,
    step: u32,
    /// Number of remaining channels in the leg.
    left: u32,
    leg: u32,
}

impl Walker {
    /// Creates a position at the first channel of the route.
    #[inline]
    pub fn new(legs: &[Leg]) -> Self {
        let leg = legs[0];
        Self { channel: leg.first, step: leg.step, left: leg.count - 1, leg: 0 }
    }

    /// Moves to the next channel, which must exist.
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

/// The part of a worm's state that changes with every hop. This part of the state fits into a cache line.
#[derive(Clone, Default, Debug)]
#[repr(align(64))]
pub struct Worm {
    /// The channel that the header requests next, or the last channel that the header got.
    pub head: Walker,
    /// The first channel of the path whose release has not been determined yet.
    pub tail: Walker,
    /// Position of `head` on the path; 0 is the injection channel.
    pub at: u32,
    /// Position of the ejection channel.
    pub last: u32,
    pub flits: u32,
    /// The next worm in the queue for the same channel.
    pub next: u32,
    /// Cycle in which the header requested `head`.
    pub asked: u64,
    /// Time for which the header has waited so far, without waits for the injection channel.
    pub blocked: u64,
}

/// The part of a worm's state that is used only when its packet starts, ends or waits.
#[derive(Clone, Debug)]
pub struct Label {
    pub tag: u64,
    pub src: NodeId,
    pub dst: NodeId,
    /// Cycle in which the packet became head of its queue.
    pub clock: u64,
    pub head_arrived: u64,
    /// Rank of the header in the order in which headers began to wait.
    pub joined: u64,
    /// Whether the first of the worm's two events was reported. The two events are that the tail has left the sender
    /// and that the packet is delivered. A packet to its own sender may be delivered before its tail has left.
    pub half_done: bool,
}
