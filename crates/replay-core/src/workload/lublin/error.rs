//! Why no workload came out.

use super::JobKind;
use thiserror::Error;

/// A constant of the model which no distribution can have.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{parameter} is {value}, but must be {expected}")]
pub struct ParameterError {
    /// Path of the field, like `sizes.serial`.
    pub parameter: &'static str,
    /// What it holds.
    pub value: f64,
    /// What it may hold.
    pub expected: &'static str,
}

/// Why a workload could not be generated or scaled. No job is returned with it; a slice of jobs given
/// to [`scale_to_load`](super::scale_to_load) is left as it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LublinError {
    /// `processors` is 0.
    #[error("the machine has no processors")]
    NoProcessors,
    /// Neither interactive, batch nor untyped jobs are asked for.
    #[error("the model has no class of jobs: give interactive, batch or untyped ones")]
    NoClass,
    /// A constant of a job class is impossible.
    #[error("{kind} jobs: {error}")]
    Class {
        /// The class it belongs to.
        kind: JobKind,
        /// The constant.
        error: ParameterError,
    },
    /// The estimate rule is impossible.
    #[error(transparent)]
    Estimates(ParameterError),
    /// Values above the limit are drawn again, and (nearly) all are above it.
    #[error("{kind} jobs: {quantity} stayed above e^{log_limit} s in {draws} draws")]
    LimitOutOfReach {
        /// The class it belongs to.
        kind: JobKind,
        /// `run time` or `inter-arrival time`.
        quantity: &'static str,
        /// Natural logarithm of the limit in seconds.
        log_limit: f64,
        /// Draws made before giving up.
        draws: u32,
    },
    /// The target load is no positive number, or so high that all jobs would arrive in one second.
    #[error("an offered load of {target} cannot be reached")]
    TargetLoad {
        /// The load asked for.
        target: f64,
    },
    /// All jobs arrive in the same second (or there is only one), so there is no gap to stretch.
    #[error("the jobs arrive all in the same second, so their load cannot be scaled")]
    NoSpan,
}
