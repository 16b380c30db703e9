//! Metrics of single jobs and whole runs.

use serde::{Deserialize, Serialize};

use super::Placement;
use super::allocations::END;
use super::hierarchy::{HierarchyMetrics, HierarchySums};
use super::pairwise::PairwiseMetrics;
use super::system::{OutageMetrics, SystemMetrics};
use super::ties::TieStatistics;
use crate::table::{Column, measures, names};
use crate::topology::Topology;
use crate::workload::{Job, JobLabels};

/// One job in one run. Times are in trace seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobMeasures {
    /// Job number in the trace.
    pub number: i64,
    /// Submission time.
    pub submit: i64,
    /// Arrival time. A job without a predecessor arrives at its submission; for a job with a predecessor, the end of
    /// the predecessor determines the arrival.
    pub arrival: i64,
    /// Start time; the end is the start plus the run time.
    pub start: i64,
    /// Time for which the job held its processors.
    pub run: i64,
    /// Run time on the requested processors without sharing; `run` is longer if the job is folded or shares processors.
    pub own_run: i64,
    /// The user's estimate of the run time, after cleaning.
    pub estimate: i64,
    /// User, group, queue and partition in the log.
    pub labels: JobLabels,
    /// Number of requested processors.
    pub size: u32,
    /// Number of processors of the request that was served; less than `size` if the job is folded.
    pub served_size: u32,
    /// Number of machine points on which processes of the job run.
    pub points: u32,
    /// Total number of processors of the points that the job held.
    pub held: u32,
    /// Metrics of the job's allocation; `None` if the job has no recorded placement.
    pub placement: Option<Placement>,
    /// Number of distinct processor sets with the best score; `None` if not counted.
    pub tied: Option<u32>,
}

impl JobMeasures {
    names! {
        BOUNDED_SLOWDOWN = "bounded_slowdown",
        END = "end",
        RUN_TIME = "run_time",
        START = "start",
        TIED = "tied",
        TURNAROUND = "turnaround",
        WAIT = "wait",
    }

    /// Returns start minus arrival, in seconds.
    pub fn wait(&self) -> i64 {
        self.start - self.arrival
    }

    /// Returns completion minus arrival, in seconds (the response time of Lo et al.).
    pub fn turnaround(&self) -> i64 {
        self.wait() + self.run
    }

    /// Returns the bounded slowdown: turnaround divided by `own_run`, but at least 1. Run times below
    /// [`SLOWDOWN_BOUND`] are replaced by [`SLOWDOWN_BOUND`] (Feitelson et al. 1997).
    pub fn bounded_slowdown(&self) -> f64 {
        bounded_slowdown(self.turnaround(), self.own_run)
    }

    /// Returns the columns.
    #[rustfmt::skip]
    pub fn columns() -> Vec<Column<Self>> {
        type C = Column<JobMeasures>;
        let [number, submit, estimate, user, group, queue, partition, size] = Submitted::columns(|job: &Self| Submitted {
            number: job.number,
            submit: Some(job.submit),
            estimate: Some(job.estimate),
            labels: job.labels,
            size: job.size,
        });
        let mut columns = vec![
            number,
            submit,
            C::new("arrival", "s", "arrival in trace time; the wait begins at the arrival; differs from the \
                submission only for jobs that follow others (--deps)", |job| job.arrival),
            C::new(JobMeasures::START, "s", "start, in trace time", |job| job.start),
            C::new(JobMeasures::RUN_TIME, "s", "time for which the job held its processors", |job| job.run),
            C::new(JobMeasures::END, "s", END, |job| job.start + job.run),
            estimate,
            user,
            group,
            queue,
            partition,
            size,
            C::new("served_size", "processors", "processors of the served request; fewer than size if the job was folded", |job| job.served_size),
            C::new(JobMeasures::WAIT, "s", "start minus arrival", |job| job.wait()),
            C::new(JobMeasures::TURNAROUND, "s", "completion minus arrival", |job| job.turnaround()),
            C::new(JobMeasures::BOUNDED_SLOWDOWN, "", "turnaround divided by the run time on the requested processors, with \
                run times below 10 s replaced by 10 s; at least 1", |job| job.bounded_slowdown()),
        ];
        columns.push(C::new("held_size", "processors", "processors that the job held, including processors lost \
            to internal fragmentation and processors of its points that the job did not request", |job| job.held));
        columns.extend(Placement::columns(|job: &Self| Some((job.placement.as_ref()?, job.points))));
        columns.push(C::new("leaves", "leaves", "leaves (switches with nodes, or base blocks) on which the job has nodes; null, like upper_blocks and level, on machines other than trees and blocks", |job| Some(job.placement.as_ref()?.hierarchy?.leaves)));
        columns.push(C::new("upper_blocks", "blocks", "switches of level 1, or blocks of the second size, that \
            contain nodes of the job; a leaf that is not directly below a switch of level 1 counts as one; null if the \
            machine has neither", |job| job.placement.as_ref()?.hierarchy?.upper_blocks));
        columns.push(C::new("level", "", "level of the lowest switch above all nodes, 0 for a leaf, or the index \
            from 0 of the smallest block size whose block holds all nodes; null if no switch or block holds all \
            nodes", |job| job.placement.as_ref()?.hierarchy?.level));
        columns.push(C::new(JobMeasures::TIED, "sets", "number of distinct processor sets with the best score in the decision; null if not counted", |job| job.tied));
        columns
    }
}

/// The request of a job, which every table of jobs contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// Job number in the trace.
    pub number: i64,
    /// Submission time in trace seconds.
    pub submit: Option<i64>,
    /// The user's estimate of the run time in seconds, after cleaning.
    pub estimate: Option<i64>,
    /// User, group, queue and partition in the trace.
    pub labels: JobLabels,
    /// Number of requested processors.
    pub size: u32,
}

impl Submitted {
    names! {
        ESTIMATE = "estimate",
        GROUP = "group",
        JOB = "job",
        PARTITION = "partition",
        QUEUE = "queue",
        SIZE = "size",
        SUBMIT = "submit",
        USER = "user",
    }

    /// Returns the columns `job`, `submit`, `estimate`, `user`, `group`, `queue`, `partition` and `size` for rows that
    /// contain a request.
    #[rustfmt::skip]
    pub fn columns<Row>(
        of: impl Fn(&Row) -> Self + Copy + Send + Sync + 'static,
    ) -> [Column<Row>; 8] {
        [
            Column::new(Submitted::JOB, "", "job number in the trace", move |row| of(row).number),
            Column::new(Submitted::SUBMIT, "s", "submission, in trace time", move |row| of(row).submit),
            Column::new(Submitted::ESTIMATE, "s", "the user's estimate of the run time, after cleaning", move |row| of(row).estimate),
            Column::new(Submitted::USER, "", "number of the user in the trace (field 12); null if missing", move |row| of(row).labels.user),
            Column::new(Submitted::GROUP, "", "number of the group in the trace (field 13); null if missing", move |row| of(row).labels.group),
            Column::new(Submitted::QUEUE, "", "number of the queue in the trace (field 15); null if missing", move |row| of(row).labels.queue),
            Column::new(Submitted::PARTITION, "", "number of the partition in the trace (field 16); null if missing", move |row| of(row).labels.partition),
            Column::new(Submitted::SIZE, "processors", "processors that a job requests", move |row| of(row).size),
        ]
    }
}

/// Threshold of the bounded slowdown, in seconds.
pub const SLOWDOWN_BOUND: i64 = 10;

fn bounded_slowdown(turnaround: i64, run: i64) -> f64 {
    (turnaround as f64 / run.max(SLOWDOWN_BOUND) as f64).max(1.0)
}

/// Input of [`RunMetrics`].
struct Run<'a> {
    schedule: &'a ScheduleMetrics,
    total_pairwise_l1: u64,
    placements: &'a PlacementMeans,
    ties: Option<TieStatistics>,
    system: Option<SystemMetrics>,
}

measures! {
    /// Metrics of one run. Times are in trace seconds; means are over jobs.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    pub struct RunMetrics, from run: Run<'_> {
    }
    with {
        /// Pairwise L1 sums.
        #[serde(flatten)]
        pairwise: PairwiseMetrics = PairwiseMetrics::new(run.total_pairwise_l1, run.schedule.jobs);
        /// Ties for the best score; `None` if not counted.
        ties: Option<TieMetrics> = run.ties.map(TieMetrics::of);
        /// Metrics of allocations; `None` if not measured.
        placements: Option<PlacementMetrics> = (run.placements.jobs > 0).then(|| PlacementMetrics::of(run.placements));
        /// Metrics of allocations on trees and blocks; `None` on other machines, or if not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hierarchy: Option<HierarchyMetrics> = HierarchyMetrics::new(&run.placements.hierarchy);
        /// Metrics of starts and ends.
        schedule: ScheduleMetrics = run.schedule.clone();
        /// Fragmentation, refusals and units; `None` if the strategy neither refuses jobs nor allocates whole units.
        system: Option<SystemMetrics> = run.system;
        /// Metrics of outages; `None` without outages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outages: Option<OutageMetrics> = None;
    }
}

measures! {
    /// Ties for the best primary score (Johnson, Bunde, Leung, Fig. 4).
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct TieMetrics, from ties: TieStatistics {
        tied_decisions: u64 ["decisions"] "number of decisions in which at least two distinct processor sets have the best score; null if not counted" = ties.tied;
        tied_percent: f64 ["%"] "share of tied decisions; null if not counted" = ties.tied_percent();
        mean_tied: f64 ["sets"] "mean over tied decisions of the number of distinct processor sets with the best score; null if not counted" = ties.mean_tied();
    }
}

measures! {
    /// Metrics of the allocations of a run, as means over jobs.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct PlacementMetrics, from places: &PlacementMeans {
        mean_diameter: f64 ["hops"] "mean over jobs of the largest L-infinity distance between two processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.diameter as f64);
        mean_dispersal: f64 ["share"] "mean over jobs of the share of processors in the smallest enclosing box that \
            are not held by the job; processors lost to internal fragmentation are counted as held; null if not \
            measured"
            = places.mean(places.dispersal);
        mean_weighted_dispersal: f64 ["processors"] "mean over jobs of dispersal multiplied by the number of \
            processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.weighted_dispersal);
        mean_components: f64 ["components"] "mean over jobs of the number of connected components of its processors, \
            including processors lost to internal fragmentation; null if not measured"
            = places.mean(places.components as f64);
        contiguous_percent: f64 ["%", rising] "share of jobs in one connected component; null if not measured"
            = places.mean(100.0 * places.contiguous as f64);
    }
}

measures! {
    /// Metrics of the schedule, which are equal for all allocators that never refuse a job.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    pub struct ScheduleMetrics, from times: Times {
        jobs: u64 ["jobs"] "number of jobs of the run, size or replication" = times.waits.sorted.len() as u64;
        utilization: f64 ["share", rising] "ratio of the processor-time that jobs requested and used to the product \
            of processors and makespan, from 0 to 1; on shared hosts, only the processor-time in which jobs computed \
            is included" = times.utilization;
        held_utilization: Option<f64> ["share", rising] "utilization that counts all processors of the points that jobs hold, because no other job can use these processors; null if each point of the machine holds one processor" = times.held_utilization;
        makespan: i64 ["s"] "last completion minus first submission" = times.makespan;
        mean_wait: f64 ["s"] "mean over jobs of start minus arrival" = times.waits.mean;
        median_wait: f64 ["s"] "median wait" = times.waits.percentile(50.0);
        p90_wait: f64 ["s"] "90th percentile of the wait" = times.waits.percentile(90.0);
        p99_wait: f64 ["s"] "99th percentile of the wait" = times.waits.percentile(99.0);
        max_wait: i64 ["s"] "largest wait" = times.waits.max();
        mean_turnaround: f64 ["s"] "mean over jobs of completion minus arrival" = times.turnarounds.mean;
        median_turnaround: f64 ["s"] "median turnaround" = times.turnarounds.percentile(50.0);
        p90_turnaround: f64 ["s"] "90th percentile of the turnaround" = times.turnarounds.percentile(90.0);
        p99_turnaround: f64 ["s"] "99th percentile of the turnaround" = times.turnarounds.percentile(99.0);
        mean_bounded_slowdown: f64 [""] "mean over jobs of turnaround divided by the run time on the requested \
            processors, with run times below 10 s replaced by 10 s; at least 1" = times.mean_slowdown;
    }
}

/// The measurement that a column in the table of runs requires.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// Start and end times. If an allocator never refuses a job, the times of starts and ends do not depend on the
    /// allocator.
    Schedule,
    /// Pairwise L1 sums. The sums never decrease during a run.
    Pairwise,
    /// All metrics of allocations.
    Placements,
    /// Counts of ties. Counting ties makes decisions several times as expensive.
    Ties,
    /// The state of the system over time. Used only if the allocator may refuse jobs.
    System,
}

impl RunMetrics {
    /// Computes the metrics of a run from its schedule and the sums over allocations.
    pub fn new(
        schedule: &ScheduleMetrics,
        total_pairwise_l1: u64,
        placements: &PlacementMeans,
        ties: Option<TieStatistics>,
        system: Option<SystemMetrics>,
    ) -> Self {
        Self::of(Run { schedule, total_pairwise_l1, placements, ties, system })
    }

    /// Returns the columns of all metrics, grouped by the measurement that they require, in the order of the tables.
    pub fn groups() -> [(Needs, Vec<Column<Self>>); 6] {
        fn part<Part: 'static>(
            columns: Vec<Column<Part>>,
            part: impl for<'a> Fn(&'a RunMetrics) -> Option<&'a Part> + Copy + Send + Sync + 'static,
        ) -> Vec<Column<RunMetrics>> {
            columns.into_iter().map(|column| column.of(part)).collect()
        }
        [
            (Needs::Pairwise, part(PairwiseMetrics::columns(), |run| Some(&run.pairwise))),
            (Needs::Ties, part(TieMetrics::columns(), |run| run.ties.as_ref())),
            (Needs::Placements, part(PlacementMetrics::columns(), |run| run.placements.as_ref())),
            (Needs::Placements, part(HierarchyMetrics::columns(), |run| run.hierarchy.as_ref())),
            (Needs::Schedule, part(ScheduleMetrics::columns(), |run| Some(&run.schedule))),
            (Needs::System, part(SystemMetrics::columns(), |run| run.system.as_ref())),
        ]
    }
}

/// Sums over allocations. The sums do not depend on the number of threads, because they are sums of integers, or
/// because their values are added in job order.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlacementMeans {
    jobs: i64,
    diameter: i64,
    dispersal: f64,
    weighted_dispersal: f64,
    components: i64,
    contiguous: i64,
    /// Sums of allocations on trees and blocks.
    pub(super) hierarchy: HierarchySums,
}

impl PlacementMeans {
    /// Adds an allocation.
    pub fn record(&mut self, placement: &Placement) {
        self.add_job(placement, 1);
    }

    /// Subtracts an allocation that must not be counted.
    pub fn forget(&mut self, placement: &Placement) {
        self.add_job(placement, -1);
    }

    /// Adds an allocation if the sign is 1; subtracts the allocation if the sign is -1.
    fn add_job(&mut self, placement: &Placement, sign: i64) {
        self.jobs += sign;
        self.diameter += sign * i64::from(placement.diameter);
        self.dispersal += sign as f64 * placement.dispersal;
        self.weighted_dispersal += sign as f64 * placement.weighted_dispersal;
        self.components += sign * i64::from(placement.components);
        self.contiguous += sign * i64::from(placement.components == 1);
        if let Some(place) = &placement.hierarchy {
            self.hierarchy.add_job(place, sign);
        }
    }

    /// Adds the sums of another replay.
    pub fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.diameter += other.diameter;
        self.dispersal += other.dispersal;
        self.weighted_dispersal += other.weighted_dispersal;
        self.components += other.components;
        self.contiguous += other.contiguous;
        self.hierarchy.add(&other.hierarchy);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.jobs as f64
    }
}

/// The times of a schedule.
struct Times {
    waits: SortedValues,
    turnarounds: SortedValues,
    mean_slowdown: f64,
    makespan: i64,
    utilization: f64,
    held_utilization: Option<f64>,
}

/// The number of processors of a machine, from which the utilization is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Installed {
    /// Total number of processors.
    pub processors: usize,
    /// Number of processors per point. The processors of a point are allocated together.
    pub per_point: u32,
}

impl From<usize> for Installed {
    fn from(processors: usize) -> Self {
        Self { processors, per_point: 1 }
    }
}

impl From<&Topology> for Installed {
    fn from(topology: &Topology) -> Self {
        Self { processors: topology.capacity(), per_point: topology.per_point() }
    }
}

/// Sorted values of all jobs.
struct SortedValues {
    mean: f64,
    sorted: Vec<i64>,
}

impl SortedValues {
    fn of(mut values: Vec<i64>) -> Self {
        let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
        values.sort_unstable();
        Self { mean: sum as f64 / values.len().max(1) as f64, sorted: values }
    }

    fn percentile(&self, percent: f64) -> f64 {
        percentile(&self.sorted, percent)
    }

    fn max(&self) -> i64 {
        self.sorted.last().copied().unwrap_or(0)
    }
}

impl ScheduleMetrics {
    /// Computes the metrics of `jobs` on a machine. `starts` contains the start time of each job. There must be at
    /// least one job.
    pub fn new(jobs: &[Job], starts: &[i64], installed: impl Into<Installed>) -> Self {
        Self::served(jobs, jobs, starts, installed, None)
    }

    /// Computes the metrics of jobs that may have run on fewer processors than requested, or longer than in the trace.
    /// `served` contains the jobs as they ran ([`as_served`](super::system::as_served)). If jobs shared processors,
    /// `computed` is the processor time that they used for computing.
    pub fn served(
        jobs: &[Job],
        served: &[Job],
        starts: &[i64],
        installed: impl Into<Installed>,
        computed: Option<f64>,
    ) -> Self {
        let Installed { processors, per_point } = installed.into();
        let waits: Vec<i64> =
            jobs.iter().zip(starts).map(|(job, start)| start - job.submit).collect();
        let turnarounds: Vec<i64> =
            served.iter().zip(&waits).map(|(job, wait)| wait + job.run).collect();
        let slowdowns =
            jobs.iter().zip(&turnarounds).map(|(job, &time)| bounded_slowdown(time, job.run));
        let begin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
        let end = served.iter().zip(starts).map(|(job, start)| start + job.run).max().unwrap_or(0);
        let time = |processors: u64, job: &Job| i128::from(processors) * i128::from(job.run);
        let work: i128 = served.iter().map(|job| time(job.size.into(), job)).sum();
        let work = computed.unwrap_or(work as f64);
        let makespan = end - begin;
        let capacity = processors as f64 * makespan as f64;
        let of_capacity = |work: f64| if capacity > 0.0 { work / capacity } else { 0.0 };
        let whole = |size: u32| u64::from(size).next_multiple_of(per_point.into());
        let held = || served.iter().map(|job| time(whole(job.size), job)).sum::<i128>() as f64;
        Self::of(Times {
            mean_slowdown: slowdowns.sum::<f64>() / jobs.len().max(1) as f64,
            makespan,
            utilization: of_capacity(work),
            held_utilization: (per_point > 1).then(|| of_capacity(held())),
            waits: SortedValues::of(waits),
            turnarounds: SortedValues::of(turnarounds),
        })
    }
}

/// Returns the percentile of sorted values by linear interpolation between the two nearest ranks (the default of numpy
/// and R); 0 for no values.
pub fn percentile(sorted: &[i64], percent: f64) -> f64 {
    percentile_of(sorted.len(), percent, |rank| sorted[rank] as f64)
}

/// Returns the percentile of `count` sorted values. `value` returns the value with a given rank, from 0. See
/// [`percentile`].
pub fn percentile_of(count: usize, percent: f64, value: impl Fn(usize) -> f64) -> f64 {
    let Some(last) = count.checked_sub(1) else { return 0.0 };
    let rank = percent / 100.0 * last as f64;
    let (low, high) = (value(rank.floor() as usize), value(rank.ceil() as usize));
    low + (high - low) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::job;

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[1, 2, 3, 4], 50.0), 2.5);
        assert_eq!(percentile(&[7], 99.0), 7.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }

    #[test]
    fn metrics_of_a_run_of_two_jobs() {
        let jobs = [job(0, 100, 4), job(10, 5, 4)];
        let run = RunMetrics::new(
            &ScheduleMetrics::new(&jobs, &[0, 100], 4),
            16,
            &PlacementMeans::default(),
            None,
            None,
        );
        let times = &run.schedule;
        assert_eq!(
            (times.makespan, times.utilization, run.pairwise.mean_pairwise_l1),
            (105, 1.0, 8.0)
        );
        assert_eq!((times.mean_wait, times.mean_turnaround), (45.0, 97.5));
        // The job with a run time of 5 s has a turnaround of 95 s. The turnaround is divided by the threshold of 10 s.
        assert_eq!(times.mean_bounded_slowdown, (1.0 + 9.5) / 2.0);
        assert_eq!(run.placements, None);
    }
}
