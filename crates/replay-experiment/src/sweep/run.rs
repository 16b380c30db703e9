use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Plan, Shard};
use crate::batched_run::{self, run_together};
use crate::journal::{Journal, JournalError};
use crate::pool::{self, Turn};
use crate::{Cell, CellError, Measure, RunContext, RunResult, Trace, run_cell};
use replay_engine::naming::NameError;

/// Error that ends a sweep.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A strategy of the plan cannot be built.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Returns the cells of a shard that still have to run: the cells without a record, and with `retry_failed` also the
/// cells that failed. If several cells have the same id, only the first of these cells is returned.
///
/// # Errors
/// [`NameError`] as for [`Plan::id`].
pub fn pending(
    plan: &Plan,
    shard: Shard,
    journal: &Journal<RunResult>,
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

/// Runs cells of a plan on the current rayon pool. `take` is called with the number and the outcome of each cell, in
/// the order that `turn` defines. After `take` has returned `false` or an error, running cells finish and no further
/// cell starts. Cancellation also stops running cells; `take` is not called for these cells.
///
/// # Errors
/// Returns the error of `take` or of [`Plan::cell`].
pub fn run_plan<E: From<NameError>>(
    plan: &Plan,
    traces: &[Arc<Trace>],
    runs: &[u32],
    turn: Turn,
    watch: RunContext<'_>,
    mut take: impl FnMut(u32, Result<RunResult, CellError>) -> Result<bool, E>,
) -> Result<(), E> {
    let bundles = bundles(plan, traces, runs)?;
    let measure = |cell: &Cell| {
        let measure = plan.grid.measure;
        // Data of single jobs are needed only for the unperturbed trace.
        let itself = cell.trace.copy == 0;
        let (jobs, nodes) = (measure.jobs && itself, measure.nodes && itself);
        Measure { jobs, nodes, ..measure }
    };
    let work = |_: usize, bundle: &Range<usize>| {
        let last = Mutex::new(Instant::now());
        let jobs_done = |jobs| {
            (watch.jobs_done)(jobs);
            let now = Instant::now();
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            (watch.run_jobs)(runs[bundle.start], jobs, now - std::mem::replace(&mut *last, now));
        };
        let watch = RunContext { jobs_done: &jobs_done, ..watch };
        let cell = |&run: &u32| plan.cell(traces, run).map(|cell| (run, cell));
        let cells: Result<Vec<_>, _> = runs[bundle.clone()].iter().map(cell).collect();
        let outcomes = cells.map(|cells| {
            run_together(&cells, plan.grid.measure, watch).unwrap_or_else(|| {
                let run = |(run, cell): &(u32, Cell)| run_cell(*run, cell, measure(cell), watch);
                cells.iter().map(run).collect()
            })
        });
        let stopped =
            |outcome: &Result<_, CellError>| outcome.as_ref().is_err_and(CellError::is_stopped);
        let ended = outcomes.as_ref().is_ok_and(|outcomes| outcomes.iter().any(stopped));
        (!ended).then_some(outcomes)
    };
    pool::try_run(&bundles, turn, work, |place, outcomes| {
        let mut continues = true;
        for (&run, outcome) in runs[bundles[place].clone()].iter().zip(outcomes?) {
            continues = take(run, outcome)?;
        }
        Ok(continues)
    })
}

/// Splits `runs` into ranges of consecutive cells that differ only in the tie vector and therefore share a replay. Long
/// ranges are split further, so that every thread receives cells.
pub(super) fn bundles(
    plan: &Plan,
    traces: &[Arc<Trace>],
    runs: &[u32],
) -> Result<Vec<Range<usize>>, NameError> {
    let alone = !plan.grid.measure.is_of_shared_replays();
    let share = runs.len().div_ceil(pool::threads().max(1));
    let mut bundles: Vec<Range<usize>> = Vec::new();
    let mut latest = None;
    for (place, &run) in runs.iter().enumerate() {
        let [trace, copy, scheduler, strategy, seed] = plan.places(run);
        let topology = &traces[trace].topology;
        let shared = match alone {
            true => None,
            false => plan.grid.strategies.get(strategy)?.batch_key(topology),
        };
        let most = batched_run::batch_size(topology).min(share);
        let now = shared.map(|shared| (trace, copy, scheduler, seed, shared));
        match bundles.last_mut().filter(|_| now.is_some() && now == latest) {
            Some(bundle) if bundle.len() < most => bundle.end = place + 1,
            _ => bundles.push(place..place + 1),
        }
        latest = now;
    }
    Ok(bundles)
}

/// Runs cells as [`run_plan`] does, and appends each finished cell to the journal in the order of completion. After a
/// cell has been appended, `finished` is called for this cell.
///
/// At most two results per thread are kept in memory before they are written to the journal.
///
/// # Errors
/// [`SweepError`] if a strategy cannot be built or the journal cannot be written. Even if the sweep fails, every cell
/// for which `finished` was called is in the journal.
pub fn run_sweep(
    plan: &Plan,
    traces: &[Arc<Trace>],
    runs: &[u32],
    journal: &mut Journal<RunResult>,
    watch: RunContext<'_>,
    mut finished: impl FnMut(u32, Result<&RunResult, &CellError>) -> bool,
) -> Result<(), SweepError> {
    run_plan(plan, traces, runs, Turn::AsDone, watch, |run, outcome| {
        let why = outcome.as_ref().map_err(|error| error.cause.to_string());
        journal.append(plan.id(run)?, why.as_ref().copied().map_err(String::as_str))?;
        Ok(finished(run, outcome.as_ref()))
    })
}
