//! Metrics of a replication.
//!
//! # How to add a metric
//!
//! To define a metric, add a line to the table below: the Rust name, the name in words, the column with unit and
//! meaning, the axis title of figures, and the value in a replication. The metric is then estimated, included in tables
//! and in their documentation, and plotted. `Metric::NAME` is the argument of [`Estimates::of`](super::Estimates::of),
//! and published numbers may refer to the metric.

use replay_engine::table::Name;
use std::collections::BTreeMap;

use crate::contention::{Sums, Totals};
use replay_engine::metrics::{SystemMetrics, SystemRecorder};
use replay_engine::workload::stochastic::Stream;

/// A finished replication.
pub(super) struct Replication<'a> {
    pub stream: &'a Stream,
    pub recorder: &'a SystemRecorder,
    /// Indices of the jobs over which mean times are computed.
    pub counted: Vec<usize>,
    pub system: SystemMetrics,
    /// Totals of all messages, and the sum of the weighted dispersals of the jobs; `None` unless messages determine the
    /// run times.
    pub messages: Option<(Totals, f64)>,
    /// Two sums over all jobs, in hops: the sum of the jobs' pairwise L1 sums, and the sum of the jobs' mean distances
    /// between two processors.
    pub distances: [f64; 2],
}

impl Replication<'_> {
    /// Converts ticks to time units.
    fn units(&self, ticks: f64) -> f64 {
        ticks / f64::from(self.stream.ticks_per_unit)
    }

    fn jobs(&self) -> f64 {
        self.stream.jobs.len().max(1) as f64
    }

    fn arrivals(&self) -> f64 {
        sum(self.counted.iter().map(|&job| self.stream.jobs[job].submit))
    }

    fn starts(&self) -> f64 {
        sum(self.counted.iter().map(|&job| self.recorder.starts()[job]))
    }

    fn ends(&self) -> f64 {
        sum(self.counted.iter().map(|&job| self.recorder.ends()[job]))
    }

    /// Divides a sum of times in ticks by the number of counted jobs. Returns the mean in time units.
    fn mean(&self, ticks: f64) -> f64 {
        ticks / (self.counted.len().max(1) as f64 * f64::from(self.stream.ticks_per_unit))
    }

    /// Returns the turnaround of the counted jobs by size.
    pub fn by_size(&self) -> BTreeMap<u32, SizeSample> {
        let mut sizes: BTreeMap<u32, SizeSample> = BTreeMap::new();
        for &job in &self.counted {
            let of = sizes.entry(self.stream.jobs[job].size).or_default();
            of.jobs += 1;
            of.turnaround += (self.recorder.ends()[job] - self.stream.jobs[job].submit) as f64;
        }
        for of in sizes.values_mut() {
            of.turnaround /= of.jobs as f64 * f64::from(self.stream.ticks_per_unit);
        }
        sizes
    }

    /// Returns the mean over all packets; NaN without messages.
    fn mean_over_packets(&self, sums: fn(&Totals) -> Sums) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |(all, _)| all.over_packets(sums(all)))
    }

    /// Returns the mean over the jobs that send messages. Each job contributes the mean over its packets. NaN without
    /// messages.
    fn mean_over_senders(&self, sums: fn(&Totals) -> Sums) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |(all, _)| all.over_jobs(sums(all)))
    }

    /// Returns the mean, over all jobs, of a total of the messages; NaN without messages.
    fn mean_over_jobs(&self, sum: fn(&(Totals, f64)) -> f64) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |messages| sum(messages) / self.jobs())
    }
}

fn sum(ticks: impl Iterator<Item = i64>) -> f64 {
    ticks.map(i128::from).sum::<i128>() as f64
}

macro_rules! metrics {
    ($($Metric:ident $words:literal: $name:ident [$unit:literal] $meaning:literal, $axis:literal, |$run:ident| $value:expr;)*) => {
        /// Metric of a replication. Times are in time units of the stream.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric { $(#[doc = $meaning] $Metric,)* }

        impl Metric {
            /// All metrics.
            pub const ALL: [Metric; [$(stringify!($name)),*].len()] = [$(Metric::$Metric),*];

            /// Returns the names, units and titles of the metric.
            pub const fn caption(self) -> Caption {
                match self {$(
                    Metric::$Metric => Caption {
                        words: $words,
                        column: Name::new(stringify!($name)),
                        unit: $unit,
                        meaning: $meaning,
                        half_width: Name::new(concat!(stringify!($name), "_pm")),
                        half_width_meaning: concat!("half the width of the 95 % interval of ", stringify!($name)),
                        axis: $axis,
                    },
                )*}
            }
        }

        impl Replication<'_> {
            /// Values of all metrics.
            pub fn metrics(&self) -> [f64; Metric::ALL.len()] {
                [$({ let $run = self; $value }),*]
            }
        }
    };
}

#[rustfmt::skip]
metrics! {
    FinishTime "finish time": finish_time ["time units"] "completion of the last job, from time 0", "Finish time (time units)", |r| r.units(r.system.fragmentation.finish_time as f64);
    Utilization "utilization": utilization_percent ["%"] "processor-time that jobs requested and held, as a share of the product of \
        finish time and processors; on shared hosts, only the processor-time in which jobs computed is included", "Utilization \
        (%)", |r| 100.0 * r.system.fragmentation.utilization;
    AllocatedUtilization "allocated utilization": allocated_utilization_percent ["%"] "utilization_percent including processors lost to internal fragmentation", "Utilization with lost processors (%)", |r| 100.0 * r.system.fragmentation.allocated_utilization;
    Turnaround "turnaround": turnaround_time ["time units"] "mean time from arrival to completion (response time)", "Mean turnaround (time units)", |r| r.mean(r.ends() - r.arrivals());
    Wait "wait": wait_time ["time units"] "mean time from arrival to allocation", "Mean wait (time units)", |r| r.mean(r.starts() - r.arrivals());
    ServiceTime "service time": service_time ["time units"] "mean time from allocation to completion", "Mean service (time units)", |r| r.mean(r.ends() - r.starts());
    InternalFragmentation "internal fragmentation": internal_fragmentation_percent ["%"] "processor-time allocated to jobs beyond their request, as a share of all allocated processor-time", "Internal fragmentation (% of allocated processor-time)", |r| r.system.fragmentation.internal_fragmentation_percent;
    ExternalFragmentation "external fragmentation": fragmented_time_percent ["%"] "share of the time in which at least one job waited after it had been refused because there was no placement", "Waiting for a placement (% of time)", |r| r.system.fragmentation.fragmented_time_percent;
    BusyList "busy list": mean_busy_list ["units"] "time average of the number of allocated units (m)", "Length of the busy list, m (units)", |r| r.system.units.mean_busy_list.unwrap_or(f64::NAN);
    Searches "searches": mean_searches ["searches"] "mean number of searches per job beyond the first (b)", "Searches beyond the first, b (per job)", |r| r.system.units.mean_searches.unwrap_or(f64::NAN);
    Blocks "blocks": mean_blocks ["units"] "mean number of sub-meshes, blocks or pages per job", "Units of a job (per job)", |r| r.system.units.mean_blocks.unwrap_or(f64::NAN);
    Contiguous "contiguous": one_block_percent ["%"] "share of jobs in one unit", "Jobs in one unit (%)", |r| r.system.units.one_block_percent.unwrap_or(f64::NAN);
    Attempts "attempts": attempts_per_job ["attempts"] "number of requests of the scheduler for processors per job, including refused requests", "Requests for processors (per job)", |r| r.system.requests.attempts_per_job;
    Operations "operations": operations_per_job ["operations"] "number of elementary operations of the allocator per job; 0 if the allocator does not count operations", "Elementary operations (per job)", |r| r.system.requests.operations_per_job;
    SlotsHeld "slots held": slots_held_percent ["%"] "time average of the share of cluster slots that jobs held, including jobs that waited for the processor because of lower priority; null on other machines", "Slots held (%)", |r| r.system.sharing.slots_held_percent.unwrap_or(f64::NAN);
    Folded "folded": folded_percent ["%"] "share of jobs that ran on fewer processors than requested; null if the strategy does not fold jobs", "Folded jobs (%)", |r| r.system.folding.folded_percent.unwrap_or(f64::NAN);
    LostEfficiency "lost efficiency": lost_efficiency_percent ["%"] "additional processor-time of folded jobs compared with running on the requested processors, as a share of the processor-time of all jobs; null if the strategy does not fold jobs", "Efficiency lost by folding (% of used processor-time)", |r| r.system.folding.lost_efficiency_percent.unwrap_or(f64::NAN);
    Latency "latency": latency ["cycles"] "time from the cycle in which a packet becomes head of its sender's queue until its \
        last flit arrives, mean over the row's packets; null if there are no packets", "Mean packet latency \
        (cycles)", |r| r.mean_over_packets(|all| all.latency);
    Blocking "blocking": blocking ["cycles"] "waiting time of a packet's header along its path, mean over the row's packets; null if there are no packets", "Mean packet blocking time (cycles)", |r| r.mean_over_packets(|all| all.blocking);
    Hops "hops": hops ["links"] "number of links of a packet's path, mean over the row's packets; null if there are no packets", "Mean path length (links)", |r| r.mean_over_packets(|all| all.hops);
    MeanLatency "mean latency": mean_latency ["cycles"] "mean over the sending jobs of the mean latency of their packets; null if no job sends packets", "Mean latency of jobs (cycles)", |r| r.mean_over_senders(|all| all.latency);
    MeanBlocking "mean blocking": mean_blocking ["cycles"] "mean over the sending jobs of the mean waiting time of their packets' headers; null if no job sends packets", "Mean blocking time of jobs (cycles)", |r| r.mean_over_senders(|all| all.blocking);
    MeanHops "mean hops": mean_hops ["links"] "mean over the sending jobs of the mean path length of their packets; null if no job sends packets", "Mean path length of jobs (links)", |r| r.mean_over_senders(|all| all.hops);
    Packets "packets": packets_per_job ["packets"] "mean number of packets per job", "Packets (per job)", |r| r.mean_over_jobs(|(all, _)| all.packets as f64);
    PairwiseL1 "pairwise l1": mean_pairwise_l1 ["hops"] "mean over jobs of the sum of hop distances over all pairs of requested \
        processors, without processors lost to internal fragmentation; 0 for one-processor jobs; if a log is \
        repeated, jobs without a recorded placement are excluded, and the value is null if no job has a recorded \
        placement", "Mean pairwise L1 (hops)", |r| r.distances[0] / r.jobs();
    PairDistance "pair distance": mean_pair_distance ["hops"] "mean over jobs of the mean hop distance of two processors of a job; one-processor jobs count as 0", "Mean distance of a pair (hops)", |r| r.distances[1] / r.jobs();
    WeightedDispersal "weighted dispersal": mean_weighted_dispersal ["processors"] "mean over jobs of dispersal multiplied by the number \
        of processors, including processors lost to internal fragmentation; null if not measured", "Weighted dispersal \
        (processors)", |r| r.mean_over_jobs(|(_, weighted)| *weighted);
}

/// Values of all metrics of one replication.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Values by [`Metric`]. A value is NaN if the strategy or the stream does not provide the metric.
    pub metrics: [f64; Metric::ALL.len()],
    /// Turnaround by the number of processors that a job requests; empty unless turnaround by size was requested.
    pub by_size: BTreeMap<u32, SizeSample>,
}

impl AsRef<[f64]> for Sample {
    fn as_ref(&self) -> &[f64] {
        &self.metrics
    }
}

/// Turnaround of the jobs of one size in one replication.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SizeSample {
    /// Number of jobs.
    pub jobs: u64,
    /// Mean turnaround in time units.
    pub turnaround: f64,
}

/// Names, units and titles of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caption {
    /// Name in lowercase words, such as `finish time`. Names of files contain this name.
    pub words: &'static str,
    /// Column name.
    pub column: Name,
    /// Unit of the column.
    pub unit: &'static str,
    /// Meaning of the column.
    pub meaning: &'static str,
    /// Column name of the half-width of the confidence interval.
    pub half_width: Name,
    /// Meaning of the column of the half-width.
    pub half_width_meaning: &'static str,
    /// Title and unit of an axis.
    pub axis: &'static str,
}
