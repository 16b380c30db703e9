//! `replay compare --schedule`: jobs that start earlier or later.

use std::io::Write;

use crate::cli::exit::Failure;
use crate::cli::print::{FormatArg, Sorting, TableArgs};
use crate::cli::terminal::stdout;
use replay_engine::number::{fixed, grouped};
use replay_engine::workload::JobIds;
use replay_experiment::schedule_diff::{ScheduleDiff, StartChange};
use replay_output::plot::{FileNames, Plots, Shift, Shifts, save};
use replay_output::report::{Sheet, Shown};

/// Maximum number of jobs in the table of the largest shifts.
const ROWS: usize = 20;

/// Prints how the start times of jobs differ between the runs of each pair, and draws a figure for
/// each pair. `ids` contains the ids of the jobs of each pair in the log, if they are known.
///
/// # Errors
/// A usage error if a file cannot be written.
pub fn show(
    pairs: &[Vec<StartChange>],
    ids: &[Option<JobIds>],
    table: TableArgs,
    sorting: Option<Sorting<StartChange>>,
    plots: Option<&Plots>,
) -> Result<(), Failure> {
    let printed = match table.format {
        FormatArg::Table | FormatArg::Md | FormatArg::Latex => {
            print_summary(pairs, ids, table, sorting.as_ref())
        }
        FormatArg::Json | FormatArg::Csv => {
            let mut rows: Vec<&StartChange> = pairs.iter().flatten().collect();
            if let Some(sorting) = &sorting {
                rows.sort_by(|a, b| sorting.order(a, b));
            }
            table.print(rows, Vec::new, &mut stdout())
        }
    };
    printed.map_err(Failure::stdout)?;
    let Some(plots) = plots else { return Ok(()) };
    let mut stems = FileNames::default();
    for pair in pairs {
        let Some(first) = pair.first() else { continue };
        let figure = figure(pair, first);
        let stem = stems.unique(&["schedule", &first.base, &first.run]);
        save(plots, &stem, &figure).map_err(|e| Failure::output(plots.dir().display(), e))?;
    }
    Ok(())
}

fn figure(pair: &[StartChange], first: &StartChange) -> Shifts {
    let shift = |row: &StartChange| Shift { job: row.job, submit: row.submit, later: row.later() };
    Shifts {
        title: "Jobs that start earlier or later".to_string(),
        subtitle: vec![first.run.clone(), format!("against {}", first.base)],
        shifts: pair.iter().map(shift).collect(),
    }
}

/// Prints a sentence for each pair, and the jobs with the largest shifts.
fn print_summary(
    pairs: &[Vec<StartChange>],
    ids: &[Option<JobIds>],
    table: TableArgs,
    sorting: Option<&Sorting<StartChange>>,
) -> std::io::Result<()> {
    let mut out = stdout();
    for (i, pair) in pairs.iter().enumerate() {
        let Some(first) = pair.first() else { continue };
        if i > 0 {
            writeln!(out)?;
        }
        let ScheduleDiff { same, earlier, later } = ScheduleDiff::of(pair);
        let part = |(jobs, seconds): (u64, i64), how: &str| match jobs {
            0 => format!("none starts {how}"),
            _ => format!(
                "{} start {how}, by {} s on average",
                grouped(jobs),
                fixed(seconds as f64 / jobs as f64, 0)
            ),
        };
        writeln!(
            out,
            "{} against {}: of {} jobs, {}; {}; {} start in the same second",
            first.run,
            first.base,
            grouped(pair.len() as u64),
            part(earlier, "earlier"),
            part(later, "later"),
            grouped(same)
        )?;
        let mut most: Vec<&StartChange> = pair.iter().filter(|row| row.later() != 0).collect();
        match sorting {
            Some(sorting) => most.sort_by(|a, b| sorting.order(a, b)),
            None => most.sort_by_key(|row| (-row.later().abs(), row.job)),
        }
        let more = most.len().saturating_sub(ROWS);
        most.truncate(ROWS);
        if most.is_empty() {
            continue;
        }
        let ids = ids.get(i).and_then(Option::as_ref);
        let id = |row: &&StartChange| ids?.id(row.job).map(str::to_string);
        let mut shown =
            vec![Shown::text("job", |row: &&StartChange| Some(row.job.to_string())).right()];
        shown.extend(ids.map(|_| Shown::text("id", id).right()));
        shown.extend([
            Shown::text("size", |row: &&StartChange| Some(grouped(row.size))).right(),
            Shown::text("submit s", |row: &&StartChange| Some(grouped(row.submit))).right(),
            Shown::text("base start s", |row: &&StartChange| Some(grouped(row.starts[0]))).right(),
            Shown::text("start s", |row: &&StartChange| Some(grouped(row.starts[1]))).right(),
            Shown::text("later s", |row: &&StartChange| Some(grouped(row.later()))).right(),
        ]);
        writeln!(out)?;
        table.sheet(&Sheet::of(&most, shown), 0, &mut out)?;
        if more > 0 {
            writeln!(out, "and {} more (--format csv has all)", grouped(more as u64))?;
        }
    }
    Ok(())
}
