//! Packet lists. A list is read from CSV and replayed on a network, and the measures of each packet are written as CSV.
//!
//! ```text
//! id,src,dst,flits,inject_cycle
//! 0,0,18,8,0
//! ```
//!
//! on a mesh of 16 x 16 with [`Settings::LO`](super::Settings::LO) gives
//!
//! ```text
//! id,inject,head_at_destination,delivered,latency,blocked,hops
//! 0,0,18,39,39,0,3
//! ```
//!
//! `inject` repeats the cycle in which the packet is added to its sender's queue. `head_at_destination` and `delivered`
//! are the cycles in which the first and the last flit of the packet have crossed the ejection channel. `latency`
//! begins in the cycle in which the packet becomes head of the queue, so `delivered - latency - inject` is the time for
//! which the packet waits behind other packets in the queue. `blocked` is the total time for which the header waits for
//! channels, without waits for the injection channel. The packets of a list may be in any order. Packets with the same
//! cycle are sent in the order of the list. The output is in the order of the list.
//!
//! On a grid of W x D (x H), the node at (x, y, z) has the number x + W y (+ W D z), so x varies fastest. On a
//! hypercube, the numbers of two neighbours differ in exactly one bit.

mod error;

use std::collections::HashMap;
use std::io::{BufRead, Write};

use super::{Network, NetworkEvent, Packet, Stalled};
use replay_engine::lines::{LineError, Lines};
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Column, Table, names, write_csv};
use replay_engine::topology::{Grid, NodeId, Topology};

pub use error::{PacketListError, Problem, ReplayError};

/// Columns of a packet list.
pub const COLUMNS: [&str; 5] = ["id", "src", "dst", "flits", "inject_cycle"];
/// Last cycle in which a listed packet may be sent.
pub const LAST_CYCLE: u64 = 1 << 53;

/// A packet of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedPacket {
    /// Unique number of the packet; the network does not interpret it.
    pub id: u64,
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// Length in flits.
    pub flits: u32,
    /// Cycle in which the packet is added to its sender's queue.
    pub inject_cycle: u64,
}

/// The measures of a listed packet; all times are in cycles, see the [module](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketResult {
    /// Number of the packet in the list.
    pub id: u64,
    /// Cycle in which the packet is added to its sender's queue.
    pub inject: u64,
    /// Cycle in which the first flit arrives at the receiver.
    pub head_at_destination: u64,
    /// Cycle in which the last flit arrives at the receiver.
    pub delivered: u64,
    /// Time from the cycle in which the packet becomes head of the queue to its delivery.
    pub latency: u64,
    /// Total time for which the header waited, without waits for the injection channel.
    pub blocked: u64,
    /// Number of links crossed.
    pub hops: u32,
}

/// Reads a packet list for a machine; messages refer to the list as `file`.
///
/// # Errors
/// [`PacketListError`] with file, line and field if the text is not a packet list, if it contains a node that the
/// machine does not have, or if two packets have the same id.
pub fn read(
    input: impl BufRead,
    file: &str,
    topology: &Topology,
) -> Result<Vec<ListedPacket>, PacketListError> {
    let mut packets = Vec::new();
    // Line of each packet, by id.
    let mut known = HashMap::new();
    let mut header_seen = false;
    let mut lines = Lines::new(input);
    let error = |line, problem| PacketListError { file: file.to_string(), line, problem };
    loop {
        let read = lines.next_text(|line, text| {
            let fields = || text.split(',').map(str::trim);
            if !header_seen {
                header_seen = fields().eq(COLUMNS);
                let problem = || Problem::Header(excerpt(text));
                return if header_seen { Ok(()) } else { Err(error(line, problem())) };
            }
            let packet = parse(fields(), topology).map_err(|problem| error(line, problem))?;
            if let Some(first) = known.insert(packet.id, line) {
                return Err(error(line, Problem::Duplicate { id: packet.id, first }));
            }
            packets.push(packet);
            Ok(())
        });
        match read {
            Ok(Some(outcome)) => outcome?,
            Ok(None) if header_seen => return Ok(packets),
            Ok(None) => return Err(error(1, Problem::Header(String::new()))),
            Err(LineError::TooLong(_)) => return Err(error(lines.number(), Problem::TooLong)),
            Err(LineError::Io(cause)) => {
                return Err(error(lines.number() + 1, Problem::Unreadable(cause.to_string())));
            }
        }
    }
}

fn parse<'a>(
    fields: impl Iterator<Item = &'a str> + Clone,
    topology: &Topology,
) -> Result<ListedPacket, Problem> {
    let count = fields.clone().count();
    if count != COLUMNS.len() {
        return Err(Problem::FieldCount(count));
    }
    let number = |field: usize, least: u64, most: u64| {
        let text = fields.clone().nth(field).unwrap_or_default();
        let value = text.parse().ok().filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| Problem::Field { field, text: excerpt(text), least, most })
    };
    let last = topology.processors() as u64 - 1;
    Ok(ListedPacket {
        id: number(0, 0, u64::MAX)?,
        src: node(topology, number(1, 0, last)?),
        dst: node(topology, number(2, 0, last)?),
        flits: number(3, 1, u64::from(Packet::MAX_FLITS))? as u32,
        inject_cycle: number(4, 0, LAST_CYCLE)?,
    })
}

/// Returns the node with the given number. Numbers count x fastest. The node must exist.
fn node(topology: &Topology, number: u64) -> NodeId {
    let number = number as usize;
    match topology {
        Topology::Hypercube(_)
        | Topology::Cluster(_)
        | Topology::MultiTorus(_)
        | Topology::Hierarchy(_) => NodeId(number as u32),
        Topology::Grid(grid) => {
            let (row, x) = (number / grid.extent(0), number % grid.extent(0));
            let (z, y) = (row / grid.extent(1), row % grid.extent(1));
            Grid::node(grid, [x as u16, y as u16, z as u16])
        }
    }
}

/// Sends the packets through a network that has no packets in flight. Each packet is sent in its cycle, or at once if
/// its cycle is in the past. Returns the results in the order of the list.
///
/// # Errors
/// [`ReplayError`] if the network belongs to another machine, or deadlocks.
pub fn replay(
    network: &mut Network,
    packets: &[ListedPacket],
) -> Result<Vec<PacketResult>, ReplayError> {
    let mut order: Vec<_> = (0..packets.len()).collect();
    order.sort_by_key(|&i| packets[i].inject_cycle);
    let mut left = order.into_iter().peekable();
    let mut results = vec![PacketResult::default(); packets.len()];
    let mut events = Vec::new();
    loop {
        while let Some(i) = left.next_if(|&i| packets[i].inject_cycle <= network.now()) {
            let ListedPacket { src, dst, flits, .. } = packets[i];
            network.send(Packet { src, dst, flits, tag: i as u64 })?;
        }
        let until = left.peek().map(|&i| packets[i].inject_cycle);
        let cycle =
            network.advance(until, &mut events).map_err(|stalled| named(stalled, packets))?;
        for event in &events {
            let (NetworkEvent::Delivered(delivery), Some(delivered)) = (event, cycle) else {
                continue;
            };
            let i = delivery.tag as usize;
            results[i] = PacketResult {
                id: packets[i].id,
                inject: packets[i].inject_cycle,
                head_at_destination: delivery.head_arrived,
                delivered,
                latency: delivery.latency,
                blocked: delivery.blocked,
                hops: delivery.hops,
            };
        }
        if cycle.is_none() && until.is_none() {
            return Ok(results);
        }
    }
}

/// Replaces the tags in a diagnosis by the ids of the packets in the list.
fn named(mut stalled: Stalled, packets: &[ListedPacket]) -> Stalled {
    for wait in &mut stalled.ring {
        wait.tag = packets.get(wait.tag as usize).map_or(wait.tag, |packet| packet.id);
    }
    stalled
}

/// Writes results as CSV.
///
/// # Errors
/// Returns the errors of `output`.
pub fn write(results: &[PacketResult], output: impl Write) -> std::io::Result<()> {
    write_csv(&PacketResult::columns(), results, true, std::io::BufWriter::new(output))
}

impl PacketResult {
    names! {
        ID = "id",
    }
}

impl Table for PacketResult {
    const NAME: &'static str = "packets";
    const ROW: &'static str = "one row per packet of a list";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<PacketResult>;
        vec![
            C::unsigned(PacketResult::ID, "the packet's id in the list", |packet| packet.id),
            C::new("inject", "cycles", "cycle in which the packet is added to its sender's queue", |packet| packet.inject),
            C::new("head_at_destination", "cycles", "cycle in which the packet's first flit arrives", |packet| packet.head_at_destination),
            C::new("delivered", "cycles", "cycle in which the packet's last flit arrives", |packet| packet.delivered),
            C::new("latency", "cycles", "time from the cycle in which a packet becomes head of its sender's queue \
                until its last flit arrives, mean over the row's packets; null if there are no packets", |packet| packet.latency),
            C::new("blocked", "cycles", "waiting time of a packet's header along its path, mean over the row's packets; null if there are no packets", |packet| packet.blocked),
            C::new("hops", "links", "number of links of a packet's path, mean over the row's packets; null if there are no packets", |packet| packet.hops),
        ]
    }
}

#[cfg(test)]
mod tests;
