//! What is measured in a replication.
//!
//! # How to add one
//!
//! Write a line into the table below: its name in Rust, the column with unit and meaning, the
//! title of its figure's axis, and its value in a replication. It is then estimated, in the
//! tables and their documentation, and drawn; `Metric::NAME` is its estimate
//! ([`Estimates::of`](super::Estimates::of)), and published numbers may name it.

use replay_core::table::{Name, name};
use std::collections::BTreeMap;

use crate::contention::{Sums, Totals};
use replay_core::metrics::{SystemMetrics, SystemRecorder};
use replay_core::workload::stochastic::Stream;

/// A replication that has run.
pub(super) struct Replication<'a> {
    pub stream: &'a Stream,
    pub recorder: &'a SystemRecorder,
    /// The jobs whose times count.
    pub counted: Vec<usize>,
    pub system: SystemMetrics,
    /// If jobs live by their messages: all of these, and the sum of the jobs' weighted
    /// dispersals.
    pub messages: Option<(Totals, f64)>,
    /// Over all jobs, in hops: the sum of their pairwise L1, and that of their mean distances of a pair.
    pub distances: [f64; 2],
}

impl Replication<'_> {
    /// A time in time units.
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

    /// The mean over the jobs that count of times with this sum, in time units.
    fn mean(&self, ticks: f64) -> f64 {
        ticks / (self.counted.len().max(1) as f64 * f64::from(self.stream.ticks_per_unit))
    }

    /// What the jobs of each size that count come to.
    pub fn by_size(&self) -> BTreeMap<u32, OfSize> {
        let mut sizes: BTreeMap<u32, OfSize> = BTreeMap::new();
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

    /// The mean over packets; NaN without messages.
    fn of_packets(&self, sums: fn(&Totals) -> Sums) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |(all, _)| all.over_packets(sums(all)))
    }

    /// The mean over the jobs that send of their own means; NaN without messages.
    fn of_senders(&self, sums: fn(&Totals) -> Sums) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |(all, _)| all.over_jobs(sums(all)))
    }

    /// The mean over jobs of what messages come to; NaN without.
    fn of_messages(&self, sum: fn(&(Totals, f64)) -> f64) -> f64 {
        self.messages.as_ref().map_or(f64::NAN, |messages| sum(messages) / self.jobs())
    }
}

fn sum(ticks: impl Iterator<Item = i64>) -> f64 {
    ticks.map(i128::from).sum::<i128>() as f64
}

macro_rules! metrics {
    ($($Metric:ident: $name:ident [$unit:literal] $meaning:literal, $axis:literal, |$run:ident| $value:expr;)*) => {
        /// What is measured in a replication. Times are in time units of the stream.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric { $(#[doc = $meaning] $Metric,)* }

        impl Metric {
            /// Every metric.
            pub const ALL: [Metric; [$(name::$name),*].len()] = [$(Metric::$Metric),*];

            /// What is said of it.
            pub const fn caption(self) -> Caption {
                match self {$(
                    Metric::$Metric => Caption {
                        column: name::$name,
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
            /// Its metrics.
            pub fn metrics(&self) -> [f64; Metric::ALL.len()] {
                [$({ let $run = self; $value }),*]
            }
        }
    };
}

#[rustfmt::skip]
metrics! {
    FinishTime: finish_time ["time units"] "completion of the last job, from time 0", "Finish time (time units)", |r| r.units(r.system.finish_time as f64);
    Utilization: utilization_percent ["%"] "processor-time that jobs asked for and held, of finish time times processors; on hosts that jobs share, what they computed", "Utilization (%)", |r| 100.0 * r.system.utilization;
    AllocatedUtilization: allocated_utilization_percent ["%"] "the same with the processors lost to internal fragmentation", "Utilization with lost processors (%)", |r| 100.0 * r.system.allocated_utilization;
    Turnaround: turnaround_time ["time units"] "mean time from arrival to completion (response time)", "Mean turnaround (time units)", |r| r.mean(r.ends() - r.arrivals());
    Wait: wait_time ["time units"] "mean time from arrival to allocation", "Mean wait (time units)", |r| r.mean(r.starts() - r.arrivals());
    ServiceTime: service_time ["time units"] "mean time from allocation to completion", "Mean service (time units)", |r| r.mean(r.ends() - r.starts());
    InternalFragmentation: internal_fragmentation_percent ["%"] "processor-time given to jobs beyond their request, of all that was given", "Internal fragmentation (% of what was given)", |r| r.system.internal_fragmentation_percent;
    ExternalFragmentation: fragmented_time_percent ["%"] "share of the time in which a job waited that had been refused for want of a place", "Waiting for want of a place (% of time)", |r| r.system.fragmented_time_percent;
    BusyList: mean_busy_list ["units"] "time-average of the units handed out (m)", "Length of the busy list, m (units)", |r| r.system.mean_busy_list.unwrap_or(f64::NAN);
    Searches: mean_searches ["searches"] "mean searches of a job beyond the first (b)", "Searches beyond the first, b (per job)", |r| r.system.mean_searches.unwrap_or(f64::NAN);
    Blocks: mean_blocks ["units"] "mean sub-meshes, blocks or pages of a job", "Units of a job (per job)", |r| r.system.mean_blocks.unwrap_or(f64::NAN);
    Contiguous: one_block_percent ["%"] "jobs in one unit", "Jobs in one unit (%)", |r| r.system.one_block_percent.unwrap_or(f64::NAN);
    Attempts: attempts_per_job ["attempts"] "requests of the scheduler for a job's processors, refused ones included", "Requests for processors (per job)", |r| r.system.attempts_per_job;
    Operations: operations_per_job ["operations"] "elementary operations of the allocator for a job; 0 if it counts none", "Elementary operations (per job)", |r| r.system.operations_per_job;
    SlotsHeld: slots_held_percent ["%"] "slots of a cluster's hosts that jobs held, over time, whether they got the processor or waited for it under others; null on other machines", "Slots held (%)", |r| r.system.slots_held_percent.unwrap_or(f64::NAN);
    Folded: folded_percent ["%"] "jobs that ran on fewer processors than they asked for; null if the strategy folds none", "Folded jobs (%)", |r| r.system.folded_percent.unwrap_or(f64::NAN);
    LostEfficiency: lost_efficiency_percent ["%"] "processor-time that folded jobs took and would not have taken on the processors they asked for, of that of all jobs; null if the strategy folds none", "Efficiency lost by folding (% of what was used)", |r| r.system.lost_efficiency_percent.unwrap_or(f64::NAN);
    Latency: latency ["cycles"] "from when a packet is first in its sender's queue until its last flit arrives, mean over the row's packets; null without any", "Mean packet latency (cycles)", |r| r.of_packets(|all| all.latency);
    Blocking: blocking ["cycles"] "waits of a packet's header on its way, mean over the row's packets; null without any", "Mean packet blocking time (cycles)", |r| r.of_packets(|all| all.blocking);
    Hops: hops ["links"] "links of a packet's path, mean over the row's packets; null without any", "Mean path length (links)", |r| r.of_packets(|all| all.hops);
    MeanLatency: mean_latency ["cycles"] "mean over the sending jobs of the mean latency of their packets; null if none sends", "Mean latency of jobs (cycles)", |r| r.of_senders(|all| all.latency);
    MeanBlocking: mean_blocking ["cycles"] "mean over the sending jobs of the mean waits of their packets' headers; null if none sends", "Mean blocking time of jobs (cycles)", |r| r.of_senders(|all| all.blocking);
    MeanHops: mean_hops ["links"] "mean over the sending jobs of the mean links of their packets' paths; null if none sends", "Mean path length of jobs (links)", |r| r.of_senders(|all| all.hops);
    Packets: packets_per_job ["packets"] "mean packets of a job", "Packets of a job (packets)", |r| r.of_messages(|(all, _)| all.packets as f64);
    PairwiseL1: mean_pairwise_l1 ["hops"] "mean over jobs of the sum of hop distances over all pairs of the processors asked for, not of those lost to internal fragmentation; one-processor jobs count as 0, and those of which a log that is repeated does not tell where they ran not at all; of a size of which it tells nothing null", "Mean pairwise L1 (hops)", |r| r.distances[0] / r.jobs();
    PairDistance: mean_pair_distance ["hops"] "mean over jobs of the mean hop distance of two processors of a job; one-processor jobs count as 0", "Mean distance of a pair (hops)", |r| r.distances[1] / r.jobs();
    WeightedDispersal: mean_weighted_dispersal ["processors"] "mean of dispersal times the job's processors, those lost to internal fragmentation included; null if not measured", "Weighted dispersal (processors)", |r| r.of_messages(|(_, weighted)| *weighted);
}

/// What one replication comes to.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// By [`Metric`]; NaN where the strategy has no units, or the stream no messages.
    pub metrics: [f64; Metric::ALL.len()],
    /// By processors asked for; empty unless asked for.
    pub by_size: BTreeMap<u32, OfSize>,
}

impl AsRef<[f64]> for Sample {
    fn as_ref(&self) -> &[f64] {
        &self.metrics
    }
}

/// What the jobs of one size in one replication come to.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct OfSize {
    /// How many there are.
    pub jobs: u64,
    /// Mean turnaround in time units.
    pub turnaround: f64,
}

/// What is said of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caption {
    /// Name in tables.
    pub column: Name,
    /// Unit.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
    /// Name of its half-width in tables.
    pub half_width: Name,
    /// What that is.
    pub half_width_meaning: &'static str,
    /// Title and unit of an axis.
    pub axis: &'static str,
}

impl Metric {
    /// Its name in words: `finish time`.
    pub fn words(self) -> String {
        let name = format!("{self:?}");
        let mut words = String::new();
        for (i, letter) in name.chars().enumerate() {
            if i > 0 && letter.is_uppercase() {
                words.push(' ');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    }
}
