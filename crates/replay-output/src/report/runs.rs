use replay_engine::metrics::{
    FragmentationMetrics, HierarchyMetrics, PairwiseMetrics, ScheduleMetrics, TieMetrics,
    UnitMetrics,
};
use replay_engine::number::{fixed, grouped};
use replay_engine::table::{Column, Name, Sheet, Shown, Value};
use replay_experiment::{RunKey, RunResult};

/// Change of a mean. The change is shown in the column after the mean.
pub struct RunChange {
    /// Column that contains the mean.
    pub of: Name,
    /// Title of the column of the change.
    pub title: &'static str,
    /// Change in percent.
    pub column: Column<RunResult>,
}

/// Returns a table of runs for the terminal, with the given changes. Columns without values are omitted.
pub fn summary<'a>(
    results: impl IntoIterator<Item = &'a RunResult> + Clone,
    changes: Vec<RunChange>,
) -> Sheet {
    // If all machines are trees or blocks, columns about leaves replace the pairwise L1.
    let has_leaves = |run: &RunResult| run.metrics.hierarchy.is_some();
    let mut all = results.clone().into_iter().peekable();
    let has_l1 = all.peek().is_none() || !all.all(has_leaves);
    Sheet::of(results, shown(changes, has_l1))
}

/// Returns the columns of [`summary`] in their order. Other tables for readers begin with these columns.
pub fn summary_order() -> Vec<Name> {
    shown(Vec::new(), true).iter().filter_map(Shown::name).collect()
}

/// Returns the columns of [`summary`].
fn shown<'a>(changes: Vec<RunChange>, has_l1: bool) -> Vec<Shown<'a, RunResult>> {
    let mut changes = changes.into_iter();
    let mut shown = vec![
        Shown::column(RunKey::TRACE, "trace", 0),
        Shown::column(ScheduleMetrics::jobs, "jobs", 0),
        Shown::column(RunKey::TOPOLOGY, "machine", 0),
        Shown::column(RunKey::SCHEDULER, "scheduler", 0),
        Shown::column(RunKey::ALLOCATOR, "allocator", 0),
        Shown::column(RunKey::TIE, "tie", 0),
    ];
    let mut measured = |name: Name, title: &'static str, decimals: usize| {
        let change = changes.by_ref().find(|change| change.of == name);
        [Some(Shown::measure(name, title, decimals)), change.map(changed)].into_iter().flatten()
    };
    if has_l1 {
        shown.extend(measured(PairwiseMetrics::mean_pairwise_l1, "pairwise L1", 3));
    }
    shown.extend([
        Shown::column(HierarchyMetrics::mean_leaves, "leaves per job", 3).optional(),
        Shown::column(HierarchyMetrics::one_leaf_percent, "one leaf %", 2).optional(),
        Shown::column(TieMetrics::tied_percent, "tied %", 1).optional(),
        Shown::column(TieMetrics::mean_tied, "mean tied", 1).optional(),
        Shown::percent(ScheduleMetrics::utilization, "util %", 2),
        Shown::text("up util %", |run: &RunResult| {
            run.metrics.outages.map(|outages| fixed(100.0 * outages.up_utilization, 2))
        })
        .right()
        .optional(),
    ]);
    shown.extend(measured(ScheduleMetrics::mean_wait, "wait", 0));
    shown.extend(measured(ScheduleMetrics::mean_turnaround, "turnaround", 0));
    shown.extend(measured(ScheduleMetrics::mean_bounded_slowdown, "slowdown", 2));
    shown.extend([
        Shown::text("no size", |run: &RunResult| {
            let away = run.metrics.system.and_then(|system| system.fragmentation.no_such_size_jobs);
            away.filter(|&jobs| jobs > 0).map(grouped)
        })
        .right()
        .optional(),
        Shown::column(FragmentationMetrics::refusals, "refused", 0).optional(),
        Shown::column(FragmentationMetrics::internal_fragmentation_percent, "lost %", 2).optional(),
        Shown::column(UnitMetrics::mean_blocks, "blocks", 2).optional(),
        Shown::text("seconds", |run: &RunResult| Some(fixed(run.seconds, 3))).right(),
    ]);
    shown
}

/// Returns the column of a change, with its sign.
fn changed<'a>(change: RunChange) -> Shown<'a, RunResult> {
    let RunChange { title, column, .. } = change;
    let text = move |run: &RunResult| match column.value(run) {
        Value::F64(value) => {
            Some(format!("{}{}", if value > 0.0 { "+" } else { "" }, fixed(value, 2)))
        }
        _ => None,
    };
    Shown::text(title, text).right()
}
