//! Where the results of a sweep come from.

use std::path::Path;

use serde::Serialize;

use super::manifest::Host;
use crate::experiment::grid::GridFile;
use crate::experiment::sweep::{Plan, PlannedTrace};
use crate::workload::PolicyRow;

/// The record beside the result files of a sweep; the only place for wall-clock figures.
/// Unlike that of the main job it does not list the cells: there may be very many, and
/// `runs` has them.
#[derive(Clone, Debug, Serialize)]
pub struct SweepManifest<'a> {
    /// Name of the program.
    pub program: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its commit, or "unknown".
    pub commit: &'static str,
    /// The command line as typed.
    pub command: Vec<String>,
    /// What it resolved to.
    pub configuration: SweepConfiguration<'a>,
    /// Digest of the plan: equal plans have equal result files.
    pub plan: String,
    /// Cells in the results.
    pub cells: u32,
    /// Combinations before equal strategies were removed.
    pub combinations: u128,
    /// Cells that failed, and why.
    pub failed: Vec<String>,
    /// Cells that this process ran; the others were in the journal.
    pub cells_run_now: usize,
    /// Wall-clock seconds of all replays, one after the other.
    pub replay_seconds: f64,
    /// Threads of this process.
    pub threads: usize,
    /// The machine this process ran on.
    pub host: Host,
    /// Its begin, in seconds since 1970-01-01 UTC.
    pub started_unix: u64,
    /// Wall-clock seconds from its begin to its end.
    pub elapsed_seconds: f64,
    /// Most memory it held, in bytes, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Result files.
    pub files: Vec<String>,
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

impl SweepManifest<'_> {
    /// Writes `manifest.json` into a folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(dir.join("manifest.json"), text)
    }
}
