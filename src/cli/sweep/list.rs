use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::args::PlanArgs;
use super::estimate::estimate;
use super::grid;
use crate::cli::cells::Loaded;
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::stdout::stdout;
use crate::experiment::RunKey;
use crate::experiment::sweep::{Plan, Shard};
use crate::number::{fixed, grouped};

/// A cell in the listing.
#[derive(Serialize)]
struct Row {
    run: u32,
    cell: String,
    #[serde(flatten)]
    key: RunKey,
    jobs: usize,
}

/// Lists the cells of a grid and says how many there are and how long they take.
pub fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    args.grid.process.set_threads(false)?;
    let grid = grid::resolve(&args.grid)?;
    let Loaded { plan, traces } = grid::load(&args.grid, grid)?;
    let shard = args.grid.shard.unwrap_or(Shard::WHOLE);
    let cells: Vec<u32> = shard.cells(plan.len()).collect();
    if !args.grid.process.quiet {
        tell(counts(&plan, shard, cells.len()));
        if !args.no_estimate && !cells.is_empty() {
            let estimate = estimate(&plan, &traces, &cells)?;
            let threads = rayon::current_num_threads();
            tell(format_args!(
                "plan: about {} on {threads} threads, judged by {} cells",
                duration(estimate.seconds),
                estimate.samples
            ));
        }
    }
    list(&plan, &cells).map(|()| Exit::Done)
}

fn list(plan: &Plan, cells: &[u32]) -> Result<(), Failure> {
    let mut out = BufWriter::new(stdout());
    for &run in cells {
        let [trace, ..] = plan.places(run);
        let row = Row {
            run,
            cell: plan.id(run).map_err(Failure::usage)?.to_string(),
            key: plan.key(run).map_err(Failure::usage)?,
            jobs: plan.traces[trace].jobs,
        };
        let line = serde_json::to_string(&row).map_err(io::Error::other);
        line.and_then(|line| writeln!(out, "{line}"))
            .map_err(|e| Failure::output("standard output", e))?;
    }
    out.flush().map_err(|e| Failure::output("standard output", e))
}

/// Cells before and after removing equal strategies.
fn counts(plan: &Plan, shard: Shard, listed: usize) -> String {
    let (cells, combinations) = (grouped(plan.len()), grouped(plan.combinations() as i128));
    let all = format!("plan: {combinations} combinations, {cells} cells of distinct strategies");
    if shard.is_whole() {
        all
    } else {
        format!("{all}, {} in shard {shard}", grouped(listed as u64))
    }
}

/// Seconds as people say them.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{} ms", fixed(1000.0 * s, 0)),
        s if s < 100.0 => format!("{} s", fixed(s, 1)),
        s if s < 6000.0 => format!("{} min", fixed(s / 60.0, 1)),
        s => format!("{} h", fixed(s / 3600.0, 1)),
    }
}
