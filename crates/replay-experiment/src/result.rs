use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{OverLogJobs, TurnedAway};
use replay_core::metrics::comparable;
use replay_core::metrics::system::OutageMetrics;
use replay_core::metrics::{Allocation, JobMeasures, RunMetrics, Series, SizeRow};
use replay_core::table::{Column, Table, name};

/// What identifies one cell of a grid, as text that parses back.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RunKey {
    /// Name of the trace: its file without `.swf` and `.gz`.
    pub trace: String,
    /// Machine, such as `10x10`.
    pub topology: String,
    /// Scheduler, canonical.
    pub scheduler: String,
    /// Allocator, canonical, without its tie vector.
    pub allocator: String,
    /// Tie vector `SR,AF,WF,BF`, or `auto`; `None` if there is none or the strategy takes none.
    pub tie: Option<String>,
    /// Cleaning policy.
    pub policy: String,
    /// Seed of strategies that draw random numbers.
    pub seed: u64,
    /// Which shaken copy of the trace, from 1; 0 for the trace itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copy: u32,
}

fn is_zero(copy: &u32) -> bool {
    *copy == 0
}

impl RunKey {
    /// The key as text that no other key has: each text behind its length in bytes. The encoding is stable.
    pub fn identity(&self) -> String {
        let Self { trace, topology, scheduler, allocator, tie, policy, seed, copy } = self;
        let tie = tie.as_deref().unwrap_or_default();
        let texts = [trace, topology, scheduler, allocator, tie, policy];
        let texts = texts.iter().map(|text| format!("{}:{text} ", text.len()));
        texts.collect::<String>() + &format!("{seed} {copy}\n")
    }

    /// Allocator and tie vector as one short label.
    pub fn strategy(&self) -> String {
        match &self.tie {
            Some(tie) => format!("{} ({tie})", self.allocator),
            None => self.allocator.clone(),
        }
    }

    /// The columns of rows that have a key: trace, topology, scheduler, allocator, tie, policy,
    /// seed, copy.
    #[rustfmt::skip]
    pub fn columns<Row>(
        of: impl for<'a> Fn(&'a Row) -> &'a RunKey + Copy + Send + Sync + 'static,
    ) -> [Column<Row>; 8] {
        [
            Column::text(name::trace, "trace: its file name without .swf and .gz", move |row| Some(&of(row).trace)),
            Column::text(name::topology, "machine, such as 10x10", move |row| Some(&of(row).topology)),
            Column::text(name::scheduler, "scheduler", move |row| Some(&of(row).scheduler)),
            Column::text(name::allocator, "allocator without its tie vector", move |row| Some(&of(row).allocator)),
            Column::text(name::tie, "tie vector SR,AF,WF,BF or auto; null without tie-breaking", move |row| of(row).tie.as_deref()),
            Column::text(name::policy, "cleaning policy of the trace", move |row| Some(&of(row).policy)),
            Column::unsigned(name::seed, "seed of everything that is drawn at random", move |row| of(row).seed),
            Column::new(name::copy, "", "which shaken copy of the trace, from 1; 0 for the trace itself", move |row| of(row).copy),
        ]
    }
}

/// One finished cell. Its serialised form leaves out jobs, allocations and series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Its place in the grid, from 0; also the `run` column that joins the tables.
    pub run: u32,
    /// What ran.
    pub key: RunKey,
    /// Jobs that it left out, because the strategy has no place for their size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned_away: Vec<TurnedAway>,
    /// Processors of the machine.
    pub processors: usize,
    /// What it comes to.
    pub metrics: RunMetrics,
    /// Means by job size, ascending.
    pub by_size: Vec<SizeRow>,
    /// What it comes to over the jobs alone that are in the run which repeats the log; `None` if that has all, or
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_log: Option<Box<OverLogJobs>>,
    /// Every job in order of submission; empty unless asked for.
    #[serde(skip)]
    pub jobs: Vec<JobMeasures>,
    /// Every allocation in order of starts; empty unless asked for.
    #[serde(skip)]
    pub allocations: Vec<Allocation>,
    /// Load over time, shared by the cells of one timeline.
    #[serde(skip)]
    pub series: Arc<Series>,
    /// Wall-clock seconds of the replay itself.
    pub seconds: f64,
    /// Wall-clock seconds of them in the allocator; `None` if they were not measured.
    pub allocator_seconds: Option<f64>,
}

impl RunResult {
    /// Whether jobs ran on fewer processors than they asked for.
    pub fn folds(&self) -> bool {
        comparable::folds(self.metrics.system.and_then(|system| system.folded_percent))
    }

    /// Whether another run of the same cell came to the same, but for wall-clock times and
    /// what it is called.
    pub fn is_same(&self, other: &Self) -> bool {
        // As they are written down, where what is no number is equal to itself.
        let numbers = |it: &Self| {
            serde_json::to_string(&(it.processors, &it.metrics, &it.by_size, &it.over_log))
                .unwrap_or_default()
        };
        numbers(self) == numbers(other)
    }
}

/// A row of a table with many rows per run, beside its run.
#[derive(Clone, Copy, Debug)]
pub struct OfRun<'a, Row> {
    /// The run.
    pub run: &'a RunResult,
    /// What of it.
    pub row: &'a Row,
}

/// The number of the run, by which tables are joined.
pub fn run_column<Row>(of: impl Fn(&Row) -> u32 + Copy + Send + Sync + 'static) -> Column<Row> {
    Column::new(name::run, "", "number of the run in its grid, from 0; joins the tables", of)
}

impl RunResult {
    /// What it is compared by: over the jobs that the run has, too, which repeats its log, if there is one.
    pub fn compared(&self) -> (&RunMetrics, &[SizeRow]) {
        match self.over_log.as_deref() {
            Some(over) => (&over.metrics, &over.by_size),
            None => (&self.metrics, &self.by_size),
        }
    }

    /// The run over the jobs that it is [compared](Self::compared) by, without its jobs one by one.
    pub fn as_compared(&self) -> RunResult {
        let (metrics, by_size) = self.compared();
        RunResult {
            key: self.key.clone(),
            turned_away: self.turned_away.clone(),
            metrics: metrics.clone(),
            by_size: by_size.to_vec(),
            over_log: None,
            jobs: Vec::new(),
            allocations: Vec::new(),
            series: self.series.clone(),
            ..*self
        }
    }

    /// What of it is a row for each job size.
    pub fn size_rows(&self) -> impl Iterator<Item = OfRun<'_, SizeRow>> {
        self.by_size.iter().map(|row| OfRun { run: self, row })
    }

    /// What of it is a row for its outages, if there are any.
    pub fn outage_row(&self) -> Option<OfRun<'_, OutageMetrics>> {
        self.metrics.outages.as_ref().map(|row| OfRun { run: self, row })
    }

    /// What of it is a row for each job.
    pub fn job_rows(&self) -> impl Iterator<Item = OfRun<'_, JobMeasures>> {
        self.jobs.iter().map(|row| OfRun { run: self, row })
    }

    /// What of it is a row for each allocation.
    pub fn allocation_rows(&self) -> impl Iterator<Item = OfRun<'_, Allocation>> {
        self.allocations.iter().map(|row| OfRun { run: self, row })
    }

    /// What outages come to: a table of its own, and on standard output where there are any.
    pub fn of_outages() -> impl Iterator<Item = Column<Self>> {
        OutageMetrics::columns()
            .into_iter()
            .map(|c| c.of(|run: &Self| run.metrics.outages.as_ref()))
    }

    /// Wall-clock times. They differ from run to run, and so are in no table of a file.
    #[rustfmt::skip]
    pub fn timings() -> Vec<Column<Self>> {
        vec![
            Column::new(name::seconds, "s", "wall-clock time of the replay; of cells replayed as one, its share", |run: &Self| run.seconds),
            Column::new(name::allocator_seconds, "s", "wall-clock time of them in the allocator; null if it was not measured", |run: &Self| run.allocator_seconds),
        ]
    }

    /// The columns on standard output: those of the table of runs in its order, and timings after them.
    pub fn printed() -> Vec<Column<Self>> {
        let mut columns = Self::columns();
        columns.extend(Self::timings());
        columns
    }
}

impl Table for RunResult {
    const NAME: &'static str = "runs";
    const ROW: &'static str = "one row per run: what ran and what it comes to";

    fn columns() -> Vec<Column<Self>> {
        let [trace, topology, scheduler, allocator, tie, policy, seed, copy] =
            RunKey::columns(|run: &Self| &run.key);
        let metrics = RunMetrics::groups().into_iter().flat_map(|(_, columns)| columns);
        let mut metrics: Vec<Column<Self>> =
            metrics.map(|column| column.of(|run: &Self| Some(&run.metrics))).collect();
        // Of what size a run is stands before what it comes to.
        let jobs = metrics.iter().position(|column| column.name == "jobs");
        let processors = Column::new(
            name::processors,
            "processors",
            "processors of the machine",
            |run: &Self| run.processors,
        );
        let mut columns = vec![run_column(|run: &Self| run.run), trace];
        columns.extend(jobs.map(|jobs| metrics.remove(jobs)));
        columns.extend([topology, processors, scheduler, allocator, tie, policy, seed, copy]);
        columns.extend(metrics);
        columns
    }

    fn is_ranked_last(&self, column: &str) -> bool {
        self.folds() && comparable::is_distance(column)
    }
}

impl Table for OfRun<'_, OutageMetrics> {
    const NAME: &'static str = "outages";
    const ROW: &'static str =
        "one row per run with processors out of service at times: what that comes to";

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

impl Table for OfRun<'_, SizeRow> {
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

impl Table for OfRun<'_, JobMeasures> {
    const NAME: &'static str = "jobs";
    const ROW: &'static str = "one row per job of a run, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run), scheduler, allocator, tie];
        columns.extend(JobMeasures::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}

impl Table for OfRun<'_, Allocation> {
    const NAME: &'static str = "placements";
    const ROW: &'static str = "one row per allocation of a run, in order of their starts; a job that was cut off and ran anew has several";

    fn columns() -> Vec<Column<Self>> {
        let [_, _, scheduler, allocator, tie, ..] = RunKey::columns(|of: &Self| &of.run.key);
        let mut columns = vec![run_column(|of: &Self| of.run.run), scheduler, allocator, tie];
        columns.extend(Allocation::columns().into_iter().map(|c| c.of(|of: &Self| Some(of.row))));
        columns
    }
}
