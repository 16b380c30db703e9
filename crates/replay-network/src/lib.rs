//! Flit-level networks: wormhole, virtual cut-through and store-and-forward switching on
//! meshes, tori and hypercubes.
//!
//! A [`Network`] accepts packets and reports when their tails leave their senders and when they are delivered. Time is
//! in integer cycles. The model computes the start of every flit exactly. The cost is a few events per hop of a
//! *header*. The cost depends neither on the length of packets nor on the length of waits.
//!
//! ```
//! use replay_network::{Network, NetworkEvent, Packet, Settings};
//! use replay_engine::topology::{NodeId, Topology};
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
//! A node is a processing element and a router. Channels are unidirectional. Each node has a channel from the element
//! to its router (*injection*), a channel back to the element (*ejection*), and a channel to each neighbouring router.
//! On the wrapped axes of a torus, there are two channels (*virtual channels*) to each neighbour. Each channel has a
//! buffer at its receiving end. Routes are dimension-ordered. On meshes and tori, a route follows x, then y, then z; on
//! hypercubes, a route changes the lowest differing bit first. On a wrapped axis, a route takes the shorter direction,
//! or the upward direction if both directions are equally long. [`Channel`] defines the notation of channels. A route
//! of d hops consists of the channels c_0 (injection), c_1 .. c_d (links) and c_K (ejection), where K = d + 1.
//!
//! # Timing
//!
//! [`Settings`] defines the constants. Let S(f, k) be the cycle in which flit f of a packet of F flits starts to cross
//! channel k. A crossing takes t_k cycles (`inject`, `link` or `eject`); let p_k = max(t_k, 1). A buffer holds B flits.
//! With wormhole switching, B is `depth`; otherwise, B is F. Flit 0 is the header, and flit F - 1 is the tail.
//!
//! * **Header.** The header requests c_0 when its packet becomes head of its sender's queue. The header requests
//!   channel k + 1 at S(0, k) + t_k + `route`. With store-and-forward, the header requests this channel at S(F - 1,
//!   k) + t_k + `route`. A free channel is granted at once; otherwise the header joins the channel's queue (first in,
//!   first out). S(0, k) is the cycle of the grant.
//! * **Body.** S(f, k), f >= 1, is the earliest cycle with
//!   - S(f, k) >= S(f, k - 1) + t_(k-1): the flit has arrived (k >= 1);
//!   - S(f, k) >= S(f - 1, k) + p_k: a channel carries one flit at a time;
//!   - S(f, k) >= S(f - B, k + 1) + h_(k+1): the buffer has room (f >= B, k < K). With **hand-shake**, h_k = t_k: a
//!     flit occupies its buffer until it has *completed* the next crossing. With **pipelined** flow control, h_k = 0: a
//!     flit occupies its buffer until it *starts* the next crossing. A flit may then start to cross a channel in the
//!     cycle in which the previous flit leaves the buffer of this channel.
//! * **Release.** Channel k < K becomes free `release` cycles after the tail has left the channel's buffer, at S(F-1,
//!   k+1) + h_(k+1) + `release`; for k = 0, `release-injection` is used instead. Channel K becomes free at S(F - 1,
//!   K) + p_K + `release`. In particular, a pipelined channel without `release` becomes free in the cycle in which the
//!   tail starts to cross the next channel. A worm of F flits therefore holds at most F channels. When the header of
//!   the worm gets a channel, the channel F positions behind it is released.
//! * **Sender.** A node sends and receives independently. A node has one queue. A packet becomes head of the queue when
//!   the tail of the previous packet has left, at S(F - 1, 0) + p_0. The packet may then still have to wait for c_0.
//! * **Receiver.** The receiver accepts flits at once. A packet is *delivered* at S(F-1, K) + t_K.
//! * **Virtual channels.** The virtual channels of a link share the link flit by flit: in each cycle, one flit starts
//!   to cross the link (`link` must be 1). A crossing is reserved as soon as the progress of the header has determined
//!   all conditions on the start of the crossing, except which cycles of the link are free. Crossings are reserved in
//!   the order of the grants that determine them. Each crossing gets the first free cycle that satisfies the conditions
//!   above, and keeps this cycle. The header may thus start to cross a channel later than the channel is granted; S(0,
//!   k) is then the later cycle. A worm that shares its links with no other worm moves as on a mesh.
//!
//! # Order within a cycle
//!
//! 1. Releases. If several channels for which headers wait become free, the header that joined its queue first is
//!    served first. A grant may free another channel in the same cycle. The freed channel is then also granted to the
//!    header that joined its queue first.
//! 2. Network events: tails leave and packets are delivered. Network events are in the order of the grants that
//!    determined them. If one grant determines both events of a packet, the tail leaves before the delivery. When a
//!    tail has left, the next packet of the queue becomes head.
//! 3. Packets that the caller sends.
//! 4. Requests, in the order in which they were created. The request of a header on its way is created when the header
//!    gets its last channel; the request of a new head of a queue is created when its packet becomes head. If a grant
//!    frees channels in the same cycle, these channels are granted before the next request is processed, as in step 1.
//!
//! A header that has to wait and is granted its channel in the same cycle has a waiting time of 0.
//!
//! # Measures
//!
//! Latency is the time from the cycle in which a packet becomes head of its queue to its delivery. Blocking is the
//! total time for which the header waits for the channels 1 to K. The wait for channel k is S(0, k) minus the cycle in
//! which the header requests this channel. [`Network::usage`] returns the traffic of each channel.
//!
//! # Deadlock
//!
//! Routes use channels in an order that permits no cyclic wait. On tori, this order requires the second virtual
//! channel, which packets use from the dateline on. The dateline is the link between the last and the first position of
//! a wrapped axis. If no packet can move despite this order, [`Network::advance`] returns [`Stalled`]. The error lists
//! the waiting worms, the channels for which they wait, and the worms that hold these channels.
//!
//! # Sources
//!
//! Lo, Windisch, Liu, Nitzberg, "Noncontiguous processor allocation algorithms for distributed
//! memory multicomputers", CIS-TR-94-11, University of Oregon (hand-shake constants fitted to its
//! Table 2); Bani-Mohammad, PhD thesis, University of Glasgow 2008, chapter 4 (pipelined); Dally,
//! Seitz, IEEE Trans. Computers 36(5), 1987 (dateline); Peh, Dally, HPCA 2000 (reserving links
//! ahead). Tests compare every delivery with a reference implementation of the model that simulates
//! every cycle and every flit.

mod channel;
mod engine;
mod event_queue;
mod injection_queues;
mod link_reservations;
pub mod links;
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
pub use network_event::{Delivery, NetworkEvent, Packet, PacketError};
pub use settings::{FlowControl, Settings, SettingsError, Switching};
pub use stalled::{Stalled, Wait};
pub use usage::{Flits, Usage};

#[cfg(test)]
mod tests;
