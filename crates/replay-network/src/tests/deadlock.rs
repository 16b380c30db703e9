//! Saturated networks do not deadlock, and deadlocks are diagnosed.

use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every node sends packets to random nodes. All packets are sent at once.
    #[test]
    fn saturated_networks_deliver_everything(
        topology in proptest::sample::select(&[
            "6x6", "4x3x3", "torus:6x6", "torus:4x4x4", "torus[y]:4x7", "hypercube:5", "torus:9x1",
        ]),
        preset in proptest::sample::select(&Settings::PRESETS),
        depth in 1u32..4, seed: u64, flits in 1u32..30,
    ) {
        let topology = machine(topology);
        let n = topology.processors() as u64;
        let mut network = Network::new(&topology, Settings { depth, ..preset.1 }).expect("legal");
        let mut state = seed;
        let packets: Vec<_> = (0..n * 10).map(|i| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let dst = NodeId(((state >> 33) % n) as u32);
            TimedPacket { src: NodeId((i % n) as u32), dst, flits, cycle: 0 }
        }).collect();
        let delivered = replay(&mut network, &packets)
            .map_err(|stalled| TestCaseError::fail(stalled.to_string()))?;
        prop_assert_eq!(delivered.len() as u64, 10 * n);
    }
}

/// On a ring of four nodes with a single virtual channel, each node sends two hops ahead and holds the link that the
/// next node needs.
#[test]
fn diagnoses_a_deadlock() {
    let mut network =
        Network::without_dateline(&machine("torus:4x1"), Settings::LO).expect("legal");
    let packets: Vec<_> = (0..4)
        .map(|i| TimedPacket { src: NodeId(i), dst: NodeId((i + 2) % 4), flits: 8, cycle: 0 })
        .collect();
    let stalled = replay(&mut network, &packets).expect_err("a deadlock");
    assert_eq!((stalled.cycle, stalled.in_flight, stalled.ring.len()), (8, 4, 4));
    assert_eq!(
        stalled.to_string(),
        "the network is deadlocked at cycle 8 with 4 packets in flight: \
         packet 3 waits for +x(0,0), held by packet 0; packet 0 waits for +x(1,0), held by \
         packet 1; packet 1 waits for +x(2,0), held by packet 2; packet 2 waits for +x(3,0), \
         held by packet 3"
    );
    let again = network.advance(Some(1_000), &mut Vec::new());
    assert_eq!(again, Err(stalled));
    // With two virtual channels and the dateline, the same packets are delivered.
    let mut network = Network::new(&machine("torus:4x1"), Settings::LO).expect("legal");
    assert!(replay(&mut network, &packets).is_ok());
}

/// A worm that waits for a worm of the ring is in flight but not listed. In this test, the waiting worm is the second
/// packet of node 0, which waits for the injection channel that the first packet holds.
#[test]
fn the_diagnosis_lists_only_the_ring() {
    let mut network =
        Network::without_dateline(&machine("torus:4x1"), Settings::LO).expect("legal");
    let packets: Vec<_> = [0, 1, 2, 3, 0]
        .map(|i| TimedPacket { src: NodeId(i), dst: NodeId((i + 2) % 4), flits: 2, cycle: 0 })
        .into();
    let stalled = replay(&mut network, &packets).expect_err("a deadlock");
    let mut tags: Vec<_> = stalled.ring.iter().map(|wait| wait.tag).collect();
    tags.sort();
    assert_eq!((stalled.in_flight, tags), (5, vec![0, 1, 2, 3]));
}
