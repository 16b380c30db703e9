use std::fmt;

use replay_core::number::fixed;

/// How far ours may be from the published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// By no more than this.
    Absolute(f64),
    /// By no more than this fraction of the published value.
    Relative(f64),
    /// Ours must be below the published value.
    Below,
    /// Ours must be above the published value.
    Above,
    /// Ours must not exceed the published value by more than this fraction of it.
    AtMost(f64),
    /// By no more than this, within which 95 % of shaken copies of the log come out.
    OfShaken(f64),
}

impl Tolerance {
    /// Whether a value within `margin` of `ours` is near enough. The bounds allow for the
    /// rounding of binary fractions, nothing more.
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

    /// Whether every value within `margin` of `ours` is on the right side of a bound.
    pub(super) fn clears(self, published: f64, ours: f64, margin: f64) -> bool {
        let slop = 1e-9 * published.abs().max(1.0);
        match self {
            Tolerance::Below => ours + margin < published,
            Tolerance::Above => ours - margin > published,
            Tolerance::AtMost(by) => ours + margin <= published + by * published.abs() + slop,
            Tolerance::Absolute(_) | Tolerance::Relative(_) | Tolerance::OfShaken(_) => true,
        }
    }

    /// How far ours may be from the published value either way, if it compares the value itself.
    pub(super) fn reach(self, published: f64) -> Option<f64> {
        match self {
            Tolerance::Absolute(by) | Tolerance::OfShaken(by) => Some(by),
            Tolerance::Relative(by) => Some(by * published.abs()),
            Tolerance::Below | Tolerance::Above | Tolerance::AtMost(_) => None,
        }
    }

    /// Whether it compares the value itself, not with a bound. What shaken logs come to is neither: the
    /// printed number is of one log.
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
            Tolerance::OfShaken(by) => write!(f, "{} (95 % of shaken logs)", fixed(*by, 2)),
        }
    }
}
