//! What a folder of a sweep says of itself, beside its journal.

use serde::{Deserialize, Serialize};

use crate::cli::exit::Failure;
use crate::experiment::sweep::{Plan, Shard};
use crate::files::{Dir, FolderError};

/// The file that says which cells a folder is for.
pub const PLAN_FILE: &str = "plan.json";
/// Bytes of the largest plan that is read.
const LARGEST: u64 = 1 << 29;

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

/// Whether a folder's plan is one of this program, of whatever version.
pub fn is_plan(dir: &Dir) -> bool {
    let text = dir.read(PLAN_FILE, LARGEST).ok().flatten();
    let file = text.and_then(|text| serde_json::from_slice::<PlanFile>(&text).ok());
    file.is_some_and(|file| file.plan["version"].is_string() && file.plan["grid"].is_object())
}

/// Writes down what a folder is for. Never half: the file appears as a whole.
pub fn describe(dir: &Dir, plan: &Plan, shard: Shard) -> Result<(), Failure> {
    let path = dir.path().join(PLAN_FILE);
    if dir.has(PLAN_FILE).map_err(|e| Failure::output(path.display(), e))? && !is_plan(dir) {
        return Err(Failure::usage(FolderError::Foreign(path)));
    }
    let text = plan
        .to_json()
        .and_then(|plan| serde_json::to_string_pretty(&PlanFile { shard: shard.to_string(), plan }))
        .map_err(|e| Failure::output(path.display(), e))?;
    dir.put(PLAN_FILE, (text + "\n").as_bytes()).map_err(|e| Failure::output(path.display(), e))
}

/// A folder goes on only under the version that began it: another may compute otherwise.
pub fn same_version(dir: &Dir, plan: &Plan) -> Result<(), Failure> {
    let out = dir.path().display();
    // One that was killed before it wrote its plan has none.
    if !dir.has(PLAN_FILE).map_err(|e| Failure::output(format!("{out}/{PLAN_FILE}"), e))? {
        return Ok(());
    }
    let Folder { plan: earlier, .. } = read(dir)?;
    if earlier.version == plan.version {
        return Ok(());
    }
    Err(Failure::usage_message(format!(
        "{out} was begun by replay {}, this is {}: --force begins anew",
        earlier.version, plan.version
    )))
}

/// Reads what a folder is for.
pub fn read(dir: &Dir) -> Result<Folder, Failure> {
    let path = dir.path().join(PLAN_FILE);
    let bad = |cause: anyhow::Error| {
        Failure::data(cause.context(format!("{} is no plan of a sweep", path.display())))
    };
    let unreadable = |error: std::io::Error| {
        let dir = dir.path().display();
        let what = format!("{dir}: no folder of a sweep: cannot read {PLAN_FILE}");
        Failure::data(anyhow::Error::new(error).context(what))
    };
    let text = dir.read(PLAN_FILE, LARGEST).map_err(unreadable)?;
    let text = text.ok_or_else(|| unreadable(std::io::ErrorKind::NotFound.into()))?;
    let PlanFile { shard, plan } = serde_json::from_slice(&text).map_err(|e| bad(e.into()))?;
    let plan = Plan::from_json(plan).map_err(|e| bad(e.into()))?;
    Ok(Folder { plan, shard: shard.parse().map_err(|e| bad(anyhow::Error::new(e)))? })
}
