use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::folder::VERDICT;
use super::html::rounded;
use super::top_strategy::{METHOD, Runs, TopStrategyComparison};
use replay_engine::metrics::{PairwiseMetrics, ScheduleMetrics, comparable};
use replay_engine::number::{counted, grouped};
use replay_engine::table::{Name, Table};
use replay_experiment::contention::{Contention, ContentionRun};
use replay_experiment::search::SearchRow;
use replay_experiment::shaken::{ShakenRow, Significance, Verdict, difference_text};
use replay_experiment::stream::{Metric, Point, StreamRow};
use replay_experiment::{RunKey, RunResult};
use replay_results::read::ReadError;
use replay_results::{ResultTable, Row};

/// Rule by which the strategies of a table are ranked. Strategies are ranked in ascending order of the column `metric`.
struct Rule {
    table: &'static str,
    /// Columns of the setting; rows with equal values in these columns are compared with each other.
    group: &'static [Name],
    metric: Name,
    /// Column and name of the second metric, which orders strategies with equal values of the first metric.
    then: Option<(Name, &'static str)>,
    /// Columns that contain the interval of the metric, if the table has these columns.
    interval: Interval,
    /// Whether differences are tested with the table of jobs.
    by_jobs: bool,
    /// Statement about the top strategy.
    statement: &'static str,
    /// Name and unit of the metric.
    metric_name: (&'static str, &'static str),
}

/// The columns that contain the interval of a metric.
enum Interval {
    None,
    /// Column that contains half the width of the interval.
    Half(Name),
    /// Columns that contain the lower and the upper end of the interval.
    Ends([Name; 2]),
}

const RULES: [Rule; 3] = [
    Rule {
        table: RunResult::NAME,
        group: &[RunKey::TRACE, RunKey::TOPOLOGY, RunKey::SCHEDULER, RunKey::POLICY],
        metric: PairwiseMetrics::mean_pairwise_l1,
        then: None,
        interval: Interval::None,
        by_jobs: true,
        statement: "jobs are closest together under",
        metric_name: ("mean pairwise L1", "hops"),
    },
    Rule {
        table: ContentionRun::NAME,
        group: &[
            RunKey::TRACE,
            RunKey::TOPOLOGY,
            RunKey::SCHEDULER,
            RunKey::POLICY,
            Point::PATTERN,
        ],
        metric: Contention::median_stretch,
        then: Some((Contention::trimmed_mean_stretch, "trimmed mean")),
        interval: Interval::Ends([Contention::median_stretch_low, Contention::median_stretch_high]),
        by_jobs: false,
        statement: "messages slow down jobs least under",
        metric_name: ("median stretch", ""),
    },
    Rule {
        table: StreamRow::NAME,
        group: &[
            RunKey::TOPOLOGY,
            Point::SIDES,
            Point::SERVICE,
            Point::PATTERN,
            Point::FLITS,
            Point::ARRIVALS,
            RunKey::SCHEDULER,
        ],
        metric: Name::new("turnaround_time"),
        then: None,
        interval: Interval::Half(Metric::Turnaround.caption().half_width),
        by_jobs: false,
        statement: "turnaround is shortest under",
        metric_name: ("mean turnaround", ""),
    },
];

/// Maximum number of settings that are described by a sentence.
const MOST: usize = 6;

/// Comparisons of the strategies of each setting by the table of jobs.
#[derive(Clone, Copy, Debug)]
pub enum JobComparisons<'a> {
    /// There is no table of jobs.
    NoTable,
    /// There is a table of jobs, but [`compare_top_strategies`] has not compared its jobs.
    NotComputed,
    /// The result of [`compare_top_strategies`].
    Computed(&'a [Option<TopStrategyComparison>]),
}

impl<'a> JobComparisons<'a> {
    /// Returns the comparison of the setting with this index, if there is one.
    fn of(self, place: usize) -> Option<&'a TopStrategyComparison> {
        match self {
            Self::Computed(comparisons) => comparisons.get(place)?.as_ref(),
            _ => None,
        }
    }

    /// Explains why a setting has no interval of jobs, as the end of a sentence.
    fn why_none(self) -> &'static str {
        match self {
            Self::NoTable => {
                "; no interval, because the directory has no jobs.parquet (--shake N also gives one)"
            }
            Self::NotComputed => "; replay report computes an interval from jobs.parquet",
            Self::Computed(_) => {
                "; no interval, because jobs.parquet has no jobs that both strategies have for the same seed"
            }
        }
    }
}

/// Summarizes the tables of a command in sentences: one for each trace, machine and scheduler, or one for each search.
pub fn sentences(tables: &[ResultTable], comparisons: JobComparisons<'_>) -> Vec<String> {
    if let Some(search) = table(tables, SearchRow::NAME) {
        return searched(search);
    }
    let Some((rule, groups)) = settings(tables) else { return Vec::new() };
    let more = groups.len().saturating_sub(MOST);
    let shown = groups.iter().enumerate().skip(more);
    let mut sentences: Vec<String> =
        shown.filter_map(|(place, group)| group.sentence(rule, comparisons, place)).collect();
    if more > 0 {
        sentences.insert(
            0,
            format!("Only the last {MOST} of {} settings; the table contains all.", more + MOST),
        );
    }
    if (0..groups.len()).any(|place| comparisons.of(place).is_some()) {
        sentences.push(METHOD.to_string());
    }
    sentences
}

/// Returns whether [`sentences`] reads a column of a table of runs.
pub fn is_ranking(column: &str) -> bool {
    let times = [ScheduleMetrics::mean_wait, ScheduleMetrics::mean_turnaround];
    let names = RunKey::NAMES.into_iter().chain(times).chain([RunResult::RUN, comparable::FOLDED]);
    names.chain([RULES[0].metric]).any(|name| name.text() == column)
}

/// Returns a table by name.
fn table<'a>(tables: &'a [ResultTable], name: &str) -> Option<&'a ResultTable> {
    tables.iter().find(|table| table.name == name)
}

/// Returns the ranking rule of the tables of a command and the settings with ranked strategies.
fn settings(tables: &[ResultTable]) -> Option<(&'static Rule, Vec<Group>)> {
    let (rule, rows) =
        RULES.iter().find_map(|rule| table(tables, rule.table).map(|rows| (rule, rows)))?;
    let over = |metric: Name| {
        table(tables, ShakenRow::NAME).map(|rows| over_copies(rows, metric)).unwrap_or_default()
    };
    let then = rule.then.map(|(metric, _)| over(metric)).unwrap_or_default();
    Some((rule, groups(rows, rule, &over(rule.metric), &then)))
}

/// Compares the jobs of the top strategy with the jobs of the other strategies. The comparison is made for each setting
/// that is described by a sentence and has no interval over perturbed copies. `jobs` returns the jobs of a run.
///
/// # Errors
/// Returns the errors of `jobs`.
pub fn compare_top_strategies(
    tables: &[ResultTable],
    mut jobs: impl FnMut(i64) -> Result<DataFrame, ReadError>,
) -> Result<Vec<Option<TopStrategyComparison>>, ReadError> {
    let Some((rule, groups)) = settings(tables) else { return Ok(Vec::new()) };
    let skipped = groups.len().saturating_sub(MOST);
    let of = |(place, group): (usize, &Group)| {
        let is_compared = rule.by_jobs && place >= skipped && group.copies.is_none();
        let runs: Vec<Runs> = group.ranked.iter().map(|one| one.runs.clone()).collect();
        if is_compared { TopStrategyComparison::of(&runs, &mut jobs) } else { Ok(None) }
    };
    groups.iter().enumerate().map(of).collect()
}

/// For each run number, the metric over perturbed copies.
type OverCopies = BTreeMap<i64, OverCopy>;

/// A metric of a run over perturbed copies.
#[derive(Clone, Copy)]
struct OverCopy {
    mean: f64,
    /// Half the width of the interval of the mean.
    half_width: f64,
    copies: i64,
    /// Difference from the reference run on the same copies; `None` for a reference run.
    difference: Option<CopyDifference>,
}

/// A paired difference of two runs over perturbed copies.
#[derive(Clone, Copy)]
struct CopyDifference {
    /// Number of the run whose values are subtracted.
    reference: i64,
    /// The mean difference and half the width of its interval.
    mean: [f64; 2],
    significance: Significance,
}

impl CopyDifference {
    /// Formats the difference with its verdict.
    fn text(&self, unit: &str) -> String {
        match difference_text(self.mean, self.significance, rounded) {
            None => "the same on every copy".to_string(),
            Some(difference) => {
                let verdict = match self.significance.verdict(self.mean[0]) {
                    Verdict::NotSignificant => "not significant",
                    verdict => verdict.word(),
                };
                format!("{difference}{unit} ({verdict})")
            }
        }
    }
}

fn over_copies(rows: &ResultTable, metric: Name) -> OverCopies {
    let difference = |row: Row<'_>| {
        let mean =
            [row.number(ShakenRow::PAIRED_DIFFERENCE)?, row.number(ShakenRow::PAIRED_HALF_WIDTH)?];
        let significance = Significance::of_word(&row.text(ShakenRow::DISTINCT)?)?;
        Some(CopyDifference {
            reference: row.integer(ShakenRow::COMPARED_WITH)?,
            mean,
            significance,
        })
    };
    let value = |row: Row<'_>| {
        let of_copies = OverCopy {
            mean: row.number(ShakenRow::MEAN)?,
            half_width: row.number(ShakenRow::HALF_WIDTH)?,
            copies: row.integer(ShakenRow::COPIES)?,
            difference: difference(row),
        };
        Some((row.integer(RunResult::RUN)?, of_copies))
    };
    let of_metric = |row: &Row<'_>| row.text(ShakenRow::METRIC).as_deref() == Some(metric.text());
    rows.rows().filter(of_metric).filter_map(value).collect()
}

/// A strategy of a setting.
struct Ranked {
    runs: Runs,
    value: f64,
    /// Value that orders strategies with equal `value`; 0 if the rule has no second metric.
    then: f64,
    /// Interval of the value, if known.
    interval: Option<[f64; 2]>,
    /// Difference from a reference run over perturbed copies, for a strategy with one run.
    difference: Option<CopyDifference>,
}

impl Ranked {
    /// Returns the number of the run of a strategy with one run.
    fn run(&self) -> Option<i64> {
        match self.runs.runs[..] {
            [(_, run)] => Some(run),
            _ => None,
        }
    }
}

/// The strategies of a setting.
struct Group {
    setting: Vec<String>,
    copies: Option<i64>,
    ranked: Vec<Ranked>,
    /// Strategies that are not ranked, because these strategies fold jobs and the other strategies of the setting do
    /// not fold jobs. Folding shortens distances under any strategy.
    folding: Vec<String>,
}

fn groups(
    rows: &ResultTable,
    rule: &Rule,
    shaken: &OverCopies,
    shaken_then: &OverCopies,
) -> Vec<Group> {
    let interval = |row: Row<'_>, value: f64| match rule.interval {
        Interval::None => None,
        Interval::Half(name) => row.number(name).map(|half| [value - half, value + half]),
        Interval::Ends([low, high]) => row.number(low).zip(row.number(high)).map(<[f64; 2]>::from),
    };
    // Values of a strategy: the runs, the two ranking values for each seed, the interval, and the paired difference.
    type StrategyValues = (Runs, Vec<[f64; 2]>, Option<[f64; 2]>, Option<CopyDifference>);
    let mut groups: Vec<(Vec<String>, Option<i64>, Vec<StrategyValues>)> = Vec::new();
    for row in rows.rows().filter(|row| row.integer(RunKey::COPY).unwrap_or(0) == 0) {
        let setting: Vec<String> =
            rule.group.iter().map(|&name| row.value(name).to_string()).collect();
        let allocator = row.text(RunKey::ALLOCATOR).unwrap_or_default();
        let name = match row.text(RunKey::TIE) {
            None => allocator.to_string(),
            Some(tie) => format!("{allocator} ({tie})"),
        };
        let run = row.integer(RunResult::RUN);
        let over = run.and_then(|run| shaken.get(&run));
        let value = over.map(|over| over.mean).or_else(|| row.number(rule.metric));
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let interval = match over {
            Some(over) => Some([over.mean - over.half_width, over.mean + over.half_width]),
            None => interval(row, value),
        };
        let then = rule.then.and_then(|(name, _)| {
            let over = run.and_then(|run| shaken_then.get(&run));
            over.map(|over| over.mean).or_else(|| row.number(name))
        });
        let copies = over.map(|over| over.copies);
        let at = groups.iter().position(|(of, ..)| *of == setting).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push((setting, copies, Vec::new()));
        }
        let strategies = &mut groups[at].2;
        let place = strategies.iter().position(|(runs, ..)| runs.name == name);
        let place = place.unwrap_or_else(|| {
            let runs = Runs { name, ..Runs::default() };
            let difference = over.and_then(|over| over.difference);
            strategies.push((runs, Vec::new(), interval, difference));
            strategies.len() - 1
        });
        let (runs, values, interval, difference) = &mut strategies[place];
        if !values.is_empty() {
            // Both belong to a single seed and do not apply to the mean over several seeds.
            (*interval, *difference) = (None, None);
        }
        values.push([value, then.unwrap_or(0.0)]);
        runs.folds |= comparable::folds(row.number(comparable::FOLDED));
        runs.times.push(
            [ScheduleMetrics::mean_wait, ScheduleMetrics::mean_turnaround]
                .map(|name| row.number(name)),
        );
        runs.runs.extend(run.map(|run| (row.value(RunKey::SEED).to_string(), run)));
    }
    let ranked = |(setting, copies, strategies): (_, _, Vec<StrategyValues>)| {
        let mut ranked: Vec<Ranked> = strategies
            .into_iter()
            .map(|(runs, values, interval, difference)| {
                let mean = |of: usize| {
                    values.iter().map(|value| value[of]).sum::<f64>() / values.len() as f64
                };
                Ranked { runs, value: mean(0), then: mean(1), interval, difference }
            })
            .collect();
        ranked.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.then.total_cmp(&b.then)));
        let by_distance = comparable::is_distance(rule.metric);
        let folds: Vec<bool> = ranked.iter().map(|one| by_distance && one.runs.folds).collect();
        let mut comparable = comparable::ranked(&folds).into_iter();
        let apart = ranked.extract_if(.., |_| comparable.next() == Some(false));
        let folding = apart.map(|one| one.runs.name).collect();
        Group { setting, copies, ranked, folding }
    };
    groups.into_iter().map(ranked).collect()
}

impl Group {
    /// Returns a sentence about the top strategy, its lead, and whether the lead is significant; `None` for a single
    /// strategy.
    fn sentence(&self, rule: &Rule, jobs: JobComparisons<'_>, place: usize) -> Option<String> {
        let setting: Vec<&str> =
            self.setting.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let setting = setting.join(", ");
        let folding = self.not_ranked();
        let [first, second, ..] = &self.ranked[..] else {
            return (!folding.is_empty()).then(|| format!("{setting}:{folding}"));
        };
        let (metric, unit) = rule.metric_name;
        let over = self.copies;
        let number = |one: &Ranked| {
            let interval = one.interval.map_or(String::new(), |[low, high]| match rule.interval {
                Interval::Ends(_) if over.is_none() => {
                    format!(" (95 %: {} to {})", rounded(low), rounded(high))
                }
                _ => format!(" ± {}", rounded((high - low) / 2.0)),
            });
            format!("{}{interval}", rounded(one.value))
        };
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let begin = format!(
            "{}: {} {}: {metric} {}{unit}",
            setting,
            rule.statement,
            first.runs.name,
            number(first)
        );
        if let Some(comparison) = jobs.of(place) {
            return Some(format!("{begin}{}. {}{folding}", comparison.lead(), comparison.times()));
        }
        let than = |first: f64, second: &Ranked, other: f64| {
            let less = rounded(100.0 * (1.0 - first / other));
            format!("{less} % less than under {}", second.runs.name)
        };
        let less = match second.value {
            of if of == first.value => {
                let then = rule.then.filter(|_| first.then < second.then);
                let then = then.map_or(String::new(), |(_, metric_name)| {
                    let (own, other) = (rounded(first.then), rounded(second.then));
                    let than = than(first.then, second, second.then);
                    format!("; {metric_name} {own}, {than} ({other})")
                });
                format!(", as much as under {} ({}){then}", second.runs.name, number(second))
            }
            0.0 => format!(" ({})", number(second)),
            of => format!(", {} ({})", than(first.value, second, of), number(second)),
        };
        let significance = match (first.interval, second.interval) {
            _ if first.value == second.value => String::new(),
            (Some(_), Some(_)) if over.is_some() => self.paired(first, second, &unit),
            (Some(_), Some(_)) => {
                let hint = match rule.interval {
                    Interval::Ends(_) => " (--shake N gives one)",
                    _ => "",
                };
                format!("; not tested, because there is no paired difference{hint}")
            }
            _ if rule.by_jobs => jobs.why_none().to_string(),
            _ => "; a single run without an interval (--shake N gives one)".to_string(),
        };
        let over = over.map_or(String::new(), |n| format!(" (means over {n} perturbed copies)"));
        Some(format!("{begin}{less}{significance}{over}.{folding}"))
    }

    /// Returns the part of a sentence about the paired difference of the top strategy from the second strategy. Paired
    /// differences are known only from the reference of the runs. If the reference is a third strategy, the part has the
    /// differences of both strategies from the reference.
    fn paired(&self, first: &Ranked, second: &Ranked, unit: &str) -> String {
        let from = |one: &Ranked, other: &Ranked| {
            one.difference.filter(|difference| other.run() == Some(difference.reference))
        };
        let turned = |difference: CopyDifference| {
            let [mean, half_width] = difference.mean;
            CopyDifference { mean: [0.0 - mean, half_width], ..difference }
        };
        if let Some(difference) = from(first, second).or_else(|| from(second, first).map(turned)) {
            return format!("; paired difference {}", difference.text(unit));
        }
        let reference = first.difference.zip(second.difference);
        let reference = reference.filter(|(one, other)| one.reference == other.reference);
        let Some((one, other)) = reference else {
            return "; not tested, because there is no paired difference".to_string();
        };
        let of = |ranked: &&Ranked| ranked.run() == Some(one.reference);
        let name = self.ranked.iter().find(of).map(|ranked| ranked.runs.name.clone());
        format!(
            "; paired differences from {}: {} under {}, {} under {}",
            name.unwrap_or_else(|| format!("run {}", one.reference)),
            one.text(unit),
            first.runs.name,
            other.text(unit),
            second.runs.name
        )
    }

    /// Returns a sentence about the strategies that are not ranked, with the reason.
    fn not_ranked(&self) -> String {
        match &self.folding[..] {
            [] => String::new(),
            names => format!(" Not ranked: {}, under which {}.", names.join(", "), comparable::WHY),
        }
    }
}

/// Returns a sentence about the best vector of each search in a table of searches.
pub fn searched(rows: &ResultTable) -> Vec<String> {
    let percent = |row: Row<'_>, name| row.number(name).map(rounded);
    let sentence = |best: Row<'_>| {
        let on = best.text(SearchRow::SEARCHED).unwrap_or_default();
        let of_search = |row: &Row<'_>| row.text(SearchRow::SEARCHED).as_ref() == Some(&on);
        let ranked =
            rows.rows().filter(of_search).filter(|row| row.integer(SearchRow::RANK).is_some());
        let judged = match percent(best, SearchRow::TEST_IMPROVEMENT_PERCENT) {
            None => "evaluated on the jobs of the search".to_string(),
            Some(test) => format!("{test} % on held-out jobs"),
        };
        let distinct =
            |row: Row<'_>| Significance::of_word(&row.text(SearchRow::DISTINCT_FROM_BEST)?);
        let verdicts: Vec<Significance> = ranked.clone().filter_map(distinct).collect();
        let copies = match &verdicts[..] {
            [] => "; no interval (--shake N gives one)".to_string(),
            verdicts => {
                let alike = verdicts.iter().filter(|&&verdict| verdict == Significance::No).count();
                format!(
                    "; number of other vectors that do not differ significantly over perturbed copies: {}",
                    grouped(alike as u64)
                )
            }
        };
        format!(
            "{on}: of {} in the table, ({}) ranks first, {} % better than without a vector; {judged}{copies}.",
            counted(ranked.count() as u64, "vector"),
            best.value(RunKey::TIE),
            percent(best, SearchRow::IMPROVEMENT_PERCENT).unwrap_or_default(),
        )
    };
    rows.rows().filter(|row| row.integer(SearchRow::RANK) == Some(1)).map(sentence).collect()
}

/// Returns a sentence with the number of checks by verdict.
pub fn published(checks: &ResultTable) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in checks.rows() {
        // The text after the colon is the reason.
        let verdict = row.text(VERDICT).unwrap_or_default();
        let word = verdict.split(':').next().unwrap_or_default().to_string();
        match counts.iter_mut().find(|(one, _)| *one == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts: Vec<String> =
        counts.iter().map(|(word, count)| format!("{} {word}", grouped(*count as u64))).collect();
    format!("Of {} published numbers: {}.", grouped(checks.rows().len() as u64), parts.join(", "))
}
