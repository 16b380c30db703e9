use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Archive, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::ratio::{Ratio, nearest_vector};
use crate::search::space::Space;
use replay_engine::allocator::ties::Slack;

/// Number of candidates per batch.
const BATCH: usize = 64;

/// Strategy that requests random candidates. SR, wall share, border share and slack are independent of each other, and
/// each is distributed uniformly over its values in the space.
#[derive(Clone, Debug)]
pub struct Random {
    space: Space,
    rng: ChaCha8Rng,
}

impl Random {
    /// Creates the strategy for a space, with a seed.
    pub fn new(space: Space, seed: u64) -> Self {
        Self { space, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Returns a random candidate.
    pub fn draw(&mut self) -> Candidate {
        loop {
            let scan_radii = &self.space.scan_radii;
            // The type must be `u32`, because another type would give other random numbers for the same seed.
            let position = self.rng.random_range(0..=(scan_radii.len() - 1) as u32);
            let scan_radius = scan_radii.get(position.into());
            let [wall, border] = [self.rng.random(), self.rng.random()];
            let ratio = Ratio { wall, border };
            let slack = self.slack();
            if let Some(vector) = nearest_vector(scan_radius, ratio.factors(), self.space.largest) {
                return Candidate { vector, slack };
            }
        }
    }

    /// Returns a random slack. If the space has a single slack, no random number is used.
    fn slack(&mut self) -> Slack {
        let slacks = &self.space.slacks;
        match slacks[..] {
            [only] => only,
            _ => slacks[self.rng.random_range(0..slacks.len() as u32) as usize],
        }
    }
}

impl SearchStrategy for Random {
    fn ask(&mut self, _archive: &Archive) -> Result<Vec<Candidate>, SearchError> {
        Ok((0..BATCH).map(|_| self.draw()).collect())
    }
}
