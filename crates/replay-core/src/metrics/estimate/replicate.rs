//! Replications in parallel, until the estimates are good enough.

use super::{Accumulator, CONFIDENCES, Estimate, relative, student_t};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// When enough replications have been drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopRule {
    /// Largest half-width of an interval, as a share of its mean.
    pub relative: f64,
    /// Confidence of the intervals, one of [`CONFIDENCES`].
    pub confidence: f64,
    /// Fewest replications.
    pub minimum: u64,
    /// Most replications.
    pub maximum: u64,
}

impl Default for StopRule {
    /// 5 % of the mean at 95 % confidence, 30 to 5000 replications.
    fn default() -> Self {
        Self { relative: 0.05, confidence: 0.95, minimum: 30, maximum: 5000 }
    }
}

impl StopRule {
    /// Exactly this many replications, whatever the intervals.
    #[must_use]
    pub fn exactly(replications: u64) -> Self {
        Self { minimum: replications, maximum: replications, ..Self::default() }
    }

    /// What is wrong with the rule, if anything.
    pub fn problem(&self) -> Option<String> {
        let Self { relative, confidence, minimum, maximum } = *self;
        if !CONFIDENCES.contains(&confidence) {
            let (low, high) = (CONFIDENCES.start(), CONFIDENCES.end());
            return Some(format!("the confidence is {confidence}, but must be {low} to {high}"));
        }
        // No interval of numbers that differ is ever as narrow as 0.
        if !(relative > 0.0 && relative.is_finite()) {
            return Some(format!("the relative half-width is {relative}, but must be above 0"));
        }
        if minimum == 0 {
            return Some("there must be at least one replication".to_string());
        }
        if minimum > maximum {
            return Some(format!("at least {minimum} replications, but at most {maximum}"));
        }
        None
    }
}

/// What replications came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicated<M> {
    /// What each replication returned, replication by replication from 0.
    pub samples: Vec<M>,
    /// Mean and variance of each measure over the replications.
    pub measures: Vec<Accumulator>,
    /// Whether the watched measures meet the rule; if not, the maximum came first.
    pub met: bool,
}

impl<M: AsRef<[f64]>> Replicated<M> {
    /// What these replications came to, which all have the same measures.
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
    /// The mean of each measure with its interval. `confidence` is one of
    /// [`CONFIDENCES`].
    #[must_use]
    pub fn estimates(&self, confidence: f64) -> Vec<Estimate> {
        self.measures.iter().map(|measure| measure.estimate(confidence)).collect()
    }
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReplicateError<E> {
    /// The rule cannot be followed.
    #[error("stop rule: {0}")]
    Rule(String),
    /// A replication failed; of several the first.
    #[error("replication {replication}: {error}")]
    Run {
        /// Its number, from 0.
        replication: u64,
        /// Its complaint.
        error: E,
    },
    /// A measure to watch does not exist.
    #[error("measure {index} cannot be watched: a replication has {measures}")]
    Watched {
        /// Its index.
        index: usize,
        /// Number of measures.
        measures: usize,
    },
    /// A replication has more or fewer measures than the first.
    #[error("replication {replication} has {found} measures, the first has {expected}")]
    Measures {
        /// Its number, from 0.
        replication: u64,
        /// Its measures.
        found: usize,
        /// Those of replication 0.
        expected: usize,
    },
    /// A watched measure is infinite or no number, so its interval would never become narrow.
    #[error("replication {replication}: measure {index} is {value}")]
    NotFinite {
        /// Number of the replication, from 0.
        replication: u64,
        /// Index of the measure.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// Replications that run side by side once the minimum is done. More would waste more when the rule is
/// met in their midst; the result does not depend on it.
const BATCH: u64 = 16;

/// Runs replications 0, 1, 2, ... in parallel and stops at the first R within the rule's bounds at which
/// every `watched` measure (by index; none: at the minimum) has an interval narrow enough.
///
/// `run` gives the measures of a replication, and must depend on nothing but its number. The result is
/// that of running one replication after another: R is decided on replications 0 to R - 1 in order, so
/// neither the number of threads nor the batches matter; what was run beyond R is dropped. Runs on the
/// current rayon pool.
///
/// ```
/// use replay_core::metrics::estimate::{ReplicateError, StopRule, replicate};
///
/// let run = |replication: u64| Ok([100.0 + (replication % 3) as f64, 7.0]);
/// let result = replicate(&StopRule::default(), &[0], run)?;
/// assert_eq!((result.samples.len(), result.met), (30, true));
/// assert!((result.measures[0].mean() - 101.0).abs() < 1e-9);
/// # Ok::<(), ReplicateError<std::convert::Infallible>>(())
/// ```
///
/// # Errors
/// [`ReplicateError`]: an impossible rule, the first replication that fails, measures that do not match,
/// or a watched one that is not finite.
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
        // One replication is work enough for a thread of its own.
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
    /// Takes the next replication.
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
