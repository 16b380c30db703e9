//! Cumulative distributions of per-job values: for each value, the share of jobs with at most this value.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::header::NOT_SHOWN;
use super::name::groups;
use super::number::significant;
use super::scale::Scale;
use super::spreads::{BoxPlot, PERCENTS};
use super::style::PALETTE;
use super::{Line, Lines, Point, Spreads};
use replay_engine::metrics::robust;
use replay_engine::metrics::schedule::percentile_of;
use replay_engine::number::grouped;
use replay_experiment::{RunKey, RunResult};

/// Maximum number of curves in a figure, so that each curve has a different colour.
pub const MOST: usize = PALETTE.len();
/// Approximate maximum number of steps of a curve.
const STEPS: f64 = 200.0;
/// Minimum ratio of the largest value to the smallest value for a logarithmic axis.
const WIDE: f64 = 4.0;

/// Returns a subtitle clause with the number of strategies that are not shown; `None` if all strategies are shown.
pub fn not_shown(strategies: usize) -> Option<String> {
    let plural = if strategies == 1 { "y is" } else { "ies are" };
    (strategies > 0).then(|| format!("{strategies} more strateg{plural} {NOT_SHOWN}"))
}

/// A curve of a figure of distributions.
#[derive(Clone, Debug)]
pub struct SpreadCurve<'a> {
    /// Name in the legend.
    pub name: String,
    /// Allocator and tie vector of each run with this curve. Several runs share a curve if they have the same schedule.
    /// Curves of different schedulers or seeds may list the same strategies.
    pub strategies: Vec<String>,
    /// Distribution of the values.
    pub spread: &'a Distribution,
}

/// Keeps the first curves. At most `MOST` curves and at most `most` strategies are kept. Strategies that share a curve
/// count as one strategy. Returns the subtitle clauses about omitted curves.
fn truncate(curves: &mut Vec<SpreadCurve<'_>>, most: usize) -> Vec<String> {
    let names = |curves: &[SpreadCurve<'_>]| -> BTreeSet<String> {
        curves.iter().flat_map(|curve| curve.strategies.iter().cloned()).collect()
    };
    let (all, all_curves) = (names(curves), curves.len());
    let mut shown: Vec<Vec<String>> = Vec::new();
    let mut drawn = 0;
    curves.retain(|curve| {
        let is_new = !shown.contains(&curve.strategies);
        let fits = drawn < MOST && (!is_new || shown.len() < most);
        if fits {
            drawn += 1;
            shown.extend(is_new.then(|| curve.strategies.clone()));
        }
        fits
    });
    let missing = all.difference(&names(curves)).count();
    let mut clauses: Vec<String> = not_shown(missing).into_iter().collect();
    // Only curves of other schedulers or seeds are omitted; their strategies are shown.
    if missing == 0 && drawn < all_curves {
        let more = all_curves - drawn;
        let [plural, are] = if more == 1 { ["", "is"] } else { ["s", "are"] };
        clauses.push(format!("{more} more curve{plural} of these strategies {are} {NOT_SHOWN}"));
    }
    clauses
}

/// Cumulative distribution of a value over jobs, stored with a bounded number of steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    /// Number of jobs.
    pub jobs: usize,
    /// Mean of the values.
    pub mean: f64,
    /// [Trimmed mean](robust::trimmed_mean) of the values.
    trimmed_mean: f64,
    /// [Percentiles](PERCENTS) of the values.
    percentiles: [f64; 5],
    /// Values in ascending order, each with two percentages: the percentage of jobs with a smaller value, and the
    /// percentage of jobs with at most this value. A value other than the last is omitted if the percentage has grown
    /// by less than 100 / `STEPS` since the preceding stored value.
    steps: Vec<(f64, [f64; 2])>,
}

impl Distribution {
    /// Returns the distribution of the given values; values that are not finite are ignored.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let jobs = values.len();
        let share = |count: usize| 100.0 * count as f64 / jobs as f64;
        let (mut steps, mut below): (Vec<(f64, [f64; 2])>, usize) = (Vec::new(), 0);
        for alike in values.chunk_by(|a, b| a == b) {
            let shares = [share(below), share(below + alike.len())];
            below += alike.len();
            let far = steps.last().is_none_or(|(_, last)| shares[1] - last[1] >= 100.0 / STEPS);
            if far || below == jobs {
                steps.push((alike[0], shares));
            }
        }
        let mean = values.iter().sum::<f64>() / jobs.max(1) as f64;
        let percentiles = PERCENTS.map(|percent| percentile_of(jobs, percent, |rank| values[rank]));
        let trimmed_mean = robust::trimmed_mean(&values);
        Self { jobs, mean, trimmed_mean, percentiles, steps }
    }

    fn summary(&self) -> BoxPlot {
        BoxPlot { percentiles: self.percentiles, mean: self.mean }
    }

    fn ends(&self) -> Option<[f64; 2]> {
        Some([self.steps.first()?.0, self.steps.last()?.0])
    }

    /// Returns the cumulative curve of the distribution.
    fn line(&self, name: String) -> Line {
        let points = self.steps.iter().flat_map(|&(value, [below, upto])| {
            [Point::new(value, below), Point::new(value, upto)]
        });
        Line { name, points: points.collect() }
    }
}

/// Labels of a figure of distributions.
#[derive(Clone, Copy, Debug)]
pub struct AxisLabels {
    /// Figure title.
    pub title: &'static str,
    /// Title of the x axis with its unit.
    pub x: &'static str,
    /// Whether values may be 0. If values may be 0, a logarithmic axis needs a position for 0.
    pub zero: bool,
    /// Unit of the median and the mean.
    pub unit: &'static str,
    /// Whether curves are ordered by medians instead of means. The median is used if a few of the values would dominate
    /// the mean.
    pub by_median: bool,
}

impl AxisLabels {
    /// Returns the statistics by which curves are ordered: the mean, or the median and then the trimmed mean.
    fn middle(&self, spread: &Distribution) -> [f64; 2] {
        let [.., median, _, _] = spread.percentiles;
        if self.by_median { [median, spread.trimmed_mean] } else { [spread.mean; 2] }
    }

    /// Returns the name of the statistic by which curves are ordered.
    fn middle_name(&self) -> &'static str {
        if self.by_median { "median" } else { "mean" }
    }
}

/// Labels of figures of waits.
pub const WAITS: AxisLabels = AxisLabels {
    title: "Distribution of waits",
    x: "Wait (s)",
    zero: true,
    unit: " s",
    by_median: false,
};
/// Labels of figures of bounded slowdowns.
pub const SLOWDOWNS: AxisLabels = AxisLabels {
    title: "Distribution of bounded slowdowns",
    x: "Bounded slowdown",
    zero: false,
    unit: "",
    by_median: false,
};
/// Labels of figures of stretches.
pub const STRETCHES: AxisLabels = AxisLabels {
    title: "Distribution of stretch over the jobs that send packets",
    x: "Stretch (time with contention / time alone)",
    zero: false,
    unit: "",
    by_median: true,
};

/// Returns a figure with a curve and a box plot for each of `curves`, in ascending order of mean or median. The figure
/// has at most `most` strategies, and at most as many curves as there are colours. Returns `None` if all values are
/// equal.
pub fn spreads(
    labels: AxisLabels,
    mut subtitle: Vec<String>,
    mut curves: Vec<SpreadCurve<'_>>,
    most: usize,
) -> Option<Spreads> {
    curves.retain(|curve| curve.spread.jobs > 0);
    curves.sort_by(|one, other| {
        let [[a, first], [b, second]] = [one, other].map(|curve| labels.middle(curve.spread));
        a.total_cmp(&b).then(first.total_cmp(&second)).then_with(|| one.name.cmp(&other.name))
    });
    let left_out = truncate(&mut curves, most);
    let ends = || curves.iter().filter_map(|curve| curve.spread.ends());
    let low = ends().map(|[low, _]| low).fold(f64::INFINITY, f64::min);
    let high = ends().map(|[_, high]| high).fold(f64::NEG_INFINITY, f64::max);
    if low >= high {
        return None;
    }
    let x = match labels.zero {
        true if low >= 0.0 && high > WIDE => Scale::log_from_zero(high * 1.08),
        false if low > 0.0 && high > WIDE * low => Scale::log(low * 0.92, high * 1.08),
        _ => Scale::round(low, high, 8),
    };
    let jobs = || curves.iter().map(|curve| curve.spread.jobs as u64);
    let (fewest, most) = (jobs().min().unwrap_or(0), jobs().max().unwrap_or(0));
    subtitle.push(match fewest == most {
        true => format!("{} jobs", grouped(most)),
        false => format!("{} to {} jobs", grouped(fewest), grouped(most)),
    });
    let middle = labels.middle_name();
    subtitle.push(format!("least {middle} first"));
    subtitle.extend(left_out);
    let line = |SpreadCurve { name, spread, .. }: &SpreadCurve<'_>| {
        let [value, _] = labels.middle(spread);
        spread.line(format!("{name} ({middle} {}{})", significant(value), labels.unit))
    };
    let boxes = curves.iter().map(|curve| curve.spread.summary()).collect();
    let curves = Lines {
        title: labels.title.to_string(),
        subtitle,
        x_title: labels.x.to_string(),
        y_title: "Share of jobs (%)".to_string(),
        log_x: false,
        log_y: false,
        plain: true,
        lines: curves.iter().map(line).collect(),
    };
    Some(Spreads { curves, x, boxes })
}

/// Distributions of the waits and slowdowns of a run.
#[derive(Clone, Debug)]
pub struct WaitDistributions {
    key: RunKey,
    /// Hash of the jobs and their start times. Equal schedules have equal hashes.
    schedule: u64,
    wait: Distribution,
    slowdown: Distribution,
}

impl WaitDistributions {
    /// Returns the distributions of a run; `None` if the run has no jobs or is on a perturbed copy.
    pub fn of(run: &RunResult) -> Option<Self> {
        if run.jobs.is_empty() || !run.is_unshaken() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        for job in &run.jobs {
            (job.number, job.arrival, job.start, job.run).hash(&mut hasher);
        }
        Some(Self {
            key: run.key.clone(),
            schedule: hasher.finish(),
            wait: Distribution::of(run.jobs.iter().map(|job| job.wait() as f64)),
            slowdown: Distribution::of(run.jobs.iter().map(|job| job.bounded_slowdown())),
        })
    }
}

/// A figure of waits or slowdowns, with the parts of its file name.
pub struct WaitFigure<'a> {
    /// `waits` or `slowdowns`.
    pub kind: &'static str,
    /// Key of one of the runs in the figure.
    pub key: &'a RunKey,
    /// Whether all runs of the figure have the same scheduler.
    pub of_scheduler: bool,
    /// The figure.
    pub spreads: Spreads,
}

/// Returns figures of the waits and figures of the slowdowns of runs. There is one figure for each trace, machine,
/// scheduler and policy. If there are several schedulers, there is also a figure of all schedulers. Runs with equal
/// schedules share a curve.
pub fn waits<'a>(
    runs: &'a [WaitDistributions],
    subtitle: impl Fn(&RunKey) -> Vec<String>,
    most: usize,
) -> Vec<WaitFigure<'a>> {
    fn setting(key: &RunKey) -> [&str; 3] {
        [&key.trace, &key.topology, &key.policy]
    }
    let settings = groups(runs, |a, b| setting(&a.key) == setting(&b.key));
    let mut figures = Vec::new();
    for setting in settings {
        let mut schedulers: Vec<&str> =
            setting.iter().map(|run| run.key.scheduler.as_str()).collect();
        schedulers.sort_unstable();
        schedulers.dedup();
        if schedulers.len() > 1 {
            figures.extend(figures_of(&setting, &subtitle, most));
        }
        for scheduler in schedulers {
            let own = setting.iter().copied().filter(|run| run.key.scheduler == scheduler);
            figures.extend(figures_of(&own.collect::<Vec<_>>(), &subtitle, most));
        }
    }
    figures
}

fn figures_of<'a>(
    runs: &[&'a WaitDistributions],
    subtitle: &impl Fn(&RunKey) -> Vec<String>,
    most: usize,
) -> Vec<WaitFigure<'a>> {
    let key = &runs[0].key;
    let of_scheduler = runs.iter().all(|run| run.key.scheduler == key.scheduler);
    let named: Vec<(String, Vec<String>, &WaitDistributions)> =
        groups(runs.iter().copied(), |a, b| a.schedule == b.schedule)
            .into_iter()
            .map(|alike| {
                let mut strategies: Vec<String> =
                    alike.iter().map(|run| run.key.strategy()).collect();
                strategies.sort();
                strategies.dedup();
                (label(&alike, runs, of_scheduler), strategies, alike[0])
            })
            .collect();
    let mut clauses = subtitle(key);
    if !of_scheduler {
        // The curves name the schedulers.
        clauses.retain(|part| *part != key.scheduler);
    }
    type Of = fn(&WaitDistributions) -> &Distribution;
    let kinds: [(&str, AxisLabels, Of); 2] =
        [("waits", WAITS, |run| &run.wait), ("slowdowns", SLOWDOWNS, |run| &run.slowdown)];
    let figure = |(kind, labels, of): (&'static str, AxisLabels, Of)| {
        let curve = |(name, strategies, run): &(String, Vec<String>, &'a WaitDistributions)| {
            SpreadCurve { name: name.clone(), strategies: strategies.clone(), spread: of(run) }
        };
        let curves = named.iter().map(curve).collect();
        let spreads = spreads(labels, clauses.clone(), curves, most)?;
        Some(WaitFigure { kind, key, of_scheduler, spreads })
    };
    kinds.into_iter().filter_map(figure).collect()
}

/// Returns the legend label of the curve of the runs `alike`, which have the same schedule; `all` are the runs of the
/// figure.
fn label(alike: &[&WaitDistributions], all: &[&WaitDistributions], of_scheduler: bool) -> String {
    let mut schedulers: Vec<&str> = Vec::new();
    for run in alike {
        if !schedulers.contains(&run.key.scheduler.as_str()) {
            schedulers.push(&run.key.scheduler);
        }
    }
    let of_these = |run: &&&WaitDistributions| schedulers.contains(&run.key.scheduler.as_str());
    let seeds = all.iter().any(|run| run.key.seed != all[0].key.seed);
    let name = |run: &WaitDistributions| match seeds && alike.len() == 1 {
        true => format!("{}, seed {}", run.key.strategy(), run.key.seed),
        false => run.key.strategy(),
    };
    let mut names: Vec<String> = alike.iter().map(|run| name(run)).collect();
    names.sort();
    names.dedup();
    let strategies = match &names[..] {
        [name] => name.clone(),
        names if alike.len() == all.iter().filter(of_these).count() => {
            format!("all {} strategies (one schedule)", names.len())
        }
        [one, other] => format!("{one}, {other} (one schedule)"),
        [one, two, three] => format!("{one}, {two}, {three} (one schedule)"),
        [name, ..] => format!("{} strategies with the schedule of {name}", names.len()),
        [] => String::new(),
    };
    match of_scheduler {
        true => strategies,
        false => format!("{}: {strategies}", schedulers.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waits(scheduler: &str, allocator: &str, schedule: u64, values: &[f64]) -> WaitDistributions {
        let key = RunKey {
            trace: "t".to_string(),
            topology: "4x4".to_string(),
            scheduler: scheduler.to_string(),
            allocator: allocator.to_string(),
            tie: None,
            policy: "p".to_string(),
            seed: 0,
            copy: 0,
        };
        let spread = || Distribution::of(values.iter().copied());
        WaitDistributions { key, schedule, wait: spread(), slowdown: spread() }
    }

    fn curve(spread: &Distribution) -> SpreadCurve<'_> {
        SpreadCurve { name: "a".to_string(), strategies: vec!["a".to_string()], spread }
    }

    fn names(figure: &WaitFigure<'_>) -> Vec<String> {
        figure.spreads.curves.lines.iter().map(|line| line.name.clone()).collect()
    }

    fn drawn<'a>(runs: &'a [WaitDistributions]) -> Vec<WaitFigure<'a>> {
        super::waits(runs, |key| vec![key.trace.clone(), key.scheduler.clone()], 12)
    }

    #[test]
    fn runs_of_one_schedule_share_a_curve() {
        let runs = [
            waits("fcfs", "a", 1, &[0.0, 400.0]),
            waits("fcfs", "b", 1, &[0.0, 400.0]),
            waits("easy", "a", 2, &[0.0, 90.0]),
            waits("easy", "b", 3, &[0.0, 100.0]),
        ];
        let figures = drawn(&runs);
        let kinds: Vec<(&str, bool)> =
            figures.iter().map(|one| (one.kind, one.of_scheduler)).collect();
        // There is one figure of all schedulers, and one figure of each scheduler.
        let of = |of_scheduler| [("waits", of_scheduler), ("slowdowns", of_scheduler)];
        assert_eq!(kinds, [of(false), of(true), of(true)].concat());
        assert_eq!(
            names(&figures[0]),
            [
                "easy: a (mean 45.00 s)",
                "easy: b (mean 50.00 s)",
                "fcfs: all 2 strategies (one schedule) (mean 200.0 s)"
            ]
        );
        assert_eq!(figures[0].spreads.curves.subtitle, ["t", "2 jobs", "least mean first"]);
        assert!(figures[0].spreads.x.is_log_from_zero() && !figures[0].of_scheduler);
        // Jobs that do not wait are plotted at 0.
        assert_eq!(figures[0].spreads.curves.lines[0].points[1], Point::new(0.0, 50.0));
        // If there is only one scheduler, its name is in the subtitle instead of the legend.
        let figures = drawn(&runs[2..]);
        assert_eq!(names(&figures[1]), ["a (mean 45.00)", "b (mean 50.00)"]);
        assert_eq!(figures[1].spreads.curves.subtitle[..2], ["t", "easy"]);
    }

    #[test]
    fn draws_the_best_of_many_schedules_and_counts_the_others() {
        let run = |i: u64| waits("fcfs", &format!("a{i}"), i, &[0.0, 100.0 + i as f64]);
        let mut runs: Vec<WaitDistributions> = (0..MOST as u64 + 5).map(run).collect();
        runs.push(waits("easy", "a", 99, &[1.0, 5.0]));
        let figures = drawn(&runs);
        let fcfs = figures.iter().find(|one| one.of_scheduler && one.key.scheduler == "fcfs");
        let fcfs = fcfs.expect("a figure");
        assert_eq!(fcfs.spreads.curves.lines.len(), MOST);
        let omitted = "5 more strategies are not shown".to_string();
        assert!(fcfs.of_scheduler && fcfs.spreads.curves.subtitle.contains(&omitted));
    }

    #[test]
    fn counts_strategies_instead_of_curves() {
        // Three strategies with two seeds each give six curves.
        let run = |i: u64, seed: u64| {
            let mut run =
                waits("fcfs", &format!("a{}", i % 3), 10 * i + seed, &[0.0, 9.0 + i as f64]);
            run.key.seed = seed;
            run
        };
        let runs: Vec<WaitDistributions> = (0..3).flat_map(|i| [run(i, 0), run(i, 7)]).collect();
        let of = |most: usize| {
            let figures = super::waits(&runs, |_| Vec::new(), most);
            let curves = figures[0].spreads.curves.clone();
            (curves.lines.len(), curves.subtitle.join("; "))
        };
        assert_eq!(of(3), (6, "2 jobs; least mean first".to_string()));
        assert_eq!(of(2).0, 4);
        assert!(of(2).1.contains("1 more strategy is not shown"), "{}", of(2).1);
        // For an omitted curve, all strategies with its schedule are counted.
        let run = |i: u64| waits("fcfs", &format!("a{i}"), i, &[0.0, 100.0 + i as f64]);
        let mut runs: Vec<WaitDistributions> = (0..MOST as u64).map(run).collect();
        runs.extend((20..25).map(|i| waits("fcfs", &format!("a{i}"), 99, &[0.0, 900.0])));
        let subtitle = drawn(&runs)[0].spreads.curves.subtitle.join("; ");
        assert!(subtitle.contains("5 more strategies are not shown"), "{subtitle}");
        // All strategies are shown, but not under every scheduler.
        let run = |i: u64| waits(&format!("s{i}"), "a", i, &[0.0, 100.0 + i as f64]);
        let runs: Vec<WaitDistributions> = (0..MOST as u64 + 2).map(run).collect();
        let subtitle = drawn(&runs)[0].spreads.curves.subtitle.join("; ");
        assert!(subtitle.contains("2 more curves of these strategies are not shown"), "{subtitle}");
    }

    #[test]
    fn equal_values_are_not_drawn() {
        assert!(drawn(&[waits("fcfs", "a", 1, &[0.0, 0.0])]).is_empty());
        assert!(drawn(&[]).is_empty());
        assert!(spreads(STRETCHES, Vec::new(), vec![curve(&Distribution::of([]))], 12).is_none());
        // A narrow range of values has a linear axis, so points are not shifted.
        let spread = Distribution::of([0.5, 2.0]);
        let Spreads { curves, boxes, x } =
            spreads(SLOWDOWNS, Vec::new(), vec![curve(&spread)], 12).expect("two values");
        assert!(!x.is_log() && curves.lines[0].points[0].x == 0.5);
        let near = |[one, other]: [f64; 2]| (one - other).abs() < 1e-9;
        let BoxPlot { percentiles, mean } = boxes[0];
        let expected = [0.575, 0.875, 1.25, 1.625, 1.925];
        assert!(percentiles.into_iter().zip(expected).all(|(one, other)| near([one, other])));
        assert!(boxes.len() == 1 && near([mean, 1.25]));
    }

    proptest! {
        /// Checks that every point of a curve is within one step of the exact share.
        #[test]
        fn curves_match_counted_shares(values in proptest::collection::vec(0u32..2000, 1..1500)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let line = Distribution::of(values.iter().copied()).line(String::new());
            let share = |most: f64| {
                100.0 * values.iter().filter(|&&value| value <= most).count() as f64 / values.len() as f64
            };
            let last = line.points.last().expect("a point");
            prop_assert!((last.y - 100.0).abs() < 1e-9);
            prop_assert!(line.points.len() <= 2 * STEPS as usize + 4);
            for pair in line.points.windows(2) {
                prop_assert!(pair[0].x <= pair[1].x && pair[0].y <= pair[1].y);
                let upto = share(pair[0].x);
                // The last of several points with the same x has the exact share.
                if pair[0].x < pair[1].x {
                    prop_assert!((pair[0].y - upto).abs() < 1e-9);
                    prop_assert!(pair[1].y - upto < 100.0 / STEPS + 1e-9);
                }
            }
        }
    }
}
