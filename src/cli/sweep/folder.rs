//! What a folder of a sweep says of itself, beside its journal.

use crate::cli::exit::Failure;
use crate::cli::journal::{PLAN_FILE, PlanFile};
use crate::cli::shards::{Part, Which, no_plan};
use crate::experiment::sweep::{Build, Plan, Shard};
use crate::files::Dir;

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
pub fn read(part: &Part) -> Result<(Plan, Which), Failure> {
    let PlanFile { shard, earlier_builds, plan, .. } = &part.plan;
    let plan = Plan::from_json(plan.clone()).map_err(|e| no_plan(&part.path, e))?;
    let shard = shard.as_deref().unwrap_or_default().parse();
    let which = Which {
        path: part.path.clone(),
        shard: shard.map_err(|e: crate::experiment::sweep::ShardError| no_plan(&part.path, e))?,
        digest: plan.digest().map_err(Failure::usage)?,
        build: plan.build.clone(),
        earlier: earlier_builds.clone(),
    };
    Ok((plan, which))
}
