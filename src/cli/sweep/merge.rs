use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::args::MergeArgs;
use super::folder::{self, Folder, holder};
use super::results::{self, Process};
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::folder::claim;
use crate::experiment::journal::{Journal, Lock};
use crate::experiment::sweep::{Plan, Shard};
use crate::number::grouped;

/// Puts the journals of all shards of one plan together.
pub fn run(args: &MergeArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let started = SystemTime::now();
    let mut locks = Vec::new();
    let mut folders: Vec<Folder> = Vec::new();
    let mut journals = Vec::new();
    for dir in &args.dirs {
        locks.push(Lock::shared(dir).map_err(Failure::usage)?);
        folders.push(folder::read(dir)?);
        journals.push(Journal::read_only(dir).map_err(Failure::data)?);
    }
    let Some(Folder { plan, .. }) = folders.first() else {
        return Err(Failure::usage_message("no folder to merge"));
    };
    one_plan(&args.dirs, &folders)?;
    complete(plan, &args.dirs, &folders, &journals)?;
    let out = &args.out;
    let same = |dir: &PathBuf| {
        dir.canonicalize().is_ok_and(|dir| out.canonicalize().is_ok_and(|out| out == dir))
    };
    if args.dirs.iter().any(same) {
        let message = format!("--out {}: it is one of the folders to merge", out.display());
        return Err(Failure::usage_message(message));
    }
    claim(out, command)?;
    // A shard's own folder is locked for reading: it cannot take the result as well.
    let _lock = Lock::exclusive(out, &holder()).map_err(Failure::usage)?;
    let exit =
        results::write(out, plan, &mut journals, &Process { command, started, cells_run: 0 })?;
    if !args.quiet {
        let (cells, dirs) = (grouped(plan.len()), args.dirs.len());
        tell(format_args!("merge: {cells} cells of {dirs} folders"));
    }
    Ok(exit)
}

/// All folders are for the same cells.
fn one_plan(dirs: &[PathBuf], folders: &[Folder]) -> Result<(), Failure> {
    let mut first = None;
    for (dir, Folder { plan, .. }) in dirs.iter().zip(folders) {
        let digest = plan.digest().map_err(Failure::usage)?;
        match &first {
            None => first = Some(digest),
            Some(first) if *first == digest => {}
            Some(_) => {
                let (one, other) = (dirs[0].display(), dir.display());
                let message = format!("{one} and {other} are not shards of one plan{}", {
                    let (a, b) = (&folders[0].plan.version, &plan.version);
                    if a == b { String::new() } else { format!(" (replay {a} and {b})") }
                });
                return Err(Failure::data(anyhow::anyhow!(message)));
            }
        }
    }
    Ok(())
}

/// Every cell has a record somewhere; if not, says which shards are missing or unfinished.
fn complete(
    plan: &Plan,
    dirs: &[PathBuf],
    folders: &[Folder],
    journals: &[Journal],
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
