//! Contention on a trace: does a better allocation make jobs faster?
//!
//! A cycle stands for `1 / scale` seconds of the trace. A job's quota is such that it would
//! run for `run time x scale` cycles alone on the empty machine in the most compact box
//! that holds it: [`isolate`] measures how many packets that is, and how long they take
//! there. With other jobs around and other processors the same packets take longer: the
//! ratio is the job's *stretch*. Arrivals and estimates are scaled alike, so that in
//! isolation the load would be that of the trace.

use std::sync::Arc;

use rayon::prelude::*;

use super::Messages;
use crate::allocator::Census;
use crate::allocator::registry::AllocatorSpec;
use crate::allocator::shape::ShapeRule;
use crate::allocator::submesh::SubMesh;
use crate::metrics::{Locality, Placement, SystemMetrics, SystemRecorder};
use crate::naming::NameError;
use crate::network::traffic::{Plan, Quota, Traffic, TrafficError};
use crate::network::{Network, PacketError, Stalled};
use crate::scheduler::registry::SchedulerSpec;
use crate::simulation::{CoupledError, Observer, Scene, simulate};
use crate::topology::{NodeId, Topology};
use crate::workload::{Job, JobId};

/// Jobs in cycles, with quotas, and how long each takes by itself.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// The jobs; times in cycles.
    pub jobs: Vec<Job>,
    /// Packets by job; 0 for a job of one process, which ends at once.
    pub quotas: Arc<[u64]>,
    /// Cycles by job that its packets take in isolation.
    pub service: Vec<u64>,
    /// Seed of all that the jobs draw when they send.
    pub seed: u64,
}

/// A trace that cannot be run on a network.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The machine has no such network.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A packet could not be sent.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The network is deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The simulation cannot go on.
    #[error(transparent)]
    Coupled(#[from] CoupledError),
}

/// Packets from which a job's rate of sending is taken.
const PROBE: u64 = 2000;

/// Turns the jobs of a trace into jobs of messages. Jobs are measured in parallel on the
/// current rayon pool.
///
/// # Errors
/// [`TraceError`] if the machine has no such network.
pub fn isolate(
    jobs: &[Job],
    topology: &Topology,
    messages: &Messages,
    scale: f64,
    seed: u64,
) -> Result<Isolation, TraceError> {
    let cycles = |seconds: i64| (seconds as f64 * scale).round() as i64;
    let first = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    let alone = |(number, job): (usize, &Job)| -> Result<(u64, u64), TraceError> {
        let target = cycles(job.run).max(1) as u64;
        let nodes = compact(topology, job.size);
        let run = |packets| isolated(topology, messages, &nodes, number as u64, packets, seed);
        if job.size < 2 {
            return Ok((0, 0));
        }
        // The rate over a first part, then the quota by it.
        let probe = run(PROBE.min(target))?;
        let rate = PROBE.min(target) as f64 / probe.max(1) as f64;
        let quota = ((target as f64 * rate).round() as u64).max(1);
        Ok((quota, run(quota)?))
    };
    let measured: Vec<(u64, u64)> =
        jobs.par_iter().enumerate().map(|(i, job)| alone((i, job))).collect::<Result<_, _>>()?;
    let scaled = |job: &Job| Job {
        submit: cycles(job.submit - first),
        run: cycles(job.run),
        estimate: cycles(job.estimate).max(1),
        ..*job
    };
    Ok(Isolation {
        jobs: jobs.iter().map(scaled).collect(),
        quotas: measured.iter().map(|(quota, _)| *quota).collect(),
        service: measured.iter().map(|(_, service)| *service).collect(),
        seed,
    })
}

/// The most compact box from the first corner that holds the job; on a hypercube the first
/// processors.
fn compact(topology: &Topology, size: u32) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    match topology.grid() {
        Some(grid) => {
            if let Some(sides) = ShapeRule::NearSquare.shape(size, grid) {
                SubMesh { base: [0; 3], sides }.append_to(grid, &mut nodes);
            }
        }
        None => nodes.extend(topology.nodes()),
    }
    nodes.truncate(size as usize);
    nodes
}

/// Cycles that so many packets of a job take alone.
fn isolated(
    topology: &Topology,
    messages: &Messages,
    nodes: &[NodeId],
    job: u64,
    packets: u64,
    seed: u64,
) -> Result<u64, TraceError> {
    let mut traffic = Traffic::new(topology, messages.network, messages.options)?;
    let plan = Plan { program: messages.program.clone(), quota: Quota::fixed(packets), seed };
    traffic.start(job, nodes, &plan)?;
    let mut ended = Vec::new();
    Ok(traffic.advance(None, &mut ended)?.unwrap_or(0))
}

/// One job among the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobContention {
    /// Job number in the trace.
    pub number: i64,
    /// Processors.
    pub size: u32,
    /// Packets.
    pub packets: u64,
    /// Cycles alone.
    pub isolated: u64,
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
    /// Time among the others over time alone; `None` for a job that sends nothing.
    pub fn stretch(&self) -> Option<f64> {
        (self.isolated > 0).then(|| self.service as f64 / self.isolated as f64)
    }

    /// Mean hop distance over the pairs of its processors.
    pub fn mean_distance(&self) -> f64 {
        let pairs = u64::from(self.size) * u64::from(self.size - 1) / 2;
        if pairs == 0 { 0.0 } else { self.placement.pairwise_l1 as f64 / pairs as f64 }
    }
}

/// A trace under one scheduler and one allocator.
#[derive(Clone, Debug)]
pub struct TraceRun {
    /// Every job, in order of submission.
    pub jobs: Vec<JobContention>,
    /// The system over time.
    pub system: SystemMetrics,
    /// By processor, the share of the time for which its outgoing links were reserved, mean
    /// over these links.
    pub link_use: Vec<f64>,
}

/// Runs isolated jobs together. They send what they sent alone; `seed` is the allocator's.
///
/// # Errors
/// [`TraceError`].
pub fn run_trace(
    isolation: &Isolation,
    shapes: &[[u16; 3]],
    topology: &Topology,
    messages: &Messages,
    scheduler: SchedulerSpec,
    allocator: &AllocatorSpec,
    seed: u64,
) -> Result<TraceRun, TraceError> {
    let jobs = &isolation.jobs;
    let processors = topology.processors();
    let mut built = allocator.build(topology, seed)?;
    let mut service = messages
        .on(topology, isolation.seed, Some(isolation.quotas.clone()))?
        .recording(jobs.len());
    let watcher =
        Watcher { locality: Locality::new(topology), placements: vec![None; jobs.len()], jobs };
    let mut observers = (SystemRecorder::new(jobs.len()), watcher);
    let scene = Scene { jobs, shapes, topology, timed: false };
    let mut scheduler = scheduler.build(processors as u32);
    let overhead =
        simulate(scene, scheduler.as_mut(), built.as_mut(), &mut service, &mut observers)?;
    let (recorder, Watcher { placements, .. }) = observers;
    let times = recorder.starts().iter().zip(recorder.ends());
    let each = jobs.iter().zip(placements).zip(times).zip(service.by_job()).zip(&isolation.service);
    let jobs = each.filter_map(|((((job, placement), (start, end)), traffic), isolated)| {
        let mean = |sum: u64| sum as f64 / traffic.packets.max(1) as f64;
        Some(JobContention {
            number: job.number,
            size: job.size,
            packets: traffic.packets,
            isolated: *isolated,
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
        link_use: link_use(service.traffic().network(), processors),
    })
}

/// By processor, the mean share of the time for which its outgoing links were reserved.
pub fn link_use(network: &Network, processors: usize) -> Vec<f64> {
    let cycles = network.now().max(1) as f64;
    let mut sums = vec![(0.0, 0u32); processors];
    for usage in network.usage().filter(|usage| usage.channel.is_link()) {
        let (busy, links) = &mut sums[usage.channel.from.index()];
        *busy += usage.busy as f64 / cycles;
        *links += 1;
    }
    sums.into_iter().map(|(busy, links)| busy / f64::from(links.max(1))).collect()
}

/// Notes where jobs are.
struct Watcher<'a> {
    locality: Locality,
    placements: Vec<Option<Placement>>,
    jobs: &'a [Job],
}

impl Observer for Watcher<'_> {
    fn started(&mut self, id: JobId, _: i64, nodes: &[NodeId], _: Census) {
        let size = self.jobs[id.index()].size as usize;
        let mut placement = self.locality.placement(nodes);
        placement.pairwise_l1 = self.locality.pairwise_l1(&nodes[..size]);
        self.placements[id.index()] = Some(placement);
    }
}
