//! The runs that a distance metric can rank.
//!
//! Strategies that [fold](crate::allocator::Reduction) jobs run these jobs on fewer processors than requested. Fewer
//! processors have shorter distances under any strategy, so a run that folds jobs would be first in every ranking by a
//! distance metric. The distances of runs that fold jobs are therefore compared only with each other. Waits and
//! turnarounds remain comparable, because they include the longer run times.

use std::sync::LazyLock;

use super::locality::Placement;
use super::{JobMeasures, Needs, RunMetrics};
use crate::metrics::FoldingMetrics;
use crate::table::{Column, Name};

/// The column that determines whether a run [`folds`] jobs.
pub const FOLDED: Name = FoldingMetrics::folded_percent;

/// Returns whether any job of a run ran on fewer processors than requested. The argument is the run's value in the
/// column [`FOLDED`]: `None` or NaN if the strategy does not fold jobs.
pub fn folds(folded_percent: Option<f64>) -> bool {
    folded_percent.is_some_and(|percent| percent > 0.0)
}

/// Returns, for each run, whether a ranking by a distance metric includes the run. The argument contains, for each run,
/// whether the run [`folds`] jobs. Runs that fold jobs are excluded, unless every run folds jobs.
pub fn ranked(folds: &[bool]) -> Vec<bool> {
    let all = folds.iter().all(|&folds| folds);
    folds.iter().map(|&folds| all || !folds).collect()
}

/// Returns whether a column of runs or jobs is a distance metric. Distance metrics depend on the positions of the jobs'
/// processors, and thus on the number of processors.
pub fn is_distance(column: Name) -> bool {
    DISTANCES.contains(&column)
}

/// Names of the distance metrics, taken from the declarations of the tables.
static DISTANCES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let of_runs = RunMetrics::groups()
        .into_iter()
        .filter(|(needs, _)| matches!(needs, Needs::Pairwise | Needs::Placements))
        .flat_map(|(_, columns)| columns);
    let of_jobs: Vec<Column<()>> = Placement::columns(|()| None);
    let of_jobs = of_jobs.iter().map(|column| column.name).chain([JobMeasures::LEAVES]);
    of_runs.map(|column| column.name).chain(of_jobs).collect()
});

/// The reason why runs that fold jobs are not ranked. In messages, the text follows the names of the strategies.
pub const WHY: &str =
    "jobs run on fewer processors than requested, which shortens distances under any strategy";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::PairwiseMetrics;
    use crate::metrics::PlacementMetrics;
    use crate::metrics::ScheduleMetrics;

    #[test]
    fn only_the_pairwise_measure_needs_pairwise_sums() {
        let named = |columns: Vec<Column<RunMetrics>>| -> Vec<Name> {
            columns.iter().map(|column| column.name).collect()
        };
        let of_need =
            RunMetrics::groups().into_iter().filter(|(needs, _)| *needs == Needs::Pairwise);
        let own: Vec<Name> = PairwiseMetrics::columns().iter().map(|column| column.name).collect();
        let all: Vec<Name> = of_need.flat_map(|(_, columns)| named(columns)).collect();
        assert_eq!(
            all, own,
            "searches compute columns of Needs::Pairwise from sums alone: use Needs::Placements"
        );
    }

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
    fn recognises_distance_metrics() {
        for name in [
            PairwiseMetrics::mean_pairwise_l1,
            PairwiseMetrics::total_pairwise_l1,
            PlacementMetrics::mean_dispersal,
            Placement::PAIRWISE_L1,
            Placement::DISTANCE,
            JobMeasures::LEAVES,
        ] {
            assert!(is_distance(name), "{name}");
        }
        for name in [
            ScheduleMetrics::mean_wait,
            ScheduleMetrics::mean_turnaround,
            ScheduleMetrics::utilization,
            FoldingMetrics::folded_percent,
            JobMeasures::WAIT,
            Name::new("trace"),
        ] {
            assert!(!is_distance(name), "{name}");
        }
    }
}
