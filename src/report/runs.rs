use super::format::{Sheet, Shown};
use crate::experiment::RunResult;
use crate::number::fixed;

/// The table for people. Columns that no run fills are left out.
pub fn summary<'a>(results: impl IntoIterator<Item = &'a RunResult> + Clone) -> Sheet {
    let shown = vec![
        Shown::column("trace", "trace", 0),
        Shown::column("jobs", "jobs", 0),
        Shown::column("topology", "machine", 0),
        Shown::column("scheduler", "scheduler", 0),
        Shown::column("allocator", "allocator", 0),
        Shown::column("tie", "tie", 0),
        Shown::column("mean_pairwise_l1", "pairwise L1", 3),
        Shown::column("tied_percent", "tied %", 1).optional(),
        Shown::column("mean_tied", "mean tied", 1).optional(),
        Shown::percent("utilization", "util %", 2),
        Shown::text("up util %", |run: &RunResult| {
            run.metrics.outages.map(|outages| fixed(100.0 * outages.up_utilization, 2))
        })
        .right()
        .optional(),
        Shown::column("mean_wait", "wait s", 0),
        Shown::column("mean_turnaround", "turnaround s", 0),
        Shown::column("mean_bounded_slowdown", "slowdown", 2),
        Shown::column("refusals", "refused", 0).optional(),
        Shown::column("internal_fragmentation_percent", "lost %", 2).optional(),
        Shown::column("mean_blocks", "blocks", 2).optional(),
        Shown::text("seconds", |run: &RunResult| Some(fixed(run.seconds, 3))).right(),
    ];
    Sheet::of(results, shown)
}
