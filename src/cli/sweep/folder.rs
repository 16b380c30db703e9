//! A folder of a sweep: its lock, its plan, its journal.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::exit::Failure;
use crate::experiment::sweep::{Plan, Shard};
use crate::report::manifest::Host;

const PLAN_FILE: &str = "plan.json";

/// What a folder says of itself.
pub struct Folder {
    /// The plan that it is part of.
    pub plan: Plan,
    /// Which part.
    pub shard: Shard,
}

#[derive(Serialize, Deserialize)]
struct PlanFile {
    shard: String,
    plan: serde_json::Value,
}

/// What another process is told about this one.
pub fn holder() -> String {
    format!("process {} on {}", std::process::id(), Host::this().name)
}

/// Writes down what a folder is for. Never half: the file appears as a whole.
pub fn describe(dir: &Path, plan: &Plan, shard: Shard) -> Result<(), Failure> {
    let path = dir.join(PLAN_FILE);
    let text = plan
        .to_json()
        .and_then(|plan| serde_json::to_string_pretty(&PlanFile { shard: shard.to_string(), plan }))
        .map_err(|e| Failure::output(path.display(), e))?;
    let part = dir.join(format!("{PLAN_FILE}.part"));
    fs::write(&part, text + "\n")
        .and_then(|()| fs::rename(&part, &path))
        .map_err(|e| Failure::output(path.display(), e))
}

/// A folder goes on only under the version that began it: another may compute otherwise.
pub fn same_version(dir: &Path, plan: &Plan) -> Result<(), Failure> {
    // What cannot be read is written anew.
    let Ok(Folder { plan: earlier, .. }) = read(dir) else { return Ok(()) };
    if earlier.version == plan.version {
        return Ok(());
    }
    Err(Failure::usage_message(format!(
        "{} was begun by replay {}, this is {}: --force begins anew",
        dir.display(),
        earlier.version,
        plan.version
    )))
}

/// Reads what a folder is for.
pub fn read(dir: &Path) -> Result<Folder, Failure> {
    let path = dir.join(PLAN_FILE);
    let bad = |cause: anyhow::Error| {
        Failure::data(cause.context(format!("{} is no plan of a sweep", path.display())))
    };
    let text = fs::read_to_string(&path).map_err(|error| {
        let what = format!("{}: no folder of a sweep: cannot read {PLAN_FILE}", dir.display());
        Failure::data(anyhow::Error::new(error).context(what))
    })?;
    let PlanFile { shard, plan } = serde_json::from_str(&text).map_err(|e| bad(e.into()))?;
    let plan = Plan::from_json(plan).map_err(|e| bad(e.into()))?;
    Ok(Folder { plan, shard: shard.parse().map_err(|e| bad(anyhow::Error::new(e)))? })
}
