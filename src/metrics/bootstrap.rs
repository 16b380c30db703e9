//! How far to trust a difference of two replays of one trace.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Weeks below which blocks are days.
pub const FEWEST_BLOCKS: usize = 8;

/// Blocks below which there is no interval: that of few is too narrow, as their spread is hardly seen.
pub const FEWEST: usize = 5;

const DAY: i64 = 86_400;

/// Sums of a measure by block of submission time, in two replays. Jobs near each other in time share a
/// machine and its state, so that blocks are drawn, not jobs.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// In the one and in the other.
    sums: Vec<[f64; 2]>,
    /// Length of a block.
    pub days: u32,
}

impl Blocks {
    /// Jobs, each with its submission and the measure in the one and in the other replay: by weeks from the
    /// first submission on, or by days if the weeks are fewer than [`FEWEST_BLOCKS`].
    pub fn new(jobs: impl Iterator<Item = (i64, [f64; 2])> + Clone) -> Self {
        let first = jobs.clone().map(|(submit, _)| submit).min().unwrap_or(0);
        let by = |days: u32| {
            let mut sums: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
            for (submit, [one, other]) in jobs.clone() {
                let block = submit.saturating_sub(first) / (DAY * i64::from(days));
                let sums = sums.entry(block).or_default();
                *sums = [sums[0] + one, sums[1] + other];
            }
            Self { sums: sums.into_values().collect(), days }
        };
        let weeks = by(7);
        if weeks.len() < FEWEST_BLOCKS { by(1) } else { weeks }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The 95 % interval of how much less the sum is in the one than in the other, in percent: the 2.5 % and
    /// 97.5 % points over `samples` draws of as many blocks, each with repetition, the same blocks for
    /// both. Not numbers without samples, where the other's sum is 0, or of fewer than [`FEWEST`].
    pub fn interval(&self, samples: u32, seed: u64) -> [f64; 2] {
        if self.sums.len() < FEWEST {
            return [f64::NAN; 2];
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 33));
        let blocks = self.sums.len() as u32;
        let mut gains: Vec<f64> = (0..samples)
            .map(|_| {
                let mut all = [0.0; 2];
                for _ in 0..blocks {
                    let one = self.sums[rng.random_range(0..blocks) as usize];
                    all = [all[0] + one[0], all[1] + one[1]];
                }
                100.0 * (1.0 - all[0] / all[1])
            })
            .filter(|gain| gain.is_finite())
            .collect();
        gains.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * gains.len().saturating_sub(1) as f64).round() as usize;
            gains.get(place).copied().unwrap_or(f64::NAN)
        };
        [at(0.025), at(0.975)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_about_blocks() {
        const WEEK: i64 = 7 * DAY;
        let blocks = |jobs: i64, of: fn(i64) -> [f64; 2]| {
            Blocks::new((0..jobs).map(move |i| (i * WEEK / 10, of(i))))
        };
        // Ten weeks, with always half of the other: no doubt. Then two weeks: days.
        let half = blocks(100, |_| [1.0, 2.0]);
        assert_eq!((half.len(), half.days, half.interval(100, 1)), (10, 7, [50.0, 50.0]));
        let short = blocks(20, |_| [1.0, 2.0]);
        assert_eq!((short.len(), short.days), (14, 1));
        // As much better in one half of the weeks as worse in the other.
        let both = blocks(100, |i| [if i / 10 % 2 == 0 { 90.0 } else { 110.0 }, 100.0]);
        let [low, high] = both.interval(1000, 1);
        assert!((-8.0..-4.0).contains(&low) && (4.0..8.0).contains(&high), "{low} {high}");
        for few in [0, 1, 6] {
            assert!(blocks(few, |_| [1.0, 2.0]).interval(10, 1)[0].is_nan());
        }
    }
}
