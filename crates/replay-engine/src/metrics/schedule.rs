//! Waits, turnarounds, slowdowns and utilization of a schedule.

use serde::{Deserialize, Serialize};

use super::measure::{Finished, Measure, Needs, Setup};
use crate::simulation::Observer;
use crate::table::{Column, measures};
use crate::topology::Topology;
use crate::workload::Job;

/// Threshold of the bounded slowdown, in seconds.
pub const SLOWDOWN_BOUND: i64 = 10;

pub(super) fn bounded_slowdown(turnaround: i64, run: i64) -> f64 {
    (turnaround as f64 / run.max(SLOWDOWN_BOUND) as f64).max(1.0)
}

measures! {
    /// Metrics of the schedule, which are equal for all allocators that never refuse a job.
    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct ScheduleMetrics, from times: Times {
        jobs: u64 ["jobs"] "number of jobs of the run, size, group or replication" = times.waits.count;
        utilization: f64 ["share", rising] "ratio of the processor-time that jobs requested and used to the product \
            of processors and makespan, from 0 to 1; on shared hosts, only the processor-time in which jobs computed \
            is included" = times.utilization;
        held_utilization: Option<f64> ["share", rising] "utilization that counts all processors of the points that jobs hold, because no other job can use these processors; null if each point of the machine holds one processor" = times.held_utilization;
        makespan: i64 ["s"] "last completion minus first submission" = times.makespan;
        mean_wait: f64 ["s"] "mean over jobs of start minus arrival" = times.waits.mean;
        median_wait: f64 ["s"] "median wait" = times.waits.percentiles[0];
        p90_wait: f64 ["s"] "90th percentile of the wait" = times.waits.percentiles[1];
        p99_wait: f64 ["s"] "99th percentile of the wait" = times.waits.percentiles[2];
        max_wait: i64 ["s"] "largest wait" = times.waits.max;
        mean_turnaround: f64 ["s"] "mean over jobs of completion minus arrival" = times.turnarounds.mean;
        median_turnaround: f64 ["s"] "median turnaround" = times.turnarounds.percentiles[0];
        p90_turnaround: f64 ["s"] "90th percentile of the turnaround" = times.turnarounds.percentiles[1];
        p99_turnaround: f64 ["s"] "99th percentile of the turnaround" = times.turnarounds.percentiles[2];
        mean_bounded_slowdown: f64 [""] "mean over jobs of turnaround divided by the run time on the requested \
            processors, with run times below 10 s replaced by 10 s; at least 1" = times.mean_slowdown;
    }
}

/// The measure of the schedule. The metrics are computed from the times of all jobs and shared by all runs with the
/// same timeline, so this measure only passes them on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScheduleMeasure;

impl Observer for ScheduleMeasure {}

impl Measure for ScheduleMeasure {
    type Metrics = ScheduleMetrics;
    const NEEDS: Needs = Needs::Schedule;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self)
    }

    fn columns() -> Vec<Column<ScheduleMetrics>> {
        ScheduleMetrics::columns()
    }

    fn finish(&self, run: &Finished<'_>) -> ScheduleMetrics {
        run.schedule.cloned().unwrap_or_default()
    }
}

/// The times of a schedule.
struct Times {
    waits: Distribution,
    turnarounds: Distribution,
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

/// The distribution of a value of all jobs.
struct Distribution {
    count: u64,
    mean: f64,
    /// The median and the 90th and 99th percentiles.
    percentiles: [f64; 3],
    max: i64,
}

impl Distribution {
    fn of(mut values: Vec<i64>) -> Self {
        let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
        let count = values.len();
        let max = values.iter().copied().max().unwrap_or(0);
        // The values from `begin` on are at least as large as the values before. A percentile has two adjacent ranks, the
        // first of which is not below that of the previous percentile. A rank below `begin` was therefore selected before.
        let mut begin = 0;
        let mut value = |rank: usize| {
            if rank >= begin {
                values[begin..].select_nth_unstable(rank - begin);
                begin = rank;
            }
            values[rank] as f64
        };
        let percentiles =
            [50.0, 90.0, 99.0].map(|percent| percentile_of(count, percent, &mut value));
        Self { count: count as u64, mean: sum as f64 / count.max(1) as f64, percentiles, max }
    }
}

impl ScheduleMetrics {
    /// Computes the metrics of `jobs` on a machine. `starts` contains the start time of each job. There must be at
    /// least one job.
    pub fn new(jobs: &[Job], starts: &[i64], installed: impl Into<Installed>) -> Self {
        Self::served(jobs, jobs, starts, installed, None)
    }

    /// Computes the metrics of jobs that may have run on fewer processors than requested, or longer than in the trace.
    /// `served` contains the jobs as they ran ([`as_served`](super::times::as_served)). If jobs shared processors,
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
            waits: Distribution::of(waits),
            turnarounds: Distribution::of(turnarounds),
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
pub fn percentile_of(count: usize, percent: f64, mut value: impl FnMut(usize) -> f64) -> f64 {
    let Some(last) = count.checked_sub(1) else { return 0.0 };
    let rank = percent / 100.0 * last as f64;
    let (low, high) = (value(rank.floor() as usize), value(rank.ceil() as usize));
    low + (high - low) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Job;
    use proptest::prelude::*;

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[1, 2, 3, 4], 50.0), 2.5);
        assert_eq!(percentile(&[7], 99.0), 7.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }

    proptest! {
        #[test]
        fn selected_percentiles_are_those_of_the_sorted_values(
            mut values in proptest::collection::vec(prop_oneof![0i64..9, any::<i32>().prop_map(i64::from)], 0..300),
        ) {
            let found = Distribution::of(values.clone());
            values.sort_unstable();
            prop_assert_eq!(found.max, values.last().copied().unwrap_or(0));
            let sorted = [50.0, 90.0, 99.0].map(|percent| percentile(&values, percent).to_bits());
            prop_assert_eq!(found.percentiles.map(f64::to_bits), sorted);
        }
    }

    #[test]
    fn metrics_of_a_run_of_two_jobs() {
        let jobs = [Job::exact(0, 100, 4), Job::exact(10, 5, 4)];
        let times = ScheduleMetrics::new(&jobs, &[0, 100], 4);
        assert_eq!((times.makespan, times.utilization), (105, 1.0));
        assert_eq!((times.mean_wait, times.mean_turnaround), (45.0, 97.5));
        // The job with a run time of 5 s has a turnaround of 95 s. The turnaround is divided by the threshold of 10 s.
        assert_eq!(times.mean_bounded_slowdown, (1.0 + 9.5) / 2.0);
    }
}
