//! Tests of conservation, monotonicity, symmetry and order.

use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Returns `count` packets between random nodes, one every `gap` cycles on average.
fn random_traffic(topology: &Topology, count: u32, gap: f64, seed: u64) -> Vec<TimedPacket> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let n = topology.processors() as u32;
    let node = |random: &mut ChaCha8Rng| NodeId(random.random_range(0..n));
    let packet = |i: u32| {
        let (src, dst) = (node(&mut random), node(&mut random));
        let flits = random.random_range(1..=12);
        TimedPacket { src, dst, flits, cycle: (f64::from(i) * gap) as u64 }
    };
    (0..count).map(packet).collect()
}

fn usage(network: &Network) -> BTreeMap<(NodeId, Port), (u64, u64)> {
    network.usage().map(|u| ((u.channel.from, u.channel.port), (u.busy, u.flits))).collect()
}

/// Returns the node at the far end of a link on a grid.
fn far_end(topology: &Topology, from: NodeId, port: Port) -> NodeId {
    let grid = topology.grid().expect("a grid");
    let Port::Axis { axis, positive, .. } = port else { return from };
    let mut coord = grid.coord(from);
    let (p, n) = (&mut coord[usize::from(axis)], grid.axes()[usize::from(axis)].extent);
    *p = if positive { (*p + 1) % n } else { (*p + n - 1) % n };
    grid.node(coord)
}

#[test]
fn flits_are_conserved() {
    for text in ["6x5", "3x4x3", "torus:5x4"] {
        let topology = machine(text);
        let packets = random_traffic(&topology, 3000, 0.7, 1);
        let mut network = Network::new(&topology, Settings::LO).expect("a preset");
        let deliveries = replay(&mut network, &packets).expect("no deadlock");
        // The number of flits that leave a router equals the number of flits that enter it.
        let mut balance = vec![0i64; topology.processors()];
        let (mut injected, mut ejected) = (0, 0);
        for ((from, port), (_, flits)) in usage(&network) {
            match port {
                Port::Injection => injected += flits,
                Port::Ejection => ejected += flits,
                _ => balance[from.index()] -= flits as i64,
            }
            let sign = if port == Port::Ejection { -1 } else { 1 };
            balance[far_end(&topology, from, port).index()] += sign * flits as i64;
        }
        assert!(balance.iter().all(|&difference| difference == 0), "{balance:?}");
        let sent: u64 = packets.iter().map(|packet| u64::from(packet.flits)).sum();
        assert_eq!((injected, ejected), (sent, sent));
        let crossed: u64 =
            deliveries.iter().map(|(_, d)| u64::from(d.hops) * u64::from(d.flits)).sum();
        let carried = network.flits();
        assert_eq!((carried.links, carried.injection + carried.ejection), (crossed, 2 * sent));
    }
}

/// Beyond saturation, only the senders' queues grow. The latency of packets, which does not include the time in the
/// queues, stays constant. The time from sending to delivery continues to rise.
#[test]
fn latency_rises_with_load() {
    let topology = machine("8x8");
    for (name, preset) in Settings::PRESETS {
        let (mut latency, mut delay) = (0.0, 0.0);
        for gap in [100.0, 10.0, 3.0, 2.0, 1.5, 1.0, 0.7, 0.5] {
            let packets = random_traffic(&topology, 20_000, gap, 5);
            let mut network = Network::new(&topology, preset).expect("a preset");
            let deliveries = replay(&mut network, &packets).expect("no deadlock");
            let mean = |time: &dyn Fn(usize) -> u64| {
                (0..packets.len()).map(time).sum::<u64>() as f64 / packets.len() as f64
            };
            let now = mean(&|i| deliveries[i].1.latency);
            let since = mean(&|i| deliveries[i].0 - packets[i].cycle);
            let saturated = since > 2.0 * now;
            assert!(now >= latency || saturated, "{name}, gap {gap}: {now} after {latency}");
            assert!(since >= delay, "{name}, gap {gap}: {since} after {delay}");
            (latency, delay) = (now, since);
        }
        assert!(delay > 10.0 * latency, "{name} at saturation: {delay} and {latency}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Mirrored traffic gives the same measures of packets and mirrored loads. (Only odd lengths are tested, because on
    /// a ring of even length half a turn always goes upwards.)
    #[test]
    fn reflected_traffic_gives_reflected_loads(
        text in proptest::sample::select(&["6x4", "3x4x3", "torus:5x3", "torus[y]:4x5"]),
        mirrored in 0usize..3, seed: u64, preset in proptest::sample::select(&Settings::PRESETS),
    ) {
        let topology = machine(text);
        let grid = topology.grid().expect("a grid");
        let reflect = |node: NodeId| {
            let mut coord = grid.coord(node);
            coord[mirrored] = grid.axes()[mirrored].extent - 1 - coord[mirrored];
            grid.node(coord)
        };
        let packets = random_traffic(&topology, 300, 1.5, seed);
        let reflected: Vec<_> = packets.iter()
            .map(|p| TimedPacket { src: reflect(p.src), dst: reflect(p.dst), ..*p }).collect();
        let run = |packets: &[TimedPacket]| {
            let mut network = Network::new(&topology, preset.1).expect("a preset");
            let deliveries = replay(&mut network, packets).expect("no deadlock");
            let measures: Vec<_> = deliveries.iter()
                .map(|(cycle, d)| (*cycle, d.latency, d.blocked, d.head_arrived)).collect();
            (measures, usage(&network))
        };
        let (measures, loads) = run(&packets);
        let (other_measures, other_loads) = run(&reflected);
        prop_assert_eq!(measures, other_measures);
        let back: BTreeMap<_, _> = other_loads.into_iter().map(|((from, port), load)| {
            let port = match port {
                Port::Axis { axis, positive, lane } if usize::from(axis) == mirrored => {
                    Port::Axis { axis, positive: !positive, lane }
                }
                port => port,
            };
            ((reflect(from), port), load)
        }).collect();
        prop_assert_eq!(loads, back);
    }
}

/// If a packet is sent as soon as the tail of the previous packet has left, its timing is the same as the timing of a
/// packet that was already queued.
#[test]
fn packets_sent_on_an_event_are_sent_in_its_cycle() {
    let topology = machine("16x16");
    let mut network = Network::new(&topology, Settings::LO).expect("a preset");
    let send = |network: &mut Network, x: u16| {
        let (src, dst) = (NodeId(0), at(&topology, [x, 0, 0]));
        network.send(Packet { src, dst, flits: 8, tag: u64::from(x) }).expect("legal");
    };
    send(&mut network, 1);
    let mut events = Vec::new();
    let mut seen = Vec::new();
    while let Some(cycle) = network.advance(None, &mut events).expect("no deadlock") {
        for event in &events {
            match event {
                NetworkEvent::TailLeft { tag, src } => {
                    seen.push((cycle, *tag, None));
                    assert_eq!(*src, NodeId(0));
                    if *tag == 1 {
                        send(&mut network, 4);
                    }
                }
                NetworkEvent::Delivered(d) => seen.push((cycle, d.tag, Some(d.latency))),
            }
        }
    }
    assert_eq!(seen, [(27, 1, None), (31, 1, Some(31)), (62, 4, None), (72, 4, Some(45))]);
}

#[test]
fn advance_stops_at_the_given_cycle() {
    let mut network = Network::new(&machine("4x4"), Settings::LO).expect("a preset");
    let mut events = Vec::new();
    assert_eq!(network.advance(None, &mut events), Ok(None));
    assert_eq!((network.advance(Some(12), &mut events), network.now()), (Ok(None), 12));
    let packet = Packet { src: NodeId(0), dst: NodeId(4), flits: 8, tag: 3 };
    network.send(packet).expect("legal");
    // The clock does not go back, and does not skip an event.
    assert_eq!((network.advance(Some(5), &mut events), network.now()), (Ok(None), 12));
    assert_eq!((network.advance(Some(38), &mut events), network.now()), (Ok(None), 38));
    assert_eq!(network.advance(Some(39), &mut events), Ok(Some(39)));
    assert_eq!(events, [NetworkEvent::TailLeft { tag: 3, src: NodeId(0) }]);
    assert_eq!(network.advance(Some(100), &mut events), Ok(Some(43)));
    assert_eq!((network.advance(Some(100), &mut events), network.now()), (Ok(None), 100));
    assert_eq!(network.in_flight(), 0);
}

#[test]
fn illegal_packets_are_refused() {
    let mut network = Network::new(&machine("4x4"), Settings::LO).expect("a preset");
    let packet = Packet { src: NodeId(0), dst: NodeId(15), flits: 8, tag: 0 };
    let message = |result: Result<(), PacketError>| result.map_err(|error| error.to_string());
    assert_eq!(
        message(network.send(Packet { dst: NodeId(16), ..packet })),
        Err("node 16 does not exist: the machine has 16 nodes".to_string())
    );
    for flits in [0, Packet::MAX_FLITS + 1] {
        assert_eq!(network.send(Packet { flits, ..packet }), Err(PacketError::Length(flits)));
    }
    assert_eq!(network.in_flight(), 0);
    let slow = Settings { link: 2, ..Settings::LO };
    assert_eq!(Network::new(&machine("torus:4x4"), slow).err(), Some(SettingsError::SlowTorus(2)));
    assert!(Network::new(&machine("4x4"), slow).is_ok());
}

/// Ten times as many packets do not need more memory.
#[test]
fn memory_does_not_grow_with_packets_sent() {
    let topology = machine("4x4");
    // With the last of these settings, a packet whose receiver is its sender is delivered before its tail has left.
    let fast = Settings { route: 0, ..Settings::BANI_MOHAMMAD };
    for settings in [Settings::LO, Settings { depth: 3, ..Settings::LO }, fast] {
        let mut network = Network::new(&topology, settings).expect("legal");
        let mut places = Vec::new();
        for rounds in [10, 100] {
            for _ in 0..rounds {
                let packets = random_traffic(&topology, 100, 0.0, 3);
                replay(&mut network, &packets).expect("no deadlock");
            }
            places.push(network.places());
        }
        assert_eq!(places[0], places[1]);
    }
}

/// The reservation of a channel lasts from its grant to its release.
#[test]
fn busy_cycles_are_those_reserved() {
    let topology = machine("16x16");
    let mut network = Network::new(&topology, Settings::LO).expect("a preset");
    let (src, dst) = (at(&topology, [0, 0, 0]), at(&topology, [1, 0, 0]));
    network.send(Packet { src, dst, flits: 8, tag: 0 }).expect("legal");
    let busy = |network: &Network| {
        let usage = network.usage().filter(|usage| usage.busy > 0);
        usage.map(|u| format!("{} {} {}", u.channel, u.busy, u.flits)).collect::<Vec<_>>()
    };
    let mut events = Vec::new();
    assert_eq!(network.advance(Some(7), &mut events), Ok(None));
    assert_eq!(busy(&network), ["inj(0,0) 7 8", "+x(0,0) 3 8"]);
    while network.advance(None, &mut events).expect("no deadlock").is_some() {}
    assert_eq!(network.now(), 31);
    assert_eq!(busy(&network), ["inj(0,0) 29 8", "+x(0,0) 27 8", "ej(1,0) 23 8"]);
    assert_eq!(network.advance(Some(40), &mut events), Ok(None));
    assert_eq!(busy(&network), ["inj(0,0) 29 8", "+x(0,0) 29 8", "ej(1,0) 25 8"]);
}
