use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use super::{Cell, Pace, RunKey, RunResult, Watch, coupled};
use crate::metrics::by_size::by_size;
use crate::metrics::run::{JobMeasures, PlacementMeans, RunMetrics};
use crate::metrics::{Locality, TieStatistics};
use crate::naming::NameError;
use crate::simulation::{CoupledError, ReplayError, Scene, TimelineError, replay};
use crate::stop::Stopped;

/// What to measure beyond the pairwise L1 distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measure {
    /// Count distinct best sets at every decision: several times the cost.
    pub ties: bool,
    /// Measure diameter, dispersal, components and bounding box of every allocation.
    pub placements: bool,
    /// Keep every job's measures; implies placements.
    pub jobs: bool,
}

/// A cell that could not be run.
#[derive(Debug, thiserror::Error)]
#[error("{} {} {} {}: {cause}", key.trace, key.topology, key.scheduler, key.strategy())]
pub struct CellError {
    /// The cell.
    pub key: Box<RunKey>,
    /// Why.
    pub cause: CellProblem,
}

impl CellError {
    /// Whether nothing is wrong with the cell: it was to end.
    pub fn is_stopped(&self) -> bool {
        matches!(self.cause, CellProblem::Stopped(_))
    }
}

/// Why a cell could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CellProblem {
    /// The jobs do not fit the machine.
    #[error(transparent)]
    Timeline(TimelineError),
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Allocator(#[from] NameError),
    /// The allocator refused.
    #[error(transparent)]
    Replay(ReplayError),
    /// The coupled simulation could not go on.
    #[error(transparent)]
    Coupled(CoupledError),
    /// Somebody wants no more of it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<TimelineError> for CellProblem {
    fn from(error: TimelineError) -> Self {
        match error {
            TimelineError::Stopped(stopped) => stopped.into(),
            error => Self::Timeline(error),
        }
    }
}

impl From<ReplayError> for CellProblem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Stopped(stopped) => stopped.into(),
            error => Self::Replay(error),
        }
    }
}

impl From<CoupledError> for CellProblem {
    fn from(error: CoupledError) -> Self {
        match error {
            CoupledError::Stopped(stopped) => stopped.into(),
            error => Self::Coupled(error),
        }
    }
}

/// Runs one cell; `run` is its number in the grid.
///
/// # Errors
/// [`CellError`] if the strategy does not work on the machine or refuses a job, or if the
/// watch's flag is raised.
pub fn run_cell(
    run: u32,
    cell: &Cell,
    measure: Measure,
    watch: Watch<'_>,
) -> Result<RunResult, CellError> {
    measured(run, cell, measure, watch)
        .map_err(|cause| CellError { key: Box::new(cell.key()), cause })
}

fn measured(
    run: u32,
    cell: &Cell,
    measure: Measure,
    watch: Watch<'_>,
) -> Result<RunResult, CellProblem> {
    let stop = watch.stop;
    stop.check()?;
    let topology = &cell.trace.topology;
    let (jobs, shapes) = (&cell.trace.workload.jobs, &cell.trace.workload.shapes);
    let mut allocator = cell.allocator.build(topology, cell.seed)?;
    allocator.stopped_by(stop);
    if !allocator.keeps_schedule() || allocator.census().is_some() {
        return Ok(coupled::run(run, cell, measure, watch, allocator.as_mut())?);
    }
    let schedule = cell.trace.schedule(&cell.scheduler, stop)?;
    let mut locality = Locality::new(topology);
    let mut pairwise = vec![0u64; jobs.len()];
    let mut ties = TieStatistics::default();
    let mut means = PlacementMeans::default();
    let mut measured: Vec<JobMeasures> =
        Vec::with_capacity(if measure.jobs { jobs.len() } else { 0 });
    let mut pace = Pace::new(watch, jobs.len());
    let begin = Instant::now();
    let allocator = allocator.as_mut();
    let scene = Scene { jobs, shapes, topology, timed: false, stop };
    replay(&schedule.timeline, scene, allocator, measure.ties, |decision| {
        pace.started();
        let id = decision.job.index();
        if let Some(sets) = decision.tied {
            ties.record(sets);
        }
        if !measure.placements && !measure.jobs {
            pairwise[id] = locality.pairwise_l1(decision.nodes);
            return;
        }
        let placement = locality.placement(decision.nodes);
        pairwise[id] = placement.pairwise_l1;
        means.record(&placement);
        if measure.jobs {
            let job = &jobs[id];
            measured.push(JobMeasures {
                number: job.number,
                submit: job.submit,
                start: schedule.timeline.starts()[id],
                run: job.run,
                size: job.size,
                placement,
                tied: decision.tied,
            });
        }
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    measured.sort_by_key(|job| (job.submit, job.number));
    let starts = schedule.timeline.starts();
    let counted = (ties.decisions > 0).then_some(ties);
    Ok(RunResult {
        run,
        key: cell.key(),
        processors: topology.processors(),
        metrics: RunMetrics::new(&schedule.metrics, pairwise.iter().sum(), &means, counted, None),
        by_size: by_size(jobs, starts, &pairwise),
        jobs: measured,
        series: schedule.series,
        seconds,
        allocator_seconds: None,
    })
}

/// Runs cells on the current rayon pool and calls `take` with each outcome, in grid
/// order. A failed cell does not stop the others; `take` returning `false` starts no
/// further cells. The watch's flag ends those that run, too; `take` hears only of cells that
/// have come to their own end.
pub fn run_cells(
    cells: &[Cell],
    measure: Measure,
    watch: Watch<'_>,
    mut take: impl FnMut(Result<RunResult, CellError>) -> bool,
) {
    if rayon::current_thread_index().is_some() {
        // On a worker of the pool itself, waiting for the others could wait for ever.
        for (run, cell) in (0..).zip(cells) {
            let outcome = run_cell(run, cell, measure, watch);
            if outcome.as_ref().is_err_and(CellError::is_stopped) || !take(outcome) {
                return;
            }
        }
        return;
    }
    let (sender, outcomes) = mpsc::channel();
    let next_cell = AtomicUsize::new(0);
    rayon::in_place_scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(cells.len()) {
            let (sender, next_cell) = (sender.clone(), &next_cell);
            // Cells are handed out in grid order, so that few results wait for their turn.
            scope.spawn(move |_| {
                loop {
                    let run = next_cell.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(run) else { break };
                    let outcome = run_cell(run as u32, cell, measure, watch);
                    let stopped = outcome.as_ref().is_err_and(CellError::is_stopped);
                    if stopped || sender.send((run, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (run, outcome) in outcomes {
            early.insert(run, outcome);
            while let Some(outcome) = early.remove(&next) {
                next += 1;
                if !take(outcome) {
                    next_cell.store(cells.len(), Ordering::Relaxed);
                }
            }
        }
        // Behind a cell that was ended there may be some that were faster.
        for outcome in early.into_values() {
            take(outcome);
        }
    });
}
