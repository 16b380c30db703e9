//! Contention in a trace: the effect of the allocation on the run times of jobs.
//!
//! A cycle corresponds to `1 / scale` seconds of the trace. The target of a job is `run time x scale` cycles. The quota
//! of a job is its number of packets. The quota of a job is chosen such that the job takes its target number of cycles
//! if it runs alone on the empty machine. For this measurement, the job runs in its own shape if the trace has shapes.
//! If the trace has no shapes, the job runs in the most compact box, in the orientation in which the job is fastest.
//! The module [`isolation`](super::isolate) describes the accuracy. If the job runs among other jobs and on other
//! processors, the same packets take longer. The *stretch* of a job is the ratio of two times: the time that the job
//! takes among the other jobs, and the time that the job takes if it runs alone in the box. The stretch is the product
//! of two factors.
//!
//! * The *placement factor* is the ratio of the time that the job takes alone on the allocated processors to the time
//!   that it takes alone in the box. The placement factor measures the effect of the allocator. For example, the
//!   placement factor is above 1 for five processors in a row. The placement factor can be below 1 if the order of the
//!   processors suits the pattern better than the order in the box.
//! * The *contention factor* is the ratio of the time that the job takes among the other jobs to the time that it takes
//!   alone on the same processors. The contention factor measures the effect of other jobs. The contention factor is
//!   exactly 1 for a job that runs alone on the machine.
//!
//! Arrivals and estimates are scaled like run times. A job without receivers holds its processors for its target.
//! Without contention, the load therefore equals the load of the trace.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::LinkService;
use super::alone::Alone;
use super::isolation::is_near;
use super::{ContentionInput, Isolation, TraceError};
use crate::compatibility::reject_recorded_scheduler;
use crate::journal::CellId;
use crate::{Cell, ProgressMeter, RunContext};
use replay_engine::allocator::Allocator;
use replay_engine::metrics::{Locality, Placement, SystemMetrics, SystemRecorder};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Decision, Observer, Service, Simulation, Starts};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{JobId, Shake};
use replay_network::{ChannelId, Network, Port};

/// Results of a job among the other jobs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobContention {
    /// Job number in the trace.
    pub number: i64,
    /// Number of processors.
    pub size: u32,
    /// Number of packets.
    pub packets: u64,
    /// Target: the number of cycles that the job should take if it runs alone. The target is run time x scale.
    pub target: u64,
    /// Number of cycles that the job takes if it runs alone in its shape or in the most compact box.
    pub isolated: u64,
    /// Number of cycles that the job takes if it runs alone on its processors.
    pub alone: u64,
    /// Number of cycles that the job takes if it runs among the other jobs.
    pub service: u64,
    /// Number of cycles from arrival to start.
    pub wait: u64,
    /// Mean latency of the packets in cycles.
    pub latency: f64,
    /// Mean waiting time of the packet headers in cycles.
    pub blocked: f64,
    /// Mean number of links of the packets' paths.
    pub hops: f64,
    /// Metrics of the placement.
    pub placement: Placement,
}

impl JobContention {
    /// Returns the ratio of the time that the job takes among the other jobs to the time that it takes alone in the
    /// box; `None` for a job that sends no packets.
    pub fn stretch(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.service as f64 / self.isolated as f64)
    }

    /// Returns the ratio of the time that the job takes alone on the same processors to the time that it takes alone in
    /// the box; `None` for a job that sends no packets.
    pub fn placement_factor(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.alone as f64 / self.isolated as f64)
    }

    /// Returns the ratio of the time that the job takes among the other jobs to the time that it takes alone on the
    /// same processors; `None` for a job that sends no packets.
    pub fn contention_factor(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.service as f64 / self.alone as f64)
    }

    /// Returns whether the job sends packets and misses its target by more than [`TOLERANCE`](super::TOLERANCE) if it
    /// runs alone. The cause is the granularity of the pattern.
    pub fn is_off_target(&self) -> bool {
        self.packets > 0 && !is_near(self.isolated, self.target)
    }

    /// Returns the mean hop distance over the pairs of the job's processors.
    pub fn distance(&self) -> f64 {
        self.placement.distance(self.size)
    }
}

/// Results of a trace under one scheduler and one allocator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceRun {
    /// Results of every job in order of submission.
    pub jobs: Vec<JobContention>,
    /// Metrics of the system over time.
    pub system: SystemMetrics,
    /// Utilization of the links; see [`link_use`].
    pub link_use: Vec<LinkUse>,
}

/// Runs all jobs together on this thread. Then runs each job alone, in parallel on the threads of the current rayon
/// pool. The result does not depend on the number of threads. `seed` determines the random choices of jobs. The seed
/// must equal the seed with which the isolation was computed, so that jobs send the same packets alone and together.
///
/// # Errors
/// [`TraceError`] if the scheduler repeats recorded starts, if the network or the simulation fails, or if cancelled.
pub fn run_trace(
    input: ContentionInput<'_>,
    isolation: &Isolation,
    scheduler: &SchedulerSpec,
    allocator: &mut dyn Allocator,
    seed: u64,
) -> Result<TraceRun, TraceError> {
    reject_recorded_scheduler(std::slice::from_ref(scheduler))?;
    let ContentionInput { topology, messages, watch, .. } = input;
    let jobs = &isolation.jobs;
    let processors = topology.processors();
    let mut scheduler = scheduler.build(processors as u32);
    let recorder = SystemRecorder::new(jobs.len());
    let mut observers = (recorder, PlacementRecorder::new(topology, isolation, watch));
    let mut run_together = |service: &mut dyn Service| {
        let simulation = Simulation::new(jobs, topology, watch.stop).with_service(service);
        simulation.run(Starts::Scheduler(scheduler.as_mut()), allocator, &mut observers)
    };
    let (overhead, sent, link_use) = if messages.window.is_some() {
        let mut service = LinkService::new(Alone::new(input, seed)?, isolation);
        let overhead = run_together(&mut service)?;
        let reserved = (0..).map(ChannelId).zip(service.reserved().iter().copied());
        let used = reserved.filter(|(_, cycles)| *cycles > 0.0);
        let last = observers.0.ends().iter().copied().max().unwrap_or(0);
        let empty = Alone::new(input, seed)?;
        let link_use = link_use(empty.network(), processors, last as u64, used);
        (overhead, service.by_job().to_vec(), link_use)
    } else {
        let mut service = messages
            .on(topology, seed, Some(isolation.quotas.clone()))?
            .recording(jobs.len())
            .stopped_by(watch.stop.clone());
        let overhead = run_together(&mut service)?;
        let network = service.traffic.network();
        // Run each job again on the same processors, without the other jobs.
        let empty = Alone::new(input, seed)?;
        let nodes = observers.1.nodes.par_iter().enumerate().with_max_len(1);
        let alone = nodes.map(|(job, nodes)| {
            let packets = isolation.quotas[job];
            if packets > 0 { empty.time(nodes, job as u64, packets) } else { Ok(0) }
        });
        let alone: Vec<u64> = alone.collect::<Result<_, TraceError>>()?;
        let sent: Vec<_> = service.by_job().iter().copied().zip(alone).collect();
        let used = network.carried().map(|(id, cycles, _)| (id, cycles as f64));
        (overhead, sent, link_use(network, processors, network.now(), used))
    };
    let (recorder, PlacementRecorder { placements, .. }) = observers;
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

/// For each outgoing link of a processor, the share of the time for which the link was reserved. On a grid, the links
/// are ordered by direction: -x, +x, -y, +y and so on. On a hypercube, the links are ordered by bit. `None` for a
/// missing link: processors at the boundary of a mesh lack links.
pub type LinkUse = Vec<Option<f64>>;

/// Computes the utilization of the links of each processor. `used` contains the number of cycles for which each channel
/// was reserved, out of `cycles` cycles. The shares of the two virtual channels of a link in a torus are added. A share
/// can exceed 1, because the two channels share the link but may be reserved at the same time.
pub fn link_use(
    network: &Network,
    processors: usize,
    cycles: u64,
    used: impl Iterator<Item = (ChannelId, f64)>,
) -> Vec<LinkUse> {
    let mut links = vec![LinkUse::new(); processors];
    // Include links that carried no packets.
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

/// Returns the mean over the existing links; `None` if there are no links.
pub fn mean_use(links: &LinkUse) -> Option<f64> {
    let existing: Vec<f64> = links.iter().flatten().copied().collect();
    (!existing.is_empty()).then(|| existing.iter().sum::<f64>() / existing.len() as f64)
}

/// Id of a run. The id is computed from the digest of the jobs, the cell, the [digest](super::Messages::digest) of the
/// messages, the perturbation `shake` of copies, and the cycles per second.
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

/// Records the placements of jobs.
struct PlacementRecorder<'a> {
    locality: Locality,
    /// Placement metrics by job.
    placements: Vec<Option<Placement>>,
    /// Processors that run the processes of each job; empty for jobs that send no packets.
    nodes: Vec<Vec<NodeId>>,
    isolation: &'a Isolation,
    watch: RunContext<'a>,
    meter: ProgressMeter<'a>,
}

impl<'a> PlacementRecorder<'a> {
    /// Creates a recorder without observations.
    fn new(topology: &Topology, isolation: &'a Isolation, watch: RunContext<'a>) -> Self {
        let jobs = isolation.jobs.len();
        let (placements, nodes) = (vec![None; jobs], vec![Vec::new(); jobs]);
        let (locality, meter) = (Locality::new(topology), ProgressMeter::new(watch, jobs));
        Self { locality, placements, nodes, isolation, watch, meter }
    }
}

impl Observer for PlacementRecorder<'_> {
    fn started(&mut self, Decision { job: id, nodes, .. }: Decision<'_>) {
        self.meter.started();
        let size = self.isolation.jobs[id.index()].size;
        self.placements[id.index()] = Some(self.locality.placement(nodes, size));
        if self.isolation.quotas[id.index()] > 0 {
            self.nodes[id.index()] = nodes[..size as usize].to_vec();
        }
    }

    fn completed(&mut self, _: JobId, _: i64) {
        self.watch.watch.jobs_done(1);
    }
}

#[cfg(test)]
mod tests;
