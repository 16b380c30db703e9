//! The journal in the folder of a command, and the plan in this folder; the plan contains the name of the command.
//!
//! Sweeps, searches, `stream` and `contend` keep a journal. The journals of sweeps and of shards are kept when they are
//! complete, because shards are merged from their journals. The journals of `stream`, `contend` and whole searches are
//! removed when their results are written.

use crate::cli::terminal::stdout;
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::exit::{Failure, eprint_line};
use super::result_kind::Kind;
use replay_experiment::ExperimentError;
use replay_experiment::files::{Dir, Folder, FolderError};
use replay_experiment::journal::{self, JOURNAL_FILE, Journal, JournalError};
use replay_experiment::sweep::Build;

/// The file that records the cells of a folder and the build that runs them.
pub const PLAN_FILE: &str = "plan.json";
/// Maximum size in bytes of a plan that is read.
const LARGEST: u64 = 1 << 29;

/// The content of [`PLAN_FILE`].
#[derive(Serialize, Deserialize)]
pub struct PlanFile {
    /// The command; if the name is absent, the plan belongs to a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Builds that ran cells before the build in the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_builds: Vec<Build>,
    /// Digest of the traces and the objective of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<String>,
    /// The build, and the cells of a sweep or the whole command of a shard.
    pub plan: serde_json::Value,
}

impl PlanFile {
    /// Creates the plan of a command. `plan` contains the build.
    ///
    /// # Errors
    /// A usage error if the plan has no JSON form.
    pub fn new(kind: Kind, plan: impl Serialize) -> Result<Self, Failure> {
        let plan = serde_json::to_value(plan).map_err(|e| Failure::output(PLAN_FILE, e))?;
        let kind = (kind != Kind::Sweep).then(|| kind.name().to_string());
        Ok(Self { kind, shard: None, earlier_builds: Vec::new(), evaluated: None, plan })
    }

    /// Returns the name of the command.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(Kind::Sweep.name())
    }

    /// Reads the text of the plan in a folder; `None` if the folder has no plan.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn text(dir: &Dir) -> io::Result<Option<Vec<u8>>> {
        dir.read(PLAN_FILE, LARGEST)
    }

    /// Reads the plan in a folder, whichever version of the program wrote it; `None` if the folder has no plan of this
    /// program.
    pub fn of_folder(dir: &Dir) -> Option<Self> {
        let file: Self = serde_json::from_slice(&Self::text(dir).ok()??).ok()?;
        let sweep = file.kind.is_none();
        (file.plan["version"].is_string() && (!sweep || file.plan["grid"].is_object()))
            .then_some(file)
    }

    /// Writes the plan into a folder; an existing plan is replaced atomically.
    ///
    /// # Errors
    /// A usage error if the plan cannot be written, or if the folder has a file of the same name from another program.
    pub fn write(&self, dir: &Dir) -> Result<(), Failure> {
        let path = dir.path().join(PLAN_FILE);
        let failed = |e: io::Error| Failure::output(path.display(), e);
        if dir.has(PLAN_FILE).map_err(failed)? && !is_plan(dir) {
            return Err(Failure::usage(FolderError::Foreign(path)));
        }
        let text = serde_json::to_string_pretty(self).map_err(|e| failed(e.into()))?;
        dir.put(PLAN_FILE, (text + "\n").as_bytes()).map_err(failed)
    }
}

/// Returns whether the plan in a folder was written by this program, in any version.
pub fn is_plan(dir: &Dir) -> bool {
    PlanFile::of_folder(dir).is_some()
}

/// Returns the name of the command whose journal is in a folder; `None` if the folder has no journal.
pub fn journal_of(dir: &Dir) -> Option<String> {
    let sweep = || Kind::Sweep.name().to_string();
    dir.has(JOURNAL_FILE)
        .unwrap_or(true)
        .then(|| PlanFile::of_folder(dir).and_then(|file| file.kind).unwrap_or_else(sweep))
}

/// Returns the builds other than `this` that ran cells of a folder.
///
/// Only the build that began a folder may continue it, because another build may compute other numbers. If
/// `other_build` is true, any build may continue the folder. `other_build` is `None` if the command has no option to
/// accept another build.
///
/// # Errors
/// A usage error if another build began the folder.
pub fn other_builds(
    dir: &Dir,
    this: &Build,
    other_build: Option<bool>,
) -> Result<Vec<Build>, Failure> {
    let out = dir.path().display();
    // If the command was killed early, the folder has no plan. A plan of another program is reported when the new plan
    // is written.
    let text = PlanFile::text(dir).ok().flatten();
    let file = text.and_then(|text| serde_json::from_slice::<PlanFile>(&text).ok());
    let Some(PlanFile { mut earlier_builds, plan, .. }) = file else { return Ok(Vec::new()) };
    let Ok(began) = serde_json::from_value::<Build>(plan) else { return Ok(Vec::new()) };
    if !began.is_same(this) {
        if other_build != Some(true) {
            let on = match other_build {
                Some(_) => "--other-build continues with this build, ",
                None => "",
            };
            return Err(Failure::usage_message(format!(
                "{out} was begun by {began}, but this build is {this}: {on}--force discards the finished cells"
            )));
        }
        earlier_builds.push(began);
    }
    earlier_builds.retain(|build| !build.is_same(this));
    Ok(earlier_builds)
}

/// Opens the journal of a folder, or begins one, and reports damaged records. [`Journal::open`] explains `begun`.
///
/// # Errors
/// The errors of [`of_journal`].
pub fn open<R: Serialize + DeserializeOwned>(
    dir: &Dir,
    begun: bool,
    quiet: bool,
) -> Result<Journal<R>, Failure> {
    let journal = Journal::open(dir, begun).map_err(of_journal)?;
    if !quiet {
        for line in journal.damaged() {
            let path = journal.path().display();
            eprint_line(format_args!(
                "{path}:{line}: damaged record skipped; the cell of this record runs again"
            ));
        }
    }
    Ok(journal)
}

/// Prints the path of a journal, which is the result of a shard.
///
/// # Errors
/// A usage error if standard output cannot be written.
pub fn print_path(path: &Path) -> Result<(), Failure> {
    writeln!(stdout(), "{}", path.display()).map_err(Failure::stdout)
}

/// Removes the journal of a folder, whichever version of the program wrote it.
///
/// # Errors
/// The errors of [`of_journal`].
pub fn discard(dir: &Dir) -> Result<(), Failure> {
    journal::discard(dir, is_plan(dir)).map_err(of_journal)
}

/// Schedules the removal of the journal and the plan for the time when results replace them.
///
/// # Errors
/// [`FolderError`] if the scheduled removal cannot be recorded.
pub fn schedule_removal(folder: &mut Folder) -> Result<(), FolderError> {
    let dir = folder.dir();
    let plan = is_plan(dir);
    let journal = journal::is_journal(dir, plan).unwrap_or(false);
    for (name, ours) in [(JOURNAL_FILE, journal), (PLAN_FILE, plan)] {
        if ours {
            folder.schedule_removal(name)?;
        }
    }
    Ok(())
}

/// Converts an error of a journal. Errors of reading and writing are usage errors; records that cannot be read are data
/// errors.
pub fn of_journal(error: JournalError) -> Failure {
    match error {
        JournalError::Io { .. } => Failure::usage(error),
        JournalError::Foreign(_) => Failure::data(
            anyhow::Error::new(error).context("move the journal away or choose another folder"),
        ),
        error => Failure::data(anyhow::Error::new(error).context("--force discards the journal")),
    }
}

/// Converts the error of an experiment with a journal.
pub fn of_experiment(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::Journal(error) => of_journal(error),
        ExperimentError::Name(error) => Failure::usage(error),
    }
}
