//! A running job.

use super::pattern::{Barrier, Pattern, Sends, Stream};
use super::rule::Rule;
use super::segment::Segment;
use super::sequence::Sequence;
use super::streams::Streams;
use crate::{Delivery, Network, Packet};
use replay_engine::topology::NodeId;

/// The totals of a job's packets. A sum divided by `packets` is the job's mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobTraffic {
    /// Number of the job.
    pub job: u64,
    /// Number of packets sent; all these packets were delivered.
    pub packets: u64,
    /// Sum of the latencies in cycles. The latency of a packet is the time from the cycle in which the packet becomes
    /// head of its sender's queue to its delivery.
    pub latency: u64,
    /// Sum of the waits of headers for network and ejection channels, in cycles.
    pub blocked: u64,
    /// Number of links crossed, summed over the packets.
    pub hops: u64,
    /// Cycle in which the job started.
    pub begin: u64,
    /// Cycle in which the last packet was delivered. If the job sent no packets, the value is the cycle in which the
    /// job started.
    pub end: u64,
}

/// A job that has packets in flight.
#[derive(Clone, Debug)]
pub struct Run {
    /// Totals so far; `packets` counts the packets sent.
    total: JobTraffic,
    /// Number of packets that the job may still send.
    left: u64,
    /// Number of packets sent and not delivered.
    outstanding: u64,
    /// Upper half of the tags of the job's packets; the lower half is the sender's rank.
    tag: u64,
    flits: u32,
    /// Processor of each rank.
    nodes: Box<[NodeId]>,
    rule: Rule,
    sends: Sends,
    barrier: Barrier,
    segment: Segment,
    place: Place,
}

/// The position of the job between two barriers.
#[derive(Clone, Debug)]
enum Place {
    /// The packets of the job are sent one after another.
    Job(Sequence),
    /// The packets of each process are sent one after another.
    Processes(Streams),
}

impl Run {
    /// Creates a job that is about to start; `slot` is part of the tags of its packets.
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
        let segment = Segment::from(0, rule.steps(), barrier);
        let place = if sends == Sends::AtOnce || pattern.stream() == Stream::Job {
            Place::Job(Sequence::new(segment, &mut rule))
        } else {
            Place::Processes(Streams::new(segment, nodes.len(), &mut rule))
        };
        let tag = u64::from(slot) << 32;
        let (left, outstanding) = (quota, 0);
        Self { total, left, outstanding, tag, flits, nodes, rule, sends, barrier, segment, place }
    }

    /// Returns the slot in a packet's tag.
    #[inline]
    pub fn slot(tag: u64) -> usize {
        (tag >> 32) as usize
    }

    /// Sends all packets that can be sent at the beginning of a segment.
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

    /// Processes the event that the tail of a packet has left its sender.
    #[inline]
    pub fn tail_left(&mut self, tag: u64, network: &mut Network) {
        if self.sends == Sends::Pipelined {
            self.send(tag as u32, network);
        }
    }

    /// Processes the delivery of a packet; returns the job's totals if the job has ended.
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

    /// Passes a barrier. Passes a barrier. This function is called when all packets of the job are delivered and the
    /// job has more packets to send.
    fn pass_barrier(&mut self, network: &mut Network) {
        let steps = self.rule.steps();
        let step = if self.segment.end < steps { self.segment.end } else { 0 };
        self.segment = Segment::from(step, steps, self.barrier);
        match &mut self.place {
            Place::Job(sequence) => sequence.restart(self.segment, &mut self.rule),
            Place::Processes(streams) => streams.restart(self.segment, &mut self.rule),
        }
        self.open(network);
    }

    /// Sends the next packet of a rank, or of the job if the job has a single stream. Returns whether there was a
    /// packet to send.
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
        // Processors and length were checked when the job was started.
        debug_assert_eq!(sent, Ok(()));
        self.left -= 1;
        self.outstanding += 1;
        self.total.packets += 1;
        true
    }
}
