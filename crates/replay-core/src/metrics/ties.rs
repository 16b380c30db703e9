//! Ties between candidate allocations.

use serde::Serialize;

/// How often the best primary score is shared (Johnson, Bunde, Leung, Fig. 4). A decision
/// is *tied* if at least two distinct processor sets have the best score.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct TieStatistics {
    /// All decisions.
    pub decisions: u64,
    /// Tied decisions.
    pub tied: u64,
    /// Distinct best sets, summed over tied decisions.
    pub sets: u64,
}

impl TieStatistics {
    /// Takes in a decision with this many distinct best sets.
    pub fn record(&mut self, sets: u32) {
        self.decisions += 1;
        if sets > 1 {
            self.tied += 1;
            self.sets += u64::from(sets);
        }
    }

    /// Takes in the decisions of another replay.
    pub fn add(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.tied += other.tied;
        self.sets += other.sets;
    }

    /// Tied decisions in percent of all decisions; 0 of none.
    pub fn tied_percent(&self) -> f64 {
        if self.decisions == 0 { 0.0 } else { 100.0 * self.tied as f64 / self.decisions as f64 }
    }

    /// Mean number of distinct best sets over the tied decisions; 0 if none is tied.
    pub fn mean_tied(&self) -> f64 {
        if self.tied == 0 { 0.0 } else { self.sets as f64 / self.tied as f64 }
    }
}
