//! Leaves by job size and Slurm's fragmentation over time, for runs on trees and blocks.

use std::collections::BTreeMap;

use super::load::{DAY, TIME};
use super::{Line, Lines, Point};
use replay_experiment::RunResult;

/// Name of the line that shows the minimum number of leaves.
const FEWEST: &str = "fewest possible on the idle machine";

/// Returns a figure of the mean number of leaves per job for each class of job sizes. The figure has a line for each
/// strategy, and a line for the fewest possible leaves. The figure has no lines if no run has leaves. The largest size
/// of each class is a power of two, as in [`waits_by_class`](super::waits_by_size::waits_by_class).
pub fn leaves_by_class(subtitle: Vec<String>, strategies: &[(String, Vec<&RunResult>)]) -> Lines {
    let line = |(name, runs): &(String, Vec<&RunResult>)| {
        let rows = runs.iter().flat_map(|run| &run.by_size);
        let rows = rows.filter_map(|row| Some((row.size, row.jobs, row.mean_leaves?)));
        Line { name: name.clone(), points: by_class(rows) }
    };
    let mut lines: Vec<Line> = strategies.iter().map(line).collect();
    lines.retain(|line| !line.points.is_empty());
    // Strategies may leave out different jobs. The run with the most jobs is used, because it has the most job sizes.
    let runs = strategies.iter().flat_map(|(_, runs)| runs);
    let whole = runs.max_by_key(|run| run.by_size.iter().map(|row| row.jobs).sum::<u64>());
    if let Some(run) = whole.filter(|_| !lines.is_empty()) {
        let fewest: BTreeMap<u32, f64> =
            run.hierarchy_series.fewest_leaves.iter().copied().collect();
        let rows = run.by_size.iter();
        let rows = rows.filter_map(|row| Some((row.size, row.jobs, *fewest.get(&row.size)?)));
        lines.push(Line { name: FEWEST.to_string(), points: by_class(rows) });
    }
    // Only runs on blocks have Slurm's fragmentation.
    let is_of_blocks = |run: &&&RunResult| run.metrics.block_fragmentation.is_some();
    let has_blocks = strategies.iter().flat_map(|(_, runs)| runs).any(|run| is_of_blocks(&run));
    let (leaves, of_mean) =
        if has_blocks { ("Base blocks", "base blocks") } else { ("Leaves", "leaves") };
    Lines {
        title: format!("{leaves} of a job by job size"),
        subtitle,
        x_title: "Requested nodes, up to".to_string(),
        y_title: format!("Mean {of_mean} of a job"),
        log_x: true,
        log_y: true,
        plain: false,
        lines,
    }
}

/// Computes the mean over the jobs of each class of sizes. The input consists of rows of (size, number of jobs, mean
/// over these jobs).
fn by_class(rows: impl Iterator<Item = (u32, u64, f64)>) -> Vec<Point> {
    let mut classes: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for (size, jobs, mean) in rows {
        let (count, sum) = classes.entry(size.next_power_of_two()).or_default();
        *count += jobs;
        *sum += jobs as f64 * mean;
    }
    let point =
        |(&top, &(jobs, sum)): (&u32, &(u64, f64))| Point::new(f64::from(top), sum / jobs as f64);
    classes.iter().map(point).collect()
}

/// Returns a figure of Slurm's fragmentation over time, with a line for the first run of each strategy. The figure has
/// no lines if the machine does not consist of blocks.
pub fn fragmentation_over_time(
    mut subtitle: Vec<String>,
    strategies: &[(String, Vec<&RunResult>)],
) -> Lines {
    let line = |(name, runs): &(String, Vec<&RunResult>)| {
        let series = runs.first().map_or(&[][..], |run| &run.hierarchy_series.block_fragmentation);
        let points = series.iter().map(|&(middle, percent)| Point::new(middle / DAY, percent));
        Line { name: name.clone(), points: points.collect() }
    };
    let mut lines: Vec<Line> = strategies.iter().map(line).collect();
    lines.retain(|line| line.points.len() > 1);
    let span = |line: &Line| (line.points[1].x - line.points[0].x) * 24.0;
    if let Some(hours) = lines.iter().map(span).reduce(f64::max) {
        subtitle.push(format!("means over spans of at most {hours:.1} hours"));
    }
    Lines {
        title: "Fragmentation of the blocks over time".to_string(),
        subtitle,
        x_title: TIME.to_string(),
        y_title: "Slurm's fragmentation (% of its value with no node free)".to_string(),
        log_x: false,
        log_y: false,
        plain: true,
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::cancel::CancelToken;
    use replay_engine::swf::ReadOptions;
    use replay_engine::workload::{Policy, Window, Workload};
    use replay_experiment::{Cell, Measure, RunContext, Trace, run_cell};
    use std::sync::Arc;

    /// Runs two jobs of 1 and of 20 nodes, one after the other.
    fn run(machine: &str, allocator: &str) -> RunResult {
        let text = "; MaxProcs: 24\n1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 -1 -1 -1 -1\n2 100 -1 100 20 -1 -1 20 100 -1 1 1 1 -1 -1 -1 -1 -1\n";
        let policy = Policy::by_name("strict").expect("a policy");
        let window = Window::default();
        let workload = Workload::from_reader(
            text.as_bytes(),
            "two.swf",
            policy,
            &window,
            ReadOptions::default(),
        );
        let scheduler: replay_engine::scheduler::registry::SchedulerSpec =
            replay_strategies::scheduler("fcfs").expect("a scheduler");
        let topology = machine.parse().expect("a machine");
        let trace = Trace::new(
            Arc::new(workload.expect("a trace")),
            topology,
            policy.name,
            std::slice::from_ref(&scheduler),
        );
        let allocator = replay_strategies::allocator(allocator).expect("an allocator");
        let cell = Cell { trace: Arc::new(trace), scheduler, allocator, seed: 0 };
        let stop = CancelToken::new();
        let measure = Measure { placements: true, ..Measure::default() };
        run_cell(0, &cell, measure, RunContext::new(&stop)).expect("a run")
    }

    fn points(line: &Line) -> Vec<(f64, f64)> {
        line.points.iter().map(|point| (point.x, point.y)).collect()
    }

    #[test]
    fn draws_leaves_beside_the_fewest() {
        let blocks = run("block[4,16]:6x4", "first-fit");
        let figure = leaves_by_class(Vec::new(), &[("first-fit".to_string(), vec![&blocks])]);
        let lines: Vec<_> =
            figure.lines.iter().map(|line| (&line.name[..], points(line))).collect();
        let both = vec![(1.0, 1.0), (32.0, 5.0)];
        assert_eq!(lines, [("first-fit", both.clone()), (FEWEST, both)]);
        assert_eq!(figure.y_title, "Mean base blocks of a job");
        let tree = run("tree:6x4", "first-fit");
        let figure = leaves_by_class(Vec::new(), &[("first-fit".to_string(), vec![&tree])]);
        assert_eq!(figure.y_title, "Mean leaves of a job");
        let mesh = run("4x6", "random");
        assert!(
            leaves_by_class(Vec::new(), &[("random".to_string(), vec![&mesh])]).lines.is_empty()
        );
    }

    #[test]
    fn draws_the_fragmentation_of_blocks_only() {
        let blocks = run("block[4,16]:6x4", "first-fit");
        let figure =
            fragmentation_over_time(Vec::new(), &[("first-fit".to_string(), vec![&blocks])]);
        let points = points(&figure.lines[0]);
        // The fragmentation is 21 if node 0 is not free, and 64 if no node is free.
        assert_eq!(points[0], (1.0 / DAY, 100.0 * 21.0 / 64.0));
        assert_eq!(points.len(), 100);
        let tree = run("tree:6x4", "first-fit");
        assert!(
            fragmentation_over_time(Vec::new(), &[("t".to_string(), vec![&tree])]).lines.is_empty()
        );
    }
}
