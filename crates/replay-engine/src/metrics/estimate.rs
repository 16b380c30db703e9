//! Means over independent replications, with confidence intervals.
//!
//! A replication gives one value of a metric. The values of R independent replications, with standard deviation s, give
//! a mean and its confidence interval, mean ± t((1 + confidence) / 2, R - 1) · s / √R. In this formula, t(p, n) is the
//! quantile p of Student's t with n degrees of freedom. [`replicate`] runs replications until the intervals are narrow
//! enough ([`StopRule`]): 95 % confidence and a half-width of 5 % of the mean by default, as in V. Lo, K. Windisch, W.
//! Liu and B. Nitzberg (IEEE TPDS 8(7), 1997) and S. Bani-Mohammad (PhD thesis, University of Glasgow, 2008). Both
//! publications study fragmentation.
//!
//! Because replications stop as soon as the interval is narrow enough, the interval contains the true mean slightly too
//! rarely. The minimum number of replications keeps this effect small: 95 % intervals of exponential values contain the
//! true mean in 93 to 94 % of cases.
//!
//! To compare strategies under common random numbers, use the *difference* of two strategies in one replication as a
//! separate metric: the interval of the difference is much narrower than the intervals of the two strategies.
//!
//! The cost is a few operations per value, and one inverse of Student's t (a few microseconds) per replication.

mod replicate;

pub use replicate::{ReplicateError, Replicated, StopRule, replicate};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::ops::RangeInclusive;

/// Computes mean and variance of a sequence of values by Welford's method, which avoids numerical cancellation for
/// large means.
///
/// ```
/// use replay_engine::metrics::estimate::Accumulator;
///
/// let values: Accumulator = [4.0, 5.0, 9.0].into_iter().collect();
/// assert_eq!((values.mean(), values.variance()), (6.0, 7.0));
/// let estimate = values.estimate(0.95);
/// assert!((estimate.half_width - 4.302653 * (7.0_f64 / 3.0).sqrt()).abs() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accumulator {
    count: u64,
    mean: f64,
    /// Sum of squared differences from the mean.
    squares: f64,
}

impl Accumulator {
    /// Adds a value. After a value that is not finite, mean and variance are not meaningful.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean of the values; NaN if there are no values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// Returns the unbiased variance of the values, in squared units; NaN for fewer than two values.
    #[must_use]
    pub fn variance(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.squares / (self.count - 1) as f64 }
    }

    /// Returns the mean with its confidence interval. `confidence` must be in [`CONFIDENCES`]; see [`student_t`].
    #[must_use]
    pub fn estimate(&self, confidence: f64) -> Estimate {
        let t = student_t(confidence, self.count.saturating_sub(1));
        Estimate { count: self.count, mean: self.mean(), half_width: self.half_width(t) }
    }

    /// Returns `t` standard errors: half the width of the interval.
    fn half_width(&self, t: f64) -> f64 {
        if self.count < 2 {
            f64::INFINITY
        } else {
            t * (self.variance() / self.count as f64).sqrt()
        }
    }
}

impl FromIterator<f64> for Accumulator {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut accumulator = Self::default();
        values.into_iter().for_each(|value| accumulator.push(value));
        accumulator
    }
}

/// A mean and its confidence interval, mean ± half-width, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Number of replications.
    pub count: u64,
    /// Mean over the replications.
    pub mean: f64,
    /// Half of the interval's width; infinite for fewer than two replications.
    pub half_width: f64,
}

impl Estimate {
    /// Returns the half-width as a share of the mean's magnitude: 0 if the half-width is 0, infinite if only the mean
    /// is 0.
    #[must_use]
    pub fn relative(&self) -> f64 {
        relative(self.half_width, self.mean)
    }

    /// Returns the two-sided p-value of the t test that the true mean is 0; `confidence` must be the confidence of the
    /// interval. The p-value is NaN for fewer than two replications.
    #[must_use]
    pub fn p(&self, confidence: f64) -> f64 {
        let freedom = self.count.saturating_sub(1);
        let error = self.half_width / student_t(confidence, freedom);
        if self.count < 2 { f64::NAN } else { two_sided_p(self.mean, error, freedom as f64) }
    }

    /// Returns the lower and upper end of the interval.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half_width, self.mean + self.half_width]
    }
}

fn relative(half_width: f64, mean: f64) -> f64 {
    if half_width == 0.0 { 0.0 } else { half_width / mean.abs() }
}

/// The range of confidence levels for which [`student_t`] is accurate to at least six digits.
pub const CONFIDENCES: RangeInclusive<f64> = 0.001..=0.999_999;

/// Number of degrees of freedom above which an expansion replaces the inverse of the distribution function. As the
/// degrees of freedom grow, the inverse loses all digits, while the expansion becomes more accurate.
const MANY: u64 = 1000;

/// Returns Student's t at (1 + `confidence`) / 2 with `freedom` degrees of freedom. An interval that extends by this
/// number of standard errors on each side of a mean contains the true mean with this confidence.
///
/// Returns infinity for zero degrees of freedom, and NaN for a confidence outside [`CONFIDENCES`]. For many degrees of
/// freedom, the function uses the expansion about the normal distribution (Abramowitz and Stegun, 26.7.5).
#[must_use]
pub fn student_t(confidence: f64, freedom: u64) -> f64 {
    if !CONFIDENCES.contains(&confidence) {
        return f64::NAN;
    }
    quantile(0.5 + confidence / 2.0, freedom as f64)
}

/// Returns the quantile `p` of Student's t with `freedom` degrees of freedom. `freedom` need not be an integer.
pub(super) fn quantile(p: f64, freedom: f64) -> f64 {
    if freedom > MANY as f64 {
        return expansion(Normal::standard().inverse_cdf(p), freedom);
    }
    // Here, `StudentsT::new` fails only for zero degrees of freedom.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

/// Returns the two-sided p-value of `value` with standard error `error`: the probability that the magnitude of
/// Student's t with `freedom` degrees of freedom is at least |`value` / `error`|. If `error` is 0, the p-value is 1 for
/// a value of 0, and 0 for other values.
pub(super) fn two_sided_p(value: f64, error: f64, freedom: f64) -> f64 {
    if error == 0.0 {
        return if value == 0.0 { 1.0 } else { 0.0 };
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| 2.0 * t.sf((value / error).abs()))
}

/// Returns the quantile of Student's t with `n` degrees of freedom that corresponds to the normal quantile `z`.
fn expansion(z: f64, n: f64) -> f64 {
    let first = z.powi(3) + z;
    let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
    let third = 3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z;
    z + first / (4.0 * n) + second / (96.0 * n.powi(2)) + third / (384.0 * n.powi(3))
}

#[cfg(test)]
mod tests;
