//! The journal in a command's folder, and the plan beside it, which says whose it is.
//!
//! Four commands keep one. A sweep's stays when it is done, and so does that of a shard: shards are
//! put together from theirs. Those of `stream`, `contend` and whole searches go when their results
//! come.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::exit::{Failure, tell};
use super::result_kind::Kind;
use replay_experiment::files::{Dir, Folder, FolderError};
use replay_experiment::journal::{self, JOURNAL_FILE, Journal, JournalError};
use replay_experiment::sweep::Build;

/// The file that says which cells a folder is for, and which build runs them.
pub const PLAN_FILE: &str = "plan.json";
/// Bytes of the largest plan that is read.
const LARGEST: u64 = 1 << 29;

/// What a plan says.
#[derive(Serialize, Deserialize)]
pub struct PlanFile {
    /// The command; a sweep if it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Which part of a sweep or search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Builds that ran cells before that of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_builds: Vec<Build>,
    /// Digest of the traces and the measure that a search evaluates, see its journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<String>,
    /// The build, and the cells of a sweep or a shard of a search.
    pub plan: serde_json::Value,
}

impl PlanFile {
    /// That of a sweep.
    pub fn of_sweep(shard: String, earlier_builds: Vec<Build>, plan: serde_json::Value) -> Self {
        Self { kind: None, shard: Some(shard), earlier_builds, evaluated: None, plan }
    }

    /// That of a shard of a command that is not a sweep; `plan` says the build.
    pub fn of_shard(
        kind: Kind,
        shard: String,
        earlier_builds: Vec<Build>,
        plan: serde_json::Value,
    ) -> Self {
        let kind = Some(kind.name().to_string());
        Self { kind, shard: Some(shard), earlier_builds, evaluated: None, plan }
    }

    /// The command.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(Kind::Sweep.name())
    }

    /// That of a command whose cells the journal alone knows.
    pub fn of(kind: Kind) -> serde_json::Result<Self> {
        let plan = serde_json::to_value(crate::cli::build::this())?;
        let kind = Some(kind.name().to_string());
        let earlier_builds = Vec::new();
        Ok(Self { kind, shard: None, earlier_builds, evaluated: None, plan })
    }

    /// The text of a folder's plan; `None` if it has none.
    pub fn text(dir: &Dir) -> io::Result<Option<Vec<u8>>> {
        dir.read(PLAN_FILE, LARGEST)
    }

    /// A folder's plan, of whatever version; `None` if it has none of this program.
    pub fn of_folder(dir: &Dir) -> Option<Self> {
        let file: Self = serde_json::from_slice(&Self::text(dir).ok()??).ok()?;
        let sweep = file.kind.is_none();
        (file.plan["version"].is_string() && (!sweep || file.plan["grid"].is_object()))
            .then_some(file)
    }

    /// Writes it into a folder. Never half: the file appears as a whole.
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

/// Whether a folder's plan is one of this program, of whatever version.
pub fn is_plan(dir: &Dir) -> bool {
    PlanFile::of_folder(dir).is_some()
}

/// Which command's journal a folder has, or what looks like one; `None` without.
pub fn journal_of(dir: &Dir) -> Option<String> {
    let sweep = || Kind::Sweep.name().to_string();
    dir.has(JOURNAL_FILE)
        .unwrap_or(true)
        .then(|| PlanFile::of_folder(dir).and_then(|file| file.kind).unwrap_or_else(sweep))
}

/// The other builds that ran cells of a folder. A folder goes on only under the build that
/// began it, since another may compute otherwise, unless the user knows better: `other_build` says
/// so, `None` where the command has no such word.
pub fn other_builds(dir: &Dir, other_build: Option<bool>) -> Result<Vec<Build>, Failure> {
    let (out, this) = (dir.path().display(), crate::cli::build::this());
    // One that was killed before it wrote its plan has none; one that is not ours is told of
    // when ours is to be written.
    let text = PlanFile::text(dir).ok().flatten();
    let file = text.and_then(|text| serde_json::from_slice::<PlanFile>(&text).ok());
    let Some(PlanFile { mut earlier_builds, plan, .. }) = file else { return Ok(Vec::new()) };
    let Ok(began) = serde_json::from_value::<Build>(plan) else { return Ok(Vec::new()) };
    if !began.is_same(&this) {
        if other_build != Some(true) {
            let on = match other_build {
                Some(_) => "--other-build goes on all the same, ",
                None => "",
            };
            return Err(Failure::usage_message(format!(
                "{out} was begun by {began}, this is {this}: {on}--force begins anew"
            )));
        }
        earlier_builds.push(began);
    }
    earlier_builds.retain(|build| !build.is_same(&this));
    Ok(earlier_builds)
}

/// Opens or begins the journal of a folder.
pub fn open<R: Serialize + DeserializeOwned>(
    dir: &Dir,
    quiet: bool,
) -> Result<Journal<R>, Failure> {
    let journal = Journal::open(dir, is_plan(dir)).map_err(of_journal)?;
    if !quiet {
        for line in journal.damaged() {
            let path = journal.path().display();
            tell(format_args!("{path}:{line}: damaged record passed over; its cell runs again"));
        }
    }
    Ok(journal)
}

/// Removes a folder's journal, of whatever version.
pub fn discard(dir: &Dir) -> Result<(), Failure> {
    journal::discard(dir, is_plan(dir)).map_err(of_journal)
}

/// Lets the journal and the plan of a folder go when results take their places.
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

/// A disk that is full is a matter of the user's; a record that makes no sense is bad data.
pub fn of_journal(error: JournalError) -> Failure {
    match error {
        JournalError::Io { .. } => Failure::usage(error),
        JournalError::Foreign(_) => {
            Failure::data(anyhow::Error::new(error).context("move it away, or name another folder"))
        }
        error => Failure::data(anyhow::Error::new(error).context("--force begins anew")),
    }
}
