//! Mean waits by job size in a log and under other schedulers.

use std::collections::BTreeMap;

use super::{Line, Lines, Point};
use replay_experiment::RunResult;

/// Name of the scheduler that repeats the start times of a log.
pub const RECORDED: &str = "recorded";

/// Returns a figure of mean waits by class of job sizes, with a line for each of `runs`. The runs must differ only in
/// their scheduler. The largest size of each class is a power of two (1, 2, 3 to 4, 5 to 8, and so on); a point is
/// plotted at the largest size of its class.
pub fn waits_by_class(subtitle: Vec<String>, runs: &[&RunResult]) -> Lines {
    Lines {
        title: "Mean wait in the log and under other schedulers".to_string(),
        subtitle,
        x_title: "Requested processors, up to".to_string(),
        y_title: "Mean wait (hours)".to_string(),
        log_x: true,
        log_y: true,
        plain: false,
        lines: runs.iter().map(|run| line(run)).collect(),
    }
}

fn line(run: &RunResult) -> Line {
    let mut classes: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for row in &run.by_size {
        let (jobs, wait) = classes.entry(row.size.next_power_of_two()).or_default();
        *jobs += row.jobs;
        *wait += row.jobs as f64 * row.mean_wait;
    }
    let point = |(&top, &(jobs, wait)): (&u32, &(u64, f64))| {
        Point::new(f64::from(top), wait / jobs as f64 / 3600.0)
    };
    Line { name: run.key.scheduler.clone(), points: classes.iter().map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;
    use replay_engine::metrics::SizeRow;

    #[test]
    fn classes_end_at_powers_of_two() {
        let row = |size, jobs, mean_wait| SizeRow {
            size,
            jobs,
            size_rank: 1,
            mean_pairwise_l1: None,
            mean_leaves: None,
            mean_wait,
            mean_turnaround: 0.0,
        };
        let by_size = vec![row(1, 4, 3600.0), row(3, 1, 7200.0), row(4, 3, 0.0), row(9, 2, 1800.0)];
        let run = RunResult { by_size, ..run(RECORDED, None, 0, [0; 4]) };
        let lines = waits_by_class(Vec::new(), &[&run]).lines;
        let points: Vec<(f64, f64)> =
            lines[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(1.0, 1.0), (4.0, 0.5), (16.0, 0.5)]);
        assert_eq!(lines[0].name, "recorded");
    }
}
