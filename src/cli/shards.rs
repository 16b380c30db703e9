//! Folders of shards, and checks before they are merged.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::args::{OutputArgs, ProcessArgs};
use super::exit::Failure;
use super::journal::{PLAN_FILE, PlanFile, is_plan};
use super::print::{SortArg, TableArgs};
use super::result_kind::Kind;
use super::session::Session;
use replay_engine::number::{counted, grouped};
use replay_experiment::files::{Dir, DirLock};
use replay_experiment::journal::{CellId, Journal, Outcome};
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
    /// The results are tables and a manifest. For all commands except sweep, figures are drawn if the command of the first
    /// folder draws figures.
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

impl MergeArgs {
    /// Replaces the output of a command by the output of the merge. The figures of the command are kept, and its order
    /// of rows unless `--sort` was given.
    pub fn replace_output(&self, sort: &mut SortArg, output: &mut OutputArgs) {
        let Self { table, out, force, process, sort: order, .. } = self.clone();
        if order.sort.is_some() {
            *sort = order;
        }
        *output = OutputArgs { table, out: Some(out), force, process, ..output.clone() };
    }
}

/// `--shard` of a command with `--out`.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShardArg {
    /// Run one of N parts (1/N to N/N); replay merge combines the parts.
    ///
    /// A part consists of every N-th cell of the grid. It writes only a plan and a journal into --out. The same command
    /// continues an interrupted part.
    #[arg(long, value_name = "I/N", requires = "out", help_heading = "Output")]
    shard: Option<Shard>,
}

impl ShardArg {
    /// Returns the shard, or `None` if the option is absent. The shard 1/1 has all cells, and can be merged too.
    pub fn shard(self) -> Option<Shard> {
        self.shard
    }
}

/// Format number of [`ShardPlan`].
const FORMAT: u32 = 3;
/// Format number of the plan of a search. Up to format 3, a shard of a search had every N-th vector.
const SEARCH_FORMAT: u32 = 4;

/// Returns the format number of the plan of a command.
fn format(command: &str) -> u32 {
    if command == Kind::Search.name() { SEARCH_FORMAT } else { FORMAT }
}

/// The plan of a shard of a command other than a sweep. `S` is the whole command.
#[derive(Serialize, Deserialize)]
struct ShardPlan<S> {
    #[serde(flatten)]
    build: Build,
    format: u32,
    command: S,
    /// Digest of the cells of the whole command.
    digest: String,
}

/// Returns the plan of a shard of a command other than a sweep. Only shards with the same digest can be merged.
///
/// # Errors
/// A usage error if the command has no JSON form.
pub fn plan_of_shard(
    session: &Session,
    shard: Shard,
    command: &impl Serialize,
    digest: String,
) -> Result<PlanFile, Failure> {
    let format = format(session.kind().name());
    let plan = ShardPlan { build: session.build().clone(), format, command, digest };
    let mut file = PlanFile::new(session.kind(), plan)?;
    file.shard = Some(shard.to_string());
    Ok(file)
}

/// A folder of one shard, locked against writers.
pub struct ShardFolder {
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

impl ShardFolder {
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
        let what = format!("{}: is not the folder of a shard", path.display());
        let text = match PlanFile::text(hold.dir()) {
            Ok(text) => text,
            Err(error) => {
                let what = format!("{what}: cannot read {PLAN_FILE}");
                return Err(Failure::data(anyhow::Error::new(error).context(what)));
            }
        };
        let Some(text) = text else {
            let message = format!("{what}: it contains no {PLAN_FILE}, which --shard writes");
            return Err(Failure::data(anyhow::anyhow!(message)));
        };
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
    let plan = path.join(PLAN_FILE);
    // Even --force replaces only a plan of replay.
    let advice = match Dir::open(path).is_ok_and(|dir| is_plan(&dir)) {
        true => "run the shard again with --force",
        false => "move it away and run the shard again with --force",
    };
    let what = format!("{} is not a shard plan; {advice}", plan.display());
    Failure::data(cause.into().context(what))
}

/// The shards of one plan.
pub struct Shards<'a> {
    parts: &'a [ShardFolder],
    /// Digest of the plan.
    digest: String,
    /// Builds that ran cells of the shards.
    pub builds: Vec<Build>,
}

impl<'a> Shards<'a> {
    /// Reads the plan of all folders. `read` returns the digest of the plan in a folder, and the plan. Checks that the
    /// folders are for the same cells, and that `--out` is not one of the folders. Unless `--other-build` was given,
    /// checks that one build ran all cells.
    ///
    /// # Errors
    /// The errors of `read`, a data error that names two different folders, and a usage error for `--out`.
    pub fn of_one_plan<P>(
        parts: &'a [ShardFolder],
        args: &MergeArgs,
        read: impl Fn(&ShardFolder) -> Result<(String, P), Failure>,
    ) -> Result<(P, Self), Failure> {
        let plans = parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut builds: Vec<Build> = Vec::new();
        for (part, (digest, _)) in parts.iter().zip(&plans) {
            let first = &parts[0];
            let (one, other) = (first.path.display(), part.path.display());
            if *digest != plans[0].0 {
                let message = format!(
                    "{one} and {other} are shards of different commands: options, traces or the program differ"
                );
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
        let Some((digest, plan)) = plans.into_iter().next() else {
            return Err(Failure::usage_message("no folder to merge"));
        };
        let shards = Self { parts, digest, builds };
        shards.check_apart_from(&args.out)?;
        Ok((plan, shards))
    }

    /// Reads the command of folders with the plan of [`plan_of_shard`].
    ///
    /// # Errors
    /// The errors of [`of_one_plan`](Self::of_one_plan), and a data error for a plan of another version.
    pub fn of_one_command<S: DeserializeOwned>(
        parts: &'a [ShardFolder],
        args: &MergeArgs,
    ) -> Result<(S, Self), Failure> {
        Self::of_one_plan(parts, args, |part| {
            let plan = &part.plan.plan;
            if plan["format"] != format(part.plan.kind()) {
                let message = "it is a plan of another version of replay";
                return Err(no_plan(&part.path, anyhow::anyhow!(message)));
            }
            let plan = ShardPlan::<S>::deserialize(plan).map_err(|e| no_plan(&part.path, e))?;
            Ok((plan.digest, plan.command))
        })
    }

    /// Checks that the cells of the command are still the cells that the shards ran.
    ///
    /// # Errors
    /// A data error if the digest of the cells differs from the digest in the plan.
    pub fn check(&self, digest: &str) -> Result<(), Failure> {
        match self.digest == digest {
            true => Ok(()),
            false => Err(Failure::data(anyhow::anyhow!(
                "{}: the traces or the program have changed since the cells of this shard ran; run all shards again with --force",
                self.parts[0].path.display()
            ))),
        }
    }

    /// Checks that `out` is not one of the folders to merge.
    ///
    /// # Errors
    /// A usage error if `out` is one of the folders.
    fn check_apart_from(&self, out: &Path) -> Result<(), Failure> {
        let same = |part: &ShardFolder| {
            part.path.canonicalize().is_ok_and(|dir| out.canonicalize().is_ok_and(|out| out == dir))
        };
        if self.parts.iter().any(same) {
            let message = format!("--out {}: is one of the folders to merge", out.display());
            return Err(Failure::usage_message(message));
        }
        Ok(())
    }

    /// Returns any shard of the division into shards.
    pub fn split(&self) -> Shard {
        let shards = self.parts.iter().map(|part| part.shard);
        shards.max_by_key(|shard| shard.count()).unwrap_or(Shard::WHOLE)
    }

    /// Opens the journals of all folders for reading, and checks that every cell has a record; `ids` has all cells in
    /// order, and `shard_of` returns the shard of a cell.
    ///
    /// # Errors
    /// A data error if a journal cannot be read, or if shards are missing or unfinished; in the second case, the error
    /// names these shards.
    pub fn journals<R: DeserializeOwned>(
        &self,
        ids: impl Iterator<Item = Result<CellId, Failure>>,
        shard_of: impl Fn(u32) -> Shard,
    ) -> Result<Vec<Journal<R>>, Failure> {
        let open = |part: &ShardFolder| Journal::read_only(part.hold.dir()).map_err(Failure::data);
        let journals = self.parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let mut missing: Vec<(Shard, u32)> = Vec::new();
        let (mut cells, mut all) = (0u32, 0u32);
        for id in ids {
            let (run, id) = (all, id?);
            all += 1;
            if journals.iter().any(|journal| journal.failed(id).is_some()) {
                continue;
            }
            cells += 1;
            let shard = shard_of(run);
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
        let verb = if cells == 1 { "has" } else { "have" };
        let (cells, all) = (grouped(cells), counted(all, "cell"));
        let message = format!("{cells} of {all} {verb} not run: {}", parts.join(", "));
        Err(Failure::data(anyhow::anyhow!(message)))
    }
}

/// Returns the outcome of a cell, independent of the order of the journals: a result takes precedence over a failure.
/// `run` is the number of the cell.
///
/// # Errors
/// A data error if two journals have results that are not the `same`, or if no journal has the cell.
pub fn outcome<R: DeserializeOwned>(
    journals: &mut [Journal<R>],
    run: u32,
    id: CellId,
    same: impl Fn(&R, &R) -> bool,
) -> Result<Outcome<R>, Failure> {
    let mut found: Option<(Outcome<R>, PathBuf)> = None;
    for journal in journals {
        let Some(outcome) = journal.read(id).map_err(Failure::data)? else { continue };
        let here = journal.path().to_path_buf();
        found = Some(match (found, outcome) {
            (None, outcome) => (outcome, here),
            (Some((Outcome::Done(one), place)), Outcome::Done(other)) => {
                if !same(&one, &other) {
                    let (place, here) = (place.display(), here.display());
                    return Err(Failure::data(anyhow::anyhow!(
                        "cell {run} ({id}) has one result in {place} and a different result in {here}: run one of these \
                         shards again with --force"
                    )));
                }
                (Outcome::Done(one), place)
            }
            (Some(done @ (Outcome::Done(_), _)), Outcome::Failed(_)) => done,
            (Some((Outcome::Failed(_), _)), done @ Outcome::Done(_)) => (done, here),
            (Some((Outcome::Failed(one), place)), Outcome::Failed(other)) => {
                (Outcome::Failed(one.min(other)), place)
            }
        });
    }
    let absent = || Failure::data(anyhow::anyhow!("cell {run} ({id}) is in no journal"));
    found.map(|(outcome, _)| outcome).ok_or_else(absent)
}
