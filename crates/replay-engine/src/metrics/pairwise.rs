//! Pairwise L1 sums.

use serde::{Deserialize, Serialize};

use super::measure::{Finished, Measure, Needs, Placed, Setup};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// Pairwise L1 sum over the jobs with a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PairwiseSums {
    total: u64,
    jobs: u64,
}

measures! {
    /// Pairwise L1 sums of the jobs of a run.
    #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
    pub struct PairwiseMetrics, from sums: PairwiseSums {
        mean_pairwise_l1: f64 ["hops"] "mean over jobs of the sum of hop distances over all pairs of requested \
            processors, without processors lost to internal fragmentation; 0 for one-processor jobs; if a log is \
            repeated, jobs without a recorded placement are excluded, and the value is null if no job has a recorded \
            placement"
            = sums.total as f64 / sums.jobs.max(1) as f64;
        total_pairwise_l1: u64 ["hops"] "sum over all jobs of the hop distances over all pairs of requested processors" = sums.total;
    }
}

impl PairwiseMetrics {
    /// Returns the metrics of `jobs` jobs with the pairwise L1 sum `total`.
    pub fn new(total: u64, jobs: u64) -> Self {
        Self::of(PairwiseSums { total, jobs })
    }
}

impl Observer for PairwiseSums {}

impl Measure for PairwiseSums {
    type Metrics = PairwiseMetrics;
    const NEEDS: Needs = Needs::Pairwise;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<PairwiseMetrics>> {
        PairwiseMetrics::columns()
    }

    #[inline]
    fn placed(&mut self, placed: &Placed<'_>) {
        self.total += placed.pairwise_l1;
        self.jobs += 1;
    }

    fn withdrawn(&mut self, placed: &Placed<'_>) {
        self.total -= placed.pairwise_l1;
        self.jobs -= 1;
    }

    fn add(&mut self, other: &Self) {
        self.total += other.total;
        self.jobs += other.jobs;
    }

    fn finish(&self, _: &Finished<'_>) -> PairwiseMetrics {
        PairwiseMetrics::of(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_job_counts_once() {
        let placed = |pairwise_l1| Placed { size: 2, pairwise_l1, placement: None, tied: None };
        let mut sums = PairwiseSums::default();
        [7, 1].into_iter().for_each(|sum| sums.placed(&placed(sum)));
        sums.withdrawn(&placed(7));
        sums.placed(&placed(3));
        let metrics = PairwiseMetrics { mean_pairwise_l1: 2.0, total_pairwise_l1: 4 };
        assert_eq!(sums.finish(&Finished::default()), metrics);
        assert_eq!(PairwiseMetrics::new(0, 0).mean_pairwise_l1, 0.0);
    }
}
