//! `replay contend`: the jobs of a trace as messages on the flit-level network.

mod correlations;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use correlations::Correlations;
use rayon::prelude::*;

use super::args::{FormatArg, GridArgs, threads};
use super::exit::{Exit, Failure, tell};
use super::folder::claim;
use super::messages::MessageArgs;
use super::plan::Plan;
use super::record::Record;
use super::run::set_threads;
use crate::experiment::contention::{Isolation, JobContention, TraceRun, isolate, run_trace};
use crate::experiment::{Cell, RunKey, Trace};
use crate::frame::{NamedRow, write_values};
use crate::metrics::correlation::{pearson, spearman};
use crate::number::fixed;
use crate::plot::{Comparison, HeatMap, save};
use crate::report::{Align, Sheet, Value, json_line, write_csv};

/// Arguments of `replay contend`.
#[derive(Clone, Debug, Args)]
pub struct ContendArgs {
    #[command(flatten)]
    grid: GridArgs,

    /// Pattern: one-to-all, all-to-all, n-body, fft-2d, multigrid, random, nearest-neighbour,
    /// matrix, phases (replay list patterns).
    #[arg(long, value_name = "NAME[..]", default_value = "all-to-all", help_heading = "Messages")]
    pattern: String,

    #[command(flatten)]
    messages: MessageArgs,

    /// Cycles for a second of the trace. A job would run for run time x scale cycles alone.
    #[arg(long, value_name = "CYCLES", default_value_t = 1.0, help_heading = "Messages")]
    scale: f64,

    /// Format of the results on standard output.
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    format: FormatArg,

    /// Write tables (Parquet, CSV) and plots into this folder.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Threads [default: all processors]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads(), help_heading = "Output")]
    threads: Option<u64>,

    /// Nothing on standard error but errors.
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

const ALLOCATORS: &str = "mc1x1,hilbert-best-fit,mbs,gabl,paging,first-fit,random";
const TIES: [&str; 2] = ["none", "2,13,20,6"];

/// One cell and what it came to.
struct Outcome {
    key: RunKey,
    run: TraceRun,
}

/// Measures every job alone, then runs the trace under every scheduler and allocator.
pub fn run(args: &ContendArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let record = Record::begin(command);
    set_threads(args.threads)?;
    if !(args.scale > 0.0 && args.scale.is_finite()) {
        return Err(Failure::usage_message("--scale: must be a positive number of cycles"));
    }
    let messages = args.messages.of(&args.pattern)?;
    let mut grid = args.grid.clone();
    if grid.alloc.is_empty() {
        grid.alloc.push(ALLOCATORS.to_string());
        if grid.tie.is_empty() {
            grid.tie = TIES.map(str::to_string).to_vec();
        }
    }
    if let Some(dir) = &args.out {
        claim(dir, command)?;
    }
    let plan = Plan::resolve(&grid, args.quiet)?;
    let mut isolated: Vec<(Arc<Trace>, Isolation)> = Vec::new();
    for trace in &plan.traces {
        let (jobs, seed) = (&trace.workload.jobs, plan.seeds.first().copied().unwrap_or(0));
        let isolation = isolate(jobs, &trace.topology, &messages, args.scale, seed);
        isolated.push((trace.clone(), isolation.map_err(Failure::usage)?));
        if !args.quiet {
            tell(format_args!("{}: {} jobs measured alone", trace.workload.name, jobs.len()));
        }
    }
    let contend = |cell: &Cell| {
        let isolation = isolated.iter().find(|(trace, _)| Arc::ptr_eq(trace, &cell.trace));
        let Some((trace, isolation)) = isolation else {
            return Err(Failure::usage_message("a cell without its trace"));
        };
        let run = run_trace(
            isolation,
            &trace.workload.shapes,
            &trace.topology,
            &messages,
            cell.scheduler,
            &cell.allocator,
            cell.seed,
        );
        let key = cell.key();
        let run = run.map_err(|e| Failure::usage_message(format!("{}: {e}", key.strategy())))?;
        if !args.quiet {
            tell(format_args!("{} {} {}: done", key.trace, key.scheduler, key.strategy()));
        }
        Ok(Outcome { key, run })
    };
    let cells = plan.cells();
    let outcomes: Vec<Outcome> =
        cells.par_iter().with_max_len(1).map(contend).collect::<Result<_, _>>()?;
    if let Some(dir) = &args.out {
        let files = write(dir, &outcomes, &cells, &args.pattern)?;
        record.write(dir, &configuration(args, &plan), &files)?;
    }
    print(&outcomes, args).map_err(|e| Failure::output("standard output", e))?;
    Ok(Exit::Done)
}

/// Mean over the jobs that have it.
fn mean(run: &TraceRun, of: impl Fn(&JobContention) -> Option<f64>) -> f64 {
    let values: Vec<f64> = run.jobs.iter().filter_map(of).collect();
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Means over the jobs that send packets.
struct Means {
    stretch: f64,
    latency: f64,
    blocked: f64,
    hops: f64,
    distance: f64,
    pairwise_l1: f64,
    dispersal: f64,
    wait: f64,
    turnaround: f64,
}

impl Means {
    fn of(run: &TraceRun) -> Self {
        let sending = |value: fn(&JobContention) -> f64| {
            mean(run, move |job| (job.packets > 0).then(|| value(job)))
        };
        Self {
            stretch: mean(run, JobContention::stretch),
            latency: sending(|job| job.latency),
            blocked: sending(|job| job.blocked),
            hops: sending(|job| job.hops),
            distance: sending(JobContention::mean_distance),
            pairwise_l1: mean(run, |job| Some(job.placement.pairwise_l1 as f64)),
            dispersal: sending(|job| job.placement.dispersal),
            wait: mean(run, |job| Some(job.wait as f64)),
            turnaround: mean(run, |job| Some((job.wait + job.service) as f64)),
        }
    }
}

/// Pairs of a measure and the stretch, over the jobs that send packets.
fn pairs(run: &TraceRun, of: fn(&JobContention) -> f64) -> Vec<(f64, f64)> {
    run.jobs.iter().filter_map(|job| Some((of(job), job.stretch()?))).collect()
}

fn row(outcome: &Outcome, args_pattern: &str) -> NamedRow {
    let (key, run, means) = (&outcome.key, &outcome.run, Means::of(&outcome.run));
    let distance = pairs(run, JobContention::mean_distance);
    let dispersal = pairs(run, |job| job.placement.dispersal);
    vec![
        ("trace", Value::from(key.trace.as_str())),
        ("topology", Value::from(key.topology.as_str())),
        ("scheduler", Value::from(key.scheduler.as_str())),
        ("allocator", Value::from(key.allocator.as_str())),
        ("tie", key.tie.as_deref().map_or(Value::Missing, Value::from)),
        ("seed", Value::Unsigned(key.seed)),
        ("pattern", Value::from(args_pattern)),
        ("jobs", Value::Unsigned(run.jobs.len() as u64)),
        ("packets", Value::Unsigned(run.jobs.iter().map(|job| job.packets).sum())),
        ("mean_stretch", Value::Real(means.stretch)),
        ("mean_latency", Value::Real(means.latency)),
        ("mean_blocked", Value::Real(means.blocked)),
        ("mean_hops", Value::Real(means.hops)),
        ("mean_distance", Value::Real(means.distance)),
        ("mean_pairwise_l1", Value::Real(means.pairwise_l1)),
        ("mean_dispersal", Value::Real(means.dispersal)),
        ("mean_wait_cycles", Value::Real(means.wait)),
        ("mean_turnaround_cycles", Value::Real(means.turnaround)),
        ("makespan_cycles", Value::Integer(run.system.finish_time)),
        ("utilization", Value::Real(run.system.utilization)),
        ("spearman_distance_stretch", Value::from(spearman(&distance))),
        ("spearman_dispersal_stretch", Value::from(spearman(&dispersal))),
        ("pearson_distance_stretch", Value::from(pearson(&distance))),
        ("pearson_dispersal_stretch", Value::from(pearson(&dispersal))),
    ]
}

fn print(outcomes: &[Outcome], args: &ContendArgs) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let rows = || outcomes.iter().map(|outcome| row(outcome, &args.pattern));
    match args.format {
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

/// The table for people.
fn sheet(outcomes: &[Outcome]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("trace", Align::Left),
        ("scheduler", Align::Left),
        ("allocator", Align::Left),
        ("tie", Align::Left),
        ("stretch", Align::Right),
        ("latency", Align::Right),
        ("blocked", Align::Right),
        ("hops", Align::Right),
        ("pairwise L1", Align::Right),
        ("distance", Align::Right),
        ("dispersal", Align::Right),
        ("turnaround", Align::Right),
        ("util %", Align::Right),
    ]);
    for Outcome { key, run } in outcomes {
        let means = Means::of(run);
        sheet.push(vec![
            key.trace.clone(),
            key.scheduler.clone(),
            key.allocator.clone(),
            key.tie.clone().unwrap_or_else(|| "-".to_string()),
            fixed(means.stretch, 4),
            fixed(means.latency, 2),
            fixed(means.blocked, 2),
            fixed(means.hops, 3),
            fixed(means.pairwise_l1, 2),
            fixed(means.distance, 3),
            fixed(means.dispersal, 3),
            fixed(means.turnaround, 0),
            fixed(100.0 * run.system.utilization, 2),
        ]);
    }
    sheet
}

/// Outcomes by trace, machine and scheduler, in order of first appearance.
fn settings(outcomes: &[Outcome]) -> Vec<Vec<&Outcome>> {
    let same = |a: &RunKey, b: &RunKey| {
        (&a.trace, &a.topology, &a.scheduler) == (&b.trace, &b.topology, &b.scheduler)
    };
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for outcome in outcomes {
        match groups.iter_mut().find(|group| same(&group[0].key, &outcome.key)) {
            Some(group) => group.push(outcome),
            None => groups.push(vec![outcome]),
        }
    }
    groups
}

/// What decides the numbers.
fn configuration(args: &ContendArgs, plan: &Plan) -> serde_json::Value {
    let traces = plan.traces.iter().map(|trace| {
        serde_json::json!({
            "name": trace.workload.name,
            "digest": trace.workload.digest,
            "topology": trace.topology.to_string(),
            "jobs": trace.workload.jobs.len(),
            "cleaning": trace.workload.report,
        })
    });
    serde_json::json!({
        "traces": traces.collect::<Vec<_>>(),
        "schedulers": plan.schedulers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "allocators": plan.allocators.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "seeds": plan.seeds,
        "policy": plan.policy.name,
        "window": plan.window,
        "pattern": args.pattern,
        "messages": args.messages.describe(),
        "scale": args.scale,
    })
}

/// Writes tables and figures; their paths.
fn write(
    dir: &Path,
    outcomes: &[Outcome],
    cells: &[Cell],
    pattern: &str,
) -> Result<Vec<PathBuf>, Failure> {
    let failed = |e: anyhow::Error| Failure::output(dir.display(), e);
    let metadata = [("program", "replay"), ("version", env!("CARGO_PKG_VERSION"))];
    let metadata = metadata.map(|(key, value)| (key.to_string(), value.to_string()));
    let rows: Vec<NamedRow> = outcomes.iter().map(|outcome| row(outcome, pattern)).collect();
    let mut files: Vec<PathBuf> =
        write_values(dir, "contend", &rows, &metadata).map_err(|e| failed(e.into()))?.into();
    let jobs: Vec<NamedRow> = (0..)
        .zip(outcomes)
        .flat_map(|(number, outcome)| outcome.run.jobs.iter().map(move |job| job_row(number, job)))
        .collect();
    files.extend(write_values(dir, "jobs", &jobs, &metadata).map_err(|e| failed(e.into()))?);
    let together: Vec<NamedRow> =
        Correlations::of(outcomes).iter().map(Correlations::row).collect();
    let written = write_values(dir, "correlations", &together, &metadata);
    files.extend(written.map_err(|e| failed(e.into()))?);
    let plots = dir.join("plots");
    for group in settings(outcomes) {
        let key = &group[0].key;
        let stem = format!("{}--{}--{}", key.trace, key.topology.replace(':', "-"), key.scheduler);
        let figure = comparison(&group, pattern);
        let drawn = save(&plots, &format!("contention--{stem}"), &figure);
        files.extend(drawn.map_err(|e| failed(e.into()))?);
    }
    for (outcome, cell) in outcomes.iter().zip(cells) {
        if let Some(figure) = heat_map(outcome, cell, pattern) {
            let key = &outcome.key;
            let name = key.strategy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let stem = format!("links--{}--{}--{name}", key.trace, key.scheduler);
            let drawn = save(&plots, stem.trim_end_matches('-'), &figure);
            files.extend(drawn.map_err(|e| failed(e.into()))?);
        }
    }
    Ok(files)
}

fn job_row(run: u64, job: &JobContention) -> NamedRow {
    vec![
        ("run", Value::Unsigned(run)),
        ("number", Value::Integer(job.number)),
        ("size", Value::Unsigned(job.size.into())),
        ("packets", Value::Unsigned(job.packets)),
        ("isolated_cycles", Value::Unsigned(job.isolated)),
        ("service_cycles", Value::Unsigned(job.service)),
        ("stretch", Value::from(job.stretch())),
        ("wait_cycles", Value::Unsigned(job.wait)),
        ("latency", Value::Real(job.latency)),
        ("blocked", Value::Real(job.blocked)),
        ("hops", Value::Real(job.hops)),
        ("mean_distance", Value::Real(job.mean_distance())),
        ("pairwise_l1", Value::Unsigned(job.placement.pairwise_l1)),
        ("dispersal", Value::Real(job.placement.dispersal)),
        ("components", Value::Unsigned(job.placement.components.into())),
    ]
}

fn comparison(group: &[&Outcome], pattern: &str) -> Comparison {
    let mut sorted: Vec<(&&Outcome, Means)> =
        group.iter().map(|outcome| (outcome, Means::of(&outcome.run))).collect();
    sorted.sort_by(|a, b| a.1.stretch.total_cmp(&b.1.stretch));
    let key = &group[0].key;
    let values = |means: &Means| {
        vec![
            Some(means.stretch),
            Some(means.latency),
            Some(means.distance),
            Some(100.0 * means.dispersal),
        ]
    };
    Comparison {
        subtitle: vec![
            format!("{}, {}, {}", key.trace, key.topology, key.scheduler),
            format!("{pattern}; stretch is time among others over time alone"),
        ],
        measures: ["Stretch", "Packet latency (cycles)", "Distance (hops)", "Dispersal (%)"]
            .map(str::to_string)
            .to_vec(),
        strategies: sorted
            .iter()
            .map(|(outcome, means)| (outcome.key.strategy(), values(means)))
            .collect(),
    }
}

/// Use of links by place, on 2D machines.
fn heat_map(outcome: &Outcome, cell: &Cell, pattern: &str) -> Option<HeatMap> {
    let grid = cell.trace.topology.grid().filter(|grid| grid.dimensions() == 2)?;
    let (width, length) = (grid.extent(0) as u16, grid.extent(1) as u16);
    let at = |x, y| 100.0 * outcome.run.link_use[grid.node([x, y, 0]).index()];
    let key = &outcome.key;
    Some(HeatMap {
        title: "Use of the links".to_string(),
        subtitle: vec![
            format!("{}, {}, {}, {}", key.trace, key.topology, key.scheduler, key.strategy()),
            format!("{pattern}; mean over the links that leave a processor"),
        ],
        x_title: "x".to_string(),
        y_title: "y".to_string(),
        value_title: "time reserved (%)".to_string(),
        columns: (0..width).map(|x| x.to_string()).collect(),
        rows: (0..length).map(|y| y.to_string()).collect(),
        values: (0..length).map(|y| (0..width).map(|x| Some(at(x, y))).collect()).collect(),
    })
}
