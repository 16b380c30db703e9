//! The event-driven engine.
//!
//! There are three kinds of events: a header requests a channel, a channel for which a header waits is released, or a
//! network event is reported to the caller. The engine does not simulate every single flit. When a header gets a
//! channel, the engine computes the cycles in which the flits behind the header move. These cycles determine when the
//! channels at the worm's tail become free. A hop costs at most two events and no allocation; memory is proportional to
//! the number of packets in flight, not to the number of packets sent.

mod diagnosis;
mod grant;

use super::channel::{Channel, ChannelId};
use super::event_queue::{Event, EventQueue};
use super::injection_queues::InjectionQueues;
use super::link_reservations::LinkReservations;
use super::network_event::{Delivery, NetworkEvent, Packet, PacketError};
use super::settings::{Settings, SettingsError};
use super::stalled::Stalled;
use super::usage::{ChannelState, Flits, NONE, UNKNOWN, Usage};
use super::wiring::{Kind, Leg, Wiring};
use super::worm::{Label, Walker, Worm};
use super::worm_timing::WormTiming;
use replay_engine::topology::{NodeId, Topology};

/// The state of a network with its packets. See the [module](super) for its rules and an example.
#[derive(Clone, Debug)]
pub struct Network {
    settings: Settings,
    timing: WormTiming,
    /// Whether the timing of worms has a closed form.
    closed: bool,
    wiring: Wiring,
    queue: EventQueue,
    states: Vec<ChannelState>,
    injection_queues: InjectionQueues,
    worms: Vec<Worm>,
    labels: Vec<Label>,
    /// Routes of the worms. The route of each worm occupies `max_legs` entries.
    legs: Vec<Leg>,
    max_legs: usize,
    /// Latest starts of the flits of each worm; used only if the timing has no closed form.
    latest: Vec<Vec<u64>>,
    rows: Vec<u64>,
    tails: Vec<(u32, u64)>,
    reservations: LinkReservations,
    vacant: Vec<u32>,
    /// Number of headers that have had to wait so far.
    joins: u64,
    in_flight: usize,
}

impl Network {
    /// Creates an empty network at cycle 0.
    ///
    /// # Errors
    /// [`SettingsError`] if a constant is out of range, if links of a torus take a number of cycles other than one, or
    /// if the machine consists of several tori.
    pub fn new(topology: &Topology, settings: Settings) -> Result<Self, SettingsError> {
        if let Topology::MultiTorus(_) | Topology::Hierarchy(_) = topology {
            return Err(SettingsError::NoLinks(topology.to_string()));
        }
        Self::wired(Wiring::new(topology), settings)
    }

    /// Creates a network with a single virtual channel per link, in which tori can deadlock.
    #[cfg(test)]
    pub(super) fn without_dateline(
        topology: &Topology,
        settings: Settings,
    ) -> Result<Self, SettingsError> {
        Self::wired(Wiring::with_lanes(topology, 1), settings)
    }

    fn wired(wiring: Wiring, settings: Settings) -> Result<Self, SettingsError> {
        settings.validate()?;
        let shares_links = wiring.shares_links();
        if shares_links && settings.link != 1 {
            return Err(SettingsError::SlowTorus(settings.link));
        }
        let timing = WormTiming::new(&settings);
        Ok(Self {
            settings,
            timing,
            closed: timing.closed && !shares_links,
            queue: EventQueue::new(),
            states: vec![ChannelState::FREE; wiring.channels()],
            injection_queues: InjectionQueues::new(wiring.nodes()),
            worms: Vec::new(),
            labels: Vec::new(),
            legs: Vec::new(),
            max_legs: wiring.max_legs(),
            latest: Vec::new(),
            rows: Vec::new(),
            tails: Vec::new(),
            reservations: LinkReservations::new(if shares_links {
                wiring.channels() / 2
            } else {
                0
            }),
            vacant: Vec::new(),
            joins: 0,
            in_flight: 0,
            wiring,
        })
    }

    /// Returns the constants of the network.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the current cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.queue.now()
    }

    /// Returns the number of packets sent and not yet delivered.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Adds a packet to its sender's queue in the current cycle. If the queue is empty, the packet becomes head of the
    /// queue at once.
    ///
    /// # Errors
    /// [`PacketError`] if a node does not exist or the length is out of range; the network is then
    /// unchanged.
    pub fn send(&mut self, packet: Packet) -> Result<(), PacketError> {
        let nodes = self.wiring.nodes();
        if let Some(node) = [packet.src, packet.dst].into_iter().find(|node| node.index() >= nodes)
        {
            return Err(PacketError::NoSuchNode { node: node.0, nodes });
        }
        if !(1..=Packet::MAX_FLITS).contains(&packet.flits) {
            return Err(PacketError::Length(packet.flits));
        }
        self.in_flight += 1;
        if self.injection_queues.enqueue(&packet) {
            self.start(packet);
        }
        Ok(())
    }

    /// Advances to the next cycle with network events and writes these events to `events`, which is cleared first. The
    /// module's documentation defines the order of events. Packets that the caller sends after the call are sent in the
    /// cycle that the call has reached.
    ///
    /// Returns `None` if there are no more events or, with `until`, no more events by cycle `until`. With `until`, the
    /// network has then reached cycle `until`: all events before this cycle are processed, and packets can be sent in
    /// this cycle. If `until` is not given and the call returns `None`, all packets have been delivered.
    ///
    /// # Errors
    /// [`Stalled`] if packets are in flight and no packet can ever move.
    pub fn advance(
        &mut self,
        until: Option<u64>,
        events: &mut Vec<NetworkEvent>,
    ) -> Result<Option<u64>, Stalled> {
        events.clear();
        loop {
            self.release_due();
            while let Some(what) = self.queue.next_network_event() {
                self.report(what, events);
            }
            let now = self.queue.now();
            if !events.is_empty() {
                return Ok(Some(now));
            }
            if until.is_some_and(|until| until <= now) {
                return Ok(None);
            }
            while let Some(worm) = self.queue.next_request() {
                self.request(worm);
                self.release_due();
            }
            if self.queue.has_network_event() {
                continue;
            }
            match (self.queue.next_busy(), until) {
                (Some(next), Some(until)) if until < next => self.queue.go_to(until),
                (Some(next), _) => self.queue.go_to(next),
                (None, _) if self.in_flight > 0 => return Err(self.diagnosis()),
                (None, Some(until)) => self.queue.go_to(until),
                (None, None) => return Ok(None),
            }
        }
    }

    /// Returns the traffic that each channel has carried so far, in the order of channel numbers.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.states.iter().enumerate().filter_map(|(id, state)| {
            let channel = self.wiring.channel(ChannelId(id as u32))?;
            Some(state.usage(channel, self.now()))
        })
    }

    /// Returns the links that have carried flits so far, with separate entries for the virtual channels of a link. An
    /// entry consists of the channel, the number of cycles for which the channel was reserved, and the number of flits
    /// of the packets that were granted the channel. This function is cheaper than [`usage`](Self::usage), which also
    /// formats the channels.
    pub fn carried(&self) -> impl Iterator<Item = (ChannelId, u64, u64)> + '_ {
        let now = self.now();
        self.states.iter().enumerate().filter_map(move |(id, state)| {
            let carried = state.flits() > 0 && self.wiring.kind(id as u32) == Kind::Link;
            carried.then(|| (ChannelId(id as u32), state.busy(now), state.flits()))
        })
    }

    /// Returns the links of the route from one node to another, in order.
    pub fn route(&self, src: NodeId, dst: NodeId) -> impl Iterator<Item = ChannelId> {
        let mut legs = vec![Leg::default(); self.max_legs];
        let hops = self.wiring.route(src, dst, &mut legs);
        let mut walker = Walker::new(&legs);
        (0..hops).map(move |_| {
            walker.step(&legs);
            ChannelId(walker.channel)
        })
    }

    /// Returns the channel with the given number; `None` if no channel has this number.
    pub fn channel(&self, id: ChannelId) -> Option<Channel> {
        self.wiring.channel(id)
    }

    /// Returns the exclusive upper bound of channel numbers, which is the length of per-channel arrays.
    pub fn channels(&self) -> usize {
        self.states.len()
    }

    /// Returns the numbers of flits that have been granted a crossing so far, for each kind of channel. A packet is
    /// counted at a channel when its header gets the channel. The time of a call is proportional to the number of
    /// channels.
    pub fn flits(&self) -> Flits {
        let mut flits = Flits::default();
        for (id, state) in self.states.iter().enumerate() {
            *match self.wiring.kind(id as u32) {
                Kind::Injection => &mut flits.injection,
                Kind::Ejection => &mut flits.ejection,
                Kind::Link => &mut flits.links,
            } += state.flits();
        }
        flits
    }

    /// Returns the numbers of worms and of queued packets for which memory is allocated.
    #[cfg(test)]
    pub(super) fn places(&self) -> (usize, usize) {
        (self.worms.len(), self.injection_queues.places())
    }

    /// Creates the worm of a packet that has become head of its sender's queue.
    fn start(&mut self, packet: Packet) {
        let Packet { src, dst, flits, tag } = packet;
        let clock = self.queue.now();
        let label = Label { tag, src, dst, clock, head_arrived: 0, joined: 0, half_done: false };
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.worms.push(Worm::default());
            self.labels.push(label.clone());
            self.legs.resize(self.legs.len() + self.max_legs, Leg::default());
            self.latest.push(Vec::new());
            self.worms.len() as u32 - 1
        });
        let i = slot as usize;
        let legs = &mut self.legs[i * self.max_legs..][..self.max_legs];
        let hops = self.wiring.route(src, dst, legs);
        let first = Walker::new(legs);
        self.worms[i] = Worm { head: first, tail: first, last: hops + 1, flits, ..Worm::default() };
        self.labels[i] = label;
        self.latest[i].clear();
        self.queue.enter(clock, Event::Request(slot));
    }

    /// Requests the next channel for a header.
    #[inline]
    fn request(&mut self, slot: u32) {
        let now = self.queue.now();
        let worm = &mut self.worms[slot as usize];
        worm.asked = now;
        let channel = worm.head.channel;
        let state = &mut self.states[channel as usize];
        if state.free_at <= now {
            debug_assert_eq!(state.first, NONE);
            return self.grant(slot);
        }
        worm.next = NONE;
        self.joins += 1;
        self.labels[slot as usize].joined = self.joins;
        if state.first == NONE {
            state.first = slot;
            if state.free_at != UNKNOWN {
                self.queue.enter(state.free_at, Event::Release(channel));
            }
        } else {
            self.worms[state.last as usize].next = slot;
        }
        state.last = slot;
    }

    /// Grants the channels that become free in this cycle to the headers that wait for them.
    #[inline]
    fn release_due(&mut self) {
        loop {
            let Self { queue, states, labels, .. } = self;
            let joined = |channel: u32| labels[states[channel as usize].first as usize].joined;
            let Some(channel) = queue.next_release(joined) else { return };
            let state = &mut states[channel as usize];
            let slot = state.first;
            state.first = self.worms[slot as usize].next;
            self.grant(slot);
        }
    }

    /// Reports an event of the worm `what >> 1`. If bit 0 of `what` is set, the packet is delivered; otherwise the tail
    /// leaves the sender.
    fn report(&mut self, what: u32, events: &mut Vec<NetworkEvent>) {
        let (slot, i) = (what >> 1, (what >> 1) as usize);
        let label = &mut self.labels[i];
        let (tag, src) = (label.tag, label.src);
        if std::mem::replace(&mut label.half_done, true) {
            self.vacant.push(slot);
        }
        if what & 1 == 0 {
            events.push(NetworkEvent::TailLeft { tag, src });
            if let Some(next) = self.injection_queues.tail_left(src) {
                self.start(next);
            }
            return;
        }
        let worm = &self.worms[i];
        events.push(NetworkEvent::Delivered(Delivery {
            tag,
            src,
            dst: label.dst,
            flits: worm.flits,
            hops: worm.last - 1,
            head_arrived: label.head_arrived,
            latency: self.queue.now() - label.clock,
            blocked: worm.blocked,
        }));
        self.in_flight -= 1;
    }
}
