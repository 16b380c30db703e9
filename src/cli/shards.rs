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
use replay_experiment::sweep::{Build, Shard};

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

    /// Replace results in the folder even if they are of another command or configuration, or were changed by hand.
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
        let plan = serde_json::from_slice(&text).map_err(|error| no_plan(path, error))?;
        Ok(Self { path: path.to_path_buf(), hold, plan })
    }

    /// Opens the journal for reading.
    ///
    /// # Errors
    /// A data error if the journal cannot be read.
    pub fn journal<R: DeserializeOwned>(&self) -> Result<Journal<R>, Failure> {
        Journal::read_only(self.hold.dir()).map_err(Failure::data)
    }
}

/// The failure of a plan that cannot be used.
pub fn no_plan(path: &Path, cause: impl Into<anyhow::Error>) -> Failure {
    let what = format!("{} is not a shard plan", path.join(PLAN_FILE).display());
    Failure::data(cause.into().context(what))
}

/// The shards of one plan.
pub struct Shards {
    parts: Vec<Which>,
    /// Builds that ran cells of the shards.
    pub builds: Vec<Build>,
}

/// The folder of a shard, the digest of its plan, and the builds that ran its cells.
pub struct Which {
    /// Path of the folder.
    pub path: PathBuf,
    /// Number of the shard, and number of all shards.
    pub shard: Shard,
    /// Digest of the plan.
    pub digest: String,
    /// The last build that ran cells of the shard.
    pub build: Build,
    /// Earlier builds that ran cells of the shard.
    pub earlier: Vec<Build>,
}

impl Shards {
    /// Checks that all folders are for the same cells and, unless `other_build` is true, that one build ran all cells.
    ///
    /// # Errors
    /// A data error that names two different folders.
    pub fn of_one_plan(parts: Vec<Which>, other_build: bool) -> Result<Self, Failure> {
        let mut builds: Vec<Build> = Vec::new();
        for part in &parts {
            let first = &parts[0];
            let (one, other) = (first.path.display(), part.path.display());
            if first.digest != part.digest {
                let message = format!("{one} and {other} are not shards of one plan");
                return Err(Failure::data(anyhow::anyhow!(message)));
            }
            let (a, b) = (&first.build, &part.build);
            if !a.is_same(b) && !other_build {
                let message = format!(
                    "{one} was run by {a}, {other} by {b}: --other-build merges both shards"
                );
                return Err(Failure::data(anyhow::anyhow!(message)));
            }
            for build in part.earlier.iter().chain([&part.build]) {
                if !builds.iter().any(|known| known.is_same(build)) {
                    builds.push(build.clone());
                }
            }
        }
        Ok(Self { parts, builds })
    }

    /// Checks that `out` is not one of the folders.
    ///
    /// # Errors
    /// A usage error if `out` is one of the folders.
    pub fn apart_from(&self, out: &Path) -> Result<(), Failure> {
        let same = |part: &Which| {
            part.path.canonicalize().is_ok_and(|dir| out.canonicalize().is_ok_and(|out| out == dir))
        };
        if self.parts.iter().any(same) {
            let message = format!("--out {}: is one of the folders to merge", out.display());
            return Err(Failure::usage_message(message));
        }
        Ok(())
    }

    /// Checks that every cell has a record; `ids` has all cells in order.
    ///
    /// # Errors
    /// A data error that names the missing and the unfinished shards.
    pub fn complete<R>(
        &self,
        ids: impl Iterator<Item = Result<CellId, Failure>>,
        journals: &[Journal<R>],
    ) -> Result<(), Failure> {
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
            return Ok(());
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
                        "shard {shard} in {} lacks {count}; run the shard again",
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
