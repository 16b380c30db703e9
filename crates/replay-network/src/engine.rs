//! The event-driven engine.
//!
//! An event is a header that asks for a channel, a channel that becomes free while a header
//! waits for it, or something to tell the outside. Flits are never stepped: when a header
//! gets a channel, it is settled when the flits behind it move, and with them when the
//! channels at the worm's tail become free. A hop costs two events at most and no
//! allocation; memory grows with packets in flight, not with packets sent.

mod diagnosis;
mod grant;

use super::bookings::Bookings;
use super::calendar::{Calendar, Event};
use super::channel::{Channel, ChannelId};
use super::log::FlitLog;
use super::notice::{Delivery, Notice, Packet, PacketError};
use super::pace::Pace;
use super::senders::Senders;
use super::settings::{Settings, SettingsError};
use super::stalled::Stalled;
use super::usage::{Flits, Line, NONE, UNKNOWN, Usage};
use super::wiring::{Kind, Leg, Wiring};
use super::worm::{Label, Walker, Worm};
use replay_core::topology::{NodeId, Topology};

/// A network with its packets, at some cycle. See the [module](super) for its rules and an
/// example.
#[derive(Clone, Debug)]
pub struct Network {
    settings: Settings,
    pace: Pace,
    /// Whether worms move in closed form.
    closed: bool,
    wiring: Wiring,
    calendar: Calendar,
    lines: Vec<Line>,
    senders: Senders,
    worms: Vec<Worm>,
    labels: Vec<Label>,
    /// Routes, `most_legs` to a worm.
    legs: Vec<Leg>,
    most_legs: usize,
    /// Latest starts of the flits of each worm that does not move in closed form.
    latest: Vec<Vec<u64>>,
    rows: Vec<u64>,
    tails: Vec<(u32, u64)>,
    bookings: Bookings,
    vacant: Vec<u32>,
    /// Headers that have had to wait so far.
    joins: u64,
    in_flight: usize,
    log: Option<Box<FlitLog>>,
}

impl Network {
    /// An empty network at cycle 0.
    ///
    /// # Errors
    /// [`SettingsError`] if a constant is out of range, a torus' links are slow, or the machine is several
    /// tori.
    pub fn new(topology: &Topology, settings: Settings) -> Result<Self, SettingsError> {
        if let Topology::Toruses(_) | Topology::Hierarchy(_) = topology {
            return Err(SettingsError::NoLinks(topology.to_string()));
        }
        Self::wired(Wiring::new(topology), settings)
    }

    /// A network in which tori can deadlock, as there is only one virtual channel.
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
        let pace = Pace::new(&settings);
        Ok(Self {
            settings,
            pace,
            closed: pace.closed && !shares_links,
            calendar: Calendar::new(),
            lines: vec![Line::FREE; wiring.channels()],
            senders: Senders::new(wiring.nodes()),
            worms: Vec::new(),
            labels: Vec::new(),
            legs: Vec::new(),
            most_legs: wiring.most_legs(),
            latest: Vec::new(),
            rows: Vec::new(),
            tails: Vec::new(),
            bookings: Bookings::new(if shares_links { wiring.channels() / 2 } else { 0 }),
            vacant: Vec::new(),
            joins: 0,
            in_flight: 0,
            log: None,
            wiring,
        })
    }

    /// The constants.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The present cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.calendar.now()
    }

    /// Packets handed over and not yet delivered.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Hands a packet to its sender's queue in the present cycle. If the queue is empty the
    /// packet is its head at once.
    ///
    /// # Errors
    /// [`PacketError`] if there is no such node, or the length is out of range; the network
    /// is as before.
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
        if self.senders.hand_over(&packet) {
            self.start(packet);
        }
        Ok(())
    }

    /// Goes to the next cycle that has something to tell and fills `notices`, which it
    /// empties first, in the order of the module's documentation. What the caller then sends
    /// is sent in that cycle.
    ///
    /// `None` if there is nothing more to tell: either the cycle `until` has come (all before
    /// it is done; packets can be sent in it), or, without `until`, everything is delivered.
    ///
    /// # Errors
    /// [`Stalled`] if packets are in flight and none will ever move.
    pub fn advance(
        &mut self,
        until: Option<u64>,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<u64>, Stalled> {
        notices.clear();
        loop {
            self.release_due();
            while let Some(what) = self.calendar.next_notice() {
                self.notice(what, notices);
            }
            let now = self.calendar.now();
            if !notices.is_empty() {
                return Ok(Some(now));
            }
            if until.is_some_and(|until| until <= now) {
                return Ok(None);
            }
            while let Some(worm) = self.calendar.next_request() {
                self.request(worm);
                self.release_due();
            }
            if self.calendar.has_notice() {
                continue;
            }
            match (self.calendar.next_busy(), until) {
                (Some(next), Some(until)) if until < next => self.calendar.go_to(until),
                (Some(next), _) => self.calendar.go_to(next),
                (None, _) if self.in_flight > 0 => return Err(self.diagnosis()),
                (None, Some(until)) => self.calendar.go_to(until),
                (None, None) => return Ok(None),
            }
        }
    }

    /// What every channel has carried so far, by number.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.lines.iter().enumerate().filter_map(|(id, line)| {
            let channel = self.wiring.channel(ChannelId(id as u32))?;
            Some(line.usage(channel, self.now()))
        })
    }

    /// The links that have carried anything so far, each virtual channel by itself: the channel, the cycles
    /// for which it was reserved, and the flits of the packets it was granted to. As [`usage`](Self::usage)
    /// without the words.
    pub fn carried(&self) -> impl Iterator<Item = (ChannelId, u64, u64)> + '_ {
        let now = self.now();
        self.lines.iter().enumerate().filter_map(move |(id, line)| {
            let carried = line.flits() > 0 && self.wiring.kind(id as u32) == Kind::Link;
            carried.then(|| (ChannelId(id as u32), line.busy(now), line.flits()))
        })
    }

    /// The links of the route from one node to another, in its order.
    pub fn route(&self, src: NodeId, dst: NodeId) -> impl Iterator<Item = ChannelId> {
        let mut legs = vec![Leg::default(); self.most_legs];
        let hops = self.wiring.route(src, dst, &mut legs);
        let mut walker = Walker::new(&legs);
        (0..hops).map(move |_| {
            walker.step(&legs);
            ChannelId(walker.channel)
        })
    }

    /// What a channel's number stands for; `None` for one that stands for no channel.
    pub fn channel(&self, id: ChannelId) -> Option<Channel> {
        self.wiring.channel(id)
    }

    /// Channel numbers are below this.
    pub fn channels(&self) -> usize {
        self.lines.len()
    }

    /// Flits that have been granted a crossing so far, by kind of channel: a packet counts at
    /// a channel when its header gets it. Costs a look at every channel.
    pub fn flits(&self) -> Flits {
        let mut flits = Flits::default();
        for (id, line) in self.lines.iter().enumerate() {
            *match self.wiring.kind(id as u32) {
                Kind::Injection => &mut flits.injection,
                Kind::Ejection => &mut flits.ejection,
                Kind::Link => &mut flits.links,
            } += line.flits();
        }
        flits
    }

    /// Worms and queued packets that there is room for.
    #[cfg(test)]
    pub(super) fn places(&self) -> (usize, usize) {
        (self.worms.len(), self.senders.places())
    }

    /// Records from now on every crossing and release: costs time and memory by the flit.
    pub fn record(&mut self) {
        self.log.get_or_insert_default();
    }

    /// Takes out what has been recorded since [`Network::record`] or the last call.
    pub fn take_log(&mut self) -> FlitLog {
        self.log.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A packet becomes head of its sender's queue.
    fn start(&mut self, packet: Packet) {
        let Packet { src, dst, flits, tag } = packet;
        let clock = self.calendar.now();
        let label = Label { tag, src, dst, clock, head_arrived: 0, joined: 0, half_done: false };
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.worms.push(Worm::default());
            self.labels.push(label.clone());
            self.legs.resize(self.legs.len() + self.most_legs, Leg::default());
            self.latest.push(Vec::new());
            self.worms.len() as u32 - 1
        });
        let i = slot as usize;
        let legs = &mut self.legs[i * self.most_legs..][..self.most_legs];
        let hops = self.wiring.route(src, dst, legs);
        let first = Walker::new(legs);
        self.worms[i] = Worm { head: first, tail: first, last: hops + 1, flits, ..Worm::default() };
        self.labels[i] = label;
        self.latest[i].clear();
        self.calendar.enter(clock, Event::Request(slot));
    }

    /// A header asks for its next channel.
    #[inline]
    fn request(&mut self, slot: u32) {
        let now = self.calendar.now();
        let worm = &mut self.worms[slot as usize];
        worm.asked = now;
        let channel = worm.head.channel;
        let line = &mut self.lines[channel as usize];
        if line.free_at <= now {
            debug_assert_eq!(line.first, NONE);
            return self.grant(slot);
        }
        worm.next = NONE;
        self.joins += 1;
        self.labels[slot as usize].joined = self.joins;
        if line.first == NONE {
            line.first = slot;
            if line.free_at != UNKNOWN {
                self.calendar.enter(line.free_at, Event::Release(channel));
            }
        } else {
            self.worms[line.last as usize].next = slot;
        }
        line.last = slot;
    }

    /// The channels that become free in this cycle go to the headers that wait for them.
    #[inline]
    fn release_due(&mut self) {
        loop {
            let Self { calendar, lines, labels, .. } = self;
            let joined = |channel: u32| labels[lines[channel as usize].first as usize].joined;
            let Some(channel) = calendar.next_release(joined) else { return };
            let line = &mut lines[channel as usize];
            let slot = line.first;
            line.first = self.worms[slot as usize].next;
            self.grant(slot);
        }
    }

    /// What the outside learns of a worm: bit 0 tells the two kinds apart.
    fn notice(&mut self, what: u32, notices: &mut Vec<Notice>) {
        let (slot, i) = (what >> 1, (what >> 1) as usize);
        let label = &mut self.labels[i];
        let (tag, src) = (label.tag, label.src);
        if std::mem::replace(&mut label.half_done, true) {
            self.vacant.push(slot);
        }
        if what & 1 == 0 {
            notices.push(Notice::TailLeft { tag, src });
            if let Some(next) = self.senders.tail_left(src) {
                self.start(next);
            }
            return;
        }
        let worm = &self.worms[i];
        notices.push(Notice::Delivered(Delivery {
            tag,
            src,
            dst: label.dst,
            flits: worm.flits,
            hops: worm.last - 1,
            head_arrived: label.head_arrived,
            latency: self.calendar.now() - label.clock,
            blocked: worm.blocked,
        }));
        self.in_flight -= 1;
    }
}
