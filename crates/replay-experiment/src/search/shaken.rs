//! Comparison of candidates on perturbed copies of traces.

use super::problem::{Evaluation, Extent, Problem};
use crate::shaken::{CONFIDENCE, PairedDifferences, Significance};
use replay_engine::metrics::estimate::{Accumulator, Estimate};

/// Difference in improvement between a candidate and the best candidate on the same perturbed copies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GapToBest {
    /// Difference of the improvements in percentage points: the mean over the copies, with a confidence interval.
    pub percent: Estimate,
    /// Whether the difference is significant.
    pub verdict: Significance,
}

impl Evaluation {
    /// Returns the improvement in percent for each perturbed copy, averaged over traces; `None` if there are no
    /// perturbed copies or if the evaluation stopped.
    pub fn by_copy(&self, problem: &Problem) -> Option<Vec<f64>> {
        by_copy(&self.improvements, problem.copies())
    }

    /// Returns the difference from the best evaluation of the same problem; `None` if at least one of the two
    /// evaluations was stopped.
    pub fn behind(&self, best: &Evaluation, problem: &Problem) -> Option<GapToBest> {
        let whole = |one: &Evaluation| one.extent == Extent::Whole;
        if !whole(self) || !whole(best) {
            return None;
        }
        let (own, best) = (self.by_copy(problem)?, best.by_copy(problem)?);
        let mut differences = PairedDifferences::default();
        best.iter().zip(&own).for_each(|(&best, &own)| differences.push(best, own));
        let (percent, verdict) = differences.estimate()?;
        Some(GapToBest { percent, verdict })
    }
}

/// Averages values over traces and returns one mean for each copy. `values` is ordered by trace and then by copy.
/// Returns `None` if there are fewer than two copies.
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

/// Returns the mean of values with a confidence interval.
pub fn mean(values: &[f64]) -> Estimate {
    values.iter().copied().collect::<Accumulator>().estimate(CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_over_traces_by_copy() {
        // Two traces with three copies each.
        let values = [1.0, 2.0, 3.0, 5.0, 4.0, 9.0];
        assert_eq!(by_copy(&values, 3), Some(vec![3.0, 3.0, 6.0]));
        assert_eq!((by_copy(&values, 1), by_copy(&[], 3)), (None, None));
        let estimate = mean(&[3.0, 3.0, 6.0]);
        assert_eq!((estimate.count, estimate.mean), (3, 4.0));
        // The half-width is 4.303 standard errors, and the standard error is 1.
        assert!((estimate.half_width - 4.302_652_7).abs() < 1e-6);
    }
}
