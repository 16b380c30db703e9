//! A running job.

use super::pattern::{Barrier, Pattern, Sends, Stream};
use super::rule::Rule;
use super::sequence::Sequence;
use super::streams::Streams;
use super::stretch::Stretch;
use crate::{Delivery, Network, Packet};
use replay_core::topology::NodeId;

/// What a job's packets came to. The sums divided by the packets are the job's means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobTraffic {
    /// The job.
    pub job: u64,
    /// Packets sent, all of which were delivered.
    pub packets: u64,
    /// Sum of their latencies, cycles: from head of the sender's queue to delivery.
    pub latency: u64,
    /// Sum of the waits of their headers for network and ejection channels, cycles.
    pub blocked: u64,
    /// Sum of the links that they crossed.
    pub hops: u64,
    /// Cycle of the job's start.
    pub begin: u64,
    /// Cycle in which the last packet was delivered; that of the start if there was none.
    pub end: u64,
}

/// A job that has packets in flight.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it has come to; `packets` are those handed over.
    total: JobTraffic,
    /// Packets that it may yet hand over.
    left: u64,
    /// Packets handed over and not delivered.
    outstanding: u64,
    /// Upper half of its packets' tags; the lower is the sender's rank.
    tag: u64,
    flits: u32,
    /// Processors by rank.
    nodes: Box<[NodeId]>,
    rule: Rule,
    sends: Sends,
    barrier: Barrier,
    stretch: Stretch,
    place: Place,
}

/// Where the job is between two barriers.
#[derive(Clone, Debug)]
enum Place {
    /// One packet of the job after another.
    Job(Sequence),
    /// One packet of each process after another.
    Processes(Streams),
}

impl Run {
    /// A job about to start; `slot` comes back in its packets' tags.
    pub fn new(
        slot: u32,
        flits: u32,
        nodes: Box<[NodeId]>,
        pattern: &Pattern,
        mut rule: Rule,
        total: JobTraffic,
        quota: u64,
    ) -> Self {
        let (sends, barrier) = (pattern.sends(), pattern.barrier());
        let stretch = Stretch::from(0, rule.steps(), barrier);
        let place = if sends == Sends::AtOnce || pattern.stream() == Stream::Job {
            Place::Job(Sequence::new(stretch, &mut rule))
        } else {
            Place::Processes(Streams::new(stretch, nodes.len(), &mut rule))
        };
        let tag = u64::from(slot) << 32;
        let (left, outstanding) = (quota, 0);
        Self { total, left, outstanding, tag, flits, nodes, rule, sends, barrier, stretch, place }
    }

    /// The slot of a packet's tag.
    #[inline]
    pub fn slot(tag: u64) -> usize {
        (tag >> 32) as usize
    }

    /// Hands over what can be sent from the beginning of a stretch on.
    pub fn open(&mut self, network: &mut Network) {
        match &self.place {
            Place::Job(_) if self.sends == Sends::AtOnce => while self.send(0, network) {},
            Place::Job(_) => {
                self.send(0, network);
            }
            Place::Processes(streams) => {
                for i in 0..streams.live().len() {
                    let Place::Processes(streams) = &self.place else { return };
                    let rank = streams.live()[i];
                    self.send(rank, network);
                }
            }
        }
    }

    /// The tail of a packet has left its sender.
    #[inline]
    pub fn tail_left(&mut self, tag: u64, network: &mut Network) {
        if self.sends == Sends::Pipelined {
            self.send(tag as u32, network);
        }
    }

    /// A packet has been delivered. Whether the job has thereby ended, with what.
    #[inline]
    pub fn delivered(&mut self, delivery: &Delivery, network: &mut Network) -> Option<JobTraffic> {
        self.total.latency += delivery.latency;
        self.total.blocked += delivery.blocked;
        self.total.hops += u64::from(delivery.hops);
        self.outstanding -= 1;
        if self.sends == Sends::Sequential {
            self.send(delivery.tag as u32, network);
        }
        if self.outstanding > 0 {
            return None;
        }
        if self.left > 0 {
            self.pass_barrier(network);
            return None;
        }
        Some(JobTraffic { end: network.now(), ..self.total })
    }

    /// Everything is delivered, and there is more to send.
    fn pass_barrier(&mut self, network: &mut Network) {
        let steps = self.rule.steps();
        let step = if self.stretch.end < steps { self.stretch.end } else { 0 };
        self.stretch = Stretch::from(step, steps, self.barrier);
        match &mut self.place {
            Place::Job(sequence) => sequence.restart(self.stretch, &mut self.rule),
            Place::Processes(streams) => streams.restart(self.stretch, &mut self.rule),
        }
        self.open(network);
    }

    /// Hands over the next packet of a rank or, if the job has one stream, of the job. Whether
    /// there was one.
    #[inline]
    fn send(&mut self, rank: u32, network: &mut Network) -> bool {
        if self.left == 0 {
            return false;
        }
        let next = match &mut self.place {
            Place::Job(sequence) => sequence.next(&mut self.rule),
            Place::Processes(streams) => {
                streams.next(rank, &mut self.rule).map(|target| (rank, target))
            }
        };
        let Some((src, dst)) = next else { return false };
        let sent = network.send(Packet {
            src: self.nodes[src as usize],
            dst: self.nodes[dst as usize],
            flits: self.flits,
            tag: self.tag | u64::from(src),
        });
        // Processors and length were looked at when the job was started.
        debug_assert_eq!(sent, Ok(()));
        self.left -= 1;
        self.outstanding += 1;
        self.total.packets += 1;
        true
    }
}
