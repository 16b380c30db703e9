//! The journal in a command's folder, and the plan beside it, which says whose it is.
//!
//! Three commands keep one. A sweep's stays when it is done: shards are put together from theirs.
//! Those of `stream` and `contend` go when their results come.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::exit::{Failure, tell};
use super::results::Tally;
use super::session::{Kind, Session};
use crate::experiment::journal::{self, CellId, JOURNAL_FILE, Journal, JournalError, Outcome};
use crate::experiment::pool::{self, Turn};
use crate::experiment::sweep::Build;
use crate::files::{Dir, Folder, FolderError};
use crate::number::grouped;

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
    /// Which part of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Builds that ran cells before that of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_builds: Vec<Build>,
    /// The build, and the cells of a sweep.
    pub plan: serde_json::Value,
}

impl PlanFile {
    /// That of a sweep.
    pub fn of_sweep(shard: String, earlier_builds: Vec<Build>, plan: serde_json::Value) -> Self {
        Self { kind: None, shard: Some(shard), earlier_builds, plan }
    }

    /// That of a command whose cells the journal alone knows.
    fn of(kind: Kind) -> serde_json::Result<Self> {
        let plan = serde_json::to_value(Build::this())?;
        let kind = Some(kind.name().to_string());
        Ok(Self { kind, shard: None, earlier_builds: Vec::new(), plan })
    }

    /// The text of a folder's plan; `None` if it has none.
    pub fn text(dir: &Dir) -> io::Result<Option<Vec<u8>>> {
        dir.read(PLAN_FILE, LARGEST)
    }

    /// A folder's plan, of whatever version; `None` if it has none of this program.
    fn read(dir: &Dir) -> Option<Self> {
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
    PlanFile::read(dir).is_some()
}

/// Which command's journal a folder has, or what looks like one; `None` without.
pub fn journal_of(dir: &Dir) -> Option<String> {
    let sweep = || Kind::Sweep.name().to_string();
    dir.has(JOURNAL_FILE)
        .unwrap_or(true)
        .then(|| PlanFile::read(dir).and_then(|file| file.kind).unwrap_or_else(sweep))
}

/// The other builds that ran cells of a folder. A folder goes on only under the build that
/// began it, since another may compute otherwise, unless the user knows better: `other_build` says
/// so, `None` where the command has no such word.
pub fn other_builds(dir: &Dir, other_build: Option<bool>) -> Result<Vec<Build>, Failure> {
    let (out, this) = (dir.path().display(), Build::this());
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
pub fn let_go(folder: &mut Folder) -> Result<(), FolderError> {
    let dir = folder.dir();
    let plan = is_plan(dir);
    let journal = journal::is_journal(dir, plan).unwrap_or(false);
    for (name, ours) in [(JOURNAL_FILE, journal), (PLAN_FILE, plan)] {
        if ours {
            folder.let_go(name)?;
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

/// The cells of a command whose results fit into memory: those that the folder's journal has are
/// kept, the others run and are journalled as they end. Without a folder all run.
///
/// Cells are known by their [ids](CellId), so that what another configuration left is not mixed
/// in: it is not found. A failed cell has no record; the same command runs it again.
pub struct Resumed<R> {
    journal: Option<(Dir, Journal<R>)>,
    ids: Vec<CellId>,
    results: Vec<Option<R>>,
}

impl<R: Serialize + DeserializeOwned + Send> Resumed<R> {
    /// Looks for these cells in the journal of the session's folder, and says how many it has.
    pub fn begin(session: &mut Session, ids: Vec<CellId>) -> Result<Self, Failure> {
        let mut resumed = Self { journal: None, results: ids.iter().map(|_| None).collect(), ids };
        let Some(dir) = session.keep_journal()? else { return Ok(resumed) };
        // First: a journal without a plan is taken for that of a sweep.
        PlanFile::of(session.kind()).map_err(|e| Failure::output(PLAN_FILE, e))?.write(&dir)?;
        let mut journal = open(&dir, session.is_quiet())?;
        for (id, result) in resumed.ids.iter().zip(&mut resumed.results) {
            if let Some(Outcome::Done(done)) = journal.read(*id).map_err(of_journal)? {
                *result = Some(*done);
            }
        }
        let (all, left) = (resumed.ids.len(), resumed.missing().count());
        if left < all {
            let [all, kept, left] = [all, all - left, left].map(|n| grouped(n as u64));
            let kind = session.kind().name();
            session.say(format_args!("{kind}: {all} cells: {kept} done before, {left} to run"));
        }
        resumed.journal = Some((dir, journal));
        Ok(resumed)
    }

    /// The places of the cells that are to run.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.ids.len()).filter(|&place| self.results[place].is_none())
    }

    /// Runs what is missing on the current rayon pool. `work` gets the place of a cell and says
    /// why it failed, or nothing if it was ended before its own end.
    pub fn run(
        &mut self,
        tally: &mut Tally,
        work: impl Fn(usize) -> Option<Result<R, String>> + Sync,
    ) -> Result<(), Failure> {
        let missing: Vec<usize> = self.missing().collect();
        let mut failed = Vec::new();
        let Self { journal, ids, results } = self;
        let work = |_: usize, &place: &usize| work(place);
        pool::try_run(&missing, Turn::AsDone, work, |place, outcome| {
            let place = missing[place];
            match outcome {
                Ok(result) => {
                    if let Some((_, journal)) = journal {
                        journal.append(ids[place], Ok(&result)).map_err(of_journal)?;
                    }
                    results[place] = Some(result);
                }
                Err(why) => failed.push((place, why)),
            }
            Ok::<_, Failure>(true)
        })?;
        failed.sort_unstable();
        tally.failed.extend(failed.into_iter().map(|(_, why)| why));
        tally.done = results.iter().flatten().count();
        match journal {
            Some((_, journal)) => journal.sync().map_err(of_journal),
            None => Ok(()),
        }
    }

    /// Places and results of the cells that are done, in order.
    pub fn take(&mut self) -> Vec<(usize, R)> {
        let results = self.results.iter_mut().enumerate();
        results.filter_map(|(place, result)| Some((place, result.take()?))).collect()
    }
}

impl<R> Drop for Resumed<R> {
    fn drop(&mut self) {
        // Where nothing was done, nothing is left.
        if let Some((dir, journal)) = &self.journal
            && journal.is_empty()
        {
            let _ = dir.remove(JOURNAL_FILE).and_then(|()| dir.remove(PLAN_FILE));
        }
    }
}
