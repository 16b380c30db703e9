use replay_engine::metrics::{HierarchyMetrics, PairwiseMetrics, ScheduleMetrics};
use replay_engine::number::{fixed, grouped};
use replay_engine::table::{Name, Sheet, Shown};
use replay_experiment::log_comparison::LogComparisonRow;

/// Compared metrics and their column titles.
const METRICS: [(Name, &str); 8] = [
    (PairwiseMetrics::mean_pairwise_l1, "pairwise L1"),
    (HierarchyMetrics::mean_leaves, "leaves"),
    (HierarchyMetrics::one_leaf_percent, "one leaf"),
    (HierarchyMetrics::mean_pair_hops, "hops"),
    (ScheduleMetrics::utilization, "util"),
    (ScheduleMetrics::mean_wait, "wait"),
    (ScheduleMetrics::mean_turnaround, "turnaround"),
    (ScheduleMetrics::mean_bounded_slowdown, "slowdown"),
];

/// Returns a table for the terminal with the differences between runs and the log, in percent of the values in the log.
pub fn log_comparison_summary(rows: &[LogComparisonRow]) -> Sheet {
    let whole: Vec<&LogComparisonRow> = rows.iter().filter(|row| row.size.is_none()).collect();
    let runs: Vec<&[&LogComparisonRow]> = whole.chunk_by(|a, b| a.run == b.run).collect();
    let mut shown = vec![
        Shown::text("against the log", |run: &&[&LogComparisonRow]| Some(run[0].key.trace.clone())),
        Shown::text("machine", |run: &&[&LogComparisonRow]| Some(run[0].key.topology.clone())),
        Shown::text("scheduler", |run: &&[&LogComparisonRow]| Some(run[0].key.scheduler.clone())),
        Shown::text("allocator", |run: &&[&LogComparisonRow]| Some(run[0].key.allocator.clone())),
        Shown::text("tie", |run: &&[&LogComparisonRow]| run[0].key.tie.clone()),
    ];
    // Show the number of jobs with compared times and, if it differs, the number of jobs with compared placements.
    for (name, title) in
        [(ScheduleMetrics::mean_wait, "jobs"), (PairwiseMetrics::mean_pairwise_l1, "with places")]
    {
        let jobs = move |run: &&[&LogComparisonRow]| {
            let of = |name: Name| run.iter().find(|row| row.metric == name).map(|row| row.jobs);
            let (jobs, all) = (of(name)?, of(ScheduleMetrics::mean_wait));
            (name == ScheduleMetrics::mean_wait || all != Some(jobs)).then(|| grouped(jobs))
        };
        shown.push(Shown::text(title, jobs).right().optional());
    }
    for (name, title) in METRICS {
        let change = move |run: &&[&LogComparisonRow]| {
            let change = run.iter().find(|row| row.metric == name)?.change()?;
            let sign = if change > 0.0 { "+" } else { "" };
            Some(format!("{sign}{} %", fixed(change, 1)))
        };
        shown.push(Shown::text(title, change).right().optional());
    }
    Sheet::of(&runs, shown)
}
