//! Stochastic job streams: the synthetic workloads of the papers on mesh allocators.
//!
//! Sources: V. Lo, K. Windisch, W. Liu and B. Nitzberg, "Noncontiguous processor allocation
//! algorithms for mesh-connected multicomputers", IEEE TPDS 8(7), 1997 (below: Lo), experiments on
//! fragmentation; S. Bani-Mohammad, "Efficient processor allocation strategies for
//! mesh-connected multicomputers", PhD thesis, University of Glasgow, 2008 (below: Bani-Mohammad),
//! chapters 3 and 5.
//!
//! A job is drawn in three independent steps, each a file with its own grammar:
//!
//! | step | file | written |
//! |---|---|---|
//! | when it comes | [`Arrivals`] | `exponential[mean=2]`, `exponential[rate=0.5]`, `at-once` |
//! | the sides of its request | [`Sides`] | `uniform`, `uniform[low=2,high=16]`, `exponential`, `decreasing`, ... |
//! | how long it runs | [`Service`] | `exponential[mean=1]`, `pareto[k=15,q=4241,alpha=1]`, ... |
//!
//! **Time is whole ticks**, `ticks_per_unit` to one time unit of the papers (a million by default): the
//! same integers as the seconds of a trace, so one engine serves both, equal instants are equal and not
//! a matter of rounding, and the same inputs give the same bytes everywhere.
//!
//! **Common random numbers.** Every value costs exactly one uniform number, turned into a value by the
//! inverse of its distribution function, and each step has its own random stream. So one replication
//! has the same jobs under every strategy; another load stretches the same arrivals; another service
//! distribution leaves arrivals and sides alone, and long jobs stay long.
//!
//! **Load.** Bani-Mohammad's system load is 1 / mean inter-arrival time; Lo's is mean service time / mean
//! inter-arrival time, which is the same for a mean service time of 1. Neither looks at the size of
//! jobs or machine; [`StochasticStream::offered_load`] does.
//!
//! Cost: three uniform numbers for the sides, one for each time; 50 to 150 ns per job.
//!
//! ```
//! use replay_core::workload::stochastic::StochasticStream;
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
use random::Step;
use serde::Serialize;

/// Ticks of one time unit where nothing else is said.
pub const TICKS_PER_UNIT: u32 = 1_000_000;

/// All times of a stream stay below this many ticks, so that SWF and `f64` hold them exactly.
const MAX_TICKS: i64 = 1 << 53;

/// A model of jobs for one machine, ready to draw replications from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StochasticStream {
    /// When jobs come.
    pub arrivals: Arrivals,
    /// Sides of their requests.
    pub sides: Sides,
    /// How long they run.
    pub service: Service,
    /// Number of jobs of a replication.
    pub jobs: u32,
    /// Sides of the machine in processors, 1 for a dimension it does not have. A request never has
    /// more than 1 there.
    pub extents: [u16; 3],
    /// Ticks of one time unit, at least 1.
    pub ticks_per_unit: u32,
}

/// The jobs of one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// In order of arrival, numbered from 1, all with shapes; times in ticks, the estimate is
    /// the run time.
    pub jobs: Vec<Job>,
    /// Ticks of one time unit.
    pub ticks_per_unit: u32,
}

impl StochasticStream {
    /// The stream that both sources start from: 1000 jobs, uniform sides, exponential service and
    /// inter-arrival times, both of mean 1.
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

    /// Draws a replication: the machine is empty at time 0, and the first job comes one inter-arrival
    /// time later.
    ///
    /// Times are rounded to the nearest tick, and a job runs for at least one. The first n of m jobs
    /// are those of a stream of n jobs. Replications of a seed are independent, and may be drawn in any
    /// order.
    ///
    /// # Errors
    /// [`StochasticError`], if a distribution is impossible or does not fit the machine, or if times
    /// grow too long.
    pub fn generate(&self, seed: u64, replication: u64) -> Result<Stream, StochasticError> {
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
        // Bounded, so that an absurd number of jobs is not an allocation failure at once.
        let room = self.jobs.min(1 << 20) as usize;
        let mut jobs = Vec::with_capacity(room);
        let mut work = 0;
        for number in 1..=i64::from(self.jobs) {
            let shape = sides.draw(&mut side_rng);
            let submit = self.ticks(clock.advance(&mut arrival_rng))?;
            let run = self.service.quantile(random::uniform(&mut service_rng));
            let run = self.ticks(run)?.max(1);
            // Even one after another the jobs must end before the limit.
            work += run;
            if submit + work >= MAX_TICKS {
                return Err(self.too_long());
            }
            let size = shape.iter().map(|&side| u32::from(side)).product();
            let shape = Some(shape);
            // As a reader of the trace has it.
            let limit = (run > 0).then(|| u32::try_from(run).unwrap_or(u32::MAX));
            jobs.push(Job { number, submit, run, estimate: run, size, line: 0, shape, limit });
        }
        Ok(Stream { jobs, ticks_per_unit: self.ticks_per_unit })
    }

    /// Processors of the machine.
    ///
    /// # Errors
    /// [`StochasticError::Machine`] if a side is 0, or if 32 bits cannot hold the number.
    pub fn processors(&self) -> Result<u32, StochasticError> {
        let product = self.extents.iter().map(|&extent| u64::from(extent)).product::<u64>();
        match u32::try_from(product) {
            Ok(processors) if processors > 0 => Ok(processors),
            _ => Err(StochasticError::Machine { extents: self.extents }),
        }
    }

    /// Mean processors of a request, exact.
    ///
    /// # Errors
    /// [`StochasticError`], if the sides are impossible or do not fit the machine.
    pub fn mean_size(&self) -> Result<f64, StochasticError> {
        self.processors()?;
        Ok(self.sides.mean_size(self.extents)?)
    }

    /// Processor time asked for over processor time there is, in the long run: mean size x mean
    /// service time / (mean inter-arrival time x processors). Infinite if all jobs come at once.
    ///
    /// # Errors
    /// [`StochasticError`], if a distribution is impossible or does not fit the machine.
    pub fn offered_load(&self) -> Result<f64, StochasticError> {
        self.arrivals.check()?;
        self.service.check()?;
        let capacity = f64::from(self.processors()?) * self.arrivals.mean();
        Ok(self.mean_size()? * self.service.mean() / capacity)
    }

    /// The nearest whole tick to a time given in units.
    fn ticks(&self, units: f64) -> Result<i64, StochasticError> {
        let ticks = (units * f64::from(self.ticks_per_unit)).round();
        if ticks < MAX_TICKS as f64 { Ok(ticks as i64) } else { Err(self.too_long()) }
    }

    fn too_long(&self) -> StochasticError {
        StochasticError::TooLong { ticks_per_unit: self.ticks_per_unit }
    }
}
