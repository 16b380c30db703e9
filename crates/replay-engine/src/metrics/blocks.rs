//! The difference between two replays of the same jobs, with its uncertainty.
//!
//! Jobs submitted at about the same time share a machine and its state, so they are not independent observations.
//! [`Blocks`] therefore divides the jobs into blocks by submission time and sums a metric over each block. The change
//! of the total is a ratio of two sums. The standard error of the logarithm of the ratio follows from the linearised
//! ratio (the delta method), and the 95 % interval of the logarithm from Student's t. The interval of the change is the
//! interval of the logarithm on the scale of the ratio, so no end is below -100 %. Because blocks differ in size, the squared deviation of a block is
//! divided by 1 - s, where s is the block's share of the total, as in the estimator HC2 of J. G. MacKinnon and H. White
//! (Journal of Econometrics 29, 1985). The degrees of freedom follow F. E. Satterthwaite (Biometrics Bulletin 2, 1946),
//! for variances proportional to the sizes of the blocks. There are n - 1 degrees of freedom for n equal blocks, and
//! fewer if some blocks contain most of the total. `tests/cli/intervals.rs` measures how often two runs of the same
//! strategy with different seeds are reported as different.

use std::collections::BTreeMap;

use super::estimate::{quantile, two_sided_p};

/// Minimum number of weeks in a trace for blocks of one week. In a shorter trace, blocks are days.
const FEWEST_WEEKS: usize = 8;

/// Minimum number of blocks with a nonzero metric. With fewer blocks, there is no interval.
pub const FEWEST: usize = 5;

/// Significance level of a verdict.
pub const LEVEL: f64 = 0.05;

const DAY: i64 = 86_400;

/// Sums of a metric by block of submission time, in two replays. Blocks in which the metric is 0 in both replays
/// contain no information about the ratio and are not counted. For example, if jobs wait on a single day, there is a
/// single observation, regardless of the number of days without waits.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Sums in the first and in the second replay.
    sums: Vec<[f64; 2]>,
    /// Length of a block, in days.
    pub days: u32,
}

/// The relative reduction of a metric's sum in the first of two replays compared with the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// Reduction in percent of the second sum; NaN if the second sum is 0.
    pub percent: f64,
    /// The 95 % interval of the reduction, in percent, at most 100; NaN if there is no interval.
    pub interval: [f64; 2],
    /// Two-sided p-value under the hypothesis that the replays do not differ; NaN if there is no interval.
    pub p: f64,
}

impl Blocks {
    /// Groups jobs into blocks. Each job is given by its submission in seconds and the values of the metric in both
    /// replays. Blocks are weeks from the first submission, or days if there are fewer than eight weeks.
    pub fn new(jobs: impl Iterator<Item = (i64, [f64; 2])> + Clone) -> Self {
        let weeks = Self::of_days(jobs.clone(), 7);
        let mut blocks = if weeks.len() < FEWEST_WEEKS { Self::of_days(jobs, 1) } else { weeks };
        blocks.sums.retain(|sums| *sums != [0.0; 2]);
        blocks
    }

    fn of_days(jobs: impl Iterator<Item = (i64, [f64; 2])> + Clone, days: u32) -> Self {
        let first = jobs.clone().map(|(submit, _)| submit).min().unwrap_or(0);
        let mut sums: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for (submit, [one, other]) in jobs {
            let block = submit.saturating_sub(first) / (DAY * i64::from(days));
            let sums = sums.entry(block).or_default();
            *sums = [sums[0] + one, sums[1] + other];
        }
        Self { sums: sums.into_values().collect(), days }
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Returns whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Returns the gain of the first replay compared with the second. If there are fewer than [`FEWEST`] blocks, the
    /// gain has no interval.
    pub fn gain(&self) -> Gain {
        let total = |replay: usize| self.sums.iter().map(|sums| sums[replay]).sum::<f64>();
        let [one, other] = [total(0), total(1)];
        let ratio = one / other;
        let percent = 100.0 * (1.0 - ratio);
        if self.len() < FEWEST || !percent.is_finite() {
            return Gain { percent, interval: [f64::NAN; 2], p: f64::NAN };
        }
        // Deviations of the blocks from the common ratio add up to 0.
        let deviation = |[a, b]: &[f64; 2]| match 1.0 - b / other {
            // If a block contains the whole total, its ratio is the common ratio, so its deviation is 0.
            rest if rest < 1e-9 => 0.0,
            rest => (a - ratio * b).powi(2) / rest,
        };
        // If every block has the same ratio, rounding causes deviations of about 1e-16, which are treated as 0. The same
        // holds for a first sum of 0, which has no logarithm, and whose blocks all have the ratio 0.
        let rounded = |value: f64| if value.abs() < 1e-11 { 0.0 } else { value };
        let error = match one == 0.0 {
            true => 0.0,
            false => rounded(self.sums.iter().map(deviation).sum::<f64>().sqrt() / one.abs()),
        };
        let squares: f64 = self.sums.iter().map(|[_, b]| b * b).sum();
        // If one block contains nearly the whole total, the formula gives fewer than 1 degree of freedom.
        let freedom = (other * other / squares - 1.0).max(1.0);
        let factor = (quantile(1.0 - LEVEL / 2.0, freedom) * error).exp();
        let p = two_sided_p(rounded(ratio.ln()), error, freedom);
        let interval = [ratio * factor, ratio / factor].map(|ratio| 100.0 * (1.0 - ratio));
        Gain { percent, interval, p }
    }
}

/// Adjusts the p-values of several tests by Holm's method (Holm, Scandinavian Journal of Statistics 6, 1979). If all
/// null hypotheses are true, the probability that any adjusted p-value is below [`LEVEL`] is at most [`LEVEL`]. The
/// number of tests is the larger of `family` and the number of values in `p`. Tests without a value in `p` are treated
/// as less significant than all other tests. NaN does not count as a test and stays NaN.
pub fn holm(p: &[f64], family: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = p.to_vec();
    let (family, mut most) = (family.max(order.len()), 0.0_f64);
    for (rank, &i) in order.iter().enumerate() {
        most = most.max(((family - rank) as f64 * p[i]).min(1.0));
        adjusted[i] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn blocks_are_weeks_or_days() {
        const WEEK: i64 = 7 * DAY;
        let blocks = |jobs: i64, of: fn(i64) -> [f64; 2]| {
            Blocks::new((0..jobs).map(move |i| (i * WEEK / 10, of(i))))
        };
        // Ten weeks with a constant ratio of one half have no deviation. Two weeks are divided into days.
        let half = blocks(100, |_| [1.0, 2.0]);
        assert_eq!((half.len(), half.days), (10, 7));
        assert_eq!(half.gain(), Gain { percent: 50.0, interval: [50.0, 50.0], p: 0.0 });
        let short = blocks(20, |_| [1.0, 2.0]);
        assert_eq!((short.len(), short.days), (14, 1));
        assert_eq!(blocks(100, |_| [2.0, 2.0]).gain().p, 1.0);
        // In a hundred weeks, only a single week has a nonzero metric.
        let gain = blocks(1000, |i| if i / 10 == 7 { [1.0, 2.0] } else { [0.0, 0.0] }).gain();
        assert!(gain.percent == 50.0 && gain.interval[0].is_nan() && gain.p.is_nan(), "{gain:?}");
        for few in [0, 1, 6] {
            let gain = blocks(few, |_| [1.0, 2.0]).gain();
            assert!(gain.interval[0].is_nan() && gain.p.is_nan(), "{few}");
        }
    }

    #[test]
    fn intervals_agree_with_the_linearised_ratio() {
        // The sums 24 and 30 have the ratio 0.8. The deviations from this ratio are 0.2, -0.2, 0.6, -0.6, 0.4 and -0.4.
        let sums = [[3.4, 4.0], [3.0, 4.0], [4.6, 5.0], [3.4, 5.0], [5.2, 6.0], [4.4, 6.0]];
        let blocks = Blocks { sums: sums.to_vec(), days: 7 };
        let gain = blocks.gain();
        // The shares are 4, 4, 5, 5, 6 and 6 of 30, which gives 900 / 154 - 1 degrees of freedom.
        // The standard error of the ratio is 0.038820208, so that of its logarithm is 0.04852526.
        let error = 0.038_820_208 / 0.8;
        assert!((gain.percent - 20.0).abs() < 1e-9, "{gain:?}");
        for (end, sign) in gain.interval.into_iter().zip([1.0, -1.0]) {
            let ratio = 0.8 * f64::exp(sign * 2.595_656 * error);
            assert!((end - 100.0 * (1.0 - ratio)).abs() < 1e-4, "{gain:?}");
        }
        // The result is t = 4.598 with 4.844 degrees of freedom.
        assert!((gain.p - 0.006_324).abs() < 2e-5, "{gain:?}");
    }

    #[test]
    fn no_interval_reaches_beyond_the_whole_sum() {
        // Most waits of the second replay are in the first block, and this block hardly has waits in the first replay.
        let sums = [[1.0, 90.0], [5.0, 6.0], [6.0, 5.0], [5.0, 6.0], [4.0, 5.0], [6.0, 5.0]];
        let gain = Blocks { sums: sums.to_vec(), days: 7 }.gain();
        let [low, high] = gain.interval;
        assert!(low < gain.percent && gain.percent < high && high < 100.0, "{gain:?}");
        assert!((gain.percent - 100.0 * (1.0 - 27.0 / 117.0)).abs() < 1e-9);
        // If no job waits in the first replay, the reduction is 100 % in every block.
        let none: Vec<[f64; 2]> = sums.map(|[_, b]| [0.0, b]).to_vec();
        let gain = Blocks { sums: none, days: 7 }.gain();
        assert_eq!(gain, Gain { percent: 100.0, interval: [100.0; 2], p: 0.0 });
    }

    /// An interval excludes 0 if and only if the p-value is below the level.
    #[test]
    fn intervals_and_p_values_agree() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut significant = 0;
        for _ in 0..2000 {
            let sums: Vec<[f64; 2]> = (0..8)
                .map(|_| [rng.random::<f64>().powi(3), 1.3 * rng.random::<f64>().powi(2)])
                .collect();
            let Gain { interval: [low, high], p, .. } = Blocks { sums, days: 7 }.gain();
            assert_eq!(low > 0.0 || high < 0.0, p < LEVEL, "{low} {high} {p}");
            significant += u32::from(p < LEVEL);
        }
        assert!((100..1900).contains(&significant), "{significant}");
    }

    #[test]
    fn equal_replays_are_rarely_different_for_any_number_of_blocks() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for blocks in [5, 8, 20, 49] {
            let different = (0..4000)
                .filter(|_| {
                    let mut draw = |scale: f64| scale * (0.8 + 0.4 * rng.random::<f64>());
                    let sums = (0..blocks)
                        .map(|_| {
                            let jobs = draw(100.0);
                            [draw(jobs), draw(jobs)]
                        })
                        .collect();
                    Blocks { sums, days: 7 }.gain().p < LEVEL
                })
                .count();
            let share = different as f64 / 40.0;
            assert!((3.0..=7.0).contains(&share), "{blocks} blocks: {share} %");
        }
    }

    #[test]
    fn holms_method_agrees_with_the_paper() {
        let near = |adjusted: Vec<f64>, expected: &[f64]| {
            let pairs = adjusted.iter().zip(expected);
            adjusted.len() == expected.len()
                && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12)
        };
        assert!(near(holm(&[0.01, 0.04, 0.03, 0.005], 0), &[0.03, 0.06, 0.06, 0.02]));
        assert!(near(holm(&[0.01, 0.04], 10), &[0.1, 0.36]));
        let adjusted = holm(&[0.5, f64::NAN, 0.9], 2);
        assert!(adjusted[0] == 1.0 && adjusted[1].is_nan() && adjusted[2] == 1.0);
        assert!(holm(&[], 0).is_empty());
    }
}
