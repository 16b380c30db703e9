//! Means over perturbed copies of a trace, for use in figures.

use std::collections::BTreeMap;

use replay_engine::metrics::SizeChange;
use replay_engine::metrics::by_size::improvement;
use replay_engine::metrics::estimate::{Accumulator, Estimate};
use replay_experiment::RunResult;
use replay_experiment::shaken::CONFIDENCE;

/// Returns the mean of a value over copies; `None` if there are fewer than two copies. If there are several runs on one
/// copy, their values are averaged first.
pub(super) fn over_copies<'a>(
    runs: impl IntoIterator<Item = &'a RunResult>,
    value: impl Fn(&RunResult) -> Option<f64>,
) -> Option<Estimate> {
    let mut copies: BTreeMap<u32, Accumulator> = BTreeMap::new();
    for run in runs {
        if let Some(value) = value(run) {
            copies.entry(run.key.copy).or_default().push(value);
        }
    }
    let means: Accumulator = copies.values().map(Accumulator::mean).collect();
    (means.count() > 1).then(|| means.estimate(CONFIDENCE))
}

/// Improvements of runs relative to baselines on the same perturbed copies.
#[derive(Default)]
pub(super) struct Improvements {
    sizes: BTreeMap<u32, Accumulator>,
    overall: Accumulator,
}

impl Improvements {
    /// Collects the improvement of each run relative to its baseline; the pairs are (baseline, run).
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a RunResult, &'a RunResult)>) -> Self {
        let mut all = Self::default();
        for (baseline, run) in pairs {
            for change in improvement(&baseline.by_size, &run.by_size, run.processors) {
                all.sizes.entry(change.size).or_default().push(change.improvement_percent);
            }
            all.overall.push(overall(baseline, run));
        }
        all
    }

    /// Number of copies.
    pub fn copies(&self) -> u64 {
        self.overall.count()
    }

    /// Returns the improvement over all jobs in percent.
    pub fn overall(&self) -> Estimate {
        self.overall.estimate(CONFIDENCE)
    }

    /// Replaces the changes with means over the copies, and returns half the width of each confidence interval.
    pub fn fill(&self, changes: &mut [SizeChange]) -> Vec<f64> {
        let fill = |change: &mut SizeChange| match self.sizes.get(&change.size) {
            Some(values) => {
                let mean = values.estimate(CONFIDENCE);
                change.improvement_percent = mean.mean;
                mean.half_width
            }
            None => 0.0,
        };
        changes.iter_mut().map(fill).collect()
    }
}

/// Returns the improvement of the mean pairwise L1 of a run relative to a baseline, in percent.
pub(super) fn overall(baseline: &RunResult, run: &RunResult) -> f64 {
    let before = baseline.metrics.pairwise.mean_pairwise_l1;
    100.0 * (before - run.metrics.pairwise.mean_pairwise_l1) / before
}
