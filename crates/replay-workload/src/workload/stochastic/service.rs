//! Distributions of service times.

mod names;

pub use names::descriptions;

use super::random::exponential;
use crate::naming::{NameError, spelled};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// A distribution of service times, in time units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Service {
    /// Exponential distribution.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Bounded Pareto distribution, with a density proportional to x^(-alpha - 1) on [k, q]. Most jobs are short, and a
    /// few long jobs have the same total time as all other jobs together (Bani-Mohammad, eq. 5.1).
    BoundedPareto {
        /// Shortest time.
        k: f64,
        /// Longest time, above `k`.
        q: f64,
        /// Tail index; a smaller index gives a heavier tail.
        alpha: f64,
    },
    /// Normal distribution restricted to [low, high].
    TruncatedNormal {
        /// Mean before the restriction.
        mean: f64,
        /// Standard deviation before the restriction.
        sd: f64,
        /// Shortest time, at least 0.
        low: f64,
        /// Longest time, above `low`; may be infinite.
        high: f64,
    },
    /// The same time for all jobs.
    Deterministic {
        /// Service time.
        time: f64,
    },
}

spelled!(Service, names::TABLE);

/// Minimum probability of the range to which a normal distribution may be truncated. A smaller probability is almost
/// certainly a mistake. Far out in a tail, the distribution function has no significant digits.
const LEAST_MASS: f64 = 1e-6;

impl Service {
    /// Returns the quantile of the service time at `u` in [0, 1), in time units.
    #[must_use]
    pub fn quantile(&self, u: f64) -> f64 {
        match *self {
            Self::Exponential { mean } => mean * exponential(u),
            Self::BoundedPareto { k, q, alpha } => {
                let tail = (k / q).powf(alpha);
                (k / (1.0 - u * (1.0 - tail)).powf(1.0 / alpha)).clamp(k, q)
            }
            Self::TruncatedNormal { mean, sd, low, high } => {
                let [below, mass] = masses(mean, sd, low, high);
                let normal = Normal::standard().inverse_cdf((below + u * mass).clamp(0.0, 1.0));
                (mean + sd * normal).clamp(low, high)
            }
            Self::Deterministic { time } => time,
        }
    }

    /// Returns the mean service time, in time units, by a closed form.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Exponential { mean } => mean,
            Self::BoundedPareto { k, q, alpha } => {
                // With the substitution x = k e^y, the integral of x times the density becomes an integral of e^((1 -
                // alpha) y).
                let span = (q / k).ln();
                let z = (1.0 - alpha) * span;
                let stretch = if z == 0.0 { 1.0 } else { z.exp_m1() / z };
                -alpha * k * span * stretch / (-alpha * span).exp_m1()
            }
            Self::TruncatedNormal { mean, sd, low, high } => {
                let density = |x: f64| Normal::standard().pdf((x - mean) / sd);
                let [_, mass] = masses(mean, sd, low, high);
                mean + sd * (density(low) - density(high)) / mass
            }
            Self::Deterministic { time } => time,
        }
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), NameError> {
        names::TABLE.check(self)
    }
}

/// Returns the probabilities of a normal distribution below `low` and between `low` and `high`.
fn masses(mean: f64, sd: f64, low: f64, high: f64) -> [f64; 2] {
    let below = |x: f64| Normal::standard().cdf((x - mean) / sd);
    [below(low), below(high) - below(low)]
}

#[cfg(test)]
pub(super) mod tests;
