//! The tables of runs and of jobs for traces that are simulated on a network.

use std::sync::Arc;

use super::correlations::{self, Point};
use super::{JobContention, TraceRun};
use crate::{RunKey, Trace, run_column};
use replay_engine::metrics::robust::Robust;
use replay_engine::metrics::{FragmentationMetrics, Placement, Submitted, SystemMetrics};
use replay_engine::table::{Column, Name, Table, measures, names};

/// A run with its results.
#[derive(Clone, Debug)]
pub struct ContentionRun {
    /// Number of the cell in the grid.
    pub run: u32,
    /// Key of the cell.
    pub key: RunKey,
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    /// The communication pattern.
    pub pattern: String,
    /// Results of every job.
    pub result: TraceRun,
    /// Aggregates over the jobs.
    pub means: Contention,
}

impl ContentionRun {
    /// Creates a run and computes its aggregates.
    pub fn new(
        run: u32,
        key: RunKey,
        trace: Arc<Trace>,
        pattern: String,
        result: TraceRun,
    ) -> Self {
        let means = Contention::of(&RunDistributions::of(&result));
        Self { run, key, trace, pattern, result, means }
    }

    /// Returns whether the trace of the run is unperturbed.
    pub fn is_unshaken(&self) -> bool {
        self.key.copy == 0
    }

    /// Returns the rows of the table of jobs.
    pub fn job_rows(&self) -> impl Iterator<Item = ContentionJobRow<'_>> {
        // The jobs of the trace and the jobs of the run are in order of submission. Some jobs of the trace may be
        // missing in the run.
        let workload = &self.trace.workload;
        let mut jobs = workload.jobs.iter();
        self.result.jobs.iter().map(move |job| {
            let own = jobs.find(|own| own.number == job.number);
            let submitted = Submitted {
                number: job.number,
                submit: own.map(|own| own.submit),
                estimate: own.map(|own| own.estimate),
                labels: own.map(|own| workload.labels.of(own)).unwrap_or_default(),
                size: job.size,
            };
            ContentionJobRow { run: self.run, key: &self.key, submitted, job }
        })
    }
}

/// Returns the mean over the jobs that have a value; `None` if no job has a value.
fn mean(run: &TraceRun, of: impl Fn(&JobContention) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = run.jobs.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the mean over the jobs that send packets; `None` if no job sends packets.
fn sending(run: &TraceRun, of: fn(&JobContention) -> f64) -> Option<f64> {
    mean(run, |job| (job.packets > 0).then(|| of(job)))
}

/// Returns the mean over packets: each job is weighted by its number of packets.
fn over_packets(run: &TraceRun, of: fn(&JobContention) -> f64) -> Option<f64> {
    let packets: u64 = run.jobs.iter().map(|job| job.packets).sum();
    let sum: f64 = run.jobs.iter().map(|job| of(job) * job.packets as f64).sum();
    (packets > 0).then(|| sum / packets as f64)
}

fn count(run: &TraceRun, counts: fn(&JobContention) -> bool) -> u64 {
    run.jobs.iter().filter(|job| counts(job)).count() as u64
}

/// A run, and the distributions of stretch and of its factors over the sending jobs.
struct RunDistributions<'a> {
    run: &'a TraceRun,
    stretch: Option<Robust>,
    placement: Option<Robust>,
    contention: Option<Robust>,
}

impl<'a> RunDistributions<'a> {
    fn of(run: &'a TraceRun) -> Self {
        let of = |measure: fn(&JobContention) -> Option<f64>| {
            Robust::of(run.jobs.iter().filter_map(measure))
        };
        Self {
            run,
            stretch: of(JobContention::stretch),
            placement: of(JobContention::placement_factor),
            contention: of(JobContention::contention_factor),
        }
    }
}

measures! {
    /// Aggregates of a run. Stretch, its two factors, and the measures of packets and placements are computed over the
    /// sending jobs; they are `None` if no job sends. Waits and turnarounds are computed over all jobs. Strategies are
    /// [ranked](super::ranking) by the median stretch.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Contention, from distributions: &RunDistributions<'_> {
        jobs: u64 ["jobs"] "number of jobs of the run, size, group or replication" = distributions.run.jobs.len() as u64;
        sending_jobs: u64 ["jobs"] "number of jobs that send packets; all other jobs hold their processors for their run time" = count(distributions.run, |job| job.packets > 0);
        off_target_jobs: u64 ["jobs"] "number of sending jobs whose time without other jobs differs from run time x scale by more than 1 %" = count(distributions.run, JobContention::is_off_target);
        packets: u64 ["packets"] "number of packets sent" = distributions.run.jobs.iter().map(|job| job.packets).sum();
        median_stretch: Option<f64> [""] "median over the sending jobs of stretch, the ratio of the time among the other jobs to the time alone in the most compact box; null if no job sends packets" = distributions.stretch.map(|of| of.median);
        median_stretch_low: Option<f64> [""] "lower end of the 95 % interval of median_stretch: an order statistic by the binomial distribution, with the sending jobs taken as independent; null if fewer than six jobs send packets" = distributions.stretch.and_then(|of| Some(of.interval?[0]));
        median_stretch_high: Option<f64> [""] "upper end of the 95 % interval of median_stretch" = distributions.stretch.and_then(|of| Some(of.interval?[1]));
        p95_stretch: Option<f64> [""] "95th percentile over the sending jobs of stretch, interpolated between ranks; null if no job sends packets" = distributions.stretch.map(|of| of.p95);
        trimmed_mean_stretch: Option<f64> [""] "mean over the sending jobs of stretch, without the lowest and highest 5 % of the values (at each end, 5 % of the number of values, rounded down); null if no job sends packets" = distributions.stretch.map(|of| of.trimmed_mean);
        median_placement_factor: Option<f64> [""] "median over the sending jobs of the placement factor, the ratio of the time alone on the job's processors to the time alone in the most compact box; null if no job sends packets" = distributions.placement.map(|of| of.median);
        median_placement_factor_low: Option<f64> [""] "lower end of the 95 % interval of median_placement_factor: an order statistic by the binomial distribution, with the sending jobs taken as independent; null if fewer than six jobs send packets" = distributions.placement.and_then(|of| Some(of.interval?[0]));
        median_placement_factor_high: Option<f64> [""] "upper end of the 95 % interval of median_placement_factor" = distributions.placement.and_then(|of| Some(of.interval?[1]));
        p95_placement_factor: Option<f64> [""] "95th percentile over the sending jobs of the placement factor, interpolated between ranks; null if no job sends packets" = distributions.placement.map(|of| of.p95);
        trimmed_mean_placement_factor: Option<f64> [""] "mean over the sending jobs of the placement factor, without the lowest and highest 5 % of the values (at each end, 5 % of the number of values, rounded down); null if no job sends packets" = distributions.placement.map(|of| of.trimmed_mean);
        median_contention_factor: Option<f64> [""] "median over the sending jobs of the contention factor, the ratio of the time among the other jobs to the time alone on the same processors; null if no job sends packets" = distributions.contention.map(|of| of.median);
        median_contention_factor_low: Option<f64> [""] "lower end of the 95 % interval of median_contention_factor: an order statistic by the binomial distribution, with the sending jobs taken as independent; null if fewer than six jobs send packets" = distributions.contention.and_then(|of| Some(of.interval?[0]));
        median_contention_factor_high: Option<f64> [""] "upper end of the 95 % interval of median_contention_factor" = distributions.contention.and_then(|of| Some(of.interval?[1]));
        p95_contention_factor: Option<f64> [""] "95th percentile over the sending jobs of the contention factor, interpolated between ranks; null if no job sends packets" = distributions.contention.map(|of| of.p95);
        trimmed_mean_contention_factor: Option<f64> [""] "mean over the sending jobs of the contention factor, without the lowest and highest 5 % of the values (at each end, 5 % of the number of values, rounded down); null if no job sends packets" = distributions.contention.map(|of| of.trimmed_mean);
        mean_stretch: Option<f64> [""] "mean over the sending jobs of stretch, the ratio of the time among the other jobs to the time alone in the most compact box; a single job can dominate this mean; null if no job sends packets" = mean(distributions.run, JobContention::stretch);
        mean_placement_factor: Option<f64> [""] "mean over the sending jobs of the placement factor, the ratio of the time alone on the job's processors to the time alone in the most compact box; null if no job sends packets" = mean(distributions.run, JobContention::placement_factor);
        mean_contention_factor: Option<f64> [""] "mean over the sending jobs of the contention factor, the ratio of the time among the other jobs to the time alone on the same processors; null if no job sends packets" = mean(distributions.run, JobContention::contention_factor);
        mean_latency: Option<f64> ["cycles"] "mean over the sending jobs of the mean latency of their packets; null if no job sends packets" = sending(distributions.run, |job| job.latency);
        mean_blocking: Option<f64> ["cycles"] "mean over the sending jobs of the mean waiting time of their packets' headers; null if no job sends packets" = sending(distributions.run, |job| job.blocked);
        mean_hops: Option<f64> ["links"] "mean over the sending jobs of the mean path length of their packets; null if no job sends packets" = sending(distributions.run, |job| job.hops);
        latency: Option<f64> ["cycles"] "time from the cycle in which a packet becomes head of its sender's queue \
            until its last flit arrives, mean over the row's packets; null if there are no packets" = over_packets(distributions.run, |job| job.latency);
        blocking: Option<f64> ["cycles"] "waiting time of a packet's header along its path, mean over the row's packets; null if there are no packets" = over_packets(distributions.run, |job| job.blocked);
        hops: Option<f64> ["links"] "number of links of a packet's path, mean over the row's packets; null if there are no packets" = over_packets(distributions.run, |job| job.hops);
        mean_distance: Option<f64> ["hops"] "mean over the sending jobs of the mean hop distance over the pairs of a job's processors; null if no job sends packets" = sending(distributions.run, JobContention::distance);
        mean_sending_pairwise_l1: Option<f64> ["hops"] "mean over the sending jobs of the sum of hop distances over the pairs of a job's processors; null if no job sends packets" = sending(distributions.run, |job| job.placement.pairwise_l1 as f64);
        mean_sending_dispersal: Option<f64> ["share"] "mean over the sending jobs of dispersal, the share of the smallest enclosing box that does not belong to the job; null if no job sends packets" = sending(distributions.run, |job| job.placement.dispersal);
        mean_wait_cycles: Option<f64> ["cycles"] "mean time from arrival to start over all jobs" = mean(distributions.run, |job| Some(job.wait as f64));
        mean_turnaround_cycles: Option<f64> ["cycles"] "mean time from arrival to end over all jobs" = mean(distributions.run, |job| Some((job.wait + job.service) as f64));
        makespan_cycles: i64 ["cycles"] "end of the last job, measured from the first arrival" = distributions.run.system.fragmentation.finish_time;
        utilization: f64 ["share", rising] "ratio of the processor-time that jobs requested and used to the product \
            of processors and makespan, from 0 to 1; on shared hosts, only the processor-time in which jobs computed \
            is included" = distributions.run.system.fragmentation.utilization;
    }
}

/// Column of the system metrics that contains the number of jobs excluded from a run.
const EXCLUDED_JOBS: Name = FragmentationMetrics::no_such_size_jobs;

impl Table for ContentionRun {
    const NAME: &'static str = "contend";
    const ROW: &'static str = "one row per run of a trace on a network";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|run: &Self| &run.key);
        let pattern = Column::text(
            "pattern",
            "communication pattern; null if messages do not determine run times",
            |run: &Self| Some(&run.pattern),
        );
        let mut columns = vec![run_column(|run: &Self| run.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed, copy, pattern]);
        let means = Contention::columns().into_iter();
        columns.extend(means.map(|column| column.of(|run: &Self| Some(&run.means))));
        let excluded = SystemMetrics::columns().into_iter().filter(|one| one.name == EXCLUDED_JOBS);
        columns.extend(excluded.map(|column| column.of(|run: &Self| Some(&run.result.system))));
        columns.extend(correlations::distance_columns(|run: &Self| Point::of_jobs(&run.result)));
        columns
    }
}

/// A row of the table of jobs.
#[derive(Clone, Copy, Debug)]
pub struct ContentionJobRow<'a> {
    /// Number of the run.
    pub run: u32,
    /// Key of the run.
    pub key: &'a RunKey,
    /// Fields of the job in the trace.
    pub submitted: Submitted,
    /// Results of the job.
    pub job: &'a JobContention,
}

impl ContentionJobRow<'_> {
    names! {
        CONTENTION_FACTOR = "contention_factor",
        PLACEMENT_FACTOR = "placement_factor",
        STRETCH = "stretch",
        WAIT_CYCLES = "wait_cycles",
    }
}

impl Table for ContentionJobRow<'_> {
    const NAME: &'static str = "contend_jobs";
    const ROW: &'static str =
        "one row per job of a run of a trace on a network, in order of submission";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let sent = |job: &JobContention, value: f64| (job.packets > 0).then_some(value);
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| of.key);
        let [number, submit, estimate, user, group, queue, partition, size] = Submitted::columns(|of: &Self| of.submitted);
        let mut columns = vec![
            run_column(|of: &Self| of.run),
            scheduler,
            allocator,
            tie,
            number,
            submit,
            estimate,
            user,
            group,
            queue,
            partition,
            size,
            Column::new(Contention::packets, "packets", "number of packets sent", |of: &Self| of.job.packets),
            Column::new("target_cycles", "cycles", "time that the job should take if it runs alone: run time x scale", |of: &Self| of.job.target),
            Column::new("isolated_cycles", "cycles", "time that the job takes if it runs alone in its shape, or in the most compact box in the best orientation", |of: &Self| of.job.isolated),
            Column::new("alone_cycles", "cycles", "time that the job takes if it runs alone on its processors", |of: &Self| of.job.alone),
            Column::new("service_cycles", "cycles", "time that the job takes among the other jobs", |of: &Self| of.job.service),
            Column::new(ContentionJobRow::STRETCH, "", "ratio of service_cycles to isolated_cycles, which is placement_factor x contention_factor; null if the job sends no packets", |of: &Self| of.job.stretch()),
            Column::new(ContentionJobRow::PLACEMENT_FACTOR, "", "ratio of alone_cycles to isolated_cycles; null if the job sends no packets", |of: &Self| of.job.placement_factor()),
            Column::new(ContentionJobRow::CONTENTION_FACTOR, "", "ratio of the time among the other jobs to the time alone on the same processors; null if the job sends no packets", |of: &Self| of.job.contention_factor()),
            Column::new(ContentionJobRow::WAIT_CYCLES, "cycles", "time from arrival to start", |of: &Self| of.job.wait),
            Column::new(Contention::latency, "cycles", "time from the cycle in which a packet becomes head of its sender's \
                queue until its last flit arrives, mean over the row's packets; null if there are no packets", move |of: &Self| sent(of.job, of.job.latency)),
            Column::new(Contention::blocking, "cycles", "waiting time of a packet's header along its path, mean over the row's packets; null if there are no packets", move |of: &Self| sent(of.job, of.job.blocked)),
            Column::new(Contention::hops, "links", "number of links of a packet's path, mean over the row's packets; null if there are no packets", move |of: &Self| sent(of.job, of.job.hops)),
        ];
        columns.extend(Placement::columns(|of: &Self| Some((&of.job.placement, of.job.size))));
        columns
    }
}
