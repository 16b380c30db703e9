//! Link usage of a job that runs alone on its processors, for the model of link loads.

use std::collections::BTreeMap;

use super::TraceError;
use super::alone::Alone;
use replay_engine::topology::NodeId;
use replay_network::links::{Footprint, Reserved, Stream};
use replay_network::traffic::{Barrier, JobTraffic};
use replay_network::{ChannelId, Network};

/// Returns the number of sending processes that are examined to find the slowest process. The number is smaller for
/// larger jobs, because the processes of larger jobs send more packets.
fn senders(processes: usize) -> usize {
    (8192 / processes.max(1)).clamp(16, 64).min(processes)
}

/// Runs a job with `packets` packets (at least one) alone on its processors. Returns the totals of the job's packets
/// and its link usage. The packets are sent `times` times.
///
/// In a pattern with barriers, the whole job waits for its slowest process. Each sender is therefore a [`Stream`]: a
/// sender has one packet in transit at a time, and each wait of the packet delays the sender. If there are more senders
/// than are [examined](senders), the streams are evenly spaced among the senders. All packets together form one more
/// stream. The stream of all packets is the only stream if the pattern has no barriers, or if the job ends before its
/// first barrier. If no process waits at a barrier, fast processes send packets in place of slow processes, and by
/// Little's law the time of the job grows in proportion to the mean latency.
///
/// # Errors
/// [`TraceError`] if a packet cannot be sent, the network is deadlocked, or the run is cancelled.
pub fn footprint(
    alone: &Alone<'_>,
    nodes: &[NodeId],
    job: u64,
    packets: u64,
    times: f64,
) -> Result<(JobTraffic, Footprint), TraceError> {
    let program = &alone.input.messages.program;
    let pattern = program.pattern();
    let iteration = program.iteration(nodes.len() as u32) as f64;
    let whole = packets as f64 * times >= iteration;
    let barriers = match pattern.barrier() {
        Barrier::Step => true,
        Barrier::Iteration => whole,
        Barrier::None => false,
    };
    // Number of packets for each pair of sender and receiver.
    let mut sent: BTreeMap<NodeId, BTreeMap<NodeId, u64>> = BTreeMap::new();
    if barriers {
        let examined = senders(nodes.len());
        sent.extend((0..examined).map(|i| (nodes[i * nodes.len() / examined], BTreeMap::new())));
    }
    let (traffic, total) = alone.run(nodes, job, packets, &mut |delivery| {
        if let Some(receivers) = sent.get_mut(&delivery.src) {
            *receivers.entry(delivery.dst).or_default() += 1;
        }
    })?;
    let network = traffic.network();
    let cycles = (total.end - total.begin).max(1) as f64;
    let flits = f64::from(alone.input.messages.options.flits);
    let mut links = Vec::new();
    let mut all = Stream::default();
    for (link, busy, carried) in network.carried() {
        let packets = carried as f64 / flits;
        // Limit the share to 1: the last packets leave their links shortly after their delivery, when the job has
        // already ended.
        let share = (busy as f64 / cycles).min(1.0);
        all.weights.push((links.len() as u32, packets / total.latency.max(1) as f64));
        links.push(Reserved { link, share, hold: busy as f64 / packets });
    }
    let senders = sent.iter().map(|(&src, to)| stream(network, &links, src, to, cycles));
    let streams = senders.chain([all]).collect();
    Ok((total, Footprint { links, streams }))
}

/// Creates the stream of one sender; `to` contains the number of packets for each receiver. `cycles` is the duration of
/// the job.
fn stream(
    network: &Network,
    links: &[Reserved],
    src: NodeId,
    to: &BTreeMap<NodeId, u64>,
    cycles: f64,
) -> Stream {
    let mut packets: BTreeMap<ChannelId, u64> = BTreeMap::new();
    for (&dst, &sent) in to {
        for link in network.route(src, dst) {
            *packets.entry(link).or_default() += sent;
        }
    }
    let weight = |(link, sent): (ChannelId, u64)| {
        let at = links.binary_search_by_key(&link, |own| own.link).ok()?;
        Some((at as u32, sent as f64 / cycles))
    };
    Stream { weights: packets.into_iter().filter_map(weight).collect() }
}
