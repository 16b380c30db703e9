//! Tests of the wormhole model as a whole.

mod deadlock;
mod measures;
mod zero_load;

use super::*;
use replay_engine::topology::{Coord, NodeId, Topology};

/// A packet that is sent in a given cycle.
#[derive(Clone, Copy)]
struct TimedPacket {
    src: NodeId,
    dst: NodeId,
    flits: u32,
    cycle: u64,
}

fn machine(text: &str) -> Topology {
    text.parse().expect("legal")
}

fn at(topology: &Topology, coord: Coord) -> NodeId {
    topology.grid().expect("a grid").node(coord)
}

/// Sends packets in their cycles. The packets must be in the order of their cycles. The tag of a packet is its index.
/// Returns the deliveries by tag.
fn replay(network: &mut Network, packets: &[TimedPacket]) -> Result<Vec<(u64, Delivery)>, Stalled> {
    let mut deliveries = vec![None; packets.len()];
    let mut events = Vec::new();
    let mut left = packets.iter().enumerate().peekable();
    loop {
        while let Some((tag, packet)) = left.next_if(|(_, packet)| packet.cycle <= network.now()) {
            let &TimedPacket { src, dst, flits, .. } = packet;
            network.send(Packet { src, dst, flits, tag: tag as u64 }).expect("legal");
        }
        let until = left.peek().map(|(_, packet)| packet.cycle);
        let now = network.advance(until, &mut events)?;
        for event in &events {
            if let NetworkEvent::Delivered(delivery) = event {
                let cycle = now.expect("there is a event");
                assert_eq!(deliveries[delivery.tag as usize].replace((cycle, *delivery)), None);
            }
        }
        if now.is_none() && until.is_none() {
            break;
        }
    }
    assert_eq!(network.in_flight(), 0);
    Ok(deliveries.into_iter().map(|delivery| delivery.expect("delivered")).collect())
}
