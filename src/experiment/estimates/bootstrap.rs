//! How far to trust a difference of two replays of one trace.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::FEWEST_BLOCKS;
use crate::workload::Job;

const DAY: i64 = 86_400;

/// Sums of pairwise L1 by block of submission time. Jobs near each other in time share a machine and
/// its state, so that blocks are drawn, not jobs.
pub struct Blocks {
    /// With, without.
    sums: Vec<[u64; 2]>,
    /// Length of a block.
    pub days: u32,
}

impl Blocks {
    /// Weeks from the first submission on, or days if the weeks are fewer than [`FEWEST_BLOCKS`].
    pub fn new(jobs: &[Job], with: &[u64], without: &[u64]) -> Self {
        let by = |days: u32| {
            let first = jobs.first().map_or(0, |job| job.submit);
            let mut sums: BTreeMap<i64, [u64; 2]> = BTreeMap::new();
            for ((job, a), b) in jobs.iter().zip(with).zip(without) {
                let block = (job.submit - first) / (DAY * i64::from(days));
                let sums = sums.entry(block).or_default();
                *sums = [sums[0] + a, sums[1] + b];
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

    /// The 95 % interval of how much less the sum is with than without, in percent: the 2.5 % and
    /// 97.5 % points over `samples` draws of as many blocks, each with repetition, the same blocks for
    /// both. Not numbers without samples or blocks.
    pub fn interval(&self, samples: u32, seed: u64) -> [f64; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 33));
        let blocks = self.sums.len() as u32;
        let mut gains: Vec<f64> = (0..samples)
            .map(|_| {
                let mut all = [0u64; 2];
                for _ in 0..blocks {
                    let one = self.sums[rng.random_range(0..blocks) as usize];
                    all = [all[0] + one[0], all[1] + one[1]];
                }
                100.0 * (1.0 - all[0] as f64 / all[1] as f64)
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
