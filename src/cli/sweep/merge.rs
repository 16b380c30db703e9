//! Merges the shards of a sweep.

use super::folder;
use super::results::{self, Extras};
use crate::cli::exit::{Exit, Failure, eprint_line};
use crate::cli::program::Invocation;
use crate::cli::result_kind::Kind;
use crate::cli::session::Session;
use crate::cli::shards::{MergeArgs, ShardFolder, Shards, no_plan};
use replay_engine::number::counted;
use replay_engine::registries::Registries;
use replay_experiment::files::Folder;
use replay_experiment::sweep::Plan;

/// Merges the shards of a sweep into results.
///
/// # Errors
/// A data error if the folders are not shards of the same sweep, or if a shard is missing or incomplete.
pub fn merge(
    registries: &Registries,
    args: &MergeArgs,
    command: Invocation<'_>,
    parts: &[ShardFolder],
) -> Result<Exit, Failure> {
    let sorting = args.sort.of()?;
    let read = |part: &ShardFolder| {
        let plan = Plan::from_json(part.plan.plan.clone(), registries)
            .map_err(|e| no_plan(&part.path, e))?;
        Ok((plan.digest().map_err(Failure::usage)?, plan))
    };
    let (plan, shards) = Shards::of_one_plan(parts, args, read)?;
    let ids = (0..plan.len()).map(|run| plan.id(run).map_err(Failure::usage));
    let split = shards.split();
    let mut journals = shards.journals(ids, |cell| split.of_cell(cell))?;
    let mut session =
        Session::within(Kind::Sweep, Some(&args.out), args.force, &args.process, command)?;
    session.set_table(args.table);
    let includes = |folder: &Folder| folder::includes(registries, folder, &plan, false);
    session.configure_growing(&folder::configuration(&plan, false)?, includes)?;
    let extras = Extras { sorting, ..Extras::default() };
    let exit = results::write(registries, session, &plan, shards.builds, &mut journals, 0, extras)?;
    if !args.process.quiet {
        let dirs = counted(args.dirs.len() as u64, "folder");
        eprint_line(format_args!("merge: {} of {dirs}", counted(plan.len(), "cell")));
    }
    Ok(exit)
}
