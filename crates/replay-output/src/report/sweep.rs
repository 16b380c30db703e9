//! Manifest details of a sweep.

use serde::Serialize;

use replay_engine::workload::PolicyRow;
use replay_experiment::grid::GridFile;
use replay_experiment::sweep::{Build, Plan, PlannedTrace};

/// Details in the manifest of a sweep. Unlike the manifest of `run`, the manifest of a sweep does not list the cells.
/// There may be very many cells, and the table `runs` contains all of them.
#[derive(Clone, Debug, Serialize)]
pub struct SweepDetails {
    /// Digest of the plan; equal plans give equal result files.
    pub plan: String,
    /// Number of cells in the results.
    pub cells: u32,
    /// Number of combinations in the grid before equal strategies were removed.
    pub combinations: u128,
    /// Builds of the program that ran the cells.
    pub builds: Vec<Build>,
    /// Number of cells that this process ran; the other cells were in the journal.
    pub cells_run_now: usize,
    /// Total wall-clock seconds of all replays.
    pub replay_seconds: f64,
}

/// Configuration that determines the numbers of a sweep. The metadata of Parquet files also contains this
/// configuration. The configuration does not depend on the number of processes or on interruptions.
#[derive(Clone, Debug, Serialize)]
pub struct SweepConfiguration<'a> {
    /// Grid with all defaults filled in.
    pub grid: &'a GridFile,
    /// Combinations of a trace, a cleaning policy and a machine.
    pub traces: &'a [PlannedTrace],
    /// Cleaning policies with their rules.
    pub policies: Vec<PolicyRecord>,
}

/// A cleaning policy with its rules.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRecord {
    /// Name of the policy.
    pub name: &'static str,
    /// Rules of the policy.
    pub rules: Vec<PolicyRow>,
}

impl<'a> SweepConfiguration<'a> {
    /// Returns the configuration of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        let policies = plan.grid.policies.iter();
        let policies = policies.map(|p| PolicyRecord { name: p.name, rules: p.describe() });
        Self { grid: &plan.grid.file, traces: &plan.traces, policies: policies.collect() }
    }
}
