//! Ranking of strategies by stretch, and detection of rankings that depend on two jobs.
//!
//! A job with a single packet that waits for packets of other jobs can have a stretch of 80. Two such jobs can dominate
//! the mean over hundreds of jobs. Strategies are therefore ranked by the *median*. Strategies with equal medians (for
//! example, if most jobs have no contention) are ranked by the [trimmed
//! mean](replay_engine::metrics::robust::trimmed_mean). [`two_job_reversals`] finds pairs of strategies with an order
//! that depends on two jobs: if the two jobs in which the strategies differ most are removed, the order by a mean is
//! reversed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use super::{Contention, ContentionRun};
use replay_engine::metrics::robust;
use replay_engine::number::fixed;

/// Orders runs by median stretch, then by trimmed mean. Runs without a stretch are last.
pub fn order(a: &Contention, b: &Contention) -> Ordering {
    let key = |of: &Contention| {
        [of.median_stretch, of.trimmed_mean_stretch].map(|value| value.unwrap_or(f64::INFINITY))
    };
    let ([a, first], [b, second]) = (key(a), key(b));
    a.total_cmp(&b).then(first.total_cmp(&second))
}

/// A mean of the stretches of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mean {
    /// Mean over all sending jobs.
    Plain,
    /// Trimmed mean: the mean without the share [`TRIM`](robust::TRIM) of the jobs at each end.
    Trimmed,
}

impl Mean {
    /// The plain and the trimmed mean.
    pub const ALL: [Mean; 2] = [Mean::Plain, Mean::Trimmed];

    /// Name of the mean.
    pub fn name(self) -> &'static str {
        match self {
            Mean::Plain => "mean stretch",
            Mean::Trimmed => "trimmed mean stretch",
        }
    }

    /// Returns the number of values that are removed at each end if there are `count` values.
    fn trimmed(self, count: usize) -> usize {
        match self {
            Mean::Plain => 0,
            Mean::Trimmed => robust::trimmed(count),
        }
    }

    /// Returns the mean of the values that remain after trimming. At each end, as many values are removed as for a list
    /// of `count` values.
    fn of(self, mut values: Vec<f64>, count: usize) -> f64 {
        values.sort_by(f64::total_cmp);
        robust::without_ends(&values, self.trimmed(count))
    }

    /// Returns the values with each trimmed value replaced by the nearest value that is not trimmed.
    fn counted(self, values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let trimmed = self.trimmed(sorted.len());
        let (Some(&low), Some(&high)) = (sorted.get(trimmed), sorted.iter().rev().nth(trimmed))
        else {
            return Vec::new();
        };
        values.iter().map(|value| value.clamp(low, high)).collect()
    }
}

/// Stretches of the sending jobs of a strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Stretches {
    /// Name of the strategy.
    pub strategy: String,
    /// Job numbers and stretches in order of submission.
    pub jobs: Vec<(i64, f64)>,
}

impl Stretches {
    fn stretches(&self) -> Vec<f64> {
        self.jobs.iter().map(|(_, stretch)| *stretch).collect()
    }
}

impl From<&ContentionRun> for Stretches {
    fn from(run: &ContentionRun) -> Self {
        let jobs = run.result.jobs.iter().filter_map(|job| Some((job.number, job.stretch()?)));
        Self { strategy: run.key.strategy(), jobs: jobs.collect() }
    }
}

/// Two strategies and two jobs: if the two jobs are removed, the order of the strategies by a mean is reversed.
#[derive(Clone, PartialEq, Debug)]
pub struct TwoJobReversal {
    /// The mean by which the strategies are ordered.
    pub mean: Mean,
    /// The strategy with the smaller mean, followed by the strategy with the larger mean.
    pub strategies: [String; 2],
    /// Mean of each strategy over all sending jobs.
    pub values: [f64; 2],
    /// Job numbers of the two jobs. The job with more influence on the order is first.
    pub jobs: [i64; 2],
    /// Mean of each strategy without these two jobs.
    pub without: [f64; 2],
}

/// Describes the order with and without the two jobs.
impl fmt::Display for TwoJobReversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategies: [first, later], values, jobs, without, .. } = self;
        let [values, without] = [values, without].map(|pair| pair.map(|one| fixed(one, 3)));
        write!(
            f,
            "{first} ({}) ranks before {later} ({}), but without jobs {} and {} the order is reversed ({} and {})",
            values[0], values[1], jobs[0], jobs[1], without[0], without[1],
        )
    }
}

/// Finds pairs of strategies of one trace whose order is reversed if two jobs are removed. The removed jobs are the two
/// common jobs with the largest contribution to the difference of the means. For each strategy and mean, at most one
/// pair is returned. The pair consists of the given strategy and another strategy that ranks before it with all jobs,
/// but behind it without the two jobs. If several strategies meet this condition, the best-ranked of them is returned.
/// For the plain mean, if removing these two jobs does not reverse the order of two strategies, removing any other two
/// jobs does not reverse it either. For the trimmed mean, the contributions are computed after each trimmed value has
/// been replaced by the nearest value that is not trimmed.
pub fn two_job_reversals(strategies: &[Stretches]) -> Vec<TwoJobReversal> {
    let sending: Vec<&Stretches> =
        strategies.iter().filter(|strategy| !strategy.jobs.is_empty()).collect();
    let mut reversals = Vec::new();
    for mean in Mean::ALL {
        let count = sending.iter().map(|strategy| strategy.jobs.len()).max().unwrap_or(0);
        if mean == Mean::Trimmed && mean.trimmed(count) == 0 {
            continue;
        }
        let value = |of: &Stretches| mean.of(of.stretches(), of.jobs.len());
        let mut ranked: Vec<(f64, &Stretches)> =
            sending.iter().map(|&strategy| (value(strategy), strategy)).collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for (place, &later) in ranked.iter().enumerate() {
            let reversal = ranked[..place].iter().find_map(|&first| reversal(mean, first, later));
            reversals.extend(reversal);
        }
    }
    reversals
}

/// Returns the reversal if removing two jobs reverses the order of two strategies; `None` otherwise.
fn reversal(
    mean: Mean,
    first: (f64, &Stretches),
    later: (f64, &Stretches),
) -> Option<TwoJobReversal> {
    let (values, both) = ([first.0, later.0], [first.1, later.1]);
    if values[0] >= values[1] {
        return None;
    }
    let counted = both.map(|one| mean.counted(&one.stretches()));
    // Jobs with equal job numbers are distinguished by their order.
    let places = both.map(places);
    let mut against: Vec<(f64, (i64, usize))> = places[1]
        .iter()
        .filter_map(|(job, &later)| {
            let &first = places[0].get(job)?;
            Some((counted[1][later] - counted[0][first], *job))
        })
        .collect();
    against.sort_by(|(a, job), (b, other)| b.total_cmp(a).then(job.cmp(other)));
    let jobs = [against.first()?.1, against.get(1)?.1];
    let without = [0, 1].map(|i| {
        let trimmed = jobs.map(|job| places[i].get(&job).copied());
        let kept =
            both[i].jobs.iter().enumerate().filter(|(place, _)| !trimmed.contains(&Some(*place)));
        let kept: Vec<f64> = kept.map(|(_, (_, stretch))| *stretch).collect();
        mean.of(kept, both[i].jobs.len())
    });
    // If no jobs remain, the mean is NaN and the comparison is false.
    (without[0] > without[1]).then(|| TwoJobReversal {
        mean,
        strategies: both.map(|one| one.strategy.clone()),
        values,
        jobs: jobs.map(|(job, _)| job),
        without,
    })
}

/// Returns the index of each job. The key is the job number and the count of earlier jobs with this job number.
fn places(of: &Stretches) -> HashMap<(i64, usize), usize> {
    let mut seen: HashMap<i64, usize> = HashMap::new();
    let mut places = HashMap::with_capacity(of.jobs.len());
    for (place, &(job, _)) in of.jobs.iter().enumerate() {
        let count = seen.entry(job).or_default();
        places.insert((job, *count), place);
        *count += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strategy(name: &str, stretches: &[f64]) -> Stretches {
        let jobs = (1..).zip(stretches.iter().copied()).collect();
        Stretches { strategy: name.to_string(), jobs }
    }

    /// With 40 jobs, all jobs except two are faster under `b`.
    #[test]
    fn finds_two_jobs_that_reverse_a_mean() {
        let a = vec![1.2; 40];
        let mut b = vec![1.1; 40];
        (b[6], b[30]) = (20.0, 16.0);
        let found = two_job_reversals(&[strategy("b", &b), strategy("a", &a)]);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = &found[0];
        assert_eq!((one.mean, one.jobs), (Mean::Plain, [7, 31]));
        assert_eq!(one.strategies, ["a".to_string(), "b".to_string()]);
        let near =
            |[a, b]: [f64; 2], [c, d]: [f64; 2]| (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9;
        assert!(near(one.values, [1.2, (38.0 * 1.1 + 36.0) / 40.0]), "{one:?}");
        assert!(near(one.without, [1.2, 1.1]), "{one:?}");
        // With three slow jobs, the order by the plain mean is not reversed. The trimmed mean already excludes two
        // jobs.
        b[20] = 18.0;
        let found = two_job_reversals(&[strategy("b", &b), strategy("a", &a)]);
        assert!(found.iter().all(|one| one.mean == Mean::Trimmed), "{found:?}");
        // If the strategies differ equally in all jobs, their order does not depend on two jobs.
        let c = vec![1.3; 40];
        assert!(two_job_reversals(&[strategy("c", &c), strategy("a", &a)]).is_empty());
        assert!(two_job_reversals(&[strategy("a", &a), strategy("a", &a)]).is_empty());
        assert!(two_job_reversals(&[strategy("a", &[]), strategy("b", &[1.0])]).is_empty());
    }

    /// Two of 40 jobs are trimmed at each end. Removing two more jobs can still reverse the order of similar
    /// strategies.
    #[test]
    fn trimmed_means_can_be_reversed() {
        let a = vec![1.2; 40];
        let mut b = vec![1.19; 40];
        for (place, value) in [(1, 9.0), (2, 8.0), (3, 3.0), (4, 2.5)] {
            b[place] = value;
        }
        let found = two_job_reversals(&[strategy("a", &a), strategy("b", &b)]);
        let trimmed: Vec<&TwoJobReversal> =
            found.iter().filter(|one| one.mean == Mean::Trimmed).collect();
        assert_eq!(trimmed.len(), 1, "{found:?}");
        assert!(trimmed[0].without[0] > trimmed[0].without[1], "{found:?}");
    }

    #[test]
    fn jobs_are_paired_by_number() {
        let a = strategy("a", &[1.0, 1.0, 1.0, 1.0]);
        let mut b = strategy("b", &[0.9, 0.9, 5.0, 7.0, 0.9]);
        b.jobs.remove(0);
        let found = two_job_reversals(&[a, b]);
        assert_eq!(found[0].jobs, [4, 3], "{found:?}");
    }

    proptest! {
        /// If the two jobs that the function removes do not reverse an order by the plain mean, no other two jobs
        /// reverse it.
        #[test]
        fn no_other_two_jobs_reverse_the_order(
            pairs in proptest::collection::vec((1u32..30, 1u32..30), 3..12),
        ) {
            let of = |which: fn(&(u32, u32)) -> u32| -> Vec<f64> {
                pairs.iter().map(|pair| f64::from(which(pair))).collect()
            };
            let (a, b) = (of(|pair| pair.0), of(|pair| pair.1));
            let sum = |of: &[f64], trimmed: [usize; 2]| -> f64 {
                of.iter().enumerate().filter(|(i, _)| !trimmed.contains(i)).map(|(_, value)| value).sum()
            };
            let none = [usize::MAX; 2];
            let before = sum(&a, none).total_cmp(&sum(&b, none));
            let mut is_reversed = false;
            for i in 0..a.len() {
                for j in 0..i {
                    let now = sum(&a, [i, j]).total_cmp(&sum(&b, [i, j]));
                    is_reversed |= before.is_ne() && now == before.reverse();
                }
            }
            let found = two_job_reversals(&[strategy("a", &a), strategy("b", &b)]);
            prop_assert_eq!(found.iter().any(|one| one.mean == Mean::Plain), is_reversed);
        }
    }
}
