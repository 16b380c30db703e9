//! Johnson, Bunde, Leung: "A Tie-Breaking Strategy for Processor Allocation in Meshes".
//!
//! # Tolerances
//!
//! The paper names the versions of its logs. Where that very version runs, means must
//! agree within 0.001, tie counts within 1, and what is printed with one decimal must
//! round to it. The archive has since converted some logs anew: the same jobs with
//! slightly different times. On those, means without tie-breaking must agree within
//! 0.2 %, means with tie-breaking and everything about ties within 0.8 %; how single job
//! sizes fare is shown but not judged: on the newer SDSC log it comes out far from print,
//! and why is not known. A log with another
//! number of jobs than the paper's is not compared.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Check, Selection, Suite, Tolerance, VerifyError};
use crate::experiment::{Cell, Measure, RunResult, Trace, Watch, run_cells};
use crate::metrics::by_size::improvement;
use crate::metrics::{SizeChange, SizeRow};
use crate::stop::Stop;
use crate::workload::{Manifest, Policy, Window, Workload};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "johnson",
    about: "Johnson, Bunde, Leung: tie-breaking for MC1x1 on real traces (Figs. 4, 8, 10, 12, 14, 15, 16, 18)",
    verify,
};

/// The numbers as printed.
const TABLE: &str = include_str!("johnson.csv");

#[derive(Clone, Debug, serde::Deserialize)]
struct Row {
    figure: String,
    trace: String,
    jobs: usize,
    mesh: String,
    scheduler: String,
    allocator: String,
    tie: String,
    metric: String,
    printed: String,
    corrected: String,
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

    fn is_by_size(&self) -> bool {
        !matches!(
            self.metric.as_str(),
            "mean_pairwise_l1"
                | "tied_decisions"
                | "tied_percent"
                | "mean_tied"
                | "jobs_of_fixed_size"
        )
    }

    fn needs_ties(&self) -> bool {
        self.metric.contains("tied")
    }

    fn what(&self) -> String {
        let tie = if self.tie.is_empty() { String::new() } else { format!(" ({})", self.tie) };
        format!("{} {} {}{tie}", self.metric.replace('_', " "), self.scheduler, self.allocator)
    }

    fn tolerance(&self, own_log: bool) -> Tolerance {
        match (self.metric.as_str(), own_log) {
            ("worsening_of_next_size", _) => Tolerance::Below,
            ("jobs_of_fixed_size", _) => Tolerance::Absolute(0.0),
            ("mean_pairwise_l1" | "worst_worsening" | "worsening_of_size_2", true) => {
                Tolerance::Absolute(0.001)
            }
            ("tied_decisions", true) => Tolerance::Absolute(1.0),
            ("tied_percent" | "mean_tied", true) => Tolerance::Absolute(0.05),
            ("mean_pairwise_l1", false) if self.tie.is_empty() => Tolerance::Relative(0.002),
            ("mean_pairwise_l1" | "tied_decisions" | "tied_percent" | "mean_tied", false) => {
                Tolerance::Relative(0.008)
            }
            _ => Tolerance::Absolute(0.0),
        }
    }
}

fn rows() -> Result<Vec<Row>, VerifyError> {
    let rows: Result<_, csv::Error> =
        csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize().collect();
    rows.map_err(|e| VerifyError::Table(e.to_string()))
}

/// What is found for a trace of the paper.
enum Log {
    Absent(String),
    Other(String, usize),
    Found(Arc<Workload>),
}

fn find(trace: &str, jobs: usize, selection: &Selection) -> Result<Log, VerifyError> {
    let manifest = Manifest::embedded().map_err(|e| VerifyError::Table(e.to_string()))?;
    // The paper's own version first, then whatever the archive has now.
    let alias = match trace.split("-199").next().unwrap_or(trace) {
        "SDSC-Par" if trace.contains("1995") => "SDSC-Par95",
        "SDSC-Par" => "SDSC-Par96",
        stem => stem,
    };
    let path: Option<PathBuf> =
        [trace, alias].iter().find_map(|name| selection.traces.resolve(name, &manifest).ok());
    let Some(path) = path else {
        return Ok(Log::Absent(format!("trace absent (scripts/fetch-traces.sh {alias})")));
    };
    let workload = Workload::load(path, &Policy::JOHNSON, &Window::ALL, Default::default())?;
    if workload.jobs.len() != jobs {
        return Ok(Log::Other(workload.name.clone(), workload.jobs.len()));
    }
    Ok(Log::Found(Arc::new(workload)))
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
    let mut checks = Vec::new();
    for first in traces {
        let of_trace: Vec<&Row> = rows.iter().filter(|row| row.trace == first.trace).collect();
        let log = find(&first.trace, first.jobs, selection)?;
        let (workload, not_run) = match log {
            Log::Absent(why) => (None, why),
            Log::Other(name, jobs) => {
                (None, format!("{name} has {jobs} jobs, the paper's log {}", first.jobs))
            }
            Log::Found(workload) => (Some(workload), String::new()),
        };
        let Some(workload) = workload else {
            progress(&format!("{}: not run: {not_run}", first.trace));
            checks.extend(
                of_trace
                    .iter()
                    .map(|row| check(row, None, None, Some(not_run.clone())))
                    .collect::<Result<Vec<_>, _>>()?,
            );
            continue;
        };
        progress(&format!("{}: running {}", first.trace, workload.name));
        let results = run_all(&of_trace, workload.clone())?;
        let own_log = workload.name == first.trace;
        for row in of_trace {
            let ours = value(row, &results, &workload);
            let not_run = (row.is_by_size() && !own_log)
                .then(|| "judged on the paper's own log only".to_string());
            checks.push(check(row, Some((&workload.name, own_log)), ours, not_run)?);
        }
    }
    // In the order of the table, whatever the order of the runs.
    checks.sort_by_key(|check| {
        let at = rows.iter().position(|row| {
            row.figure == check.figure && row.trace == check.trace && row.what() == check.what
        });
        at.unwrap_or(rows.len())
    });
    Ok(checks)
}

/// Results by (scheduler, strategy).
type Results = BTreeMap<(String, String), RunResult>;

fn run_all(rows: &[&Row], workload: Arc<Workload>) -> Result<Results, VerifyError> {
    let table = |e: &dyn std::fmt::Display| VerifyError::Table(e.to_string());
    let Some(first) = rows.first() else { return Ok(Results::new()) };
    let topology = first.mesh.parse().map_err(|e| table(&e))?;
    // (scheduler, strategy) -> whether ties are counted
    let mut wanted: BTreeMap<(String, String), bool> = BTreeMap::new();
    for row in rows {
        *wanted.entry((row.scheduler.clone(), row.strategy())).or_default() |= row.needs_ties();
        if row.is_by_size() {
            wanted.entry((row.scheduler.clone(), row.allocator.clone())).or_default();
        }
    }
    let schedulers = rows.iter().map(|row| row.scheduler.parse()).collect::<Result<Vec<_>, _>>();
    let trace =
        Trace::new(workload, topology, Policy::JOHNSON.name, &schedulers.map_err(|e| table(&e))?);
    let trace = Arc::new(trace);
    let mut results = Results::new();
    for ties in [true, false] {
        let batch: Vec<_> =
            wanted.iter().filter(|(_, wants)| **wants == ties).map(|(key, _)| key).collect();
        let cell = |(scheduler, strategy): &&(String, String)| {
            Ok(Cell {
                trace: trace.clone(),
                scheduler: scheduler.parse().map_err(|e| table(&e))?,
                allocator: strategy.parse().map_err(|e| table(&e))?,
                seed: 0,
            })
        };
        let cells = batch.iter().map(cell).collect::<Result<Vec<_>, VerifyError>>()?;
        let measure = Measure { ties, ..Measure::default() };
        let mut failure = None;
        let mut keys = batch.into_iter();
        run_cells(&cells, measure, Watch::new(&Stop::new()), |outcome| {
            match (outcome, keys.next()) {
                (Ok(result), Some(key)) => {
                    results.insert(key.clone(), result);
                }
                (Err(error), _) => failure = Some(error),
                (Ok(_), None) => {}
            }
            failure.is_none()
        });
        if let Some(error) = failure {
            return Err(error.into());
        }
    }
    Ok(results)
}

fn value(row: &Row, results: &Results, workload: &Workload) -> Option<f64> {
    let result = results.get(&(row.scheduler.clone(), row.strategy()))?;
    let m = &result.metrics;
    match row.metric.as_str() {
        "mean_pairwise_l1" => return Some(m.mean_pairwise_l1),
        "tied_decisions" => return m.tied_decisions.map(|n| n as f64),
        "tied_percent" => return m.tied_percent,
        "mean_tied" => return m.mean_tied,
        "jobs_of_fixed_size" => {
            let fixed = |size: u32| size == 1 || size as usize == result.processors;
            return Some(workload.jobs.iter().filter(|job| fixed(job.size)).count() as f64);
        }
        _ => {}
    }
    let baseline = results.get(&(row.scheduler.clone(), row.allocator.clone()))?;
    by_size_value(&row.metric, &baseline.by_size, &result.by_size, result.processors)
}

/// What the paper says of single job sizes (section III, Figs. 9 to 14). Sizes that no
/// allocator can change are neither improved nor worsened.
fn by_size_value(
    metric: &str,
    baseline: &[SizeRow],
    run: &[SizeRow],
    processors: usize,
) -> Option<f64> {
    let mut changes = improvement(baseline, run, processors);
    changes.sort_by_key(|change| change.rank);
    let improved = |change: &SizeChange| change.fixed || change.improvement_percent > 0.0;
    let top = changes.iter().take_while(|change| improved(change)).count();
    let worst =
        changes.iter().min_by(|a, b| a.improvement_percent.total_cmp(&b.improvement_percent))?;
    let worsening = |change: &SizeChange| -change.improvement_percent;
    Some(match metric {
        "top_sizes_improved" => top as f64,
        "jobs_of_next_size" => changes.get(top)?.jobs as f64,
        "worsening_of_next_size" => worsening(changes.get(top)?),
        "worst_size" => f64::from(worst.size),
        "rank_of_worst_size" => f64::from(worst.rank),
        "worst_worsening" => worsening(worst),
        "sizes_worse_by_15_percent" => {
            changes.iter().filter(|change| worsening(change) > 15.0).count() as f64
        }
        "worsening_of_size_2" => worsening(changes.iter().find(|change| change.size == 2)?),
        _ => return None,
    })
}

fn check(
    row: &Row,
    log: Option<(&str, bool)>,
    ours: Option<f64>,
    not_run: Option<String>,
) -> Result<Check, VerifyError> {
    let compared = if row.corrected.is_empty() { &row.printed } else { &row.corrected };
    let published =
        compared.parse().map_err(|_| VerifyError::Table(format!("\"{compared}\" is no number")))?;
    Ok(Check {
        figure: row.figure.clone(),
        trace: row.trace.clone(),
        log: log.map(|(name, _)| name.to_string()),
        what: row.what(),
        printed: row.printed.clone(),
        published,
        ours,
        margin: 0.0,
        tolerance: row.tolerance(log.is_none_or(|(_, own)| own)),
        not_run,
        note: row.note.clone(),
        is_claim: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_row_can_be_read_and_names_something_we_run() {
        let rows = rows().expect("the table is sound");
        assert_eq!(rows.len(), 92);
        for row in rows {
            row.strategy().parse::<crate::allocator::registry::AllocatorSpec>().expect("known");
            row.scheduler.parse::<crate::scheduler::registry::SchedulerSpec>().expect("known");
            row.mesh.parse::<crate::topology::Topology>().expect("a mesh");
            check(&row, None, None, None).expect("a number");
        }
    }
}
