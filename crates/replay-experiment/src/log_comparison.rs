//! Compares runs with the recorded schedule, in a grid that contains the scheduler `recorded`.
//!
//! Each run is compared with a run that repeats the log on the same copy of the trace, with the same strategy and seed,
//! so that only the schedules differ. If the grid contains the allocator `recorded`, each run is instead compared with
//! the run that also repeats the placements. Recorded waits include effects that the schedulers do not model: holds,
//! user limits, priorities, outages and reservations. A change relative to the log therefore does not predict what a
//! policy would have achieved.

use super::sweep::Plan;
use super::{LeftOut, OverLogJobs, RunKey, RunResult, run_column};
use crate::shaken::ShakenRow;
use replay_engine::metrics::{Needs, PairwiseMetrics, RunMetrics, ScheduleMetrics, SizeRow};
use replay_engine::naming::NameError;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::table::{Column, Name, Table};

/// A warning to print with every comparison with the log.
pub const CAVEAT: &str = "recorded waits include holds, limits, priorities, outages and reservations, which no \
                          scheduler models";

/// The note for a run that cannot be compared with the log. The note is printed after the name of the run.
pub const NOT_COMPARED: &str = "is not compared with the log: in this run, jobs that shared points in the log get no processors";

/// Selects the baseline of each run of a plan: a run that repeats the log.
#[derive(Clone, Copy, Debug)]
pub struct LogBaseline {
    scheduler: usize,
    /// Index of the strategy that repeats placements, if the plan has one.
    strategy: Option<usize>,
}

impl LogBaseline {
    /// Finds the baselines of a plan. Returns `None` if no run of the plan repeats the log.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Plan::key`].
    pub fn new(plan: &Plan) -> Result<Option<LogBaseline>, NameError> {
        let is_recorded = |scheduler: &SchedulerSpec| scheduler.recorded().is_some();
        let Some(scheduler) = plan.grid.schedulers.iter().position(is_recorded) else {
            return Ok(None);
        };
        let strategies = &plan.grid.strategies;
        for index in 0..strategies.len() {
            if strategies.get(index)?.recorded() {
                return Ok(Some(LogBaseline { scheduler, strategy: Some(index) }));
            }
        }
        Ok(Some(LogBaseline { scheduler, strategy: None }))
    }

    /// Returns the number of the baseline of cell `run`; `None` if `run` is the baseline itself.
    pub fn of(self, plan: &Plan, run: u32) -> Option<u32> {
        let [trace, copy, _, strategy, seed] = plan.places(run);
        let strategy = self.strategy.unwrap_or(strategy);
        let baseline = plan.run_at([trace, copy, self.scheduler, strategy, seed]);
        (baseline != run).then_some(baseline)
    }
}

/// The values of one metric in a run and in its baseline, the run that repeats the log.
#[derive(Clone, Debug)]
pub struct LogComparisonRow {
    /// Number of the run.
    pub run: u32,
    /// Key of the run.
    pub key: RunKey,
    /// Number of the run that repeats the log.
    pub log_run: u32,
    /// Number of processors requested by the jobs of this row; `None` for all jobs.
    pub size: Option<u32>,
    /// Number of jobs over which the two values are computed.
    pub jobs: u64,
    /// Number of jobs of the trace that are excluded from both values; `None` for a row of a single size.
    pub left_out: Option<LeftOut>,
    /// Name of the metric, which is a column of the table of runs.
    pub metric: Name,
    /// Unit of the metric.
    pub unit: &'static str,
    /// Value in the run that repeats the log, and value in the compared run.
    pub values: [f64; 2],
}

impl LogComparisonRow {
    /// Returns the change in percent; `None` if the value of the log is 0.
    pub fn change(&self) -> Option<f64> {
        let [log, own] = self.values;
        (log != 0.0).then(|| 100.0 * (own / log - 1.0))
    }
}

/// Metrics of one of the two compared runs, computed over the compared jobs.
struct Side<'a> {
    metrics: &'a RunMetrics,
    by_size: &'a [SizeRow],
    over: Option<&'a OverLogJobs>,
}

impl<'a> Side<'a> {
    fn of(run: &'a RunResult) -> Self {
        let (metrics, by_size) = run.compared();
        Self { metrics, by_size, over: run.over_log.as_deref() }
    }

    fn jobs(&self) -> u64 {
        self.metrics.schedule.jobs
    }

    /// Returns the number of jobs that are included in distance metrics.
    fn placed_jobs(&self) -> u64 {
        self.over.map_or(self.jobs(), |over| over.known)
    }

    fn placed_jobs_of(&self, size: usize) -> u64 {
        self.over.map_or(self.by_size[size].jobs, |over| over.known_by_size[size])
    }
}

/// Returns the comparison of a run with its baseline `log`, computed over the jobs that are in both runs. The rows for
/// all these jobs precede the rows for each job size. The result is empty if the run lacks jobs that the baseline has.
/// A run lacks jobs of the baseline if jobs shared points in the log, and the run repeats their start times but assigns
/// whole points.
pub fn rows(run: &RunResult, log: &RunResult) -> Vec<LogComparisonRow> {
    let (own, baseline) = (Side::of(run), Side::of(log));
    let mut rows = Vec::new();
    if own.jobs() != baseline.jobs() {
        return rows;
    }
    let row = |size, metric, unit, values| LogComparisonRow {
        run: run.run,
        key: run.key.clone(),
        log_run: log.run,
        size,
        jobs: own.jobs(),
        left_out: None,
        metric,
        unit,
        values,
    };
    let left_out = own.over.map_or(LeftOut::default(), |over| over.left_out);
    for (needs, columns) in RunMetrics::groups() {
        let needs_placements = !matches!(needs, Needs::Schedule | Needs::System);
        let (jobs, nowhere) = match needs_placements {
            true => (own.placed_jobs(), left_out.nowhere),
            false => (own.jobs(), 0),
        };
        // The column with the number of jobs is not a metric to compare.
        for column in
            columns.iter().filter(|column| column.name != ScheduleMetrics::jobs && jobs > 0)
        {
            let value = |of: &Side| column.value(of.metrics).number();
            if let (Some(log), Some(own)) = (value(&baseline), value(&own)) {
                let left_out = Some(LeftOut { nowhere, ..left_out });
                let whole = row(None, column.name, column.unit, [log, own]);
                rows.push(LogComparisonRow { jobs, left_out, ..whole });
            }
        }
    }
    let of_size: Vec<Column<SizeRow>> = SizeRow::columns();
    let means: Vec<_> =
        of_size.iter().filter(|column| column.name.text().starts_with("mean_")).collect();
    for (at, own_row) in own.by_size.iter().enumerate() {
        let size = own_row.size;
        let Some(log_row) = baseline.by_size.iter().find(|log| log.size == size) else { continue };
        for column in &means {
            let values = (column.value(log_row).number(), column.value(own_row).number());
            if let (Some(log), Some(value)) = values {
                let needs_placements = column.name == PairwiseMetrics::mean_pairwise_l1;
                let jobs = if needs_placements { own.placed_jobs_of(at) } else { own_row.jobs };
                let of_size = row(Some(size), column.name, column.unit, [log, value]);
                rows.push(LogComparisonRow { jobs, ..of_size });
            }
        }
    }
    rows
}

impl Table for LogComparisonRow {
    const NAME: &'static str = "against_log";
    const ROW: &'static str = "one row per run and metric, and per job size of a run: the value \
                               in the run and the value in the run that repeats the log, over \
                               the same jobs";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<LogComparisonRow>;
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|row: &Self| &row.key);
        let mut columns = vec![run_column(|row: &Self| row.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed, copy]);
        columns.extend([
            C::new("log_run", "", "number of the run that repeats the log", |row| row.log_run),
            C::new("of_size", "processors", "processors requested by the jobs of the row; null for all jobs of the run", |row| row.size),
            C::new("compared_jobs", "jobs", "number of jobs over which both values are computed: all jobs of the trace or of the size, except the jobs that are left out", |row| row.jobs),
            C::new("left_out_no_wait", "jobs", "number of jobs that are left out because the log does not contain their waiting time; null if the row is for one size", |row| row.left_out.map(|out| out.no_wait)),
            C::new("left_out_full", "jobs", "number of jobs that are left out because too few processors are free at their recorded start; null if the row is for one size", |row| row.left_out.map(|out| out.full)),
            C::new("left_out_nowhere", "jobs", "number of jobs that are left out of distances because they have no recorded placement; null if the row is for one size", |row| row.left_out.map(|out| out.nowhere)),
            C::text(ShakenRow::METRIC, "name of the metric, a column of the table runs", |row| Some(row.metric.text())),
            C::text(ShakenRow::UNIT, "unit of the metric", |row| Some(row.unit)),
            C::new("log_value", "as the metric", "value of the metric in the run that repeats the log", |row| row.values[0]),
            C::new("run_value", "as the metric", "value of the metric in the run", |row| row.values[1]),
            C::new("to_log_percent", "%", "change from log_value to run_value; null if log_value is 0. Recorded waits include holds, limits, priorities, outages and reservations, which no scheduler models", |row| row.change()),
        ]);
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::metrics::{RunMetrics, ScheduleMetrics};
    use replay_engine::workload::Job;

    fn run(run: u32, starts: &[i64]) -> RunResult {
        let job = |submit, size| Job {
            number: 0,
            submit,
            run: 100,
            estimate: 100,
            size,
            line: 0,
            shape: None,
            limit: None,
        };
        let jobs = [job(0, 4), job(10, 4), job(20, 2)];
        RunResult {
            run,
            key: RunKey {
                trace: "log".to_string(),
                topology: "4x2".to_string(),
                scheduler: "fcfs".to_string(),
                allocator: "mc1x1".to_string(),
                tie: None,
                policy: "johnson".to_string(),
                seed: 0,
                copy: 0,
            },
            turned_away: Vec::new(),
            groups: Vec::new(),
            processors: 8,
            metrics: RunMetrics {
                pairwise: PairwiseMetrics::new(30, 3),
                schedule: ScheduleMetrics::new(&jobs, starts, 8),
                ..RunMetrics::default()
            },
            by_size: replay_engine::metrics::by_size::by_size(&jobs, starts, &[10, 10, 10]),
            jobs: Vec::new(),
            allocations: Vec::new(),
            over_log: None,
            series: Default::default(),
            hierarchy_series: Default::default(),
            seconds: 0.0,
            allocator_seconds: None,
        }
    }

    #[test]
    fn compares_every_metric_and_job_size_with_the_log() {
        let (log, own) = (run(0, &[0, 40, 60]), run(5, &[0, 10, 110]));
        let rows = rows(&own, &log);
        let of = |size, metric: Name| {
            let row = rows.iter().find(|row| row.size == size && row.metric == metric);
            row.map(|row| (row.values, row.change()))
        };
        assert_eq!(
            of(None, ScheduleMetrics::mean_wait),
            Some(([70.0 / 3.0, 30.0], Some(100.0 * (30.0 / (70.0 / 3.0) - 1.0))))
        );
        assert_eq!(of(Some(4), ScheduleMetrics::mean_wait), Some(([15.0, 0.0], Some(-100.0))));
        assert_eq!(of(Some(2), ScheduleMetrics::mean_wait), Some(([40.0, 90.0], Some(125.0))));
        assert_eq!(of(None, ScheduleMetrics::jobs), None);
        assert!(rows.iter().all(|row| (row.run, row.log_run) == (5, 0)));
        let zero = run(1, &[0, 10, 20]);
        let from_nothing = super::rows(&own, &zero);
        assert!(
            from_nothing
                .iter()
                .any(|row| row.metric == ScheduleMetrics::mean_wait && row.change().is_none())
        );
    }

    /// The run that repeats the log contains two of the three jobs, and a placement for only one of them.
    #[test]
    fn compares_only_the_jobs_of_both_runs() {
        let (mut log, mut own) = (run(0, &[0, 40, 60]), run(5, &[0, 10, 110]));
        assert!(rows(&own, &log).iter().all(|row| row.size.is_some() || row.jobs == 3));
        let left_out = LeftOut { no_wait: 2, full: 1, nowhere: 1 };
        for run in [&mut log, &mut own] {
            let mut by_size = vec![run.by_size[0].clone(), run.by_size[1].clone()];
            by_size[1].mean_pairwise_l1 = None;
            let mut metrics = run.metrics.clone();
            (metrics.schedule.jobs, metrics.schedule.mean_wait) = (2, 7.0);
            let known_by_size = vec![1, 0];
            let over = OverLogJobs { metrics, by_size, known: 1, known_by_size, left_out };
            run.over_log = Some(Box::new(over));
        }
        let found = rows(&own, &log);
        let of = |metric: Name| {
            let row = found.iter().find(|row| row.size.is_none() && row.metric == metric);
            row.map(|row| (row.jobs, row.left_out, row.values))
        };
        let times = LeftOut { no_wait: 2, full: 1, nowhere: 0 };
        assert_eq!(of(ScheduleMetrics::mean_wait), Some((2, Some(times), [7.0, 7.0])));
        assert_eq!(of(PairwiseMetrics::total_pairwise_l1), Some((1, Some(left_out), [30.0, 30.0])));
        let sizes = found.iter().filter(|row| row.metric == PairwiseMetrics::mean_pairwise_l1);
        let sizes: Vec<_> = sizes.map(|row| (row.size, row.jobs)).collect();
        assert_eq!(sizes, [(None, 1), (Some(2), 1)]);
        // A run that lacks a job of the baseline is not compared.
        own.over_log = None;
        own.metrics.schedule.jobs = 1;
        assert!(rows(&own, &log).is_empty());
    }
}
