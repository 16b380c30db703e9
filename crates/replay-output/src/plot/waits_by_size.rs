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
    use super::*;
    use replay_core::metrics::SizeRow;
    use replay_core::metrics::run::PlacementMeans;
    use replay_core::metrics::{RunMetrics, ScheduleMetrics};

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
        let schedule = ScheduleMetrics::new(&[], &[], 16);
        let run = RunResult {
            run: 0,
            key: replay_experiment::RunKey {
                trace: "log".to_string(),
                topology: "4x4".to_string(),
                scheduler: RECORDED.to_string(),
                allocator: "mc1x1".to_string(),
                tie: None,
                policy: "johnson".to_string(),
                seed: 0,
                copy: 0,
            },
            turned_away: Vec::new(),
            processors: 16,
            metrics: RunMetrics::new(&schedule, 0, &PlacementMeans::default(), None, None),
            by_size: vec![row(1, 4, 3600.0), row(3, 1, 7200.0), row(4, 3, 0.0), row(9, 2, 1800.0)],
            jobs: Vec::new(),
            allocations: Vec::new(),
            over_log: None,
            series: Default::default(),
            hierarchy_series: Default::default(),
            seconds: 0.0,
            allocator_seconds: None,
        };
        let lines = waits_by_class(Vec::new(), &[&run]).lines;
        let points: Vec<(f64, f64)> =
            lines[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(1.0, 1.0), (4.0, 0.5), (16.0, 0.5)]);
        assert_eq!(lines[0].name, "recorded");
    }
}
