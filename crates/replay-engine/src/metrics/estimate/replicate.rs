//! Parallel replications until the estimates are accurate enough.

use super::{Accumulator, CONFIDENCES, Estimate, relative, student_t};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The rule that determines when enough replications have run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopRule {
    /// Maximum half-width of an interval, as a share of the mean.
    pub relative: f64,
    /// Confidence of the intervals, in [`CONFIDENCES`].
    pub confidence: f64,
    /// Minimum number of replications.
    pub minimum: u64,
    /// Maximum number of replications.
    pub maximum: u64,
}

impl Default for StopRule {
    /// Returns the default rule: 5 % of the mean at 95 % confidence, 30 to 5000 replications.
    fn default() -> Self {
        Self { relative: 0.05, confidence: 0.95, minimum: 30, maximum: 5000 }
    }
}

impl StopRule {
    /// Returns a rule with a fixed number of replications, independent of the intervals.
    #[must_use]
    pub fn exactly(replications: u64) -> Self {
        Self { minimum: replications, maximum: replications, ..Self::default() }
    }

    /// Returns a description of the error in the rule; `None` if the rule is valid.
    pub fn problem(&self) -> Option<String> {
        let Self { relative, confidence, minimum, maximum } = *self;
        if !CONFIDENCES.contains(&confidence) {
            let (low, high) = (CONFIDENCES.start(), CONFIDENCES.end());
            return Some(format!(
                "the confidence is {confidence}; it must be from {low} to {high}"
            ));
        }
        // A limit of 0 is never reached, because the interval of values that differ never has a width of 0.
        if !(relative > 0.0 && relative.is_finite()) {
            return Some(format!("the relative half-width is {relative}; it must be above 0"));
        }
        if minimum == 0 {
            return Some("there must be at least one replication".to_string());
        }
        if minimum > maximum {
            return Some(format!(
                "the minimum of {minimum} replications exceeds the maximum of {maximum}"
            ));
        }
        None
    }
}

/// Results of replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicated<M> {
    /// Result of each replication, in the order of replication numbers, from 0.
    pub samples: Vec<M>,
    /// Mean and variance of each metric over the replications.
    pub measures: Vec<Accumulator>,
    /// Whether the intervals of the watched metrics satisfy the rule. If `false`, the maximum number of replications
    /// was reached.
    pub met: bool,
}

impl<M: AsRef<[f64]>> Replicated<M> {
    /// Collects the results of replications. All replications must have the same metrics.
    #[must_use]
    pub fn of(samples: Vec<M>, met: bool) -> Self {
        let measures = samples.first().map_or(0, |first| first.as_ref().len());
        let mut measures = vec![Accumulator::default(); measures];
        for sample in &samples {
            measures.iter_mut().zip(sample.as_ref()).for_each(|(all, &value)| all.push(value));
        }
        Self { samples, measures, met }
    }
}

impl<M> Replicated<M> {
    /// Returns the mean of each metric with its confidence interval. `confidence` is in [`CONFIDENCES`].
    #[must_use]
    pub fn estimates(&self, confidence: f64) -> Vec<Estimate> {
        self.measures.iter().map(|measure| measure.estimate(confidence)).collect()
    }
}

/// Error of [`replicate`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReplicateError<E> {
    /// The rule is not valid.
    #[error("stop rule: {0}")]
    Rule(String),
    /// A replication failed. If several replications failed, the failure with the lowest replication number is
    /// reported.
    #[error("replication {replication}: {error}")]
    Run {
        /// The number of the replication, from 0.
        replication: u64,
        /// The error of the replication.
        error: E,
    },
    /// A watched metric does not exist.
    #[error("cannot watch the measure with index {index} (from 0): a replication has only {}", crate::number::counted(*measures as u64, "measure"))]
    Watched {
        /// The index of the metric.
        index: usize,
        /// The number of metrics.
        measures: usize,
    },
    /// The number of metrics of a replication differs from the number of metrics of replication 0.
    #[error("replication {replication} has {found} measures, the first has {expected}")]
    Measures {
        /// The number of the replication, from 0.
        replication: u64,
        /// The number of metrics of the replication.
        found: usize,
        /// The number of metrics of replication 0.
        expected: usize,
    },
    /// A watched metric is infinite or NaN, so its interval would never become narrow.
    #[error("replication {replication}: measure {index} is {value}")]
    NotFinite {
        /// The number of the replication, from 0.
        replication: u64,
        /// The index of the metric.
        index: usize,
        /// The value of the metric.
        value: f64,
    },
}

/// Number of replications that run in parallel once the minimum number has run. Larger batches would waste more work
/// when the rule is satisfied within a batch. The result does not depend on the batch size.
const BATCH: u64 = 16;

/// Runs replications 0, 1, 2, ... in parallel and stops at the smallest number R of replications for which every
/// watched metric has a sufficiently narrow interval. R is at least the minimum and at most the maximum of `rule`.
/// `watched` contains the indices of the metrics; if it is empty, R is the minimum.
///
/// `run` returns the metrics of a replication, which must depend only on the number of the replication. The result is
/// the same as if replications ran one after another: R is determined from replications 0 to R - 1 in order, and the
/// results of later replications are dropped. The result therefore depends neither on the number of threads nor on the
/// batch size. Uses the current rayon pool.
///
/// ```
/// use replay_engine::metrics::estimate::{ReplicateError, StopRule, replicate};
///
/// let run = |replication: u64| Ok([100.0 + (replication % 3) as f64, 7.0]);
/// let result = replicate(&StopRule::default(), &[0], run)?;
/// assert_eq!((result.samples.len(), result.met), (30, true));
/// assert!((result.measures[0].mean() - 101.0).abs() < 1e-9);
/// # Ok::<(), ReplicateError<std::convert::Infallible>>(())
/// ```
///
/// # Errors
/// [`ReplicateError`] if the rule is not valid, if a replication fails (the first failed replication is reported), if
/// the numbers of metrics differ, or if a watched metric is not finite.
pub fn replicate<M, E>(
    rule: &StopRule,
    watched: &[usize],
    run: impl Fn(u64) -> Result<M, E> + Sync,
) -> Result<Replicated<M>, ReplicateError<E>>
where
    M: AsRef<[f64]> + Send,
    E: Send,
{
    if let Some(problem) = rule.problem() {
        return Err(ReplicateError::Rule(problem));
    }
    let mut result = Replicated { samples: Vec::new(), measures: Vec::new(), met: false };
    let mut next = 0;
    while next < rule.maximum {
        let batch = if next < rule.minimum { rule.minimum - next } else { BATCH };
        let batch = batch.min(rule.maximum - next).min(1 << 16) as usize;
        // A single replication is enough work for a parallel task.
        let outcomes: Vec<Result<M, E>> =
            (0..batch).into_par_iter().with_max_len(1).map(|i| run(next + i as u64)).collect();
        for outcome in outcomes {
            let sample =
                outcome.map_err(|error| ReplicateError::Run { replication: next, error })?;
            result.add(next, sample, watched)?;
            next += 1;
            if next >= rule.minimum && result.meets(rule, watched) {
                result.met = true;
                return Ok(result);
            }
        }
    }
    Ok(result)
}

impl<M: AsRef<[f64]>> Replicated<M> {
    /// Adds the next replication.
    fn add<E>(
        &mut self,
        replication: u64,
        sample: M,
        watched: &[usize],
    ) -> Result<(), ReplicateError<E>> {
        let values = sample.as_ref();
        if replication == 0 {
            self.measures = vec![Accumulator::default(); values.len()];
        }
        let (found, expected) = (values.len(), self.measures.len());
        if found != expected {
            return Err(ReplicateError::Measures { replication, found, expected });
        }
        for &index in watched {
            match values.get(index) {
                Some(value) if value.is_finite() => {}
                Some(&value) => {
                    return Err(ReplicateError::NotFinite { replication, index, value });
                }
                None => return Err(ReplicateError::Watched { index, measures: expected }),
            }
        }
        self.measures.iter_mut().zip(values).for_each(|(measure, &value)| measure.push(value));
        self.samples.push(sample);
        Ok(())
    }

    fn meets(&self, rule: &StopRule, watched: &[usize]) -> bool {
        let t = student_t(rule.confidence, self.samples.len() as u64 - 1);
        watched.iter().all(|&index| {
            let measure = &self.measures[index];
            relative(measure.half_width(t), measure.mean()) <= rule.relative
        })
    }
}
