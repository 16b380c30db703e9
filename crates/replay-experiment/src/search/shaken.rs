//! What can be told of candidates from shaken copies.

use super::problem::{Evaluation, Extent, Problem};
use crate::shaken::{Apart, CONFIDENCE};
use replay_core::metrics::estimate::{Accumulator, Estimate};

/// How a candidate stands against the best, on the same shaken copies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Behind {
    /// How much less it improves, in percentage points: mean over the copies and its interval.
    pub percent: Estimate,
    /// Whether it can be told from the best.
    pub verdict: Apart,
}

impl Evaluation {
    /// The improvement by shaken copy, in percent, each the mean over the traces; `None` if nothing
    /// is shaken, or if it was stopped.
    pub fn by_copy(&self, problem: &Problem) -> Option<Vec<f64>> {
        by_copy(&self.improvements, problem.copies())
    }

    /// How it stands against another of the same problem; `None` unless both are whole.
    pub fn behind(&self, best: &Evaluation, problem: &Problem) -> Option<Behind> {
        let whole = |one: &Evaluation| one.extent == Extent::Whole;
        if !whole(self) || !whole(best) {
            return None;
        }
        let (own, best) = (self.by_copy(problem)?, best.by_copy(problem)?);
        let percent = difference(&best, &own);
        let differs = own != best;
        Some(Behind { percent, verdict: Apart::of(&percent, differs) })
    }
}

/// Means over traces by copy, of values by trace and then copy.
pub fn by_copy(values: &[f64], copies: usize) -> Option<Vec<f64>> {
    if copies < 2 || values.is_empty() {
        return None;
    }
    let traces = values.len() / copies;
    let mean = |copy: usize| {
        (0..traces).map(|trace| values[trace * copies + copy]).sum::<f64>() / traces as f64
    };
    Some((0..copies).map(mean).collect())
}

/// The mean of values with its interval.
pub fn mean(values: &[f64]) -> Estimate {
    values.iter().copied().collect::<Accumulator>().estimate(CONFIDENCE)
}

fn difference(ours: &[f64], theirs: &[f64]) -> Estimate {
    let pairs = ours.iter().zip(theirs);
    pairs.map(|(one, other)| one - other).collect::<Accumulator>().estimate(CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_means_over_traces() {
        // Two traces of three copies.
        let values = [1.0, 2.0, 3.0, 5.0, 4.0, 9.0];
        assert_eq!(by_copy(&values, 3), Some(vec![3.0, 3.0, 6.0]));
        assert_eq!((by_copy(&values, 1), by_copy(&[], 3)), (None, None));
        let estimate = mean(&[3.0, 3.0, 6.0]);
        assert_eq!((estimate.count, estimate.mean), (3, 4.0));
        // 4.303 standard errors of 1.
        assert!((estimate.half_width - 4.302_652_7).abs() < 1e-6);
    }
}
