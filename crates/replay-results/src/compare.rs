//! Job-by-job comparison of two runs of the same jobs.
//!
//! Jobs are paired by number. The relative change of a mean equals the relative change of the sum over all pairs. The
//! 95 % interval of the change is computed by Student's t, for the logarithm of the ratio, over blocks of submission
//! time ([`Blocks`]), because jobs close in time are not independent observations. If several pairs of runs are compared, the verdicts are corrected by
//! Holm's method ([`correct`]), but the intervals are not. For every measure, smaller is better.

use polars::prelude::{
    Column as Values, DataFrame, DataFrameJoinOps, JoinArgs, JoinType, MaintainOrderJoin,
    PlSmallStr, PolarsResult, SortMultipleOptions,
};

use replay_engine::metrics::blocks::{Blocks, LEVEL, holm};
use replay_engine::metrics::robust::Robust;
use replay_engine::metrics::{JobMeasures, Placement, Submitted, comparable};
use replay_engine::table::{Column, Name, Table};
use replay_experiment::RunKey;
use replay_experiment::contention::{Contention, ContentionJobRow};
use replay_experiment::schedule_diff::StartChange;
use replay_experiment::shaken::{Significance, Verdict};

/// The tables of results that can be compared job by job, and the measures to compare.
#[derive(PartialEq, Eq, Debug)]
pub struct JobTables {
    /// File stem of the table of runs, which has the columns of [`RunKey::NAMES`] and `run`.
    pub runs: &'static str,
    /// File stem of the table of jobs, which has the columns `run`, `job`, `submit`, `size` and the measures.
    pub jobs: &'static str,
    /// Column with the start times, in seconds of the trace; `None` if the table has no start times.
    pub start: Option<Name>,
    /// Columns to compare. For each column, smaller values are better.
    pub measures: &'static [Name],
}

/// The tables of `replay` and `sweep`.
pub const REPLAYED: JobTables = JobTables {
    runs: "runs",
    jobs: "jobs",
    start: Some(JobMeasures::START),
    measures: &[
        JobMeasures::WAIT,
        JobMeasures::TURNAROUND,
        JobMeasures::BOUNDED_SLOWDOWN,
        Placement::PAIRWISE_L1,
        Placement::DISTANCE,
        JobMeasures::LEAVES,
        SEVERAL_LEAVES,
    ],
};

/// Measure of a job of at least two nodes: 100 if the job has nodes on several leaves, 0 if all nodes are on one leaf.
/// The mean is 100 minus the column `one_leaf_percent` of a run. Null for jobs of one node, and on machines other than
/// trees and blocks. The table of jobs does not have this column; [`with_several_leaves`] computes it.
pub const SEVERAL_LEAVES: Name = Name::new("several_leaves_percent");

/// Adds the column [`SEVERAL_LEAVES`] to jobs with their sizes and leaves.
///
/// # Errors
/// [`PolarsError`](polars::prelude::PolarsError) if a column is missing or has an unexpected type.
pub fn with_several_leaves(jobs: &mut DataFrame) -> PolarsResult<()> {
    let sizes = jobs.column(Submitted::SIZE.text())?.i64()?;
    let leaves = jobs.column(JobMeasures::LEAVES.text())?.f64()?;
    let several = sizes.iter().zip(leaves.iter()).map(|(size, leaves)| {
        let leaves =
            leaves.filter(|leaves| leaves.is_finite() && size.is_some_and(|size| size > 1))?;
        Some(if leaves > 1.0 { 100.0 } else { 0.0 })
    });
    let several: Vec<Option<f64>> = several.collect();
    jobs.with_column(Values::new(SEVERAL_LEAVES.text().into(), several)).map(drop)
}

/// The tables of `contend`. The start times of `contend` are not compared, because they are in simulated cycles,
/// not in seconds of the trace.
pub const CONTENDED: JobTables = JobTables {
    runs: "contend",
    jobs: "contend_jobs",
    start: None,
    measures: &[
        ContentionJobRow::STRETCH,
        ContentionJobRow::PLACEMENT_FACTOR,
        ContentionJobRow::CONTENTION_FACTOR,
        ContentionJobRow::WAIT_CYCLES,
        Contention::latency,
        Contention::blocking,
        Placement::PAIRWISE_L1,
        Placement::DISTANCE,
    ],
};

/// Explains why two lists of runs have no run in common. Returns the columns in which the two most similar keys differ,
/// with the value in `base` before the value in `other`.
pub fn difference<'a>(
    base: impl IntoIterator<Item = &'a RunKey>,
    other: impl IntoIterator<Item = &'a RunKey> + Clone,
) -> String {
    let pairs = base.into_iter().flat_map(|a| other.clone().into_iter().map(move |b| (a, b)));
    // Ties are broken by key, so that the order of the runs does not matter.
    let alike = pairs.min_by_key(|(a, b)| (a.differing(b).count(), a.texts(), b.texts()));
    let Some((base, other)) = alike else { return "there are no runs".to_string() };
    let parts = RunKey::NAMES.into_iter().zip(base.texts().into_iter().zip(other.texts()));
    let value_or_none = |text: String| if text.is_empty() { "none".to_string() } else { text };
    let differences = parts.filter(|(_, (a, b))| a != b).map(|(name, (a, b))| {
        let name = if name == RunKey::TOPOLOGY { "machine" } else { name.text() };
        format!("{name} {} versus {}", value_or_none(a), value_or_none(b))
    });
    differences.collect::<Vec<_>>().join("; ")
}

/// Pairs of jobs of two runs: a data frame with a row per pair. Columns of the second run have the suffix `_other`.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairs: DataFrame,
    /// Number of jobs that occur in only one of the two runs.
    pub unpaired: usize,
}

/// Suffix of the columns of the second run of a pair.
const OTHER: &str = "_other";

/// Column with the largest size of the class of a job.
const CLASS: Name = Name::new("size_class");

/// The size range of a comparison of all jobs.
pub const ALL_SIZES: [i64; 2] = [1, i64::MAX];

/// Column with the number of earlier jobs of the run that have the same job number.
const EARLIER: &str = "earlier";

impl Pairs {
    /// Pairs the jobs of two runs by job number. If several jobs of a run have the same number, they are paired in the
    /// order of submission. [`JobsTable::of`](crate::read::JobsTable::of) returns the jobs of a run.
    ///
    /// # Errors
    /// [`PolarsError`](polars::prelude::PolarsError) if a column is missing or has an unexpected type.
    pub fn new(one: &DataFrame, other: &DataFrame) -> PolarsResult<Self> {
        let key = [Submitted::JOB.text(), EARLIER];
        let args = JoinArgs {
            suffix: Some(PlSmallStr::from_static(OTHER)),
            maintain_order: MaintainOrderJoin::Left,
            ..JoinArgs::new(JoinType::Inner)
        };
        let pairs = numbered(one)?.join(&numbered(other)?, key, key, args, None)?;
        Ok(Self { unpaired: one.height() + other.height() - 2 * pairs.height(), pairs })
    }

    /// Appends the pairs of another seed or perturbed copy. Jobs with the same submit time remain in the same block.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn extend(&mut self, other: Self) -> PolarsResult<()> {
        self.unpaired += other.unpaired;
        self.pairs.vstack_mut_owned(other.pairs).map(drop)
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.height() == 0
    }

    /// Returns the pairs by size class; a class has a smallest and a largest size. The classes are 1, 2, 3 to 4, 5 to 8,
    /// and so on. Classes without jobs are omitted.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn by_size(&self) -> PolarsResult<Vec<([i64; 2], Self)>> {
        let largest = |size: i64| (size.max(1) as u64).next_power_of_two() as i64;
        let sizes = self.pairs.column(Submitted::SIZE.text())?.i64()?.iter();
        let classes: Vec<Option<i64>> = sizes.map(|size| size.map(largest)).collect();
        let mut classed = self.clone();
        classed.pairs.with_column(Values::new(CLASS.text().into(), classes))?;
        let sized = classed.by_label(CLASS)?.into_iter();
        Ok(sized.filter_map(|(largest, of)| Some(([largest? / 2 + 1, largest?], of))).collect())
    }

    /// Returns the pairs by the value of a column in the first run, in ascending order. The value is `None` for jobs
    /// without a value.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn by_label(&self, column: Name) -> PolarsResult<Vec<(Option<i64>, Self)>> {
        let parts = self.pairs.partition_by_stable([column.text()], true)?;
        let labelled = parts.into_iter().map(|pairs| {
            let label = pairs.column(column.text())?.i64()?.get(0);
            Ok((label, Self { pairs, unpaired: 0 }))
        });
        let mut labelled = labelled.collect::<PolarsResult<Vec<_>>>()?;
        labelled.sort_by_key(|(label, _)| *label);
        Ok(labelled)
    }

    /// Returns the start times of both jobs of each pair, ordered by job number. `start` is the column of start times.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn start_changes(&self, names: [&str; 2], start: Name) -> PolarsResult<Vec<StartChange>> {
        let column = |name: &str| -> PolarsResult<Vec<i64>> {
            Ok(self.pairs.column(name)?.i64()?.iter().flatten().collect())
        };
        let [jobs, submits, sizes] =
            [Submitted::JOB, Submitted::SUBMIT, Submitted::SIZE].map(|name| column(name.text()));
        let (jobs, submits, sizes) = (jobs?, submits?, sizes?);
        let starts = [column(start.text())?, column(&format!("{start}{OTHER}"))?];
        let change = |i: usize| StartChange {
            base: names[0].to_string(),
            run: names[1].to_string(),
            job: jobs[i],
            submit: submits[i],
            size: sizes[i],
            starts: [starts[0][i], starts[1][i]],
        };
        Ok((0..jobs.len()).map(change).collect())
    }

    /// Returns, for each of the two runs, the job numbers and the values of a measure. A pair is omitted if at least
    /// one of its two values is missing.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn values(&self, measure: Name) -> PolarsResult<[Vec<(i64, f64)>; 2]> {
        let both = self.both(Submitted::JOB, measure)?.into_iter();
        Ok(both.map(|(job, [a, b])| ((job, a), (job, b))).unzip::<_, _, Vec<_>, Vec<_>>().into())
    }

    /// Returns, for each pair with two values of a measure, an integer of the first job and both values.
    fn both(&self, integer: Name, measure: Name) -> PolarsResult<Vec<(i64, [f64; 2])>> {
        let integers = self.pairs.column(integer.text())?.i64()?;
        let one = self.pairs.column(measure.text())?.f64()?;
        let other = self.pairs.column(&format!("{measure}{OTHER}"))?.f64()?;
        let pairs = integers.iter().zip(one.iter().zip(other.iter()));
        let both = pairs.filter_map(|(integer, (a, b))| Some((integer?, [a?, b?])));
        Ok(both.filter(|(_, [a, b])| a.is_finite() && b.is_finite()).collect())
    }

    /// Computes the change of a measure from the first run to the second run.
    ///
    /// # Errors
    /// The error of [`new`](Self::new).
    pub fn compare(&self, names: [&str; 2], measure: Name) -> PolarsResult<Compared> {
        let values = self.both(Submitted::SUBMIT, measure)?;
        let robust = [0, 1].map(|run| Robust::of(values.iter().map(|(_, of)| of[run])));
        let of_robust = |part: fn(Robust) -> f64| robust.map(|of| of.map_or(f64::NAN, part));
        let (mut sums, mut lower, mut higher) = ([0.0; 2], 0u64, 0u64);
        for &(_, [a, b]) in &values {
            sums = [sums[0] + a, sums[1] + b];
            lower += u64::from(b < a);
            higher += u64::from(b > a);
        }
        let jobs = values.len() as u64;
        let blocks = Blocks::new(values.iter().map(|&(submit, [a, b])| (submit, [b, a])));
        // `Blocks` computes the gain of the second run over the first run; the change is the negative gain.
        let gain = blocks.gain();
        let [least, most] = gain.interval;
        Ok(Compared {
            base: names[0].to_string(),
            run: names[1].to_string(),
            measure,
            sizes: ALL_SIZES,
            class: None,
            jobs,
            means: sums.map(|sum| sum / jobs as f64),
            medians: of_robust(|of| of.median),
            trimmed_means: of_robust(|of| of.trimmed_mean),
            change: 100.0 * (sums[1] / sums[0] - 1.0),
            // The value is subtracted from 0 and not negated, because the negation of 0 is -0.
            interval: [0.0 - most, 0.0 - least],
            p: gain.p,
            comparisons: 1,
            lower,
            higher,
            blocks: blocks.len(),
            days: blocks.days,
            comparable: true,
        })
    }
}

/// Sorts jobs by number and submission, and adds the column [`EARLIER`].
fn numbered(jobs: &DataFrame) -> PolarsResult<DataFrame> {
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let mut jobs = jobs.sort([Submitted::JOB.text(), Submitted::SUBMIT.text()], order)?;
    let mut latest = (None, 0);
    let earlier = jobs.column(Submitted::JOB.text())?.i64()?.iter().map(|job| {
        latest = (job, if latest.0 == job { latest.1 + 1 } else { 0 });
        latest.1
    });
    let earlier: Vec<i64> = earlier.collect();
    jobs.with_column(Values::new(EARLIER.into(), earlier))?;
    Ok(jobs)
}

/// The change of one measure between two runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// The base run.
    pub base: String,
    /// The run compared with the base.
    pub run: String,
    /// The measure, from [`JobTables::measures`].
    pub measure: Name,
    /// Smallest and largest size of the compared jobs, in processors.
    pub sizes: [i64; 2],
    /// Column and value that the compared jobs have in common, such as `queue 1`; `None` if jobs are not grouped by a
    /// column.
    pub class: Option<String>,
    /// Number of pairs.
    pub jobs: u64,
    /// Mean of each run.
    pub means: [f64; 2],
    /// Median of each run.
    pub medians: [f64; 2],
    /// Trimmed mean of each run, see [`trimmed_mean`](replay_engine::metrics::robust::trimmed_mean).
    pub trimmed_means: [f64; 2],
    /// Change of the mean relative to the base, in percent.
    pub change: f64,
    /// 95 % interval of `change`, in percent.
    pub interval: [f64; 2],
    /// Probability of a change at least as large as the measured change if the runs do not differ. NaN without an
    /// interval.
    pub p: f64,
    /// Number of comparisons for which `p` is corrected; 1 if `p` is not corrected.
    pub comparisons: usize,
    /// Number of jobs with a lower value than in the base.
    pub lower: u64,
    /// Number of jobs with a higher value than in the base.
    pub higher: u64,
    /// Number of blocks of submission time.
    pub blocks: usize,
    /// Length of a block, in days.
    pub days: u32,
    /// Whether the values of the measure in the two runs can be compared, see [`comparable`].
    pub comparable: bool,
}

impl Compared {
    /// Returns whether all jobs of the two runs are compared.
    pub fn is_of_all_jobs(&self) -> bool {
        self.sizes[1] == i64::MAX && self.class.is_none()
    }

    /// Marks the comparison as not comparable if the measure is a distance and only one of the two runs
    /// [`folds`](comparable::folds) jobs.
    pub fn of_folding(self, folds: [bool; 2]) -> Self {
        let comparable = folds[0] == folds[1] || !comparable::is_distance(self.measure);
        let p = if comparable { self.p } else { f64::NAN };
        Self { comparable, p, ..self }
    }

    /// Returns the verdict. A change is significant if the runs are comparable and `p` is below [`LEVEL`].
    pub fn verdict(&self) -> Verdict {
        let significance = match () {
            () if !self.comparable => Significance::No,
            () if self.lower + self.higher == 0 => Significance::Same,
            () if self.p.is_nan() || self.p >= LEVEL => Significance::No,
            () => Significance::Yes,
        };
        significance.verdict(self.change)
    }
}

/// Applies Holm's method to the p-values of several comparisons of one measure. The family size is `family` or the
/// number of comparisons with a p-value, whichever is larger.
pub fn correct<'a>(compared: impl IntoIterator<Item = &'a mut Compared>, family: usize) {
    let compared: Vec<&mut Compared> = compared.into_iter().collect();
    let p: Vec<f64> = compared.iter().map(|one| one.p).collect();
    let comparisons = family.max(p.iter().filter(|p| !p.is_nan()).count()).max(1);
    for (one, p) in compared.into_iter().zip(holm(&p, family)) {
        (one.p, one.comparisons) = (p, comparisons);
    }
}

impl Table for Compared {
    const NAME: &'static str = "compared";
    const ROW: &'static str = "one row per pair of runs, measure and class of jobs";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<Compared>;
        let share = |count: fn(&Compared) -> u64| move |row: &Compared| 100.0 * count(row) as f64 / row.jobs as f64;
        vec![
            C::text("base", "base run of the comparison", |row| Some(&row.base)),
            C::text("compared_run", "run compared with the base", |row| Some(&row.run)),
            C::text("compared_measure", "measure, a column of the table jobs or contend_jobs", |row| Some(row.measure.text())),
            C::new("smallest_size", "processors", "smallest size of the compared jobs", |row| row.sizes[0]),
            C::new("largest_size", "processors", "largest size of the compared jobs; null if all sizes are compared", |row| Some(row.sizes[1]).filter(|&size| size < i64::MAX)),
            C::text("class", "column and value that the compared jobs have in common, such as queue 1; null for all jobs and for classes of size", |row| row.class.as_deref()),
            C::new("pairs", "jobs", "number of jobs of this class that both runs have", |row| row.jobs),
            C::new("base_mean", "", "mean of the measure over the common jobs in the base run, in the measure's unit", |row| row.means[0]),
            C::new("compared_mean", "", "mean of the measure over the common jobs in the compared run", |row| row.means[1]),
            C::new("base_median", "", "median of the measure over the common jobs in the base run", |row| row.medians[0]),
            C::new("compared_median", "", "median of the measure over the common jobs in the compared run", |row| row.medians[1]),
            C::new("base_trimmed_mean", "", "mean of the measure over the common jobs in the base run, without the lowest and highest 5 % of values (at each end, 5 % of the number of values, rounded down)", |row| row.trimmed_means[0]),
            C::new("compared_trimmed_mean", "", "mean of the measure over the common jobs in the compared run, without the lowest and highest 5 % of values (at each end, 5 % of the number of values, rounded down)", |row| row.trimmed_means[1]),
            C::new("change_percent", "%", "change from base_mean to compared_mean; null if base_mean is 0", |row| row.change),
            C::new("change_low_percent", "%", "lower end of the 95 % interval of change_percent, at least -100, by Student's t for the logarithm of the ratio of the means over blocks of submission time; null if there are fewer than five blocks", |row| row.interval[0]),
            C::new("change_high_percent", "%", "upper end of the 95 % interval of change_percent", |row| row.interval[1]),
            C::new("lower_percent", "%", "share of jobs whose value is lower than in the base", share(|row| row.lower)),
            C::new("higher_percent", "%", "share of jobs whose value is higher than in the base", share(|row| row.higher)),
            C::new("change_p", "", "p-value of the change: the probability, if the runs do not differ, of a change at least as large as the measured change, corrected by Holm's method; null if there are fewer than five blocks, and for distances if only one of the runs folds jobs", |row| row.p),
            C::new("comparisons", "", "change_p is corrected for this number of comparisons of the measure: all pairs of runs, either over all jobs or by class", |row| row.comparisons),
            C::text("change_verdict", "better or worse if change_p is below 0.05, same if no job differs, else ~; also ~ for distances if only one of the runs folds jobs; smaller is better for every measure", |row| Some(row.verdict().word())),
            C::new("time_blocks", "", "number of blocks of submission time for the interval", |row| row.blocks),
            C::new("block_days", "d", "length of a block", |row| row.days),
        ]
    }
}

/// A job for tests: number, submission, size, and the first measures of [`REPLAYED`].
#[doc(hidden)]
pub type TestJob = (i64, i64, i64, [f64; 5]);

/// Returns the jobs of a run for tests: number, submission, size, and the measures of [`REPLAYED`] of each job.
#[doc(hidden)]
pub fn jobs_of(rows: &[TestJob]) -> PolarsResult<DataFrame> {
    let measures = REPLAYED.measures.iter().enumerate().map(|(i, name)| {
        let value = |row: &TestJob| row.3.get(i).copied().unwrap_or(f64::NAN);
        let values: Vec<f64> = rows.iter().map(value).collect();
        Values::new(name.text().into(), values)
    });
    let integers: [fn(&TestJob) -> i64; 4] = [|row| row.0, |row| row.1, |row| row.2, |row| row.1];
    let names = [Submitted::JOB, Submitted::SUBMIT, Submitted::SIZE, JobMeasures::START];
    let integers = names
        .iter()
        .zip(integers)
        .map(|(name, of)| Values::new(name.text().into(), rows.iter().map(of).collect::<Vec<_>>()));
    DataFrame::new(rows.len(), integers.chain(measures).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::TestJob as Job;

    fn job(number: i64, submit: i64, size: i64, wait: f64) -> Job {
        (number, submit, size, [wait, 1.0, 1.0, 0.0, f64::NAN])
    }

    fn pairs(one: &[Job], other: &[Job]) -> Pairs {
        let [one, other] = [one, other].map(|jobs| jobs_of(jobs).expect("jobs"));
        Pairs::new(&one, &other).expect("two runs")
    }

    #[test]
    fn names_the_columns_in_which_runs_differ() {
        let key = |policy: &str, strategy: &str, tie: Option<&str>| RunKey {
            trace: "KTH".to_string(),
            topology: "10x10".to_string(),
            scheduler: "easy".to_string(),
            allocator: strategy.to_string(),
            tie: tie.map(str::to_string),
            policy: policy.to_string(),
            seed: 1,
            copy: 0,
        };
        let drain = "johnson[down=drain]";
        let other = [key(drain, "mm", None), key(drain, "mc1x1", None)];
        let base = [key("johnson", "mc1x1", None), key("johnson", "mc1x1", Some("auto"))];
        assert_eq!(difference(&base, &other), "policy johnson versus johnson[down=drain]");
        let tie = difference(&base[1..], &[key("johnson", "mc1x1", None)]);
        assert_eq!(tie, "tie auto versus none");
        assert_eq!(difference(&[], &other), "there are no runs");
    }

    #[test]
    fn jobs_are_paired_by_number() {
        let one: Vec<_> = [1, 2, 2, 4].map(|n| job(n, 0, 1, 1.0)).into();
        let other: Vec<_> = [2, 2, 3, 4, 5].map(|n| job(n, 0, 1, 2.0)).into();
        let paired = pairs(&one, &other);
        assert_eq!((paired.pairs.height(), paired.unpaired), (3, 3));
        assert!(pairs(&one, &[]).is_empty());
    }

    #[test]
    fn jobs_of_several_nodes_are_on_one_leaf_or_on_several() {
        let column = |name: Name, values: &[i64]| Values::new(name.text().into(), values);
        let leaves = Values::new(JobMeasures::LEAVES.text().into(), [1.0, 1.0, 3.0, f64::NAN]);
        let columns = vec![column(Submitted::SIZE, &[1, 2, 8, 4]), leaves];
        let mut jobs = DataFrame::new(4, columns).expect("columns");
        with_several_leaves(&mut jobs).expect("sizes and leaves");
        let several = jobs.column(SEVERAL_LEAVES.text()).and_then(Values::f64).expect("a column");
        assert_eq!(several.iter().collect::<Vec<_>>(), [None, Some(0.0), Some(100.0), None]);
    }

    #[test]
    fn gives_no_verdict_on_distances_if_one_run_folds_jobs() {
        const DAY: i64 = 86_400;
        let run =
            |value: f64| -> Vec<Job> { (0..80).map(|i| (i, i * DAY, 4, [value; 5])).collect() };
        let pairs = pairs(&run(10.0), &run(5.0));
        let compared = |measure| pairs.compare(["a", "b"], measure).expect("a measure");
        for &measure in &REPLAYED.measures[..5] {
            let is_distance = [Placement::PAIRWISE_L1, Placement::DISTANCE].contains(&measure);
            let verdicts = [[true, false], [false, true], [true, true], [false, false]]
                .map(|folds| compared(measure).of_folding(folds).verdict().word());
            let expected = if is_distance { "~" } else { "better" };
            assert_eq!(verdicts, [expected, expected, "better", "better"], "{measure}");
        }
    }

    #[test]
    fn computes_changes_with_intervals_and_verdicts() {
        const DAY: i64 = 86_400;
        let run = |wait: fn(i64) -> f64| -> Vec<Job> {
            (0..200).map(|i| job(i, i * DAY / 4, 1 + i % 5, wait(i))).collect()
        };
        let base = run(|_| 100.0);
        let compare = |other: &[Job], measure: usize| {
            let measure = REPLAYED.measures[measure];
            pairs(&base, other).compare(["a", "b"], measure).expect("a measure")
        };
        let word = |other: &[Job]| compare(other, 0).verdict().word();
        // Every wait is shorter by 10 %.
        let less = compare(&run(|_| 90.0), 0);
        assert_eq!((less.verdict().word(), less.jobs, less.lower), ("better", 200, 200));
        assert!((less.change + 10.0).abs() < 1e-9, "{less:?}");
        assert_eq!((less.medians, less.trimmed_means), ([100.0, 90.0], [100.0, 90.0]));
        // Two extreme values among 200 values change the mean, but neither the median nor the trimmed mean.
        let two = compare(&run(|i| if i < 2 { 1e6 } else { 100.0 }), 0);
        assert!(two.means[1] > 1e4, "{two:?}");
        assert_eq!((two.medians[1], two.trimmed_means[1]), (100.0, 100.0));
        assert!(less.interval.iter().all(|end| (end + 10.0).abs() < 1e-9), "{less:?}");
        assert_eq!(word(&run(|_| 110.0)), "worse");
        assert_eq!(word(&base), "same");
        // Blocks with longer waits and blocks with shorter waits alternate.
        let mixed = compare(&run(|i| if i / 4 % 2 == 0 { 80.0 } else { 120.0 }), 0);
        assert_eq!(mixed.verdict(), Verdict::NotSignificant);
        assert!(mixed.interval[0] < 0.0 && 0.0 < mixed.interval[1], "{mixed:?}");
        // Only jobs of 3 and 4 processors wait less.
        let some = run(|i| if (2..4).contains(&(i % 5)) { 50.0 } else { 100.0 });
        let classes = pairs(&base, &some).by_size().expect("sizes");
        let compared = classes.iter().map(|(sizes, pairs)| {
            let compared = pairs.compare(["a", "b"], JobMeasures::WAIT).expect("a measure");
            (*sizes, compared.verdict().word(), compared.jobs)
        });
        let (same, better) = ("same", "better");
        let expected =
            [([1, 1], same, 40), ([2, 2], same, 40), ([3, 4], better, 80), ([5, 8], same, 40)];
        assert_eq!(compared.collect::<Vec<_>>(), expected);
        // Missing values are excluded. If the mean is 0, the relative change is undefined.
        assert_eq!(compare(&base, 4).jobs, 0);
        assert!(compare(&base, 4).medians[0].is_nan());
        assert!(compare(&base, 3).change.is_nan());
    }
}
