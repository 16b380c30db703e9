//! Johnson, Bunde, Leung: "A Tie-Breaking Strategy for Processor Allocation in Meshes".
//!
//! # Tolerances
//!
//! The paper names the versions of its logs. On exactly the same version of a log, means must agree within 0.001 (hops,
//! or percentage points of an improvement), and tie counts must agree within 1. Numbers that are printed with one
//! decimal must be equal after rounding.
//!
//! After the paper was published, the archive converted some logs again. In the new versions, the same jobs have
//! slightly different times. On converted logs, means, ties and improvements must agree within the range that contains
//! 95 % of perturbed copies. For each log and scheduler, this range is taken from `johnson/spread.csv`. A result for a
//! single job size depends on few jobs. If one of these jobs is moved by one second, the result can change by many
//! percent. On a converted log, results for single job sizes are shown but not judged. With perturbed copies
//! ([`Selection::shake`]), results for single job sizes are judged: replay's value is the mean of N copies with
//! standard deviation s. The printed number is from a single log. The printed number must be within mean ± t s √(1 +
//! 1/N), where s is the standard deviation over the N copies and t is a quantile of Student's t distribution. This
//! range contains 95 % of single logs.
//!
//! A log is not compared if its number of jobs differs from the number in the paper.

mod claims;
mod spread;

use crate::defect;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Check, Measured, NotRun, Sample, Selection, StrategySwap, Suite, Tolerance, VerifyError,
};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::metrics::by_size::improvement;
use replay_engine::metrics::estimate::{Accumulator, student_t};
use replay_engine::metrics::{SizeChange, SizeRow};
use replay_engine::number::fixed;
use replay_engine::workload::{Manifest, Policy, Shake, Window, Workload};
use replay_experiment::pool::Turn;
use replay_experiment::shaken::CONFIDENCE;
use replay_experiment::{Cell, Cells, Measure, RunContext, RunResult, Trace, run_experiment};
use spread::Spread;

/// Suite `johnson`.
pub const SUITE: Suite = Suite {
    name: "johnson",
    about: "Johnson, Bunde, Leung: tie-breaking for MC1x1 on real traces (Figs. 3, 4, 8, 10, 12, 14, 15, 16, 18, claims of the text)",
    full: None,
    verify,
};

/// The printed numbers, as CSV.
const TABLE: &str = include_str!("johnson.csv");

/// Quantity that the paper prints.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "snake_case")]
enum Metric {
    Jobs,
    MeanPairwiseL1,
    ImprovementPercent,
    TiedDecisions,
    TiedPercent,
    MeanTied,
    JobsOfFixedSize,
    PercentOfFixedSize,
    #[serde(rename = "jobs_of_size_2")]
    JobsOfSize2,
    #[serde(rename = "rank_of_size_2")]
    RankOfSize2,
    TopSizesImproved,
    JobsOfNextSize,
    WorseningOfNextSize,
    WorstSize,
    RankOfWorstSize,
    WorstWorsening,
    #[serde(rename = "sizes_worse_by_15_percent")]
    SizesWorseBy15Percent,
    #[serde(rename = "worsening_of_size_2")]
    WorseningOfSize2,
}

impl Metric {
    /// Returns whether the metric is about single job sizes.
    fn is_by_size(self) -> bool {
        use Metric::*;
        !self.is_of_the_log()
            && !matches!(
                self,
                MeanPairwiseL1 | ImprovementPercent | TiedDecisions | TiedPercent | MeanTied
            )
    }

    /// Returns whether the metric depends only on the jobs of the log, and not on the strategy.
    fn is_of_the_log(self) -> bool {
        use Metric::*;
        matches!(self, Jobs | JobsOfFixedSize | PercentOfFixedSize | JobsOfSize2 | RankOfSize2)
    }

    /// Returns whether the metric is about single job sizes and can be averaged over logs.
    fn is_amount_by_size(self) -> bool {
        use Metric::*;
        matches!(self, TopSizesImproved | WorstWorsening | SizesWorseBy15Percent | WorseningOfSize2)
    }

    fn needs_ties(self) -> bool {
        matches!(self, Metric::TiedDecisions | Metric::TiedPercent | Metric::MeanTied)
    }

    /// Returns the name of the metric in words.
    fn words(self) -> String {
        let name = serde_json::to_value(self).unwrap_or_default();
        name.as_str().unwrap_or_default().replace('_', " ")
    }
}

#[derive(Clone, Debug, serde::Deserialize)]
struct Row {
    figure: String,
    trace: String,
    jobs: usize,
    mesh: String,
    scheduler: String,
    allocator: String,
    tie: String,
    metric: Metric,
    printed: String,
    corrected: String,
    /// Measured value, if it is declared to be beyond the tolerance.
    known: Option<f64>,
    known_why: String,
    note: String,
}

impl Row {
    fn strategy(&self) -> String {
        if self.tie.is_empty() {
            self.allocator.clone()
        } else {
            format!("{}[tie={}]", self.allocator, self.tie)
        }
    }

    fn what(&self) -> String {
        if self.metric.is_of_the_log() {
            return self.metric.words();
        }
        let tie = if self.tie.is_empty() { String::new() } else { format!(" ({})", self.tie) };
        format!("{} {} {}{tie}", self.metric.words(), self.scheduler, self.allocator)
    }

    /// Returns whether a rule was fitted to the printed number. Three rules were each fitted to one printed number: the
    /// order of equally frequent sizes, the processors of the last shell, and the walls of a corner.
    fn sample(&self) -> Sample {
        let is_kth =
            self.trace.starts_with("KTH") && ["", "2,13,20,6"].contains(&self.tie.as_str());
        match self.metric {
            Metric::RankOfWorstSize => Sample::Fitted,
            Metric::MeanPairwiseL1 | Metric::ImprovementPercent
                if is_kth && self.figure == "fig8" =>
            {
                Sample::Fitted
            }
            _ => Sample::Outside,
        }
    }

    fn tolerance(&self, own_log: bool, spreads: &[Spread]) -> Tolerance {
        use Metric::*;
        if let Some(tolerance) = (!own_log).then(|| spread::tolerance(spreads, self)).flatten() {
            return tolerance;
        }
        match self.metric {
            WorseningOfNextSize => Tolerance::Below,
            MeanPairwiseL1 | ImprovementPercent | WorstWorsening | WorseningOfSize2 if own_log => {
                Tolerance::Absolute(0.001)
            }
            TiedDecisions if own_log => Tolerance::Absolute(1.0),
            TiedPercent | MeanTied if own_log => Tolerance::Absolute(0.05),
            PercentOfFixedSize => Tolerance::Absolute(0.05),
            _ => Tolerance::Absolute(0.0),
        }
    }
}

fn rows() -> Result<Vec<Row>, VerifyError> {
    let rows: Result<_, csv::Error> =
        csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize().collect();
    rows.map_err(defect)
}

/// Returns the log for a trace of the paper, or the reason why the log is missing.
fn find(trace: &str, selection: &Selection) -> Result<Result<Arc<Workload>, NotRun>, VerifyError> {
    let manifest = Manifest::embedded().map_err(defect)?;
    // The version that the paper used takes precedence over the current version of the archive.
    let known = manifest.matching(trace).next();
    let alias = known.and_then(|known| known.aliases.first()).map_or(trace, String::as_str);
    let mut paths =
        [trace, alias].into_iter().map(|name| selection.traces.resolve(name, &manifest));
    let Some(path) = paths.find_map(Result::ok) else {
        return Ok(Err(NotRun::Absent(format!("replay fetch {alias}"))));
    };
    let workload = Workload::load(path, &Policy::JOHNSON, &Window::ALL, Default::default())?;
    Ok(Ok(Arc::new(workload)))
}

/// Returns the reason not to compare a log if its number of jobs differs from the number in the paper.
fn other_log(workload: &Workload, jobs: usize) -> Option<NotRun> {
    let (name, found) = (&workload.name, workload.jobs.len());
    let difference = || format!("{name} has {found} jobs, but the paper's log has {jobs}");
    (found != jobs).then(|| NotRun::OtherLog(difference()))
}

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let rows: Vec<Row> = rows()?.into_iter().filter(|row| selection.includes(&row.trace)).collect();
    let mut traces: Vec<&Row> = Vec::new();
    for row in &rows {
        if !traces.iter().any(|seen| seen.trace == row.trace) {
            traces.push(row);
        }
    }
    let spreads_of_logs = spread::spreads()?;
    let (mut checks, mut claimed) = (Vec::new(), Vec::new());
    let mut tied_percents = Vec::new();
    for first in traces {
        let of_trace = rows.iter().enumerate().filter(|(_, row)| row.trace == first.trace);
        let workload = match find(&first.trace, selection)? {
            Ok(workload) => workload,
            Err(why) => {
                progress(&format!("{}: not run: {why}", first.trace));
                for (at, row) in of_trace {
                    checks.push((
                        at,
                        check(row, None, Measured::NotRun(why.clone()), &spreads_of_logs)?,
                    ));
                }
                claimed.extend(claims::not_run(&first.trace, None, &why)?);
                continue;
            }
        };
        if let Some(why) = other_log(&workload, first.jobs) {
            progress(&format!("{}: not run: {why}", first.trace));
            for (at, row) in of_trace {
                // The number of jobs is itself a number of Fig. 3.
                let ours = match row.metric {
                    Metric::Jobs => Measured::Judged(workload.jobs.len() as f64),
                    _ => Measured::NotRun(why.clone()),
                };
                let log = Some((workload.name.as_str(), false));
                checks.push((at, check(row, log, ours, &spreads_of_logs)?));
            }
            claimed.extend(claims::not_run(&first.trace, Some(&workload.name), &why)?);
            continue;
        }
        progress(&format!("{}: running {}", first.trace, workload.name));
        let wanted: Vec<&Row> = of_trace.clone().map(|(_, row)| row).collect();
        let trace = trace_of(&wanted, workload.clone())?;
        let of_claims = claims::strategies(&first.trace);
        let results = run_all(&wanted, &of_claims, &trace, &selection.stop)?;
        claimed.extend(claims::claims(&first.trace, &workload.name, &results, &spreads_of_logs)?);
        tied_percents.extend(claims::tied_percents(&results));
        let own_log = workload.name == first.trace;
        let spreads = match selection.shake {
            Some(shake) if !own_log => {
                let wanted = wanted.iter().copied().filter(|row| row.metric.is_amount_by_size());
                spreads(&wanted.collect::<Vec<_>>(), &trace, &shake, selection, progress)?
            }
            _ => Spreads::new(),
        };
        for (at, row) in of_trace {
            let ours = value(row, &results, &workload);
            let ours = ours.map_or(Measured::NotRun(NotRun::NoValue), Measured::Judged);
            let log = Some((workload.name.as_str(), own_log));
            let mut check = check(row, log, ours, &spreads_of_logs)?;
            check.swaps = swaps(row, &wanted, &results, &workload);
            let elsewhere = row.metric.is_by_size() && !own_log;
            let why = "a verdict needs the paper's own log or perturbed copies (--shake)";
            checks.push(match spreads.get(&at_of(row)) {
                Some(spread) => (at, by_spread(check, spread)),
                None => (at, if elsewhere { check.not_judged(why) } else { check }),
            });
        }
    }
    if selection.only.is_empty() {
        claimed.push(claims::most_are_tied(&tied_percents)?);
    }
    // The rows are in the order of the CSV file, not in the order of the runs.
    checks.sort_by_key(|&(at, _)| at);
    Ok(checks.into_iter().map(|(_, check)| check).chain(claimed).collect())
}

/// Results, indexed by scheduler and strategy.
type Results = BTreeMap<(String, String), RunResult>;

/// Values of the rows, accumulated over all perturbed copies of a log.
type Spreads = BTreeMap<(String, String, Metric), Accumulator>;

/// Returns the key of a row in [`Spreads`]: scheduler, strategy and metric.
fn at_of(row: &Row) -> (String, String, Metric) {
    (row.scheduler.clone(), row.strategy(), row.metric)
}

/// Measures rows on perturbed copies of a trace.
fn spreads(
    rows: &[&Row],
    trace: &Arc<Trace>,
    shake: &Shake,
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Spreads, VerifyError> {
    let mut spreads = Spreads::new();
    if rows.is_empty() {
        return Ok(spreads);
    }
    progress(&format!("{}: running {} perturbed copies", trace.workload.name, shake.copies));
    for copy in 1..=shake.copies {
        let trace = trace.shaken(shake, copy);
        let results = run_all(rows, &[], &trace, &selection.stop)?;
        for row in rows {
            if let Some(value) = value(row, &results, &trace.workload) {
                spreads.entry(at_of(row)).or_default().push(value);
            }
        }
    }
    Ok(spreads)
}

/// Judges a printed number, which is from a single log, by the 95 % range of single perturbed copies.
fn by_spread(check: Check, spread: &Accumulator) -> Check {
    let (copies, mean) = (spread.count(), spread.estimate(CONFIDENCE));
    if copies < 2 {
        return check.not_judged("this number was measured on fewer than two perturbed copies");
    }
    let single = spread.variance() * (1.0 + 1.0 / copies as f64);
    let reach = student_t(CONFIDENCE, copies - 1) * single.sqrt();
    let ours = check
        .value()
        .map_or(String::new(), |ours| format!("{} on the log itself; ", fixed(ours, 3)));
    let note = format!("{ours}mean of {copies} perturbed copies {}", check.note);
    Check {
        ours: Measured::Judged(mean.mean),
        margin: mean.half_width,
        tolerance: Tolerance::OfShaken(reach),
        note: note.trim_end().to_string(),
        ..check
    }
}

/// Creates the trace of a log on the machine of the paper.
fn trace_of(rows: &[&Row], workload: Arc<Workload>) -> Result<Arc<Trace>, VerifyError> {
    let none = || VerifyError::Table("a trace without rows".to_string());
    let topology = rows.first().ok_or_else(none)?.mesh.parse().map_err(defect)?;
    let schedulers = rows
        .iter()
        .map(|row| replay_strategies::scheduler(&row.scheduler))
        .collect::<Result<Vec<_>, _>>();
    let schedulers = schedulers.map_err(defect)?;
    Ok(Arc::new(Trace::new(workload, topology, Policy::JOHNSON.name, &schedulers)))
}

/// Runs the strategies of the rows. The strategies in `more` are run under FCFS.
fn run_all(
    rows: &[&Row],
    more: &[String],
    trace: &Arc<Trace>,
    stop: &CancelToken,
) -> Result<Results, VerifyError> {
    // The key is (scheduler, strategy); the value is `true` if ties are counted.
    let mut wanted: BTreeMap<(String, String), bool> = BTreeMap::new();
    for row in rows {
        *wanted.entry((row.scheduler.clone(), row.strategy())).or_default() |=
            row.metric.needs_ties();
        if row.metric.is_by_size() || row.metric == Metric::ImprovementPercent {
            wanted.entry((row.scheduler.clone(), row.allocator.clone())).or_default();
        }
    }
    for strategy in more {
        wanted.entry(("fcfs".to_string(), strategy.clone())).or_default();
    }
    let mut results = Results::new();
    for ties in [true, false] {
        let batch: Vec<_> =
            wanted.iter().filter(|(_, wants)| **wants == ties).map(|(key, _)| key).collect();
        let cell = |(scheduler, strategy): &&(String, String)| {
            Ok(Cell {
                trace: trace.clone(),
                scheduler: replay_strategies::scheduler(scheduler).map_err(defect)?,
                allocator: replay_strategies::allocator(strategy).map_err(defect)?,
                seed: 0,
            })
        };
        let cells = batch.iter().map(cell).collect::<Result<Vec<_>, VerifyError>>()?;
        let measure = Measure { ties, ..Measure::default() };
        let every: Vec<u32> = (0..cells.len() as u32).collect();
        let (cells, context) = (Cells(&cells, measure), RunContext::new(stop));
        let mut done = 0;
        run_experiment(&cells, &every, Turn::InOrder, context, |_, outcome| {
            let result = outcome?;
            done += 1;
            results.insert(batch[result.run as usize].clone(), result);
            Ok::<_, VerifyError>(true)
        })?;
        // If the suite was cancelled, some results are missing.
        if done < batch.len() {
            return Err(Cancelled.into());
        }
    }
    Ok(results)
}

fn value(row: &Row, results: &Results, workload: &Workload) -> Option<f64> {
    let result = results.get(&(row.scheduler.clone(), row.strategy()))?;
    let metrics = &result.metrics;
    match row.metric {
        Metric::MeanPairwiseL1 => return Some(metrics.pairwise.mean_pairwise_l1),
        Metric::TiedDecisions => return metrics.ties.map(|ties| ties.tied_decisions as f64),
        Metric::TiedPercent => return metrics.ties.map(|ties| ties.tied_percent),
        Metric::MeanTied => return metrics.ties.map(|ties| ties.mean_tied),
        Metric::Jobs => return Some(workload.jobs.len() as f64),
        Metric::JobsOfSize2 => {
            return Some(workload.jobs.iter().filter(|job| job.size == 2).count() as f64);
        }
        Metric::RankOfSize2 => {
            let size_2 = result.by_size.iter().find(|row| row.size == 2)?;
            return Some(f64::from(size_2.size_rank));
        }
        Metric::JobsOfFixedSize | Metric::PercentOfFixedSize => {
            let fixed = |size: u32| size == 1 || size as usize == result.processors;
            let jobs = workload.jobs.iter().filter(|job| fixed(job.size)).count() as f64;
            let is_share = row.metric == Metric::PercentOfFixedSize;
            return Some(if is_share { 100.0 * jobs / workload.jobs.len() as f64 } else { jobs });
        }
        _ => {}
    }
    let baseline = results.get(&(row.scheduler.clone(), row.allocator.clone()))?;
    if row.metric == Metric::ImprovementPercent {
        let whole = baseline.metrics.pairwise.mean_pairwise_l1;
        return Some(100.0 * (1.0 - metrics.pairwise.mean_pairwise_l1 / whole));
    }
    by_size_value(row.metric, &baseline.by_size, &result.by_size, result.processors)
}

/// Returns the row's value for each other strategy of its log and scheduler.
fn swaps(row: &Row, rows: &[&Row], results: &Results, workload: &Workload) -> Vec<StrategySwap> {
    // The numbers of jobs in the log do not depend on the strategy.
    if row.metric.is_of_the_log() {
        return Vec::new();
    }
    let others: BTreeMap<String, &Row> = rows
        .iter()
        .filter(|other| other.scheduler == row.scheduler && other.strategy() != row.strategy())
        .map(|other| (other.strategy(), *other))
        .collect();
    let swap = |(with, other): (String, &Row)| {
        let (allocator, tie) = (other.allocator.clone(), other.tie.clone());
        // The run without tie-breaking is the baseline; its improvement over itself is undefined.
        let of_baseline = row.metric.is_by_size() || row.metric == Metric::ImprovementPercent;
        if of_baseline && tie.is_empty() {
            return None;
        }
        let ours = value(&Row { allocator, tie, ..row.clone() }, results, workload)?;
        Some(StrategySwap { with, ours, margin: 0.0 })
    };
    others.into_iter().filter_map(swap).collect()
}

/// Returns a metric of single job sizes (section III, Figs. 9 to 14). If no allocator can change the distance of a
/// size, this size counts neither as improved nor as worsened.
fn by_size_value(
    metric: Metric,
    baseline: &[SizeRow],
    run: &[SizeRow],
    processors: usize,
) -> Option<f64> {
    let mut changes = improvement(baseline, run, processors);
    changes.sort_by_key(|change| change.size_rank);
    let improved = |change: &SizeChange| change.fixed || change.improvement_percent > 0.0;
    let top = changes.iter().take_while(|change| improved(change)).count();
    let worst =
        changes.iter().min_by(|a, b| a.improvement_percent.total_cmp(&b.improvement_percent))?;
    let worsening = |change: &SizeChange| -change.improvement_percent;
    Some(match metric {
        Metric::TopSizesImproved => top as f64,
        Metric::JobsOfNextSize => changes.get(top)?.jobs as f64,
        Metric::WorseningOfNextSize => worsening(changes.get(top)?),
        Metric::WorstSize => f64::from(worst.size),
        Metric::RankOfWorstSize => f64::from(worst.size_rank),
        Metric::WorstWorsening => worsening(worst),
        Metric::SizesWorseBy15Percent => {
            changes.iter().filter(|change| worsening(change) > 15.0).count() as f64
        }
        Metric::WorseningOfSize2 => worsening(changes.iter().find(|change| change.size == 2)?),
        _ => return None,
    })
}

/// Creates the check of a row. `log` is the log that was run, and whether it is the version that the paper used.
fn check(
    row: &Row,
    log: Option<(&str, bool)>,
    ours: Measured,
    spreads: &[Spread],
) -> Result<Check, VerifyError> {
    let compared = if row.corrected.is_empty() { &row.printed } else { &row.corrected };
    let published = compared
        .parse()
        .map_err(|_| VerifyError::Table(format!("\"{compared}\" is not a number")))?;
    let check = Check {
        suite: "",
        figure: row.figure.clone(),
        workload: row.trace.clone(),
        log: log.map(|(name, _)| name.to_string()),
        what: row.what(),
        printed: row.printed.clone(),
        published,
        ours,
        margin: 0.0,
        tolerance: row.tolerance(log.is_none_or(|(_, own)| own), spreads),
        note: row.note.clone(),
        is_claim: false,
        known: None,
        swaps: Vec::new(),
        over_packets: None,
        sample: row.sample(),
        printed_bound: false,
    };
    Ok(match row.known {
        Some(ours) => check.known(ours, &row.known_why),
        None => check,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_one_log_is_judged_by_the_range_of_single_logs() {
        let row = rows()
            .expect("a readable table")
            .into_iter()
            .find(|row| row.metric == Metric::WorstWorsening);
        let row = row.expect("a row with this metric");
        let judged = |values: &[f64]| {
            let check = check(&row, None, Measured::Judged(50.0), &[]).expect("a number");
            let check = Check { published: 10.0, printed: "10".to_string(), ..check };
            by_spread(check, &values.iter().copied().collect())
        };
        // The mean is 14, and the standard deviation s is 2. With t(3) = 3.182, the half-width is 3.182 x 2 x √1.25 =
        // 7.12.
        let near =
            judged(&[12.0, 16.0, 12.0, 16.0].map(|v: f64| 14.0 + (v - 14.0) * 0.75_f64.sqrt()));
        let Tolerance::OfShaken(reach) = near.tolerance else { panic!("{near:?}") };
        assert!((reach - 7.116).abs() < 0.001, "{reach}");
        assert_eq!(near.verdict(), super::super::Verdict::Within);
        let far = judged(&[18.0, 18.1, 18.2, 18.3]);
        assert_eq!(far.verdict(), super::super::Verdict::Differs);
        assert!(matches!(judged(&[10.0]).verdict(), super::super::Verdict::NotJudged(_)));
    }

    #[test]
    fn every_row_is_readable_and_names_a_known_strategy() {
        let rows = rows().expect("a readable table");
        assert_eq!(rows.len(), 137);
        for row in rows {
            replay_strategies::allocator(&row.strategy()).expect("a known allocator");
            replay_strategies::scheduler(&row.scheduler).expect("a known scheduler");
            row.mesh.parse::<replay_engine::topology::Topology>().expect("a mesh");
            check(&row, None, Measured::NotRun(NotRun::NoValue), &[]).expect("a number");
        }
    }

    #[test]
    fn a_cancelled_suite_has_no_numbers() {
        let rows = rows().expect("a readable table");
        let wanted: Vec<&Row> = rows.iter().filter(|row| row.trace == rows[0].trace).collect();
        let swf = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n3 9 -1 10 6\n";
        let jobs = Workload::from_reader(
            swf.as_bytes(),
            "tiny.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        );
        let trace = trace_of(&wanted, Arc::new(jobs.expect("jobs"))).expect("a trace");
        let stop = CancelToken::new();
        let all = run_all(&wanted, &[], &trace, &stop).expect("not cancelled");
        // The result under each key is from the scheduler and the strategy of the key.
        for ((scheduler, strategy), result) in &all {
            assert_eq!(&result.key.scheduler, scheduler);
            assert_eq!(strategy.contains("tie="), result.key.tie.is_some(), "{strategy}");
        }
        stop.raise();
        let ended = run_all(&wanted, &[], &trace, &stop);
        assert!(matches!(ended, Err(VerifyError::Cancelled(_))), "{ended:?}");
    }
}
