use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::args::MergeArgs;
use super::folder::{self, Folder};
use super::results::{self, Extras};
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::kind::Kind;
use crate::cli::session::Session;
use crate::experiment::RunResult;
use crate::experiment::journal::Journal;
use crate::experiment::sweep::{Build, Plan, Shard};
use crate::files::{Dir, Hold};
use crate::number::{counted, grouped};

/// Puts the journals of all shards of one plan together.
pub fn run(args: &MergeArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let mut holds = Vec::new();
    let mut folders: Vec<Folder> = Vec::new();
    let mut journals = Vec::new();
    for dir in &args.dirs {
        let opened = Dir::open(dir).map_err(|error| {
            let what = format!("{}: no folder of a sweep", dir.display());
            Failure::data(anyhow::Error::new(error).context(what))
        })?;
        let hold = Hold::shared(opened).map_err(Failure::usage)?;
        folders.push(folder::read(hold.dir())?);
        journals.push(Journal::read_only(hold.dir()).map_err(Failure::data)?);
        holds.push(hold);
    }
    let Some(Folder { plan, .. }) = folders.first() else {
        return Err(Failure::usage_message("no folder to merge"));
    };
    let builds = one_plan(&args.dirs, &folders, args.other_build)?;
    complete(plan, &args.dirs, &folders, &journals)?;
    let out = &args.out;
    let same = |dir: &PathBuf| {
        dir.canonicalize().is_ok_and(|dir| out.canonicalize().is_ok_and(|out| out == dir))
    };
    if args.dirs.iter().any(same) {
        let message = format!("--out {}: it is one of the folders to merge", out.display());
        return Err(Failure::usage_message(message));
    }
    let session = Session::within(Kind::Sweep, Some(out), args.force, &args.process, command)?;
    let exit = results::write(session, plan, builds, &mut journals, 0, Extras::default())?;
    if !args.process.quiet {
        let dirs = counted(args.dirs.len() as u64, "folder");
        tell(format_args!("merge: {} of {dirs}", counted(plan.len(), "cell")));
    }
    Ok(exit)
}

/// All folders are for the same cells, run by one build unless the user knows better. Returns
/// the builds that ran them.
fn one_plan(
    dirs: &[PathBuf],
    folders: &[Folder],
    other_build: bool,
) -> Result<Vec<Build>, Failure> {
    let mut first = None;
    let mut builds: Vec<Build> = Vec::new();
    for (dir, folder) in dirs.iter().zip(folders) {
        let (one, other) = (dirs[0].display(), dir.display());
        let digest = folder.plan.digest().map_err(Failure::usage)?;
        if *first.get_or_insert_with(|| digest.clone()) != digest {
            let message = format!("{one} and {other} are not shards of one plan");
            return Err(Failure::data(anyhow::anyhow!(message)));
        }
        let (a, b) = (&folders[0].plan.build, &folder.plan.build);
        if !a.is_same(b) && !other_build {
            let message = format!(
                "{one} was run by {a}, {other} by {b}: --other-build puts them together all the same"
            );
            return Err(Failure::data(anyhow::anyhow!(message)));
        }
        for build in folder.builds() {
            if !builds.iter().any(|known| known.is_same(build)) {
                builds.push(build.clone());
            }
        }
    }
    Ok(builds)
}

/// Every cell has a record somewhere; if not, says which shards are missing or unfinished.
fn complete(
    plan: &Plan,
    dirs: &[PathBuf],
    folders: &[Folder],
    journals: &[Journal<RunResult>],
) -> Result<(), Failure> {
    let split = folders.iter().map(|folder| folder.shard).max_by_key(|shard| shard.count());
    let split = split.unwrap_or(Shard::WHOLE);
    let mut missing: Vec<(Shard, u32)> = Vec::new();
    let mut cells = 0u32;
    for run in 0..plan.len() {
        let id = plan.id(run).map_err(Failure::usage)?;
        if journals.iter().any(|journal| journal.failed(id).is_some()) {
            continue;
        }
        cells += 1;
        let shard = split.of_cell(run);
        match missing.iter_mut().find(|(other, _)| *other == shard) {
            Some((_, count)) => *count += 1,
            None => missing.push((shard, 1)),
        }
    }
    if cells == 0 {
        return Ok(());
    }
    missing.sort_by_key(|(shard, _)| shard.to_string());
    let place = |shard: Shard| -> Option<&Path> {
        let at = folders.iter().position(|folder| folder.shard == shard)?;
        Some(&dirs[at])
    };
    let parts: Vec<String> = missing
        .iter()
        .map(|&(shard, count)| match place(shard) {
            None => format!("shard {shard} is missing"),
            Some(dir) => {
                let count = grouped(count);
                format!("shard {shard} in {} lacks {count}; run it again", dir.display())
            }
        })
        .collect();
    let (cells, all) = (grouped(cells), grouped(plan.len()));
    let message = format!("{cells} of {all} cells have not run: {}", parts.join(", "));
    Err(Failure::data(anyhow::anyhow!(message)))
}
