//! What a trace on a network comes to, as tables: runs, and their jobs.

use std::sync::Arc;

use super::correlations::{self, Point};
use super::{JobContention, TraceRun};
use crate::{RunKey, Trace, run_column};
use replay_core::metrics::robust::Robust;
use replay_core::metrics::{Placement, Submitted, SystemMetrics};
use replay_core::table::{Column, Name, Table, measures, name};

/// A cell and what it came to.
#[derive(Clone, Debug)]
pub struct Contended {
    /// Its number in the grid.
    pub run: u32,
    /// What ran.
    pub key: RunKey,
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    /// The communication pattern.
    pub pattern: String,
    /// What became of every job.
    pub result: TraceRun,
    /// What that comes to.
    pub means: Contention,
}

impl Contended {
    /// Sums up a run.
    pub fn new(
        run: u32,
        key: RunKey,
        trace: Arc<Trace>,
        pattern: String,
        result: TraceRun,
    ) -> Self {
        let means = Contention::of(&Summed::of(&result));
        Self { run, key, trace, pattern, result, means }
    }

    /// Whether it is of a trace as it is.
    pub fn is_unshaken(&self) -> bool {
        self.key.copy == 0
    }

    /// A row for each job.
    pub fn job_rows(&self) -> impl Iterator<Item = ContendedJob<'_>> {
        // Both are in order of submission; the run may lack jobs of the trace.
        let workload = &self.trace.workload;
        let mut jobs = workload.jobs.iter();
        self.result.jobs.iter().map(move |job| {
            let own = jobs.find(|own| own.number == job.number);
            let submitted = Submitted {
                number: job.number,
                submit: own.map(|own| own.submit),
                estimate: own.map(|own| own.estimate),
                user: own.and_then(|own| workload.users.of(own)),
                size: job.size,
            };
            ContendedJob { run: self.run, key: &self.key, submitted, job }
        })
    }
}

/// Mean over the jobs that have it.
fn mean(run: &TraceRun, of: impl Fn(&JobContention) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = run.jobs.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean over the jobs that send packets.
fn sending(run: &TraceRun, of: fn(&JobContention) -> f64) -> Option<f64> {
    mean(run, |job| (job.packets > 0).then(|| of(job)))
}

/// Mean over packets: a job counts by how many it sends.
fn over_packets(run: &TraceRun, of: fn(&JobContention) -> f64) -> Option<f64> {
    let packets: u64 = run.jobs.iter().map(|job| job.packets).sum();
    let sum: f64 = run.jobs.iter().map(|job| of(job) * job.packets as f64).sum();
    (packets > 0).then(|| sum / packets as f64)
}

fn count(run: &TraceRun, counts: fn(&JobContention) -> bool) -> u64 {
    run.jobs.iter().filter(|job| counts(job)).count() as u64
}

/// A run, and how stretch and its factors are distributed over the jobs that send packets.
struct Summed<'a> {
    run: &'a TraceRun,
    stretch: Option<Robust>,
    placement: Option<Robust>,
    contention: Option<Robust>,
}

impl<'a> Summed<'a> {
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
    /// What a run comes to. Stretch and its factors, packets and places are over the jobs that send
    /// packets, so that they go together, and `None` if there are none; waits and turnarounds
    /// are over all jobs. The median of the stretch [ranks](super::ranking) strategies.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Contention, from summed: &Summed<'_> {
        jobs: u64 ["jobs"] "jobs of the run, of the size, or of a replication" = summed.run.jobs.len() as u64;
        sending_jobs: u64 ["jobs"] "jobs that send packets; the others hold their processors for their run time" = count(summed.run, |job| job.packets > 0);
        off_target_jobs: u64 ["jobs"] "those of the sending jobs whose time alone is more than 1 % off run time x scale" = count(summed.run, JobContention::is_off_target);
        packets: u64 ["packets"] "packets sent" = summed.run.jobs.iter().map(|job| job.packets).sum();
        median_stretch: Option<f64> [""] "median over the sending jobs of stretch: time among the others over time alone in the most compact box; null if none sends" = summed.stretch.map(|of| of.median);
        median_stretch_low: Option<f64> [""] "lower end of the 95 % interval of that median: an order statistic by the binomial distribution, the sending jobs taken as independent; null of fewer than six" = summed.stretch.and_then(|of| Some(of.interval?[0]));
        median_stretch_high: Option<f64> [""] "upper end of that interval" = summed.stretch.and_then(|of| Some(of.interval?[1]));
        p95_stretch: Option<f64> [""] "95th percentile over the sending jobs of stretch, interpolated between ranks; null if none sends" = summed.stretch.map(|of| of.p95);
        trimmed_mean_stretch: Option<f64> [""] "mean over the sending jobs of stretch, without 5 % of them at each end, rounded down; null if none sends" = summed.stretch.map(|of| of.trimmed_mean);
        median_placement_factor: Option<f64> [""] "median over the sending jobs of the placement factor: time alone on the job's processors over time alone in the most compact box; null if none sends" = summed.placement.map(|of| of.median);
        median_placement_factor_low: Option<f64> [""] "lower end of the 95 % interval of that median: an order statistic by the binomial distribution, the sending jobs taken as independent; null of fewer than six" = summed.placement.and_then(|of| Some(of.interval?[0]));
        median_placement_factor_high: Option<f64> [""] "upper end of that interval" = summed.placement.and_then(|of| Some(of.interval?[1]));
        p95_placement_factor: Option<f64> [""] "95th percentile over the sending jobs of the placement factor, interpolated between ranks; null if none sends" = summed.placement.map(|of| of.p95);
        trimmed_mean_placement_factor: Option<f64> [""] "mean over the sending jobs of the placement factor, without 5 % of them at each end, rounded down; null if none sends" = summed.placement.map(|of| of.trimmed_mean);
        median_contention_factor: Option<f64> [""] "median over the sending jobs of the contention factor: time among the others over time alone on the same processors; null if none sends" = summed.contention.map(|of| of.median);
        median_contention_factor_low: Option<f64> [""] "lower end of the 95 % interval of that median: an order statistic by the binomial distribution, the sending jobs taken as independent; null of fewer than six" = summed.contention.and_then(|of| Some(of.interval?[0]));
        median_contention_factor_high: Option<f64> [""] "upper end of that interval" = summed.contention.and_then(|of| Some(of.interval?[1]));
        p95_contention_factor: Option<f64> [""] "95th percentile over the sending jobs of the contention factor, interpolated between ranks; null if none sends" = summed.contention.map(|of| of.p95);
        trimmed_mean_contention_factor: Option<f64> [""] "mean over the sending jobs of the contention factor, without 5 % of them at each end, rounded down; null if none sends" = summed.contention.map(|of| of.trimmed_mean);
        mean_stretch: Option<f64> [""] "mean over the sending jobs of stretch: time among the others over time alone in the most compact box; one job can decide it; null if none sends" = mean(summed.run, JobContention::stretch);
        mean_placement_factor: Option<f64> [""] "mean over the sending jobs of time alone on the job's processors over time alone in the most compact box; null if none sends" = mean(summed.run, JobContention::placement_factor);
        mean_contention_factor: Option<f64> [""] "mean over the sending jobs of time among the others over time alone on the same processors; null if none sends" = mean(summed.run, JobContention::contention_factor);
        mean_latency: Option<f64> ["cycles"] "mean over the sending jobs of the mean latency of their packets; null if none sends" = sending(summed.run, |job| job.latency);
        mean_blocking: Option<f64> ["cycles"] "mean over the sending jobs of the mean waits of their packets' headers; null if none sends" = sending(summed.run, |job| job.blocked);
        mean_hops: Option<f64> ["links"] "mean over the sending jobs of the mean links of their packets' paths; null if none sends" = sending(summed.run, |job| job.hops);
        latency: Option<f64> ["cycles"] "from when a packet is first in its sender's queue until its last flit arrives, mean over the row's packets; null without any" = over_packets(summed.run, |job| job.latency);
        blocking: Option<f64> ["cycles"] "waits of a packet's header on its way, mean over the row's packets; null without any" = over_packets(summed.run, |job| job.blocked);
        hops: Option<f64> ["links"] "links of a packet's path, mean over the row's packets; null without any" = over_packets(summed.run, |job| job.hops);
        mean_distance: Option<f64> ["hops"] "mean over the sending jobs of the mean hop distance over the pairs of a job's processors; null if none sends" = sending(summed.run, JobContention::distance);
        mean_sending_pairwise_l1: Option<f64> ["hops"] "mean over the sending jobs of the sum of these distances; null if none sends" = sending(summed.run, |job| job.placement.pairwise_l1 as f64);
        mean_sending_dispersal: Option<f64> ["share"] "mean over the sending jobs of the share of the smallest enclosing box that is not the job's; null if none sends" = sending(summed.run, |job| job.placement.dispersal);
        mean_wait_cycles: Option<f64> ["cycles"] "mean over all jobs from arrival to start" = mean(summed.run, |job| Some(job.wait as f64));
        mean_turnaround_cycles: Option<f64> ["cycles"] "mean over all jobs from arrival to end" = mean(summed.run, |job| Some((job.wait + job.service) as f64));
        makespan_cycles: i64 ["cycles"] "end of the last job, from the first arrival" = summed.run.system.finish_time;
        utilization: f64 ["share", rising] "processor-time that jobs asked for and used over processors times makespan, from 0 to 1; on hosts that jobs share used is what they computed, not what they held" = summed.run.system.utilization;
    }
}

/// Of the measures of the system those jobs that a run leaves out.
const AWAY: Name = name::no_such_size_jobs;

impl Table for Contended {
    const NAME: &'static str = "contend";
    const ROW: &'static str = "one row per run of a trace on a network";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|run: &Self| &run.key);
        let pattern = Column::text(
            name::pattern,
            "communication pattern; null if jobs live by their run times",
            |run: &Self| Some(&run.pattern),
        );
        let mut columns = vec![run_column(|run: &Self| run.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed, copy, pattern]);
        let means = Contention::columns().into_iter();
        columns.extend(means.map(|column| column.of(|run: &Self| Some(&run.means))));
        let away = SystemMetrics::columns().into_iter().filter(|one| one.name == AWAY);
        columns.extend(away.map(|column| column.of(|run: &Self| Some(&run.result.system))));
        columns.extend(correlations::of_distances(|run: &Self| Point::of_jobs(&run.result)));
        columns
    }
}

/// A job of a run.
#[derive(Clone, Copy, Debug)]
pub struct ContendedJob<'a> {
    /// Number of the run.
    pub run: u32,
    /// What ran.
    pub key: &'a RunKey,
    /// What the trace says of the job.
    pub submitted: Submitted,
    /// What became of the job.
    pub job: &'a JobContention,
}

impl Table for ContendedJob<'_> {
    const NAME: &'static str = "contend_jobs";
    const ROW: &'static str =
        "one row per job of a run of a trace on a network, in order of submission";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let sent = |job: &JobContention, value: f64| (job.packets > 0).then_some(value);
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| of.key);
        let [number, submit, estimate, user, size] = Submitted::columns(|of: &Self| of.submitted);
        let mut columns = vec![
            run_column(|of: &Self| of.run),
            scheduler,
            allocator,
            tie,
            number,
            submit,
            estimate,
            user,
            size,
            Column::new(name::packets, "packets", "packets sent", |of: &Self| of.job.packets),
            Column::new(name::target_cycles, "cycles", "time it should take alone: run time x scale", |of: &Self| of.job.target),
            Column::new(name::isolated_cycles, "cycles", "time it takes alone in its shape or the most compact box, turned the best way", |of: &Self| of.job.isolated),
            Column::new(name::alone_cycles, "cycles", "time it takes alone on the processors that it got", |of: &Self| of.job.alone),
            Column::new(name::service_cycles, "cycles", "time it takes among the others", |of: &Self| of.job.service),
            Column::new(name::stretch, "", "time among the others over time alone in the box: the product of the two factors; null if it sends nothing", |of: &Self| of.job.stretch()),
            Column::new(name::placement_factor, "", "time alone on its processors over time alone in the box; null if it sends nothing", |of: &Self| of.job.placement_factor()),
            Column::new(name::contention_factor, "", "time among the others over time alone on the same processors; null if it sends nothing", |of: &Self| of.job.contention_factor()),
            Column::new(name::wait_cycles, "cycles", "from arrival to start", |of: &Self| of.job.wait),
            Column::new(name::latency, "cycles", "from when a packet is first in its sender's queue until its last flit arrives, mean over the row's packets; null without any", move |of: &Self| sent(of.job, of.job.latency)),
            Column::new(name::blocking, "cycles", "waits of a packet's header on its way, mean over the row's packets; null without any", move |of: &Self| sent(of.job, of.job.blocked)),
            Column::new(name::hops, "links", "links of a packet's path, mean over the row's packets; null without any", move |of: &Self| sent(of.job, of.job.hops)),
        ];
        columns.extend(Placement::columns(|of: &Self| Some((&of.job.placement, of.job.size))));
        columns
    }
}
