//! Commands that go on where they were interrupted, by the journal in their folder.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::exit::Failure;
use super::journal::{self, PLAN_FILE, PlanFile, of_journal};
use super::results::Tally;
use super::session::Session;
use crate::experiment::journal::{CellId, JOURNAL_FILE, Journal, Outcome};
use crate::experiment::pool::{self, Turn};
use crate::files::Dir;
use crate::number::{counted, grouped};

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
        let mut journal = journal::open(&dir, session.is_quiet())?;
        for (id, result) in resumed.ids.iter().zip(&mut resumed.results) {
            if let Some(Outcome::Done(done)) = journal.read(*id).map_err(of_journal)? {
                *result = Some(*done);
            }
        }
        let (all, left) = (resumed.ids.len(), resumed.missing().count());
        if left < all {
            let [kept, left] = [all - left, left].map(|n| grouped(n as u64));
            let all = counted(all as u64, "cell");
            let kind = session.kind().name();
            session.say(format_args!("{kind}: {all}: {kept} done before, {left} to run"));
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
