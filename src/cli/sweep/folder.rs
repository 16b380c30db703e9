//! What a folder of a sweep says of itself, beside its journal.

use serde::{Deserialize, Serialize};

use crate::cli::exit::Failure;
use crate::experiment::sweep::{Build, Plan, Shard};
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
    /// Builds that ran its cells before that of the plan.
    pub earlier: Vec<Build>,
}

impl Folder {
    /// All builds that ran cells of the folder.
    pub fn builds(&self) -> impl Iterator<Item = &Build> {
        self.earlier.iter().chain([&self.plan.build])
    }
}

#[derive(Serialize, Deserialize)]
struct PlanFile {
    shard: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_builds: Vec<Build>,
    plan: serde_json::Value,
}

/// Whether a folder's plan is one of this program, of whatever version.
pub fn is_plan(dir: &Dir) -> bool {
    let text = dir.read(PLAN_FILE, LARGEST).ok().flatten();
    let file = text.and_then(|text| serde_json::from_slice::<PlanFile>(&text).ok());
    file.is_some_and(|file| file.plan["version"].is_string() && file.plan["grid"].is_object())
}

/// Writes down what a folder is for, and which builds ran cells there before. Never half: the
/// file appears as a whole.
pub fn describe(
    dir: &Dir,
    plan: &Plan,
    shard: Shard,
    earlier_builds: &[Build],
) -> Result<(), Failure> {
    let path = dir.path().join(PLAN_FILE);
    if dir.has(PLAN_FILE).map_err(|e| Failure::output(path.display(), e))? && !is_plan(dir) {
        return Err(Failure::usage(FolderError::Foreign(path)));
    }
    let (shard, earlier_builds) = (shard.to_string(), earlier_builds.to_vec());
    let text = plan
        .to_json()
        .and_then(|plan| serde_json::to_string_pretty(&PlanFile { shard, earlier_builds, plan }))
        .map_err(|e| Failure::output(path.display(), e))?;
    dir.put(PLAN_FILE, (text + "\n").as_bytes()).map_err(|e| Failure::output(path.display(), e))
}

/// The other builds that ran cells of a folder. A folder goes on only under the build that
/// began it, since another may compute otherwise, unless the user knows better (`other_build`).
pub fn other_builds(dir: &Dir, other_build: bool) -> Result<Vec<Build>, Failure> {
    let (out, this) = (dir.path().display(), Build::this());
    // One that was killed before it wrote its plan has none; one that is not ours is told of
    // when ours is to be written.
    let text = dir.read(PLAN_FILE, LARGEST).ok().flatten();
    let file = text.and_then(|text| serde_json::from_slice::<PlanFile>(&text).ok());
    let Some(PlanFile { mut earlier_builds, plan, .. }) = file else { return Ok(Vec::new()) };
    let Ok(began) = serde_json::from_value::<Build>(plan) else { return Ok(Vec::new()) };
    if !began.is_same(&this) {
        if !other_build {
            return Err(Failure::usage_message(format!(
                "{out} was begun by {began}, this is {this}: --other-build goes on all the same, \
                 --force begins anew"
            )));
        }
        earlier_builds.push(began);
    }
    earlier_builds.retain(|build| !build.is_same(&this));
    Ok(earlier_builds)
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
    let PlanFile { shard, earlier_builds: earlier, plan } =
        serde_json::from_slice(&text).map_err(|e| bad(e.into()))?;
    let plan = Plan::from_json(plan).map_err(|e| bad(e.into()))?;
    Ok(Folder { plan, shard: shard.parse().map_err(|e| bad(anyhow::Error::new(e)))?, earlier })
}
