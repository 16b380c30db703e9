//! Which runs a distance measure can rank.
//!
//! Strategies that [fold](crate::allocator::reduced) jobs run them on fewer processors than they ask
//! for. Fewer processors are closer to each other whatever the strategy, so such a run wins every
//! ranking by a distance. Distances of runs that fold jobs are therefore comparable only with those of
//! other runs that fold jobs. Waits and turnarounds remain comparable: they include the longer run times.

use std::sync::LazyLock;

use super::locality::Placement;
use super::run::{Needs, RunMetrics};
use crate::table::{Column, Name, name};

/// The column by which [`folds`] decides.
pub const FOLDED: Name = name::folded_percent;

/// Whether jobs of a run ran on fewer processors than they asked for, by its column [`FOLDED`];
/// `None` or NaN where the strategy folds no job.
pub fn folds(folded_percent: Option<f64>) -> bool {
    folded_percent.is_some_and(|percent| percent > 0.0)
}

/// Which runs take part in a ranking by a distance measure, given whether each [`folds`] jobs: those
/// that fold none, or all if every run folds jobs.
pub fn ranked(folds: &[bool]) -> Vec<bool> {
    let all = folds.iter().all(|&folds| folds);
    folds.iter().map(|&folds| all || !folds).collect()
}

/// Whether a column of runs or of jobs is a distance measure: it depends on where the processors of
/// the jobs are, and so on how many they are.
pub fn is_distance(column: &str) -> bool {
    DISTANCES.iter().any(|name| *name == column)
}

/// Names of the distance measures, as the groups of measures declare them.
static DISTANCES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let of_runs = RunMetrics::groups()
        .into_iter()
        .filter(|(needs, _)| matches!(needs, Needs::Pairwise | Needs::Placements))
        .flat_map(|(_, columns)| columns);
    let of_jobs: Vec<Column<()>> = Placement::columns(|()| None);
    of_runs.map(|column| column.name).chain(of_jobs.iter().map(|column| column.name)).collect()
});

/// Why runs are not ranked, to follow the names of their strategies.
pub const WHY: &str = "jobs run on fewer processors than they ask for, which are closer together whatever the strategy";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_runs_are_ranked_only_among_themselves() {
        assert_eq!(ranked(&[false, true, false]), [true, false, true]);
        assert_eq!(ranked(&[true, true]), [true, true]);
        assert_eq!(ranked(&[false, false]), [true, true]);
        assert!(ranked(&[]).is_empty());
        assert_eq!(
            [None, Some(f64::NAN), Some(0.0), Some(0.1)].map(folds),
            [false, false, false, true]
        );
    }

    #[test]
    fn distances_are_told_from_other_measures() {
        for name in
            ["mean_pairwise_l1", "total_pairwise_l1", "mean_dispersal", "pairwise_l1", "distance"]
        {
            assert!(is_distance(name), "{name}");
        }
        for name in
            ["mean_wait", "mean_turnaround", "utilization", "folded_percent", "wait", "trace"]
        {
            assert!(!is_distance(name), "{name}");
        }
    }
}
