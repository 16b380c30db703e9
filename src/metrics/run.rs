//! What single jobs and whole runs come to.

use serde::{Deserialize, Serialize};

use super::Placement;
use super::system::SystemMetrics;
use super::ties::TieStatistics;
use crate::workload::Job;

/// One job in one run. Times in trace seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobMeasures {
    /// Job number in the trace.
    pub number: i64,
    /// Submission.
    pub submit: i64,
    /// Start; the end is start plus run time.
    pub start: i64,
    /// Run time.
    pub run: i64,
    /// Processors.
    pub size: u32,
    /// Where they were.
    pub placement: Placement,
    /// Distinct best sets, if counted.
    pub tied: Option<u32>,
}

impl JobMeasures {
    /// Start less submission, in seconds.
    pub fn wait(&self) -> i64 {
        self.start - self.submit
    }

    /// Completion less submission, in seconds (the response time of Lo et al.).
    pub fn turnaround(&self) -> i64 {
        self.wait() + self.run
    }

    /// Turnaround over run time, run times below [`SLOWDOWN_BOUND`] counted as that, and
    /// never less than 1 (Feitelson et al. 1997).
    pub fn bounded_slowdown(&self) -> f64 {
        bounded_slowdown(self.wait(), self.run)
    }

    /// Mean hop distance over pairs; 0 for one processor.
    pub fn mean_pairwise_l1(&self) -> f64 {
        let pairs = u64::from(self.size) * u64::from(self.size - 1) / 2;
        if pairs == 0 { 0.0 } else { self.placement.pairwise_l1 as f64 / pairs as f64 }
    }
}

/// Threshold of the bounded slowdown, in seconds.
pub const SLOWDOWN_BOUND: i64 = 10;

fn bounded_slowdown(wait: i64, run: i64) -> f64 {
    ((wait + run) as f64 / run.max(SLOWDOWN_BOUND) as f64).max(1.0)
}

/// What one run comes to. Times in trace seconds; means are over jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunMetrics {
    /// Jobs.
    pub jobs: u64,
    /// Mean over jobs of the pairwise L1 sum of the processors asked for; one-processor jobs
    /// count as 0 (Johnson, Bunde, Leung).
    pub mean_pairwise_l1: f64,
    /// The pairwise L1 sums of all jobs, added up.
    pub total_pairwise_l1: u64,
    /// Decisions with at least two distinct best sets; `None` if not counted.
    pub tied_decisions: Option<u64>,
    /// The same in percent of all decisions.
    pub tied_percent: Option<f64>,
    /// Mean number of distinct best sets over the tied decisions.
    pub mean_tied: Option<f64>,
    /// Mean L-infinity diameter; `None` if placements were not measured. This and the other
    /// measures of placement count processors lost to internal fragmentation as the job's.
    pub mean_diameter: Option<f64>,
    /// Mean dispersal.
    pub mean_dispersal: Option<f64>,
    /// Mean weighted dispersal.
    pub mean_weighted_dispersal: Option<f64>,
    /// Mean number of connected components.
    pub mean_components: Option<f64>,
    /// Jobs in one component, in percent.
    pub contiguous_percent: Option<f64>,
    /// Processor-seconds used over processors times makespan.
    pub utilization: f64,
    /// Last completion less first submission.
    pub makespan: i64,
    /// Mean wait.
    pub mean_wait: f64,
    /// Median wait.
    pub median_wait: f64,
    /// 90th percentile of the wait.
    pub p90_wait: f64,
    /// 99th percentile of the wait.
    pub p99_wait: f64,
    /// Largest wait.
    pub max_wait: i64,
    /// Mean turnaround.
    pub mean_turnaround: f64,
    /// Median turnaround.
    pub median_turnaround: f64,
    /// 90th percentile of the turnaround.
    pub p90_turnaround: f64,
    /// 99th percentile of the turnaround.
    pub p99_turnaround: f64,
    /// Mean bounded slowdown, bound 10 s.
    pub mean_bounded_slowdown: f64,
    /// Fragmentation, refusals and units; `None` if the strategy neither refuses nor hands
    /// out units.
    pub system: Option<SystemMetrics>,
}

/// Means of what is measured at every allocation. Sums are of integers or in job order,
/// so that they do not depend on threads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlacementMeans {
    jobs: u64,
    diameter: u64,
    dispersal: f64,
    weighted_dispersal: f64,
    components: u64,
    contiguous: u64,
}

impl PlacementMeans {
    /// Takes in one allocation.
    pub fn record(&mut self, placement: &Placement) {
        self.jobs += 1;
        self.diameter += u64::from(placement.diameter);
        self.dispersal += placement.dispersal;
        self.weighted_dispersal += placement.weighted_dispersal;
        self.components += u64::from(placement.components);
        self.contiguous += u64::from(placement.components == 1);
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.jobs > 0).then(|| sum / self.jobs as f64)
    }
}

/// What follows from the schedule alone and is the same for every allocator that never
/// refuses. Units as in [`RunMetrics`].
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleMetrics {
    jobs: u64,
    utilization: f64,
    makespan: i64,
    mean_wait: f64,
    waits: Percentiles,
    mean_turnaround: f64,
    turnarounds: Percentiles,
    mean_bounded_slowdown: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Percentiles {
    median: f64,
    p90: f64,
    p99: f64,
    max: i64,
}

impl Percentiles {
    fn of(mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        let at = |percent| percentile(&values, percent);
        Self {
            median: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            max: values.last().copied().unwrap_or(0),
        }
    }
}

impl ScheduleMetrics {
    /// Metrics of `jobs` (at least one) started at `starts` on a machine of `processors`.
    pub fn new(jobs: &[Job], starts: &[i64], processors: usize) -> Self {
        let count = jobs.len().max(1) as f64;
        let mean =
            |values: &[i64]| values.iter().map(|&v| i128::from(v)).sum::<i128>() as f64 / count;
        let waits: Vec<i64> =
            jobs.iter().zip(starts).map(|(job, start)| start - job.submit).collect();
        let turnarounds: Vec<i64> =
            jobs.iter().zip(&waits).map(|(job, wait)| wait + job.run).collect();
        let slowdowns = jobs.iter().zip(&waits).map(|(job, &wait)| bounded_slowdown(wait, job.run));
        let begin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
        let end = jobs.iter().zip(starts).map(|(job, start)| start + job.run).max().unwrap_or(0);
        let work: i128 = jobs.iter().map(|job| i128::from(job.size) * i128::from(job.run)).sum();
        let makespan = end - begin;
        let capacity = processors as f64 * makespan as f64;
        Self {
            jobs: jobs.len() as u64,
            utilization: if capacity > 0.0 { work as f64 / capacity } else { 0.0 },
            makespan,
            mean_wait: mean(&waits),
            mean_turnaround: mean(&turnarounds),
            mean_bounded_slowdown: slowdowns.sum::<f64>() / count,
            waits: Percentiles::of(waits),
            turnarounds: Percentiles::of(turnarounds),
        }
    }
}

impl RunMetrics {
    /// Metrics of a run on the schedule, with what was summed while jobs were allocated.
    pub fn new(
        schedule: &ScheduleMetrics,
        total_pairwise_l1: u64,
        placements: &PlacementMeans,
        ties: Option<TieStatistics>,
        system: Option<SystemMetrics>,
    ) -> Self {
        Self {
            jobs: schedule.jobs,
            mean_pairwise_l1: total_pairwise_l1 as f64 / schedule.jobs.max(1) as f64,
            total_pairwise_l1,
            tied_decisions: ties.map(|ties| ties.tied),
            tied_percent: ties.map(|ties| ties.tied_percent()),
            mean_tied: ties.map(|ties| ties.mean_tied()),
            mean_diameter: placements.mean(placements.diameter as f64),
            mean_dispersal: placements.mean(placements.dispersal),
            mean_weighted_dispersal: placements.mean(placements.weighted_dispersal),
            mean_components: placements.mean(placements.components as f64),
            contiguous_percent: placements.mean(100.0 * placements.contiguous as f64),
            utilization: schedule.utilization,
            makespan: schedule.makespan,
            mean_wait: schedule.mean_wait,
            median_wait: schedule.waits.median,
            p90_wait: schedule.waits.p90,
            p99_wait: schedule.waits.p99,
            max_wait: schedule.waits.max,
            mean_turnaround: schedule.mean_turnaround,
            median_turnaround: schedule.turnarounds.median,
            p90_turnaround: schedule.turnarounds.p90,
            p99_turnaround: schedule.turnarounds.p99,
            mean_bounded_slowdown: schedule.mean_bounded_slowdown,
            system,
        }
    }
}

/// The percentile of sorted values by linear interpolation between the two nearest
/// ranks (the default of numpy and R); 0 of nothing.
pub fn percentile(sorted: &[i64], percent: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = percent / 100.0 * last as f64;
    let (low, high) = (sorted[rank.floor() as usize] as f64, sorted[rank.ceil() as usize] as f64);
    low + (high - low) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[1, 2, 3, 4], 50.0), 2.5);
        assert_eq!(percentile(&[7], 99.0), 7.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }

    #[test]
    fn a_hand_made_run() {
        let job = |submit, run, size| Job { number: 0, submit, run, estimate: run, size, line: 0 };
        let jobs = [job(0, 100, 4), job(10, 5, 4)];
        let run = RunMetrics::new(
            &ScheduleMetrics::new(&jobs, &[0, 100], 4),
            16,
            &PlacementMeans::default(),
            None,
            None,
        );
        assert_eq!((run.makespan, run.utilization, run.mean_pairwise_l1), (105, 1.0, 8.0));
        assert_eq!((run.mean_wait, run.mean_turnaround), (45.0, 97.5));
        // 95 s for a job of 5 s counts against the bound of 10 s.
        assert_eq!(run.mean_bounded_slowdown, (1.0 + 9.5) / 2.0);
        assert_eq!(run.mean_diameter, None);
    }
}
