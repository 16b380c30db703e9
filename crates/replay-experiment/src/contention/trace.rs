//! Contention on a trace: does a better allocation make jobs faster?
//!
//! A cycle stands for `1 / scale` seconds of the trace. A job's quota is such that it would
//! run for `run time x scale` cycles, its target, alone on the empty machine: in its own shape
//! if the trace has shapes, else in the most compact box that holds it, turned the way in which it is
//! fastest. [`isolate`](super::isolate) says how near it comes. With other jobs around and other
//! processors the same packets take longer: the ratio is the job's *stretch*, the product of two factors.
//!
//! * The *placement factor* is its time alone on the processors that it got, over its time alone in the
//!   box: what its allocator does to it by itself. Five processors in a row have one above 1; one
//!   below 1 is possible, where the order of the processors suits the pattern better than the box.
//! * The *contention factor* is its time among the others over its time alone on the same processors:
//!   what the others do to it. It is exactly 1 for a job that has the machine to itself.
//!
//! Arrivals and estimates are scaled alike, and a job that
//! has nobody to send to holds its processors for its target, so that in isolation the load
//! would be that of the trace.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::LinkService;
use super::alone::Alone;
use super::isolation::is_near;
use super::watcher::{Seen, Strategies, Watcher};
use super::{Isolation, Stage, TraceError};
use crate::Cell;
use crate::journal::CellId;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::metrics::{Placement, SystemMetrics, SystemRecorder};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Service, Simulation, Starts};
use replay_core::workload::Shake;
use replay_network::{ChannelId, Network, Port};

/// One job among the others.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobContention {
    /// Job number in the trace.
    pub number: i64,
    /// Processors.
    pub size: u32,
    /// Packets.
    pub packets: u64,
    /// Cycles that it should take alone: run time x scale.
    pub target: u64,
    /// Cycles that it takes alone in its shape or the most compact box.
    pub isolated: u64,
    /// Cycles that it takes alone on the processors that it got.
    pub alone: u64,
    /// Cycles among the others.
    pub service: u64,
    /// Cycles from arrival to start.
    pub wait: u64,
    /// Mean latency of its packets, cycles.
    pub latency: f64,
    /// Mean wait of their headers, cycles.
    pub blocked: f64,
    /// Mean links of their paths.
    pub hops: f64,
    /// Where it was.
    pub placement: Placement,
}

impl JobContention {
    /// Time among the others over time alone in the box; `None` for a job that sends nothing.
    pub fn stretch(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.service as f64 / self.isolated as f64)
    }

    /// Time alone where it was over time alone in the box; `None` for a job that sends nothing.
    pub fn placement_factor(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.alone as f64 / self.isolated as f64)
    }

    /// Time among the others over time alone where it was; `None` for a job that sends nothing.
    pub fn contention_factor(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.service as f64 / self.alone as f64)
    }

    /// Whether it sends packets, and its time alone misses the target by more than
    /// [`TOLERANCE`](super::TOLERANCE): a packet or step is longer.
    pub fn is_off_target(&self) -> bool {
        self.packets > 0 && !is_near(self.isolated, self.target)
    }

    /// Mean hop distance over the pairs of its processors.
    pub fn distance(&self) -> f64 {
        self.placement.distance(self.size)
    }
}

/// A trace under one scheduler and one allocator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceRun {
    /// Every job, in order of submission.
    pub jobs: Vec<JobContention>,
    /// The system over time.
    pub system: SystemMetrics,
    /// How long the links were reserved; see [`link_use`].
    pub link_use: Vec<LinkUse>,
}

/// Runs isolated jobs together on this thread, then each job alone on all threads of the current rayon pool; the
/// outcome does not depend on how many there are. `seed` is that of the allocator and of what jobs draw: that
/// by which they were isolated, if they are to send what they sent alone.
///
/// # Errors
/// [`TraceError`].
pub fn run_trace(
    stage: Stage<'_>,
    isolation: &Isolation,
    scheduler: &SchedulerSpec,
    allocator: &AllocatorSpec,
    seed: u64,
) -> Result<TraceRun, TraceError> {
    let Stage { topology, messages, .. } = stage;
    let jobs = &isolation.jobs;
    let processors = topology.processors();
    let cell = Strategies { scheduler, allocator, seed };
    let (seen, sent, link_use) = if messages.window.is_some() {
        let mut service = LinkService::new(Alone::new(stage, seed)?, isolation);
        let seen = together(stage, isolation, cell, &mut service)?;
        let reserved = (0..).map(ChannelId).zip(service.reserved().iter().copied());
        let used = reserved.filter(|(_, cycles)| *cycles > 0.0);
        let last = seen.recorder.ends().iter().copied().max().unwrap_or(0);
        let empty = Alone::new(stage, seed)?;
        let link_use = link_use(empty.network(), processors, last as u64, used);
        (seen, service.by_job().to_vec(), link_use)
    } else {
        let mut service = messages
            .on(topology, seed, Some(isolation.quotas.clone()))?
            .recording(jobs.len())
            .stopped_by(stage.watch.stop.clone());
        let seen = together(stage, isolation, cell, &mut service)?;
        let network = service.traffic.network();
        // Every job once more by itself, where it was.
        let empty = Alone::new(stage, seed)?;
        let nodes = seen.nodes.par_iter().enumerate().with_max_len(1);
        let alone = nodes.map(|(job, nodes)| {
            let packets = isolation.quotas[job];
            if packets > 0 { empty.time(nodes, job as u64, packets) } else { Ok(0) }
        });
        let alone: Vec<u64> = alone.collect::<Result<_, TraceError>>()?;
        let sent: Vec<_> = service.by_job().iter().copied().zip(alone).collect();
        let used = network.carried().map(|(id, cycles, _)| (id, cycles as f64));
        (seen, sent, link_use(network, processors, network.now(), used))
    };
    let Seen { recorder, overhead, placements, .. } = seen;
    let times = recorder.starts().iter().zip(recorder.ends());
    let each = jobs.iter().zip(placements).zip(times).zip(&sent).zip(&isolation.service);
    let jobs = each.filter_map(|((((job, placement), (start, end)), sent), isolated)| {
        let (traffic, alone) = sent;
        let mean = |sum: u64| sum as f64 / traffic.packets.max(1) as f64;
        Some(JobContention {
            number: job.number,
            size: job.size,
            packets: traffic.packets,
            target: job.run as u64,
            isolated: *isolated,
            alone: if traffic.packets > 0 { *alone } else { (end - start) as u64 },
            service: (end - start) as u64,
            wait: (start - job.submit) as u64,
            latency: mean(traffic.latency),
            blocked: mean(traffic.blocked),
            hops: mean(traffic.hops),
            placement: placement?,
        })
    });
    Ok(TraceRun {
        jobs: jobs.collect(),
        system: recorder.metrics(0, processors, &overhead),
        link_use,
    })
}

/// Runs all jobs together, for as long as the service says.
fn together(
    stage: Stage<'_>,
    isolation: &Isolation,
    strategies: Strategies<'_>,
    service: &mut dyn Service,
) -> Result<Seen, TraceError> {
    let Stage { topology, watch, .. } = stage;
    let Strategies { scheduler, allocator, seed } = strategies;
    let mut built = allocator.build(topology, seed)?;
    let recorder = SystemRecorder::new(isolation.jobs.len());
    let mut observers = (recorder, Watcher::new(topology, isolation, watch));
    let mut scheduler = scheduler.build(topology.processors() as u32);
    let starts = Starts::Scheduler(scheduler.as_mut());
    let simulation = Simulation::new(&isolation.jobs, topology, watch.stop).with_service(service);
    let overhead = simulation.run(starts, built.as_mut(), &mut observers)?;
    let (recorder, watcher) = observers;
    Ok(watcher.seen(recorder, overhead))
}

/// The shares of the time for which the links that leave a processor were reserved, by direction: on a
/// grid -x, +x, -y, +y and so on, on a hypercube bit by bit. `None` where no link leads: a corner of
/// a 2D mesh has two of four, an edge three.
pub type LinkUse = Vec<Option<f64>>;

/// The use of the links by processor: cycles for which channels were `used`, of `cycles`. The two virtual
/// channels of a torus' link are added up: they share its flits, but may be reserved at the same time, so
/// that a share can be above 1.
pub fn link_use(
    network: &Network,
    processors: usize,
    cycles: u64,
    used: impl Iterator<Item = (ChannelId, f64)>,
) -> Vec<LinkUse> {
    let mut links = vec![LinkUse::new(); processors];
    // Links that carried nothing are there too.
    let none = (0..network.channels() as u32).map(|id| (ChannelId(id), 0.0));
    for (id, busy) in none.chain(used) {
        let Some(channel) = network.channel(id) else { continue };
        let direction = match channel.port {
            Port::Axis { axis, positive, .. } => 2 * usize::from(axis) + usize::from(positive),
            Port::Bit(bit) => usize::from(bit),
            Port::Injection | Port::Ejection => continue,
        };
        let of = &mut links[channel.from.index()];
        of.resize(of.len().max(direction + 1), None);
        *of[direction].get_or_insert(0.0) += busy / cycles.max(1) as f64;
    }
    links
}

/// The mean over the links that there are; `None` without any.
pub fn mean_use(links: &LinkUse) -> Option<f64> {
    let there: Vec<f64> = links.iter().flatten().copied().collect();
    (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
}

/// What tells a run of a trace from others: the digest of its jobs, its cell, what they send and
/// the cycles to a second. `messages` is their [digest](super::Messages::digest), `shake` how copies of
/// the trace are shaken.
pub fn contended_id(
    jobs: &str,
    cell: &Cell,
    shake: Option<&Shake>,
    messages: &str,
    scale: f64,
) -> CellId {
    let Cell { trace, scheduler, allocator, seed } = cell;
    let (topology, strategy) = (&trace.topology, allocator.identity());
    let mut text = format!(
        "replay contend 3\n{jobs}\n{topology}\n{scheduler}\n{strategy}\n{seed}\n{messages}\n{scale}\n"
    );
    if let Some(shake) = shake.filter(|_| trace.copy > 0) {
        text += &shake.identity(trace.copy);
    }
    CellId::of(&text)
}

#[cfg(test)]
mod tests;
