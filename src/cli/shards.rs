//! Folders of shards, and checks before they are merged.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;

use super::args::ProcessArgs;
use super::exit::Failure;
use super::journal::{PLAN_FILE, PlanFile};
use super::print::{SortArg, TableArgs};
use replay_core::number::grouped;
use replay_experiment::files::{Dir, DirLock};
use replay_experiment::journal::{CellId, Journal};
use replay_experiment::sweep::{Build, Shard, ShardError};

/// Arguments of `replay merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay merge out/part-1 out/part-2 out/part-3 out/part-4 --out out/sweep
  replay merge out/part-1 out/part-2 --sort mean_wait --out out/sweep")]
pub struct MergeArgs {
    /// Folders of all shards.
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,

    /// Write results into this folder.
    ///
    /// The results are tables and a manifest, and for a search also figures.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,

    /// Replace results of another command or configuration, and results that were changed by hand.
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Accept cells that another build of the program ran; the manifest names all builds.
    #[arg(long, help_heading = "Output")]
    pub other_build: bool,

    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub table: TableArgs,

    #[command(flatten)]
    pub process: ProcessArgs,
}

/// A folder of one shard, locked against writers.
pub struct Part {
    /// Path as typed.
    pub path: PathBuf,
    hold: DirLock,
    /// The plan in the folder.
    pub plan: PlanFile,
    /// Number of the shard, and number of all shards.
    shard: Shard,
    /// The last build that ran cells of the shard.
    build: Build,
}

impl Part {
    /// Opens and locks a folder.
    ///
    /// # Errors
    /// A data error if the folder is not that of a shard; a usage error if the folder is in use.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let opened = Dir::open(path).map_err(|error| {
            let what = format!("{}: is not the folder of a shard", path.display());
            Failure::data(anyhow::Error::new(error).context(what))
        })?;
        let hold = DirLock::shared(opened).map_err(Failure::usage)?;
        let unreadable = |error: std::io::Error| {
            let what = format!(
                "{}: is not the folder of a shard: cannot read {PLAN_FILE}",
                path.display()
            );
            Failure::data(anyhow::Error::new(error).context(what))
        };
        let text = PlanFile::text(hold.dir()).map_err(unreadable)?;
        let text = text.ok_or_else(|| unreadable(std::io::ErrorKind::NotFound.into()))?;
        let plan: PlanFile = serde_json::from_slice(&text).map_err(|error| no_plan(path, error))?;
        let Some(shard) = &plan.shard else {
            let (path, kind) = (path.display(), plan.kind());
            let message = format!("{path}: contains a whole {kind}, not a shard");
            return Err(Failure::data(anyhow::anyhow!(message)));
        };
        let shard = shard.parse().map_err(|e: ShardError| no_plan(path, e))?;
        let build = serde_json::from_value(plan.plan.clone()).map_err(|e| no_plan(path, e))?;
        Ok(Self { path: path.to_path_buf(), hold, plan, shard, build })
    }
}

/// Returns the failure for a folder whose plan cannot be used.
pub fn no_plan(path: &Path, cause: impl Into<anyhow::Error>) -> Failure {
    let what = format!("{} is not a shard plan", path.join(PLAN_FILE).display());
    Failure::data(cause.into().context(what))
}

/// The shards of one plan.
pub struct Shards<'a> {
    parts: &'a [Part],
    /// Builds that ran cells of the shards.
    pub builds: Vec<Build>,
}

impl<'a> Shards<'a> {
    /// Reads the plan of all folders. `read` returns the digest of the plan in a folder, and the plan. Checks that the
    /// folders are for the same cells, and that `--out` is not one of the folders. Also checks that one build ran all
    /// cells, unless `--other-build` was given.
    ///
    /// # Errors
    /// The errors of `read`, a data error that names two different folders, and a usage error for `--out`.
    pub fn of_one_plan<P>(
        parts: &'a [Part],
        args: &MergeArgs,
        read: impl Fn(&Part) -> Result<(String, P), Failure>,
    ) -> Result<(P, Self), Failure> {
        let plans = parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut builds: Vec<Build> = Vec::new();
        for (part, (digest, _)) in parts.iter().zip(&plans) {
            let first = &parts[0];
            let (one, other) = (first.path.display(), part.path.display());
            if *digest != plans[0].0 {
                let message = format!("{one} and {other} are not shards of one plan");
                return Err(Failure::data(anyhow::anyhow!(message)));
            }
            let (a, b) = (&first.build, &part.build);
            if !a.is_same(b) && !args.other_build {
                let message = format!(
                    "{one} was run by {a}, {other} by {b}: --other-build merges both shards"
                );
                return Err(Failure::data(anyhow::anyhow!(message)));
            }
            for build in part.plan.earlier_builds.iter().chain([&part.build]) {
                if !builds.iter().any(|known| known.is_same(build)) {
                    builds.push(build.clone());
                }
            }
        }
        let Some((_, plan)) = plans.into_iter().next() else {
            return Err(Failure::usage_message("no folder to merge"));
        };
        let shards = Self { parts, builds };
        shards.check_apart_from(&args.out)?;
        Ok((plan, shards))
    }

    /// Checks that `out` is not one of the folders to merge.
    ///
    /// # Errors
    /// A usage error if `out` is one of the folders.
    fn check_apart_from(&self, out: &Path) -> Result<(), Failure> {
        let same = |part: &Part| {
            part.path.canonicalize().is_ok_and(|dir| out.canonicalize().is_ok_and(|out| out == dir))
        };
        if self.parts.iter().any(same) {
            let message = format!("--out {}: is one of the folders to merge", out.display());
            return Err(Failure::usage_message(message));
        }
        Ok(())
    }

    /// Opens the journals of all folders for reading, and checks that every cell has a record; `ids` has all cells in
    /// order.
    ///
    /// # Errors
    /// A data error if a journal cannot be read, or if shards are missing or unfinished; in the second case, the error
    /// names these shards.
    pub fn journals<R: DeserializeOwned>(
        &self,
        ids: impl Iterator<Item = Result<CellId, Failure>>,
    ) -> Result<Vec<Journal<R>>, Failure> {
        let open = |part: &Part| Journal::read_only(part.hold.dir()).map_err(Failure::data);
        let journals = self.parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let split = self.parts.iter().map(|part| part.shard).max_by_key(|shard| shard.count());
        let split = split.unwrap_or(Shard::WHOLE);
        let mut missing: Vec<(Shard, u32)> = Vec::new();
        let (mut cells, mut all) = (0u32, 0u32);
        for id in ids {
            let (run, id) = (all, id?);
            all += 1;
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
            return Ok(journals);
        }
        missing.sort_by_key(|(shard, _)| shard.to_string());
        let place = |shard: Shard| self.parts.iter().find(|part| part.shard == shard);
        let parts: Vec<String> = missing
            .iter()
            .map(|&(shard, count)| match place(shard) {
                None => format!("shard {shard} is missing"),
                Some(part) => {
                    let count = grouped(count);
                    format!(
                        "shard {shard} in {} lacks {count} of its cells; run the shard again",
                        part.path.display()
                    )
                }
            })
            .collect();
        let (cells, all) = (grouped(cells), grouped(all));
        let message = format!("{cells} of {all} cells have not run: {}", parts.join(", "));
        Err(Failure::data(anyhow::anyhow!(message)))
    }
}
