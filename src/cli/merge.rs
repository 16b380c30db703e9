//! `replay merge`: shards put together.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::args::ProcessArgs;
use super::exit::{Exit, Failure};
use super::kind::Kind;
use super::print::SortArg;
use super::shards::Part;
use super::{search, sweep};

/// Arguments of `replay merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay merge out/part-1 out/part-2 out/part-3 out/part-4 --out out/sweep
  replay merge out/part-1 out/part-2 --sort mean_wait --out out/sweep")]
pub struct MergeArgs {
    /// Folders of all shards.
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,

    /// Folder of the one result.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Replace what another command left in the folder, and results changed since.
    #[arg(long)]
    pub force: bool,

    /// Put folders together that different builds ran; the manifest of a sweep names all of them.
    #[arg(long)]
    pub other_build: bool,

    /// The order of what is printed.
    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub process: ProcessArgs,
}

/// Puts the journals of all shards of one plan together.
pub fn run(args: &MergeArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let parts: Vec<Part> = args.dirs.iter().map(|dir| Part::open(dir)).collect::<Result<_, _>>()?;
    let Some(first) = parts.first() else {
        return Err(Failure::usage_message("no folder to merge"));
    };
    let kind = first.plan.kind();
    if let Some(other) = parts.iter().find(|part| part.plan.kind() != kind) {
        let (one, two, other) = (first.path.display(), other.path.display(), other.plan.kind());
        let message = format!("{one} is of a {kind}, {two} of a {other}");
        return Err(Failure::data(anyhow::anyhow!(message)));
    }
    if kind == Kind::Sweep.name() {
        sweep::merge(args, command, &parts)
    } else if kind == Kind::Search.name() {
        search::merge(args, command, &parts)
    } else {
        let message = format!("{}: {kind} has no shards", first.path.display());
        Err(Failure::data(anyhow::anyhow!(message)))
    }
}
