//! Input shaking: copies of a trace with slightly perturbed times, for error bars.
//!
//! A trace is a single sequence of events. If the time of a single job changes by a second, another job may start next,
//! and then the whole schedule may change. A difference between two strategies on the unperturbed log may therefore be
//! accidental. D. Tsafrir, K. Ouaknine, D. G. Feitelson, "Reducing performance evaluation sensitivity and variability
//! by input shaking" (MASCOTS 2007), therefore replay copies of the log with small random changes and report statistics
//! over the copies.
//!
//! Every copy has the jobs of the log with their numbers, sizes, shapes and lines. For each job:
//!
//! * The submit time changes by a whole number of seconds, uniformly distributed from -width to +width. The new submit
//!   time is at least 0; if the old submit time is negative, the new submit time is instead at least the old one.
//! * The run time changes by another, independent random number from the same range. The new run time is at least 1 s.
//!   A run time of 0 does not change, because the job never ran.
//! * The estimate changes only if it was at least the old run time and is below the new run time. The estimate then
//!   becomes the new run time.
//!
//! The jobs are then sorted by their new submit times; jobs with equal times keep their order.
//!
//! Each copy uses a separate random stream, which is derived from the seed and the copy number. A copy therefore
//! depends neither on the number of copies nor on the number of threads.

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::job::Job;

/// Label that separates these random streams from other random streams with the same seed.
const LABEL: &[u8; 16] = b"shaken job times";

/// The number of perturbed copies of a trace, and the parameters of the perturbation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shake {
    /// Number of copies in addition to the trace itself. The copies are numbered from 1.
    pub copies: u32,
    /// Largest change of a time, in seconds.
    #[serde(default = "Shake::usual_width")]
    pub width: u32,
    /// Seed of all copies.
    #[serde(default)]
    pub seed: u64,
}

/// A field of [`Shake`] is outside its range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{value}: {problem}")]
pub struct ShakeError {
    /// Name of the field: `copies`, `width` or `seed`.
    pub field: &'static str,
    /// Value of the field.
    pub value: u64,
    /// Description of the permitted values.
    pub problem: String,
}

impl Shake {
    /// Permitted numbers of copies. A single copy would give no confidence interval.
    pub const COPIES: RangeInclusive<u32> = 2..=1000;
    /// Permitted widths, in seconds. A perturbation of more than a day would not be small.
    pub const WIDTHS: RangeInclusive<u32> = 1..=86_400;
    /// Largest permitted seed. Larger seeds cannot be represented in a grid file.
    const LARGEST_SEED: u64 = i64::MAX as u64;

    const fn usual_width() -> u32 {
        1
    }

    /// Returns the parameters for `copies` copies with a width of one second and seed 0.
    pub const fn of(copies: u32) -> Self {
        Self { copies, width: Self::usual_width(), seed: 0 }
    }

    /// Checks all fields.
    ///
    /// # Errors
    /// [`ShakeError`] for fewer than 2 or more than 1000 copies, a width of 0 or of more than a day, or a seed
    /// of more than 63 bits.
    pub fn check(&self) -> Result<(), ShakeError> {
        let refuse = |field, value: u64, problem: &str| {
            Err(ShakeError { field, value, problem: problem.to_string() })
        };
        if !Self::COPIES.contains(&self.copies) {
            let problem = "a confidence interval needs 2 to 1000 perturbed copies";
            return refuse("copies", self.copies.into(), problem);
        }
        if !Self::WIDTHS.contains(&self.width) {
            let problem = "times are perturbed by 1 to 86400 seconds";
            return refuse("width", self.width.into(), problem);
        }
        if self.seed > Self::LARGEST_SEED {
            return refuse("seed", self.seed, "a seed is at most 9223372036854775807");
        }
        Ok(())
    }

    /// Returns the jobs of copy `copy`, from 1; copy 0 has the original jobs. `jobs` must be in order of
    /// submission.
    ///
    /// ```
    /// use replay_workload::workload::{Job, Shake};
    ///
    /// let job = Job { number: 7, submit: 100, run: 60, estimate: 60, size: 4, line: 1, shape: None, limit: None };
    /// let shaken = Shake::of(20).copy(&[job], 1)[0];
    /// assert!((99..=101).contains(&shaken.submit) && (59..=61).contains(&shaken.run));
    /// assert_eq!(Shake::of(30).copy(&[job], 1)[0], shaken);
    /// assert_eq!(Shake::of(20).copy(&[job], 0), [job]);
    /// ```
    #[must_use]
    pub fn copy(&self, jobs: &[Job], copy: u32) -> Vec<Job> {
        if copy == 0 {
            return jobs.to_vec();
        }
        let mut random = self.stream(copy);
        let width = i64::from(self.width);
        let mut by = || random.random_range(-width..=width);
        let shaken = jobs.iter().map(|job| {
            let submit = job.submit.saturating_add(by()).max(job.submit.min(0));
            // A random number is drawn for every job, so that the random numbers of later jobs do not depend on the run
            // times of earlier jobs.
            let run = job.run.saturating_add(by()).max(job.run.min(1));
            let run = if job.run == 0 { 0 } else { run };
            let estimate =
                if job.estimate < job.run { job.estimate } else { job.estimate.max(run) };
            Job { submit, run, estimate, ..*job }
        });
        let mut shaken: Vec<Job> = shaken.collect();
        shaken.sort_by_key(|job| job.submit);
        shaken
    }

    /// Returns a text that distinguishes copy `copy` from other copies of the same jobs.
    pub fn identity(&self, copy: u32) -> String {
        let Self { width, seed, .. } = self;
        format!("shaken {width} {seed} {copy}\n")
    }

    /// Returns the random stream of a copy. Seed and copy number are the cipher's key, so every copy has a different
    /// stream.
    fn stream(&self, copy: u32) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&u64::from(copy).to_le_bytes());
        key[16..].copy_from_slice(LABEL);
        ChaCha8Rng::from_seed(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(number: i64, submit: i64, run: i64, estimate: i64) -> Job {
        Job {
            number,
            submit,
            run,
            estimate,
            size: 3,
            line: number as u32,
            shape: None,
            limit: None,
        }
    }

    /// Returns jobs with short run times, many equal submit times, and estimates on both sides of the run time.
    fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
        let one = (0i64..30, 0i64..6, 0i64..9);
        proptest::collection::vec(one, 1..60).prop_map(|times| {
            let job = |(number, (submit, run, estimate))| job(number, submit, run, estimate);
            let mut jobs: Vec<Job> = (0..).zip(times).map(job).collect();
            jobs.sort_by_key(|job| job.submit);
            jobs
        })
    }

    proptest! {
        #[test]
        fn a_copy_has_all_jobs_with_small_changes(jobs in any_jobs(), width in 1u32..5, seed: u32, copy in 1u32..9) {
            let shake = Shake { copies: 8, width, seed: seed.into() };
            let shaken = shake.copy(&jobs, copy);
            prop_assert_eq!(shaken.len(), jobs.len());
            prop_assert!(shaken.windows(2).all(|pair| pair[0].submit <= pair[1].submit));
            let width = i64::from(width);
            let mut seen = vec![false; jobs.len()];
            for new in &shaken {
                let old = jobs.iter().find(|job| job.number == new.number).expect("one of them");
                prop_assert!(!std::mem::replace(&mut seen[new.number as usize], true));
                prop_assert_eq!((new.size, new.line, new.shape), (old.size, old.line, old.shape));
                prop_assert!(new.submit >= 0 && (new.submit - old.submit).abs() <= width);
                prop_assert!((new.run - old.run).abs() <= width);
                prop_assert_eq!(new.run == 0, old.run == 0);
                prop_assert!(new.run >= 0);
                if old.estimate < old.run {
                    prop_assert_eq!(new.estimate, old.estimate);
                } else {
                    prop_assert_eq!(new.estimate, old.estimate.max(new.run));
                }
            }
        }

        #[test]
        fn equal_times_keep_their_order(jobs in any_jobs(), copy in 1u32..9) {
            let place = |number: i64| jobs.iter().position(|job| job.number == number);
            for pair in Shake::of(8).copy(&jobs, copy).windows(2) {
                prop_assert!(pair[0].submit < pair[1].submit || place(pair[0].number) < place(pair[1].number));
            }
        }
    }

    #[test]
    fn each_change_is_as_likely_as_any_other() {
        let jobs: Vec<Job> = (0..30_000).map(|i| job(i, 10 + 10 * i, 100, 100)).collect();
        let shaken = Shake { copies: 2, width: 2, seed: 5 }.copy(&jobs, 1);
        let mut pairs = [[0u32; 5]; 5];
        for (old, new) in jobs.iter().zip(&shaken) {
            let place = |change: i64| (change + 2) as usize;
            pairs[place(new.submit - old.submit)][place(new.run - old.run)] += 1;
        }
        // Each of the 25 pairs of changes is expected 1,200 times, with a standard deviation of 34.
        assert!(pairs.iter().flatten().all(|count| (1030..1370).contains(count)), "{pairs:?}");
    }

    #[test]
    fn a_copy_depends_only_on_seed_and_number() {
        let jobs: Vec<Job> = (0..50).map(|i| job(i, 10 * i, 100, 100)).collect();
        let shake = Shake::of(2);
        assert_eq!(shake.copy(&jobs, 1), Shake::of(1000).copy(&jobs, 1));
        assert_ne!(shake.copy(&jobs, 1), shake.copy(&jobs, 2));
        assert_ne!(shake.copy(&jobs, 1), Shake { seed: 1, ..shake }.copy(&jobs, 1));
        assert_eq!(shake.copy(&jobs, 0), jobs);
        // Later jobs do not affect earlier jobs.
        assert_eq!(shake.copy(&jobs[..20], 1), shake.copy(&jobs, 1)[..20]);
    }

    #[test]
    fn refuses_fields_out_of_range() {
        let field = |shake: Shake| shake.check().map_err(|error| error.field);
        for copies in [0, 1, 1001, u32::MAX] {
            assert_eq!(field(Shake::of(copies)), Err("copies"), "{copies}");
        }
        assert_eq!(field(Shake::of(2)).and(field(Shake::of(1000))), Ok(()));
        assert_eq!(field(Shake { width: 0, ..Shake::of(2) }), Err("width"));
        assert_eq!(field(Shake { width: 86_401, ..Shake::of(2) }), Err("width"));
        assert_eq!(field(Shake { seed: u64::MAX, ..Shake::of(2) }), Err("seed"));
    }
}
