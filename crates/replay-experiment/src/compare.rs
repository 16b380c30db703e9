//! Two runs of the same jobs, job by job.
//!
//! Jobs are paired by their number. The change of a mean is that of the sums over all pairs; its 95 %
//! interval is Student's t over blocks of submission time ([`Blocks`]), since jobs near each other in time are
//! not independent observations. Where several pairs of runs are compared, verdicts are corrected by Holm's
//! method ([`correct`]); intervals are not. Smaller is better for every measure here.

use std::cmp::Ordering;

use super::RunKey;
use super::schedule_diff::Moved;
use replay_core::metrics::blocks::{Blocks, LEVEL, holm};
use replay_core::metrics::comparable;
use replay_core::metrics::robust::Robust;
use replay_core::table::{Column, Name, Table, name};

/// Most measures of one kind of results.
pub const MOST_MEASURES: usize = 8;

/// The tables of results that can be compared job by job, and what is compared: columns of the table
/// of jobs, at most [`MOST_MEASURES`].
#[derive(PartialEq, Eq, Debug)]
pub struct JobTables {
    /// Stem of the table of runs, which has the columns of [`RunRow::KEY`] and `run`.
    pub runs: &'static str,
    /// Stem of the table of jobs, which has `run`, `job`, `submit`, `size` and the measures.
    pub jobs: &'static str,
    /// Column of the starts, in seconds of the trace; `None` if the table has none.
    pub start: Option<Name>,
    /// Columns that are compared. Smaller is better.
    pub measures: &'static [Name],
}

/// The tables of replays.
pub const REPLAYED: JobTables = JobTables {
    runs: "runs",
    jobs: "jobs",
    start: Some(name::start),
    measures: &[
        name::wait,
        name::turnaround,
        name::bounded_slowdown,
        name::pairwise_l1,
        name::distance,
    ],
};

/// The tables of `contend`. Its starts are in cycles of a run of its own.
pub const CONTENDED: JobTables = JobTables {
    runs: "contend",
    jobs: "contend_jobs",
    start: None,
    measures: &[
        name::stretch,
        name::placement_factor,
        name::contention_factor,
        name::wait_cycles,
        name::latency,
        name::blocking,
        name::pairwise_l1,
        name::distance,
    ],
};

/// A run, as its table says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Its number in the folder.
    pub run: i64,
    /// The texts of [`KEY`](Self::KEY).
    pub key: Vec<String>,
}

impl RunRow {
    /// What tells runs apart.
    pub const KEY: [Name; 8] = [
        name::trace,
        name::topology,
        name::scheduler,
        name::allocator,
        name::tie,
        name::policy,
        name::seed,
        name::copy,
    ];

    /// The key of a run as these texts.
    pub fn key(key: &RunKey) -> Vec<String> {
        let RunKey { trace, topology, scheduler, allocator, tie, policy, seed, copy } = key.clone();
        let tie = tie.unwrap_or_default();
        let (seed, copy) = (seed.to_string(), copy.to_string());
        vec![trace, topology, scheduler, allocator, tie, policy, seed, copy]
    }

    /// The names of the columns of [`KEY`](Self::KEY) in which two runs differ.
    pub fn differing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Name> + 'a {
        let places = Self::KEY.into_iter().zip(self.key.iter().zip(&other.key));
        places.filter(|(_, (own, other))| own != other).map(|(name, _)| name)
    }

    /// In words, why no run of `there` is one of `here`, by their keys: of the two that are most alike, what
    /// differs.
    pub fn difference(there: &[&Vec<String>], here: &[&Vec<String>]) -> String {
        let places = |a: &[String], b: &[String]| -> Vec<usize> {
            (0..Self::KEY.len()).filter(|&place| a.get(place) != b.get(place)).collect()
        };
        let pairs = there.iter().flat_map(|&a| here.iter().map(move |&b| (places(a, b), a, b)));
        // Whatever the order of the runs.
        let Some((differ, there, here)) = pairs.min_by_key(|(differ, a, b)| (differ.len(), *a, *b))
        else {
            return "there is none".to_string();
        };
        let told = |text: &String| if text.is_empty() { "none".to_string() } else { text.clone() };
        let said = differ.iter().map(|&place| {
            let name = Self::KEY[place];
            let name = if name == name::topology { "machine" } else { name.text() };
            format!("the {name} there is {}, here {}", told(&there[place]), told(&here[place]))
        });
        said.collect::<Vec<_>>().join("; ")
    }

    /// The name of its trace.
    pub fn trace(&self) -> &str {
        &self.key[0]
    }

    /// Its trace, machine, scheduler and strategy.
    pub fn name(&self) -> String {
        let named = self.key.iter().take(5).map(String::as_str).filter(|text| !text.is_empty());
        named.collect::<Vec<_>>().join(" ")
    }
}

/// A job of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobRow {
    /// Job number in the trace.
    pub number: i64,
    /// Submission, in seconds.
    pub submit: i64,
    /// Start, in seconds; 0 in tables without starts.
    pub start: i64,
    /// Processors that it asks for.
    pub size: i64,
    /// Values of [`JobTables::measures`], in their order; NaN where there is none.
    pub measures: [f64; MOST_MEASURES],
}

impl JobRow {
    /// The array of fewer measures than [`MOST_MEASURES`].
    pub fn measures<const N: usize>(values: [f64; N]) -> [f64; MOST_MEASURES] {
        std::array::from_fn(|at| values.get(at).copied().unwrap_or(f64::NAN))
    }
}

/// Jobs of two runs, paired.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairs: Vec<[JobRow; 2]>,
    /// Jobs that only one of the runs has.
    pub unpaired: usize,
}

impl Pairs {
    /// Pairs jobs of equal numbers; both lists ascend by number. Several jobs of one number are paired in
    /// their order.
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

    /// Takes in the pairs of another seed or copy: jobs of one time stay in one block.
    pub fn extend(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.unpaired += other.unpaired;
    }

    /// How many pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Classes of size that occur, each with its first and last size: 1, 2, 3 to 4, 5 to 8, ...
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

    /// Where the starts of the jobs are in the two runs, in the order of their numbers.
    pub fn moves(&self, names: [&str; 2]) -> Vec<Moved> {
        let moved = |[one, other]: &[JobRow; 2]| Moved {
            base: names[0].to_string(),
            run: names[1].to_string(),
            job: one.number,
            submit: one.submit,
            size: one.size,
            starts: [one.start, other.start],
        };
        self.pairs.iter().map(moved).collect()
    }

    /// The values of a measure in the one run and in the other, with job numbers, of the pairs that have
    /// both; `measure` is its place in [`JobTables::measures`].
    pub fn values(&self, measure: usize) -> [Vec<(i64, f64)>; 2] {
        let both = self.pairs.iter().filter_map(|pair| {
            let [a, b] = pair.map(|job| (job.number, job.measures[measure]));
            (a.1.is_finite() && b.1.is_finite()).then_some((a, b))
        });
        both.unzip::<_, _, Vec<_>, Vec<_>>().into()
    }

    /// The change of a measure, by its place in [`JobTables::measures`] of `tables`, from the one run to the
    /// other, over jobs of some sizes.
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
        // The gains of the second run over the first; a loss is a change upwards.
        let gain = blocks.gain();
        let [least, most] = gain.interval;
        Compared {
            base: names[0].to_string(),
            run: names[1].to_string(),
            measure: tables.measures[measure],
            sizes,
            jobs,
            means: sums.map(|sum| sum / jobs as f64),
            medians: of_robust(|of| of.median),
            trimmed_means: of_robust(|of| of.trimmed_mean),
            change: 100.0 * (sums[1] / sums[0] - 1.0),
            interval: [-most, -least],
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

/// What a measure comes to in two runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// The run that is compared with.
    pub base: String,
    /// The run that is compared.
    pub run: String,
    /// One of [`JobTables::measures`].
    pub measure: Name,
    /// First and last size of the jobs, in processors.
    pub sizes: [i64; 2],
    /// Pairs.
    pub jobs: u64,
    /// Means over them.
    pub means: [f64; 2],
    /// Medians over them.
    pub medians: [f64; 2],
    /// Means without the outermost values, see [`trimmed_mean`](replay_core::metrics::robust::trimmed_mean).
    pub trimmed_means: [f64; 2],
    /// The second mean against the first, in percent.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Probability of a change at least this large if the runs do not differ; NaN without an interval.
    pub p: f64,
    /// Comparisons for which that is corrected; 1 if it is not.
    pub comparisons: usize,
    /// Jobs that have less in the second run, and more.
    pub lower: u64,
    /// See `lower`.
    pub higher: u64,
    /// Blocks of submission time, and their length in days.
    pub blocks: usize,
    /// See `blocks`.
    pub days: u32,
    /// Whether the runs are comparable by the measure, see [`comparable`].
    pub comparable: bool,
}

impl Compared {
    /// The same of two runs, of which each [`folds`](comparable::folds) jobs or does not: a distance
    /// measure does not compare them if only one does.
    pub fn of_folding(self, folds: [bool; 2]) -> Self {
        let comparable = folds[0] == folds[1] || !comparable::is_distance(&self.measure);
        let p = if comparable { self.p } else { f64::NAN };
        Self { comparable, p, ..self }
    }

    /// `better` or `worse` if the probability is below [`LEVEL`], `same` if no job differs, else `~`, as
    /// of runs that are not comparable.
    pub fn verdict(&self) -> &'static str {
        match () {
            () if !self.comparable => "~",
            () if self.lower + self.higher == 0 => "same",
            () if self.p.is_nan() || self.p >= LEVEL => "~",
            () if self.change < 0.0 => "better",
            () => "worse",
        }
    }
}

/// Corrects the probabilities of comparisons of one measure by Holm's method, as a family of `family` or of
/// all that are there if those are more.
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
    const ROW: &'static str = "one row per measure and class of size of two runs";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<Compared>;
        let share = |count: fn(&Compared) -> u64| move |row: &Compared| 100.0 * count(row) as f64 / row.jobs as f64;
        vec![
            C::text(name::base, "run that is compared with", |row| Some(&row.base)),
            C::text(name::compared_run, "run that is compared", |row| Some(&row.run)),
            C::text(name::compared_measure, "column of the table jobs, or of contend_jobs", |row| Some(row.measure.text())),
            C::new(name::smallest_size, "processors", "smallest size of the jobs compared", |row| row.sizes[0]),
            C::new(name::largest_size, "processors", "largest size of the jobs compared; null if all are", |row| Some(row.sizes[1]).filter(|&size| size < i64::MAX)),
            C::new(name::pairs, "jobs", "jobs that both runs have, of these sizes", |row| row.jobs),
            C::new(name::base_mean, "", "mean over them in the base, in the measure's unit", |row| row.means[0]),
            C::new(name::compared_mean, "", "mean over them in the run that is compared", |row| row.means[1]),
            C::new(name::base_median, "", "median over them in the base", |row| row.medians[0]),
            C::new(name::compared_median, "", "median over them in the run that is compared", |row| row.medians[1]),
            C::new(name::base_trimmed_mean, "", "mean over them in the base, without 5 % of them at each end, rounded down", |row| row.trimmed_means[0]),
            C::new(name::compared_trimmed_mean, "", "mean over them in the run that is compared, without 5 % of them at each end, rounded down", |row| row.trimmed_means[1]),
            C::new(name::change_percent, "%", "compared_mean against base_mean; null if that is 0", |row| row.change),
            C::new(name::change_low_percent, "%", "lower end of its 95 % interval, by Student's t over blocks of submission time; null with fewer than five", |row| row.interval[0]),
            C::new(name::change_high_percent, "%", "upper end of it", |row| row.interval[1]),
            C::new(name::lower_percent, "%", "jobs that have less than in the base", share(|row| row.lower)),
            C::new(name::higher_percent, "%", "jobs that have more than in the base", share(|row| row.higher)),
            C::new(name::change_p, "", "probability of a change at least as large if the runs do not differ, corrected by Holm's method for the comparisons; null with fewer than five blocks, and of distances if only one of the runs folds jobs", |row| row.p),
            C::new(name::comparisons, "", "comparisons of the measure for which that is corrected: all pairs of runs, of all sizes or of classes of size", |row| row.comparisons),
            C::text(name::change_verdict, "better or worse if change_p is below 0.05, same if no job differs, else ~, as of distances if only one of the runs folds jobs; less is better for every measure", |row| Some(row.verdict())),
            C::new(name::time_blocks, "", "blocks of submission time behind the interval", |row| row.blocks),
            C::new(name::block_days, "d", "length of a block", |row| row.days),
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
            measures: JobRow::measures([wait, 1.0, 1.0, 0.0]),
        }
    }

    #[test]
    fn what_keeps_runs_apart_is_named() {
        let key = |policy: &str, strategy: &str, tie: &str| -> Vec<String> {
            let key = ["KTH", "10x10", "easy", strategy, tie, policy, "1", "0"];
            key.map(str::to_string).to_vec()
        };
        let here = [key("johnson[down=drain]", "mm", ""), key("johnson[down=drain]", "mc1x1", "")];
        let there = [key("johnson", "mc1x1", ""), key("johnson", "mc1x1", "auto")];
        let difference = |there: &[Vec<String>], here: &[Vec<String>]| {
            RunRow::difference(&there.iter().collect::<Vec<_>>(), &here.iter().collect::<Vec<_>>())
        };
        let policy = "the policy there is johnson, here johnson[down=drain]";
        assert_eq!(difference(&there, &here), policy);
        let tie = difference(&there[1..], &[key("johnson", "mc1x1", "")]);
        assert_eq!(tie, "the tie there is auto, here none");
        assert_eq!(difference(&[], &here), "there is none");
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
    fn distances_of_a_run_that_folds_jobs_give_no_verdict() {
        const DAY: i64 = 86_400;
        let measures = |value: f64| [value; MOST_MEASURES];
        let run = |value: f64| -> Vec<JobRow> {
            let job = |i: i64| JobRow { measures: measures(value), ..job(i, i * DAY, 4, 0.0) };
            (0..80).map(job).collect()
        };
        let pairs = Pairs::new(&run(10.0), &run(5.0));
        let compared = |measure| pairs.compare(["a", "b"], (&REPLAYED, measure), [1, i64::MAX]);
        for (measure, name) in REPLAYED.measures.iter().enumerate() {
            let is_distance = [name::pairwise_l1, name::distance].contains(name);
            let verdicts = [[true, false], [false, true], [true, true], [false, false]]
                .map(|folds| compared(measure).of_folding(folds).verdict());
            let expected = if is_distance { "~" } else { "better" };
            assert_eq!(verdicts, [expected, expected, "better", "better"], "{name}");
        }
    }

    #[test]
    fn changes_come_with_intervals_and_verdicts() {
        const DAY: i64 = 86_400;
        let run = |wait: fn(i64) -> f64| -> Vec<JobRow> {
            (0..200).map(|i| job(i, i * DAY / 4, 1 + i % 5, wait(i))).collect()
        };
        let base = run(|_| 100.0);
        let compare = |other: &[JobRow], measure: usize, sizes| {
            Pairs::new(&base, other).compare(["a", "b"], (&REPLAYED, measure), sizes)
        };
        let all = [1, i64::MAX];
        // A tenth less for everybody.
        let less = compare(&run(|_| 90.0), 0, all);
        assert_eq!((less.verdict(), less.jobs, less.lower), ("better", 200, 200));
        assert!((less.change + 10.0).abs() < 1e-9, "{less:?}");
        assert_eq!((less.medians, less.trimmed_means), ([100.0, 90.0], [100.0, 90.0]));
        // Two values of 200 move the mean alone.
        let two = compare(&run(|i| if i < 2 { 1e6 } else { 100.0 }), 0, all);
        assert!(two.means[1] > 1e4, "{two:?}");
        assert_eq!((two.medians[1], two.trimmed_means[1]), (100.0, 100.0));
        assert!(less.interval.iter().all(|end| (end + 10.0).abs() < 1e-9), "{less:?}");
        assert_eq!(compare(&run(|_| 110.0), 0, all).verdict(), "worse");
        assert_eq!(compare(&base, 0, all).verdict(), "same");
        // In one block more, in the next less.
        let mixed = compare(&run(|i| if i / 4 % 2 == 0 { 80.0 } else { 120.0 }), 0, all);
        assert_eq!(mixed.verdict(), "~");
        assert!(mixed.interval[0] < 0.0 && 0.0 < mixed.interval[1], "{mixed:?}");
        // Only jobs of 3 and 4 processors gain.
        let some = run(|i| if (2..4).contains(&(i % 5)) { 50.0 } else { 100.0 });
        let pairs = Pairs::new(&base, &some);
        assert_eq!(pairs.classes(), [[1, 1], [2, 2], [3, 4], [5, 8]]);
        let class = |sizes| pairs.compare(["a", "b"], (&REPLAYED, 0), sizes);
        assert_eq!([class([3, 4]).verdict(), class([5, 8]).verdict()], ["better", "same"]);
        assert_eq!(class([3, 4]).jobs, 80);
        // What a job does not have is left out; a mean of 0 has no change in percent.
        assert_eq!(compare(&base, 4, all).jobs, 0);
        assert!(compare(&base, 4, all).medians[0].is_nan());
        assert!(compare(&base, 3, all).change.is_nan());
    }
}
