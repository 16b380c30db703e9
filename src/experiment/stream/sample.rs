//! One replication of a stochastic stream through one scheduler and one allocator.

use super::{Life, Point};
use crate::allocator::{Allocator, Census};
use crate::experiment::{Pace, Watch};
use crate::metrics::{Locality, SystemRecorder};
use crate::naming::NameError;
use crate::network::traffic::TrafficError;
use crate::simulation::{CoupledError, Observer, Overhead, RunTimes, Scene, Service, simulate};
use crate::stop::{Stop, Stopped};
use crate::topology::NodeId;
use crate::workload::JobId;
use crate::workload::stochastic::{StochasticError, Stream};

/// What is measured in a replication. Times are in time units of the stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(usize)]
pub enum Metric {
    /// Completion of the last job, from time 0.
    FinishTime,
    /// Processor-time that jobs asked for and held, in percent of finish time times
    /// processors.
    Utilization,
    /// The same with the processors lost to internal fragmentation.
    AllocatedUtilization,
    /// Mean time from arrival to completion (response time).
    Turnaround,
    /// Mean time from arrival to allocation.
    Wait,
    /// Mean time from allocation to completion.
    Service,
    /// Processor-time given beyond the request, in percent of all that was given.
    InternalFragmentation,
    /// Time in which a job waited that was refused for want of a place, in percent.
    ExternalFragmentation,
    /// Time-average of the units handed out (m).
    BusyList,
    /// Searches of a job beyond the first (b).
    Searches,
    /// Units of a job.
    Blocks,
    /// Jobs in one unit, in percent.
    Contiguous,
    /// Calls of the allocator for a job.
    Attempts,
    /// Elementary operations of the allocator for a job.
    Operations,
    /// Mean latency of a packet, over all packets; as the following, of message streams only.
    Latency,
    /// Mean wait of a packet's header for channels.
    Blocking,
    /// Mean links of a packet's path.
    Hops,
    /// Mean packets of a job.
    Packets,
    /// Mean over jobs of dispersal times processors allocated.
    WeightedDispersal,
}

impl Metric {
    /// Number of metrics.
    pub const COUNT: usize = 19;

    /// Every metric with what is said of it.
    pub const ALL: [(Metric, Caption); Self::COUNT] = [
        (
            Metric::FinishTime,
            Caption::new("finish_time", "finish_time_pm", "Finish time", "time units"),
        ),
        (Metric::Utilization, Caption::new("utilization", "utilization_pm", "Utilization", "%")),
        (
            Metric::AllocatedUtilization,
            Caption::new(
                "allocated_utilization",
                "allocated_utilization_pm",
                "Utilization with lost processors",
                "%",
            ),
        ),
        (
            Metric::Turnaround,
            Caption::new("turnaround", "turnaround_pm", "Mean turnaround", "time units"),
        ),
        (Metric::Wait, Caption::new("wait", "wait_pm", "Mean wait", "time units")),
        (
            Metric::Service,
            Caption::new("service_time", "service_time_pm", "Mean service", "time units"),
        ),
        (
            Metric::InternalFragmentation,
            Caption::new(
                "internal_fragmentation",
                "internal_fragmentation_pm",
                "Internal fragmentation",
                "% of what was given",
            ),
        ),
        (
            Metric::ExternalFragmentation,
            Caption::new(
                "external_fragmentation",
                "external_fragmentation_pm",
                "Waiting for want of a place",
                "% of time",
            ),
        ),
        (
            Metric::BusyList,
            Caption::new("busy_list", "busy_list_pm", "Length of the busy list, m", "units"),
        ),
        (
            Metric::Searches,
            Caption::new("searches", "searches_pm", "Searches beyond the first, b", "per job"),
        ),
        (Metric::Blocks, Caption::new("blocks", "blocks_pm", "Units of a job", "per job")),
        (Metric::Contiguous, Caption::new("contiguous", "contiguous_pm", "Jobs in one unit", "%")),
        (
            Metric::Attempts,
            Caption::new("attempts", "attempts_pm", "Calls of the allocator", "per job"),
        ),
        (
            Metric::Operations,
            Caption::new("operations", "operations_pm", "Elementary operations", "per job"),
        ),
        (Metric::Latency, Caption::new("latency", "latency_pm", "Mean packet latency", "cycles")),
        (
            Metric::Blocking,
            Caption::new("blocking", "blocking_pm", "Mean packet blocking time", "cycles"),
        ),
        (Metric::Hops, Caption::new("hops", "hops_pm", "Mean path length", "links")),
        (Metric::Packets, Caption::new("packets", "packets_pm", "Packets of a job", "packets")),
        (
            Metric::WeightedDispersal,
            Caption::new(
                "weighted_dispersal",
                "weighted_dispersal_pm",
                "Weighted dispersal",
                "processors",
            ),
        ),
    ];

    /// What is said of it.
    pub fn caption(self) -> Caption {
        Self::ALL[self as usize].1
    }

    /// The metric of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(_, caption)| caption.name == name);
        known.map(|&(metric, _)| metric)
    }
}

/// What is said of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caption {
    /// Name in tables.
    pub name: &'static str,
    /// Name of its half-width in tables.
    pub half_width: &'static str,
    /// Title of an axis.
    pub title: &'static str,
    /// Unit.
    pub unit: &'static str,
}

impl Caption {
    const fn new(
        name: &'static str,
        half_width: &'static str,
        title: &'static str,
        unit: &'static str,
    ) -> Self {
        Self { name, half_width, title, unit }
    }
}

/// The values of one replication, by [`Metric`]; NaN where the strategy has no units.
pub type Sample = [f64; Metric::COUNT];

/// A replication that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The stream is impossible.
    #[error(transparent)]
    Stream(#[from] StochasticError),
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The machine has no such network.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The simulation cannot go on.
    #[error("{point}: {cause}")]
    Coupled {
        /// Where.
        point: String,
        /// Why.
        cause: CoupledError,
    },
    /// The flag was raised.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Runs one replication of a point, unless or until the watch's flag is raised.
///
/// # Errors
/// [`SampleError`].
pub fn sample(
    point: &Point,
    seed: u64,
    replication: u64,
    watch: Watch<'_>,
) -> Result<Sample, SampleError> {
    let stop = watch.stop;
    stop.check()?;
    let stream = point.stream.generate(seed, replication)?;
    // Whatever draws has a seed of its own in every replication.
    let own_seed = seed.wrapping_add(replication.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut allocator = point.allocator.build(&point.topology, own_seed)?;
    allocator.stopped_by(stop);
    let mut observers =
        (SystemRecorder::new(stream.jobs.len()), Paced(Pace::new(watch, stream.jobs.len())));
    match &point.life {
        Life::RunTimes => {
            let scene = scene(point, &stream, stop);
            let service = &mut RunTimes::default();
            let overhead = run(point, scene, allocator.as_mut(), service, &mut observers)?;
            Ok(measured(point, &stream, &observers.0, &overhead))
        }
        Life::Messages(messages) => {
            let mut network =
                messages.on(&point.topology, own_seed, None)?.stopped_by(stop.clone());
            let dispersal = Dispersal { locality: Locality::new(&point.topology), weighted: 0.0 };
            let mut observers = (observers, dispersal);
            let scene = scene(point, &stream, stop);
            let overhead = run(point, scene, allocator.as_mut(), &mut network, &mut observers)?;
            let ((recorder, _), dispersal) = observers;
            let mut sample = measured(point, &stream, &recorder, &overhead);
            let total = network.total();
            let packets = total.packets.max(1) as f64;
            let jobs = stream.jobs.len().max(1) as f64;
            for (metric, value) in [
                (Metric::Latency, total.latency as f64 / packets),
                (Metric::Blocking, total.blocked as f64 / packets),
                (Metric::Hops, total.hops as f64 / packets),
                (Metric::Packets, total.packets as f64 / jobs),
                (Metric::WeightedDispersal, dispersal.weighted / jobs),
            ] {
                sample[metric as usize] = value;
            }
            Ok(sample)
        }
    }
}

fn scene<'a>(point: &'a Point, stream: &'a Stream, stop: &'a Stop) -> Scene<'a> {
    let Stream { jobs, shapes, .. } = stream;
    Scene { jobs, shapes, topology: &point.topology, timed: false, stop }
}

fn run(
    point: &Point,
    scene: Scene<'_>,
    allocator: &mut dyn Allocator,
    service: &mut dyn Service,
    observer: &mut dyn Observer,
) -> Result<Overhead, SampleError> {
    let mut scheduler = point.scheduler.build(point.topology.processors() as u32);
    simulate(scene, scheduler.as_mut(), allocator, service, observer).map_err(|cause| match cause {
        CoupledError::Stopped(stopped) => stopped.into(),
        cause => SampleError::Coupled { point: point.to_string(), cause },
    })
}

/// What the system's record comes to; metrics of messages are not known.
fn measured(
    point: &Point,
    stream: &Stream,
    recorder: &SystemRecorder,
    overhead: &Overhead,
) -> Sample {
    let system = recorder.metrics(0, point.topology.processors(), overhead);
    let unit = f64::from(stream.ticks_per_unit);
    let jobs = stream.jobs.len().max(1) as f64 * unit;
    let sum = |values: &mut dyn Iterator<Item = i64>| values.map(i128::from).sum::<i128>() as f64;
    let arrivals = sum(&mut stream.jobs.iter().map(|job| job.submit));
    let starts = sum(&mut recorder.starts().iter().copied());
    let ends = sum(&mut recorder.ends().iter().copied());
    let mut sample = [f64::NAN; Metric::COUNT];
    for (metric, value) in [
        (Metric::FinishTime, system.finish_time as f64 / unit),
        (Metric::Utilization, 100.0 * system.utilization),
        (Metric::AllocatedUtilization, 100.0 * system.allocated_utilization),
        (Metric::Turnaround, (ends - arrivals) / jobs),
        (Metric::Wait, (starts - arrivals) / jobs),
        (Metric::Service, (ends - starts) / jobs),
        (Metric::InternalFragmentation, system.internal_fragmentation_percent),
        (Metric::ExternalFragmentation, system.fragmented_time_percent),
        (Metric::Attempts, system.attempts_per_job),
        (Metric::Operations, system.operations_per_job),
    ] {
        sample[metric as usize] = value;
    }
    for (metric, value) in [
        (Metric::BusyList, system.mean_busy_list),
        (Metric::Searches, system.mean_searches),
        (Metric::Blocks, system.mean_blocks),
        (Metric::Contiguous, system.one_block_percent),
    ] {
        sample[metric as usize] = value.unwrap_or(f64::NAN);
    }
    sample
}

/// Counts jobs for a forecast.
struct Paced<'a>(Pace<'a>);

impl Observer for Paced<'_> {
    fn started(&mut self, _: JobId, _: i64, _: &[NodeId], _: Option<Census>) {
        self.0.started();
    }
}

/// Notes where jobs are.
struct Dispersal {
    locality: Locality,
    weighted: f64,
}

impl Observer for Dispersal {
    fn started(&mut self, _: JobId, _: i64, nodes: &[NodeId], _: Option<Census>) {
        self.weighted += self.locality.placement(nodes).weighted_dispersal;
    }
}
