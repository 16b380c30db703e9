//! The loop that runs the cells of every experiment.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::journal::{CellId, Journal, JournalError};
use super::pool::{self, Turn};
use super::sweep::Shard;
use super::{Cell, CellError, Measure, RunContext, RunResult, run_cell};
use replay_engine::naming::NameError;

/// An experiment: numbered cells that run independently of each other.
pub trait Experiment: Sync {
    /// The result of a cell.
    type Row: Send;
    /// The reason why a cell failed, with the name of the cell.
    type Error: fmt::Display + Send;

    /// Splits `cells` into ranges of consecutive cells that share work. By default, no cells share work.
    ///
    /// # Errors
    /// [`NameError`] if a strategy cannot be built.
    fn bundles(&self, cells: &[u32]) -> Result<Vec<Range<usize>>, NameError> {
        Ok((0..cells.len()).map(|place| place..place + 1).collect())
    }

    /// Runs the cells of one bundle and returns an outcome for each of them; `None` if a cell was cancelled.
    ///
    /// # Errors
    /// [`NameError`] if a strategy cannot be built.
    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError>;
}

/// The outcomes of the cells of a bundle.
pub type Outcomes<E> = Option<Vec<Outcome<E>>>;

/// The outcome of a cell.
pub type Outcome<E> = Result<<E as Experiment>::Row, <E as Experiment>::Error>;

/// An experiment whose results can be written to a journal.
pub trait Recorded: Experiment<Row: Serialize + DeserializeOwned> {
    /// Returns the id under which the journal has the result of a cell.
    ///
    /// # Errors
    /// [`NameError`] if a strategy cannot be built.
    fn id(&self, cell: u32) -> Result<CellId, NameError>;

    /// Returns the reason that the journal has for a failed cell.
    fn reason(error: &Self::Error) -> String {
        error.to_string()
    }
}

/// Cells that are not part of a grid, with what to measure.
pub struct Cells<'a>(pub &'a [Cell], pub Measure);

impl Experiment for Cells<'_> {
    type Row = RunResult;
    type Error = CellError;

    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError> {
        let run = |&run: &u32| run_cell(run, &self.0[run as usize], self.1, context);
        Ok(unless_stopped(cells.iter().map(run).collect()))
    }
}

/// Returns the outcomes; `None` if a cell was cancelled.
pub(crate) fn unless_stopped(
    outcomes: Vec<Result<RunResult, CellError>>,
) -> Option<Vec<Result<RunResult, CellError>>> {
    let stopped =
        |outcome: &Result<_, CellError>| outcome.as_ref().is_err_and(CellError::is_stopped);
    (!outcomes.iter().any(stopped)).then_some(outcomes)
}

/// An experiment with the ids of its cells.
pub struct WithIds<'a, E>(pub &'a E, pub &'a [CellId]);

impl<E: Experiment> Experiment for WithIds<'_, E> {
    type Row = E::Row;
    type Error = E::Error;

    fn bundles(&self, cells: &[u32]) -> Result<Vec<Range<usize>>, NameError> {
        self.0.bundles(cells)
    }

    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError> {
        self.0.run(cells, context)
    }
}

impl<E: Experiment<Row: Serialize + DeserializeOwned>> Recorded for WithIds<'_, E> {
    fn id(&self, cell: u32) -> Result<CellId, NameError> {
        Ok(self.1[cell as usize])
    }
}

/// A journal to which results are written.
pub struct Record<'a, R> {
    /// The journal.
    pub journal: &'a mut Journal<R>,
    /// Whether failures are written, too. A cell without a record runs again.
    pub failures: bool,
}

/// Error that ends an experiment with a journal.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A strategy cannot be built.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Runs cells of an experiment on the current rayon pool. `take` is called on this thread with the number and the outcome
/// of each cell, in the order that `turn` defines. After `take` has returned `false` or an error, running cells finish
/// and no further cell starts. If a cell fails, the other cells continue. Cancellation also stops running cells; `take`
/// is not called for these cells.
///
/// # Errors
/// Returns the error of `take` or of the experiment.
pub fn run_experiment<E: Experiment + ?Sized, F: From<NameError>>(
    experiment: &E,
    cells: &[u32],
    turn: Turn,
    context: RunContext<'_>,
    mut take: impl FnMut(u32, Outcome<E>) -> Result<bool, F>,
) -> Result<(), F> {
    let bundles = experiment.bundles(cells)?;
    let work = |_: usize, bundle: &Range<usize>| {
        experiment.run(&cells[bundle.clone()], context).transpose()
    };
    pool::try_run(&bundles, turn, work, |place, outcomes| {
        let mut continues = true;
        for (&cell, outcome) in cells[bundles[place].clone()].iter().zip(outcomes?) {
            continues = take(cell, outcome)?;
        }
        Ok(continues)
    })
}

/// Runs cells as [`run_experiment`] does, and appends each finished cell to the journal, if there is one, before `finished`
/// is called for this cell.
///
/// At most two results per thread are kept in memory before they are written to the journal, if cells are taken as they
/// finish.
///
/// # Errors
/// [`ExperimentError`] if a strategy cannot be built or the journal cannot be written. Even if the experiment fails, every
/// cell for which `finished` was called is in the journal.
pub fn run_recorded<E: Recorded + ?Sized>(
    experiment: &E,
    cells: &[u32],
    turn: Turn,
    mut record: Option<Record<'_, E::Row>>,
    context: RunContext<'_>,
    mut finished: impl FnMut(u32, Outcome<E>) -> bool,
) -> Result<(), ExperimentError> {
    run_experiment(experiment, cells, turn, context, |cell, outcome| {
        if let Some(Record { journal, failures }) = &mut record
            && (outcome.is_ok() || *failures)
        {
            let why = outcome.as_ref().map_err(E::reason);
            journal.append(experiment.id(cell)?, why.as_ref().copied().map_err(String::as_str))?;
        }
        Ok(finished(cell, outcome))
    })
}

/// Returns the cells of a shard that still have to run: the cells without a record, and with `retry_failed` also the
/// cells that failed. If several cells have the same id, only the first of these cells is returned. `cells` is the number
/// of all cells.
///
/// # Errors
/// [`NameError`] if a strategy cannot be built.
pub fn pending<E: Recorded + ?Sized>(
    experiment: &E,
    cells: u32,
    shard: Shard,
    journal: &Journal<E::Row>,
    retry_failed: bool,
) -> Result<Vec<u32>, NameError> {
    let mut listed = std::collections::HashSet::new();
    let mut pending = Vec::new();
    for cell in shard.cells(cells) {
        let id = experiment.id(cell)?;
        let open = journal.failed(id).is_none_or(|failed| failed && retry_failed);
        if open && listed.insert(id) {
            pending.push(cell);
        }
    }
    Ok(pending)
}
