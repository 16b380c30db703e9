//! The classes of jobs: the published constants of each class, and the stream of jobs drawn with these constants.

use super::arrival::{ArrivalClock, ArrivalModel};
use super::gamma::MAX_DRAWS;
use super::run_time::{RunTimeModel, RunTimeSampler};
use super::{EstimateRule, GammaParameters, JobKind, LublinError, SizeModel, SyntheticJob};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// The constants of one class of jobs. The constructors use the constants of the program `lublin99.c`;
/// [`SizeModel::scaled_to`] adapts the sizes to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JobClass {
    /// Distribution of the number of processors.
    pub sizes: SizeModel,
    /// Distribution of the run time.
    pub run_times: RunTimeModel,
    /// Arrival process.
    pub arrivals: ArrivalModel,
}

/// Natural logarithm of the longest run time: e^12 s, almost two days.
const LOG_LONGEST_RUN: f64 = 12.0;
/// Natural logarithm of the longest gap: e^13 s, five days.
const LOG_LONGEST_GAP: f64 = 13.0;

impl JobClass {
    /// Returns the constants of batch jobs on a machine with `processors` processors.
    #[must_use]
    pub fn batch(processors: u32) -> Self {
        let sizes = SizeModel {
            serial: 0.2927,
            power_of_two: 0.6686,
            low: 1.2,
            medium: 5.0,
            high: 7.0,
            first_stage: 0.875,
        };
        Self {
            sizes: sizes.scaled_to(processors),
            run_times: RunTimeModel {
                short: GammaParameters::new(6.57, 0.823),
                long: GammaParameters::new(639.1, 0.0156),
                slope: -0.003,
                intercept: 0.6986,
                log_limit: LOG_LONGEST_RUN,
            },
            arrivals: ArrivalModel {
                gap: GammaParameters::new(6.0415, 0.8531),
                rush_to_all: 1.0519,
                daily: GammaParameters::new(6.1271, 5.2740),
                log_limit: LOG_LONGEST_GAP,
            },
        }
    }

    /// Returns the constants of interactive jobs on a machine with `processors` processors; the largest job needs about
    /// a third of the machine.
    #[must_use]
    pub fn interactive(processors: u32) -> Self {
        let sizes = SizeModel {
            serial: 0.1541,
            power_of_two: 0.625,
            low: 1.0,
            medium: 3.0,
            high: 5.5,
            first_stage: 0.705,
        };
        Self {
            sizes: sizes.scaled_to(processors),
            run_times: RunTimeModel {
                short: GammaParameters::new(3.8351, 0.6605),
                long: GammaParameters::new(7.073, 0.6856),
                slope: -0.0118,
                intercept: 0.9156,
                log_limit: LOG_LONGEST_RUN,
            },
            arrivals: ArrivalModel {
                gap: GammaParameters::new(6.5510, 0.6621),
                rush_to_all: 0.9797,
                daily: GammaParameters::new(8.9186, 3.6680),
                log_limit: LOG_LONGEST_GAP,
            },
        }
    }

    /// Returns the constants of the whole sample, without distinction of batch and interactive jobs, on a machine with
    /// `processors` processors.
    #[must_use]
    pub fn untyped(processors: u32) -> Self {
        let sizes = SizeModel {
            serial: 0.244,
            power_of_two: 0.576,
            low: 0.8,
            medium: 4.5,
            high: 7.0,
            first_stage: 0.86,
        };
        Self {
            sizes: sizes.scaled_to(processors),
            run_times: RunTimeModel {
                short: GammaParameters::new(4.2, 0.94),
                long: GammaParameters::new(312.0, 0.03),
                slope: -0.0054,
                intercept: 0.78,
                log_limit: LOG_LONGEST_RUN,
            },
            arrivals: ArrivalModel {
                gap: GammaParameters::new(10.2303, 0.4871),
                rush_to_all: 1.0225,
                daily: GammaParameters::new(8.1737, 3.9631),
                log_limit: LOG_LONGEST_GAP,
            },
        }
    }
}

/// The endless stream of jobs of one class. Each step of drawing uses a separate random stream with the same seed, so
/// the steps do not affect each other.
#[derive(Clone, Debug)]
pub(super) struct ClassStream {
    kind: JobKind,
    processors: u32,
    sizes: SizeModel,
    run_times: RunTimeSampler,
    clock: ArrivalClock,
    arrival_rng: ChaCha8Rng,
    size_rng: ChaCha8Rng,
    run_time_rng: ChaCha8Rng,
    estimate_rng: ChaCha8Rng,
    next_submit: i64,
}

impl ClassStream {
    /// Checks the constants and draws the first arrival.
    pub(super) fn new(
        kind: JobKind,
        class: &JobClass,
        processors: u32,
        seed: u64,
    ) -> Result<Self, LublinError> {
        let named = |error| LublinError::Class { kind, error };
        class.sizes.check().map_err(named)?;
        // The stream numbers must not change, because other numbers would give other jobs for the same seed.
        let base = match kind {
            JobKind::Interactive => 0,
            JobKind::Batch => 4,
            JobKind::Untyped => 8,
        };
        let rng = |step: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(base + step);
            rng
        };
        let mut stream = Self {
            kind,
            processors,
            sizes: class.sizes,
            run_times: class.run_times.sampler().map_err(named)?,
            clock: class.arrivals.clock().map_err(named)?,
            arrival_rng: rng(0),
            size_rng: rng(1),
            run_time_rng: rng(2),
            estimate_rng: rng(3),
            next_submit: 0,
        };
        stream.next_submit = stream.draw_arrival()?;
        Ok(stream)
    }

    /// Returns the submit time of the next job, in seconds since the start.
    pub(super) fn next_submit(&self) -> i64 {
        self.next_submit
    }

    /// Returns the next job and draws the arrival of the following job.
    pub(super) fn take(&mut self, estimates: &EstimateRule) -> Result<SyntheticJob, LublinError> {
        let submit = self.next_submit;
        self.next_submit = self.draw_arrival()?;
        let size = self.sizes.sample(self.processors, &mut self.size_rng);
        let run = self
            .run_times
            .sample(size, &mut self.run_time_rng)
            .ok_or_else(|| self.out_of_reach("run time", self.run_times.log_limit()))?;
        let estimate = estimates.estimate(run, self.estimate_rng.random());
        Ok(SyntheticJob { submit, run, estimate, size, kind: self.kind })
    }

    fn draw_arrival(&mut self) -> Result<i64, LublinError> {
        let next = self.clock.advance(&mut self.arrival_rng);
        next.ok_or_else(|| self.out_of_reach("inter-arrival time", self.clock.log_limit()))
    }

    fn out_of_reach(&self, quantity: &'static str, log_limit: f64) -> LublinError {
        LublinError::LimitOutOfReach { kind: self.kind, quantity, log_limit, draws: MAX_DRAWS }
    }
}
