//! Where the results of a sweep come from.

use serde::Serialize;

use replay_core::workload::PolicyRow;
use replay_experiment::grid::GridFile;
use replay_experiment::sweep::{Build, Plan, PlannedTrace};

/// What the manifest of a sweep says beside that of other commands. Unlike that of the main
/// job it does not list the cells: there may be very many, and `runs` has them.
#[derive(Clone, Debug, Serialize)]
pub struct SweepDetails {
    /// Digest of the plan: equal plans have equal result files.
    pub plan: String,
    /// Cells in the results.
    pub cells: u32,
    /// Combinations before equal strategies were removed.
    pub combinations: u128,
    /// The builds that ran the cells.
    pub builds: Vec<Build>,
    /// Cells that this process ran; the others were in the journal.
    pub cells_run_now: usize,
    /// Wall-clock seconds of all replays, one after the other.
    pub replay_seconds: f64,
}

/// What decides the numbers of a sweep. It is also in the metadata of the Parquet files,
/// the same for one process, many, and any history of interruptions.
#[derive(Clone, Debug, Serialize)]
pub struct SweepConfiguration<'a> {
    /// The grid with every default.
    pub grid: &'a GridFile,
    /// Traces under policies on machines.
    pub traces: &'a [PlannedTrace],
    /// Cleaning policies with their rules.
    pub policies: Vec<PolicyRecord>,
}

/// A cleaning policy and what it does.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRecord {
    /// Name.
    pub name: &'static str,
    /// Rules.
    pub rules: Vec<PolicyRow>,
}

impl<'a> SweepConfiguration<'a> {
    /// The configuration of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        let policies = plan.grid.policies.iter();
        let policies = policies.map(|p| PolicyRecord { name: p.name, rules: p.describe() });
        Self { grid: &plan.grid.file, traces: &plan.traces, policies: policies.collect() }
    }
}
