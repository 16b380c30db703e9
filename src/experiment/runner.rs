use std::sync::Arc;
use std::time::Instant;

use super::admitted::Admitted;
use super::cell::arrived;
use super::placements::Placements;
use super::pool::{self, Turn};
use super::{Cell, RunKey, RunResult, Trace, Watch};
use crate::allocator::Allocator;
use crate::cluster;
use crate::metrics::by_size::{SizeRow, by_size};
use crate::metrics::run::{RunMetrics, ScheduleMetrics};
use crate::metrics::system::{self, OutageMetrics, SystemMetrics};
use crate::metrics::{Series, Shared, SystemRecorder};
use crate::naming::NameError;
use crate::simulation::{
    CoupledError, Course, Decision, ReplayError, Scene, TimelineError, replay, simulate_amid,
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
    /// Keep every allocation's processors.
    pub nodes: bool,
}

impl Measure {
    /// Whether replays that are done as one measure it: neither counts of ties nor what is kept of
    /// every job.
    pub fn is_of_shared_replays(self) -> bool {
        self == Self { placements: self.placements, ..Self::default() }
    }
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
    /// The log does not tell where its jobs ran.
    #[error("nothing tells where the jobs ran")]
    Nowhere,
    /// The allocator refused.
    #[error(transparent)]
    Replay(ReplayError),
    /// The coupled simulation could not go on.
    #[error(transparent)]
    Coupled(CoupledError),
    /// The strategy turns all jobs away.
    #[error("no job is left, {0} (fit=up gives a job the next larger box, if there is one)")]
    NobodyAdmitted(String),
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
    let key = cell.key();
    let Admitted { cell, turned_away } = Admitted::by(allocator.as_mut(), cell)?;
    let cell = cell.as_ref();
    let amid = !cell.trace.outages().is_empty();
    let coupled = amid || !allocator.keeps_schedule() || allocator.census().is_some();
    let play = match coupled {
        _ if cell.allocator.recorded() => repeated,
        true => coupled_run,
        false => replayed,
    };
    let Played {
        mut placements,
        schedule,
        series,
        by_size,
        system,
        outages,
        seconds,
        allocator_seconds,
    } = play(cell, measure, watch, allocator.as_mut())?;
    let total = placements.pairwise.iter().sum();
    let counted = (placements.ties.decisions > 0).then_some(placements.ties);
    let jobs_away = turned_away.as_ref().map(|away| away.iter().map(|one| one.jobs).sum());
    let system = system.map(|it| SystemMetrics { no_such_size_jobs: jobs_away, ..it });
    let metrics = RunMetrics::new(&schedule, total, &placements.means, counted, system);
    let metrics = RunMetrics { outages, ..metrics };
    Ok(RunResult {
        run,
        key,
        turned_away: turned_away.unwrap_or_default(),
        processors: topology.capacity(),
        metrics,
        by_size,
        allocations: std::mem::take(&mut placements.allocations),
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
    outages: Option<OutageMetrics>,
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
    let arrivals = schedule.timeline.arrivals().map(<[i64]>::to_vec);
    let mut placements = Placements::new(cell, measure, watch).arriving(arrivals);
    let begin = Instant::now();
    let scene = Scene { jobs: cell.trace.jobs(), topology, timed: false, stop: watch.stop };
    replay(&schedule.timeline, scene, allocator, measure.ties, |decision| {
        let Decision { job, nodes, tied } = decision;
        placements.placed(job, starts[job.index()], nodes, tied);
    })?;
    Ok(Played {
        seconds: begin.elapsed().as_secs_f64(),
        by_size: by_size(
            &schedule.timeline.placed(schedule.arrived(&workload.jobs)),
            &schedule.timeline.placed(starts),
            &schedule.timeline.placed(&placements.pairwise),
        ),
        placements,
        schedule: schedule.metrics,
        series: schedule.series,
        system: None,
        outages: None,
        allocator_seconds: None,
    })
}

/// Repeats a log, places and all.
fn repeated<'a>(
    cell: &'a Cell,
    measure: Measure,
    watch: Watch<'a>,
    _allocator: &mut dyn Allocator,
) -> Result<Played<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    if cell.trace.places().is_none() || cell.scheduler.recorded().is_none() {
        return Err(CellProblem::Nowhere);
    }
    let (timeline, _) = cell.trace.recorded_in_processors(watch.stop)?;
    let mut placements = Placements::new(cell, measure, watch);
    let begin = Instant::now();
    let mut placed = vec![false; workload.jobs.len()];
    cell.trace.replay_placed(&timeline, watch.stop, |id, points| {
        placed[id.index()] = true;
        placements.placed_on(id, timeline.starts()[id.index()], points);
    })?;
    // Whoever had no processors, or nobody knows which, is in no measure.
    let (jobs, starts) = (of(&placed, &workload.jobs), of(&placed, timeline.starts()));
    // Points are shared: nobody has them whole.
    let schedule = ScheduleMetrics::new(&jobs, &starts, topology.capacity());
    Ok(Played {
        seconds: begin.elapsed().as_secs_f64(),
        by_size: by_size(&jobs, &starts, &of(&placed, &placements.pairwise)),
        placements,
        schedule: Arc::new(schedule),
        series: Arc::new(Series::new(&jobs, &starts)),
        system: None,
        outages: None,
        allocator_seconds: None,
    })
}

/// Of each job what is told of it, of those that are chosen.
fn of<T: Clone>(chosen: &[bool], of_jobs: &[T]) -> Vec<T> {
    of_jobs.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(one, _)| one.clone()).collect()
}

/// Runs a cell whose allocator may refuse or hands out units.
fn coupled_run<'a>(
    cell: &'a Cell,
    measure: Measure,
    watch: Watch<'a>,
    allocator: &mut dyn Allocator,
) -> Result<Played<'a>, CellProblem> {
    let Trace { workload, topology, .. } = cell.trace.as_ref();
    let (jobs, points) = (&workload.jobs, topology.processors());
    // Of a cluster: what jobs can hold.
    let mut scheduler = cell.scheduler.build(topology.slots() as u32);
    let follows = &cell.trace.chains().follows;
    let moved = (!follows.is_empty()).then(|| vec![i64::MIN; jobs.len()]);
    let placements = Placements::new(cell, measure, watch).arriving(moved);
    let mut observers = (SystemRecorder::new(jobs.len()), placements);
    let begin = Instant::now();
    let scene = Scene { jobs: cell.trace.jobs(), topology, timed: true, stop: watch.stop };
    let mut service = cluster::service(topology, allocator, 1.0);
    let scheduler = scheduler.as_mut();
    let course = Course { follows, outages: cell.trace.outages() };
    let overhead =
        simulate_amid(scene, course, scheduler, allocator, service.as_mut(), &mut observers)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (mut recorder, placements) = observers;
    let moved = (!follows.is_empty()).then(|| arrived(jobs, recorder.arrivals()));
    let jobs = moved.as_deref().unwrap_or(jobs);
    let mut served = system::as_served(cell.trace.jobs(), &recorder);
    for (served, job) in served.iter_mut().zip(jobs) {
        served.submit = job.submit;
    }
    let per_point = topology.per_point();
    if per_point > 1 {
        for (served, job) in served.iter_mut().zip(jobs) {
            served.size = job.size.min(served.size.saturating_mul(per_point));
        }
        let asked = served.iter().map(|job| i128::from(job.size) * i128::from(job.run)).sum();
        recorder.in_processors(per_point, asked);
    }
    let starts = recorder.starts();
    // By the size that a job asked for, which its user knows.
    let asked = |(served, job): (&Job, &Job)| Job { size: job.size, ..*served };
    let by_asked: Vec<Job> = served.iter().zip(jobs).map(asked).collect();
    let origin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
    let shared = Shared::of(topology, service.as_ref());
    let computed = shared.map(|shared| shared.computed);
    let schedule = ScheduleMetrics::served(jobs, &served, starts, topology, computed);
    let amid = !course.outages.is_empty();
    Ok(Played {
        by_size: by_size(&by_asked, starts, &placements.pairwise),
        placements,
        outages: amid.then(|| recorder.outages(origin, topology.capacity(), schedule.utilization)),
        schedule: Arc::new(schedule),
        series: Arc::new(Series::new(&served, starts)),
        system: Some(recorder.metrics_where(
            shared,
            origin,
            points * per_point as usize,
            &overhead,
        )),
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
    use crate::workload::{Dependencies, Policy, Window, Workload};

    /// A trace under FCFS.
    fn fcfs(swf: &str, machine: &str, allocator: &str) -> RunResult {
        run_of(swf, machine, allocator, Dependencies::Ignore)
    }

    fn run_of(swf: &str, machine: &str, allocator: &str, rule: Dependencies) -> RunResult {
        run_under(SchedulerSpec::fcfs(), swf, machine, allocator, rule)
    }

    fn run_under(
        scheduler: SchedulerSpec,
        swf: &str,
        machine: &str,
        allocator: &str,
        rule: Dependencies,
    ) -> RunResult {
        let jobs = Workload::from_reader(
            swf.as_bytes(),
            "tiny.swf",
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        )
        .expect("a trace");
        let topology = machine.parse().expect("a machine");
        let trace = Trace::new(Arc::new(jobs), topology, "johnson", &[]).following(rule);
        let cell = Cell {
            trace: Arc::new(trace),
            scheduler,
            allocator: allocator.parse().expect("a strategy"),
            seed: 0,
        };
        let measure = Measure { jobs: true, ..Measure::default() };
        run_cell(0, &cell, measure, Watch::new(&Stop::new())).expect("it runs")
    }

    /// Of a log with more processors busy than there are: whoever has none is in no measure, and those of the
    /// run are those of its jobs.
    #[test]
    fn what_a_run_comes_to_is_over_the_jobs_that_had_processors() {
        let swf = "; MaxProcs: 4\n1 0 3 10 2\n2 1 4 10 2\n3 2 0 1 1\n4 6 500 5 4\n5 6 0 5 1\n6 7 1 900 2\n";
        for allocator in ["mc1x1", "random"] {
            let scheduler = "recorded".parse().expect("a scheduler");
            let run = run_under(scheduler, swf, "2x2", allocator, Dependencies::Ignore);
            let numbers: Vec<i64> = run.jobs.iter().map(|job| job.number).collect();
            assert_eq!(numbers, [1, 2, 3, 4], "{allocator}");
            let schedule = &run.metrics.schedule;
            let mean = |of: &dyn Fn(&crate::metrics::run::JobMeasures) -> f64| {
                run.jobs.iter().map(of).sum::<f64>() / run.jobs.len() as f64
            };
            assert_eq!(schedule.jobs, 4);
            assert_eq!(schedule.mean_wait, mean(&|job| job.wait() as f64));
            assert_eq!(schedule.mean_turnaround, mean(&|job| job.turnaround() as f64));
            assert_eq!(schedule.mean_bounded_slowdown, mean(&|job| job.bounded_slowdown()));
            let pairwise = mean(&|job| job.placement.pairwise_l1 as f64);
            assert_eq!(run.metrics.mean_pairwise_l1, pairwise);
            // 20 + 20 + 1 + 20 processor-seconds in 511 s.
            assert_eq!((schedule.makespan, schedule.max_wait), (511, 500));
            assert_eq!(schedule.utilization, 61.0 / (4.0 * 511.0));
            assert!(run.series.busy.iter().all(|&busy| busy <= 4));
            let sizes: Vec<_> = run.by_size.iter().map(|row| (row.size, row.jobs)).collect();
            assert_eq!(sizes, [(1, 1), (2, 2), (4, 1)]);
        }
    }

    /// Both jobs hold both hosts from the beginning, but the second gets nothing of them before the
    /// first has ended.
    #[test]
    fn a_host_is_used_by_whoever_computes_not_by_whoever_waits_for_it() {
        let swf = "; MaxProcs: 2\n1 0 -1 100 2\n2 0 -1 100 2\n";
        for (machine, allocator, makespan, utilization, held) in [
            ("cluster:2x2", "elmer", 200, 1.0, 75.0),
            ("cluster:2x2", "elmer[demand=0.5]", 100, 1.0, 100.0),
            // A fifth of both hosts is left for the second job: a quarter of its speed.
            ("cluster:2x3", "elmer[demand=0.8]", 175, 1.6 / 1.75, 550.0 / 10.5),
            ("cluster:2", "elmer", 200, 1.0, 100.0),
            // Nobody may use what the job leaves.
            ("cluster:2", "elmer[demand=0.5]", 200, 0.5, 100.0),
        ] {
            let run = fcfs(swf, machine, allocator);
            let (schedule, system) = (&run.metrics.schedule, run.metrics.system.expect("shared"));
            let name = format!("{machine} {allocator}");
            assert_eq!(schedule.makespan, makespan, "{name}");
            for ours in [schedule.utilization, system.utilization, system.allocated_utilization] {
                assert!((ours - utilization).abs() < 1e-12, "{name}: {ours}");
            }
            let percent = system.slots_held_percent.expect("slots");
            assert!((percent - held).abs() < 1e-9, "{name}: {percent}");
        }
        let whole = fcfs(swf, "cluster:2", "random");
        assert_eq!((whole.metrics.schedule.utilization, whole.metrics.system), (1.0, None));
    }

    /// The sample of the specification: jobs 1 to 9 on 16 processors under FCFS (rule F7). No
    /// allocator has a say in who arrives when.
    #[test]
    fn jobs_follow_others() {
        let text = "; MaxProcs: 16\n\
            1 0 -1 100 8 -1 -1 8 200 -1 1 1 1 -1 -1 -1 -1 -1\n\
            2 10 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 1 20\n\
            3 500 -1 50 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 2 -1\n\
            4 20 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 99 5\n\
            5 30 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 6 0\n\
            6 40 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 -1 -1\n\
            7 50 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 7 0\n\
            8 60 -1 0 4 -1 -1 4 100 -1 0 2 1 -1 -1 -1 1 0\n\
            9 70 -1 30 4 -1 -1 4 100 -1 1 2 1 -1 -1 -1 8 0\n";
        let expected = [0, 120, 500, 20, 70, 40, 50, 100, 100];
        let submitted = [0, 10, 500, 20, 30, 40, 50, 60, 70];
        for (rule, arrivals) in
            [(Dependencies::Honour, expected), (Dependencies::Ignore, submitted)]
        {
            for allocator in ["mc1x1", "random", "mbs", "first-fit"] {
                let jobs = run_of(text, "4x4", allocator, rule).jobs;
                for job in jobs {
                    let at = (job.number - 1) as usize;
                    let name = format!("{allocator} {rule:?} {}", job.number);
                    assert_eq!((job.arrival, job.submit), (arrivals[at], submitted[at]), "{name}");
                    assert_eq!(job.wait(), job.start - arrivals[at], "{name}");
                }
            }
        }
        let run = run_of(text, "4x4", "mbs", Dependencies::Honour);
        assert_eq!(run.key.policy, "johnson[deps=honour]");
        let timeline = run_of(text, "4x4", "random", Dependencies::Honour);
        assert_eq!(run.metrics.schedule, timeline.metrics.schedule);
        assert_eq!(run.series, timeline.series);
    }

    /// The second job asks for 8 processors and gets 4, for twice its 10 s.
    #[test]
    fn a_folded_job_counts_as_it_ran() {
        let swf = "; MaxProcs: 8\n1 0 -1 100 4\n2 0 -1 10 8\n";
        let run = fcfs(swf, "hypercube:3", "rsr[inner=cube-buddy]");
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
