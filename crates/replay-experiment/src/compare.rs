//! Job-by-job comparison of two runs of the same jobs.
//!
//! Jobs are paired by number. The relative change of a mean equals the relative change of the sum over all pairs. The
//! 95 % interval of the change is computed by Student's t, for the logarithm of the ratio, over blocks of submission
//! time ([`Blocks`]), because jobs close in time are not independent observations. If several pairs of runs are compared, the verdicts are corrected by
//! Holm's method ([`correct`]), but the intervals are not. For every measure, smaller is better.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::RunKey;
use super::schedule_diff::StartChange;
use super::shaken::Significance;
use crate::contention::{Contention, ContentionJobRow};
use replay_engine::metrics::blocks::{Blocks, LEVEL, holm};
use replay_engine::metrics::robust::Robust;
use replay_engine::metrics::{JobMeasures, Placement, comparable};
use replay_engine::table::{Column, Name, Table};

/// Maximum number of measures of one [`JobTables`].
pub const MOST_MEASURES: usize = 8;

/// The tables of results that can be compared job by job, and the measures to compare.
#[derive(PartialEq, Eq, Debug)]
pub struct JobTables {
    /// File stem of the table of runs, which has the columns of [`RunRow::KEY`] and `run`.
    pub runs: &'static str,
    /// File stem of the table of jobs, which has the columns `run`, `job`, `submit`, `size` and the measures.
    pub jobs: &'static str,
    /// Column with the start times, in seconds of the trace; `None` if the table has no start times.
    pub start: Option<Name>,
    /// Columns to compare, at most [`MOST_MEASURES`]. For each column, smaller values are better.
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
    ],
};

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

/// A row of a table of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Number of the run in its directory.
    pub run: i64,
    /// Values of the columns in [`KEY`](Self::KEY).
    pub key: Vec<String>,
}

impl RunRow {
    /// The columns that identify a run.
    pub const KEY: [Name; 8] = [
        RunKey::TRACE,
        RunKey::TOPOLOGY,
        RunKey::SCHEDULER,
        RunKey::ALLOCATOR,
        RunKey::TIE,
        RunKey::POLICY,
        RunKey::SEED,
        RunKey::COPY,
    ];

    /// Returns the values of [`KEY`](Self::KEY) for a run key.
    pub fn key(key: &RunKey) -> Vec<String> {
        let RunKey { trace, topology, scheduler, allocator, tie, policy, seed, copy } = key.clone();
        let tie = tie.unwrap_or_default();
        let (seed, copy) = (seed.to_string(), copy.to_string());
        vec![trace, topology, scheduler, allocator, tie, policy, seed, copy]
    }

    /// Returns the columns of [`KEY`](Self::KEY) in which two runs differ.
    pub fn differing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Name> + 'a {
        let places = Self::KEY.into_iter().zip(self.key.iter().zip(&other.key));
        places.filter(|(_, (own, other))| own != other).map(|(name, _)| name)
    }

    /// Explains why two lists of run keys have no key in common. Returns the columns in which the two most similar
    /// keys differ, with the value in `base` before the value in `other`.
    pub fn difference(base: &[&Vec<String>], other: &[&Vec<String>]) -> String {
        let places = |a: &[String], b: &[String]| -> Vec<usize> {
            (0..Self::KEY.len()).filter(|&place| a.get(place) != b.get(place)).collect()
        };
        let pairs = base.iter().flat_map(|&a| other.iter().map(move |&b| (places(a, b), a, b)));
        // Ties are broken by key, so that the order of the runs does not matter.
        let Some((differ, base, other)) = pairs.min_by_key(|(differ, a, b)| (differ.len(), *a, *b))
        else {
            return "there are no runs".to_string();
        };
        let value_or_none =
            |text: &String| if text.is_empty() { "none".to_string() } else { text.clone() };
        let differences = differ.iter().map(|&place| {
            let name = Self::KEY[place];
            let name = if name == RunKey::TOPOLOGY { "machine" } else { name.text() };
            format!(
                "{name} {} versus {}",
                value_or_none(&base[place]),
                value_or_none(&other[place])
            )
        });
        differences.collect::<Vec<_>>().join("; ")
    }

    /// Name of the trace.
    pub fn trace(&self) -> &str {
        &self.key[0]
    }

    /// Returns trace, machine, scheduler and strategy, separated by spaces.
    pub fn name(&self) -> String {
        let named = self.key.iter().take(5).map(String::as_str).filter(|text| !text.is_empty());
        named.collect::<Vec<_>>().join(" ")
    }
}

/// A row of a table of jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobRow {
    /// Job number in the trace.
    pub number: i64,
    /// Submission, in seconds.
    pub submit: i64,
    /// Start, in seconds; 0 if the table has no start times.
    pub start: i64,
    /// Number of processors requested.
    pub size: i64,
    /// Value of the column by which jobs are grouped; -1 if the column has no value, or if jobs are not grouped.
    pub label: i64,
    /// Values of [`JobTables::measures`], in the same order; NaN for missing values.
    pub measures: [f64; MOST_MEASURES],
}

impl JobRow {
    /// Extends an array of measures to [`MOST_MEASURES`] with NaN.
    pub fn measures<const N: usize>(values: [f64; N]) -> [f64; MOST_MEASURES] {
        std::array::from_fn(|at| values.get(at).copied().unwrap_or(f64::NAN))
    }
}

/// Pairs of jobs of two runs.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairs: Vec<[JobRow; 2]>,
    /// Number of jobs that occur in only one of the two runs.
    pub unpaired: usize,
}

impl Pairs {
    /// Pairs the jobs of two runs by job number. Both lists must be sorted by job number. If several jobs in a list
    /// have the same number, they are paired in the order of the lists.
    pub fn new(one: &[JobRow], other: &[JobRow]) -> Self {
        let (mut pairs, mut unpaired) = (Vec::with_capacity(one.len().min(other.len())), 0);
        let (mut i, mut j) = (0, 0);
        while i < one.len() && j < other.len() {
            match one[i].number.cmp(&other[j].number) {
                Ordering::Less => (i, unpaired) = (i + 1, unpaired + 1),
                Ordering::Greater => (j, unpaired) = (j + 1, unpaired + 1),
                Ordering::Equal => {
                    pairs.push([one[i], other[j]]);
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        unpaired += one.len() - i + (other.len() - j);
        Self { pairs, unpaired }
    }

    /// Appends the pairs of another seed or perturbed copy. Jobs with the same submit time remain in the same block.
    pub fn extend(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.unpaired += other.unpaired;
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the size classes of the jobs, each as its smallest and largest size. The classes are 1, 2, 3 to 4, 5 to
    /// 8, and so on. Classes without jobs are omitted.
    pub fn classes(&self) -> Vec<[i64; 2]> {
        let class = |size: i64| (size.max(1) as u64).next_power_of_two().trailing_zeros();
        let mut classes: Vec<u32> = self.pairs.iter().map(|[job, _]| class(job.size)).collect();
        classes.sort_unstable();
        classes.dedup();
        let sizes = |class: u32| match class {
            0 => [1, 1],
            _ => [(1i64 << (class - 1)) + 1, 1i64 << class],
        };
        classes.into_iter().map(sizes).collect()
    }

    /// Returns the pairs by the label of the job in the first run, in the order of the labels.
    pub fn by_label(&self) -> Vec<(i64, Self)> {
        let mut groups: BTreeMap<i64, Self> = BTreeMap::new();
        for pair in &self.pairs {
            groups.entry(pair[0].label).or_default().pairs.push(*pair);
        }
        groups.into_iter().collect()
    }

    /// Returns the start times of both jobs of each pair, ordered by job number.
    pub fn start_changes(&self, names: [&str; 2]) -> Vec<StartChange> {
        let start_change = |[one, other]: &[JobRow; 2]| StartChange {
            base: names[0].to_string(),
            run: names[1].to_string(),
            job: one.number,
            submit: one.submit,
            size: one.size,
            starts: [one.start, other.start],
        };
        self.pairs.iter().map(start_change).collect()
    }

    /// Returns, for each of the two runs, the job numbers and the values of a measure. A pair is omitted if at least
    /// one of its two values is missing. `measure` is an index into [`JobTables::measures`].
    pub fn values(&self, measure: usize) -> [Vec<(i64, f64)>; 2] {
        let both = self.pairs.iter().filter_map(|pair| {
            let [a, b] = pair.map(|job| (job.number, job.measures[measure]));
            (a.1.is_finite() && b.1.is_finite()).then_some((a, b))
        });
        both.unzip::<_, _, Vec<_>, Vec<_>>().into()
    }

    /// Computes the change of a measure from the first run to the second run, over the jobs with sizes in a range.
    /// `measure` is an index into [`JobTables::measures`] of `tables`.
    pub fn compare(
        &self,
        names: [&str; 2],
        (tables, measure): (&JobTables, usize),
        sizes: [i64; 2],
    ) -> Compared {
        let within = |[job, _]: &&[JobRow; 2]| (sizes[0]..=sizes[1]).contains(&job.size);
        let values = self.pairs.iter().filter(within).filter_map(|pair| {
            let [a, b] = pair.map(|job| job.measures[measure]);
            (a.is_finite() && b.is_finite()).then_some((pair[0].submit, [a, b]))
        });
        let robust = [0, 1].map(|run| Robust::of(values.clone().map(|(_, of)| of[run])));
        let of_robust = |part: fn(Robust) -> f64| robust.map(|of| of.map_or(f64::NAN, part));
        let (mut jobs, mut sums, mut lower, mut higher) = (0u64, [0.0; 2], 0u64, 0u64);
        for (_, [a, b]) in values.clone() {
            jobs += 1;
            sums = [sums[0] + a, sums[1] + b];
            lower += u64::from(b < a);
            higher += u64::from(b > a);
        }
        let blocks = Blocks::new(values.map(|(submit, [a, b])| (submit, [b, a])));
        // `Blocks` computes the gain of the second run over the first run; the change is the negative gain.
        let gain = blocks.gain();
        let [least, most] = gain.interval;
        Compared {
            base: names[0].to_string(),
            run: names[1].to_string(),
            measure: tables.measures[measure],
            sizes,
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
        }
    }
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

    /// Returns the verdict: `~` if the runs are not comparable, `same` if no job differs, `better` or `worse` if `p` is
    /// below [`LEVEL`], and `~` otherwise.
    pub fn verdict(&self) -> &'static str {
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
            C::text("change_verdict", "better or worse if change_p is below 0.05, same if no job differs, else ~; also ~ for distances if only one of the runs folds jobs; smaller is better for every measure", |row| Some(row.verdict())),
            C::new("time_blocks", "", "number of blocks of submission time for the interval", |row| row.blocks),
            C::new("block_days", "d", "length of a block", |row| row.days),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: i64, submit: i64, size: i64, wait: f64) -> JobRow {
        JobRow {
            number,
            submit,
            start: submit,
            size,
            label: -1,
            measures: JobRow::measures([wait, 1.0, 1.0, 0.0]),
        }
    }

    #[test]
    fn names_the_columns_in_which_runs_differ() {
        let key = |policy: &str, strategy: &str, tie: &str| -> Vec<String> {
            let key = ["KTH", "10x10", "easy", strategy, tie, policy, "1", "0"];
            key.map(str::to_string).to_vec()
        };
        let other = [key("johnson[down=drain]", "mm", ""), key("johnson[down=drain]", "mc1x1", "")];
        let base = [key("johnson", "mc1x1", ""), key("johnson", "mc1x1", "auto")];
        let difference = |base: &[Vec<String>], other: &[Vec<String>]| {
            RunRow::difference(&base.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>())
        };
        let policy = "policy johnson versus johnson[down=drain]";
        assert_eq!(difference(&base, &other), policy);
        let tie = difference(&base[1..], &[key("johnson", "mc1x1", "")]);
        assert_eq!(tie, "tie auto versus none");
        assert_eq!(difference(&[], &other), "there are no runs");
    }

    #[test]
    fn jobs_are_paired_by_number() {
        let one: Vec<_> = [1, 2, 2, 4].map(|n| job(n, 0, 1, 1.0)).into();
        let other: Vec<_> = [2, 2, 3, 4, 5].map(|n| job(n, 0, 1, 2.0)).into();
        let pairs = Pairs::new(&one, &other);
        assert_eq!((pairs.len(), pairs.unpaired), (3, 3));
        assert!(Pairs::new(&one, &[]).is_empty());
    }

    #[test]
    fn gives_no_verdict_on_distances_if_one_run_folds_jobs() {
        const DAY: i64 = 86_400;
        let measures = |value: f64| [value; MOST_MEASURES];
        let run = |value: f64| -> Vec<JobRow> {
            let job = |i: i64| JobRow { measures: measures(value), ..job(i, i * DAY, 4, 0.0) };
            (0..80).map(job).collect()
        };
        let pairs = Pairs::new(&run(10.0), &run(5.0));
        let compared = |measure| pairs.compare(["a", "b"], (&REPLAYED, measure), [1, i64::MAX]);
        for (measure, name) in REPLAYED.measures.iter().enumerate() {
            let is_distance = [Placement::PAIRWISE_L1, Placement::DISTANCE].contains(name);
            let verdicts = [[true, false], [false, true], [true, true], [false, false]]
                .map(|folds| compared(measure).of_folding(folds).verdict());
            let expected = if is_distance { "~" } else { "better" };
            assert_eq!(verdicts, [expected, expected, "better", "better"], "{name}");
        }
    }

    #[test]
    fn computes_changes_with_intervals_and_verdicts() {
        const DAY: i64 = 86_400;
        let run = |wait: fn(i64) -> f64| -> Vec<JobRow> {
            (0..200).map(|i| job(i, i * DAY / 4, 1 + i % 5, wait(i))).collect()
        };
        let base = run(|_| 100.0);
        let compare = |other: &[JobRow], measure: usize, sizes| {
            Pairs::new(&base, other).compare(["a", "b"], (&REPLAYED, measure), sizes)
        };
        let all = [1, i64::MAX];
        // Every wait is shorter by 10 %.
        let less = compare(&run(|_| 90.0), 0, all);
        assert_eq!((less.verdict(), less.jobs, less.lower), ("better", 200, 200));
        assert!((less.change + 10.0).abs() < 1e-9, "{less:?}");
        assert_eq!((less.medians, less.trimmed_means), ([100.0, 90.0], [100.0, 90.0]));
        // Two extreme values among 200 values change the mean, but neither the median nor the trimmed mean.
        let two = compare(&run(|i| if i < 2 { 1e6 } else { 100.0 }), 0, all);
        assert!(two.means[1] > 1e4, "{two:?}");
        assert_eq!((two.medians[1], two.trimmed_means[1]), (100.0, 100.0));
        assert!(less.interval.iter().all(|end| (end + 10.0).abs() < 1e-9), "{less:?}");
        assert_eq!(compare(&run(|_| 110.0), 0, all).verdict(), "worse");
        assert_eq!(compare(&base, 0, all).verdict(), "same");
        // Blocks with longer waits and blocks with shorter waits alternate.
        let mixed = compare(&run(|i| if i / 4 % 2 == 0 { 80.0 } else { 120.0 }), 0, all);
        assert_eq!(mixed.verdict(), "~");
        assert!(mixed.interval[0] < 0.0 && 0.0 < mixed.interval[1], "{mixed:?}");
        // Only jobs of 3 and 4 processors wait less.
        let some = run(|i| if (2..4).contains(&(i % 5)) { 50.0 } else { 100.0 });
        let pairs = Pairs::new(&base, &some);
        assert_eq!(pairs.classes(), [[1, 1], [2, 2], [3, 4], [5, 8]]);
        let class = |sizes| pairs.compare(["a", "b"], (&REPLAYED, 0), sizes);
        assert_eq!([class([3, 4]).verdict(), class([5, 8]).verdict()], ["better", "same"]);
        assert_eq!(class([3, 4]).jobs, 80);
        // Missing values are excluded. If the mean is 0, the relative change is undefined.
        assert_eq!(compare(&base, 4, all).jobs, 0);
        assert!(compare(&base, 4, all).medians[0].is_nan());
        assert!(compare(&base, 3, all).change.is_nan());
    }
}
