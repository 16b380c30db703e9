//! Stochastic job streams: the synthetic workloads of the papers on mesh allocators.
//!
//! Sources: V. Lo, K. Windisch, W. Liu and B. Nitzberg, "Noncontiguous processor allocation
//! algorithms for mesh-connected multicomputers", IEEE TPDS 8(7), 1997 (below: Lo), experiments on
//! fragmentation; S. Bani-Mohammad, "Efficient processor allocation strategies for
//! mesh-connected multicomputers", PhD thesis, University of Glasgow, 2008 (below: Bani-Mohammad),
//! chapters 3 and 5.
//!
//! A job is drawn in three independent steps:
//!
//! | step | type | notation |
//! |---|---|---|
//! | arrival time | [`Arrivals`] | `exponential[mean=2]`, `exponential[rate=0.5]`, `at-once` |
//! | sides of the request | [`Sides`] | `uniform`, `uniform[low=2,high=16]`, `exponential`, `decreasing`, ... |
//! | run time | [`Service`] | `exponential[mean=1]`, `pareto[k=15,q=4241,alpha=1]`, ... |
//!
//! **Time is in whole ticks.** A time unit of the papers has `ticks_per_unit` ticks (a million by default). Ticks are
//! integers like the seconds of a trace, so the same engine simulates streams and traces. Equality of times does not
//! depend on rounding, and equal inputs give equal results on every platform.
//!
//! **Common random numbers.** Each value is computed from exactly one uniform number by the inverse of its distribution
//! function, and each step uses a separate random stream. A replication therefore has the same jobs under every
//! strategy. If the load changes, all arrival times are scaled by the same factor. If the service distribution changes,
//! arrivals and sides stay the same, and long jobs stay long.
//!
//! **Load.** Bani-Mohammad's system load is 1 / mean inter-arrival time; Lo's system load is mean service time / mean
//! inter-arrival time. If the mean service time is 1, both system loads are equal. Unlike
//! [`StochasticStream::offered_load`], the two system loads do not depend on the sizes of the jobs and the machine.
//!
//! Cost: a job needs three uniform numbers for its sides, and one uniform number for each of its two times. Generating
//! a job takes 50 to 150 ns.
//!
//! ```
//! use replay_workload::workload::stochastic::StochasticStream;
//!
//! // Lo, Table 1: 32 x 32 mesh, 1000 jobs, load 10.
//! let model = StochasticStream {
//!     arrivals: "exponential[rate=10]".parse()?,
//!     sides: "decreasing".parse()?,
//!     ..StochasticStream::new([32, 32, 1])
//! };
//! let stream = model.generate(1, 0)?;
//! assert_eq!(stream.jobs.len(), 1000);
//! let flat = |[w, h, d]: [u16; 3]| w <= 32 && h <= 32 && d == 1;
//! assert!(stream.jobs.iter().all(|job| job.shape.is_some_and(flat)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrivals;
mod error;
mod random;
mod service;
mod shapes;
mod sides;
mod swf;
#[cfg(test)]
mod tests;

pub use arrivals::{Arrivals, descriptions as arrival_descriptions};
pub use error::StochasticError;
pub use service::{Service, descriptions as service_descriptions};
pub use shapes::{
    SHAPES_HEADER, ShapeError, ShapeFile, ids_path, nodes_path, shapes_path, write_shape,
    write_shapes,
};
pub use sides::{Interval, Share, SideLaw, Sides, descriptions as side_descriptions};
pub use swf::write_swf;

use super::Job;
use crate::cancel::CancelToken;
use random::Step;
use serde::Serialize;

/// Default number of ticks in a time unit.
pub const TICKS_PER_UNIT: u32 = 1_000_000;

/// Upper bound of all times of a stream, in ticks. SWF and `f64` represent times below this bound exactly.
const MAX_TICKS: i64 = 1 << 53;

/// A model of jobs for one machine, from which replications are generated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StochasticStream {
    /// Distribution of arrival times.
    pub arrivals: Arrivals,
    /// Distribution of the sides of requests.
    pub sides: Sides,
    /// Distribution of service times.
    pub service: Service,
    /// Number of jobs of a replication.
    pub jobs: u32,
    /// Sides of the machine in processors; 1 for a missing dimension. In a missing dimension, requests also have
    /// side 1.
    pub extents: [u16; 3],
    /// Number of ticks in a time unit, at least 1.
    pub ticks_per_unit: u32,
}

/// The jobs of one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Jobs in order of arrival, numbered from 1. All jobs have shapes. Times are in ticks, and the estimate is equal
    /// to the run time.
    pub jobs: Vec<Job>,
    /// Number of ticks in a time unit.
    pub ticks_per_unit: u32,
}

impl StochasticStream {
    /// Returns the basic stream of both papers (Lo and Bani-Mohammad): 1000 jobs with uniform sides, and exponential
    /// service and inter-arrival times, both with mean 1.
    #[must_use]
    pub fn new(extents: [u16; 3]) -> Self {
        Self {
            arrivals: Arrivals::Exponential { mean: 1.0 },
            sides: Sides::UNIFORM,
            service: Service::Exponential { mean: 1.0 },
            jobs: 1000,
            extents,
            ticks_per_unit: TICKS_PER_UNIT,
        }
    }

    /// Generates a replication. The machine is empty at time 0, and the first job arrives one inter-arrival
    /// time later.
    ///
    /// Times are rounded to the nearest tick, and a job runs for at least one tick. The first n jobs do not depend on
    /// how many jobs are generated. Replications with the same seed are independent and can be generated in any order.
    ///
    /// # Errors
    /// [`StochasticError`] if a distribution is impossible or does not fit the machine, or if times are too
    /// long.
    pub fn generate(&self, seed: u64, replication: u64) -> Result<Stream, StochasticError> {
        self.generate_unless(seed, replication, &CancelToken::new())
    }

    /// Generates a replication as [`generate`](Self::generate) does. Raising `stop` cancels the generation.
    ///
    /// # Errors
    /// The errors of [`generate`](Self::generate), and [`StochasticError::Cancelled`].
    pub fn generate_unless(
        &self,
        seed: u64,
        replication: u64,
        stop: &CancelToken,
    ) -> Result<Stream, StochasticError> {
        self.processors()?;
        self.arrivals.check()?;
        self.service.check()?;
        if self.ticks_per_unit == 0 {
            return Err(StochasticError::NoTicks);
        }
        let sides = self.sides.sampler(self.extents)?;
        let rng = |step| random::stream(seed, replication, step);
        let (mut arrival_rng, mut side_rng, mut service_rng) =
            (rng(Step::Arrivals), rng(Step::Sides), rng(Step::Service));
        let mut clock = self.arrivals.clock();
        // The capacity is bounded, so that a huge number of jobs does not cause an allocation failure immediately.
        let capacity = self.jobs.min(1 << 20) as usize;
        let mut jobs = Vec::with_capacity(capacity);
        let mut work = 0;
        for number in 1..=i64::from(self.jobs) {
            stop.check()?;
            let shape = sides.draw(&mut side_rng);
            let submit = self.ticks(clock.advance(&mut arrival_rng))?;
            let run = self.service.quantile(random::uniform(&mut service_rng));
            let run = self.ticks(run)?.max(1);
            // The jobs must end before the limit even if they run one after another.
            work += run;
            if submit + work >= MAX_TICKS {
                return Err(self.too_long());
            }
            let size = shape.iter().map(|&side| u32::from(side)).product();
            let shape = Some(shape);
            // A trace that is written and read again must have the same requested time.
            let limit = (run > 0).then(|| u32::try_from(run).unwrap_or(u32::MAX));
            jobs.push(Job { number, submit, run, estimate: run, size, line: 0, shape, limit });
        }
        Ok(Stream { jobs, ticks_per_unit: self.ticks_per_unit })
    }

    /// Returns the number of processors of the machine.
    ///
    /// # Errors
    /// [`StochasticError::Machine`] if a side is 0 or the number does not fit in 32 bits.
    pub fn processors(&self) -> Result<u32, StochasticError> {
        let product = self.extents.iter().map(|&extent| u64::from(extent)).product::<u64>();
        match u32::try_from(product) {
            Ok(processors) if processors > 0 => Ok(processors),
            _ => Err(StochasticError::Machine { extents: self.extents }),
        }
    }

    /// Returns the exact mean number of processors of a request.
    ///
    /// # Errors
    /// [`StochasticError`] if the distribution of sides is impossible or does not fit the machine.
    pub fn mean_size(&self) -> Result<f64, StochasticError> {
        self.processors()?;
        Ok(self.sides.mean_size(self.extents)?)
    }

    /// Returns the long-run ratio of the requested processor time to the available processor time: mean size x mean
    /// service time / (mean inter-arrival time x processors). The ratio is infinite if all jobs arrive at once.
    ///
    /// # Errors
    /// [`StochasticError`] if a distribution is impossible or does not fit the machine.
    pub fn offered_load(&self) -> Result<f64, StochasticError> {
        self.arrivals.check()?;
        self.service.check()?;
        let capacity = f64::from(self.processors()?) * self.arrivals.mean();
        Ok(self.mean_size()? * self.service.mean() / capacity)
    }

    /// Returns the whole tick nearest to a time in time units.
    fn ticks(&self, units: f64) -> Result<i64, StochasticError> {
        let ticks = (units * f64::from(self.ticks_per_unit)).round();
        if ticks < MAX_TICKS as f64 { Ok(ticks as i64) } else { Err(self.too_long()) }
    }

    fn too_long(&self) -> StochasticError {
        StochasticError::TooLong { ticks_per_unit: self.ticks_per_unit }
    }
}
