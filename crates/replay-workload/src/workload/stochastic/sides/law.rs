//! The distribution of one side, resolved for the machine's side in its dimension.

use super::super::random::exponential;
use super::{Interval, SideLaw};

/// Intervals of Lo's distributions. Each entry contains the end of an interval, in eighths of the machine's side, and
/// the probability of this interval.
const INCREASING: [(u32, f64); 4] = [(4, 0.2), (6, 0.2), (7, 0.2), (8, 0.4)];
const DECREASING: [(u32, f64); 4] = [(1, 0.4), (2, 0.2), (4, 0.2), (8, 0.2)];

/// A distribution of sides from 1 to the machine's side.
#[derive(Clone, Debug)]
pub(super) enum AxisLaw {
    /// Uniform within each interval.
    Intervals(Vec<Interval>),
    /// An exponential variable, truncated to an integer and limited to 1..`extent`.
    Exponential { mean: f64, extent: u16 },
}

impl AxisLaw {
    /// Distributions of sides that are always 1.
    pub(super) const ONES: [Self; 3] = [const { Self::Intervals(Vec::new()) }; 3];

    /// Returns the distribution `law` for a machine of side `extent`. The parameters of the distribution must be valid.
    /// The error states why the distribution does not fit this side.
    pub(super) fn new(law: &SideLaw, extent: u16) -> Result<Self, String> {
        let one = |low, high| vec![Interval { low, high, probability: 1.0 }];
        let intervals = match law {
            _ if extent == 1 => one(1, 1),
            &SideLaw::Exponential { mean } => {
                let mean = mean.unwrap_or(f64::from(extent) / 2.0);
                return Ok(Self::Exponential { mean, extent });
            }
            &SideLaw::Uniform { low, high } => one(low, high.unwrap_or(extent.max(low))),
            &SideLaw::Fixed(side) => one(side, side),
            SideLaw::Intervals { intervals, .. } => intervals.clone(),
            SideLaw::Subcubes { .. } => {
                return Err(
                    "the distribution subcubes draws whole requests, so a single side has no distribution"
                        .to_string(),
                );
            }
            SideLaw::Increasing => eighths(&INCREASING, extent)?,
            SideLaw::Decreasing => eighths(&DECREASING, extent)?,
        };
        match intervals.last() {
            Some(last) if last.high > extent => {
                Err(format!("sides of up to {} exceed the machine's side, {extent}", last.high))
            }
            _ => Ok(Self::Intervals(intervals)),
        }
    }

    /// Returns the side at `u` in [0, 1): the quantile of the distribution.
    pub(super) fn quantile(&self, u: f64) -> u16 {
        match self {
            &Self::Exponential { mean, extent } => cut(mean * exponential(u), extent),
            Self::Intervals(intervals) => {
                find(intervals, u).map_or(1, |(interval, share)| interval.side(share))
            }
        }
    }

    /// Returns the probabilities of the sides 1, 2, ... `extent`.
    pub(super) fn probabilities(&self, extent: u16) -> Vec<f64> {
        match self {
            &Self::Exponential { mean, .. } => {
                let reaches =
                    |side: u16| if side == 1 { 1.0 } else { (-f64::from(side) / mean).exp() };
                let next = |side: u16| if side == extent { 0.0 } else { reaches(side + 1) };
                (1..=extent).map(|side| reaches(side) - next(side)).collect()
            }
            Self::Intervals(intervals) => {
                let mut probabilities = vec![0.0; usize::from(extent)];
                for &Interval { low, high, probability } in intervals {
                    let each = probability / f64::from(high - low + 1);
                    probabilities[usize::from(low) - 1..usize::from(high)].fill(each);
                }
                probabilities
            }
        }
    }
}

/// Returns the interval that `u` in [0, 1) selects, and the position in the interval, in [0, 1); `None` if there are no
/// intervals.
pub(super) fn find(intervals: &[Interval], u: f64) -> Option<(Interval, f64)> {
    let mut rest = u;
    for &interval in intervals {
        if rest < interval.probability {
            return Some((interval, rest / interval.probability));
        }
        rest -= interval.probability;
    }
    // Rounding can make the sum of the probabilities less than 1, and `u` may be at least as large as this sum.
    intervals.last().map(|&last| (last, 1.0 - f64::EPSILON / 2.0))
}

impl Interval {
    /// Returns the side at a position in [0, 1) of the interval.
    pub(super) fn side(&self, share: f64) -> u16 {
        // The product is less than the number of sides even after rounding, because the share is less than 1.
        self.low + (share * f64::from(self.high - self.low + 1)) as u16
    }
}

/// Truncates a number to an integer and limits it to 1..`extent`.
pub(super) fn cut(x: f64, extent: u16) -> u16 {
    // The conversion drops the fraction and saturates at the largest `u16`.
    (x as u16).clamp(1, extent)
}

/// Returns intervals whose ends are given in eighths of a machine's side and rounded up to whole processors.
fn eighths(shares: &[(u32, f64)], extent: u16) -> Result<Vec<Interval>, String> {
    if extent < 8 {
        return Err(format!("the machine's side is {extent}, but must be at least 8"));
    }
    let mut low = 1;
    let interval = |&(eighths, probability): &(u32, f64)| {
        let high = (u32::from(extent) * eighths).div_ceil(8) as u16;
        let interval = Interval { low, high, probability };
        low = high + 1;
        interval
    };
    Ok(shares.iter().map(interval).collect())
}
