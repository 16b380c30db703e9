use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Archive, Batch, SearchError, Strategy};
use crate::allocator::centre::TieVector;
use crate::experiment::search::ratio::{Ratio, nearest_vector};
use crate::experiment::search::space::Space;

/// Vectors in a batch.
const BATCH: usize = 64;

/// Scan radii and ratios drawn independently: SR, wall share and border share are each
/// uniform.
#[derive(Clone, Debug)]
pub struct Random {
    space: Space,
    rng: ChaCha8Rng,
}

impl Random {
    /// Draws in a space by a seed.
    pub fn new(space: Space, seed: u64) -> Self {
        Self { space, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// One more vector.
    pub fn draw(&mut self) -> TieVector {
        loop {
            let scan_radius = self.rng.random_range(self.space.scan_radii.iter());
            let ratio = Ratio { wall: self.rng.random(), border: self.rng.random() };
            if let Some(vector) = nearest_vector(scan_radius, ratio.factors(), self.space.largest) {
                return vector;
            }
        }
    }
}

impl Strategy for Random {
    fn ask(&mut self, _archive: &Archive) -> Result<Batch, SearchError> {
        Ok(Batch::whole((0..BATCH).map(|_| self.draw()).collect()))
    }
}
