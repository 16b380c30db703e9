//! The Lublin–Feitelson model: synthetic streams of rigid jobs.
//!
//! Source: U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the
//! characteristics of rigid jobs", JPDC 63(11), 2003 (below: the paper), and the authors' program
//! `lublin99.c` in the Parallel Workloads Archive (below: the program), from which the constants are
//! taken. A job is drawn in four steps, each a file of this folder:
//!
//! 1. [`ArrivalModel`]: when it comes. Gamma-distributed log gaps, stretched and squeezed by a daily
//!    cycle of 48 half hours.
//! 2. [`SizeModel`]: how many processors. Serial, a power of two or anything, by a two-stage uniform
//!    distribution of the logarithm.
//! 3. [`RunTimeModel`]: how long it runs. Hyper-gamma log run times; large jobs tend to be long.
//! 4. [`EstimateRule`]: what its user says. *Not part of the model*, see there.
//!
//! Interactive and batch jobs have their own constants and arrive independently; the two streams are
//! merged by time. Where this code leaves the program, on purpose:
//!
//! * time since the start is kept exact and floored once per job; the program truncates every gap, so
//!   that its clock loses half a second per job against its own daily cycle;
//! * every job class and every step has its own random stream, so that the run times do not change
//!   when, say, the estimate rule does, and a longer workload begins with the shorter one;
//! * sizes follow the machine ([`SizeModel::scaled_to`]): the program is written for 128 processors;
//! * impossible parameters are errors.
//!
//! ```
//! use replay_core::workload::lublin::LublinFeitelson;
//!
//! let jobs = LublinFeitelson::batch(352).with_load(0.7).generate(1_000, 42)?;
//! assert_eq!(jobs.len(), 1_000);
//! assert!(jobs.iter().all(|job| (1..=352).contains(&job.size)));
//! # Ok::<(), replay_core::workload::lublin::LublinError>(())
//! ```

mod arrival;
mod class;
mod daily;
mod error;
mod estimate;
mod gamma;
mod job;
mod load;
mod run_time;
mod size;
mod swf;
#[cfg(test)]
mod tests;

pub use arrival::ArrivalModel;
pub use class::JobClass;
pub use daily::{HALF_HOURS_PER_DAY, SECONDS_PER_HALF_HOUR};
pub use error::{LublinError, ParameterError};
pub use estimate::{EstimateRule, POPULAR_ESTIMATES};
pub use gamma::GammaParameters;
pub use job::{JobKind, SyntheticJob};
pub use load::{offered_load, scale_to_load};
pub use run_time::RunTimeModel;
pub use size::SizeModel;
pub use swf::write_swf;

use class::ClassStream;
use serde::Serialize;

/// The model with all its constants, ready to generate jobs for one machine.
///
/// At least one class must be given. The constructors fill in the published constants; every field
/// may be changed afterwards, and [`generate`](Self::generate) checks them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LublinFeitelson {
    /// Processors of the machine, at least 1: no job is larger.
    pub processors: u32,
    /// Interactive jobs, if any are wanted.
    pub interactive: Option<JobClass>,
    /// Batch jobs, if any are wanted.
    pub batch: Option<JobClass>,
    /// Jobs of the whole sample, for which the paper does not tell the two kinds apart. An
    /// alternative to the other two; nothing forbids all three.
    pub untyped: Option<JobClass>,
    /// How run time estimates are made up.
    pub estimates: EstimateRule,
    /// Offered load to reach by stretching all gaps by one factor after generation, as by
    /// [`scale_to_load`]; `None` leaves the arrivals as the model gives them.
    pub target_load: Option<f64>,
}

impl LublinFeitelson {
    /// Both kinds, each with its own constants: what the program does as published.
    #[must_use]
    pub fn batch_and_interactive(processors: u32) -> Self {
        Self { interactive: Some(JobClass::interactive(processors)), ..Self::batch(processors) }
    }

    /// Batch jobs only: the same batch jobs as those of
    /// [`batch_and_interactive`](Self::batch_and_interactive).
    #[must_use]
    pub fn batch(processors: u32) -> Self {
        Self { batch: Some(JobClass::batch(processors)), ..Self::empty(processors) }
    }

    /// The whole sample as one class: the program with `INCLUDE_JOBS_TYPE` off.
    #[must_use]
    pub fn untyped(processors: u32) -> Self {
        Self { untyped: Some(JobClass::untyped(processors)), ..Self::empty(processors) }
    }

    /// Asks for an offered load (see [`offered_load`]; 1 is a machine busy all the time). The load of
    /// the model as published depends on the machine's size, so experiments usually fix it.
    #[must_use]
    pub fn with_load(mut self, target: f64) -> Self {
        self.target_load = Some(target);
        self
    }

    /// Draws `jobs` jobs in order of submission; time 0 is midnight before the first of them.
    ///
    /// The same model and seed give the same jobs, and without a target load the first n of m jobs are
    /// the n jobs that `generate(n, seed)` returns. Jobs submitted in the same second stand in the
    /// order interactive, batch, untyped (the program, too, prefers interactive).
    ///
    /// # Errors
    /// [`LublinError`], if the model has no processors, no class or an impossible parameter, or if
    /// the target load is out of reach.
    pub fn generate(&self, jobs: usize, seed: u64) -> Result<Vec<SyntheticJob>, LublinError> {
        if self.processors == 0 {
            return Err(LublinError::NoProcessors);
        }
        self.estimates.check().map_err(LublinError::Estimates)?;
        let mut streams = self.streams(seed)?;
        // Bounded, so that an absurd number of jobs is not an allocation failure at once.
        let mut merged = Vec::with_capacity(jobs.min(1 << 20));
        while merged.len() < jobs {
            // `min_by_key` keeps the first of equals, so ties fall in the order of `streams`.
            let earliest = streams.iter_mut().min_by_key(|stream| stream.next_submit());
            match earliest {
                Some(stream) => merged.push(stream.take(&self.estimates)?),
                None => return Err(LublinError::NoClass),
            }
        }
        if let (Some(target), false) = (self.target_load, merged.is_empty()) {
            scale_to_load(&mut merged, self.processors, target)?;
        }
        Ok(merged)
    }

    /// A model without jobs, the base of the constructors.
    fn empty(processors: u32) -> Self {
        Self {
            processors,
            interactive: None,
            batch: None,
            untyped: None,
            estimates: EstimateRule::default(),
            target_load: None,
        }
    }

    /// One stream for each class of the model, in the order in which they win ties.
    fn streams(&self, seed: u64) -> Result<Vec<ClassStream>, LublinError> {
        let classes = [
            (JobKind::Interactive, &self.interactive),
            (JobKind::Batch, &self.batch),
            (JobKind::Untyped, &self.untyped),
        ];
        let streams = classes
            .into_iter()
            .filter_map(|(kind, class)| class.as_ref().map(|class| (kind, class)))
            .map(|(kind, class)| ClassStream::new(kind, class, self.processors, seed))
            .collect::<Result<Vec<_>, _>>()?;
        if streams.is_empty() {
            return Err(LublinError::NoClass);
        }
        Ok(streams)
    }
}
