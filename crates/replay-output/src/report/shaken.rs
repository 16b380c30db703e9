use replay_engine::metrics::{HierarchyMetrics, PairwiseMetrics, ScheduleMetrics};
use replay_engine::number::{fixed, grouped};
use replay_engine::table::{Column, Name, Sheet, Shown, with_unit};
use replay_experiment::contention::Contention;
use replay_experiment::shaken::{ShakenRow, difference_text};

/// A metric that is shown as a mean over perturbed copies. The fields are the name, the title without the unit of the
/// column, the factor by which values are multiplied, and the number of decimals.
pub type ShakenFigure = (Name, &'static str, f64, usize);

/// Metrics of a replay that are shown.
pub const RUN_FIGURES: &[ShakenFigure] = &[
    (PairwiseMetrics::mean_pairwise_l1, "pairwise L1", 1.0, 3),
    (HierarchyMetrics::mean_leaves, "leaves per job", 1.0, 3),
    (HierarchyMetrics::one_leaf_percent, "one leaf %", 1.0, 2),
    (HierarchyMetrics::mean_pair_hops, "hops", 1.0, 3),
    (ScheduleMetrics::utilization, "util %", 100.0, 2),
    (ScheduleMetrics::mean_wait, "wait", 1.0, 1),
    (ScheduleMetrics::mean_turnaround, "turnaround", 1.0, 1),
    (ScheduleMetrics::mean_bounded_slowdown, "slowdown", 1.0, 3),
];

/// Metrics of jobs on a network that are shown.
pub const CONTENTION_FIGURES: &[ShakenFigure] = &[
    (Contention::median_stretch, "median stretch", 1.0, 4),
    (Contention::trimmed_mean_stretch, "trimmed stretch", 1.0, 4),
    (Contention::median_placement_factor, "median placement", 1.0, 4),
    (Contention::median_contention_factor, "median contention", 1.0, 4),
    (Contention::mean_turnaround_cycles, "turnaround", 1.0, 0),
];

/// Rows of one run.
struct Run<'a>(&'a [ShakenRow]);

impl<'a> Run<'a> {
    fn metric(&self, name: Name) -> Option<&'a ShakenRow> {
        self.0.iter().find(|row| row.metric == name)
    }
}

/// Returns a table for the terminal with means over perturbed copies. Each mean is followed by half the width of its
/// confidence interval. If the mean differs from the value of the reference run, the difference is also given. The mark
/// `~` means that the difference is not significant.
///
/// Titles contain the units declared by `columns`.
pub fn shaken_summary<Metrics>(
    rows: &[ShakenRow],
    figures: &[ShakenFigure],
    columns: &[Column<Metrics>],
) -> Sheet {
    let runs: Vec<Run<'_>> = rows.chunk_by(|a, b| a.run == b.run).map(Run).collect();
    let key = |run: &Run<'_>| run.0[0].key.clone();
    let mut shown = vec![
        Shown::text("trace", move |run| Some(key(run).trace)),
        Shown::text("copies", |run: &Run<'_>| {
            run.0.iter().map(|row| row.mean.count).max().map(grouped)
        })
        .right(),
        Shown::text("machine", move |run| Some(key(run).topology)),
        Shown::text("scheduler", move |run| Some(key(run).scheduler)),
        Shown::text("allocator", move |run| Some(key(run).allocator)),
        Shown::text("tie", move |run| key(run).tie),
    ];
    for &(name, title, factor, decimals) in figures {
        let value = move |value: f64| fixed(factor * value, decimals);
        // The title of a share that is shown in percent already contains the unit.
        let title = match factor == 1.0 {
            true => with_unit(columns, name, title),
            false => title.to_string(),
        };
        shown.push(
            Shown::text(title, move |run: &Run<'_>| {
                let mean = run.metric(name)?.mean;
                Some(format!("{} ± {}", value(mean.mean), value(mean.half_width)))
            })
            .right()
            .optional(),
        );
        let differs = move |run: &Run<'_>| {
            let difference = run.metric(name)?.difference?;
            let mean = [difference.mean.mean, difference.mean.half_width];
            difference_text(mean, difference.verdict, value)
        };
        shown.push(Shown::text("to the first", differs).right().optional());
    }
    Sheet::of(&runs, shown)
}
