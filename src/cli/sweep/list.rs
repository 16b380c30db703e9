use std::io::{self, BufWriter, Write};
use std::time::Instant;

use serde::Serialize;

use super::args::PlanArgs;
use super::estimate::{Estimate, KindEstimate, estimate};
use super::grid;
use super::seconds::Seconds;
use crate::cli::cells::Loaded;
use crate::cli::exit::{Exit, Failure, tell};
use replay_core::number::{counted, grouped};
use replay_experiment::RunKey;
use replay_experiment::sweep::{Plan, Shard};
use replay_output::report::manifest::peak_memory_bytes;
use replay_output::report::{Align, Sheet};
use std::io::stdout;

/// Kinds of cells that have a row of their own in the summary.
const ROWS: usize = 20;

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
    let begin = Instant::now();
    args.grid.process.set_threads()?;
    let grid = grid::resolve(&args.grid)?;
    let Loaded { plan, traces } = grid::load(&args.grid, grid)?;
    let shard = args.grid.shard.unwrap_or(Shard::WHOLE);
    let cells: Vec<u32> = shard.cells(plan.len()).collect();
    let quiet = args.grid.process.quiet;
    if !quiet {
        tell(counts(&plan, shard, cells.len()));
        if cells.is_empty() {
            tell("plan: nothing to run here, as the grid has fewer cells than there are shards");
        }
    }
    let timed = !args.no_estimate && !cells.is_empty();
    // Nobody would hear of it.
    let estimate = match args.list && (quiet || !timed) {
        true => None,
        false => Some(estimate(&plan, &traces, &cells, timed, begin)?),
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

/// How long all cells take, and how that is known.
fn in_words(estimate: &Estimate) -> String {
    let (kinds, windows) = (estimate.kinds.len(), estimate.windows);
    let (Some(all), Some(elapsed)) = (estimate.all, estimate.elapsed) else {
        return "no time for a sample".to_string();
    };
    let threads = estimate.threads;
    let [threads, windows] =
        [(threads, "thread"), (windows, "window")].map(|(count, what)| counted(count as u64, what));
    let kinds = counted(kinds as u64, "kind");
    let mut words = format!(
        "about {elapsed} on {threads}, CPU time {all}; judged by {windows} of jobs of {kinds} of cells"
    );
    // "about more than" and "about <" are none.
    if all.open || words.starts_with("about <") {
        words = words.replacen("about ", "", 1);
    }
    if estimate.as_one > 1 {
        words += &format!(
            "; up to {} tie vectors are replayed as one, a cell of them alone takes longer",
            grouped(estimate.as_one as u64)
        );
    }
    match estimate.short {
        None => {}
        Some(0) => words += "; some strategies did not come to the end of a decision in time",
        Some(jobs) => {
            words += &format!(
                "; there was time for windows of {} only, which see an empty machine",
                counted(jobs as u64, "job")
            );
        }
    }
    if estimate.unsampled > 0 {
        let cells = counted(estimate.unsampled as u64, "cell");
        let count = if all.open { "add nothing" } else { "count as the mean" };
        words += &format!("; kinds that had no window, of {cells}, {count}");
    }
    if let Some(bytes) = peak_memory_bytes() {
        let mib = grouped(bytes.div_ceil(1 << 20));
        words += &format!("; memory so far {mib} MiB, with the traces");
    }
    words
}

/// A row for each kind of cells, the dearest first, and one for all.
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
            ("CPU time of each", Align::Right),
            ("of all", Align::Right),
            ("from", Align::Right),
            ("to", Align::Right),
        ]);
    }
    let mut sheet = Sheet::new(&header);
    let times = |each: Option<Seconds>, all: Option<Seconds>| -> Vec<String> {
        let unknown = || ["-", "-", "-"].map(str::to_string);
        let [each, _, _] = each.map_or_else(unknown, Seconds::cells);
        let all = all.map_or_else(unknown, Seconds::cells);
        std::iter::once(each).chain(all).filter(|_| timed).collect()
    };
    let (shown, others) = dearest(&estimate.kinds);
    for kind in shown {
        let key = plan.key(kind.first).map_err(Failure::usage)?;
        let (cells, jobs) = (grouped(kind.cells as u64), grouped(kind.jobs));
        let mut row =
            vec![key.trace, key.topology, key.scheduler, kind.strategy.clone(), cells, jobs];
        row.extend(times(kind.each, kind.all()));
        sheet.push(row);
    }
    let mut sum = |what: String, cells: usize, all: Option<Seconds>| {
        let none = String::new;
        let mut row = vec![what, none(), none(), none(), grouped(cells as u64), none()];
        row.extend(times(None, all));
        sheet.push(row);
    };
    if !others.is_empty() {
        let all = others.iter().filter_map(|kind| kind.all()).reduce(Seconds::and);
        let cells = others.iter().map(|kind| kind.cells).sum();
        sum(format!("{} kinds more", grouped(others.len() as u64)), cells, all);
    }
    sum("all".to_string(), estimate.kinds.iter().map(|kind| kind.cells).sum(), estimate.all);
    sheet.write_plain(&mut stdout()).map_err(|e| Failure::output("standard output", e))
}

/// The kinds that have a row of their own, those that take most first, and the others.
fn dearest(kinds: &[KindEstimate]) -> (Vec<&KindEstimate>, Vec<&KindEstimate>) {
    // What may take any longer comes before all that has an upper end.
    let takes = |kind: &KindEstimate| {
        kind.all()
            .map_or((false, 0.0), |all| (all.open, if all.open { all.least } else { all.usual }))
    };
    let mut shown: Vec<_> = kinds.iter().collect();
    // In the order of the grid where they are equal, or nothing is known.
    shown.sort_by(|a, b| {
        let (a, b) = (takes(a), takes(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    let others = shown.split_off(ROWS.min(shown.len()));
    (shown, others)
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
    fn the_dearest_kinds_have_rows() {
        let kind = |first: u32, each: Option<f64>| {
            let each = each.map(Seconds::exactly);
            KindEstimate { first, strategy: "mm".to_string(), cells: 2, jobs: 9, each }
        };
        let mut kinds: Vec<_> = (0..30).map(|n| kind(n, Some(f64::from(n % 10)))).collect();
        kinds[4].each = None;
        let (shown, others) = dearest(&kinds);
        let numbers =
            |kinds: &[&KindEstimate]| kinds.iter().map(|kind| kind.first).collect::<Vec<_>>();
        assert_eq!(numbers(&shown)[..6], [9, 19, 29, 8, 18, 28]);
        assert_eq!((shown.len(), others.len()), (ROWS, 10));
        assert_eq!(numbers(&others)[7..], [4, 10, 20][..], "{:?}", numbers(&others));
        // An open one is dearer than all others.
        let open = Some(Seconds { open: true, ..Seconds::exactly(0.1) });
        kinds.push(KindEstimate { each: open, ..kind(30, None) });
        assert_eq!(numbers(&dearest(&kinds).0)[..3], [30, 9, 19]);
        let unknown: Vec<_> = (0..3).map(|n| kind(n, None)).collect();
        assert_eq!(numbers(&dearest(&unknown).0), [0, 1, 2]);
    }
}
