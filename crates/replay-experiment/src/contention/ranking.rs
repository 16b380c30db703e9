//! The order of strategies by stretch, and whether two jobs decide it.
//!
//! A job that sends one packet and meets others on its way can have a stretch of 80, so that the mean over
//! hundreds of jobs is that of two. Strategies are therefore ranked by the *median*, and where
//! medians are equal, as where most jobs meet nobody, by the [trimmed
//! mean](replay_core::metrics::robust::trimmed_mean). [`decided_by_two`] finds orders by a mean that the two jobs
//! turn in which the strategies differ most.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use super::{Contended, Contention};
use replay_core::metrics::robust;
use replay_core::number::fixed;

/// Which of two runs comes first: the one with the smaller median stretch, of equal ones that with
/// the smaller trimmed mean; one without a stretch last.
pub fn order(a: &Contention, b: &Contention) -> Ordering {
    let key = |of: &Contention| {
        [of.median_stretch, of.trimmed_mean_stretch].map(|value| value.unwrap_or(f64::INFINITY))
    };
    let ([a, first], [b, second]) = (key(a), key(b));
    a.total_cmp(&b).then(first.total_cmp(&second))
}

/// A measure of the stretches of a run that is a mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mean {
    /// Of all sending jobs.
    Plain,
    /// Without [`TRIM`](robust::TRIM) of them at each end.
    Trimmed,
}

impl Mean {
    /// Both.
    pub const ALL: [Mean; 2] = [Mean::Plain, Mean::Trimmed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mean::Plain => "mean stretch",
            Mean::Trimmed => "trimmed mean stretch",
        }
    }

    /// How many of `count` values it leaves out at each end.
    fn out(self, count: usize) -> usize {
        match self {
            Mean::Plain => 0,
            Mean::Trimmed => robust::trimmed(count),
        }
    }

    /// Of values in any order, of which there were `count`: without some of them it leaves out as many
    /// at each end as of all.
    fn of(self, mut values: Vec<f64>, count: usize) -> f64 {
        values.sort_by(f64::total_cmp);
        robust::without_ends(&values, self.out(count))
    }

    /// The values as far as they count: those that are trimmed count as the outermost that are not.
    fn counted(self, values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let out = self.out(sorted.len());
        let (Some(&low), Some(&high)) = (sorted.get(out), sorted.iter().rev().nth(out)) else {
            return Vec::new();
        };
        values.iter().map(|value| value.clamp(low, high)).collect()
    }
}

/// A strategy, and the stretches of its sending jobs with their numbers in the trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Stretches {
    /// Its name.
    pub strategy: String,
    /// Job numbers and stretches, in order of submission.
    pub jobs: Vec<(i64, f64)>,
}

impl Stretches {
    fn stretches(&self) -> Vec<f64> {
        self.jobs.iter().map(|(_, stretch)| *stretch).collect()
    }
}

impl From<&Contended> for Stretches {
    fn from(run: &Contended) -> Self {
        let jobs = run.result.jobs.iter().filter_map(|job| Some((job.number, job.stretch()?)));
        Self { strategy: run.key.strategy(), jobs: jobs.collect() }
    }
}

/// Two strategies whose order by a mean two jobs turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    /// The measure that orders them.
    pub mean: Mean,
    /// The one with the smaller value, and the other.
    pub strategies: [String; 2],
    /// The values over all sending jobs of each.
    pub values: [f64; 2],
    /// The two jobs, that which matters more first.
    pub jobs: [i64; 2],
    /// The values without these jobs.
    pub without: [f64; 2],
}

/// The order, and what it is without the two jobs, in words.
impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategies: [first, later], values, jobs, without, .. } = self;
        let [values, without] = [values, without].map(|pair| pair.map(|one| fixed(one, 3)));
        write!(
            f,
            "{first} ({}) is before {later} ({}), and without jobs {} and {} behind it ({} and {})",
            values[0], values[1], jobs[0], jobs[1], without[0], without[1],
        )
    }
}

/// Orders of strategies of one trace that two jobs turn: for each strategy, the first in the order by
/// a mean that it overtakes without the two jobs that both have and whose stretches speak most
/// against it. By the mean of all jobs no two others do if not these; by the trimmed mean they are
/// those that differ most as far as values count.
pub fn decided_by_two(strategies: &[Stretches]) -> Vec<Decided> {
    let sending: Vec<&Stretches> =
        strategies.iter().filter(|strategy| !strategy.jobs.is_empty()).collect();
    let mut decided = Vec::new();
    for mean in Mean::ALL {
        let count = sending.iter().map(|strategy| strategy.jobs.len()).max().unwrap_or(0);
        if mean == Mean::Trimmed && mean.out(count) == 0 {
            continue;
        }
        let value = |of: &Stretches| mean.of(of.stretches(), of.jobs.len());
        let mut ranked: Vec<(f64, &Stretches)> =
            sending.iter().map(|&strategy| (value(strategy), strategy)).collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for (place, &later) in ranked.iter().enumerate() {
            let turned = ranked[..place].iter().find_map(|&first| turned(mean, first, later));
            decided.extend(turned);
        }
    }
    decided
}

/// Whether two jobs turn the order of two strategies.
fn turned(mean: Mean, first: (f64, &Stretches), later: (f64, &Stretches)) -> Option<Decided> {
    let (values, both) = ([first.0, later.0], [first.1, later.1]);
    if values[0] >= values[1] {
        return None;
    }
    let counted = both.map(|one| mean.counted(&one.stretches()));
    // Several jobs of one number are told apart by their order.
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
        let out = jobs.map(|job| places[i].get(&job).copied());
        let kept =
            both[i].jobs.iter().enumerate().filter(|(place, _)| !out.contains(&Some(*place)));
        let kept: Vec<f64> = kept.map(|(_, (_, stretch))| *stretch).collect();
        mean.of(kept, both[i].jobs.len())
    });
    // Not a number, where none is left, is not larger.
    (without[0] > without[1]).then(|| Decided {
        mean,
        strategies: both.map(|one| one.strategy.clone()),
        values,
        jobs: jobs.map(|(job, _)| job),
        without,
    })
}

/// The place of every job by its number and by how many of that number come before it.
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

    /// Forty jobs: under `b` all but two are faster.
    #[test]
    fn two_jobs_that_turn_a_mean_are_named() {
        let a = vec![1.2; 40];
        let mut b = vec![1.1; 40];
        (b[6], b[30]) = (20.0, 16.0);
        let found = decided_by_two(&[strategy("b", &b), strategy("a", &a)]);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = &found[0];
        assert_eq!((one.mean, one.jobs), (Mean::Plain, [7, 31]));
        assert_eq!(one.strategies, ["a".to_string(), "b".to_string()]);
        let near =
            |[a, b]: [f64; 2], [c, d]: [f64; 2]| (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9;
        assert!(near(one.values, [1.2, (38.0 * 1.1 + 36.0) / 40.0]), "{one:?}");
        assert!(near(one.without, [1.2, 1.1]), "{one:?}");
        // Three such jobs are not two: the plain mean stays, the trimmed one is without two already.
        b[20] = 18.0;
        let found = decided_by_two(&[strategy("b", &b), strategy("a", &a)]);
        assert!(found.iter().all(|one| one.mean == Mean::Trimmed), "{found:?}");
        // What is so throughout is decided by all.
        let c = vec![1.3; 40];
        assert!(decided_by_two(&[strategy("c", &c), strategy("a", &a)]).is_empty());
        assert!(decided_by_two(&[strategy("a", &a), strategy("a", &a)]).is_empty());
        assert!(decided_by_two(&[strategy("a", &[]), strategy("b", &[1.0])]).is_empty());
    }

    /// Of 40 jobs two are trimmed at each end; two more can still decide between near ones.
    #[test]
    fn trimmed_means_are_turned_by_jobs_that_count() {
        let a = vec![1.2; 40];
        let mut b = vec![1.19; 40];
        for (place, value) in [(1, 9.0), (2, 8.0), (3, 3.0), (4, 2.5)] {
            b[place] = value;
        }
        let found = decided_by_two(&[strategy("a", &a), strategy("b", &b)]);
        let trimmed: Vec<&Decided> = found.iter().filter(|one| one.mean == Mean::Trimmed).collect();
        assert_eq!(trimmed.len(), 1, "{found:?}");
        assert!(trimmed[0].without[0] > trimmed[0].without[1], "{found:?}");
    }

    #[test]
    fn jobs_that_one_strategy_leaves_out_are_paired_by_number() {
        let a = strategy("a", &[1.0, 1.0, 1.0, 1.0]);
        let mut b = strategy("b", &[0.9, 0.9, 5.0, 7.0, 0.9]);
        b.jobs.remove(0);
        let found = decided_by_two(&[a, b]);
        assert_eq!(found[0].jobs, [4, 3], "{found:?}");
    }

    proptest! {
        /// No two jobs turn an order by the mean if the two found do not.
        #[test]
        fn no_other_two_jobs_turn_it(
            pairs in proptest::collection::vec((1u32..30, 1u32..30), 3..12),
        ) {
            let of = |which: fn(&(u32, u32)) -> u32| -> Vec<f64> {
                pairs.iter().map(|pair| f64::from(which(pair))).collect()
            };
            let (a, b) = (of(|pair| pair.0), of(|pair| pair.1));
            let sum = |of: &[f64], out: [usize; 2]| -> f64 {
                of.iter().enumerate().filter(|(i, _)| !out.contains(i)).map(|(_, value)| value).sum()
            };
            let none = [usize::MAX; 2];
            let before = sum(&a, none).total_cmp(&sum(&b, none));
            let mut turns = false;
            for i in 0..a.len() {
                for j in 0..i {
                    let now = sum(&a, [i, j]).total_cmp(&sum(&b, [i, j]));
                    turns |= before.is_ne() && now == before.reverse();
                }
            }
            let found = decided_by_two(&[strategy("a", &a), strategy("b", &b)]);
            prop_assert_eq!(found.iter().any(|one| one.mean == Mean::Plain), turns);
        }
    }
}
