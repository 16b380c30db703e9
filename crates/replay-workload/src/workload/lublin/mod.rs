//! The Lublin–Feitelson model: synthetic streams of rigid jobs.
//!
//! Source: U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
//! rigid jobs", JPDC 63(11), 2003 (below: the paper), and the authors' program `lublin99.c` in the Parallel Workloads
//! Archive (below: the program), from which the constants are taken. A job is drawn in four steps. Each step has a file
//! in this folder:
//!
//! 1. [`ArrivalModel`]: the submit time. The logarithms of gaps are gamma distributed, and a daily cycle of 48 half
//!    hours modulates the gaps.
//! 2. [`SizeModel`]: the number of processors. The number is 1, a power of two, or any number. The logarithm of the
//!    number has a two-stage uniform distribution.
//! 3. [`RunTimeModel`]: the run time. The logarithm of the run time has a hyper-gamma distribution. Large jobs tend to
//!    be long.
//! 4. [`EstimateRule`]: the user's estimate. The step that draws estimates is *not part of the model*.
//!
//! Interactive and batch jobs have different constants and arrive independently. The two streams are merged by time.
//! Intentional differences from the program:
//!
//! * The exact time since the start is stored, and each submit time is rounded down once. The program truncates every
//!   gap, so its clock loses half a second per job relative to its daily cycle.
//! * Every job class and every step uses a separate random stream. Run times, for example, do not depend on the
//!   estimate rule, and a long workload begins with the jobs of a shorter workload.
//! * Sizes are adapted to the machine ([`SizeModel::scaled_to`]). The program assumes 128 processors.
//! * Impossible parameters are errors.
//!
//! ```
//! use replay_workload::workload::lublin::LublinFeitelson;
//!
//! let jobs = LublinFeitelson::batch(352).with_load(0.7).generate(1_000, 42)?;
//! assert_eq!(jobs.len(), 1_000);
//! assert!(jobs.iter().all(|job| (1..=352).contains(&job.size)));
//! # Ok::<(), replay_workload::workload::lublin::LublinError>(())
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
/// At least one class must be present. The constructors set the published constants. Every field may be changed
/// afterwards, and [`generate`](Self::generate) checks the fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LublinFeitelson {
    /// Number of processors of the machine, at least 1; no job is larger than the machine.
    pub processors: u32,
    /// Constants of interactive jobs; `None` for a model without interactive jobs.
    pub interactive: Option<JobClass>,
    /// Constants of batch jobs; `None` for a model without batch jobs.
    pub batch: Option<JobClass>,
    /// Constants of the whole sample, without distinction of the two kinds of jobs. The untyped class is an alternative
    /// to the other two classes, but all three classes may be combined.
    pub untyped: Option<JobClass>,
    /// Rule for the estimates of run times.
    pub estimates: EstimateRule,
    /// Target offered load. After generation, [`scale_to_load`] scales all gaps to reach this load. `None` keeps the
    /// arrivals of the model.
    pub target_load: Option<f64>,
}

impl LublinFeitelson {
    /// Returns the model of batch and interactive jobs, each with separate constants, like the published program.
    #[must_use]
    pub fn batch_and_interactive(processors: u32) -> Self {
        Self { interactive: Some(JobClass::interactive(processors)), ..Self::batch(processors) }
    }

    /// Returns the model of batch jobs only. The jobs are identical to the batch jobs of
    /// [`batch_and_interactive`](Self::batch_and_interactive).
    #[must_use]
    pub fn batch(processors: u32) -> Self {
        Self { batch: Some(JobClass::batch(processors)), ..Self::empty(processors) }
    }

    /// Returns the model that treats the whole sample as one class. The published program does this if
    /// `INCLUDE_JOBS_TYPE` is off.
    #[must_use]
    pub fn untyped(processors: u32) -> Self {
        Self { untyped: Some(JobClass::untyped(processors)), ..Self::empty(processors) }
    }

    /// Sets the offered load to reach (see [`offered_load`]). With a load of 1, the jobs need as much processor time as
    /// the machine has. The load of the published model depends on the machine's size, so experiments usually set the
    /// load.
    #[must_use]
    pub fn with_load(mut self, target: f64) -> Self {
        self.target_load = Some(target);
        self
    }

    /// Generates `jobs` jobs in order of submission; time 0 is the midnight before the first job.
    ///
    /// The same model and seed give the same jobs. Without a target load, the first n jobs do not depend on how many
    /// jobs are generated. Jobs submitted in the same second are in the order interactive, batch, untyped (the program
    /// also puts interactive jobs first).
    ///
    /// # Errors
    /// [`LublinError`] if the model has no processors, no class or an impossible parameter, or if the target
    /// load is out of reach.
    pub fn generate(&self, jobs: usize, seed: u64) -> Result<Vec<SyntheticJob>, LublinError> {
        if self.processors == 0 {
            return Err(LublinError::NoProcessors);
        }
        self.estimates.check().map_err(LublinError::Estimates)?;
        let mut streams = self.streams(seed)?;
        // The capacity is bounded, so that a huge number of jobs does not cause an allocation failure immediately.
        let mut merged = Vec::with_capacity(jobs.min(1 << 20));
        while merged.len() < jobs {
            // `min_by_key` returns the first of several minima, so ties are broken by the order of `streams`.
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

    /// Returns a model without job classes. The constructors add classes to this model.
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

    /// Returns a stream for each class of the model, in the order in which ties are broken.
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
