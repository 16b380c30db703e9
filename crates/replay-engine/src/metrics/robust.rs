//! Statistics that are insensitive to outliers: median, percentile and trimmed mean.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::schedule::percentile_of;

/// Share of the values that a [trimmed mean](trimmed_mean) excludes at each end.
pub const TRIM: f64 = 0.05;

/// Minimum number of values for a 95 % interval of the median. With five values, even the whole range contains the
/// median with a probability of only 93.75 %.
pub const FEWEST: usize = 6;

/// Robust statistics of a distribution, in the unit of its values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Robust {
    /// Median.
    pub median: f64,
    /// 95 % interval of the median, see [`median_interval`].
    pub interval: Option<[f64; 2]>,
    /// 95th percentile, interpolated between the two nearest ranks.
    pub p95: f64,
    /// The [`trimmed_mean`].
    pub trimmed_mean: f64,
}

impl Robust {
    /// Computes the statistics of finite values; `None` if there are no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let percentile = |percent| percentile_of(sorted.len(), percent, |rank| sorted[rank]);
        (!sorted.is_empty()).then(|| Self {
            median: percentile(50.0),
            interval: median_interval(&sorted),
            p95: percentile(95.0),
            trimmed_mean: trimmed_mean(&sorted),
        })
    }
}

/// Returns the number of values that a [trimmed mean](trimmed_mean) of `count` values excludes at each end: [`TRIM`]
/// times `count`, rounded down. For fewer than 20 values, the result is 0.
pub fn trimmed(count: usize) -> usize {
    (TRIM * count as f64) as usize
}

/// Returns the mean of sorted values, without the share [`TRIM`] at each end; NaN if there are no values.
pub fn trimmed_mean(sorted: &[f64]) -> f64 {
    without_ends(sorted, trimmed(sorted.len()))
}

/// Returns the mean of sorted values, without the first `out` and the last `out` values; NaN if no values remain.
pub fn without_ends(sorted: &[f64], out: usize) -> f64 {
    let kept = sorted.get(out..sorted.len().saturating_sub(out)).unwrap_or_default();
    kept.iter().sum::<f64>() / kept.len() as f64
}

/// Returns the distribution-free 95 % interval of the median of sorted values. The ends of the interval are the order
/// statistics d and n + 1 - d of n values, where d is the largest number such that P(B < d) is at most 2.5 %. B is a
/// binomial variable with parameters n and 1/2. The values must be independent. `None` if there are fewer than
/// [`FEWEST`] values.
pub fn median_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let count = sorted.len();
    if count < FEWEST {
        return None;
    }
    let below = Binomial::new(0.5, count as u64).ok()?;
    // The condition holds at `low` and not at `high`, because P(B < n/2 + 1) is above 1/2.
    let (mut low, mut high) = (1, count / 2 + 1);
    while high - low > 1 {
        let d = low + (high - low) / 2;
        match below.cdf(d as u64 - 1) <= 0.025 {
            true => low = d,
            false => high = d,
        }
    }
    Some([sorted[low - 1], sorted[count - low]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_agree_with_tables() {
        // Ranks of the 95 % interval of the median, from Conover, Practical Nonparametric Statistics.
        for (count, ranks) in
            [(6, [1, 6]), (10, [2, 9]), (20, [6, 15]), (50, [18, 33]), (100, [40, 61])]
        {
            let sorted: Vec<f64> = (1..=count).map(f64::from).collect();
            assert_eq!(median_interval(&sorted), Some(ranks.map(f64::from)), "{count}");
        }
        assert_eq!(median_interval(&[1.0; 5]), None);
    }

    #[test]
    fn outliers_do_not_affect_median_and_trimmed_mean() {
        let mut values = vec![1.0; 38];
        values.extend([80.0, 70.0]);
        let robust = Robust::of(values).expect("values");
        assert_eq!((robust.median, robust.trimmed_mean), (1.0, 1.0));
        assert_eq!(robust.interval, Some([1.0, 1.0]));
        // The percentile is interpolated between ranks 37 and 38 of 40 values, counted from 0. One of the values is an
        // outlier.
        assert!((robust.p95 - (1.0 + 0.05 * 69.0)).abs() < 1e-9, "{robust:?}");
        assert_eq!(Robust::of([]), None);
        assert_eq!((trimmed(19), trimmed(20), trimmed(252)), (0, 1, 12));
        assert_eq!(trimmed_mean(&[1.0, 2.0, 6.0]), 3.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// The interval is the narrowest pair of ranks with a probability of at least 95 %. The test sums the
        /// probability term by term.
        #[test]
        fn ranks_agree_with_summed_probabilities(count in FEWEST..300) {
            let sorted: Vec<f64> = (1..=count).map(|rank| rank as f64).collect();
            let [low, high] = median_interval(&sorted).expect("enough");
            // The binomial probabilities of 0, 1, ... successes in `count` trials are computed by the ratio of
            // successive terms.
            let mut term = 0.5f64.powi(count as i32);
            let mut below = vec![0.0];
            for k in 0..count {
                below.push(below[k] + term);
                term *= (count - k) as f64 / (k + 1) as f64;
            }
            let d = low as usize;
            prop_assert_eq!(high as usize, count + 1 - d);
            prop_assert!(below[d] <= 0.025 && below[d + 1] > 0.025, "{} {} {}", d, below[d], below[d + 1]);
        }
    }
}
