//! `replay plan`: counts or lists the cells of a grid.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::args::PlanArgs;
use super::estimate::{Estimate, KindEstimate, duration, estimate};
use super::grid;
use crate::cli::exit::{Exit, Failure, eprint_line};
use crate::cli::print::{FormatArg, TableArgs, fields, sheet_of_fields};
use crate::cli::terminal::stdout;
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_engine::table::write_csv;
use replay_experiment::RunKey;
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::sweep::{Plan, Shard};
use replay_output::report::{Align, Sheet};

/// Maximum number of kinds of cells with a row in the summary; all other kinds share one row.
const ROWS: usize = 20;

/// Columns of the listing, which has a row for each cell.
const CELL: [&str; 11] = [
    "run",
    "cell",
    "trace",
    "topology",
    "scheduler",
    "allocator",
    "tie",
    "policy",
    "seed",
    "copy",
    "jobs",
];

/// Columns of the summary in CSV and JSON; the summary has a row for each kind of cells.
const KIND: [&str; 7] =
    ["trace", "machine", "scheduler", "allocator", "cells", "jobs_of_each", "cpu_seconds_of_each"];

/// A cell in the listing.
#[derive(Serialize)]
struct PlannedCell {
    run: u32,
    cell: String,
    #[serde(flatten)]
    key: RunKey,
    jobs: usize,
}

/// Prints the number of cells by kind with their estimated time, or all cells.
pub fn run(registries: &Registries, args: &PlanArgs) -> Result<Exit, Failure> {
    args.grid.process.set_threads()?;
    let grid = grid::resolve(registries, &args.grid)?;
    let ResolvedGrid { plan, traces } = grid::load(&args.grid, grid)?;
    let shard = args.grid.shard.unwrap_or(Shard::WHOLE);
    let cells: Vec<u32> = shard.cells(plan.len()).collect();
    let quiet = args.grid.process.quiet;
    if !quiet {
        eprint_line(counts(&plan, shard, cells.len()));
        if cells.is_empty() {
            eprint_line(
                "plan: this shard has no cells, because the grid has fewer cells than shards",
            );
        }
    }
    let timed = !args.no_estimate && !cells.is_empty();
    // The list does not print an estimate.
    let estimate = match args.list && (quiet || !timed) {
        true => None,
        false => Some(estimate(&plan, &traces, &cells, timed)?),
    };
    if let Some(estimate) = estimate.as_ref().filter(|_| timed && !quiet) {
        eprint_line(format_args!("plan: {}", estimate_line(estimate)));
    }
    match estimate {
        Some(estimate) if !args.list => summary(&plan, &estimate, timed, args.table),
        _ => list(&plan, &cells, args.table),
    }
    .map(|()| Exit::Done)
}

/// Returns the estimate as text.
fn estimate_line(estimate: &Estimate) -> String {
    let Some(all) = estimate.all else {
        return "no estimate, because no job of any cell started within one second".to_string();
    };
    let threads = counted(estimate.threads as u64, "thread");
    let mut line = format!(
        "roughly {} on {threads}, CPU time {}, by samples of {} of cells",
        duration(estimate.elapsed),
        duration(all),
        counted(estimate.kinds.len() as u64, "kind"),
    );
    if estimate.unsampled > 0 {
        let cells = counted(estimate.unsampled as u64, "cell");
        line += &format!("; {cells} of kinds without a sample are estimated by the mean");
    }
    line
}

/// Prints a row for each kind of cells, in descending order of time, and a row for all cells.
fn summary(plan: &Plan, estimate: &Estimate, timed: bool, table: TableArgs) -> Result<(), Failure> {
    if matches!(table.format, FormatArg::Json | FormatArg::Csv) {
        let kind = |kind: &KindEstimate| {
            let key = plan.key(kind.first).map_err(Failure::usage)?;
            Ok(serde_json::json!({
                "trace": key.trace, "machine": key.topology, "scheduler": key.scheduler, "allocator": kind.strategy,
                "cells": kind.cells, "jobs_of_each": kind.jobs, "cpu_seconds_of_each": kind.each,
            }))
        };
        let rows = estimate.kinds.iter().map(kind).collect::<Result<Vec<_>, Failure>>()?;
        let columns = if timed { &KIND[..] } else { &KIND[..KIND.len() - 1] };
        return print_fields(columns, &rows, table);
    }
    let mut header = vec![
        ("trace", Align::Left),
        ("machine", Align::Left),
        ("scheduler", Align::Left),
        ("allocator", Align::Left),
        ("cells", Align::Right),
        ("jobs of each", Align::Right),
    ];
    if timed {
        header.extend([("CPU time of each", Align::Right), ("of all", Align::Right)]);
    }
    let mut sheet = Sheet::new(&header);
    let times = |each: Option<f64>, all: Option<f64>| {
        let text = |time: Option<f64>| time.map_or("-".to_string(), duration);
        [each, all].into_iter().map(text).filter(|_| timed).collect::<Vec<_>>()
    };
    let (shown, others) = longest(&estimate.kinds);
    for kind in shown {
        let key = plan.key(kind.first).map_err(Failure::usage)?;
        let (cells, jobs) = (grouped(kind.cells as u64), grouped(kind.jobs));
        let mut row =
            vec![key.trace, key.topology, key.scheduler, kind.strategy.clone(), cells, jobs];
        row.extend(times(kind.each, kind.all()));
        sheet.push(row);
    }
    let mut sum = |what: String, cells: usize, all: Option<f64>| {
        let none = String::new;
        let mut row = vec![what, none(), none(), none(), grouped(cells as u64), none()];
        row.extend(times(None, all));
        sheet.push(row);
    };
    if !others.is_empty() {
        let all = others.iter().filter_map(|kind| kind.all()).reduce(|sum, all| sum + all);
        let cells = others.iter().map(|kind| kind.cells).sum();
        sum(format!("{} kinds more", grouped(others.len() as u64)), cells, all);
    }
    sum("all".to_string(), estimate.kinds.iter().map(|kind| kind.cells).sum(), estimate.all);
    table.sheet(&sheet, 0, &mut stdout()).map_err(Failure::stdout)
}

/// Prints the fields `keys` of JSON objects in the given format.
fn print_fields(
    keys: &[&'static str],
    rows: &[serde_json::Value],
    table: TableArgs,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(stdout());
    let printed = match table.format {
        FormatArg::Json => rows.iter().try_for_each(|row| {
            let pairs = keys.iter().map(|&key| Ok(format!("\"{key}\":{}", row[key])));
            let pairs: Result<Vec<String>, io::Error> = pairs.collect();
            writeln!(out, "{{{}}}", pairs?.join(","))
        }),
        FormatArg::Csv => write_csv(&fields(keys), rows, true, &mut out),
        FormatArg::Table | FormatArg::Md | FormatArg::Latex => {
            table.sheet(&sheet_of_fields(keys, rows), 0, &mut out)
        }
    };
    printed.and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Returns the kinds that have a row in the summary, in descending order of time, and the other
/// kinds.
fn longest(kinds: &[KindEstimate]) -> (Vec<&KindEstimate>, Vec<&KindEstimate>) {
    let mut shown: Vec<_> = kinds.iter().collect();
    // Kinds with equal time, or without a sample, stay in the order of the grid.
    let takes = |kind: &KindEstimate| kind.all().unwrap_or(0.0);
    shown.sort_by(|a, b| takes(b).total_cmp(&takes(a)));
    let others = shown.split_off(ROWS.min(shown.len()));
    (shown, others)
}

/// Prints the cells. JSON is printed cell by cell, because there may be ten million cells.
fn list(plan: &Plan, cells: &[u32], table: TableArgs) -> Result<(), Failure> {
    let failed = Failure::stdout;
    let row = |run: u32| {
        let [trace, ..] = plan.places(run);
        Ok::<_, Failure>(PlannedCell {
            run,
            cell: plan.id(run).map_err(Failure::usage)?.to_string(),
            key: plan.key(run).map_err(Failure::usage)?,
            jobs: plan.traces[trace].jobs,
        })
    };
    if table.format == FormatArg::Json {
        let mut out = BufWriter::new(stdout());
        for &run in cells {
            let line = serde_json::to_string(&row(run)?).map_err(io::Error::other);
            line.and_then(|line| writeln!(out, "{line}")).map_err(failed)?;
        }
        return out.flush().map_err(failed);
    }
    let value = |&run: &u32| serde_json::to_value(row(run)?).map_err(|e| failed(e.into()));
    let rows = cells.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    print_fields(&CELL, &rows, table)
}

/// Returns a text with the numbers of cells before and after the removal of equal strategies.
fn counts(plan: &Plan, shard: Shard, listed: usize) -> String {
    let (cells, combinations) =
        (counted(plan.len(), "cell"), counted(plan.combinations() as i128, "combination"));
    let all = format!("plan: {combinations}, {cells} of distinct strategies");
    if shard.is_whole() {
        all
    } else {
        format!("{all}, {} in shard {shard}", grouped(listed as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_kinds_have_rows() {
        let kind = |first: u32, each: Option<f64>| KindEstimate {
            first,
            strategy: "mm".to_string(),
            cells: 2,
            jobs: 9,
            each,
        };
        let mut kinds: Vec<_> = (0..30).map(|n| kind(n, Some(f64::from(n % 10)))).collect();
        kinds[4].each = None;
        let (shown, others) = longest(&kinds);
        let numbers =
            |kinds: &[&KindEstimate]| kinds.iter().map(|kind| kind.first).collect::<Vec<_>>();
        assert_eq!(numbers(&shown)[..6], [9, 19, 29, 8, 18, 28]);
        assert_eq!((shown.len(), others.len()), (ROWS, 10));
        assert_eq!(numbers(&others)[7..], [4, 10, 20][..], "{:?}", numbers(&others));
        let unknown: Vec<_> = (0..3).map(|n| kind(n, None)).collect();
        assert_eq!(numbers(&longest(&unknown).0), [0, 1, 2]);
    }
}
