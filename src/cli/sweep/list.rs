use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::args::PlanArgs;
use super::estimate::{Estimate, Seconds, estimate};
use super::grid;
use crate::cli::cells::Loaded;
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::stdout::stdout;
use crate::experiment::RunKey;
use crate::experiment::sweep::{Plan, Shard};
use crate::number::{fixed, grouped};
use crate::report::{Align, Sheet};

/// A cell in the listing.
#[derive(Serialize)]
struct Row {
    run: u32,
    cell: String,
    #[serde(flatten)]
    key: RunKey,
    jobs: usize,
}

/// Says how many cells a grid has, of which kinds, and how long they take; or lists them all.
pub fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    args.grid.process.set_threads(false)?;
    let grid = grid::resolve(&args.grid)?;
    let Loaded { plan, traces } = grid::load(&args.grid, grid)?;
    let shard = args.grid.shard.unwrap_or(Shard::WHOLE);
    let cells: Vec<u32> = shard.cells(plan.len()).collect();
    let quiet = args.grid.process.quiet;
    if !quiet {
        tell(counts(&plan, shard, cells.len()));
    }
    let timed = !args.no_estimate && !cells.is_empty();
    // Nobody would hear of it.
    let estimate = match args.list && (quiet || !timed) {
        true => None,
        false => Some(estimate(&plan, &traces, &cells, timed)?),
    };
    if let Some(estimate) = estimate.as_ref().filter(|_| timed && !quiet) {
        tell(format_args!("plan: {}", in_words(estimate)));
    }
    match estimate {
        Some(estimate) if !args.list => summary(&plan, &estimate, timed),
        _ => list(&plan, &cells),
    }
    .map(|()| Exit::Done)
}

/// How long all cells take.
fn in_words(estimate: &Estimate) -> String {
    let (kinds, windows) = (estimate.kinds.len(), estimate.windows);
    let Some(all) = estimate.all else { return "no time for a sample".to_string() };
    let threads = rayon::current_num_threads();
    let time = match all {
        Seconds { open: true, usual, .. } => format!("more than {}", duration(usual)),
        Seconds { usual, least, most, .. } => {
            format!("about {} ({} to {})", duration(usual), duration(least), duration(most))
        }
    };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut words = format!(
        "{time} on {threads} thread{}, judged by {windows} window{} of jobs of {kinds} kind{} of cells",
        plural(threads),
        plural(windows),
        plural(kinds)
    );
    if let Some(jobs) = estimate.short {
        words += &format!(
            "; there was time for windows of {jobs} jobs only, which see an empty machine"
        );
    }
    if estimate.unsampled > 0 {
        let cells = grouped(estimate.unsampled as u64);
        words +=
            &format!("; {cells} cells are of kinds that had no window: they count as the mean");
    }
    words
}

/// A row for each kind of cells.
fn summary(plan: &Plan, estimate: &Estimate, timed: bool) -> Result<(), Failure> {
    let mut header = vec![
        ("trace", Align::Left),
        ("machine", Align::Left),
        ("scheduler", Align::Left),
        ("allocator", Align::Left),
        ("cells", Align::Right),
        ("jobs of each", Align::Right),
    ];
    if timed {
        header.extend([
            ("time of each", Align::Right),
            ("from", Align::Right),
            ("to", Align::Right),
        ]);
    }
    let mut sheet = Sheet::new(&header);
    for kind in &estimate.kinds {
        let [_, _, _, strategy, _] = plan.places(kind.first);
        let entry = plan.grid.strategies.entry(strategy);
        let key = plan.key(kind.first).map_err(Failure::usage)?;
        let name = plan.grid.file.allocator.get(entry).map_or(key.allocator, |e| e.name.clone());
        let (cells, jobs) = (grouped(kind.cells as u64), grouped(kind.jobs));
        let mut row = vec![key.trace, key.topology, key.scheduler, name, cells, jobs];
        if timed {
            row.extend(match kind.seconds {
                None => ["-", "-", "-"].map(str::to_string),
                Some(Seconds { open: true, least, .. }) => {
                    [format!("> {}", duration(least)), duration(least), "-".to_string()]
                }
                Some(Seconds { usual, least, most, .. }) => [usual, least, most].map(duration),
            });
        }
        sheet.push(row);
    }
    sheet.write_plain(&mut stdout()).map_err(|e| Failure::output("standard output", e))
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
