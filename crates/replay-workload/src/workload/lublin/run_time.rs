//! Run times of the Lublin-Feitelson model (the paper's section on run times).

use super::ParameterError;
use super::gamma::{GammaParameters, check, check_log_limit, draw_up_to};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};
use serde::Serialize;

/// The distribution of run times. The natural logarithm of the run time in seconds has a hyper-gamma distribution. The
/// logarithm is drawn from `short` with a probability that decreases linearly with the job's size, and otherwise from
/// `long`.
///
/// The slope determines the correlation of size and run time. The published slope is used on machines of any size. With
/// the batch constants, the probability of `short` reaches 0 at 233 processors, and every larger job is drawn from
/// `long`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunTimeModel {
    /// Distribution of the logarithm of the run time, for mostly short jobs (a1 and b1 in the model).
    pub short: GammaParameters,
    /// Distribution of the logarithm of the run time, for mostly long jobs (a2 and b2 in the model).
    pub long: GammaParameters,
    /// Change of the probability of `short` per processor (pa in the model); negative.
    pub slope: f64,
    /// Probability of `short` at size 0 (pb in the model).
    pub intercept: f64,
    /// Natural logarithm of the longest run time in seconds. Longer run times are drawn again. The program `lublin99.c`
    /// uses 12 (almost two days).
    pub log_limit: f64,
}

impl RunTimeModel {
    /// Returns the probability of `short` for a job of this size, limited to the range from 0 to 1.
    #[must_use]
    pub fn short_probability(&self, size: u32) -> f64 {
        (self.slope * f64::from(size) + self.intercept).clamp(0.0, 1.0)
    }

    /// Checks the constants and returns a sampler.
    pub(super) fn sampler(&self) -> Result<RunTimeSampler, ParameterError> {
        check("run_times.slope", self.slope, "finite", |_| true)?;
        check("run_times.intercept", self.intercept, "finite", |_| true)?;
        check_log_limit("run_times.log_limit", self.log_limit)?;
        Ok(RunTimeSampler {
            short: self.short.distribution(["run_times.short.shape", "run_times.short.scale"])?,
            long: self.long.distribution(["run_times.long.shape", "run_times.long.scale"])?,
            model: *self,
        })
    }
}

/// A [`RunTimeModel`] with checked constants.
#[derive(Clone, Debug)]
pub(super) struct RunTimeSampler {
    short: Gamma<f64>,
    long: Gamma<f64>,
    model: RunTimeModel,
}

impl RunTimeSampler {
    pub(super) fn log_limit(&self) -> f64 {
        self.model.log_limit
    }

    /// Draws the natural logarithm of a run time in seconds; `None` if the limit is out of reach. If a value exceeds
    /// the limit, the choice between `short` and `long` is also drawn again, as in the program.
    pub(super) fn sample_log(&self, size: u32, rng: &mut impl Rng) -> Option<f64> {
        let short = self.model.short_probability(size);
        draw_up_to(self.model.log_limit, || {
            if rng.random::<f64>() < short { self.short.sample(rng) } else { self.long.sample(rng) }
        })
    }

    /// Draws a run time in whole seconds, at least 1; `None` if the limit is out of reach.
    pub(super) fn sample(&self, size: u32, rng: &mut impl Rng) -> Option<i64> {
        let log = self.sample_log(size, rng)?;
        Some((log.exp() as i64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::JobClass;
    use super::super::tests::{Moments, truncated_gamma};
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn mean_log_run_time_is_that_of_the_hyper_gamma() {
        const DRAWS: usize = 200_000;
        for class in [JobClass::batch(128), JobClass::interactive(128), JobClass::untyped(128)] {
            let model = class.run_times;
            let sampler = model.sampler().expect("published constants");
            let [short, long] =
                [model.short, model.long].map(|g| truncated_gamma(g, model.log_limit, |x| x));
            for size in [1, 16, 64, 128] {
                let p = model.short_probability(size);
                let expected = Moments::mixture(p, short, long);
                let mut rng = ChaCha8Rng::seed_from_u64(u64::from(size));
                let sum: f64 = (0..DRAWS)
                    .map(|_| sampler.sample_log(size, &mut rng).expect("limit in reach"))
                    .sum();
                let mean = sum / DRAWS as f64;
                let slack = 5.0 * (expected.variance() / DRAWS as f64).sqrt();
                assert!((mean - expected.mean).abs() < slack, "{size}: {mean} {expected:?}");
            }
        }
    }

    #[test]
    fn short_probability_falls_with_size_and_stays_a_probability() {
        let model = JobClass::batch(128).run_times;
        assert!((model.short_probability(1) - 0.6956).abs() < 1e-12);
        assert!((model.short_probability(128) - 0.3146).abs() < 1e-12);
        assert!(model.short_probability(232) > 0.0);
        assert_eq!(model.short_probability(233), 0.0);
        let rising = RunTimeModel { slope: 1.0, ..model };
        assert_eq!(rising.short_probability(5), 1.0);
    }

    #[test]
    fn runs_last_at_least_a_second_and_at_most_the_limit() {
        let model = JobClass::interactive(128).run_times;
        let sampler = model.sampler().expect("published constants");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..50_000 {
            let run = sampler.sample(1, &mut rng).expect("limit in reach");
            assert!((1..=162_754).contains(&run), "{run}"); // e^12 = 162,754.8
        }
    }
}
