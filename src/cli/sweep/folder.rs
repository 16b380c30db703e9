//! The plan in the folder of a sweep.

use std::collections::HashSet;

use crate::cli::exit::Failure;
use crate::cli::journal::PlanFile;
use replay_engine::registries::Registries;
use replay_experiment::RunResult;
use replay_experiment::files::Folder;
use replay_experiment::journal::Journal;
use replay_experiment::sweep::Plan;

/// The table of `--placements`.
const PLACEMENTS_FILE: &str = "placements.parquet";

/// Returns the configuration of a sweep, which determines the numbers and the tables of the results.
///
/// # Errors
/// A usage error if a strategy cannot be named.
pub fn configuration(plan: &Plan, placements: bool) -> Result<serde_json::Value, Failure> {
    let plan = plan.digest().map_err(Failure::usage)?;
    Ok(serde_json::json!({"plan": plan, "placements": placements}))
}

/// Returns whether a plan includes all cells and tables of the sweep in a folder; `None` if the folder has no plan of a
/// sweep or no finished cell.
pub fn includes(
    registries: &Registries,
    folder: &Folder,
    plan: &Plan,
    placements: bool,
) -> Option<bool> {
    let before = PlanFile::of_folder(folder.dir())?;
    let before = Plan::from_json(before.plan, registries).ok()?;
    let journal = || Journal::<RunResult>::read_only(folder.dir());
    if folder.earlier().is_none() && journal().is_ok_and(|journal| journal.is_empty()) {
        // The sweep was interrupted before its first cell.
        return None;
    }
    let had_placements =
        folder.earlier().is_some_and(|earlier| earlier.of(PLACEMENTS_FILE).is_some());
    if had_placements && !placements {
        return Some(false);
    }
    let ids =
        |plan: &Plan| (0..plan.len()).map(|run| plan.id(run)).collect::<Result<HashSet<_>, _>>();
    let (before, now) = (ids(&before).ok()?, ids(plan).ok()?);
    Some(before.is_subset(&now))
}
