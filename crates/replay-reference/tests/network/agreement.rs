//! Packet-by-packet comparison of the engine and the reference network.

use super::*;
use proptest::prelude::*;

const MACHINES: [&str; 17] = [
    "4x4",
    "5x3",
    "1x6",
    "8x2",
    "3x3x2",
    "2x2x5",
    "6x6",
    "hypercube:3",
    "hypercube:4",
    "cluster:6",
    "torus:4x4",
    "torus:5x1",
    "torus:3x4x3",
    "torus[x]:5x4",
    "torus[y]:3x6",
    "torus:7x2",
    "hypercube:0",
];

fn any_settings() -> impl Strategy<Value = Settings> {
    let preset = proptest::sample::select(&Settings::PRESETS).prop_map(|(_, preset)| preset);
    let switching = prop_oneof![
        3 => Just(Switching::Wormhole),
        1 => Just(Switching::VirtualCutThrough),
        1 => Just(Switching::StoreAndForward),
    ];
    let varied = (preset.clone(), switching, 1u32..6)
        .prop_map(|(preset, switching, depth)| Settings { switching, depth, ..preset });
    let flow = proptest::sample::select(vec![FlowControl::Handshake, FlowControl::Pipelined]);
    let times = (0u32..4, 0u32..4, 1u32..4, 0u32..4, 0u32..4, 0u32..4);
    let wild = (varied.clone(), times, flow).prop_map(|(settings, times, flow)| {
        let (route, inject, link, eject, release, release_injection) = times;
        Settings { route, inject, link, eject, release, release_injection, flow, ..settings }
    });
    prop_oneof![2 => preset, 2 => varied, 3 => wild]
}

/// Generates packets with a mean gap of `gap` cycles. The receivers are random nodes, or mostly the
/// same node.
fn any_packets() -> impl Strategy<Value = Vec<ReferencePacket>> {
    let packet = |flits, gap| (any::<u32>(), any::<u32>(), flits, 0..=2 * gap, any::<bool>());
    (1u32..20, prop_oneof![Just(0u64), Just(2), Just(15)], any::<bool>())
        .prop_flat_map(move |(flits, gap, hot)| {
            let list = proptest::collection::vec(packet(1..=flits, gap), 1..60);
            (list, Just(hot))
        })
        .prop_map(|(list, hot)| {
            let mut cycle = 0;
            list.into_iter()
                .map(|(src, dst, flits, pause, spot)| {
                    cycle += pause;
                    let dst = if hot && spot { 0 } else { dst };
                    ReferencePacket { src: NodeId(src), dst: NodeId(dst), flits, cycle }
                })
                .collect()
        })
}

fn compare(
    topology: &Topology,
    settings: Settings,
    packets: &[ReferencePacket],
) -> Result<(), TestCaseError> {
    let mut network = Network::new(topology, settings).expect("legal");
    let deliveries = replay(&mut network, packets)
        .map_err(|stalled| TestCaseError::fail(stalled.to_string()))?;
    let reference = reference::run(topology, settings, packets, 1_000_000).expect("ends");
    for (tag, ((delivered, delivery), reference)) in deliveries.iter().zip(&reference).enumerate() {
        let Delivery { latency, blocked, hops, head_arrived, .. } = *delivery;
        let ours = (*delivered, latency, blocked, hops, head_arrived);
        let last_start = reference.starts[0].last().expect("the header starts");
        let theirs = (
            reference.delivered,
            reference.delivered - reference.clock,
            reference.blocked,
            reference.hops,
            last_start + u64::from(settings.eject),
        );
        let text = "delivered, latency, blocked, hops, arrival of the header of packet";
        prop_assert_eq!(ours, theirs, "{} {}", text, tag);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn engine_and_reference_network_agree(
        topology in proptest::sample::select(&MACHINES), settings in any_settings(),
        packets in any_packets(),
    ) {
        let topology = machine(topology);
        let n = topology.processors() as u32;
        let packets: Vec<_> = packets
            .into_iter()
            .map(|p| ReferencePacket { src: NodeId(p.src.0 % n), dst: NodeId(p.dst.0 % n), ..p })
            .collect();
        let link = match topology.grid().is_some_and(|grid| grid.is_wrapped()) {
            true => 1,
            false => settings.link,
        };
        compare(&topology, Settings { link, ..settings }, &packets)?;
    }
}

/// Compares the networks if only links take time. If only links take time, a packet to its own
/// sender is delivered before its tail has left, and a header crosses two channels in one cycle.
#[test]
fn networks_agree_if_only_links_take_time() {
    let topology = machine("4x1");
    let fast = Settings { route: 0, ..Settings::BANI_MOHAMMAD };
    let packets: Vec<_> = (0..40)
        .map(|i| {
            let (src, dst) = (NodeId(i % 3), NodeId(i * i % 4));
            ReferencePacket { src, dst, flits: 1 + i % 2, cycle: u64::from(i / 8) }
        })
        .collect();
    for depth in 1..3 {
        compare(&topology, Settings { depth, ..fast }, &packets).expect("they agree");
    }
}
