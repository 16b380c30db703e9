//! `replay merge`: combines shards.

use super::exit::{Exit, Failure, eprint_line};
use super::program::Invocation;
use super::result_kind::Kind;
use super::shards::{MergeArgs, ShardFolder};
use super::{contend, search, stream, sweep};
use replay_engine::registries::Registries;

/// Merges the journals of all shards of one plan.
///
/// # Errors
/// A data error if the folders are not shards of the same plan, or if a shard is missing or incomplete.
pub fn run(
    registries: &Registries,
    args: &MergeArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    let parts: Vec<ShardFolder> =
        args.dirs.iter().map(|dir| ShardFolder::open(dir)).collect::<Result<_, _>>()?;
    let Some(first) = parts.first() else {
        return Err(Failure::usage_message("no folder to merge"));
    };
    let kind = first.plan.kind();
    if let Some(other) = parts.iter().find(|part| part.plan.kind() != kind) {
        let (one, two, other) = (first.path.display(), other.path.display(), other.plan.kind());
        let message =
            format!("{one} is a shard of replay {kind}, but {two} is a shard of replay {other}");
        return Err(Failure::data(anyhow::anyhow!(message)));
    }
    let exit = match Kind::ALL.into_iter().find(|one| one.name() == kind) {
        Some(Kind::Sweep) => return sweep::merge(registries, args, command, &parts),
        Some(Kind::Search) => search::merge(registries, args, command, &parts)?,
        Some(Kind::Stream) => stream::merge(registries, args, command, &parts)?,
        Some(Kind::Contend) => contend::merge(registries, args, command, &parts)?,
        _ => {
            let message = format!("{}: {kind} has no shards", first.path.display());
            return Err(Failure::data(anyhow::anyhow!(message)));
        }
    };
    if !args.process.quiet {
        eprint_line(format_args!("merge: merged {} folders of {kind}", parts.len()));
    }
    Ok(exit)
}
