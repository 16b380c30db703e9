use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{OverLogJobs, RejectedSize};
use replay_engine::metrics::{
    Allocation, DeferredSeries, GroupRow, HierarchySeries, JobMeasures, OutageMetrics, RunMetrics,
    ScheduleMetrics, SizeRow, comparable,
};
use replay_engine::table::{Column, Name, Table, names};

/// The key of a cell of a grid. The names in the key can be parsed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RunKey {
    /// Name of the trace: its file name without `.swf` and `.gz`.
    pub trace: String,
    /// Machine, such as `10x10`.
    pub topology: String,
    /// Canonical name of the scheduler.
    pub scheduler: String,
    /// Canonical name of the allocator, without its tie vector.
    pub allocator: String,
    /// Tie vector `SR,AF,WF,BF`, or `auto`; `None` for strategies without tie-breaking.
    pub tie: Option<String>,
    /// Cleaning policy of the trace.
    pub policy: String,
    /// Seed of random strategies.
    pub seed: u64,
    /// Number of the perturbed copy of the trace, from 1; 0 for the unperturbed trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copy: u32,
}

fn is_zero(copy: &u32) -> bool {
    *copy == 0
}

impl RunKey {
    names! {
        TRACE = "trace",
        TOPOLOGY = "topology",
        SCHEDULER = "scheduler",
        ALLOCATOR = "allocator",
        TIE = "tie",
        POLICY = "policy",
        SEED = "seed",
        COPY = "copy",
    }

    /// The columns of the key, in the order of [`texts`](Self::texts).
    pub const NAMES: [Name; 8] = [
        Self::TRACE,
        Self::TOPOLOGY,
        Self::SCHEDULER,
        Self::ALLOCATOR,
        Self::TIE,
        Self::POLICY,
        Self::SEED,
        Self::COPY,
    ];

    /// Returns the parts of the key as text; the text of an absent tie vector is empty.
    pub fn texts(&self) -> [String; 8] {
        let Self { trace, topology, scheduler, allocator, tie, policy, seed, copy } = self.clone();
        let tie = tie.unwrap_or_default();
        [trace, topology, scheduler, allocator, tie, policy, seed.to_string(), copy.to_string()]
    }

    /// Returns the columns of the key in which two runs differ.
    pub fn differing(&self, other: &Self) -> impl Iterator<Item = Name> {
        let parts = self.texts().into_iter().zip(other.texts());
        Self::NAMES.into_iter().zip(parts).filter(|(_, (a, b))| a != b).map(|(name, _)| name)
    }

    /// Returns a text that is unique for each key. Each part of the key is preceded by its length in bytes. The
    /// encoding does not change between versions.
    pub fn identity(&self) -> String {
        let Self { trace, topology, scheduler, allocator, tie, policy, seed, copy } = self;
        let tie = tie.as_deref().unwrap_or_default();
        let texts = [trace, topology, scheduler, allocator, tie, policy];
        let texts = texts.iter().map(|text| format!("{}:{text} ", text.len()));
        texts.collect::<String>() + &format!("{seed} {copy}\n")
    }

    /// Returns a short label that consists of the allocator and the tie vector.
    pub fn strategy(&self) -> String {
        match &self.tie {
            Some(tie) => format!("{} ({tie})", self.allocator),
            None => self.allocator.clone(),
        }
    }

    /// Returns the key columns of a table: trace, topology, scheduler, allocator, tie, policy, seed, copy.
    #[rustfmt::skip]
    pub fn columns<Row>(
        of: impl for<'a> Fn(&'a Row) -> &'a RunKey + Copy + Send + Sync + 'static,
    ) -> [Column<Row>; 8] {
        [
            Column::text(RunKey::TRACE, "name of the trace: its file name without .swf and .gz", move |row| Some(&of(row).trace)),
            Column::text(RunKey::TOPOLOGY, "machine, such as 10x10", move |row| Some(&of(row).topology)),
            Column::text(RunKey::SCHEDULER, "scheduler", move |row| Some(&of(row).scheduler)),
            Column::text(RunKey::ALLOCATOR, "allocator without its tie vector", move |row| Some(&of(row).allocator)),
            Column::text(RunKey::TIE, "tie vector SR,AF,WF,BF or auto; null without tie-breaking", move |row| of(row).tie.as_deref()),
            Column::text(RunKey::POLICY, "cleaning policy of the trace", move |row| Some(&of(row).policy)),
            Column::unsigned(RunKey::SEED, "seed of all random numbers", move |row| of(row).seed),
            Column::new(RunKey::COPY, "", "number of the perturbed copy of the trace, from 1; 0 for the trace itself", move |row| of(row).copy),
        ]
    }
}

/// The result of a finished cell. The serialized form omits the jobs, the allocations and the series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Number of the run in its grid, from 0. The column `run` contains this number; rows of different tables are
    /// joined by this column.
    pub run: u32,
    /// Key of the run.
    pub key: RunKey,
    /// Jobs that were left out because the strategy does not support their size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned_away: Vec<RejectedSize>,
    /// Number of processors of the machine.
    pub processors: usize,
    /// Metrics of the run.
    pub metrics: RunMetrics,
    /// Means by job size, in ascending order of size.
    pub by_size: Vec<SizeRow>,
    /// Waits and shares of partitions, users and accounts; empty without partitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRow>,
    /// Metrics over only those jobs that are in the run that repeats the log; `None` if that run includes all jobs of
    /// the trace, or if no run repeats the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_log: Option<Box<OverLogJobs>>,
    /// All jobs in order of submission; empty unless they were requested.
    #[serde(skip)]
    pub jobs: Vec<JobMeasures>,
    /// All allocations in order of their start times; empty unless they were requested.
    #[serde(skip)]
    pub allocations: Vec<Allocation>,
    /// Load over time, computed when it is read. All cells with the same timeline share this series.
    #[serde(skip)]
    pub series: Arc<DeferredSeries>,
    /// Values for figures of trees and blocks; empty on other machines.
    #[serde(skip)]
    pub hierarchy_series: HierarchySeries,
    /// Wall-clock time of the replay, in seconds.
    pub seconds: f64,
    /// Wall-clock time spent in the allocator, in seconds; `None` if not measured.
    pub allocator_seconds: Option<f64>,
}

impl RunResult {
    names! {
        RUN = "run",
    }

    /// Returns whether jobs ran on fewer processors than requested.
    pub fn folds(&self) -> bool {
        comparable::folds(self.metrics.system.and_then(|system| system.folding.folded_percent))
    }

    /// Returns whether two results of the same cell are equal. Wall-clock times and names are ignored.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { processors, metrics, by_size, over_log, .. } = self;
        equal_forms(
            &(processors, metrics, by_size, over_log),
            &(&other.processors, &other.metrics, &other.by_size, &other.over_log),
        )
    }
}

/// Returns whether two values have the same serialized form, in which NaN values are equal. A value that cannot be
/// serialized is not equal to any value.
fn equal_forms<T: Serialize>(one: &T, other: &T) -> bool {
    let forms = (serde_json::to_string(one), serde_json::to_string(other));
    matches!(forms, (Ok(one), Ok(other)) if one == other)
}

/// A row of a table with several rows per run, and the run to which the row belongs.
#[derive(Clone, Copy, Debug)]
pub struct WithRun<'a, Row> {
    /// The run.
    pub run: &'a RunResult,
    /// The row, such as a job of the run.
    pub row: &'a Row,
}

/// Returns the column with the number of the run, by which rows of different tables are joined.
pub fn run_column<Row>(of: impl Fn(&Row) -> u32 + Copy + Send + Sync + 'static) -> Column<Row> {
    Column::new(RunResult::RUN, "", "number of the run in its grid, from 0; joins the tables", of)
}

impl RunResult {
    /// Returns the metrics for comparisons with other runs. If the run that repeats the log lacks jobs, the metrics are
    /// computed over the jobs of that run; otherwise they are computed over all jobs.
    pub fn compared(&self) -> (&RunMetrics, &[SizeRow]) {
        match self.over_log.as_deref() {
            Some(over) => (&over.metrics, &over.by_size),
            None => (&self.metrics, &self.by_size),
        }
    }

    /// Returns a copy of the result with the metrics of [`compared`](Self::compared). The copy does not contain the
    /// jobs.
    pub fn as_compared(&self) -> RunResult {
        let (metrics, by_size) = self.compared();
        RunResult {
            key: self.key.clone(),
            turned_away: self.turned_away.clone(),
            metrics: metrics.clone(),
            by_size: by_size.to_vec(),
            groups: self.groups.clone(),
            over_log: None,
            jobs: Vec::new(),
            allocations: Vec::new(),
            series: self.series.clone(),
            hierarchy_series: self.hierarchy_series.clone(),
            ..*self
        }
    }

    /// Returns the rows of the table by job size.
    pub fn size_rows(&self) -> impl Iterator<Item = WithRun<'_, SizeRow>> {
        self.by_size.iter().map(|row| WithRun { run: self, row })
    }

    /// Returns the rows of the table of groups.
    pub fn group_rows(&self) -> impl Iterator<Item = WithRun<'_, GroupRow>> {
        self.groups.iter().map(|row| WithRun { run: self, row })
    }

    /// Returns the row of this run in the table of outages, if the run has outages.
    pub fn outage_row(&self) -> Option<WithRun<'_, OutageMetrics>> {
        self.metrics.outages.as_ref().map(|row| WithRun { run: self, row })
    }

    /// Returns the rows of the table of jobs.
    pub fn job_rows(&self) -> impl Iterator<Item = WithRun<'_, JobMeasures>> {
        self.jobs.iter().map(|row| WithRun { run: self, row })
    }

    /// Returns the rows of the table of placements.
    pub fn allocation_rows(&self) -> impl Iterator<Item = WithRun<'_, Allocation>> {
        self.allocations.iter().map(|row| WithRun { run: self, row })
    }

    /// Returns the outage columns, as printed on standard output for runs with outages.
    pub fn outage_columns() -> impl Iterator<Item = Column<Self>> {
        OutageMetrics::columns()
            .into_iter()
            .map(|c| c.of(|run: &Self| run.metrics.outages.as_ref()))
    }

    /// Returns the columns of wall-clock times. Output files do not contain these columns, because wall-clock times
    /// vary between repetitions.
    #[rustfmt::skip]
    pub fn timings() -> Vec<Column<Self>> {
        vec![
            Column::new("seconds", "s", "wall-clock time of the replay, divided equally among cells that are replayed together", |run: &Self| run.seconds),
            Column::new("allocator_seconds", "s", "wall-clock time spent in the allocator; null if not measured", |run: &Self| run.allocator_seconds),
        ]
    }

    /// Returns the columns that are printed on standard output: the columns of the table of runs, followed by the
    /// timings.
    pub fn printed() -> Vec<Column<Self>> {
        let mut columns = Self::columns();
        columns.extend(Self::timings());
        columns
    }
}

impl Table for RunResult {
    const NAME: &'static str = "runs";
    const ROW: &'static str = "one row per run: its key and its metrics";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|run: &Self| &run.key);
        let metrics = RunMetrics::groups().into_iter().flat_map(|(_, columns)| columns);
        let mut metrics: Vec<Column<Self>> =
            metrics.map(|column| column.of(|run: &Self| Some(&run.metrics))).collect();
        // The columns for the number of jobs and the number of processors are moved in front of the metrics.
        let jobs = metrics.iter().position(|column| column.name == ScheduleMetrics::jobs);
        let processors =
            Column::new("processors", "processors", "processors of the machine", |run: &Self| {
                run.processors
            });
        let mut columns = vec![run_column(|run: &Self| run.run), trace];
        columns.extend(jobs.map(|jobs| metrics.remove(jobs)));
        columns.extend([topology, processors, scheduler, allocator, tie, policy, seed, copy]);
        columns.extend(metrics);
        columns
    }

    fn is_ranked_last(&self, column: Name) -> bool {
        self.folds() && comparable::is_distance(column)
    }
}

impl Table for WithRun<'_, OutageMetrics> {
    const NAME: &'static str = "outages";
    const ROW: &'static str = "one row per run with outages: their effect";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, _, _, copy] =
            RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, copy]);
        columns
            .extend(OutageMetrics::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

impl Table for WithRun<'_, GroupRow> {
    const NAME: &'static str = "groups";
    const ROW: &'static str =
        "one row per partition, user and account of a run on a machine with partitions";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, _, _, copy] =
            RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, copy]);
        columns.extend(GroupRow::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

impl Table for WithRun<'_, SizeRow> {
    const NAME: &'static str = "by_size";
    const ROW: &'static str = "one row per job size of a run, by ascending size";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, _, _, copy] =
            RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run)];
        columns.extend([trace, topology, scheduler, allocator, tie, copy]);
        columns.extend(SizeRow::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

impl Table for WithRun<'_, JobMeasures> {
    const NAME: &'static str = "jobs";
    const ROW: &'static str = "one row per job of a run, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run), scheduler, allocator, tie];
        columns.extend(JobMeasures::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

impl Table for WithRun<'_, Allocation> {
    const NAME: &'static str = "placements";
    const ROW: &'static str = "one row per allocation of a run, in order of their start times; a job that was killed and restarted has several rows";

    fn columns() -> Vec<Column<Self>> {
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run), scheduler, allocator, tie];
        columns.extend(Allocation::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn values_without_a_serialized_form_are_not_equal() {
        assert!(equal_forms(&f64::NAN, &f64::NAN));
        assert!(!equal_forms(&1, &2));
        // A key of an object must be a text.
        let map = HashMap::from([([1, 2], 3)]);
        assert!(!equal_forms(&map, &map));
    }
}
