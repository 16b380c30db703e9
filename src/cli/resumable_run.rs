//! Resumes interrupted commands from the journal in their output folder.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::exit::{Failure, eprint_line};
use super::journal::{self, PLAN_FILE, PlanFile, of_experiment, of_journal};
use super::results::Tally;
use super::session::Session;
use super::shards::{ShardArg, Shards, outcome, plan_of_shard};
use replay_engine::number::{counted, grouped};
use replay_experiment::files::Dir;
use replay_experiment::journal::{CellId, JOURNAL_FILE, Journal, Outcome};
use replay_experiment::pool::Turn;
use replay_experiment::sweep::{Build, Shard, text_digest};
use replay_experiment::{Experiment, Record, RunContext, WithIds, run_recorded};

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
    /// Opens or begins the journal in the folder of a session; `None` without a folder. `known` contains the cells that the
    /// journal may have; `None` for any cells. [`other_builds`](journal::other_builds) explains `other_build`.
    ///
    /// # Errors
    /// A usage error if the folder has a journal of another configuration or build, or cannot be written; a data error
    /// if the journal cannot be read.
    pub fn begin(
        session: &mut Session,
        mut plan: PlanFile,
        known: Option<&[CellId]>,
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
            let opened = open()?;
            if let Some(known) = known {
                let known: HashSet<CellId> = known.iter().copied().collect();
                if opened.ids().any(|id| !known.contains(&id)) {
                    return Err(of_others(&dir));
                }
            }
            journal = Some(opened);
        }
        // Write the plan before a new journal, because a journal without a plan counts as the journal of a sweep.
        plan.write(&dir)?;
        let journal = Mutex::new(journal.map_or_else(open, Ok)?);
        Ok(Some(Self { dir, is_permanent, earlier_builds, journal }))
    }

    /// Opens or begins the journal of a shard in the folder of a session.
    ///
    /// # Errors
    /// The errors of [`begin`](Self::begin), and a usage error if the folder has the journal of another command.
    pub fn of_shard(
        session: &mut Session,
        plan: PlanFile,
        known: &[CellId],
        shard: Shard,
    ) -> Result<Self, Failure> {
        Self::begin(session, plan, Some(known), None)?.ok_or_else(|| {
            Failure::usage_message(format!(
                "--shard {shard}: the folder of --out contains the journal of another command; choose another folder"
            ))
        })
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
        "{} has the journal of a command with other options or traces ({JOURNAL_FILE}): finish that command, \
         choose another folder, or discard the journal with --force",
        dir.path().display()
    ))
}

/// The cells of a command whose results fit into memory. Cells in the journal of the folder are not run again. All
/// other cells run and are recorded as they finish. Without a folder, all cells run. A shard runs only its cells. A merge
/// runs no cell, because all results are in the journals of the shards.
///
/// Cells are identified by their [ids](CellId). A journal with other cells is refused, because the journal is removed
/// when results are written. A failed cell has a record only in the journal of a shard. The same command runs a failed
/// cell again.
pub struct ResumableRun<R> {
    kept: Option<JournalHandle<R>>,
    ids: Vec<CellId>,
    /// Number of the cells that belong to the shard, or of all cells.
    all: usize,
    missing: Vec<u32>,
    results: Vec<Option<R>>,
    /// For each failed cell, its index and the reason for the failure.
    failed: Vec<(usize, String)>,
}

impl<R: Serialize + DeserializeOwned + Send> ResumableRun<R> {
    /// Declares the cells `ids` as the configuration of a session, and reads their results from the journal in the
    /// folder of the session, or from the journals of `merged` shards. Reports how many of the cells are finished.
    /// `command` has the options of the whole command, for the plan of a shard.
    ///
    /// # Errors
    /// The errors of [`Session::configure`] and [`JournalHandle::begin`], a usage error if the journal has other cells,
    /// and the errors of [`Shards::journals`].
    pub fn begin(
        session: &mut Session,
        ids: Vec<CellId>,
        command: &impl Serialize,
        shard: ShardArg,
        merged: Option<&Shards<'_>>,
    ) -> Result<Self, Failure> {
        let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
        session.configure(&texts)?;
        let digest = text_digest(&texts.concat());
        let results = ids.iter().map(|_| None).collect();
        let (all, missing, failed) = (ids.len(), Vec::new(), Vec::new());
        let mut resumed = Self { kept: None, ids, all, missing, results, failed };
        if let Some(shards) = merged {
            shards.check(&digest)?;
            resumed.merge(shards)?;
            return Ok(resumed);
        }
        let own = shard.shard().unwrap_or(Shard::WHOLE).cells(all as u32);
        let own: Vec<usize> = own.map(|place| place as usize).collect();
        resumed.all = own.len();
        resumed.kept = match shard.shard() {
            None => {
                let plan = PlanFile::new(session.kind(), session.build())?;
                JournalHandle::begin(session, plan, Some(&resumed.ids), None)?
            }
            Some(shard) => {
                let plan = plan_of_shard(session, shard, command, digest)?;
                let kept = JournalHandle::of_shard(session, plan, &resumed.ids, shard)?;
                session.run_shard(kept.open().path().to_path_buf());
                Some(kept)
            }
        };
        resumed.read(session, own)?;
        Ok(resumed)
    }

    /// Reads the results of the cells `own` from the journal of the folder.
    fn read(&mut self, session: &Session, own: Vec<usize>) -> Result<(), Failure> {
        if let Some(kept) = &self.kept {
            for &place in &own {
                if let Some(Outcome::Done(done)) =
                    kept.open().read(self.ids[place]).map_err(of_journal)?
                {
                    self.results[place] = Some(*done);
                }
            }
        }
        let open = own.into_iter().filter(|&place| self.results[place].is_none());
        self.missing = open.map(|place| place as u32).collect();
        let (all, left) = (self.all, self.missing.len());
        if left < all {
            let [kept, left] = [all - left, left].map(|n| grouped(n as u64));
            let all = counted(all as u64, "cell");
            let kind = session.kind().name();
            session.print_line(format_args!("{kind}: {all}: {kept} done before, {left} to run"));
        }
        Ok(())
    }

    /// Reads the outcomes of all cells from the journals of shards.
    fn merge(&mut self, shards: &Shards<'_>) -> Result<(), Failure> {
        let split = shards.split();
        let mut journals =
            shards.journals(self.ids.iter().copied().map(Ok), |cell| split.of_cell(cell))?;
        // Results are compared as JSON, in which missing numbers are equal.
        let same = |a: &R, b: &R| match (serde_json::to_value(a), serde_json::to_value(b)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        for (place, &id) in self.ids.iter().enumerate() {
            match outcome(&mut journals, place as u32, id, same)? {
                Outcome::Done(done) => self.results[place] = Some(*done),
                Outcome::Failed(why) => {
                    eprint_line(format_args!("replay: cell failed: {why}"));
                    self.failed.push((place, why));
                }
            }
        }
        Ok(())
    }

    /// Returns the indices of the cells to run.
    pub fn missing(&self) -> impl Iterator<Item = u32> {
        self.missing.iter().copied()
    }

    /// Runs the cells without a result on the current rayon pool. `report` is called with each outcome as it is known.
    ///
    /// # Errors
    /// The error of [`of_journal`] if a result cannot be recorded.
    pub fn run<E: Experiment<Row = R, Error = String>>(
        &mut self,
        experiment: &E,
        context: RunContext<'_>,
        mut report: impl FnMut(usize, Result<&R, &str>),
    ) -> Result<(), Failure> {
        let Self { kept, ids, missing, results, failed, .. } = self;
        let experiment = WithIds(experiment, ids);
        let failures = kept.as_ref().is_some_and(|kept| kept.is_permanent);
        let mut journal = kept.as_ref().map(JournalHandle::open);
        let record = journal.as_deref_mut().map(|journal| Record { journal, failures });
        let ran =
            run_recorded(&experiment, missing, Turn::AsDone, record, context, |cell, outcome| {
                let place = cell as usize;
                report(place, outcome.as_ref().map_err(String::as_str));
                match outcome {
                    Ok(result) => results[place] = Some(result),
                    Err(why) => failed.push((place, why)),
                }
                true
            });
        ran.map_err(of_experiment)?;
        journal.map_or(Ok(()), |journal| journal.sync().map_err(of_journal))
    }

    /// Returns the indices and results of the finished cells, in order, and the tally of the cells; `what` is the plural
    /// noun for cells in messages.
    pub fn take(mut self, what: &'static str) -> (Vec<(usize, R)>, Tally) {
        let results = std::mem::take(&mut self.results).into_iter().enumerate();
        let done: Vec<_> = results.filter_map(|(place, done)| Some((place, done?))).collect();
        self.failed.sort_unstable();
        let failed = self.failed.into_iter().map(|(_, why)| why).collect();
        let tally = Tally::ended(what, self.all, done.len(), failed);
        (done, tally)
    }
}
