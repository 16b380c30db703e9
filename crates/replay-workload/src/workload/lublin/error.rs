//! Errors of the Lublin-Feitelson model.

use super::JobKind;
use thiserror::Error;

/// Error: a constant of the model is outside its range.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{parameter} is {value}, but must be {expected}")]
pub struct ParameterError {
    /// Path of the field, for example `sizes.serial`.
    pub parameter: &'static str,
    /// Value of the constant.
    pub value: f64,
    /// Description of the permitted values.
    pub expected: &'static str,
}

/// Error: a workload could not be generated or scaled. If scaling fails, [`scale_to_load`](super::scale_to_load) leaves
/// the jobs unchanged.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LublinError {
    /// `processors` is 0.
    #[error("the machine has no processors")]
    NoProcessors,
    /// The model has neither interactive nor batch nor untyped jobs.
    #[error("the model has no class of jobs: give interactive, batch or untyped jobs")]
    NoClass,
    /// A constant of a job class is outside its range.
    #[error("{kind} jobs: {error}")]
    Class {
        /// The class.
        kind: JobKind,
        /// The constant.
        error: ParameterError,
    },
    /// A constant of the estimate rule is outside its range.
    #[error(transparent)]
    Estimates(ParameterError),
    /// All draws of a quantity exceeded its limit.
    #[error("{kind} jobs: {quantity} exceeded the limit of e^{log_limit} s in all {draws} draws")]
    LimitOutOfReach {
        /// The class.
        kind: JobKind,
        /// Name of the quantity: `run time` or `inter-arrival time`.
        quantity: &'static str,
        /// Natural logarithm of the limit in seconds.
        log_limit: f64,
        /// Number of draws.
        draws: u32,
    },
    /// The target load is not a positive number, or it is so high that all jobs would arrive in one second.
    #[error("an offered load of {target} cannot be reached")]
    TargetLoad {
        /// The target load.
        target: f64,
    },
    /// All jobs arrive in the same second, or there is only one job, so there is no gap to scale.
    #[error("all jobs arrive in the same second, so their load cannot be scaled")]
    NoSpan,
}
