//! The latency of packets in an empty network agrees with closed forms.

use super::*;

/// Returns latency and hops of a packet in an empty network.
fn alone(network: &mut Network, src: NodeId, dst: NodeId, flits: u32) -> (u64, u64) {
    let mut events = Vec::new();
    // All channels that the previous packet has reserved must be free again.
    let later = network.now() + 100_000;
    while network.advance(Some(later), &mut events).expect("no deadlock").is_some() {}
    network.send(Packet { src, dst, flits, tag: 0 }).expect("legal");
    loop {
        network.advance(None, &mut events).expect("no deadlock").expect("a delivery");
        for event in &events {
            if let NetworkEvent::Delivered(delivery) = event {
                assert_eq!(delivery.blocked, 0);
                return (delivery.latency, u64::from(delivery.hops));
            }
        }
    }
}

/// Compares the latency between every two different nodes with a closed form in the number of hops.
fn check(topology: &str, settings: Settings, flits: u32, expected: impl Fn(u64) -> u64) {
    let topology = machine(topology);
    let mut network = Network::new(&topology, settings).expect("legal");
    for src in topology.nodes() {
        for dst in topology.nodes().filter(|&dst| dst != src) {
            let (latency, hops) = alone(&mut network, src, dst, flits);
            assert_eq!(hops, u64::from(topology.hops(src, dst)));
            assert_eq!(latency, expected(hops), "{src:?} to {dst:?}, {hops} hops");
        }
    }
}

#[test]
fn lo_takes_27_and_4_per_hop() {
    check("8x8", Settings::LO, 8, |d| 27 + 4 * d);
    check("3x3x4", Settings::LO, 8, |d| 27 + 4 * d);
    check("hypercube:5", Settings::LO, 8, |d| 27 + 4 * d);
    check("torus:5x6", Settings::LO, 8, |d| 27 + 4 * d);
    check("31x1", Settings::LO, 8, |d| 27 + 4 * d);
}

#[test]
fn bani_mohammad_takes_10_and_4_per_hop() {
    check("8x8", Settings::BANI_MOHAMMAD, 8, |d| 4 * d + 10);
    check("torus:5x6", Settings::BANI_MOHAMMAD, 8, |d| 4 * d + 10);
    let flits = |topology, flits, d| {
        let mut network =
            Network::new(&machine(topology), Settings::BANI_MOHAMMAD).expect("preset");
        alone(&mut network, NodeId(0), NodeId(d), flits).0
    };
    assert_eq!((flits("6x1", 8, 1), flits("6x1", 8, 5), flits("6x1", 64, 5)), (14, 30, 86));
}

#[test]
fn store_and_forward_takes_a_packet_time_per_hop() {
    let stored = |base| Settings { switching: Switching::StoreAndForward, ..base };
    for flits in [1, 2, 8, 20] {
        let p = u64::from(flits);
        // A packet takes p cycles for injection, p cycles per link, and 2 p cycles for ejection.
        // Routing takes 3 cycles before each channel except the first.
        check("5x5", stored(Settings::LO), flits, |d| p + d * (3 + p) + 3 + 2 * p);
        // The last flit is both injected and ejected p - 1 cycles after the first flit.
        check("5x5", stored(Settings::BANI_MOHAMMAD), flits, |d| {
            (p - 1) + d * (3 + p) + 3 + (p - 1)
        });
    }
}

#[test]
fn virtual_cut_through_takes_one_packet_time_in_all() {
    let cut = |base| Settings { switching: Switching::VirtualCutThrough, ..base };
    for flits in [1, 2, 8, 20] {
        let p = u64::from(flits);
        check("5x5", cut(Settings::LO), flits, |d| 1 + d * 4 + 3 + 2 * p);
        check("5x5", cut(Settings::BANI_MOHAMMAD), flits, |d| 4 * d + 3 + (p - 1));
    }
}
