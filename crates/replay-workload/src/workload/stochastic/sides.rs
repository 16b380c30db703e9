//! Distributions of the sides of requests.
//!
//! Each side is drawn independently from a distribution that depends on the machine's side in that dimension. In a
//! dimension in which the machine has one processor, the side is 1.

mod law;
mod names;

pub use names::descriptions;

use super::random::uniform;
use crate::naming::{NameError, spelled};
use law::{AxisLaw, find};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The distribution of the sides of a request, in processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sides {
    /// The distribution of one side.
    pub law: SideLaw,
    /// Whether each side is rounded down to a power of two, as some patterns of Lo's message-passing
    /// experiments require.
    pub power_of_two: bool,
    /// Whether a single side is drawn for all dimensions, which gives squares and cubes. The side is drawn from the
    /// distribution for the machine's shortest side that is longer than 1.
    pub equal: bool,
}

/// The distribution of one side on a machine of side L.
#[derive(Clone, Debug, PartialEq)]
pub enum SideLaw {
    /// All sides from `low` to `high` are equally likely.
    Uniform {
        /// Shortest side.
        low: u16,
        /// Longest side; the machine's side L if `None`.
        high: Option<u16>,
    },
    /// An exponential variable, truncated to an integer and limited to the range from 1 to L. Values below 2 become 1,
    /// and values above the machine's side L become L.
    Exponential {
        /// Mean before truncation; half of the machine's side if `None`.
        mean: Option<f64>,
    },
    /// Large sides are frequent (Lo, printed for L = 32): probability .2 for the first half, .2 for the next
    /// quarter, .2 for the next eighth, .4 for the last eighth. Needs L >= 8.
    Increasing,
    /// Small sides are frequent (Lo, printed for L = 32): probability .4 for the first eighth, .2 for the next
    /// eighth, .2 for the next quarter, .2 for the last half. Needs L >= 8.
    Decreasing,
    /// Intervals with probabilities; the sides in an interval are equally likely.
    Intervals {
        /// Intervals in ascending order without overlap.
        intervals: Vec<Interval>,
        /// Whether a single interval is drawn for all sides of a request, instead of an interval for each side. A job
        /// is then small or large as a whole (Turner 1995, chapter 4).
        by_job: bool,
    },
    /// Always the same side.
    Fixed(u16),
    /// Requests of 2^k processors, like the subcubes of a hypercube: k is drawn, and the sides of the request are as
    /// equal as the machine allows.
    Subcubes {
        /// Probabilities of k = 0, 1, ..., which add up to 1.
        shares: Vec<Share>,
    },
}

/// A probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

/// An interval of equally likely sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Shortest side.
    pub low: u16,
    /// Longest side.
    pub high: u16,
    /// Probability of the whole interval.
    pub probability: f64,
}

spelled!(Sides, names::TABLE);

impl Sides {
    /// Uniform sides from 1 to the machine's side.
    pub const UNIFORM: Self = Self::plain(SideLaw::Uniform { low: 1, high: None });

    /// Returns a distribution of independent, unrounded sides.
    #[must_use]
    pub const fn plain(law: SideLaw) -> Self {
        Self { law, power_of_two: false, equal: false }
    }

    /// Returns the probabilities of the sides from 1 to `extent` on a machine of side `extent`.
    ///
    /// # Errors
    /// [`NameError`] if the distribution is impossible or does not fit the machine.
    pub fn probabilities(&self, extent: u16) -> Result<Vec<f64>, NameError> {
        let drawn = self.axis(extent)?.probabilities(extent);
        let mut rounded = vec![0.0; drawn.len()];
        for (side, probability) in (1..=extent).zip(drawn) {
            rounded[usize::from(self.round(side)) - 1] += probability;
        }
        Ok(rounded)
    }

    /// Returns the exact mean number of processors of a request on a machine of these sides.
    pub(super) fn mean_size(&self, extents: [u16; 3]) -> Result<f64, NameError> {
        // Returns the mean of side^power.
        let moment = |extent, power: i32| {
            let probabilities = self.probabilities(extent)?;
            Ok((1..=extent).zip(probabilities).map(|(s, p)| p * f64::from(s).powi(power)).sum())
        };
        if let SideLaw::Subcubes { shares } = &self.law {
            let sizes = (0..).map(|k| 2f64.powi(k)).zip(self.subcubes(shares, extents)?);
            return Ok(sizes.map(|(size, (share, _))| share * size).sum());
        }
        if self.equal {
            let dimensions = extents.iter().filter(|&&extent| extent > 1).count();
            return moment(shortest(extents), dimensions as i32);
        }
        if let SideLaw::Intervals { intervals, by_job: true } = &self.law {
            extents.iter().try_for_each(|&extent| self.axis(extent).map(drop))?;
            let dimensions = extents.iter().filter(|&&extent| extent > 1).count() as i32;
            let mean = |interval: &Interval| {
                let sum: u32 =
                    (interval.low..=interval.high).map(|side| u32::from(self.round(side))).sum();
                f64::from(sum) / f64::from(interval.high - interval.low + 1)
            };
            let size = |i: &Interval| i.probability * mean(i).powi(dimensions);
            return Ok(intervals.iter().map(size).sum());
        }
        extents.iter().try_fold(1.0, |size, &extent| Ok(size * moment(extent, 1)?))
    }

    /// Returns the sampler for one machine, which draws the requests of all jobs.
    pub(super) fn sampler(&self, extents: [u16; 3]) -> Result<SideSampler<'_>, NameError> {
        if let SideLaw::Subcubes { shares } = &self.law {
            let wholes = self.subcubes(shares, extents)?;
            return Ok(SideSampler { sides: self, laws: AxisLaw::ONES, extents, wholes });
        }
        let axis = |i: usize| self.axis(if self.equal { shortest(extents) } else { extents[i] });
        let laws = [axis(0)?, axis(1)?, axis(2)?];
        Ok(SideSampler { sides: self, laws, extents, wholes: Vec::new() })
    }

    /// Returns, for each k from 0, the probability and the sides of a request of 2^k processors.
    fn subcubes(
        &self,
        shares: &[Share],
        extents: [u16; 3],
    ) -> Result<Vec<(f64, [u16; 3])>, NameError> {
        names::TABLE.check(self)?;
        let whole = |(k, &Share(share))| match nearly_square(k, extents) {
            Some(sides) => Ok((share, sides)),
            None => {
                let [x, y, z] = extents;
                let problem = format!(
                    "2^{k} processors with sides that are powers of two do not fit {x} x {y} x {z}"
                );
                Err(NameError::new(names::TABLE.kind(), &self.to_string(), problem))
            }
        };
        (0..).zip(shares).map(whole).collect()
    }

    fn axis(&self, extent: u16) -> Result<AxisLaw, NameError> {
        names::TABLE.check(self)?;
        let error = |problem| NameError::new(names::TABLE.kind(), &self.to_string(), problem);
        AxisLaw::new(&self.law, extent).map_err(error)
    }

    fn round(&self, side: u16) -> u16 {
        if self.power_of_two { 1 << side.ilog2() } else { side }
    }
}

/// Returns sides that are powers of two, with a product of 2^k. The sides are as equal as the machine allows. `None` if
/// no such sides fit the machine.
fn nearly_square(k: u32, extents: [u16; 3]) -> Option<[u16; 3]> {
    let mut sides = [1_u16; 3];
    for _ in 0..k {
        let grows = |&i: &usize| u32::from(extents[i]) >= 2 * u32::from(sides[i]);
        let shortest = (0..3).filter(grows).min_by_key(|&i| sides[i])?;
        sides[shortest] *= 2;
    }
    Some(sides)
}

/// Returns the shortest side of the machine that is longer than 1; 1 if all sides are 1.
fn shortest(extents: [u16; 3]) -> u16 {
    extents.into_iter().filter(|&extent| extent > 1).min().unwrap_or(1)
}

/// A distribution of sides, resolved for one machine.
#[derive(Clone, Debug)]
pub(super) struct SideSampler<'a> {
    sides: &'a Sides,
    laws: [AxisLaw; 3],
    extents: [u16; 3],
    /// Requests that are drawn as a whole, with their probabilities. If the list is not empty, `laws` is not used.
    wholes: Vec<(f64, [u16; 3])>,
}

impl SideSampler<'_> {
    /// Draws the sides of a request. The function always uses three random numbers, so that machines of two and three
    /// dimensions use the same numbers.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> [u16; 3] {
        let numbers: [f64; 3] = std::array::from_fn(|_| uniform(rng));
        if let Some(sides) = self.whole(numbers[0]) {
            return sides;
        }
        // The first number selects both the interval and the position of the first side in the interval.
        let common = match &self.sides.law {
            SideLaw::Intervals { intervals, by_job: true } => find(intervals, numbers[0]),
            _ => None,
        };
        std::array::from_fn(|i| {
            let number = numbers[if self.sides.equal { 0 } else { i }];
            let side = match common {
                Some((interval, share)) => interval.side(if i == 0 { share } else { number }),
                None => self.laws[i].quantile(number),
            };
            if self.extents[i] == 1 { 1 } else { self.sides.round(side) }
        })
    }

    /// Returns the request that a uniform number `u` in [0, 1) selects; `None` if requests are not drawn as a whole.
    fn whole(&self, u: f64) -> Option<[u16; 3]> {
        let mut rest = u;
        for &(share, sides) in &self.wholes {
            if rest < share {
                return Some(sides);
            }
            rest -= share;
        }
        // Rounding can make the sum of the probabilities less than 1, and `u` may be at least as large as this sum.
        self.wholes.iter().rfind(|(share, _)| *share > 0.0).map(|&(_, sides)| sides)
    }
}

#[cfg(test)]
pub(super) mod tests;
