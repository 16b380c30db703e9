//! The law of one side, resolved for the machine's side in its dimension.

use super::super::random::exponential;
use super::{Interval, SideLaw};

/// Shares of the machine's side, in eighths, at which the intervals of Lo's distributions end, and the
/// probability of each.
const INCREASING: [(u32, f64); 4] = [(4, 0.2), (6, 0.2), (7, 0.2), (8, 0.4)];
const DECREASING: [(u32, f64); 4] = [(1, 0.4), (2, 0.2), (4, 0.2), (8, 0.2)];

/// A law of sides from 1 to the machine's.
#[derive(Clone, Debug)]
pub(super) enum AxisLaw {
    /// Uniform within each.
    Intervals(Vec<Interval>),
    /// Exponential, cut and limited.
    Exponential { mean: f64, extent: u16 },
}

impl AxisLaw {
    /// Laws of sides that are always 1.
    pub(super) const ONES: [Self; 3] = [const { Self::Intervals(Vec::new()) }; 3];

    /// Checks a law that is legal on some machine against a machine's side; the error says
    /// what is wrong.
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
                return Err("a single side has no law: the request is drawn as a whole".to_string());
            }
            SideLaw::Increasing => eighths(&INCREASING, extent)?,
            SideLaw::Decreasing => eighths(&DECREASING, extent)?,
        };
        match intervals.last() {
            Some(last) if last.high > extent => {
                Err(format!("sides of {} do not fit a machine's side of {extent}", last.high))
            }
            _ => Ok(Self::Intervals(intervals)),
        }
    }

    /// The side at `u` of [0, 1): the inverse of the distribution function.
    pub(super) fn quantile(&self, u: f64) -> u16 {
        match self {
            &Self::Exponential { mean, extent } => cut(mean * exponential(u), extent),
            Self::Intervals(intervals) => {
                find(intervals, u).map_or(1, |(interval, share)| interval.side(share))
            }
        }
    }

    /// Probability of the sides 1, 2, ... `extent`.
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

/// The interval at `u` of [0, 1), and where in it that is, in [0, 1). `None` if there is none.
pub(super) fn find(intervals: &[Interval], u: f64) -> Option<(Interval, f64)> {
    let mut rest = u;
    for &interval in intervals {
        if rest < interval.probability {
            return Some((interval, rest / interval.probability));
        }
        rest -= interval.probability;
    }
    // The probabilities were a rounding error short of 1.
    intervals.last().map(|&last| (last, 1.0 - f64::EPSILON / 2.0))
}

impl Interval {
    /// The side at a share of [0, 1) of the interval.
    pub(super) fn side(&self, share: f64) -> u16 {
        // Below the number of sides even when rounded, as the share is below 1.
        self.low + (share * f64::from(self.high - self.low + 1)) as u16
    }
}

/// The side that a real number stands for: its whole part within 1..`extent`.
pub(super) fn cut(x: f64, extent: u16) -> u16 {
    // The conversion drops the fraction and stops at the largest `u16`.
    (x as u16).clamp(1, extent)
}

/// Intervals that end at shares of a side, rounded up.
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
