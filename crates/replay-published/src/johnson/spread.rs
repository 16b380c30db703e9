//! Spread of the numbers over perturbed copies, for logs that the archive has converted again.
//!
//! `scripts/johnson-spread.py` writes the table. For each converted log, scheduler and metric, the table
//! contains the standard deviation over 20 copies of `--shake`, pooled over tie vectors.

use super::{Metric, Row};
use crate::{Tolerance, VerifyError, defect};
use replay_engine::metrics::estimate::student_t;
use replay_experiment::shaken::CONFIDENCE;

const TABLE: &str = include_str!("spread.csv");

/// Standard deviation over copies of a log. The unit is percent of the mean; for an improvement, the unit is percentage
/// points.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Spread {
    trace: String,
    scheduler: String,
    metric: Metric,
    /// `yes` for runs with tie-breaking, otherwise `no`.
    tied: String,
    deviation: f64,
    copies: u64,
}

impl Spread {
    /// Returns the half-width of the range around the mean of the copies that contains 95 % of single logs. For N
    /// copies with standard deviation s, the half-width is t s √(1 + 1/N), as with `--shake`.
    fn reach(&self) -> f64 {
        let single = self.deviation * (1.0 + 1.0 / self.copies as f64).sqrt();
        // The value is rounded to the digits that tables show.
        (1e4 * student_t(CONFIDENCE, self.copies - 1) * single).round() / 1e4
    }
}

/// Reads the table.
///
/// # Errors
///
/// Returns [`VerifyError::Table`] if a line is unreadable. An unreadable line is a defect of the program.
pub(super) fn spreads() -> Result<Vec<Spread>, VerifyError> {
    let spreads: Result<_, csv::Error> =
        csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize().collect();
    spreads.map_err(defect)
}

/// Returns the spread for a row of a converted log, if the table contains the metric of the row.
fn of<'a>(spreads: &'a [Spread], row: &Row) -> Option<&'a Spread> {
    let tied = if row.tie.is_empty() { "no" } else { "yes" };
    spreads.iter().find(|spread| {
        spread.trace == row.trace
            && spread.scheduler == row.scheduler
            && spread.metric == row.metric
            && spread.tied == tied
    })
}

/// Returns the tolerance of a row of a converted log, if the table contains the metric of the row.
pub(super) fn tolerance(spreads: &[Spread], row: &Row) -> Option<Tolerance> {
    let reach = of(spreads, row)?.reach();
    Some(match row.metric {
        Metric::ImprovementPercent => Tolerance::Absolute(reach),
        _ => Tolerance::Relative((1e4 * reach).round() / 1e6),
    })
}

/// Returns the half-width of the 95 % range of an improvement on a single converted log, in percentage points; 0 if the
/// log is the version that the paper used.
pub(super) fn margin_of_improvement(spreads: &[Spread], trace: &str, scheduler: &str) -> f64 {
    let improvement = |spread: &&Spread| {
        spread.trace == trace
            && spread.scheduler == scheduler
            && spread.metric == Metric::ImprovementPercent
    };
    spreads.iter().find(improvement).map_or(0.0, Spread::reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_judged_by_its_own_copies() {
        let spreads = spreads().expect("a readable table");
        assert!(spreads.iter().all(|spread| spread.copies >= 20 && spread.deviation > 0.0));
        let reach = |trace: &str| {
            let rows = super::super::rows().expect("a readable table");
            let is_mean = |row: &&Row| {
                row.trace == trace && row.figure == "fig8" && row.metric == Metric::MeanPairwiseL1
            };
            let row = rows.iter().find(is_mean).expect("a row with a mean");
            tolerance(&spreads, row).and_then(|tolerance| tolerance.reach(100.0))
        };
        // The factor t(19) √1.05 is 2.093 √1.05 = 2.1447.
        let lanl = reach("LANL-CM5-1994-3.1-cln").expect("a converted log");
        assert!((lanl - 2.1447 * 0.0767).abs() < 1e-3, "{lanl}");
        assert!(reach("SDSC-Par-1996-2.1-cln").expect("a converted log") > 4.0 * lanl);
        assert_eq!(reach("KTH-SP2-1996-2"), None);
    }
}
