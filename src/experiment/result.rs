use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::metrics::{JobMeasures, RunMetrics, Series, SizeRow};

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
}

impl RunKey {
    /// Allocator and tie vector as one short label.
    pub fn strategy(&self) -> String {
        match &self.tie {
            Some(tie) => format!("{} ({tie})", self.allocator),
            None => self.allocator.clone(),
        }
    }
}

/// One finished cell. Its serialised form leaves out jobs and series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Its place in the grid, from 0; also the `run` column that joins the tables.
    pub run: u32,
    /// What ran.
    pub key: RunKey,
    /// Processors of the machine.
    pub processors: usize,
    /// What it comes to.
    pub metrics: RunMetrics,
    /// Means by job size, ascending.
    pub by_size: Vec<SizeRow>,
    /// Every job in order of submission; empty unless asked for.
    #[serde(skip)]
    pub jobs: Vec<JobMeasures>,
    /// Load over time, shared by the cells of one timeline.
    #[serde(skip)]
    pub series: Arc<Series>,
    /// Wall-clock seconds of the replay itself.
    pub seconds: f64,
    /// Wall-clock seconds of them in the allocator; `None` if they were not measured.
    pub allocator_seconds: Option<f64>,
}

impl RunResult {
    /// Whether another run of the same cell came to the same, but for wall-clock times and
    /// what it is called.
    pub fn is_same(&self, other: &Self) -> bool {
        // As they are written down, where what is no number is equal to itself.
        let numbers = |it: &Self| {
            serde_json::to_string(&(it.processors, &it.metrics, &it.by_size)).unwrap_or_default()
        };
        numbers(self) == numbers(other)
    }
}
