//! Pairwise L1 sums.

use serde::{Deserialize, Serialize};

use crate::table::measures;

measures! {
    /// Pairwise L1 sums of the jobs of a run. The fields are `total_pairwise_l1` and the number of jobs in the mean.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct PairwiseMetrics, from sums: (u64, u64) {
        mean_pairwise_l1: f64 ["hops"] "mean over jobs of the sum of hop distances over all pairs of requested \
            processors, without processors lost to internal fragmentation; 0 for one-processor jobs; if a log is \
            repeated, jobs without a recorded placement are excluded, and the value is null if no job has a recorded \
            placement"
            = sums.0 as f64 / sums.1.max(1) as f64;
        total_pairwise_l1: u64 ["hops"] "sum over all jobs of the hop distances over all pairs of requested processors" = sums.0;
    }
}

impl PairwiseMetrics {
    /// Returns the metrics of `jobs` jobs with the pairwise L1 sum `total`.
    pub fn new(total: u64, jobs: u64) -> Self {
        Self::of((total, jobs))
    }
}
