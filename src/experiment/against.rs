//! How runs differ from what the log did, in a grid with the scheduler `recorded`.
//!
//! A run is set against the run that repeats the log on the same copy of the trace, with the same strategy
//! and seed, so that only the schedule differs; if the grid has the allocator `recorded`, against the one
//! that repeats placements too. Recorded waits contain what no scheduler here models: holds, limits of
//! users, priorities, outages and reservations. So a change is not what a policy would have brought.

use super::sweep::Plan;
use super::{RunKey, RunResult, run_column};
use crate::metrics::run::Needs;
use crate::metrics::{RunMetrics, SizeRow};
use crate::naming::NameError;
use crate::scheduler::registry::SchedulerSpec;
use crate::table::{Column, Table};

/// What is to be said beside such figures.
pub const CAVEAT: &str = "recorded waits contain holds, limits, priorities, outages and reservations that no \
                          scheduler here models";

/// Which run of a plan repeats the log.
#[derive(Clone, Copy, Debug)]
pub struct Against {
    scheduler: usize,
    /// The strategy that repeats placements, if there is one.
    strategy: Option<usize>,
}

impl Against {
    /// `None` if no run of the plan repeats the log.
    ///
    /// # Errors
    /// As [`Plan::key`].
    pub fn new(plan: &Plan) -> Result<Option<Against>, NameError> {
        let is_recorded = |scheduler: &SchedulerSpec| scheduler.recorded().is_some();
        let Some(scheduler) = plan.grid.schedulers.iter().position(is_recorded) else {
            return Ok(None);
        };
        let strategies = &plan.grid.strategies;
        for index in 0..strategies.len() {
            if strategies.get(index)?.recorded() {
                return Ok(Some(Against { scheduler, strategy: Some(index) }));
            }
        }
        Ok(Some(Against { scheduler, strategy: None }))
    }

    /// The run that cell `run` is set against; `None` if it is that one.
    pub fn of(self, plan: &Plan, run: u32) -> Option<u32> {
        let [trace, copy, _, strategy, seed] = plan.places(run);
        let strategy = self.strategy.unwrap_or(strategy);
        let with = plan.run_at([trace, copy, self.scheduler, strategy, seed]);
        (with != run).then_some(with)
    }
}

/// A metric of a run beside that of the run that repeats the log.
#[derive(Clone, Debug)]
pub struct AgainstRow {
    /// The run.
    pub run: u32,
    /// What ran.
    pub key: RunKey,
    /// The run that repeats the log.
    pub log_run: u32,
    /// Size of the jobs that it is about; `None` for all.
    pub size: Option<u32>,
    /// Name of the metric, a column of the runs.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// In the run that repeats the log, and in this one.
    pub values: [f64; 2],
}

impl AgainstRow {
    /// The change in percent; `None` where the log has 0.
    pub fn change(&self) -> Option<f64> {
        let [log, own] = self.values;
        (log != 0.0).then(|| 100.0 * (own / log - 1.0))
    }
}

/// The rows of a run: its metrics, then those of its job sizes.
pub fn rows(run: &RunResult, log: &RunResult) -> Vec<AgainstRow> {
    let row = |size, metric, unit, values| AgainstRow {
        run: run.run,
        key: run.key.clone(),
        log_run: log.run,
        size,
        metric,
        unit,
        values,
    };
    let mut rows = Vec::new();
    // Distances of some jobs are nothing to set those of others against. A run that repeats a log has jobs
    // without processors, which are in none of its measures, where the log has more busy than there are.
    let same_jobs = run.metrics.schedule.jobs == log.metrics.schedule.jobs;
    let comparable = |needs: Needs| same_jobs || matches!(needs, Needs::Schedule | Needs::System);
    let groups = RunMetrics::groups().into_iter().filter(|(needs, _)| comparable(*needs));
    let metrics: Vec<Column<RunMetrics>> = groups.flat_map(|(_, columns)| columns).collect();
    // How many jobs there are is no outcome.
    for column in metrics.iter().filter(|column| column.name != "jobs") {
        let value = |of: &RunResult| column.value(&of.metrics).number();
        if let (Some(log), Some(own)) = (value(log), value(run)) {
            rows.push(row(None, column.name, column.unit, [log, own]));
        }
    }
    let of_size: Vec<Column<SizeRow>> = SizeRow::columns();
    let is_mean = |column: &&Column<SizeRow>| {
        column.name.starts_with("mean_") && (same_jobs || column.name != "mean_pairwise_l1")
    };
    let means: Vec<_> = of_size.iter().filter(is_mean).collect();
    for own in &run.by_size {
        let Some(log) = log.by_size.iter().find(|log| log.size == own.size) else { continue };
        for column in &means {
            if let (Some(log), Some(value)) =
                (column.value(log).number(), column.value(own).number())
            {
                rows.push(row(Some(own.size), column.name, column.unit, [log, value]));
            }
        }
    }
    rows
}

impl Table for AgainstRow {
    const NAME: &'static str = "against_log";
    const ROW: &'static str = "one row per run and metric, and per job size of it, beside a run that repeats the \
                               log: how it differs from what the log did. Where jobs of the log had no processors here, \
                               its values are over the others, and distances are left out";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<AgainstRow>;
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|row: &Self| &row.key);
        let mut columns = vec![run_column(|row: &Self| row.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, policy, seed, copy]);
        columns.extend([
            C::new("log_run", "", "run that repeats the log, against which a row is", |row| row.log_run),
            C::new("of_size", "processors", "processors that the jobs ask for that a row is about; null for all jobs of the run", |row| row.size),
            C::text("metric", "the metric, a column of the runs", |row| Some(row.metric)),
            C::text("unit", "its unit, and that of the columns that follow", |row| Some(row.unit)),
            C::new("log_value", "as the metric", "the metric where the log is repeated", |row| row.values[0]),
            C::new("run_value", "as the metric", "the metric in the run", |row| row.values[1]),
            C::new("to_log_percent", "%", "the run's value against the log's: how much larger it is; null where that is 0. Recorded waits contain holds, limits, priorities, outages and reservations that no scheduler here models", |row| row.change()),
        ]);
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::run::PlacementMeans;
    use crate::metrics::{RunMetrics, ScheduleMetrics};
    use crate::workload::Job;

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
        let schedule = ScheduleMetrics::new(&jobs, starts, 8);
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
            processors: 8,
            metrics: RunMetrics::new(&schedule, 30, &PlacementMeans::default(), None, None),
            by_size: crate::metrics::by_size::by_size(&jobs, starts, &[10, 10, 10]),
            jobs: Vec::new(),
            allocations: Vec::new(),
            series: Default::default(),
            seconds: 0.0,
            allocator_seconds: None,
        }
    }

    #[test]
    fn every_metric_and_size_beside_the_log() {
        let (log, own) = (run(0, &[0, 40, 60]), run(5, &[0, 10, 110]));
        let rows = rows(&own, &log);
        let of = |size, metric: &str| {
            let row = rows.iter().find(|row| row.size == size && row.metric == metric);
            row.map(|row| (row.values, row.change()))
        };
        assert_eq!(
            of(None, "mean_wait"),
            Some(([70.0 / 3.0, 30.0], Some(100.0 * (30.0 / (70.0 / 3.0) - 1.0))))
        );
        assert_eq!(of(Some(4), "mean_wait"), Some(([15.0, 0.0], Some(-100.0))));
        assert_eq!(of(Some(2), "mean_wait"), Some(([40.0, 90.0], Some(125.0))));
        assert_eq!(of(None, "jobs"), None);
        assert!(rows.iter().all(|row| (row.run, row.log_run) == (5, 0)));
        let zero = run(1, &[0, 10, 20]);
        let from_nothing = super::rows(&own, &zero);
        assert!(from_nothing.iter().any(|row| row.metric == "mean_wait" && row.change().is_none()));
    }

    #[test]
    fn distances_of_some_jobs_are_not_set_against_those_of_all() {
        let (mut log, own) = (run(0, &[0, 40, 60]), run(5, &[0, 10, 110]));
        let has =
            |log: &RunResult, metric: &str| rows(&own, log).iter().any(|row| row.metric == metric);
        assert!(has(&log, "mean_pairwise_l1") && has(&log, "mean_wait"));
        // Two of its three jobs had processors.
        log.metrics.schedule.jobs = 2;
        assert!(!has(&log, "mean_pairwise_l1") && !has(&log, "total_pairwise_l1"));
        assert!(has(&log, "mean_wait") && has(&log, "utilization"));
    }
}
