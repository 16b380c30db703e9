//! Manifest details of a sweep.

use serde::Serialize;

use replay_core::workload::PolicyRow;
use replay_experiment::grid::GridFile;
use replay_experiment::sweep::{Build, Plan, PlannedTrace};

/// Details in the manifest of a sweep. Unlike a manifest of `run` they do not list the cells, which may be very many
/// and are in the table `runs`.
#[derive(Clone, Debug, Serialize)]
pub struct SweepDetails {
    /// Digest of the plan; equal plans give equal result files.
    pub plan: String,
    /// Number of cells in the results.
    pub cells: u32,
    /// Number of combinations before equal strategies were removed.
    pub combinations: u128,
    /// Builds of the program that ran the cells.
    pub builds: Vec<Build>,
    /// Number of cells run by this process; the others were in the journal.
    pub cells_run_now: usize,
    /// Total wall-clock seconds of all replays.
    pub replay_seconds: f64,
}

/// Configuration that determines the numbers of a sweep. The metadata of Parquet files contains it as well. It does
/// not depend on the number of processes or on interruptions.
#[derive(Clone, Debug, Serialize)]
pub struct SweepConfiguration<'a> {
    /// The grid with every default filled in.
    pub grid: &'a GridFile,
    /// Traces under policies on machines.
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
    /// Configuration of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        let policies = plan.grid.policies.iter();
        let policies = policies.map(|p| PolicyRecord { name: p.name, rules: p.describe() });
        Self { grid: &plan.grid.file, traces: &plan.traces, policies: policies.collect() }
    }
}
