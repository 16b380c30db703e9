//! Tolerances between printed and measured numbers.

use std::fmt;

use replay_engine::number::fixed;

/// Accepted difference between the measured and the published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// The difference, in either direction, may be at most this value.
    Absolute(f64),
    /// The difference, in either direction, may be at most this fraction of the published value.
    Relative(f64),
    /// The measured value must be below the published value.
    Below,
    /// The measured value must be above the published value.
    Above,
    /// The measured value may exceed the published value by at most this fraction of the published value.
    AtMost(f64),
    /// The difference, in either direction, may be at most this value. The value is the half-width of the range that
    /// contains 95 % of single perturbed copies of the log.
    OfShaken(f64),
}

impl Tolerance {
    /// Returns whether the tolerance accepts at least one value within `margin` of `ours`. Rounding errors of binary
    /// fractions are allowed at the limits.
    pub fn admits(self, published: f64, ours: f64, margin: f64) -> bool {
        let slop = margin + 1e-9 * published.abs().max(1.0);
        match self {
            Tolerance::Absolute(by) | Tolerance::OfShaken(by) => {
                (ours - published).abs() <= by + slop
            }
            Tolerance::Relative(by) => (ours - published).abs() <= by * published.abs() + slop,
            Tolerance::Below => ours - margin < published,
            Tolerance::Above => ours + margin > published,
            Tolerance::AtMost(by) => ours <= published + by * published.abs() + slop,
        }
    }

    /// Returns whether every value within `margin` of `ours` satisfies the bound; always `true` for a tolerance in both
    /// directions.
    pub(super) fn clears(self, published: f64, ours: f64, margin: f64) -> bool {
        let slop = 1e-9 * published.abs().max(1.0);
        match self {
            Tolerance::Below => ours + margin < published,
            Tolerance::Above => ours - margin > published,
            Tolerance::AtMost(by) => ours + margin <= published + by * published.abs() + slop,
            Tolerance::Absolute(_) | Tolerance::Relative(_) | Tolerance::OfShaken(_) => true,
        }
    }

    /// Returns the accepted distance from the published value in either direction; `None` for a bound.
    pub(super) fn reach(self, published: f64) -> Option<f64> {
        match self {
            Tolerance::Absolute(by) | Tolerance::OfShaken(by) => Some(by),
            Tolerance::Relative(by) => Some(by * published.abs()),
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => None,
        }
    }

    /// Returns whether the measured value itself is compared with the printed number. The result is false for a bound
    /// and for the range of perturbed copies.
    pub(super) fn is_two_sided(self) -> bool {
        matches!(self, Tolerance::Absolute(_) | Tolerance::Relative(_))
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tolerance::Absolute(by) => write!(f, "{by}"),
            Tolerance::Relative(by) => write!(f, "{} %", (by * 1e6).round() / 1e4),
            Tolerance::Below => f.write_str("less"),
            Tolerance::Above => f.write_str("more"),
            Tolerance::AtMost(by) => write!(f, "at most +{} %", (by * 1e6).round() / 1e4),
            Tolerance::OfShaken(by) => write!(f, "{} (95 % of perturbed logs)", fixed(*by, 2)),
        }
    }
}
