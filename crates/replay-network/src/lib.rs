//! Flit-level networks: wormhole, virtual cut-through and store-and-forward switching on
//! meshes, tori and hypercubes.
//!
//! A [`Network`] takes packets and tells when their tails have left their senders and when
//! they are delivered. Time is in integer cycles; the model is exact to the flit, yet its
//! cost is a few events per hop of a *header*, whatever the length of packets and of waits.
//!
//! ```
//! use replay_network::{Network, NetworkEvent, Packet, Settings};
//! use replay_core::topology::{NodeId, Topology};
//!
//! let mesh: Topology = "16x16".parse()?;
//! let mut network = Network::new(&mesh, Settings::LO)?;
//! // From (0,0) to (2,1).
//! network.send(Packet { src: NodeId(0), dst: NodeId(33), flits: 8, tag: 7 })?;
//! let mut notices = Vec::new();
//! while let Some(cycle) = network.advance(None, &mut notices)? {
//!     for notice in &notices {
//!         if let NetworkEvent::Delivered(packet) = notice {
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
//! router, two (*virtual channels*) on the wrapped axes of a torus. Each has a buffer at its
//! receiving end. Routes are dimension-ordered, see [`Channel`] for how channels are written:
//! x, y, z on meshes and tori, lowest differing bit first on hypercubes, the shorter way
//! round a torus (upwards if both are equal). A route of d hops is the channels c_0
//! (injection), c_1 .. c_d, c_K (ejection), K = d + 1.
//!
//! # Timing
//!
//! The constants are those of [`Settings`]. Let S(f, k) be the cycle in which flit f of a
//! packet of F flits starts to cross channel k, t_k the cycles of a crossing (`inject`,
//! `link` or `eject`), p_k = max(t_k, 1), and B the flits that a buffer holds: `depth` with
//! wormhole switching, else F. Flit 0 is the header, flit F - 1 the tail.
//!
//! * **Header.** It asks for c_0 when its packet becomes head of its sender's queue; for
//!   channel k + 1 at S(0, k) + t_k + `route`, with store-and-forward at
//!   S(F - 1, k) + t_k + `route`. A free channel is its own at once; else it joins the
//!   channel's queue (first in, first out). S(0, k) is the cycle of the grant.
//! * **Body.** S(f, k), f >= 1, is the earliest cycle with
//!   - S(f, k) >= S(f, k - 1) + t_(k-1): it has arrived (k >= 1);
//!   - S(f, k) >= S(f - 1, k) + p_k: a channel carries one flit at a time;
//!   - S(f, k) >= S(f - B, k + 1) + h_(k+1): the buffer has room (f >= B, k < K). With
//!     **hand-shake** h_k = t_k: a flit holds its place until it has *completed* the next
//!     crossing. **Pipelined**, h_k = 0: until it *starts* the next crossing, so that a flit
//!     may start over a channel in the cycle in which the one before leaves the buffer there.
//! * **Release.** Channel k < K becomes free when the tail has left its buffer in the same
//!   sense, S(F - 1, k + 1) + h_(k+1), plus `release` (`release-injection` for k = 0).
//!   Channel K becomes free at S(F - 1, K) + p_K + `release`. In particular a pipelined
//!   channel without `release` is free in the very cycle in which the tail starts over the
//!   next one: a worm of F flits holds F channels at most, and as its header takes one, the
//!   channel F places behind is another's.
//! * **Sender.** A node sends and receives independently. It has one queue; a packet becomes
//!   its head when the tail of the one before has left, at S(F - 1, 0) + p_0, and may then
//!   still have to wait for c_0.
//! * **Receiver.** It takes flits at once. *Delivered* is S(F - 1, K) + t_K.
//! * **Virtual channels.** Those of one link share it flit by flit: in one cycle it starts
//!   one flit (`link` must be 1). Crossings are booked ahead when they are settled, that is,
//!   when the header's progress settles all but the link's cycle: in the order of the grants
//!   that settle them, each takes the first free cycle that suits it, and keeps it. A header
//!   that is granted its channel may thus start later than the grant; S(0, k) is then the
//!   later cycle. A worm alone on its links moves as it would on a mesh.
//!
//! # Order within a cycle
//!
//! 1. Releases. If several channels for which headers wait become free, the header that has
//!    waited longest (that joined its queue first) is served first. A grant may free another
//!    channel in this very cycle: it joins those to be passed on, in the same order.
//! 2. Notices: tails that leave and deliveries, in the order in which they were settled (by
//!    the grants that settled them; for one grant, a tail's leaving before a delivery). A
//!    queue's next packet becomes head.
//! 3. What the user sends.
//! 4. Requests, in the order in which they were created: those of headers on their way at
//!    their last grant, those of heads of queues as they became heads. Channels that a grant
//!    frees in this very cycle are passed on before the next request, as in step 1.
//!
//! A header that has to wait and is granted its channel in the same cycle has waited 0.
//!
//! # Measures
//!
//! Latency runs from the cycle in which a packet became head of its queue to its delivery;
//! blocking is the sum of S(0, k) less the request over channels 1 .. K. What channels have
//! carried is [`Network::usage`].
//!
//! # Deadlock
//!
//! Routes take channels in an order that admits no cycle of waits, on tori by the second
//! virtual channel from the dateline (the link between last and first position) on. If nothing
//! can move all the same, [`Network::advance`] says which worm waits for which channel held
//! by which worm: [`Stalled`].
//!
//! # Sources
//!
//! Lo, Windisch, Liu, Nitzberg, "Noncontiguous processor allocation algorithms for
//! distributed memory multicomputers", CIS-TR-94-11, University of Oregon (hand-shake
//! constants fitted to its Table 2); Bani-Mohammad, PhD thesis, University of Glasgow 2008,
//! chapter 4 (pipelined); Dally, Seitz, IEEE Trans. Computers 36(5), 1987 (dateline); Peh,
//! Dally, HPCA 2000 (booking links ahead). Tests
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
