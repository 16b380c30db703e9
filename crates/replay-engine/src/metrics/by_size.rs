//! Means by job size, and the change of one run compared with another.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::table::measures;
use crate::workload::Job;

measures! {
    /// Means over the jobs of one size in a run. Among sizes with equal numbers of jobs, the largest size ranks first,
    /// as in the paper: size 42 on KTH has rank 49.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    pub struct SizeRow, from of: (u32, u32, Sums) {
        size: u32 ["processors"] "processors that a job requests" = of.0;
        jobs: u64 ["jobs"] "number of jobs of the run, size, group or replication" = of.2.jobs;
        size_rank: u32 [""] "rank of the size by number of jobs, 1 for the most frequent; of equally frequent sizes, \
            the largest has the lowest rank" = of.1;
        mean_pairwise_l1: Option<f64> ["hops"] "mean over jobs of the sum of hop distances over all pairs of \
            requested processors, without processors lost to internal fragmentation; 0 for one-processor jobs; if a \
            log is repeated, jobs without a recorded placement are excluded, and the value is null if no job has a \
            recorded placement" = of.2.mean_pairwise();
        mean_leaves: Option<f64> ["leaves"] "mean over jobs of the number of leaves (switches with nodes, or base blocks) on which a job has nodes; null on machines other than trees and blocks" = None;
        mean_wait: f64 ["s"] "mean over jobs of start minus arrival" = of.2.mean(of.2.wait as f64);
        mean_turnaround: f64 ["s"] "mean over jobs of completion minus arrival" = of.2.mean(of.2.turnaround as f64);
    }
}

#[derive(Clone, Copy, Default)]
struct Sums {
    jobs: u64,
    /// Number of jobs with a known placement.
    known: u64,
    pairwise: u64,
    wait: i128,
    turnaround: i128,
}

impl Sums {
    fn mean(&self, sum: f64) -> f64 {
        sum / self.jobs as f64
    }

    fn mean_pairwise(&self) -> Option<f64> {
        (self.known > 0).then(|| self.pairwise as f64 / self.known as f64)
    }
}

/// Returns a row for each job size, in ascending order of size. `starts` contains the start time of each job, and
/// `pairwise` contains the pairwise L1 sum of each job.
pub fn by_size(jobs: &[Job], starts: &[i64], pairwise: &[u64]) -> Vec<SizeRow> {
    by_size_of(jobs, starts, pairwise.iter().copied().map(Some))
}

/// Returns a row for each job size, like [`by_size`]; the pairwise L1 sum of a job is `None` if its placement is
/// unknown.
pub fn by_size_of(
    jobs: &[Job],
    starts: &[i64],
    pairwise: impl IntoIterator<Item = Option<u64>>,
) -> Vec<SizeRow> {
    let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
    let mut sums = vec![Sums::default(); largest as usize + 1];
    for ((job, start), pairwise) in jobs.iter().zip(starts).zip(pairwise) {
        let sum = &mut sums[job.size as usize];
        sum.jobs += 1;
        sum.known += u64::from(pairwise.is_some());
        sum.pairwise += pairwise.unwrap_or(0);
        sum.wait += i128::from(start - job.submit);
        sum.turnaround += i128::from(start - job.submit + job.run);
    }
    let mut sums: Vec<(u32, Sums)> = (0..).zip(sums).filter(|(_, sum)| sum.jobs > 0).collect();
    sums.sort_by_key(|&(size, sum)| (Reverse(sum.jobs), Reverse(size)));
    let ranked = (1..).zip(sums).map(|(rank, (size, sum))| SizeRow::of((size, rank, sum)));
    let mut rows: Vec<SizeRow> = ranked.collect();
    rows.sort_by_key(|row| row.size);
    rows
}

/// The change in the mean pairwise L1 sum of the jobs of one size, from a baseline run to another run (Johnson, Bunde,
/// Leung, Figs. 9 to 14).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SizeChange {
    /// Number of processors.
    pub size: u32,
    /// Number of jobs of this size.
    pub jobs: u64,
    /// Rank of the size: sizes with more jobs have a lower rank.
    pub size_rank: u32,
    /// Reduction of the mean pairwise L1 sum in percent of the baseline; negative for an increase.
    pub improvement_percent: f64,
    /// Whether the allocator has no choice: the job needs a single processor or the whole machine.
    pub fixed: bool,
}

/// Returns the improvement of `run` compared with `baseline` for each size that occurs in both runs. If the mean
/// pairwise L1 sum of the baseline is 0, the improvement is 0.
pub fn improvement(baseline: &[SizeRow], run: &[SizeRow], processors: usize) -> Vec<SizeChange> {
    let change = |row: &SizeRow| {
        let base = baseline.iter().find(|base| base.size == row.size)?;
        let (before, now) = (base.mean_pairwise_l1?, row.mean_pairwise_l1?);
        let improvement_percent = if before > 0.0 { 100.0 * (before - now) / before } else { 0.0 };
        let fixed = row.size == 1 || row.size as usize == processors;
        Some(SizeChange {
            size: row.size,
            jobs: row.jobs,
            size_rank: row.size_rank,
            improvement_percent,
            fixed,
        })
    };
    run.iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_ranks_and_compares_sizes() {
        let job = |size, run| Job::exact(0, run, size);
        let jobs = [job(2, 10), job(4, 1), job(2, 20), job(1, 5)];
        let rows = by_size(&jobs, &[0, 0, 6, 0], &[1, 8, 3, 0]);
        assert_eq!(
            rows.iter().map(|r| (r.size, r.jobs, r.size_rank)).collect::<Vec<_>>(),
            [(1, 1, 3), (2, 2, 1), (4, 1, 2)]
        );
        assert_eq!(
            (rows[1].mean_pairwise_l1, rows[1].mean_wait, rows[1].mean_turnaround),
            (Some(2.0), 3.0, 18.0)
        );
        let better = by_size(&jobs, &[0; 4], &[1, 8, 1, 0]);
        let change = improvement(&rows, &better, 4);
        assert_eq!(
            change.iter().map(|c| c.improvement_percent).collect::<Vec<_>>(),
            [0.0, 50.0, 0.0]
        );
        assert_eq!(change.iter().map(|c| c.fixed).collect::<Vec<_>>(), [true, false, true]);
    }
}
