//! What goes into a network and what comes out of it.

use replay_core::topology::NodeId;

/// A packet to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packet {
    /// Sender.
    pub src: NodeId,
    /// Receiver; may be the sender, whose router then passes it back.
    pub dst: NodeId,
    /// Length in flits, 1 to [`Packet::MAX_FLITS`].
    pub flits: u32,
    /// Given back in every [`NetworkEvent`] of the packet; the network does not look at it.
    pub tag: u64,
}

impl Packet {
    /// The longest packet.
    pub const MAX_FLITS: u32 = 1 << 16;
}

/// A packet that cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// Its length is out of range.
    #[error("a packet of {0} flits; it must have 1 to {max}", max = Packet::MAX_FLITS)]
    Length(u32),
    /// Its sender or receiver does not exist.
    #[error("there is no node {node} on a machine of {nodes}")]
    NoSuchNode {
        /// The node.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
}

/// Something that happened in the cycle that [`Network::advance`](super::Network::advance)
/// has come to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NetworkEvent {
    /// A tail has left its sender: the next packet in the queue, if any, is now its head.
    TailLeft {
        /// The packet's tag.
        tag: u64,
        /// The sender.
        src: NodeId,
    },
    /// The last flit has reached the receiver.
    Delivered(Delivery),
}

/// A packet's measures; all times in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Delivery {
    /// The packet's tag.
    pub tag: u64,
    /// The sender.
    pub src: NodeId,
    /// The receiver.
    pub dst: NodeId,
    /// Length in flits.
    pub flits: u32,
    /// Links crossed.
    pub hops: u32,
    /// When the header had reached the receiver: the end of its crossing of the ejection
    /// channel.
    pub head_arrived: u64,
    /// Time of delivery less the time at which the packet became head of its sender's queue;
    /// includes the wait for the injection channel.
    pub latency: u64,
    /// Waits of the header for network and ejection channels.
    pub blocked: u64,
}
