use std::sync::Arc;
use std::time::Instant;

use super::placements::Placements;
use super::pool::{self, Turn};
use super::{Cell, RunKey, RunResult, Trace, Watch};
use crate::allocator::Allocator;
use crate::cluster;
use crate::metrics::by_size::{SizeRow, by_size};
use crate::metrics::run::{RunMetrics, ScheduleMetrics};
use crate::metrics::system::{self, SystemMetrics};
use crate::metrics::{Series, SystemRecorder};
use crate::naming::NameError;
use crate::simulation::{
    CoupledError, Decision, ReplayError, Scene, TimelineError, replay, simulate,
};
use crate::stop::Stopped;
use crate::workload::Job;

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
    watch.stop.check()?;
    let topology = &cell.trace.topology;
    let mut allocator = cell.allocator.build(topology, cell.seed)?;
    allocator.stopped_by(watch.stop);
    let coupled = !allocator.keeps_schedule() || allocator.census().is_some();
    let play = if coupled { coupled_run } else { replayed };
    let Played { placements, schedule, series, by_size, system, seconds, allocator_seconds } =
        play(cell, measure, watch, allocator.as_mut())?;
    let total = placements.pairwise.iter().sum();
    let counted = (placements.ties.decisions > 0).then_some(placements.ties);
    Ok(RunResult {
        run,
        key: cell.key(),
        processors: topology.processors(),
        metrics: RunMetrics::new(&schedule, total, &placements.means, counted, system),
        by_size,
        jobs: placements.into_jobs(),
        series,
        seconds,
        allocator_seconds,
    })
}

/// A run as either loop leaves it.
struct Played<'a> {
    placements: Placements<'a>,
    schedule: Arc<ScheduleMetrics>,
    series: Arc<Series>,
    by_size: Vec<SizeRow>,
    system: Option<SystemMetrics>,
    seconds: f64,
    allocator_seconds: Option<f64>,
}

/// Replays the timeline, which the allocator does not influence.
fn replayed<'a>(
    cell: &'a Cell,
    measure: Measure,
    watch: Watch<'a>,
    allocator: &mut dyn Allocator,
) -> Result<Played<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    let schedule = cell.trace.schedule(&cell.scheduler, watch.stop)?;
    let starts = schedule.timeline.starts();
    let mut placements = Placements::new(cell, measure, watch);
    let begin = Instant::now();
    let scene = Scene { jobs: &workload.jobs, topology, timed: false, stop: watch.stop };
    replay(&schedule.timeline, scene, allocator, measure.ties, |decision| {
        let Decision { job, nodes, tied } = decision;
        placements.placed(job, starts[job.index()], nodes, tied);
    })?;
    Ok(Played {
        seconds: begin.elapsed().as_secs_f64(),
        by_size: by_size(&workload.jobs, starts, &placements.pairwise),
        placements,
        schedule: schedule.metrics,
        series: schedule.series,
        system: None,
        allocator_seconds: None,
    })
}

/// Runs a cell whose allocator may refuse or hands out units.
fn coupled_run<'a>(
    cell: &'a Cell,
    measure: Measure,
    watch: Watch<'a>,
    allocator: &mut dyn Allocator,
) -> Result<Played<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    // Of a cluster: what jobs can hold.
    let (jobs, slots) = (&workload.jobs, topology.slots());
    let mut scheduler = cell.scheduler.build(slots as u32);
    let placements = Placements::new(cell, measure, watch);
    let mut observers = (SystemRecorder::new(jobs.len()), placements);
    let begin = Instant::now();
    let scene = Scene { jobs, topology, timed: true, stop: watch.stop };
    let mut service = cluster::service(topology, allocator, 1.0);
    let overhead =
        simulate(scene, scheduler.as_mut(), allocator, service.as_mut(), &mut observers)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (recorder, placements) = observers;
    let (served, starts) = (system::as_served(jobs, &recorder), recorder.starts());
    // By the size that a job asked for, which its user knows.
    let asked = |(served, job): (&Job, &Job)| Job { size: job.size, ..*served };
    let by_asked: Vec<Job> = served.iter().zip(jobs).map(asked).collect();
    let origin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    Ok(Played {
        by_size: by_size(&by_asked, starts, &placements.pairwise),
        placements,
        schedule: Arc::new(ScheduleMetrics::served(jobs, &served, starts, slots)),
        series: Arc::new(Series::new(&served, starts)),
        system: Some(recorder.metrics(origin, slots, &overhead)),
        seconds,
        allocator_seconds: Some(overhead.time.as_secs_f64()),
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
    let work = |run: usize, cell: &Cell| {
        let outcome = run_cell(run as u32, cell, measure, watch);
        (!outcome.as_ref().is_err_and(CellError::is_stopped)).then_some(outcome)
    };
    pool::run(cells, Turn::InOrder, work, |_, outcome| take(outcome));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Cell;
    use crate::scheduler::registry::SchedulerSpec;
    use crate::stop::Stop;
    use crate::workload::{Policy, Window, Workload};

    /// The second job asks for 8 processors and gets 4, for twice its 10 s.
    #[test]
    fn a_folded_job_counts_as_it_ran() {
        let swf = "; MaxProcs: 8\n1 0 -1 100 4\n2 0 -1 10 8\n";
        let jobs = Workload::from_reader(
            swf.as_bytes(),
            "tiny.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        )
        .expect("a trace");
        let topology = "hypercube:3".parse().expect("a machine");
        let trace = Trace::new(Arc::new(jobs), topology, "johnson", &[]);
        let cell = Cell {
            trace: Arc::new(trace),
            scheduler: SchedulerSpec::fcfs(),
            allocator: "rsr[inner=cube-buddy]".parse().expect("a strategy"),
            seed: 0,
        };
        let measure = Measure { jobs: true, ..Measure::default() };
        let run = run_cell(0, &cell, measure, Watch::new(&Stop::new())).expect("it runs");
        let schedule = &run.metrics.schedule;
        assert_eq!((schedule.utilization, schedule.makespan), ((400.0 + 80.0) / 800.0, 100));
        assert_eq!(schedule.mean_bounded_slowdown, (1.0 + 2.0) / 2.0);
        assert!(run.series.busy.iter().all(|&busy| busy <= 8));
        let sizes: Vec<_> = run.by_size.iter().map(|row| (row.size, row.mean_turnaround)).collect();
        assert_eq!(sizes, [(4, 100.0), (8, 20.0)]);
        let job = &run.jobs[1];
        assert_eq!((job.size, job.served_size), (8, 4));
        assert_eq!((job.run, job.own_run, job.turnaround()), (20, 10, 20));
        assert_eq!(job.bounded_slowdown(), 2.0);
    }
}
