//! From journals to result files.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cli::exit::{Exit, Failure};
use crate::cli::folder::Staging;
use crate::experiment::journal::{Journal, Outcome};
use crate::experiment::sweep::Plan;
use crate::frame::Tables;
use crate::report::manifest::{Host, begin_and_elapsed, peak_memory_bytes};
use crate::report::sweep::{SweepConfiguration, SweepManifest};

/// What of a process goes into the manifest.
pub struct Process<'a> {
    /// Its command line.
    pub command: &'a [OsString],
    /// Its begin.
    pub started: SystemTime,
    /// Cells it ran itself.
    pub cells_run: usize,
}

/// Writes the results of a plan whose every cell is in one of `journals` into `dir`, in
/// grid order, one record at a time; then prints the files' names. The same bytes
/// whatever the journals' order and number.
pub fn write(
    dir: &Path,
    plan: &Plan,
    journals: &mut [Journal],
    process: &Process<'_>,
) -> Result<Exit, Failure> {
    let configuration = SweepConfiguration::of(plan);
    let text = serde_json::to_string(&configuration)
        .map_err(|e| Failure::output("the configuration", e))?;
    let metadata = [
        ("program", "replay"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("REPLAY_COMMIT")),
        ("configuration", &text),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_string(), value.to_string()));
    let staging = Staging::begin(dir)?;
    let mut tables = Tables::create(staging.path(), &metadata, false)
        .map_err(|e| Failure::output(dir.display(), e))?;
    let (mut failed, mut replay_seconds) = (Vec::new(), 0.0);
    for run in 0..plan.len() {
        match outcome(plan, journals, run)? {
            Outcome::Failed(why) => {
                let key = plan.key(run).map_err(Failure::usage)?;
                let (trace, machine, scheduler) = (&key.trace, &key.topology, &key.scheduler);
                failed.push(format!("{trace} {machine} {scheduler} {}: {why}", key.strategy()));
            }
            Outcome::Done(mut result) => {
                // The journal knows what was computed; names and order are the plan's.
                result.run = run;
                result.key = plan.key(run).map_err(Failure::usage)?;
                replay_seconds += result.seconds;
                tables.write(&result).map_err(|e| Failure::output("results", e))?;
            }
        }
    }
    let files = tables.finish().map_err(|e| Failure::output("results", e))?;
    let (started_unix, elapsed_seconds) = begin_and_elapsed(process.started);
    let word = |word: &OsString| word.to_string_lossy().into_owned();
    let name =
        |path: &PathBuf| path.strip_prefix(staging.path()).unwrap_or(path).display().to_string();
    let manifest = SweepManifest {
        program: "replay",
        version: env!("CARGO_PKG_VERSION"),
        commit: env!("REPLAY_COMMIT"),
        command: process.command.iter().map(word).collect(),
        configuration,
        plan: plan.digest().map_err(Failure::usage)?,
        cells: plan.len(),
        combinations: plan.combinations(),
        failed,
        cells_run_now: process.cells_run,
        replay_seconds,
        threads: rayon::current_num_threads(),
        host: Host::this(),
        started_unix,
        elapsed_seconds,
        peak_memory_bytes: peak_memory_bytes(),
        files: files.iter().map(name).collect(),
    };
    manifest.write(staging.path()).map_err(|e| Failure::output("manifest.json", e))?;
    let files = staging.commit(&files)?;
    let mut out = io::stdout().lock();
    let printed = files.iter().try_for_each(|path| writeln!(out, "{}", path.display()));
    printed.map_err(|e| Failure::output("standard output", e))?;
    Ok(if manifest.failed.is_empty() { Exit::Done } else { Exit::Differs })
}

fn outcome(plan: &Plan, journals: &mut [Journal], run: u32) -> Result<Outcome, Failure> {
    let id = plan.id(run).map_err(Failure::usage)?;
    for journal in journals {
        if let Some(outcome) = journal.read(id).map_err(Failure::data)? {
            return Ok(outcome);
        }
    }
    Err(Failure::data(anyhow::anyhow!("cell {run} ({id}) is in no journal")))
}
