use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::{CellId, Plan, Shard};
use crate::experiment::journal::{Journal, JournalError};
use crate::experiment::{CellError, RunResult, Trace, Watch, run_cell};
use crate::naming::NameError;

/// A sweep that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A strategy that was made once cannot be made again.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The cells of a shard that still have to run: those without a record, and with
/// `retry_failed` those that failed. Of cells with one id only the first.
///
/// # Errors
/// [`NameError`] as [`Plan::id`].
pub fn pending(
    plan: &Plan,
    shard: Shard,
    journal: &Journal,
    retry_failed: bool,
) -> Result<Vec<u32>, NameError> {
    let mut listed = std::collections::HashSet::new();
    let mut pending = Vec::new();
    for run in shard.cells(plan.len()) {
        let id = plan.id(run)?;
        let open = journal.failed(id).is_none_or(|failed| failed && retry_failed);
        if open && listed.insert(id) {
            pending.push(run);
        }
    }
    Ok(pending)
}

/// Runs cells of a plan on the current rayon pool and journals each as it finishes, in
/// whatever order that is. `told` hears of every finished cell after it is journalled;
/// when it returns `false`, running cells are finished and no further ones begun. The
/// watch's flag ends those that run, too; they leave no trace.
///
/// Results are held only until they are journalled, at most two per thread.
///
/// # Errors
/// [`SweepError`]; every cell that `told` heard of is in the journal.
pub fn run_sweep(
    plan: &Plan,
    traces: &[Arc<Trace>],
    runs: &[u32],
    journal: &mut Journal,
    watch: Watch<'_>,
    mut told: impl FnMut(u32, Result<&RunResult, &CellError>) -> bool,
) -> Result<(), SweepError> {
    type Finished = Result<(CellId, Result<RunResult, CellError>), NameError>;
    // `None` for a cell that was ended.
    let work = |run: u32| -> Option<Finished> {
        let finished = || {
            let cell = plan.cell(traces, run)?;
            Ok((plan.id(run)?, run_cell(run, &cell, plan.grid.measure, watch)))
        };
        let ended = |outcome: &Result<RunResult, CellError>| {
            outcome.as_ref().is_err_and(CellError::is_stopped)
        };
        Some(finished()).filter(|done| !done.as_ref().is_ok_and(|(_, outcome)| ended(outcome)))
    };
    let mut take = |run: u32, finished: Finished| -> Result<bool, SweepError> {
        let (id, outcome) = finished?;
        let why = outcome.as_ref().map_err(|error| error.cause.to_string());
        journal.append(id, why.as_ref().map(|result| *result).map_err(String::as_str))?;
        Ok(told(run, outcome.as_ref()))
    };
    if rayon::current_thread_index().is_some() {
        // On a worker of the pool itself, waiting for the others could wait for ever.
        for &run in runs {
            let Some(finished) = work(run) else { break };
            if !take(run, finished)? {
                break;
            }
        }
        return Ok(());
    }
    let threads = rayon::current_num_threads().min(runs.len()).max(1);
    let (sender, finished) = mpsc::sync_channel::<(u32, Finished)>(threads);
    let next = AtomicUsize::new(0);
    rayon::in_place_scope(|scope| {
        // Moved in, so that it is dropped on return and no worker waits to be heard.
        let finished = finished;
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move |_| {
                while let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(finished) = work(run) else { break };
                    if sender.send((run, finished)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut broken = None;
        for (run, outcome) in finished.iter() {
            let going_on = take(run, outcome).unwrap_or_else(|error| {
                broken.get_or_insert(error);
                false
            });
            if !going_on {
                next.store(runs.len(), Ordering::Relaxed);
            }
        }
        broken.map_or(Ok(()), Err)
    })
}
