use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tpe::{TpeOptimizer, parzen_estimator};

use super::{Archive, Batch, Random, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::problem::{Evaluation, Extent};
use crate::search::ratio::{Ratio, nearest_vector};
use crate::search::space::Space;

/// Candidates drawn at random before the estimators are asked.
const STARTUP: usize = 32;
/// Candidates in a batch: each is drawn anew from the same estimators.
const BATCH: usize = 8;
/// Just above 1: the library's ranges exclude their end.
const ABOVE_ONE: f64 = 1.0 + 1e-9;

/// Tree-structured Parzen estimators (Bergstra et al. 2011), one each for scan radius,
/// wall share, border share and, if there are several, the slack: values that good
/// candidates have and others have not are the likelier to be tried.
///
/// One that breaks a constraint counts as if its improvement were less by what it
/// exceeds the constraint by.
pub struct Tpe {
    random: Random,
    space: Space,
    rng: ChaCha8Rng,
    estimators: Vec<TpeOptimizer>,
    /// Evaluations of the archive that the estimators have been told of.
    told: usize,
}

impl Tpe {
    /// Searches a space by a seed.
    pub fn new(space: Space, seed: u64) -> Self {
        let radii = (f64::from(space.scan_radii.low), f64::from(space.scan_radii.high) + 1.0);
        let ranges = [radii, (0.0, ABOVE_ONE), (0.0, ABOVE_ONE), (0.0, space.slacks.len() as f64)];
        let dimensions = if space.slacks.len() > 1 { 4 } else { 3 };
        // No range is empty, so none is refused.
        let ranges = ranges
            .into_iter()
            .take(dimensions)
            .filter_map(|(low, high)| tpe::range(low, high).ok());
        Self {
            random: Random::new(space.clone(), seed),
            // Another stream than that of the draws at the beginning.
            rng: ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 32)),
            estimators: ranges.map(|range| TpeOptimizer::new(parzen_estimator(), range)).collect(),
            space,
            told: 0,
        }
    }

    fn tell(&mut self, one: &Evaluation) {
        let cost = one.excess_percent - one.improvement_percent;
        let Candidate { vector, slack } = one.candidate;
        if !self.space.scan_radii.contains(vector.scan_radius) || !cost.is_finite() {
            return;
        }
        let ratio = Ratio::of(vector);
        let step = self.space.step(slack) as f64 + 0.5;
        let values = [f64::from(vector.scan_radius) + 0.5, ratio.wall, ratio.border, step];
        for (estimator, value) in self.estimators.iter_mut().zip(values) {
            // Value and cost are in range: nothing can be refused.
            let _ = estimator.tell(value, cost);
        }
    }

    fn draw(&mut self) -> Option<Candidate> {
        let mut values = [0.0; 4];
        for (estimator, value) in self.estimators.iter_mut().zip(&mut values) {
            let Ok(drawn) = estimator.ask(&mut self.rng);
            *value = drawn;
        }
        let ratio = Ratio { wall: values[1].min(1.0), border: values[2].min(1.0) };
        let vector = nearest_vector(values[0] as u32, ratio.factors(), self.space.largest)?;
        let slacks = &self.space.slacks;
        Some(Candidate { vector, slack: slacks[(values[3] as usize).min(slacks.len() - 1)] })
    }
}

impl SearchStrategy for Tpe {
    fn ask(&mut self, archive: &Archive) -> Result<Batch, SearchError> {
        if archive.evaluations().len() < STARTUP {
            let missing = STARTUP - archive.evaluations().len();
            return Ok(Batch::whole((0..missing).map(|_| self.random.draw()).collect()));
        }
        for one in &archive.evaluations()[self.told..] {
            if !matches!(one.extent, Extent::Prefix(_)) {
                self.tell(one);
            }
        }
        self.told = archive.evaluations().len();
        let mut batch: Vec<Candidate> = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            // What is known already says nothing new: another draw, but not for ever.
            let new = (0..20)
                .filter_map(|_| self.draw())
                .find(|&one| archive.get(one).is_none() && !batch.contains(&one));
            batch.push(new.unwrap_or_else(|| self.random.draw()));
        }
        Ok(Batch::whole(batch))
    }
}
