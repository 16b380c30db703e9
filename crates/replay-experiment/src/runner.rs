use std::sync::Arc;
use std::time::Instant;

use super::admission::Admitted;
use super::cell::{Schedule, arrived};
use super::placements::Placements;
use super::problem::CellProblem;
use super::{Cell, OverLogJobs, RejectedSize, RunContext, RunKey, RunResult, Trace};
use replay_engine::allocator::Allocator;
use replay_engine::metrics::by_size::{SizeRow, by_size, by_size_of};
use replay_engine::metrics::groups::{GroupRow, GroupedJob, groups};
use replay_engine::metrics::measure::{Coupled, Finished, Scope, Setup};
use replay_engine::metrics::times::{Times, as_served};
use replay_engine::metrics::{DeferredSeries, RunMetrics, ScheduleMetrics};
use replay_engine::simulation::{Observer, Starts};
use replay_engine::workload::{Job, JobId, JobLabels};

/// Optional measurements of a run, beyond the pairwise L1 distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measure {
    /// Whether to count, for every decision, the distinct processor sets with the best score. Counting makes decisions
    /// several times slower.
    pub ties: bool,
    /// Whether to measure diameter, dispersal, components and bounding box of every allocation.
    pub placements: bool,
    /// Whether to keep the measures of every job. Implies `placements`.
    pub jobs: bool,
    /// Whether to keep the processors of every allocation.
    pub nodes: bool,
}

impl Measure {
    /// Returns whether all metrics of allocations are measured, not only the pairwise L1.
    pub(crate) fn of_placements(self) -> bool {
        self.placements || self.jobs
    }

    /// Returns the setup of the measures of a run.
    pub(crate) fn setup<'a>(self, trace: &'a Trace, scope: Scope) -> Setup<'a> {
        let jobs = &trace.workload.jobs;
        Setup {
            hierarchy: trace.topology.hierarchy(),
            jobs: jobs.len(),
            origin: jobs.iter().map(|job| job.submit).min().unwrap_or(0),
            placements: self.of_placements(),
            scope,
        }
    }

    /// Returns whether runs that are replayed together support these measurements. Runs that are replayed together
    /// support neither tie counts nor data of single jobs.
    pub fn is_of_shared_replays(self) -> bool {
        self == Self { placements: self.placements, ..Self::default() }
    }
}

/// The failure of a cell.
#[derive(Debug, thiserror::Error)]
#[error("{} {} {} {}: {cause}", key.trace, key.topology, key.scheduler, key.strategy())]
pub struct CellError {
    /// Key of the cell.
    pub key: Box<RunKey>,
    /// Reason of the failure.
    pub cause: CellProblem,
}

impl CellError {
    /// Returns whether the run was cancelled.
    pub fn is_stopped(&self) -> bool {
        matches!(self.cause, CellProblem::Cancelled(_))
    }
}

/// Runs one cell. `run` is the number of the cell in the grid.
///
/// # Errors
/// [`CellError`] if the strategy does not support the machine or a job, or if the run was cancelled.
pub fn run_cell(
    run: u32,
    cell: &Cell,
    measure: Measure,
    context: RunContext<'_>,
) -> Result<RunResult, CellError> {
    run_measured(run, cell, measure, context)
        .map_err(|cause| CellError { key: Box::new(cell.key()), cause })
}

fn run_measured(
    run: u32,
    cell: &Cell,
    measure: Measure,
    context: RunContext<'_>,
) -> Result<RunResult, CellProblem> {
    context.stop.check()?;
    let topology = &cell.trace.topology;
    let mut allocator = cell.build_allocator()?;
    let key = cell.key();
    let Admitted { cell, turned_away } = Admitted::by(allocator.as_mut(), cell)?;
    let cell = cell.as_ref();
    let allocator = allocator.as_mut();
    let raw = if cell.allocator.recorded() {
        repeat_log(cell, measure, context)
    } else {
        let simulation = cell.trace.simulation(context.stop);
        match cell.replayed_schedule(&simulation, allocator, context.stop)? {
            Some(schedule) => replay_timeline(cell, schedule, measure, context, allocator),
            None => {
                let jobs = |sizes: &Vec<RejectedSize>| sizes.iter().map(|one| one.jobs).sum();
                let turned_away = turned_away.as_ref().map(jobs);
                coupled_run(cell, measure, context, allocator, turned_away)
            }
        }
    };
    let RawRun {
        mut placements,
        metrics,
        series,
        mut by_size,
        groups,
        over_log,
        seconds,
        allocator_seconds,
    } = raw?;
    by_size.iter_mut().for_each(|row| placements.measures.complete_row(row));
    Ok(RunResult {
        run,
        key,
        turned_away: turned_away.unwrap_or_default(),
        processors: topology.capacity(),
        metrics,
        by_size,
        groups,
        over_log: over_log.map(Box::new),
        hierarchy_series: placements.measures.series(),
        allocations: std::mem::take(&mut placements.allocations),
        jobs: placements.into_jobs(),
        series,
        seconds,
        allocator_seconds,
    })
}

/// The results of a simulation.
struct RawRun<'a> {
    placements: Placements<'a>,
    metrics: RunMetrics,
    series: Arc<DeferredSeries>,
    by_size: Vec<SizeRow>,
    groups: Vec<GroupRow>,
    over_log: Option<OverLogJobs>,
    seconds: f64,
    allocator_seconds: Option<f64>,
}

impl<'a> RawRun<'a> {
    /// Creates the results of a run whose timeline does not depend on the allocator.
    fn of_timeline(
        placements: Placements<'a>,
        schedule: &ScheduleMetrics,
        series: Arc<DeferredSeries>,
        by_size: Vec<SizeRow>,
        over_log: Option<OverLogJobs>,
        seconds: f64,
    ) -> Self {
        let metrics =
            placements.measures.finish(&Finished { schedule: Some(schedule), coupled: None });
        let (groups, allocator_seconds) = (Vec::new(), None);
        Self { placements, metrics, series, by_size, groups, over_log, seconds, allocator_seconds }
    }
}

/// Replays the timeline of a cell. The allocator does not influence the timeline.
fn replay_timeline<'a>(
    cell: &'a Cell,
    schedule: Schedule,
    measure: Measure,
    context: RunContext<'a>,
    allocator: &mut dyn Allocator,
) -> Result<RawRun<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    let starts = schedule.timeline.starts();
    let log_jobs = cell.trace.log_jobs(context.stop)?;
    let mut placements =
        Placements::new(cell, measure, Scope::Timeline, context).over(cell, log_jobs);
    let begin = Instant::now();
    let simulation = cell.trace.simulation(context.stop).counting_ties(measure.ties);
    simulation.run(Starts::Timeline(&schedule.timeline), allocator, &mut placements)?;
    let seconds = begin.elapsed().as_secs_f64();
    let by_size = by_size(
        &schedule.timeline.placed(schedule.arrived(&workload.jobs)),
        &schedule.timeline.placed(starts),
        &schedule.timeline.placed(&placements.pairwise),
    );
    let over_log = OverLogJobs::of(&placements, &workload.jobs, &schedule.timeline, topology);
    let arrived = schedule.timeline.placed(schedule.arrived(&workload.jobs));
    let groups = groups_of(&cell.trace, &arrived, &arrived, &schedule.timeline.placed(starts));
    let Schedule { metrics, series, .. } = schedule;
    let raw = RawRun::of_timeline(placements, &metrics, series, by_size, over_log, seconds);
    Ok(RawRun { groups, ..raw })
}

/// Repeats the recorded start times and placements of a log.
fn repeat_log<'a>(
    cell: &'a Cell,
    measure: Measure,
    context: RunContext<'a>,
) -> Result<RawRun<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    if cell.trace.places().is_none() || cell.scheduler.recorded().is_none() {
        return Err(CellProblem::NoRecordedPlacements);
    }
    let (timeline, _) = cell.trace.recorded_in_processors(context.stop)?;
    let log_jobs = cell.trace.log_jobs(context.stop)?;
    // The measures do not observe when jobs end, because the log may give processors to several jobs at a time.
    let mut placements =
        Placements::new(cell, measure, Scope::Allocations, context).over(cell, log_jobs);
    placements.scheduled(&timeline);
    let begin = Instant::now();
    let mut pairwise = vec![None; workload.jobs.len()];
    cell.trace.replay_placed(&timeline, context.stop, |id, points| {
        placements.placed_on(id, timeline.starts()[id.index()], points);
        pairwise[id.index()] = Some(placements.pairwise[id.index()]);
    })?;
    // Jobs without processors are excluded from all metrics. Jobs without known placements are excluded from distances.
    let placed = timeline.placed(&(0..workload.jobs.len() as u32).collect::<Vec<_>>()).into_owned();
    for id in placed.iter().copied().map(JobId).filter(|id| pairwise[id.index()].is_none()) {
        placements.placed_without_position(id, timeline.starts()[id.index()]);
    }
    let (jobs, starts) = (timeline.placed(&workload.jobs), timeline.placed(timeline.starts()));
    // Utilization is computed in processors rather than points, because jobs can share points.
    let schedule = ScheduleMetrics::new(&jobs, &starts, topology.capacity());
    let series = Arc::new(DeferredSeries::new(&jobs, &starts));
    let seconds = begin.elapsed().as_secs_f64();
    let by_size = by_size_of(&jobs, &starts, timeline.placed(&pairwise).iter().copied());
    let over_log = OverLogJobs::of(&placements, &workload.jobs, &timeline, topology.capacity());
    Ok(RawRun::of_timeline(placements, &schedule, series, by_size, over_log, seconds))
}

/// Returns the rows of partitions, users and accounts; none for a trace without partitions. `jobs` has the submitted jobs
/// with their arrivals, `served` the jobs as they ran.
fn groups_of(trace: &Trace, jobs: &[Job], served: &[Job], starts: &[i64]) -> Vec<GroupRow> {
    let Some(partitions) = trace.partitions() else { return Vec::new() };
    let all = || {
        jobs.iter().zip(served).zip(starts).map(|((job, served), start)| {
            let (wait, run, own_run) = (start - job.submit, served.run, job.run);
            (job, GroupedJob { wait, run, own_run, size: served.size })
        })
    };
    let mut rows = groups(
        "partition",
        all().filter_map(|(job, grouped)| {
            let at = partitions.of(&trace.workload, job)?;
            Some((at, partitions.names()[at].clone(), grouped))
        }),
    );
    // Groups without a number come last.
    let by = |kind, number: fn(&JobLabels) -> Option<i64>| {
        let keyed = all().map(|(job, grouped)| {
            let number = number(&trace.workload.labels.of(job));
            let name = number.map_or_else(|| "unknown".to_string(), |number| number.to_string());
            ((number.is_none(), number), name, grouped)
        });
        groups(kind, keyed)
    };
    rows.extend(by("user", |labels| labels.user));
    rows.extend(by("account", |labels| labels.group));
    rows
}

/// Runs scheduler and allocator in one simulation, because the allocator can change the schedule.
fn coupled_run<'a>(
    cell: &'a Cell,
    measure: Measure,
    context: RunContext<'a>,
    allocator: &mut dyn Allocator,
    turned_away: Option<u64>,
) -> Result<RawRun<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    let jobs = &workload.jobs;
    let mut scheduler = cell.build_scheduler();
    let scope = Scope::Coupled { outages: !cell.trace.outages().is_empty() };
    let placements = Placements::new(cell, measure, scope, context);
    let mut observers = (Times::new(jobs.len()), placements);
    let begin = Instant::now();
    let simulation = cell.trace.simulation(context.stop).timed();
    let overhead =
        simulation.run(Starts::Scheduler(scheduler.as_mut()), allocator, &mut observers)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (times, placements) = observers;
    let follows = &cell.trace.chains().follows;
    let arrived_jobs = (!follows.is_empty()).then(|| arrived(jobs, times.arrivals()));
    let jobs = arrived_jobs.as_deref().unwrap_or(jobs);
    let mut served = as_served(cell.trace.jobs(), &times);
    for (served, job) in served.iter_mut().zip(jobs) {
        served.submit = job.submit;
    }
    let per_point = topology.per_point();
    let mut requested = times.requested();
    if per_point > 1 {
        for (served, job) in served.iter_mut().zip(jobs) {
            served.size = job.size.min(served.size.saturating_mul(per_point));
        }
        let time = |job: &Job| i128::from(job.size) * i128::from(job.run);
        requested = served.iter().map(time).sum();
    }
    let starts = times.starts();
    let origin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    let computed = overhead.shared.map(|shared| shared.computed);
    let schedule = ScheduleMetrics::served(jobs, &served, starts, topology, computed);
    let coupled = Coupled {
        jobs: jobs.len(),
        origin,
        end: times.end(origin),
        processors: topology.capacity(),
        per_point,
        held: times.held() * i128::from(per_point),
        requested,
        turned_away,
        is_hierarchy: topology.hierarchy().is_some(),
        overhead: &overhead,
    };
    let finished = Finished { schedule: Some(&schedule), coupled: Some(coupled) };
    // The rows by job size are grouped by the requested size.
    let of_requested = |(served, job): (&Job, &Job)| Job { size: job.size, ..*served };
    let by_requested: Vec<Job> = served.iter().zip(jobs).map(of_requested).collect();
    Ok(RawRun {
        groups: groups_of(&cell.trace, jobs, &served, starts),
        by_size: by_size(&by_requested, starts, &placements.pairwise),
        metrics: placements.measures.finish(&finished),
        placements,
        over_log: None,
        series: Arc::new(DeferredSeries::new(&served, starts)),
        seconds,
        allocator_seconds: Some(overhead.time.as_secs_f64()),
    })
}

#[cfg(test)]
mod tests;
