//! Compares the event-driven network with the reference network, which steps the same model flit by flit and
//! cycle by cycle.
//!
//! Packets of 8 flits are sent on a 16 x 16 mesh in two kinds of traffic. In random traffic, packets are injected one
//! after the other, with a given number of cycles between two packets. In "all to all" of Lo et al., every node sends
//! to nodes 0, 1, 2, ... in this order. The event-driven network and the reference network get the same packets and
//! must deliver each packet in the same cycle. A flit-hop is the crossing of one channel by one flit. Flit-hops are
//! counted in two totals: for links only, and for all channels.
//!
//! [`touches`] measures a lower bound of the time: it makes the memory accesses that each hop of a header needs, but
//! none of the decisions of a network.
//!
//! `cargo bench --bench network -- results/benchmarks` writes `network.csv` into that folder.

mod common;

use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use replay::network::packets::{ListedPacket, PacketResult, replay};
use replay::network::{Flits, Network, Settings};
use replay::topology::{NodeId, Topology};
use replay_reference::network::{self as reference, ReferencePacket};

/// A named list of packets, sorted by cycle of injection.
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

/// Returns a scenario in which every node sends a packet to every other node. All packets are queued at cycle 0. Each
/// node sends its packets in the same order as if each packet were queued only after the previous packet had left.
fn all_to_all(nodes: u32) -> Scenario {
    let pairs = (0..nodes).flat_map(|dst| (0..nodes).map(move |src| (src, dst)));
    let packets = pairs.filter(|(src, dst)| src != dst).enumerate().map(|(i, (src, dst))| {
        let flits = Settings::PACKET_FLITS;
        ListedPacket { id: i as u64, src: NodeId(src), dst: NodeId(dst), flits, inject_cycle: 0 }
    });
    Scenario { name: "all to all (saturated)".to_string(), packets: packets.collect() }
}

/// Runs the event-driven network repeatedly for one second. Returns the packet results, the flit counts, and the time
/// of the fastest run in seconds.
fn engine(
    topology: &Topology,
    settings: Settings,
    packets: &[ListedPacket],
) -> Result<(Vec<PacketResult>, Flits, f64), common::Failure> {
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

/// Returns a lower bound, in seconds, of the run time of any engine that moves headers by events. The function times
/// the steps that each hop needs: take the packet out of the bucket of its cycle, enter it at its channel, release the
/// channel that its tail leaves, and put the packet into a later bucket. No packet waits, there are no observers, and
/// routes are computed in advance. The number of packets in flight, `in_flight`, equals the average of the scenario.
fn touches(network: &Network, packets: &[ListedPacket], in_flight: usize) -> f64 {
    #[derive(Clone, Default)]
    #[repr(align(64))]
    struct Header {
        at: usize,
        begin: usize,
        end: usize,
        requested: u64,
    }
    /// Stand-in for a channel; it is as large as the state of a channel in the engine.
    #[derive(Clone, Default)]
    struct Line {
        holder: u64,
        free_at: u64,
        busy: u64,
        flits: u64,
        waiting: [u32; 2],
    }
    const BUCKETS: usize = 256;
    let mut routes: Vec<u32> = Vec::new();
    let links = network.channels() as u32;
    let nodes = packets.iter().map(|packet| packet.src.0.max(packet.dst.0) + 1).max().unwrap_or(0);
    let spans: Vec<[usize; 2]> = packets
        .iter()
        .map(|packet| {
            let begin = routes.len();
            let [injection, ejection] = [packet.src.0, nodes + packet.dst.0].map(|at| links + at);
            routes.push(injection);
            routes.extend(network.route(packet.src, packet.dst).map(|channel| channel.0));
            routes.push(ejection);
            [begin, routes.len()]
        })
        .collect();
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 0.5 {
        let mut lines = vec![Line::default(); (links + 2 * nodes) as usize];
        let mut headers = vec![Header::default(); in_flight];
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); BUCKETS];
        (0..in_flight as u32).for_each(|slot| buckets[slot as usize % BUCKETS].push(slot));
        let mut waiting = spans.iter();
        let (mut left, mut now) = (in_flight, 0u64);
        let begin = Instant::now();
        while left > 0 {
            let mut due = std::mem::take(&mut buckets[now as usize % BUCKETS]);
            for slot in due.drain(..) {
                let header = &mut headers[slot as usize];
                if header.at == header.end {
                    let Some(&[begin, end]) = waiting.next() else {
                        left -= 1;
                        continue;
                    };
                    *header = Header { at: begin, begin, end, requested: now };
                } else {
                    let line = &mut lines[routes[header.at] as usize];
                    (line.holder, line.free_at) = (u64::from(slot), u64::MAX);
                    line.waiting = [slot; 2];
                    line.flits += u64::from(Settings::PACKET_FLITS);
                    line.busy = line.busy.wrapping_sub(now);
                    let behind = header.at.checked_sub(Settings::PACKET_FLITS as usize);
                    if let Some(tail) = behind.filter(|&tail| tail >= header.begin) {
                        let line = &mut lines[routes[tail] as usize];
                        line.free_at = now;
                        line.busy = line.busy.wrapping_add(now);
                    }
                    header.at += 1;
                    header.requested = now;
                }
                buckets[(now as usize + 4) % BUCKETS].push(slot);
            }
            buckets[now as usize % BUCKETS] = due;
            now += 1;
        }
        best = best.min(begin.elapsed().as_secs_f64());
        std::hint::black_box(&lines);
    }
    best
}

fn main() -> Result<(), common::Failure> {
    let words = common::words();
    let topology: Topology = "16x16".parse()?;
    let nodes = topology.processors() as u32;
    let scenarios = [random(nodes, 100.0, 20_000), random(nodes, 5.0, 20_000), all_to_all(nodes)];
    let mut table = String::from(
        "preset,scenario,packets,cycles,seconds,link_flit_hops_per_second,flit_hops_per_second,\
         cycles_per_second,plain_seconds,speedup,ns_per_header_hop,ns_of_touches\n",
    );
    for (preset, settings) in Settings::PRESETS {
        for Scenario { name, packets } in &scenarios {
            let (results, flits, seconds) = engine(&topology, settings, packets)?;
            let listed: Vec<_> =
                packets
                    .iter()
                    .map(|&ListedPacket { src, dst, flits, inject_cycle: cycle, .. }| {
                        ReferencePacket { src, dst, flits, cycle }
                    })
                    .collect();
            let start = Instant::now();
            let expected = reference::run(&topology, settings, &listed, u64::MAX)
                .ok_or("the reference network does not end")?;
            let plain_seconds = start.elapsed().as_secs_f64();
            let ours = results.iter().map(|r| (r.delivered, r.latency, r.blocked));
            if !expected.iter().map(|p| (p.delivered, p.delivered - p.clock, p.blocked)).eq(ours) {
                return Err(format!("{preset}, {name}: the reference network differs").into());
            }
            let cycles = results.iter().map(|r| r.delivered).max().unwrap_or(0);
            let links = flits.links as f64 / seconds;
            let all = (flits.links + flits.injection + flits.ejection) as f64 / seconds;
            let (rate, speedup) = (cycles as f64 / seconds, plain_seconds / seconds);
            // A header crosses each of its channels once.
            let crossings = flits.links + flits.injection + flits.ejection;
            let hops = crossings as f64 / f64::from(Settings::PACKET_FLITS);
            let latencies: u64 = results.iter().map(|r| r.latency).sum();
            let in_flight = (latencies / cycles.max(1)).max(1) as usize;
            let bound = touches(&Network::new(&topology, settings)?, packets, in_flight);
            let [per_hop, bound] = [seconds, bound].map(|seconds| 1e9 * seconds / hops);
            println!(
                "{preset:<14} {name:<32} {:>6.1} M flit-hops/s on links, {:>6.1} M on all channels, \
                 {:>8.2} M cycles/s, {speedup:>6.1} x the reference network; {per_hop:.1} ns per header hop \
                 (lower bound {bound:.1}), {in_flight} packets in flight",
                links / 1e6,
                all / 1e6,
                rate / 1e6
            );
            table += &format!(
                "{preset},\"{name}\",{},{cycles},{seconds:.4},{links:.0},{all:.0},{rate:.0},\
                 {plain_seconds:.3},{speedup:.1},{per_hop:.1},{bound:.1}\n",
                packets.len()
            );
        }
    }
    if let Some(dir) = words.first() {
        std::fs::create_dir_all(dir)?;
        std::fs::write(Path::new(dir).join("network.csv"), table)?;
    }
    Ok(())
}
