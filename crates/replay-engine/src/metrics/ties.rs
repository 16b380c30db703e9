//! Ties between candidate allocations.

use serde::{Deserialize, Serialize};

use super::measure::{Finished, Measure, Needs, Placed, Setup, optional};
use crate::simulation::Observer;
use crate::table::{Column, measures};

/// Statistics of ties for the best primary score (Johnson, Bunde, Leung, Fig. 4). A decision is
/// *tied* if at least two distinct processor sets have the best score.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct TieStatistics {
    /// Number of decisions.
    pub decisions: u64,
    /// Number of tied decisions.
    pub tied: u64,
    /// Number of distinct best sets, summed over tied decisions.
    pub sets: u64,
}

impl TieStatistics {
    /// Adds a decision with `sets` distinct best sets.
    pub fn record(&mut self, sets: u32) {
        self.decisions += 1;
        if sets > 1 {
            self.tied += 1;
            self.sets += u64::from(sets);
        }
    }

    /// Returns the percentage of tied decisions; 0 without decisions.
    fn tied_percent(&self) -> f64 {
        if self.decisions == 0 { 0.0 } else { 100.0 * self.tied as f64 / self.decisions as f64 }
    }

    /// Returns the mean number of distinct best sets over tied decisions; 0 if there are no tied
    /// decisions.
    fn mean_tied(&self) -> f64 {
        if self.tied == 0 { 0.0 } else { self.sets as f64 / self.tied as f64 }
    }
    /// Returns the metrics; `None` if no decision was counted.
    pub fn metrics(&self) -> Option<TieMetrics> {
        (self.decisions > 0).then(|| TieMetrics::of(*self))
    }
}

measures! {
    /// Ties for the best primary score (Johnson, Bunde, Leung, Fig. 4).
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct TieMetrics, from ties: TieStatistics {
        tied_decisions: u64 ["decisions"] "number of decisions in which at least two distinct processor sets have the best score; null if not counted" = ties.tied;
        tied_percent: f64 ["%"] "share of tied decisions; null if not counted" = ties.tied_percent();
        mean_tied: f64 ["sets"] "mean over tied decisions of the number of distinct processor sets with the best score; null if not counted" = ties.mean_tied();
    }
}

impl Observer for TieStatistics {}

impl Measure for TieStatistics {
    type Metrics = Option<TieMetrics>;
    const NEEDS: Needs = Needs::Ties;

    fn new(_: &Setup<'_>) -> Option<Self> {
        Some(Self::default())
    }

    fn columns() -> Vec<Column<Option<TieMetrics>>> {
        optional(TieMetrics::columns())
    }

    #[inline]
    fn placed(&mut self, placed: &Placed<'_>) {
        if let Some(sets) = placed.tied {
            self.record(sets);
        }
    }

    fn add(&mut self, other: &Self) {
        self.decisions += other.decisions;
        self.tied += other.tied;
        self.sets += other.sets;
    }

    fn finish(&self, _: &Finished<'_>) -> Option<TieMetrics> {
        self.metrics()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_decisions_with_a_count() {
        let placed = |tied| Placed { size: 1, pairwise_l1: 0, placement: None, tied };
        let mut ties = TieStatistics::default();
        ties.placed(&placed(None));
        assert_eq!(ties.metrics(), None);
        [1, 3, 1, 5].into_iter().for_each(|sets| ties.placed(&placed(Some(sets))));
        let metrics = TieMetrics { tied_decisions: 2, tied_percent: 50.0, mean_tied: 4.0 };
        assert_eq!(ties.metrics(), Some(metrics));
        ties.add(&ties.clone());
        assert_eq!(ties.metrics(), Some(TieMetrics { tied_decisions: 4, ..metrics }));
    }
}
