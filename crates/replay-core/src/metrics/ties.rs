//! Ties between candidate allocations.

use serde::Serialize;

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

    /// Adds the statistics of another replay.
    pub fn add(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.tied += other.tied;
        self.sets += other.sets;
    }

    /// Returns the percentage of tied decisions; 0 without decisions.
    pub fn tied_percent(&self) -> f64 {
        if self.decisions == 0 { 0.0 } else { 100.0 * self.tied as f64 / self.decisions as f64 }
    }

    /// Returns the mean number of distinct best sets over tied decisions; 0 if there are no tied
    /// decisions.
    pub fn mean_tied(&self) -> f64 {
        if self.tied == 0 { 0.0 } else { self.sets as f64 / self.tied as f64 }
    }
}
