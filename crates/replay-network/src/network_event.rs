//! Packets, and the events that a network reports.

use replay_engine::topology::NodeId;

/// A packet to send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packet {
    /// Sender.
    pub src: NodeId,
    /// Receiver. If the receiver is also the sender, the sender's router passes the packet back.
    pub dst: NodeId,
    /// Length in flits, 1 to [`Packet::MAX_FLITS`].
    pub flits: u32,
    /// A number that every [`NetworkEvent`] of the packet contains; the network does not interpret
    /// it.
    pub tag: u64,
}

impl Packet {
    /// Maximum length of a packet, in flits.
    pub const MAX_FLITS: u32 = 1 << 16;
}

/// Error of sending a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// The length is out of range.
    #[error("a packet has {0} flits, but must have 1 to {max}", max = Packet::MAX_FLITS)]
    Length(u32),
    /// The sender or the receiver does not exist.
    #[error("node {node} does not exist: the machine has {nodes} nodes")]
    NoSuchNode {
        /// The node.
        node: u32,
        /// Number of nodes of the machine.
        nodes: usize,
    },
}

/// An event in the cycle that [`Network::advance`](super::Network::advance) has reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NetworkEvent {
    /// The tail of a packet has left its sender. If the sender's queue has another packet, this packet is now the head
    /// of the queue.
    TailLeft {
        /// The packet's tag.
        tag: u64,
        /// The sender.
        src: NodeId,
    },
    /// The last flit has reached the receiver.
    Delivered(Delivery),
}

/// The measures of a delivered packet; all times are in cycles.
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
    /// Number of links crossed.
    pub hops: u32,
    /// Cycle in which the header reached the receiver, at the end of its crossing of the ejection
    /// channel.
    pub head_arrived: u64,
    /// Time from the cycle in which the packet became head of its sender's queue to its delivery;
    /// includes the wait for the injection channel.
    pub latency: u64,
    /// Total time for which the header waited for network and ejection channels.
    pub blocked: u64,
}
