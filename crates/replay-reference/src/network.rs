//! The network stepped cycle by cycle and flit by flit, with which the event-driven
//! [`Network`](replay_network::Network) is compared.
//!
//! It shares no code with the engine but [`Settings`]: every cycle it tries to start every
//! flit that has not started, by the conditions in the documentation of [`replay_network`]. Cost per cycle: all flits in flight.

mod routes;

use std::collections::{BTreeMap, HashMap, VecDeque};

use routes::Key;

use replay_core::topology::{NodeId, Topology};
use replay_network::{FlowControl, Settings, Switching};

/// A packet that is handed over at a given cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainPacket {
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// Length, at least 1.
    pub flits: u32,
    /// Cycle at which it is handed to the sender's queue.
    pub cycle: u64,
}

/// What became of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlainDelivery {
    /// Cycle at which it became head of its queue.
    pub clock: u64,
    /// Cycle at which its tail had reached the receiver.
    pub delivered: u64,
    /// Waits of its header, injection excluded.
    pub blocked: u64,
    /// Links crossed.
    pub hops: u32,
    /// `starts[f][k]`: cycle at which flit f started to cross channel k.
    pub starts: Vec<Vec<u64>>,
}

#[derive(Default)]
struct PlainChannel {
    held: bool,
    free_at: Option<u64>,
    waiting: VecDeque<usize>,
    /// The physical link, if another virtual channel uses it too.
    link: Option<usize>,
}

struct Worm {
    packet: PlainPacket,
    path: Vec<usize>,
    starts: Vec<Vec<Option<u64>>>,
    /// Flits a buffer holds.
    depth: usize,
    clock: u64,
    asked: u64,
    joined: u64,
    granted: usize,
    blocked: u64,
    delivered: Option<u64>,
}

/// The stepped network.
pub struct Plain {
    topology: Topology,
    settings: Settings,
    now: u64,
    channels: Vec<PlainChannel>,
    /// Channels whose `free_at` is known.
    closing: Vec<usize>,
    numbers: HashMap<Key, usize>,
    /// Last cycle in which a flit started on a shared link.
    link_used: Vec<Option<u64>>,
    worms: Vec<Worm>,
    queues: BTreeMap<u32, VecDeque<usize>>,
    /// Grants whose flits have not all started: (worm, channel's place on its path).
    waves: Vec<(usize, usize)>,
    /// Headers that will ask for their next channel, in the order in which that was settled.
    requests: Vec<usize>,
    /// Tails that leave their sender, with the cycle.
    departures: Vec<(u64, usize)>,
    joins: u64,
    flit_hops: u64,
    in_flight: usize,
}

/// Replays packets, which must be sorted by cycle, to the last delivery. `None` if that
/// takes more than `limit` cycles.
pub fn run(
    topology: &Topology,
    settings: Settings,
    packets: &[PlainPacket],
    limit: u64,
) -> Option<Vec<PlainDelivery>> {
    let mut plain = Plain::new(topology, settings);
    let mut left = packets;
    while plain.now < limit {
        let (due, rest) = left.split_at(left.partition_point(|p| p.cycle <= plain.now));
        left = rest;
        plain.step(due);
        if left.is_empty() && plain.in_flight == 0 {
            return Some(plain.worms.iter().map(Worm::delivery).collect());
        }
    }
    None
}

impl Plain {
    /// An empty network at cycle 0.
    pub fn new(topology: &Topology, settings: Settings) -> Self {
        Self {
            topology: topology.clone(),
            settings,
            now: 0,
            channels: Vec::new(),
            closing: Vec::new(),
            numbers: HashMap::new(),
            link_used: Vec::new(),
            worms: Vec::new(),
            queues: BTreeMap::new(),
            waves: Vec::new(),
            requests: Vec::new(),
            departures: Vec::new(),
            joins: 0,
            flit_hops: 0,
            in_flight: 0,
        }
    }

    /// Cycles simulated so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Flits that have crossed a channel of any kind.
    pub fn flit_hops(&self) -> u64 {
        self.flit_hops
    }

    /// Packets handed over whose last flit has not started to leave the network.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// One cycle, in which `packets` are handed over.
    pub fn step(&mut self, packets: &[PlainPacket]) {
        self.move_flits(0);
        self.release();
        self.depart();
        for &packet in packets {
            self.hand_over(packet);
        }
        // Requests may be added to this cycle's while they are served.
        while let Some(i) = self.requests.iter().position(|&worm| self.is_due(worm)) {
            let worm = self.requests.remove(i);
            self.request(worm);
            self.release();
        }
        self.now += 1;
    }

    /// Cycles of a crossing of channel k of a path that ends with channel `last`.
    fn cross(&self, k: usize, last: usize) -> u64 {
        u64::from(match k {
            0 => self.settings.inject,
            k if k == last => self.settings.eject,
            _ => self.settings.link,
        })
    }

    /// Tries all flits of the waves from the given one on, in order of the grants.
    fn move_flits(&mut self, first: usize) {
        for i in first..self.waves.len() {
            let (worm, granted) = self.waves[i];
            let (depth, last) = (self.worms[worm].depth, self.worms[worm].path.len() - 1);
            for f in 0..self.worms[worm].starts.len() {
                let leading = granted.checked_sub(f / depth);
                let from = match leading {
                    Some(k) => k,
                    None if granted == last => 0,
                    None => break,
                };
                let to = if granted == last { last } else { from };
                for k in from..=to {
                    self.try_to_start(worm, f, k);
                }
            }
        }
        let worms = &self.worms;
        self.waves.retain(|&(worm, granted)| {
            let Worm { depth, path, starts, .. } = &worms[worm];
            let tail = starts.len() - 1;
            let all_started = if granted == path.len() - 1 {
                starts[tail][granted].is_some()
            } else {
                let flits = starts.iter().enumerate();
                let mut wave =
                    flits.filter_map(|(f, row)| Some(row[granted.checked_sub(f / depth)?]));
                wave.all(|start| start.is_some())
            };
            !all_started
        });
    }

    fn try_to_start(&mut self, worm: usize, f: usize, k: usize) {
        let now = self.now;
        let Worm { path, starts, depth, .. } = &self.worms[worm];
        let (last, tail) = (path.len() - 1, starts.len() - 1);
        if starts[f][k].is_some() {
            return;
        }
        let by = |start: Option<u64>, cycles: u64| start.is_some_and(|start| start + cycles <= now);
        let handshake = |k: usize| match self.settings.flow {
            FlowControl::Handshake => self.cross(k, last),
            FlowControl::Pipelined => 0,
        };
        let has_arrived = k == 0 || by(starts[f][k - 1], self.cross(k - 1, last));
        let channel_is_idle = f == 0 || by(starts[f - 1][k], self.cross(k, last).max(1));
        let has_room = f < *depth || k == last || by(starts[f - depth][k + 1], handshake(k + 1));
        let link = self.channels[path[k]].link;
        let link_is_idle = link.is_none_or(|link| self.link_used[link] != Some(now));
        if !(has_arrived && channel_is_idle && has_room && link_is_idle) {
            return;
        }
        if f == tail {
            let release = u64::from(self.settings.release);
            if k == 0 {
                self.departures.push((now + self.cross(0, last).max(1), worm));
            } else {
                let kept =
                    if k == 1 { u64::from(self.settings.release_injection) } else { release };
                let free_at = now + handshake(k) + kept;
                self.channels[path[k - 1]].free_at = Some(free_at);
                self.closing.push(path[k - 1]);
            }
            if k == last {
                let free_at = now + self.cross(k, last).max(1) + release;
                self.channels[path[k]].free_at = Some(free_at);
                self.closing.push(path[k]);
                self.in_flight -= 1;
                self.worms[worm].delivered = Some(now + self.cross(k, last));
            }
        }
        if f == 0 && k > 0 {
            self.worms[worm].blocked += now - self.worms[worm].asked;
        }
        if let Some(link) = link {
            self.link_used[link] = Some(now);
        }
        self.worms[worm].starts[f][k] = Some(now);
        self.flit_hops += 1;
    }

    /// Frees the channels whose time has come: to the longest waiting header first.
    fn release(&mut self) {
        loop {
            let Self { channels, closing, worms, now, .. } = self;
            closing.retain(|&c| {
                let channel = &mut channels[c];
                let nobody_waits =
                    channel.free_at.is_some_and(|at| at <= *now) && channel.waiting.is_empty();
                if nobody_waits {
                    (channel.held, channel.free_at) = (false, None);
                }
                !nobody_waits
            });
            let freed =
                closing.iter().filter(|&&c| channels[c].free_at.is_some_and(|at| at <= *now));
            let longest =
                freed.min_by_key(|&&c| channels[c].waiting.front().map(|&w| worms[w].joined));
            let Some(&channel) = longest else { return };
            closing.retain(|&c| c != channel);
            channels[channel].free_at = None;
            if let Some(worm) = channels[channel].waiting.pop_front() {
                self.grant(worm);
            }
        }
    }

    /// Lets the next packet of a queue follow a tail that has left.
    fn depart(&mut self) {
        let now = self.now;
        let (due, later) = self.departures.iter().partition(|(at, _)| *at <= now);
        self.departures = later;
        let due: Vec<(u64, usize)> = due;
        for (_, worm) in due {
            let queue = self.queues.entry(self.worms[worm].packet.src.0).or_default();
            queue.pop_front();
            if let Some(&next) = queue.front() {
                self.head_of_queue(next);
            }
        }
    }

    fn hand_over(&mut self, packet: PlainPacket) {
        let path = self.path(packet.src, packet.dst);
        let flits = packet.flits as usize;
        let depth = match self.settings.switching {
            Switching::Wormhole => self.settings.depth as usize,
            Switching::VirtualCutThrough | Switching::StoreAndForward => flits,
        };
        let worm = self.worms.len();
        self.in_flight += 1;
        self.worms.push(Worm {
            packet,
            starts: vec![vec![None; path.len()]; flits],
            path,
            depth,
            clock: 0,
            asked: 0,
            joined: 0,
            granted: 0,
            blocked: 0,
            delivered: None,
        });
        let queue = self.queues.entry(packet.src.0).or_default();
        queue.push_back(worm);
        if queue.len() == 1 {
            self.head_of_queue(worm);
        }
    }

    fn head_of_queue(&mut self, worm: usize) {
        self.worms[worm].clock = self.now;
        self.requests.push(worm);
    }

    /// Whether a header asks for its next channel in this cycle.
    fn is_due(&self, worm: usize) -> bool {
        let Worm { starts, granted, path, .. } = &self.worms[worm];
        let Some(k) = granted.checked_sub(1) else { return true };
        let flit = match self.settings.switching {
            Switching::StoreAndForward => starts.len() - 1,
            _ => 0,
        };
        let delay = self.cross(k, path.len() - 1) + u64::from(self.settings.route);
        starts[flit][k].is_some_and(|start| start + delay <= self.now)
    }

    fn request(&mut self, worm: usize) {
        self.worms[worm].asked = self.now;
        let channel = &mut self.channels[self.worms[worm].path[self.worms[worm].granted]];
        if channel.held {
            channel.waiting.push_back(worm);
            self.joins += 1;
            self.worms[worm].joined = self.joins;
        } else {
            self.grant(worm);
        }
    }

    fn grant(&mut self, worm: usize) {
        let k = self.worms[worm].granted;
        self.worms[worm].granted += 1;
        self.channels[self.worms[worm].path[k]].held = true;
        if k + 1 < self.worms[worm].path.len() {
            self.requests.push(worm);
        }
        self.waves.push((worm, k));
        self.move_flits(self.waves.len() - 1);
    }
}

impl Worm {
    fn delivery(&self) -> PlainDelivery {
        let row = |row: &Vec<Option<u64>>| row.iter().flatten().copied().collect();
        PlainDelivery {
            clock: self.clock,
            delivered: self.delivered.unwrap_or(0),
            blocked: self.blocked,
            hops: self.path.len() as u32 - 2,
            starts: self.starts.iter().map(row).collect(),
        }
    }
}
