//! What a job does alone where it is, for the model of link loads.

use std::collections::BTreeMap;

use super::TraceError;
use super::alone::Alone;
use replay_core::topology::NodeId;
use replay_network::ChannelId;
use replay_network::Network;
use replay_network::links::{Footprint, Reserved, Stream};
use replay_network::traffic::{Barrier, JobTraffic};

/// Of the processes of a job so many are looked at for the slowest: fewer of a larger job, whose
/// processes send more.
fn senders(processes: usize) -> usize {
    (8192 / processes.max(1)).clamp(16, 64).min(processes)
}

/// What so many packets of a job come to on these processors, and the links that they take there. The
/// packets, at least one, are sent `times` over.
///
/// Where a pattern has barriers the whole job waits for its slowest process, so that each of its
/// senders is a [`Stream`], evenly spaced ones if it has [more](senders) than are looked at: a sender has one packet
/// under way at a time, and each of its waits makes it later. All packets together are a stream too, the only one
/// without barriers, and of a job that ends before its first one, where quick processes send for
/// slow ones: its time grows as the mean latency does, by Little's law.
///
/// # Errors
/// [`TraceError`].
pub fn footprint(
    alone: &Alone<'_>,
    nodes: &[NodeId],
    job: u64,
    packets: u64,
    times: f64,
) -> Result<(JobTraffic, Footprint), TraceError> {
    let program = &alone.stage.messages.program;
    let pattern = program.pattern();
    let iteration = program.iteration(nodes.len() as u32) as f64;
    let whole = packets as f64 * times >= iteration;
    let barriers = match pattern.barrier() {
        Barrier::Step => true,
        Barrier::Iteration => whole,
        Barrier::None => false,
    };
    // By sender, packets by receiver.
    let mut sent: BTreeMap<NodeId, BTreeMap<NodeId, u64>> = BTreeMap::new();
    if barriers {
        let looked_at = senders(nodes.len());
        sent.extend((0..looked_at).map(|i| (nodes[i * nodes.len() / looked_at], BTreeMap::new())));
    }
    let (traffic, total) = alone.ran(nodes, job, packets, &mut |delivery| {
        if let Some(receivers) = sent.get_mut(&delivery.src) {
            *receivers.entry(delivery.dst).or_default() += 1;
        }
    })?;
    let network = traffic.network();
    let cycles = (total.end - total.begin).max(1) as f64;
    let flits = f64::from(alone.stage.messages.options.flits);
    let mut links = Vec::new();
    let mut all = Stream::default();
    for (link, busy, carried) in network.carried() {
        let packets = carried as f64 / flits;
        // The last packets leave their links a moment after their delivery.
        let share = (busy as f64 / cycles).min(1.0);
        all.weights.push((links.len() as u32, packets / total.latency.max(1) as f64));
        links.push(Reserved { link, share, hold: busy as f64 / packets });
    }
    let senders = sent.iter().map(|(&src, to)| stream(network, &links, src, to, cycles));
    let streams = senders.chain([all]).collect();
    Ok((total, Footprint { links, streams }))
}

/// The packets of one sender, by receiver, in the `cycles` that the job takes.
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
