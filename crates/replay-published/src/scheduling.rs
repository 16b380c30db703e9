//! Golden schedules, which were computed by hand for small workloads.
//!
//! The workloads and their schedules are in `traces/golden`. A README explains each schedule. The output of any
//! simulator can therefore be compared with the schedules. There is no tolerance: every start time must be equal. The
//! swap test uses the schedule of another scheduler if the two schedules differ.

use crate::defect;
use std::collections::BTreeMap;

use super::claim::claim;
use super::{Check, Selection, StrategySwap, Suite, Tolerance, VerifyError};
use replay_engine::cancel::CancelToken;
use replay_engine::simulation::Timeline;
use replay_engine::workload::{Job, Policy, Window, Workload};

/// Suite `scheduling`.
pub const SUITE: Suite = Suite {
    name: "scheduling",
    about: "Golden schedules of small workloads, computed by hand, under FCFS, EASY and conservative \
            backfilling (traces/golden)",
    full: None,
    verify,
};

const SCHEDULES: &str = include_str!("../../../traces/golden/schedules.csv");

/// Traces of the workloads.
const TRACES: [(&str, &str); 5] = [
    ("backfill", include_str!("../../../traces/golden/backfill.swf")),
    ("beside", include_str!("../../../traces/golden/beside.swf")),
    ("second-in-queue", include_str!("../../../traces/golden/second-in-queue.swf")),
    ("early-ends", include_str!("../../../traces/golden/early-ends.swf")),
    ("same-instant", include_str!("../../../traces/golden/same-instant.swf")),
];

/// A job and its start time under each scheduler. Times are in seconds.
#[derive(Clone, Debug, serde::Deserialize)]
struct Row {
    workload: String,
    processors: u32,
    job: i64,
    submit: i64,
    run: i64,
    size: u32,
    estimate: i64,
    fcfs: i64,
    easy: i64,
    conservative: i64,
}

/// Job number, submit time, run time, size and estimate of a job.
type Key = (i64, i64, i64, u32, i64);

impl Row {
    fn key(&self) -> Key {
        (self.job, self.submit, self.run, self.size, self.estimate)
    }
}

fn key(job: &Job) -> Key {
    (job.number, job.submit, job.run, job.size, job.estimate)
}

/// A scheduler, and the column with the start times under this scheduler.
type Discipline = (&'static str, fn(&Row) -> i64);

const DISCIPLINES: [Discipline; 3] =
    [("fcfs", |row| row.fcfs), ("easy", |row| row.easy), ("conservative", |row| row.conservative)];

/// Reads the rows by workload.
fn rows() -> Result<BTreeMap<String, Vec<Row>>, VerifyError> {
    let mut workloads: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in csv::Reader::from_reader(SCHEDULES.as_bytes()).into_deserialize() {
        let row: Row = row.map_err(defect)?;
        workloads.entry(row.workload.clone()).or_default().push(row);
    }
    Ok(workloads)
}

/// Reads the jobs of a workload from its trace.
fn jobs(name: &str, trace: &str) -> Result<Vec<Job>, VerifyError> {
    let source = format!("{name}.swf");
    let options = Default::default();
    let policy = &Policy::STRICT;
    Ok(Workload::from_reader(trace.as_bytes(), source, policy, &Window::ALL, options)?.jobs)
}

fn verify(
    selection: &Selection,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Check>, VerifyError> {
    let schedules = rows()?;
    let mut checks = Vec::new();
    for (name, trace) in TRACES.into_iter().filter(|(name, _)| selection.includes(name)) {
        let rows = schedules.get(name).ok_or_else(|| defect(format!("{name} has no schedule")))?;
        let jobs = jobs(name, trace)?;
        if rows.iter().map(Row::key).ne(jobs.iter().map(key)) {
            return Err(defect(format!("{name}: the schedule and the trace have different jobs")));
        }
        for discipline in DISCIPLINES {
            checks.push(of_discipline(name, rows, &jobs, discipline, &selection.stop)?);
        }
    }
    if !checks.is_empty() {
        progress(&format!("{} schedules", checks.len()));
    }
    Ok(checks)
}

/// Checks the schedule of one workload under one scheduler.
fn of_discipline(
    name: &str,
    rows: &[Row],
    jobs: &[Job],
    (discipline, start): Discipline,
    stop: &CancelToken,
) -> Result<Check, VerifyError> {
    let spec = replay_strategies::scheduler(discipline).map_err(defect)?;
    let processors = rows.first().map_or(0, |row| row.processors);
    let timeline = Timeline::compute(jobs, processors, spec.build(processors).as_mut(), stop);
    let starts = timeline.map_err(defect)?;
    let starts = starts.starts();
    // Number of jobs for which the start time in replay differs from the start time in a column.
    let differ = |start: fn(&Row) -> i64| {
        let differs = |(row, ours): &(&Row, &i64)| start(row) != **ours;
        rows.iter().zip(starts).filter(differs).count()
    };
    let wrong = || rows.iter().zip(starts).find(|(row, ours)| start(row) != **ours);
    let note = wrong().map_or(String::new(), |(row, ours)| {
        format!("the first is job {}: {} by hand, {ours} in replay", row.job, start(row))
    });
    let swap = |&(other, theirs): &Discipline| {
        let apart = rows.iter().any(|row| start(row) != theirs(row));
        let with = format!("{discipline} and {other} exchanged");
        apart.then(|| StrategySwap { with, ours: differ(theirs) as f64, margin: 0.0 })
    };
    let what =
        format!("jobs under {discipline} whose start differs from the schedule made by hand");
    let exactly = Tolerance::Absolute(0.0);
    let check = claim("golden schedules", name, &what, "0", differ(start) as f64, exactly)?;
    Ok(Check {
        log: Some(format!("{} jobs on {processors} processors", jobs.len())),
        note,
        swaps: DISCIPLINES.iter().filter_map(swap).collect(),
        ..check
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::select;
    use crate::{Measured, Verdict};

    #[test]
    fn traces_and_schedules_have_the_same_jobs() {
        let rows = rows().expect("a readable file");
        assert_eq!(rows.len(), TRACES.len());
        for (name, trace) in TRACES {
            let jobs = jobs(name, trace).expect("a readable trace");
            assert!(rows[name].iter().map(Row::key).eq(jobs.iter().map(key)), "{name}");
            let processors = rows[name][0].processors;
            assert!(rows[name].iter().all(|row| row.processors == processors), "{name}");
            assert!(trace.contains(&format!("; MaxProcs: {processors}\n")), "{name}");
        }
    }

    #[test]
    fn no_golden_schedule_exceeds_the_machine() {
        for (name, rows) in rows().expect("a readable file") {
            for (discipline, start) in DISCIPLINES {
                for row in &rows {
                    let at = start(row);
                    assert!(at >= row.submit, "{name} {discipline}: {row:?}");
                    let running =
                        |other: &&Row| (start(other)..start(other) + other.run).contains(&at);
                    let busy: u32 = rows.iter().filter(running).map(|other| other.size).sum();
                    assert!(busy <= row.processors, "{name} {discipline}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn every_start_agrees_with_the_golden_schedule() {
        let checks = verify(&select(&[]), &mut |_| {}).expect("small workloads");
        assert_eq!(checks.len(), TRACES.len() * DISCIPLINES.len());
        for check in &checks {
            assert_eq!(check.verdict(), Verdict::Within, "{check:?}");
        }
    }

    #[test]
    fn a_wrong_start_is_reported() {
        let schedules = rows().expect("a readable file");
        let mut rows = schedules["backfill"].clone();
        rows[3].easy += 1;
        let jobs = jobs("backfill", TRACES[0].1).expect("a readable trace");
        let check = of_discipline("backfill", &rows, &jobs, DISCIPLINES[1], &CancelToken::new());
        let check = check.expect("a small workload");
        assert_eq!((&check.ours, check.verdict()), (&Measured::Judged(1.0), Verdict::Contradicts));
        assert_eq!(check.note, "the first is job 4: 71 by hand, 70 in replay");
    }
}
