//! The event-driven network against the same model stepped flit by flit and cycle by cycle.
//!
//! Random traffic on a 16 x 16 mesh with packets of 8 flits, one in so many cycles; and
//! "all to all" of Lo et al., where every node sends to 0, 1, 2, ... in this order. Both
//! models get the same packets and must give the same deliveries. A flit-hop is a flit that
//! crosses a channel: a link, or any channel.
//!
//! `cargo bench --bench network -- results/benchmarks` writes `network.csv` there.

use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use replay::network::packets::{ListedPacket, PacketResult, replay};
use replay::network::plain::{self, PlainPacket};
use replay::network::{Flits, Network, Settings};
use replay::topology::{NodeId, Topology};

type Failure = Box<dyn std::error::Error>;

/// Packets of a scenario, by cycle.
struct Scenario {
    name: String,
    packets: Vec<ListedPacket>,
}

fn random(nodes: u32, cycles_per_packet: f64, count: u32) -> Scenario {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let packet = |i: u32| ListedPacket {
        id: u64::from(i),
        src: NodeId(random.random_range(0..nodes)),
        dst: NodeId(random.random_range(0..nodes)),
        flits: Settings::PACKET_FLITS,
        inject_cycle: (f64::from(i) * cycles_per_packet) as u64,
    };
    let name = format!("random, a packet in {cycles_per_packet} cycles");
    Scenario { name, packets: (0..count).map(packet).collect() }
}

/// Everything is in its sender's queue at once, which sends in the same order as a sender
/// that hands over each packet when the one before has left.
fn all_to_all(nodes: u32) -> Scenario {
    let pairs = (0..nodes).flat_map(|dst| (0..nodes).map(move |src| (src, dst)));
    let packets = pairs.filter(|(src, dst)| src != dst).enumerate().map(|(i, (src, dst))| {
        let flits = Settings::PACKET_FLITS;
        ListedPacket { id: i as u64, src: NodeId(src), dst: NodeId(dst), flits, inject_cycle: 0 }
    });
    Scenario { name: "all to all (saturated)".to_string(), packets: packets.collect() }
}

/// Results, flits, and the least time of some runs in seconds.
fn engine(
    topology: &Topology,
    settings: Settings,
    packets: &[ListedPacket],
) -> Result<(Vec<PacketResult>, Flits, f64), Failure> {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    loop {
        let mut network = Network::new(topology, settings)?;
        let start = Instant::now();
        let results = replay(&mut network, packets)?;
        best = best.min(start.elapsed().as_secs_f64());
        if begin.elapsed().as_secs_f64() > 1.0 {
            return Ok((results, network.flits(), best));
        }
    }
}

fn main() -> Result<(), Failure> {
    // `cargo bench` adds flags of its own.
    let dir = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let topology: Topology = "16x16".parse()?;
    let nodes = topology.processors() as u32;
    let scenarios = [random(nodes, 100.0, 20_000), random(nodes, 5.0, 20_000), all_to_all(nodes)];
    let mut table = String::from(
        "preset,scenario,packets,cycles,seconds,link_flit_hops_per_second,flit_hops_per_second,\
         cycles_per_second,plain_seconds,speedup\n",
    );
    for (preset, settings) in Settings::PRESETS {
        for Scenario { name, packets } in &scenarios {
            let (results, flits, seconds) = engine(&topology, settings, packets)?;
            let listed: Vec<_> = packets
                .iter()
                .map(|&ListedPacket { src, dst, flits, inject_cycle: cycle, .. }| PlainPacket {
                    src,
                    dst,
                    flits,
                    cycle,
                })
                .collect();
            let start = Instant::now();
            let plain = plain::run(&topology, settings, &listed, u64::MAX).ok_or("endless")?;
            let plain_seconds = start.elapsed().as_secs_f64();
            let ours = results.iter().map(|r| (r.delivered, r.latency, r.blocked));
            if !plain.iter().map(|p| (p.delivered, p.delivered - p.clock, p.blocked)).eq(ours) {
                return Err(format!("{preset}, {name}: the plain model differs").into());
            }
            let cycles = results.iter().map(|r| r.delivered).max().unwrap_or(0);
            let links = flits.links as f64 / seconds;
            let all = (flits.links + flits.injection + flits.ejection) as f64 / seconds;
            let (rate, speedup) = (cycles as f64 / seconds, plain_seconds / seconds);
            println!(
                "{preset:<14} {name:<32} {:>6.1} M flit-hops/s on links, {:>6.1} M in all, \
                 {:>8.2} M cycles/s, {speedup:>6.1} x the plain model",
                links / 1e6,
                all / 1e6,
                rate / 1e6
            );
            table += &format!(
                "{preset},\"{name}\",{},{cycles},{seconds:.4},{links:.0},{all:.0},{rate:.0},\
                 {plain_seconds:.3},{speedup:.1}\n",
                packets.len()
            );
        }
    }
    if let Some(dir) = dir {
        std::fs::create_dir_all(&dir)?;
        std::fs::write(Path::new(&dir).join("network.csv"), table)?;
    }
    Ok(())
}
