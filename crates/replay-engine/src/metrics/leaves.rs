//! Leaves, blocks and levels of the allocations of a run on trees of switches and on blocks.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::measure::{Finished, Measure, Needs, Placed, Setup, optional};
use super::{HierarchySeries, SizeRow};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// Sums over the jobs of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LeafSums {
    jobs: i64,
    leaves: i64,
    /// Sum over jobs of `leaves` / `fewest_leaves`.
    ratio: f64,
    upper_blocks: i64,
    /// Number of jobs with a level.
    levelled: i64,
    level: i64,
    hops: f64,
    /// Number of jobs of several nodes. The next field is the number of jobs of several nodes that run in one leaf.
    several: i64,
    several_in_one: i64,
    /// Number of jobs of several nodes that fit into the largest leaf.
    fitting: i64,
    has_uppers: bool,
    /// For each job size: the number of leaves summed over the jobs, the sum of the minimum numbers of leaves, and the
    /// number of jobs.
    by_size: HashMap<u32, [i64; 3]>,
}

impl LeafSums {
    /// Adds a job if the sign is 1; subtracts the job if the sign is -1.
    fn add_job(&mut self, placed: &Placed<'_>, sign: i64) {
        let Some(place) = placed.placement.and_then(|placement| placement.hierarchy) else {
            return;
        };
        let [leaves, fewest, jobs] = self.by_size.entry(placed.size).or_default();
        *leaves += sign * i64::from(place.leaves);
        *fewest += sign * i64::from(place.fewest_leaves);
        *jobs += sign;
        let several = place.nodes > 1;
        self.jobs += sign;
        self.leaves += sign * i64::from(place.leaves);
        self.ratio += sign as f64 * f64::from(place.leaves) / f64::from(place.fewest_leaves);
        self.has_uppers |= place.upper_blocks.is_some();
        self.upper_blocks += sign * i64::from(place.upper_blocks.unwrap_or(0));
        self.levelled += sign * i64::from(place.level.is_some());
        self.level += sign * i64::from(place.level.unwrap_or(0));
        self.hops += sign as f64 * place.hops;
        self.several += sign * i64::from(several);
        self.several_in_one += sign * i64::from(several && place.leaves == 1);
        self.fitting += sign * i64::from(several && place.fits_leaf);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.jobs as f64
    }

    fn share(sum: i64, of: i64) -> Option<f64> {
        (of > 0).then(|| sum as f64 / of as f64)
    }
}

measures! {
    /// Metrics of a run on a tree of switches or on blocks. Means are over jobs.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct HierarchyMetrics, from sums: &LeafSums {
        mean_leaves: f64 ["leaves"] "mean over jobs of the number of leaves (switches with nodes, or base blocks) on which a job has nodes; null on machines other than trees and blocks"
            = sums.mean(sums.leaves as f64);
        mean_leaf_ratio: f64 [""] "mean over jobs of the ratio of the number of leaves to the minimum number of \
            leaves that can hold the job on the idle machine"
            = sums.mean(sums.ratio);
        mean_upper_blocks: Option<f64> ["blocks"] "mean over jobs of the number of switches of level 1, or of blocks \
            of the second size, that contain nodes of the job; a leaf that is not directly below a switch of level 1 \
            counts as one; null if the machine has neither"
            = sums.has_uppers.then(|| sums.mean(sums.upper_blocks as f64));
        mean_level: Option<f64> ["levels"] "mean over jobs of the level of the lowest switch above all nodes of the job (0 for a leaf) or, on blocks, of the index (from 0) of the smallest block size with a block that holds all nodes of the job; jobs that are not in a single switch or block are excluded"
            = LeafSums::share(sums.level, sums.levelled);
        mean_pair_hops: f64 ["hops"] "mean over jobs of the mean hop distance over pairs of nodes; 0 for a job of one node"
            = sums.mean(sums.hops);
        one_leaf_percent: Option<f64> ["%", rising] "share of jobs in one leaf, among the jobs of at least two nodes"
            = LeafSums::share(100 * sums.several_in_one, sums.several);
        one_leaf_fitting_percent: Option<f64> ["%", rising] "share of jobs in one leaf, among the jobs of at least \
            two nodes that fit into the largest leaf"
            = LeafSums::share(100 * sums.several_in_one, sums.fitting);
    }
}

impl Observer for LeafSums {}

impl Measure for LeafSums {
    type Metrics = Option<HierarchyMetrics>;
    const NEEDS: Needs = Needs::Placements;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        (setup.placements && setup.hierarchy.is_some()).then(Self::default)
    }

    fn columns() -> Vec<Column<Option<HierarchyMetrics>>> {
        optional(HierarchyMetrics::columns())
    }

    fn placed(&mut self, placed: &Placed<'_>) {
        self.add_job(placed, 1);
    }

    fn withdrawn(&mut self, placed: &Placed<'_>) {
        self.add_job(placed, -1);
    }

    fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.leaves += other.leaves;
        self.ratio += other.ratio;
        self.upper_blocks += other.upper_blocks;
        self.levelled += other.levelled;
        self.level += other.level;
        self.hops += other.hops;
        self.several += other.several;
        self.several_in_one += other.several_in_one;
        self.fitting += other.fitting;
        self.has_uppers |= other.has_uppers;
        for (&size, of_size) in &other.by_size {
            let sums = self.by_size.entry(size).or_default();
            sums.iter_mut().zip(of_size).for_each(|(sum, more)| *sum += more);
        }
    }

    fn finish(&self, _: &Finished<'_>) -> Option<HierarchyMetrics> {
        (self.jobs > 0).then(|| HierarchyMetrics::of(self))
    }

    fn complete_row(&self, row: &mut SizeRow) {
        let of_size = self.by_size.get(&row.size).filter(|[.., jobs]| *jobs > 0);
        row.mean_leaves = of_size.map(|&[leaves, _, jobs]| leaves as f64 / jobs as f64);
    }

    fn complete_series(&self, series: &mut HierarchySeries) {
        let measured = self.by_size.iter().filter(|(_, [.., jobs])| *jobs > 0);
        let fewest =
            |(&size, &[_, fewest, jobs]): (&u32, &[i64; 3])| (size, fewest as f64 / jobs as f64);
        series.fewest_leaves = measured.map(fewest).collect();
        series.fewest_leaves.sort_unstable_by_key(|&(size, _)| size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Locality;
    use crate::topology::{NodeId, Topology};

    #[test]
    fn sums_over_jobs() {
        let mut sums = LeafSums::default();
        let topology: Topology = "tree:2x2x4".parse().expect("a machine");
        let mut locality = Locality::new(&topology);
        let mut jobs = |nodes: &[u32]| {
            let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
            locality.placement(&nodes, nodes.len() as u32)
        };
        let all = [jobs(&[0]), jobs(&[1, 2]), jobs(&[3, 4, 5]), jobs(&[6, 7, 8, 9, 10, 11])];
        let of = |placement, size| Placed {
            size,
            pairwise_l1: 0,
            placement: Some(placement),
            tied: None,
        };
        for (job, size) in all.iter().zip([1, 2, 3, 6]) {
            sums.placed(&of(job, size));
        }
        let again = jobs(&[0, 15]);
        sums.placed(&of(&again, 2));
        sums.withdrawn(&of(&again, 2));
        let run = sums.finish(&Finished::default()).expect("metrics");
        assert_eq!(
            (run.mean_leaves, run.mean_leaf_ratio),
            (6.0 / 4.0, (1.0 + 1.0 + 2.0 + 1.0) / 4.0)
        );
        assert_eq!((run.mean_upper_blocks, run.mean_level), (Some(5.0 / 4.0), Some(3.0 / 4.0)));
        // Mean hops of the jobs of 1, 2, 3 and 6 nodes: the last job has 7 pairs within leaves and 8 pairs across the
        // root.
        let hops = [0.0, 2.0, (2.0 + 2.0 * 4.0) / 3.0, (7.0 * 2.0 + 8.0 * 6.0) / 15.0];
        assert!((run.mean_pair_hops - hops.iter().sum::<f64>() / 4.0).abs() < 1e-12);
        assert_eq!(run.one_leaf_percent, Some(100.0 / 3.0));
        assert_eq!(run.one_leaf_fitting_percent, Some(50.0));
        assert!(LeafSums::default().finish(&Finished::default()).is_none());
        let mut series = HierarchySeries::default();
        sums.complete_series(&mut series);
        assert_eq!(series.fewest_leaves, [(1, 1.0), (2, 1.0), (3, 1.0), (6, 2.0)]);
    }
}
