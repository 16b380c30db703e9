//! Sizes of jobs in the Lublin-Feitelson model (the paper's section on the number of processors).

use super::ParameterError;
use super::gamma::{check, check_probability};
use rand::{Rng, RngExt};
use serde::Serialize;

/// Base-2 logarithm of the machine size for which the constants were published: 128 processors.
const PUBLISHED_LOG_PROCESSORS: f64 = 7.0;

/// The distribution of sizes. A job is serial with probability `serial`, its size is a power of two with probability
/// `power_of_two`, and its size is any number otherwise. The base-2 logarithm of a parallel size follows a two-stage
/// uniform distribution: uniform on [low, medium] with probability `first_stage`, otherwise uniform on [medium, high].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeModel {
    /// Share of jobs that need one processor.
    pub serial: f64,
    /// Share of jobs with a rounded logarithm, which makes their size a power of two. The share is of all jobs, not
    /// only of the parallel jobs. The size of other jobs may be a power of two by chance.
    pub power_of_two: f64,
    /// Base-2 logarithm of the size of the smallest parallel job (ULow in the model). A small shift of this value makes
    /// jobs of two processors more or less likely.
    pub low: f64,
    /// Base-2 logarithm of the size at which the density changes (UMed in the model). The program `lublin99.c`
    /// recommends a value 1.5 to 3.5 below `high`.
    pub medium: f64,
    /// Base-2 logarithm of the size of the largest job (UHi in the model).
    pub high: f64,
    /// Probability of the first stage (Uprob in the model); the program advises 0.7 to 0.95.
    pub first_stage: f64,
}

impl SizeModel {
    /// Adapts the constants, which were published for 128 processors, to another machine. `medium` and `high` are
    /// shifted by log2(processors / 128), so their distance to the logarithm of the machine's size does not change, as
    /// the program advises. `medium` and `high` never become smaller than `low`. For 128 processors, the constants do
    /// not change.
    #[must_use]
    pub fn scaled_to(self, processors: u32) -> Self {
        let log_processors = f64::from(processors.max(1)).log2();
        let shift = log_processors - PUBLISHED_LOG_PROCESSORS;
        let high = (self.high + shift).max(self.low.min(log_processors));
        let low = self.low.min(high);
        Self { low, medium: (self.medium + shift).min(high).max(low), high, ..self }
    }

    /// Checks that the probabilities add up to at most 1 and that the logarithms are finite and ordered.
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_probability("sizes.serial", self.serial)?;
        check_probability("sizes.power_of_two", self.power_of_two)?;
        check_probability("sizes.first_stage", self.first_stage)?;
        let room = |share: f64| share + self.serial <= 1.0;
        let rest = "at most 1 - sizes.serial";
        check("sizes.power_of_two", self.power_of_two, rest, room)?;
        check("sizes.low", self.low, "at least 0", |v| v >= 0.0)?;
        let (low, medium) = (self.low, self.medium);
        check("sizes.medium", medium, "at least sizes.low", |v| v >= low)?;
        check("sizes.high", self.high, "at least sizes.medium", |v| v >= medium)
    }

    /// Draws a size from 1 to `processors`.
    ///
    /// If the machine's size is not a power of two, a rounded logarithm may give a power of two larger than the
    /// machine. A power of two that is larger than the machine is replaced by the largest power of two that fits. Any
    /// other size larger than the machine is replaced by the size of the machine.
    pub(super) fn sample(&self, processors: u32, rng: &mut impl Rng) -> u32 {
        let class: f64 = rng.random();
        if class < self.serial {
            return 1;
        }
        let (from, to) = if rng.random::<f64>() < self.first_stage {
            (self.low, self.medium)
        } else {
            (self.medium, self.high)
        };
        let log_size = from + (to - from) * rng.random::<f64>();
        if class < self.serial + self.power_of_two {
            1 << (log_size.round() as u32).min(processors.max(1).ilog2())
        } else {
            (log_size.exp2().round() as u32).clamp(1, processors.max(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::JobClass;
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const DRAWS: u32 = 200_000;

    /// Draws `DRAWS` sizes and returns the number of draws of each size.
    fn histogram(model: &SizeModel, processors: u32) -> Vec<u32> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = vec![0; processors as usize + 1];
        for _ in 0..DRAWS {
            counts[model.sample(processors, &mut rng) as usize] += 1;
        }
        counts
    }

    /// Returns the probability, from the closed form of the two-stage distribution, that log2 of the size of a parallel
    /// job is at least `from` and less than `to`.
    fn mass(model: &SizeModel, from: f64, to: f64) -> f64 {
        let part = |low: f64, high: f64| (to.min(high) - from.max(low)).max(0.0) / (high - low);
        model.first_stage * part(model.low, model.medium)
            + (1.0 - model.first_stage) * part(model.medium, model.high)
    }

    #[test]
    fn every_size_has_the_probability_of_the_closed_form() {
        for class in [JobClass::batch(128), JobClass::interactive(128), JobClass::untyped(128)] {
            let model = class.sizes;
            let counts = histogram(&model, 128);
            for size in 1..=128_u32 {
                let any = 1.0 - model.serial - model.power_of_two;
                let (below, above) = (f64::from(size) - 0.5, f64::from(size) + 0.5);
                let mut expected = any * mass(&model, below.log2(), above.log2());
                if size == 1 {
                    expected += model.serial;
                } else if size.is_power_of_two() {
                    let log = f64::from(size.ilog2());
                    expected += model.power_of_two * mass(&model, log - 0.5, log + 0.5);
                }
                let observed = f64::from(counts[size as usize]) / f64::from(DRAWS);
                // The tolerance is five standard deviations of a binomial share plus one draw.
                let slack = 5.0 * (expected / f64::from(DRAWS)).sqrt() + 1.0 / f64::from(DRAWS);
                assert!((observed - expected).abs() <= slack, "{size}: {observed} {expected}");
            }
        }
    }

    #[test]
    fn a_machine_of_128_keeps_the_published_constants() {
        let sizes = JobClass::batch(128).sizes;
        assert_eq!((sizes.low, sizes.medium, sizes.high), (1.2, 5.0, 7.0));
        let sizes = JobClass::batch(1024).sizes;
        assert_eq!((sizes.low, sizes.medium, sizes.high), (1.2, 8.0, 10.0));
        let sizes = JobClass::interactive(4).sizes;
        assert_eq!((sizes.low, sizes.medium, sizes.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_power_of_two_beyond_the_machine_becomes_the_largest_that_fits() {
        let model = SizeModel { serial: 0.0, power_of_two: 1.0, ..JobClass::batch(400).sizes };
        let counts = histogram(&model, 400);
        let used: Vec<usize> = (1..=400).filter(|&size| counts[size] > 0).collect();
        assert_eq!(used, [2, 4, 8, 16, 32, 64, 128, 256]);
    }

    proptest! {
        #[test]
        fn sizes_fit_any_machine(processors in 1_u32..5_000, seed: u64) {
            for class in [
                JobClass::batch(processors),
                JobClass::interactive(processors),
                JobClass::untyped(processors),
            ] {
                prop_assert_eq!(class.sizes.check(), Ok(()));
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                for _ in 0..50 {
                    let size = class.sizes.sample(processors, &mut rng);
                    prop_assert!((1..=processors).contains(&size));
                }
            }
        }
    }
}
