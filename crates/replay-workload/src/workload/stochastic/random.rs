//! Random numbers: one stream for each seed, replication and step.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The step for which random numbers are drawn. The discriminants must not change, because they select the random
/// numbers of each seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Arrivals = 0,
    Sides = 1,
    Service = 2,
}

/// Label that separates these random streams from other random streams with the same seed.
const LABEL: &[u8; 16] = b"stochastic jobs\0";

/// Returns the random stream of a step. Seed and replication are the cipher's key, so every replication has different
/// streams, and replications can be generated in any order.
pub(super) fn stream(seed: u64, replication: u64, step: Step) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&replication.to_le_bytes());
    key[16..].copy_from_slice(LABEL);
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(step as u64);
    rng
}

/// Draws a number in [0, 1). The number is a multiple of 2^-53.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// Returns the quantile of the exponential distribution with mean 1 for the probability `u` in [0, 1).
pub(super) fn exponential(u: f64) -> f64 {
    -(-u).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_replication_and_step_has_its_own_numbers() {
        let mut firsts: Vec<u64> = Vec::new();
        for step in [Step::Arrivals, Step::Sides, Step::Service] {
            for (seed, replication) in [(0, 0), (0, 1), (1, 0), (1, 1), (u64::MAX, u64::MAX)] {
                firsts.push(stream(seed, replication, step).random());
                assert_eq!(firsts.last(), Some(&stream(seed, replication, step).random()));
            }
        }
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 15);
    }

    #[test]
    fn exponential_inverts_its_distribution_function() {
        assert_eq!(exponential(0.0), 0.0);
        for u in [1e-12, 0.1, 0.5, 0.9, 1.0 - f64::EPSILON] {
            let back = -(-exponential(u)).exp_m1();
            assert!((back - u).abs() < 1e-15 + 1e-12 * u, "{u} {back}");
        }
    }
}
