//! Means by job size, and how one run changes them against another.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::workload::Job;

/// Means over the jobs of one size in one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SizeRow {
    /// Processors.
    pub size: u32,
    /// Jobs of this size.
    pub jobs: u64,
    /// Rank by number of jobs, 1 for the most frequent size; of equally frequent sizes the
    /// larger comes first (chosen so that size 42 on KTH has the paper's rank 49).
    pub rank: u32,
    /// Mean pairwise L1 sum.
    pub mean_pairwise_l1: f64,
    /// Mean wait in seconds.
    pub mean_wait: f64,
    /// Mean turnaround in seconds.
    pub mean_turnaround: f64,
}

/// Rows by ascending size for `jobs` started at `starts` with pairwise L1 sums `pairwise`.
pub fn by_size(jobs: &[Job], starts: &[i64], pairwise: &[u64]) -> Vec<SizeRow> {
    #[derive(Clone, Copy, Default)]
    struct Sums {
        jobs: u64,
        pairwise: u64,
        wait: i128,
        turnaround: i128,
    }
    let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
    let mut sums = vec![Sums::default(); largest as usize + 1];
    for ((job, start), pairwise) in jobs.iter().zip(starts).zip(pairwise) {
        let sum = &mut sums[job.size as usize];
        sum.jobs += 1;
        sum.pairwise += pairwise;
        sum.wait += i128::from(start - job.submit);
        sum.turnaround += i128::from(start - job.submit + job.run);
    }
    let mut rows: Vec<_> = (0..)
        .zip(sums)
        .filter(|(_, sum)| sum.jobs > 0)
        .map(|(size, sum)| SizeRow {
            size,
            jobs: sum.jobs,
            rank: 0,
            mean_pairwise_l1: sum.pairwise as f64 / sum.jobs as f64,
            mean_wait: sum.wait as f64 / sum.jobs as f64,
            mean_turnaround: sum.turnaround as f64 / sum.jobs as f64,
        })
        .collect();
    let mut by_frequency: Vec<usize> = (0..rows.len()).collect();
    by_frequency.sort_by_key(|&i| (Reverse(rows[i].jobs), Reverse(rows[i].size)));
    for (rank, i) in (1..).zip(by_frequency) {
        rows[i].rank = rank;
    }
    rows
}

/// How jobs of one size fare in one run against another (Johnson, Bunde, Leung, Figs. 9
/// to 14).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SizeChange {
    /// Processors.
    pub size: u32,
    /// Jobs of this size.
    pub jobs: u64,
    /// Rank by number of jobs.
    pub rank: u32,
    /// How much smaller the mean pairwise L1 sum is than in the baseline, in percent of
    /// the baseline; negative if it is larger.
    pub improvement_percent: f64,
    /// Whether no allocator can change anything: one processor, or the whole machine.
    pub fixed: bool,
}

/// Improvement of `run` on `baseline` by size, for the sizes of both. Sizes whose baseline
/// is 0 have no percentage and count as 0.
pub fn improvement(baseline: &[SizeRow], run: &[SizeRow], processors: usize) -> Vec<SizeChange> {
    let change = |row: &SizeRow| {
        let base = baseline.iter().find(|base| base.size == row.size)?;
        let improvement_percent = if base.mean_pairwise_l1 > 0.0 {
            100.0 * (base.mean_pairwise_l1 - row.mean_pairwise_l1) / base.mean_pairwise_l1
        } else {
            0.0
        };
        let fixed = row.size == 1 || row.size as usize == processors;
        Some(SizeChange {
            size: row.size,
            jobs: row.jobs,
            rank: row.rank,
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
    fn sizes_are_grouped_ranked_and_compared() {
        let job = |size, run| Job { number: 0, submit: 0, run, estimate: run, size, line: 0 };
        let jobs = [job(2, 10), job(4, 1), job(2, 20), job(1, 5)];
        let rows = by_size(&jobs, &[0, 0, 6, 0], &[1, 8, 3, 0]);
        assert_eq!(
            rows.iter().map(|r| (r.size, r.jobs, r.rank)).collect::<Vec<_>>(),
            [(1, 1, 3), (2, 2, 1), (4, 1, 2)]
        );
        assert_eq!(
            (rows[1].mean_pairwise_l1, rows[1].mean_wait, rows[1].mean_turnaround),
            (2.0, 3.0, 18.0)
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
