//! One replication of a stochastic stream through one scheduler and one allocator.

use super::Point;
use crate::allocator::Allocator;
use crate::metrics::SystemRecorder;
use crate::naming::NameError;
use crate::simulation::{CoupledError, RunTimes, Scene, simulate};
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
}

impl Metric {
    /// Number of metrics.
    pub const COUNT: usize = 14;

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
    /// The simulation cannot go on.
    #[error("{point}: {cause}")]
    Coupled {
        /// Where.
        point: String,
        /// Why.
        cause: CoupledError,
    },
}

/// Runs one replication of a point.
///
/// # Errors
/// [`SampleError`].
pub fn sample(point: &Point, seed: u64, replication: u64) -> Result<Sample, SampleError> {
    let stream = point.stream.generate(seed, replication)?;
    // Strategies that draw have a seed of their own in every replication.
    let allocator_seed = seed.wrapping_add(replication.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut allocator = point.allocator.build(&point.topology, allocator_seed)?;
    run(point, &stream, allocator.as_mut())
        .map_err(|cause| SampleError::Coupled { point: point.to_string(), cause })
}

fn run(
    point: &Point,
    stream: &Stream,
    allocator: &mut dyn Allocator,
) -> Result<Sample, CoupledError> {
    let processors = point.topology.processors();
    let mut scheduler = point.scheduler.build(processors as u32);
    let mut recorder = SystemRecorder::new(stream.jobs.len());
    let scene = Scene {
        jobs: &stream.jobs,
        shapes: &stream.shapes,
        topology: &point.topology,
        timed: false,
    };
    let service = &mut RunTimes::default();
    let overhead = simulate(scene, scheduler.as_mut(), allocator, service, &mut recorder)?;
    let system = recorder.metrics(0, processors, &overhead);
    let unit = f64::from(stream.ticks_per_unit);
    let jobs = stream.jobs.len().max(1) as f64 * unit;
    let sum = |values: &mut dyn Iterator<Item = i64>| values.map(i128::from).sum::<i128>() as f64;
    let arrivals = sum(&mut stream.jobs.iter().map(|job| job.submit));
    let starts = sum(&mut recorder.starts().iter().copied());
    let ends = sum(&mut recorder.ends().iter().copied());
    let units = |value: Option<f64>| value.unwrap_or(f64::NAN);
    Ok([
        system.finish_time as f64 / unit,
        100.0 * system.utilization,
        100.0 * system.allocated_utilization,
        (ends - arrivals) / jobs,
        (starts - arrivals) / jobs,
        (ends - starts) / jobs,
        system.internal_fragmentation_percent,
        system.fragmented_time_percent,
        units(system.mean_busy_list),
        units(system.mean_searches),
        units(system.mean_blocks),
        units(system.one_block_percent),
        system.attempts_per_job,
        system.operations_per_job,
    ])
}
