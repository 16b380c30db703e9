//! Random numbers: one stream for each seed, job and purpose.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The purpose for which random numbers are drawn. The discriminants must not change, because the random numbers of a
/// seed depend on the discriminants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Number of packets.
    Quota = 0,
    /// Roots and pairs of a pattern.
    Pattern = 1,
}

/// Separates these random streams from other random streams with the same seed.
const LABEL: &[u8; 16] = b"network traffic\0";

/// Returns the random stream of a job. Seed and job are the cipher's key.
pub fn stream(seed: u64, job: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&job.to_le_bytes());
    key[16..].copy_from_slice(LABEL);
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(purpose as u64);
    rng
}

/// Draws a number in [0, 1). The number is a multiple of 2^-53.
pub fn unit(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// Draws an integer in 0 .. n; n must not be 0.
pub fn below(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    rng.random_range(0..n)
}

/// Draws an integer in 0 .. n other than `one`. The value `one` must also be in this range, and n must be at least 2.
pub fn other(rng: &mut ChaCha8Rng, n: u32, one: u32) -> u32 {
    let drawn = below(rng, n - 1);
    drawn + u32::from(drawn >= one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_job_and_purpose_has_its_own_numbers() {
        let mut firsts: Vec<u64> = Vec::new();
        for purpose in [Purpose::Quota, Purpose::Pattern] {
            for (seed, job) in [(0, 0), (0, 1), (1, 0), (1, 1), (u64::MAX, u64::MAX)] {
                firsts.push(stream(seed, job, purpose).random());
                assert_eq!(firsts.last(), Some(&stream(seed, job, purpose).random()));
            }
        }
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 10);
    }

    #[test]
    fn other_draws_every_number_but_one() {
        let mut rng = stream(1, 2, Purpose::Pattern);
        for one in 0..4 {
            let mut seen = [0; 4];
            for _ in 0..300 {
                seen[other(&mut rng, 4, one) as usize] += 1;
            }
            for (i, &count) in seen.iter().enumerate() {
                assert_eq!(count == 0, i == one as usize, "{seen:?}");
            }
        }
    }
}
