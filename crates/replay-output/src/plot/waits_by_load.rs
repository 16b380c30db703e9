//! Mean waits by the load of a trace.

use super::shaken::over_copies;
use super::spread::not_shown;
use super::{Line, Lines, Point};
use replay_engine::metrics::estimate::Estimate;
use replay_experiment::RunResult;

/// Minimum number of loads for a line.
pub const FEWEST: usize = 3;

const HOUR: f64 = 3600.0;

/// The runs of a strategy at one load: a run on the trace for each seed, and runs on perturbed copies.
pub struct AtLoad<'a> {
    /// Offered load.
    pub load: f64,
    /// The strategy.
    pub strategy: String,
    /// Runs on the unperturbed trace.
    pub runs: Vec<&'a RunResult>,
    /// Runs on perturbed copies.
    pub shaken: Vec<&'a RunResult>,
}

/// Returns a figure of the mean wait of each strategy by load. Waits are averaged over perturbed copies if there are
/// perturbed copies. Strategies with equal waits at every load share a line. If the allocator never refuses a job, the
/// wait depends only on the scheduler. The figure shows the `most` lines with the lowest waits, or all lines if there
/// are fewer. Returns `None` if there are fewer than [three](FEWEST) loads.
pub fn waits_by_load(
    mut subtitle: Vec<String>,
    points: &[AtLoad<'_>],
    most: usize,
) -> Option<Lines> {
    let mut loads: Vec<f64> = points.iter().map(|point| point.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < FEWEST {
        return None;
    }
    let mut own: Vec<(&str, Vec<Point>)> = Vec::new();
    for at in points {
        match own.iter_mut().find(|(name, _)| *name == at.strategy) {
            Some((_, line)) => line.push(point(at)),
            None => own.push((&at.strategy, vec![point(at)])),
        }
    }
    let mut shared: Vec<(Vec<&str>, Vec<Point>)> = Vec::new();
    for (name, mut line) in own {
        line.sort_by(|a, b| a.x.total_cmp(&b.x));
        match shared.iter_mut().find(|(_, other)| *other == line) {
            Some((names, _)) => names.push(name),
            None => shared.push((vec![name], line)),
        }
    }
    if shared.len() > most {
        // Keep the lines with the lowest waits, without changing their order.
        let total = |line: &[Point]| line.iter().map(|point| point.y).sum::<f64>();
        let mut totals: Vec<f64> = shared.iter().map(|(_, line)| total(line)).collect();
        totals.sort_by(f64::total_cmp);
        let all = shared.len();
        shared.retain(|(_, line)| total(line) <= totals[most - 1]);
        shared.truncate(most);
        subtitle.extend(not_shown(all - shared.len()));
    }
    let waits = || shared.iter().flat_map(|(_, line)| line.iter().map(|point| point.y));
    let least = waits().fold(f64::INFINITY, f64::min);
    let log_y = least > 0.0 && waits().fold(0.0, f64::max) > 30.0 * least;
    let line = |(names, points): (Vec<&str>, Vec<Point>)| Line { name: label(&names), points };
    Some(Lines {
        title: "Mean wait by load".to_string(),
        subtitle,
        x_title: "Offered load".to_string(),
        y_title: "Mean wait (hours)".to_string(),
        log_x: false,
        log_y,
        plain: false,
        lines: shared.into_iter().map(line).collect(),
    })
}

fn point(at: &AtLoad<'_>) -> Point {
    let wait = |run: &RunResult| run.metrics.schedule.mean_wait / HOUR;
    let shaken: Option<Estimate> = over_copies(at.shaken.iter().copied(), |run| Some(wait(run)));
    match shaken {
        Some(mean) => Point {
            x: at.load,
            y: mean.mean,
            error: Some((mean.mean - mean.half_width, mean.mean + mean.half_width)),
        },
        None => {
            let own = at.runs.iter().map(|run| wait(run)).sum::<f64>() / at.runs.len() as f64;
            Point::new(at.load, own)
        }
    }
}

/// Returns the name of a line, which consists of the names of the strategies that share the line.
fn label(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => name.to_string(),
        [name, other] => format!("{name}, {other}"),
        [one, two, three] => format!("{one}, {two}, {three}"),
        [name, ..] => format!("{} strategies with the same waits as {name}", names.len()),
    }
}
