//! Resumes interrupted commands from the journal in their output folder.

use std::collections::HashSet;
use std::io::{Write, stdout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::exit::Failure;
use super::journal::{self, PLAN_FILE, PlanFile, of_journal};
use super::results::Tally;
use super::session::Session;
use replay_core::number::{counted, grouped};
use replay_experiment::files::Dir;
use replay_experiment::journal::{CellId, JOURNAL_FILE, Journal, Outcome};
use replay_experiment::pool::{self, Turn};
use replay_experiment::sweep::Build;

/// The journal of a command. The journal of a sweep or a shard remains, because shards are merged from their journals.
/// Any other journal is removed when results are written, or if it has no record when this value is dropped.
pub struct JournalHandle<R> {
    dir: Dir,
    is_permanent: bool,
    /// Earlier builds that ran cells of the folder.
    pub earlier_builds: Vec<Build>,
    /// The journal.
    pub journal: Mutex<Journal<R>>,
}

impl<R: Serialize + DeserializeOwned> JournalHandle<R> {
    /// Opens or begins the journal in the folder of a session; `None` without a folder. [`other_builds`](journal::other_builds)
    /// explains `other_build`.
    ///
    /// # Errors
    /// A usage error if the folder has a journal of another configuration or build, or cannot be written; a data error
    /// if the journal cannot be read.
    pub fn begin(
        session: &mut Session,
        mut plan: PlanFile,
        other_build: Option<bool>,
    ) -> Result<Option<Self>, Failure> {
        let is_permanent = plan.shard.is_some();
        let kept = session.keep_journal(is_permanent, other_build)?;
        let Some((dir, earlier_builds)) = kept else { return Ok(None) };
        plan.earlier_builds.clone_from(&earlier_builds);
        let has_journal = dir.has(JOURNAL_FILE);
        let has_journal = has_journal.map_err(|e| Failure::output(dir.path().display(), e))?;
        let before = PlanFile::of_folder(&dir);
        let open = || journal::open(&dir, before.is_some(), session.is_quiet());
        let mut journal = None;
        if has_journal {
            let evaluated = before.as_ref().and_then(|before| before.evaluated.as_ref());
            if evaluated.is_some()
                && plan.evaluated.is_some()
                && evaluated != plan.evaluated.as_ref()
            {
                return Err(of_others(&dir));
            }
            journal = Some(open()?);
        }
        // Write the plan before a new journal, because a journal without a plan counts as the journal of a sweep.
        plan.write(&dir)?;
        let journal = Mutex::new(journal.map_or_else(open, Ok)?);
        Ok(Some(Self { dir, is_permanent, earlier_builds, journal }))
    }

    /// Prints the path of the journal, which is the result of a shard, and returns the exit code.
    ///
    /// # Errors
    /// A usage error if standard output cannot be written.
    pub fn print_path(&self) -> Result<(), Failure> {
        writeln!(stdout(), "{}", self.open().path().display())
            .map_err(|e| Failure::output("standard output", e))
    }

    /// Locks the journal for reading or writing.
    pub fn open(&self) -> MutexGuard<'_, Journal<R>> {
        // A poisoned lock is not an error: if a thread panicked while it wrote a record, the incomplete record is
        // removed when the journal is opened again.
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> Drop for JournalHandle<R> {
    fn drop(&mut self) {
        let journal = self.journal.get_mut().unwrap_or_else(PoisonError::into_inner);
        if journal.is_empty() && !self.is_permanent {
            let _ = self.dir.remove(JOURNAL_FILE).and_then(|()| self.dir.remove(PLAN_FILE));
        }
    }
}

/// Returns the failure for a folder with a journal of other cells. New results would remove this journal.
fn of_others(dir: &Dir) -> Failure {
    Failure::usage_message(format!(
        "{} has the journal of an unfinished command of another configuration ({JOURNAL_FILE}): finish that command, \
         choose another folder, or discard the journal with --force",
        dir.path().display()
    ))
}

/// The cells of a command whose results fit into memory. Cells in the journal of the folder are not run again. All
/// other cells run and are recorded as they finish. Without a folder, all cells run.
///
/// Cells are identified by their [ids](CellId). A journal with other cells is refused, because the journal is removed
/// when results are written. A failed cell has no record, so the same command runs the cell again.
pub struct ResumableRun<R> {
    kept: Option<JournalHandle<R>>,
    ids: Vec<CellId>,
    results: Vec<Option<R>>,
}

impl<R: Serialize + DeserializeOwned + Send> ResumableRun<R> {
    /// Reads the results of the cells `ids` from the journal in the folder of a session and reports how many of the
    /// cells are finished.
    ///
    /// # Errors
    /// The errors of [`JournalHandle::begin`], and a usage error if the journal has other cells.
    pub fn begin(session: &mut Session, ids: Vec<CellId>) -> Result<Self, Failure> {
        let plan = PlanFile::new(session.kind(), crate::cli::build::this())?;
        let kept = JournalHandle::begin(session, plan, None)?;
        let mut resumed = Self { kept, results: ids.iter().map(|_| None).collect(), ids };
        let Some(kept) = &resumed.kept else { return Ok(resumed) };
        let known: HashSet<CellId> = resumed.ids.iter().copied().collect();
        if kept.open().ids().any(|id| !known.contains(&id)) {
            return Err(of_others(&kept.dir));
        }
        for (id, result) in resumed.ids.iter().zip(&mut resumed.results) {
            if let Some(Outcome::Done(done)) = kept.open().read(*id).map_err(of_journal)? {
                *result = Some(*done);
            }
        }
        let (all, left) = (resumed.ids.len(), resumed.missing().count());
        if left < all {
            let [kept, left] = [all - left, left].map(|n| grouped(n as u64));
            let all = counted(all as u64, "cell");
            let kind = session.kind().name();
            session.print_line(format_args!("{kind}: {all}: {kept} done before, {left} to run"));
        }
        Ok(resumed)
    }

    /// Returns the indices of the cells without a result.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.ids.len()).filter(|&place| self.results[place].is_none())
    }

    /// Runs the cells without a result on the current rayon pool. `work` receives the index of a cell and returns the
    /// result or the reason for the failure; `None` if the cell was cancelled.
    ///
    /// # Errors
    /// The error of [`of_journal`] if a result cannot be recorded.
    pub fn run(
        &mut self,
        tally: &mut Tally,
        work: impl Fn(usize) -> Option<Result<R, String>> + Sync,
    ) -> Result<(), Failure> {
        let missing: Vec<usize> = self.missing().collect();
        let mut failed = Vec::new();
        let Self { kept, ids, results } = self;
        let work = |_: usize, &place: &usize| work(place);
        pool::try_run(&missing, Turn::AsDone, work, |place, outcome| {
            let place = missing[place];
            match outcome {
                Ok(result) => {
                    if let Some(kept) = kept {
                        kept.open().append(ids[place], Ok(&result)).map_err(of_journal)?;
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
        match kept {
            Some(kept) => kept.open().sync().map_err(of_journal),
            None => Ok(()),
        }
    }

    /// Returns the indices and results of the finished cells, in order.
    pub fn take(&mut self) -> Vec<(usize, R)> {
        let results = self.results.iter_mut().enumerate();
        results.filter_map(|(place, result)| Some((place, result.take()?))).collect()
    }
}
