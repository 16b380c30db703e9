use replay_core::table::{Name, name};
use std::collections::BTreeMap;

use super::folder::{Csv, Folder};
use super::html::rounded;
use super::top_strategy::{METHOD, Runs, TopStrategyComparison};
use replay_core::metrics::comparable;
use replay_core::number::{counted, grouped};
use replay_experiment::compare::JobRow;
use replay_experiment::stream::Metric;

/// Rule by which the strategies of a table are ranked. Strategies are in ascending order of a column.
struct Rule {
    kinds: &'static [&'static str],
    table: &'static str,
    /// Columns of the setting; rows with equal values in these columns are compared.
    group: &'static [Name],
    metric: Name,
    /// Column and name of the metric that orders strategies with equal values.
    then: Option<(Name, &'static str)>,
    /// Columns of the interval of the metric, if the table has these columns.
    interval: Interval,
    /// Whether differences are tested with the table of jobs.
    by_jobs: bool,
    /// Statement about the top strategy.
    statement: &'static str,
    /// Name and unit of the metric.
    metric_name: (&'static str, &'static str),
}

/// The columns of the interval of a metric.
enum Interval {
    None,
    /// Column of half the width of the interval.
    Half(Name),
    /// Columns of the lower and the upper end of the interval.
    Ends([Name; 2]),
}

const RULES: [Rule; 3] = [
    Rule {
        kinds: &["run", "sweep"],
        table: "runs",
        group: &[name::trace, name::topology, name::scheduler, name::policy],
        metric: name::mean_pairwise_l1,
        then: None,
        interval: Interval::None,
        by_jobs: true,
        statement: "jobs are closest together under",
        metric_name: ("mean pairwise L1", "hops"),
    },
    Rule {
        kinds: &["contend"],
        table: "contend",
        group: &[name::trace, name::topology, name::scheduler, name::policy, name::pattern],
        metric: name::median_stretch,
        then: Some((name::trimmed_mean_stretch, "trimmed mean")),
        interval: Interval::Ends([name::median_stretch_low, name::median_stretch_high]),
        by_jobs: false,
        statement: "messages slow jobs least under",
        metric_name: ("median stretch", ""),
    },
    Rule {
        kinds: &["stream"],
        table: "stream",
        group: &[
            name::topology,
            name::sides,
            name::service,
            name::pattern,
            name::flits,
            name::arrivals,
            name::scheduler,
        ],
        metric: name::turnaround_time,
        then: None,
        interval: Interval::Half(Metric::Turnaround.caption().half_width),
        by_jobs: false,
        statement: "turnaround is shortest under",
        metric_name: ("mean turnaround", ""),
    },
];

/// Maximum number of settings that are described by a sentence.
const MOST: usize = 6;

/// Summarizes a directory in sentences: one for each trace, machine and scheduler, or one for each search.
pub fn sentences(folder: &Folder) -> Vec<String> {
    if folder.kind == "search" {
        return folder.table("search").map(searched).unwrap_or_default();
    }
    let Some((rule, groups)) = settings(folder) else { return Vec::new() };
    let more = groups.len().saturating_sub(MOST);
    let comparison = |place: usize| folder.comparisons.get(place).and_then(Option::as_ref);
    let shown = groups.iter().enumerate().skip(more);
    let mut sentences: Vec<String> =
        shown.filter_map(|(place, group)| group.sentence(rule, comparison(place))).collect();
    if more > 0 {
        sentences.insert(
            0,
            format!("Only the last {MOST} of {} settings; the table contains all.", more + MOST),
        );
    }
    if folder.comparisons.iter().any(Option::is_some) {
        sentences.push(METHOD.to_string());
    }
    sentences
}

/// Returns the ranking rule of a directory and its settings with ranked strategies.
fn settings(folder: &Folder) -> Option<(&'static Rule, Vec<Group>)> {
    let rule = RULES.iter().find(|rule| rule.kinds.contains(&folder.kind.as_str()))?;
    let csv = folder.table(rule.table)?;
    let over = |metric: Name| {
        folder.table("shaken").map(|csv| over_copies(csv, metric)).unwrap_or_default()
    };
    let then = rule.then.map(|(metric, _)| over(metric)).unwrap_or_default();
    Some((rule, groups(csv, rule, &over(rule.metric), &then)))
}

/// Compares the jobs of the top strategy with the jobs of the other strategies, for each setting that has a sentence
/// and no interval over perturbed copies. `jobs` returns the jobs of a run.
///
/// # Errors
/// Errors of `jobs`.
pub fn compare_top_strategies<E>(
    folder: &Folder,
    mut jobs: impl FnMut(i64) -> Result<Vec<JobRow>, E>,
) -> Result<Vec<Option<TopStrategyComparison>>, E> {
    let Some((rule, groups)) = settings(folder) else { return Ok(Vec::new()) };
    let skipped = groups.len().saturating_sub(MOST);
    let of = |(place, group): (usize, &Group)| {
        let is_compared = rule.by_jobs && place >= skipped && group.copies.is_none();
        let runs: Vec<Runs> = group.ranked.iter().map(|one| one.runs.clone()).collect();
        if is_compared { TopStrategyComparison::of(&runs, &mut jobs) } else { Ok(None) }
    };
    groups.iter().enumerate().map(of).collect()
}

/// For each run number, the mean over perturbed copies, half the width of its interval, and the number of copies.
type OverCopies = BTreeMap<String, (f64, f64, String)>;

fn over_copies(csv: &Csv, metric: Name) -> OverCopies {
    let place = |name: Name| csv.column(name);
    let (Some(run), Some(name), Some(mean), Some(half), Some(copies)) = (
        place(name::run),
        place(name::metric),
        place(name::mean),
        place(name::half_width),
        place(name::copies),
    ) else {
        return OverCopies::new();
    };
    let rows = csv.rows.iter().filter(|row| metric == row[name]);
    let value = |row: &Vec<String>| {
        let numbers = (row[mean].parse().ok()?, row[half].parse().ok()?);
        Some((row[run].clone(), (numbers.0, numbers.1, row[copies].clone())))
    };
    rows.filter_map(value).collect()
}

/// A strategy of a setting.
struct Ranked {
    runs: Runs,
    value: f64,
    /// Value that orders strategies with equal `value`; 0 if the rule has no second metric.
    then: f64,
    /// Interval of the value, if known.
    interval: Option<[f64; 2]>,
}

/// The strategies of a setting.
struct Group {
    setting: Vec<String>,
    copies: Option<String>,
    ranked: Vec<Ranked>,
    /// Strategies that are not ranked because they fold jobs and other strategies of the setting do not fold jobs.
    /// Folding shortens distances under any strategy.
    folding: Vec<String>,
}

fn groups(csv: &Csv, rule: &Rule, shaken: &OverCopies, shaken_then: &OverCopies) -> Vec<Group> {
    let Some(metric) = csv.column(rule.metric) else { return Vec::new() };
    let columns: Vec<usize> = rule.group.iter().filter_map(|&name| csv.column(name)).collect();
    let of = |row: &[String], name: Name| csv.column(name).map_or("", |at| &row[at]).to_string();
    let number = |row: &[String], name: Name| of(row, name).parse::<f64>().ok();
    let interval = |row: &[String], value: f64| match rule.interval {
        Interval::None => None,
        Interval::Half(name) => number(row, name).map(|half| [value - half, value + half]),
        Interval::Ends([low, high]) => {
            number(row, low).zip(number(row, high)).map(<[f64; 2]>::from)
        }
    };
    // Values of a strategy: the runs, the two ranking values for each seed, and the interval.
    type StrategyValues = (Runs, Vec<[f64; 2]>, Option<[f64; 2]>);
    let mut groups: Vec<(Vec<String>, Option<String>, Vec<StrategyValues>)> = Vec::new();
    for row in csv.rows.iter().filter(|row| ["", "0"].contains(&of(row, name::copy).as_str())) {
        let setting: Vec<String> = columns.iter().map(|&at| row[at].clone()).collect();
        let name = match of(row, name::tie).as_str() {
            "" => of(row, name::allocator),
            tie => format!("{} ({tie})", of(row, name::allocator)),
        };
        let over = shaken.get(&of(row, name::run));
        let value = over.map(|over| over.0).or_else(|| row[metric].parse().ok());
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let interval = match over {
            Some(&(mean, half, _)) => Some([mean - half, mean + half]),
            None => interval(row, value),
        };
        let then = rule.then.and_then(|(name, _)| {
            shaken_then.get(&of(row, name::run)).map(|over| over.0).or_else(|| number(row, name))
        });
        let copies = over.map(|over| over.2.clone());
        let at = groups.iter().position(|(of, ..)| *of == setting).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push((setting, copies, Vec::new()));
        }
        let strategies = &mut groups[at].2;
        let place = strategies.iter().position(|(runs, ..)| runs.name == name);
        let place = place.unwrap_or_else(|| {
            let runs = Runs { name, ..Runs::default() };
            strategies.push((runs, Vec::new(), interval));
            strategies.len() - 1
        });
        let (runs, values, interval) = &mut strategies[place];
        if !values.is_empty() {
            // An interval of a single seed does not apply to several seeds.
            *interval = None;
        }
        values.push([value, then.unwrap_or(0.0)]);
        runs.folds |= comparable::folds(of(row, comparable::FOLDED).parse().ok());
        runs.times.push([name::mean_wait, name::mean_turnaround].map(|name| of(row, name)));
        runs.runs.extend(of(row, name::run).parse().ok().map(|run| (of(row, name::seed), run)));
    }
    let ranked = |(setting, copies, strategies): (_, _, Vec<StrategyValues>)| {
        let mut ranked: Vec<Ranked> = strategies
            .into_iter()
            .map(|(runs, values, interval)| {
                let mean = |of: usize| {
                    values.iter().map(|value| value[of]).sum::<f64>() / values.len() as f64
                };
                Ranked { runs, value: mean(0), then: mean(1), interval }
            })
            .collect();
        ranked.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.then.total_cmp(&b.then)));
        let by_distance = comparable::is_distance(&rule.metric);
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
    fn sentence(&self, rule: &Rule, jobs: Option<&TopStrategyComparison>) -> Option<String> {
        let setting: Vec<&str> =
            self.setting.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let setting = setting.join(", ");
        let folding = self.not_ranked();
        let [first, second, ..] = &self.ranked[..] else {
            return (!folding.is_empty()).then(|| format!("{setting}:{folding}"));
        };
        let (metric, unit) = rule.metric_name;
        let over = self.copies.as_ref();
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
        if let Some(comparison) = jobs {
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
            (Some([_, high]), Some([low, _])) if high >= low => {
                "; their 95 % intervals overlap, so the difference may be due to chance".to_string()
            }
            (Some(_), Some(_)) => "; their 95 % intervals do not overlap".to_string(),
            _ if rule.by_jobs => {
                "; no interval, because the directory has no jobs.parquet (--shake N also gives one)".to_string()
            }
            _ => "; a single run without an interval (--shake N gives one)".to_string(),
        };
        let over = over.map_or(String::new(), |n| format!(" (means over {n} perturbed copies)"));
        Some(format!("{begin}{less}{significance}{over}.{folding}"))
    }

    /// Returns a sentence about the strategies that are not ranked, with the reason.
    fn not_ranked(&self) -> String {
        match &self.folding[..] {
            [] => String::new(),
            names => format!(" Not ranked: {}, under which {}.", names.join(", "), comparable::WHY),
        }
    }
}

/// Returns a sentence about the best vector of each search in a table.
pub fn searched(csv: &Csv) -> Vec<String> {
    let at = |name: Name| csv.column(name);
    let (Some(on), Some(rank), Some(tie), Some(gain)) =
        (at(name::searched), at(name::rank), at(name::tie), at(name::improvement_percent))
    else {
        return Vec::new();
    };
    let number = |text: &str| text.parse::<f64>().map_or(text.to_string(), rounded);
    let best = csv.rows.iter().filter(|row| row[rank] == "1");
    let sentence = |best: &Vec<String>| {
        let ranked = |row: &&Vec<String>| row[on] == best[on] && !row[rank].is_empty();
        let known = |name: Name| {
            at(name).map(|column| best[column].as_str()).filter(|text| !text.is_empty())
        };
        let judged = match known(name::test_improvement_percent) {
            None => "evaluated on the jobs of the search".to_string(),
            Some(test) => format!("{} % on held-out jobs", number(test)),
        };
        let verdicts = at(name::told_from_best)
            .filter(|&verdict| csv.rows.iter().filter(ranked).any(|row| !row[verdict].is_empty()));
        let copies = match verdicts {
            None => "; no interval (--shake N gives one)".to_string(),
            Some(verdict) => {
                let alike =
                    csv.rows.iter().filter(ranked).filter(|row| row[verdict] == "no").count();
                format!(
                    "; other vectors without a significant difference over perturbed copies: {}",
                    grouped(alike as u64)
                )
            }
        };
        format!(
            "{}: of {} in the table ({}) comes first, {} % better than without a vector; {judged}{copies}.",
            best[on],
            counted(csv.rows.iter().filter(ranked).count() as u64, "vector"),
            best[tie],
            number(&best[gain]),
        )
    };
    best.map(sentence).collect()
}

/// Returns a sentence with the number of checks by verdict.
pub fn published(csv: &Csv) -> String {
    let Some(verdict) = csv.column(name::verdict) else { return String::new() };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in &csv.rows {
        // The text after the colon is the reason.
        let word = row[verdict].split(':').next().unwrap_or_default();
        match counts.iter_mut().find(|(one, _)| *one == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let parts: Vec<String> =
        counts.iter().map(|(word, count)| format!("{} {word}", grouped(*count as u64))).collect();
    format!("Of {} published numbers: {}.", grouped(csv.rows.len() as u64), parts.join(", "))
}
