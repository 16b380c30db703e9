//! Timelines computed by hand: one worm, and two worms that meet (preset `lo`).

use super::*;

struct Timeline {
    deliveries: Vec<(u64, Delivery)>,
    network: Network,
    reference: Vec<ReferenceDelivery>,
}

/// Simulates packets of 8 flits on the 16 x 16 mesh. A packet is given as source, destination and
/// cycle.
fn timeline(packets: &[(Coord, Coord, u64)]) -> Timeline {
    let topology = machine("16x16");
    let packets: Vec<_> = packets
        .iter()
        .map(|&(src, dst, cycle)| {
            let (src, dst) = (at(&topology, src), at(&topology, dst));
            ReferencePacket { src, dst, flits: 8, cycle }
        })
        .collect();
    let mut network = Network::new(&topology, Settings::LO).expect("a preset");
    let deliveries = replay(&mut network, &packets).expect("XY cannot deadlock");
    // The last channels are released after the last delivery.
    network.advance(Some(1000), &mut Vec::new()).expect("no packet is in flight");
    let reference = reference::run(&topology, Settings::LO, &packets, 10_000).expect("ends");
    Timeline { deliveries, network, reference }
}

impl Timeline {
    /// Returns the cycles at which a flit starts to cross the channels of its path in the reference
    /// network.
    fn flit(&self, tag: usize, flit: usize) -> &[u64] {
        &self.reference[tag].starts[flit]
    }

    /// Returns the numbers of cycles for which channels are reserved.
    fn busy<const N: usize>(&self, channels: [&str; N]) -> [u64; N] {
        channels.map(|name| {
            let mut usage = self.network.usage();
            usage.find(|usage| usage.channel.to_string() == name).expect("a channel").busy
        })
    }

    /// Returns delivery cycle, latency and waiting time of a packet.
    fn measures(&self, tag: u64) -> (u64, u64, u64) {
        let (delivered, delivery) = self.deliveries[tag as usize];
        let reference = &self.reference[tag as usize];
        let both = (delivered, delivery.latency, delivery.blocked);
        assert_eq!(
            (reference.delivered, reference.delivered - reference.clock, reference.blocked),
            both
        );
        both
    }
}

#[test]
fn v1_one_hop() {
    let v1 = timeline(&[([0, 0, 0], [1, 0, 0], 0)]);
    assert_eq!(v1.flit(0, 0), [0, 4, 8]);
    assert_eq!(v1.flit(0, 1), [5, 10, 11]);
    assert_eq!(v1.flit(0, 2), [11, 13, 14]);
    assert_eq!(v1.flit(0, 6), [23, 25, 26]);
    assert_eq!(v1.flit(0, 7), [26, 28, 29]);
    assert_eq!(v1.measures(0), (31, 31, 0));
    // The channels are released in the cycles 29, 33 and 33.
    assert_eq!(v1.busy(["inj(0,0)", "+x(0,0)", "ej(1,0)"]), [29, 29, 25]);
    assert_eq!(v1.deliveries[0].1.head_arrived, 10);
}

#[test]
fn v2_three_hops_and_a_turn() {
    let v2 = timeline(&[([0, 0, 0], [2, 1, 0], 0)]);
    assert_eq!(v2.flit(0, 0), [0, 4, 8, 12, 16]);
    assert_eq!(v2.flit(0, 1), [5, 9, 13, 18, 19]);
    assert_eq!(v2.flit(0, 7), [30, 32, 34, 36, 37]);
    assert_eq!(v2.measures(0), (39, 39, 0));
    // These channels are released in the cycles 33, 37 and 39.
    assert_eq!(v2.busy(["inj(0,0)", "+x(0,0)", "+x(1,0)"]), [33, 33, 31]);
}

#[test]
fn v3_ten_hops() {
    let v3 = timeline(&[([0, 0, 0], [6, 4, 0], 0)]);
    assert_eq!(v3.flit(0, 0), [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44]);
    assert_eq!(v3.flit(0, 1), [5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 46, 47]);
    assert_eq!(v3.flit(0, 2), [10, 14, 18, 22, 26, 30, 34, 38, 42, 47, 49, 50]);
    assert_eq!(v3.flit(0, 7), [35, 39, 43, 47, 52, 54, 56, 58, 60, 62, 64, 65]);
    assert_eq!(v3.measures(0), (67, 67, 0));
    // These channels are released in the cycles 40, 46, 50, 55, 57, 59, 61, 63, 65 and 67.
    assert_eq!(v3.busy(["inj(0,0)", "+x(0,0)", "+x(1,0)", "+x(2,0)"]), [40, 42, 42, 43]);
    assert_eq!(v3.busy(["+x(3,0)", "+x(4,0)", "+x(5,0)"]), [41, 39, 37]);
    assert_eq!(v3.busy(["+y(6,0)", "+y(6,1)", "+y(6,2)"]), [35, 33, 31]);
}

#[test]
fn v4_two_sources_of_one_destination() {
    let v4 = timeline(&[([0, 0, 0], [2, 0, 0], 0), ([4, 0, 0], [2, 0, 0], 0)]);
    assert_eq!(v4.measures(0), (35, 35, 0));
    assert_eq!(v4.flit(1, 0), [0, 4, 8, 37]);
    assert_eq!(v4.flit(1, 1), [5, 9, 39, 40]);
    assert_eq!(v4.flit(1, 2), [10, 40, 42, 43]);
    assert_eq!(v4.flit(1, 7), [53, 55, 57, 58]);
    assert_eq!(v4.measures(1), (60, 60, 25));
}

#[test]
fn v5_back_to_back() {
    let v5 = timeline(&[([0, 0, 0], [1, 0, 0], 0), ([0, 0, 0], [4, 0, 0], 0)]);
    assert_eq!(v5.measures(0), (31, 31, 0));
    assert_eq!(v5.flit(1, 0), [29, 33, 37, 41, 45, 49]);
    assert_eq!(v5.flit(1, 7), [61, 63, 65, 67, 69, 70]);
    assert_eq!(v5.measures(1), (72, 45, 0));
}

#[test]
fn v6_a_shared_link() {
    let v6 = timeline(&[([0, 0, 0], [5, 0, 0], 0), ([2, 0, 0], [4, 0, 0], 4)]);
    assert_eq!(v6.flit(1, 0), [4, 8, 12, 16]);
    assert_eq!(v6.flit(1, 7), [32, 34, 36, 37]);
    assert_eq!(v6.measures(1), (39, 35, 0));
    assert_eq!(v6.flit(0, 0), [0, 4, 8, 39, 43, 47, 51]);
    assert_eq!(v6.flit(0, 1), [5, 9, 40, 44, 48, 53, 54]);
    assert_eq!(v6.flit(0, 2), [10, 41, 45, 49, 54, 56, 57]);
    assert_eq!(v6.flit(0, 7), [61, 63, 65, 67, 69, 71, 72]);
    assert_eq!(v6.measures(0), (74, 74, 27));
}

/// When two pipelined worms meet, the second worm gets each channel in the cycle in which the tail
/// of the first worm leaves the channel's buffer.
#[test]
fn two_pipelined_worms_that_meet() {
    let topology = machine("8x1");
    let packet =
        |src, dst| ReferencePacket { src: NodeId(src), dst: NodeId(dst), flits: 3, cycle: 0 };
    let packets = [packet(1, 3), packet(0, 3)];
    let mut network = Network::new(&topology, Settings::BANI_MOHAMMAD).expect("a preset");
    let deliveries = replay(&mut network, &packets).expect("no deadlock");
    let reference =
        reference::run(&topology, Settings::BANI_MOHAMMAD, &packets, 1000).expect("ends");
    // The header of the first worm starts to cross its channels at 0, 3, 7 and 11. The tail of the
    // first worm crosses the link 2 -> 3 at 12 and is delivered at 13. The header of the second
    // worm requests the link 1 -> 2 at 7. The tail of the first worm crosses this link at 11 and
    // leaves the link's buffer at 12. At 16, the header of the second worm requests the link 2
    // -> 3.
    assert_eq!(deliveries[0].0, 13);
    assert_eq!(reference[1].starts[0], [0, 3, 12, 16, 20]);
    assert_eq!((deliveries[1].0, deliveries[1].1.blocked), (22, 5));
}
