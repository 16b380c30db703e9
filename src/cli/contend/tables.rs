//! Tables of `replay contend`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Outcome;
use super::correlations::Correlations;
use super::means::{Means, varied};
use crate::cli::args::FormatArg;
use crate::experiment::contention::{JobContention, TraceRun};
use crate::frame::{NamedRow, write_values};
use crate::metrics::correlation::{pearson, spearman};
use crate::number::fixed;
use crate::report::{Align, Sheet, Value, json_line, write_csv};

/// Pairs of a measure and the stretch, over the jobs that send packets.
fn pairs(run: &TraceRun, of: fn(&JobContention) -> f64) -> Vec<(f64, f64)> {
    run.jobs.iter().filter_map(|job| Some((of(job), job.stretch()?))).collect()
}

/// A run at full precision. Times are in cycles, distances in hops; what is a mean over which
/// jobs, say the [`Means`].
fn row(outcome: &Outcome, pattern: &str) -> NamedRow {
    let (key, run, means) = (&outcome.key, &outcome.run, Means::of(&outcome.run));
    let distance = pairs(run, JobContention::mean_distance);
    let dispersal = pairs(run, |job| job.placement.dispersal);
    let count = |counts: fn(&JobContention) -> bool| {
        Value::Unsigned(run.jobs.iter().filter(|job| counts(job)).count() as u64)
    };
    vec![
        ("trace", Value::from(key.trace.as_str())),
        ("topology", Value::from(key.topology.as_str())),
        ("scheduler", Value::from(key.scheduler.as_str())),
        ("allocator", Value::from(key.allocator.as_str())),
        ("tie", key.tie.as_deref().map_or(Value::Missing, Value::from)),
        ("seed", Value::Unsigned(key.seed)),
        ("pattern", Value::from(pattern)),
        ("jobs", Value::Unsigned(run.jobs.len() as u64)),
        ("sending_jobs", count(|job| job.packets > 0)),
        ("off_target_jobs", count(JobContention::is_off_target)),
        ("packets", Value::Unsigned(run.jobs.iter().map(|job| job.packets).sum())),
        ("mean_stretch", Value::from(means.stretch)),
        ("mean_latency", Value::from(means.latency)),
        ("mean_blocked", Value::from(means.blocked)),
        ("mean_hops", Value::from(means.hops)),
        ("mean_distance", Value::from(means.distance)),
        ("mean_pairwise_l1", Value::from(means.pairwise_l1)),
        ("mean_dispersal", Value::from(means.dispersal)),
        ("mean_wait_cycles", Value::from(means.wait)),
        ("mean_turnaround_cycles", Value::from(means.turnaround)),
        ("makespan_cycles", Value::Integer(run.system.finish_time)),
        ("utilization", Value::Real(run.system.utilization)),
        ("spearman_distance_stretch", Value::from(spearman(&distance))),
        ("spearman_dispersal_stretch", Value::from(spearman(&dispersal))),
        ("pearson_distance_stretch", Value::from(pearson(&distance))),
        ("pearson_dispersal_stretch", Value::from(pearson(&dispersal))),
    ]
}

/// A job of the run with that number at full precision. What only packets have is missing
/// where none are sent.
fn job_row(run: u64, job: &JobContention) -> NamedRow {
    let of_packets = |value| if job.packets > 0 { Value::Real(value) } else { Value::Missing };
    vec![
        ("run", Value::Unsigned(run)),
        ("number", Value::Integer(job.number)),
        ("size", Value::Unsigned(job.size.into())),
        ("packets", Value::Unsigned(job.packets)),
        ("target_cycles", Value::Unsigned(job.target)),
        ("isolated_cycles", Value::Unsigned(job.isolated)),
        ("service_cycles", Value::Unsigned(job.service)),
        ("stretch", Value::from(job.stretch())),
        ("wait_cycles", Value::Unsigned(job.wait)),
        ("latency", of_packets(job.latency)),
        ("blocked", of_packets(job.blocked)),
        ("hops", of_packets(job.hops)),
        ("mean_distance", Value::Real(job.mean_distance())),
        ("pairwise_l1", Value::Unsigned(job.placement.pairwise_l1)),
        ("dispersal", Value::Real(job.placement.dispersal)),
        ("components", Value::Unsigned(job.placement.components.into())),
    ]
}

/// Prints the runs; for people also how their measures go together.
pub fn print(outcomes: &[Outcome], pattern: &str, format: FormatArg) -> io::Result<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let rows = || outcomes.iter().map(|outcome| row(outcome, pattern));
    match format {
        FormatArg::Json => rows().try_for_each(|row| writeln!(out, "{}", json_line(&row))),
        FormatArg::Csv => write_csv(rows(), &mut out),
        FormatArg::Table => {
            sheet(outcomes).write_plain(&mut out)?;
            writeln!(out)?;
            Correlations::sheet(&Correlations::of(outcomes)).write_plain(&mut out)
        }
        FormatArg::Md => {
            sheet(outcomes).write_markdown(&mut out)?;
            writeln!(out)?;
            Correlations::sheet(&Correlations::of(outcomes)).write_markdown(&mut out)
        }
    }
}

/// The table for people. Machines and seeds are shown if there are several.
fn sheet(outcomes: &[Outcome]) -> Sheet {
    let (machines, seeds) = varied(outcomes.iter().map(|outcome| &outcome.key));
    let mut header = vec![("trace", Align::Left)];
    header.extend(machines.then_some(("machine", Align::Left)));
    header.extend(["scheduler", "allocator", "tie"].map(|title| (title, Align::Left)));
    header.extend(seeds.then_some(("seed", Align::Right)));
    let measures = [
        "stretch",
        "latency",
        "blocked",
        "hops",
        "pairwise L1",
        "distance",
        "dispersal",
        "turnaround",
        "util %",
    ];
    header.extend(measures.map(|title| (title, Align::Right)));
    let mut sheet = Sheet::new(&header);
    for Outcome { key, run, .. } in outcomes {
        let means = Means::of(run);
        let mut row = vec![key.trace.clone()];
        row.extend(machines.then(|| key.topology.clone()));
        row.extend([key.scheduler.clone(), key.allocator.clone()]);
        row.push(key.tie.clone().unwrap_or_else(|| "-".to_string()));
        row.extend(seeds.then(|| key.seed.to_string()));
        let shown = [
            (means.stretch, 4),
            (means.latency, 2),
            (means.blocked, 2),
            (means.hops, 3),
            (means.pairwise_l1, 2),
            (means.distance, 3),
            (means.dispersal, 3),
            (means.turnaround, 0),
            (Some(100.0 * run.system.utilization), 2),
        ];
        row.extend(shown.map(|(value, decimals)| {
            value.map_or_else(|| "-".to_string(), |value| fixed(value, decimals))
        }));
        sheet.push(row);
    }
    sheet
}

/// Writes the tables of runs, jobs and correlations; their paths.
pub fn write(dir: &Path, outcomes: &[Outcome], pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let metadata = [("program", "replay"), ("version", env!("CARGO_PKG_VERSION"))];
    let metadata = metadata.map(|(key, value)| (key.to_string(), value.to_string()));
    let runs: Vec<NamedRow> = outcomes.iter().map(|outcome| row(outcome, pattern)).collect();
    let jobs: Vec<NamedRow> = (0..)
        .zip(outcomes)
        .flat_map(|(number, outcome)| outcome.run.jobs.iter().map(move |job| job_row(number, job)))
        .collect();
    let together: Vec<NamedRow> =
        Correlations::of(outcomes).iter().map(Correlations::row).collect();
    let mut files = Vec::new();
    for (stem, rows) in [("contend", runs), ("jobs", jobs), ("correlations", together)] {
        files.extend(write_values(dir, stem, &rows, &metadata)?);
    }
    Ok(files)
}
