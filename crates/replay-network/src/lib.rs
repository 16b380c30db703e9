//! Flit-level networks: wormhole, virtual cut-through and store-and-forward switching on
//! meshes, tori and hypercubes.
//!
//! A [`Network`] accepts packets and reports when their tails leave their senders and when
//! they are delivered. Time is in integer cycles. The model is exact to the flit, yet its
//! cost is a few events per hop of a *header*, whatever the length of packets and waits.
//!
//! ```
//! use replay_network::{Network, NetworkEvent, Packet, Settings};
//! use replay_core::topology::{NodeId, Topology};
//!
//! let mesh: Topology = "16x16".parse()?;
//! let mut network = Network::new(&mesh, Settings::LO)?;
//! // From (0,0) to (2,1).
//! network.send(Packet { src: NodeId(0), dst: NodeId(33), flits: 8, tag: 7 })?;
//! let mut events = Vec::new();
//! while let Some(cycle) = network.advance(None, &mut events)? {
//!     for event in &events {
//!         if let NetworkEvent::Delivered(packet) = event {
//!             assert_eq!((cycle, packet.tag, packet.hops), (39, 7, 3));
//!             assert_eq!((packet.latency, packet.blocked), (39, 0));
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Channels
//!
//! A node is a processing element and a router. Channels are unidirectional: one from the
//! element to its router (*injection*), one back (*ejection*), and one to each neighbouring
//! router, or two (*virtual channels*) on the wrapped axes of a torus. Each has a buffer at its
//! receiving end. Routes are dimension-ordered: x, y, z on meshes and tori, lowest differing bit
//! first on hypercubes, the shorter direction around a torus (upwards if both are equal).
//! [`Channel`] defines the notation of channels. A route of d hops consists of the channels c_0
//! (injection), c_1 .. c_d, c_K (ejection), K = d + 1.
//!
//! # Timing
//!
//! The constants are those of [`Settings`]. Let S(f, k) be the cycle in which flit f of a
//! packet of F flits starts to cross channel k, t_k the cycles of a crossing (`inject`,
//! `link` or `eject`), p_k = max(t_k, 1), and B the flits that a buffer holds: `depth` with
//! wormhole switching, else F. Flit 0 is the header, flit F - 1 the tail.
//!
//! * **Header.** It requests c_0 when its packet becomes head of its sender's queue, and
//!   channel k + 1 at S(0, k) + t_k + `route`, or with store-and-forward at
//!   S(F - 1, k) + t_k + `route`. A free channel is granted at once; otherwise the header joins
//!   the channel's queue (first in, first out). S(0, k) is the cycle of the grant.
//! * **Body.** S(f, k), f >= 1, is the earliest cycle with
//!   - S(f, k) >= S(f, k - 1) + t_(k-1): it has arrived (k >= 1);
//!   - S(f, k) >= S(f - 1, k) + p_k: a channel carries one flit at a time;
//!   - S(f, k) >= S(f - B, k + 1) + h_(k+1): the buffer has room (f >= B, k < K). With
//!     **hand-shake** h_k = t_k: a flit occupies its buffer until it has *completed* the next
//!     crossing. **Pipelined**, h_k = 0: until it *starts* the next crossing, so that a flit
//!     may start over a channel in the cycle in which the previous one leaves the buffer there.
//! * **Release.** Channel k < K becomes free when the tail has left its buffer in the same
//!   sense, at S(F - 1, k + 1) + h_(k+1), plus `release` (`release-injection` for k = 0).
//!   Channel K becomes free at S(F - 1, K) + p_K + `release`. In particular, a pipelined
//!   channel without `release` becomes free in the same cycle in which the tail starts over the
//!   next one: a worm of F flits holds at most F channels, and when its header gets one, the
//!   channel F positions behind is released.
//! * **Sender.** A node sends and receives independently. It has one queue; a packet becomes
//!   its head when the tail of the previous packet has left, at S(F - 1, 0) + p_0, and may then
//!   still have to wait for c_0.
//! * **Receiver.** It accepts flits at once. A packet is *delivered* at S(F - 1, K) + t_K.
//! * **Virtual channels.** Those of one link share it flit by flit: in each cycle the link starts
//!   one flit (`link` must be 1). Crossings are reserved ahead as soon as they are determined, that
//!   is, when the header's progress determines everything but the link's cycle. In the order of
//!   the grants that determine them, each crossing gets the first free cycle that satisfies the
//!   conditions above, and keeps it. The header of a granted channel may thus start later than the
//!   grant; S(0, k) is then the later cycle. A worm alone on its links moves as on a mesh.
//!
//! # Order within a cycle
//!
//! 1. Releases. If several channels for which headers wait become free, the header that has
//!    waited longest (that joined its queue first) is served first. A grant may free another
//!    channel in the same cycle, which is then passed on in the same order.
//! 2. Network events: tails that leave and deliveries, in the order in which they were determined
//!    (by grants; for one grant, the leaving of a tail before a delivery). The next packet of a
//!    queue becomes head.
//! 3. Packets that the caller sends.
//! 4. Requests, in the order in which they were created: for headers on their way, at their last
//!    grant; for new heads of queues, when they became heads. Channels that a grant frees in the
//!    same cycle are passed on before the next request, as in step 1.
//!
//! A header that has to wait and is granted its channel in the same cycle has waited 0.
//!
//! # Measures
//!
//! Latency is the time from the cycle in which a packet becomes head of its queue to its delivery.
//! Blocking is the sum of S(0, k) minus the cycle of the request over channels 1 .. K.
//! [`Network::usage`] returns what channels have carried.
//!
//! # Deadlock
//!
//! Routes use channels in an order that permits no cyclic wait; on tori this is due to the second
//! virtual channel, used from the dateline (the link between last and first position) on. If
//! nothing can move nevertheless, [`Network::advance`] returns [`Stalled`], which lists the
//! waiting worms, their channels and the worms that hold them.
//!
//! # Sources
//!
//! Lo, Windisch, Liu, Nitzberg, "Noncontiguous processor allocation algorithms for
//! distributed memory multicomputers", CIS-TR-94-11, University of Oregon (hand-shake
//! constants fitted to its Table 2); Bani-Mohammad, PhD thesis, University of Glasgow 2008,
//! chapter 4 (pipelined); Dally, Seitz, IEEE Trans. Computers 36(5), 1987 (dateline); Peh,
//! Dally, HPCA 2000 (reserving links ahead). Tests
//! compare every start of every flit with the same model stepped cycle by cycle and flit by flit.

mod channel;
mod engine;
mod event_queue;
mod injection_queues;
mod link_reservations;
pub mod links;
mod log;
mod network_event;
pub mod packets;
mod settings;
mod staircase;
mod stalled;
pub mod traffic;
mod usage;
mod wiring;
mod worm;
mod worm_timing;

pub use channel::{Channel, ChannelId, Port};
pub use engine::Network;
pub use links::descriptions;
pub use log::{FlitLog, Release, Start};
pub use network_event::{Delivery, NetworkEvent, Packet, PacketError};
pub use settings::{FlowControl, Settings, SettingsError, Switching};
pub use stalled::{Stalled, Wait};
pub use usage::{Flits, Usage};

#[cfg(test)]
mod tests;
