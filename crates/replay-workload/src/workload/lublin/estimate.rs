//! User estimates of run times. The model of Lublin and Feitelson has no estimates. The rule in this module adds
//! estimates, because backfilling schedulers need them.

use super::ParameterError;
use super::gamma::check;
use serde::Serialize;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The most common estimates of users in seconds, in ascending order: 5, 10, 15, 20 and 30 minutes, and 1, 2, 3, 4, 6,
/// 8, 12, 18, 24, 36 and 48 hours.
pub const POPULAR_ESTIMATES: [i64; 16] = [
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    4 * HOUR,
    6 * HOUR,
    8 * HOUR,
    12 * HOUR,
    18 * HOUR,
    24 * HOUR,
    36 * HOUR,
    48 * HOUR,
];

/// Rule for estimates. An estimate is the product of the run time and a factor that is drawn uniformly from [1, 1 +
/// badness]. The product is rounded up to the next value of [`POPULAR_ESTIMATES`].
///
/// The rounding follows Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates" (JSSPP 2005): in all logs,
/// about 20 round values account for about 90% of the jobs. The random factor is the commonly used f-model. The rule is
/// simpler than the model of the JSSPP paper. Estimates of the rule follow run times more closely than the estimates of
/// real users do, which favours schedulers that trust estimates (Tsafrir, "Using inaccurate estimates accurately",
/// JSSPP 2010).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateRule {
    /// Maximum relative overestimation before rounding, at least 0. With 0, an estimate is the run time rounded up to
    /// the next value of [`POPULAR_ESTIMATES`].
    pub badness: f64,
}

impl Default for EstimateRule {
    /// Returns the rule with badness 1. With badness 1 and the published constants, the mean ratio of run time to
    /// estimate is about 0.56 for jobs of five minutes or more. In logs of the Parallel Workloads Archive, the mean
    /// ratio of run time to estimate, with ratios limited to 1, is 0.55 (CTC-SP2-1996-3.1-cln), 0.53
    /// (SDSC-SP2-1998-4.2-cln), 0.70 (KTH-SP2-1996-2) and 0.82 (LANL-CM5-1994-4.1-cln). For jobs of less than five
    /// minutes, the ratio is smaller than in the logs, because the shortest estimate is five minutes and the model has
    /// many run times of a few seconds.
    fn default() -> Self {
        Self { badness: 1.0 }
    }
}

impl EstimateRule {
    /// Returns the estimate, in seconds, of a job of `run` seconds; the estimate is at least `run`. `draw` is a uniform
    /// random number in [0, 1). If the product of the run time and the factor exceeds the longest popular value, the
    /// estimate is the longest popular value. If the run time itself exceeds the longest popular value, the estimate is
    /// the run time rounded up to whole days.
    #[must_use]
    pub fn estimate(&self, run: i64, draw: f64) -> i64 {
        let inflated = run as f64 * (1.0 + self.badness * draw);
        let longest = POPULAR_ESTIMATES[POPULAR_ESTIMATES.len() - 1];
        if run > longest {
            return run.saturating_add(DAY - 1 - (run - 1) % DAY);
        }
        let next = POPULAR_ESTIMATES.partition_point(|&popular| (popular as f64) < inflated);
        POPULAR_ESTIMATES.get(next).copied().unwrap_or(longest)
    }

    /// Checks that the badness is at least 0, so that estimates are at least the run time.
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check("estimates.badness", self.badness, "at least 0", |v| v >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn estimates_round_up_to_popular_values() {
        let exact = EstimateRule { badness: 0.0 };
        for (run, estimate) in [
            (1, 300),
            (300, 300),
            (301, 600),
            (3_601, 7_200),
            (172_800, 172_800),
            (172_801, 3 * DAY),
            (3 * DAY, 3 * DAY),
            (3 * DAY + 1, 4 * DAY),
        ] {
            assert_eq!(exact.estimate(run, 0.9), estimate, "{run}");
        }
        let bad = EstimateRule { badness: 4.0 };
        assert_eq!(bad.estimate(1_000, 0.0), 1_200);
        assert_eq!(bad.estimate(1_000, 0.5), 3_600);
        assert_eq!(bad.estimate(150_000, 0.9), 172_800);
    }

    proptest! {
        #[test]
        fn estimates_are_at_least_the_run_time(run in 1..i64::MAX, badness in 0.0..1e9, draw in 0.0..1.0) {
            let rule = EstimateRule { badness };
            prop_assert!(rule.estimate(run, draw) >= run);
        }

        #[test]
        fn a_larger_factor_never_lowers_the_estimate(run in 1..1_000_000_i64, badness in 0.0..10.0, draw in 0.0..1.0) {
            let rule = EstimateRule { badness };
            prop_assert!(rule.estimate(run, draw) >= rule.estimate(run, 0.0));
        }
    }
}
