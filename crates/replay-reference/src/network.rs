//! Reference network, which is simulated cycle by cycle and flit by flit. Tests compare the event-driven
//! [`Network`](replay_network::Network) with the reference network.
//!
//! The reference network shares only [`Settings`] with the engine. In every cycle, the reference network tries to start
//! every flit that has not started, under the conditions in the documentation of [`replay_network`]. The cost per cycle
//! is proportional to the number of flits in flight.

mod routes;

use std::collections::{BTreeMap, HashMap, VecDeque};

use routes::Key;

use replay_engine::topology::{NodeId, Topology};
use replay_network::{FlowControl, Settings, Switching};

/// A packet and the cycle at which it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReferencePacket {
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// Length, at least 1.
    pub flits: u32,
    /// Cycle at which the packet enters the sender's queue.
    pub cycle: u64,
}

/// The delivery of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReferenceDelivery {
    /// Cycle at which the packet became the head of its queue.
    pub clock: u64,
    /// Cycle at which the tail of the packet reached the receiver.
    pub delivered: u64,
    /// Waiting time of the packet's header in cycles, excluding injection.
    pub blocked: u64,
    /// Number of links on the packet's path.
    pub hops: u32,
    /// `starts[f][k]` is the cycle at which flit f started to cross channel k.
    pub starts: Vec<Vec<u64>>,
}

#[derive(Default)]
struct ReferenceChannel {
    held: bool,
    free_at: Option<u64>,
    waiting: VecDeque<usize>,
    /// The physical link, if another virtual channel also uses this link.
    link: Option<usize>,
}

struct Worm {
    packet: ReferencePacket,
    path: Vec<usize>,
    starts: Vec<Vec<Option<u64>>>,
    /// Capacity of a buffer in flits.
    depth: usize,
    clock: u64,
    requested_at: u64,
    joined_at: u64,
    granted: usize,
    blocked: u64,
    delivered: Option<u64>,
}

/// The reference network.
pub struct ReferenceNetwork {
    topology: Topology,
    settings: Settings,
    now: u64,
    channels: Vec<ReferenceChannel>,
    /// Channels whose release time `free_at` is known.
    closing: Vec<usize>,
    numbers: HashMap<Key, usize>,
    /// The last cycle in which a flit started on each shared link.
    link_used: Vec<Option<u64>>,
    worms: Vec<Worm>,
    queues: BTreeMap<u32, VecDeque<usize>>,
    /// Grants for which not all flits have started: the worm, and the index of the channel on the worm's path.
    waves: Vec<(usize, usize)>,
    /// Worms whose headers will request their next channel, in the order in which the worms were added.
    requests: Vec<usize>,
    /// Cycles at which tails will leave their senders, each with its worm.
    departures: Vec<(u64, usize)>,
    joins: u64,
    flit_hops: u64,
    in_flight: usize,
}

/// Simulates packets until the last delivery. The packets must be sorted by cycle. Returns `None` if the simulation
/// takes more than `limit` cycles.
pub fn run(
    topology: &Topology,
    settings: Settings,
    packets: &[ReferencePacket],
    limit: u64,
) -> Option<Vec<ReferenceDelivery>> {
    let mut reference = ReferenceNetwork::new(topology, settings);
    let mut left = packets;
    while reference.now < limit {
        let (due, rest) = left.split_at(left.partition_point(|p| p.cycle <= reference.now));
        left = rest;
        reference.step(due);
        if left.is_empty() && reference.in_flight == 0 {
            return Some(reference.worms.iter().map(Worm::delivery).collect());
        }
    }
    None
}

impl ReferenceNetwork {
    /// Creates an empty network at cycle 0.
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

    /// Returns the number of cycles simulated so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of flits that have crossed a channel of any kind, summed over channels.
    pub fn flit_hops(&self) -> u64 {
        self.flit_hops
    }

    /// Returns the number of sent packets whose last flit has not yet started to leave the network.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Simulates one cycle; `packets` are sent in this cycle.
    pub fn step(&mut self, packets: &[ReferencePacket]) {
        self.move_flits(0);
        self.release();
        self.depart();
        for &packet in packets {
            self.hand_over(packet);
        }
        // Serving a request may add further requests for this cycle.
        while let Some(i) = self.requests.iter().position(|&worm| self.is_due(worm)) {
            let worm = self.requests.remove(i);
            self.request(worm);
            self.release();
        }
        self.now += 1;
    }

    /// Returns the number of cycles that a flit needs to cross channel k of a path that ends with channel `last`.
    fn cross(&self, k: usize, last: usize) -> u64 {
        u64::from(match k {
            0 => self.settings.inject,
            k if k == last => self.settings.eject,
            _ => self.settings.link,
        })
    }

    /// Tries to start all flits of the waves from wave `first` on, in the order of the grants.
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
            self.worms[worm].blocked += now - self.worms[worm].requested_at;
        }
        if let Some(link) = link {
            self.link_used[link] = Some(now);
        }
        self.worms[worm].starts[f][k] = Some(now);
        self.flit_hops += 1;
    }

    /// Frees the channels that are due. Grants each freed channel to the header that has waited longest.
    fn release(&mut self) {
        loop {
            let Self { channels, closing, worms, now, .. } = self;
            closing.retain(|&c| {
                let channel = &mut channels[c];
                let is_unrequested =
                    channel.free_at.is_some_and(|at| at <= *now) && channel.waiting.is_empty();
                if is_unrequested {
                    (channel.held, channel.free_at) = (false, None);
                }
                !is_unrequested
            });
            let freed =
                closing.iter().filter(|&&c| channels[c].free_at.is_some_and(|at| at <= *now));
            let longest =
                freed.min_by_key(|&&c| channels[c].waiting.front().map(|&w| worms[w].joined_at));
            let Some(&channel) = longest else { return };
            closing.retain(|&c| c != channel);
            channels[channel].free_at = None;
            if let Some(worm) = channels[channel].waiting.pop_front() {
                self.grant(worm);
            }
        }
    }

    /// Removes a packet from a queue when its tail has left; the next packet becomes the head of the queue.
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

    fn hand_over(&mut self, packet: ReferencePacket) {
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
            requested_at: 0,
            joined_at: 0,
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

    /// Returns whether a header requests its next channel in this cycle.
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
        self.worms[worm].requested_at = self.now;
        let channel = &mut self.channels[self.worms[worm].path[self.worms[worm].granted]];
        if channel.held {
            channel.waiting.push_back(worm);
            self.joins += 1;
            self.worms[worm].joined_at = self.joins;
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
    fn delivery(&self) -> ReferenceDelivery {
        let row = |row: &Vec<Option<u64>>| row.iter().flatten().copied().collect();
        ReferenceDelivery {
            clock: self.clock,
            delivered: self.delivered.unwrap_or(0),
            blocked: self.blocked,
            hops: self.path.len() as u32 - 2,
            starts: self.starts.iter().map(row).collect(),
        }
    }
}
