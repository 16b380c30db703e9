//! What a folder of a sweep says of itself, beside its journal.

use crate::cli::exit::Failure;
use crate::cli::journal::{PLAN_FILE, PlanFile};
use crate::experiment::sweep::{Build, Plan, Shard};
use crate::files::Dir;

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

/// Writes down what a folder is for, and which builds ran cells there before.
pub fn describe(
    dir: &Dir,
    plan: &Plan,
    shard: Shard,
    earlier_builds: &[Build],
) -> Result<(), Failure> {
    let json = plan.to_json().map_err(|e| Failure::output(PLAN_FILE, e))?;
    PlanFile::of_sweep(shard.to_string(), earlier_builds.to_vec(), json).write(dir)
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
    let text = PlanFile::text(dir).map_err(unreadable)?;
    let text = text.ok_or_else(|| unreadable(std::io::ErrorKind::NotFound.into()))?;
    let PlanFile { shard, earlier_builds: earlier, plan, .. } =
        serde_json::from_slice(&text).map_err(|e| bad(e.into()))?;
    let plan = Plan::from_json(plan).map_err(|e| bad(e.into()))?;
    let shard = shard.unwrap_or_default().parse().map_err(|e| bad(anyhow::Error::new(e)))?;
    Ok(Folder { plan, shard, earlier })
}
