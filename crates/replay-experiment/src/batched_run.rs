//! Cells and evaluations that differ in how they break ties alone, replayed as one.

use std::sync::Arc;
use std::time::Instant;

use super::{Cell, CellError, Measure, ProgressMeter, RunContext, RunResult};
use replay_core::allocator::centre::{BatchReplay, TieConfig, TieRule};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::machine::Machine;
use replay_core::metrics::Locality;
use replay_core::metrics::by_size::{SizeRow, by_size};
use replay_core::metrics::run::{PlacementMeans, RunMetrics};
use replay_core::simulation::SimulationError;
use replay_core::topology::Topology;

/// Memory that the machines of strategies replayed together fill at most: about what stays near one
/// processor of today. With more of them decisions wait for memory longer than sharing saves.
const NEARBY: usize = 4 << 20;
/// And so many at most: results come, and are kept, when the last of them is done.
const MOST: usize = 1280;

/// How many strategies are best replayed as one on a machine.
pub fn at_once(topology: &Topology) -> usize {
    // Who has what: a byte for each processor, a version for each row, and the places of the jobs.
    let bytes = topology.grid().map_or(NEARBY, |grid| {
        let rows = grid.processors() / grid.extent(grid.dimensions() - 1);
        grid.processors() + 8 * rows + 1024
    });
    (NEARBY / bytes).clamp(16, MOST)
}

/// Strategies that differ in how they break ties alone, to be replayed in
/// [lockstep](replay_core::simulation::Simulation::lockstep): MC1x1 with given vectors. `None` for others, and
/// unless there are several.
pub fn replayed_as_one<'a>(
    specs: impl Iterator<Item = &'a AllocatorSpec> + Clone,
    topology: &Topology,
) -> Option<BatchReplay> {
    let shared = specs.clone().next()?.shared(topology)?;
    // Of one alone nothing can be shared.
    specs.clone().nth(1)?;
    let config = |spec: &AllocatorSpec| {
        let breaking = spec.tie_breaking().filter(|_| spec.shared(topology) == Some(shared))?;
        (breaking.tie != TieRule::Auto)
            .then(|| TieConfig::new(breaking.tie.vector(), breaking.slack.fixed()))
    };
    let configs = specs.map(config).collect::<Option<_>>()?;
    Some(BatchReplay::new(&Machine::new(topology.clone()), topology.grid()?, shared, configs))
}

/// Runs cells that differ in how they break ties alone as one, where that can be: what each comes to
/// is the same as alone, and the time is shared out among them. `None` if they can not.
///
/// # Errors
/// For every cell the same: [`CellError`] as [`run_cell`](super::run_cell).
pub fn run_together(
    runs: &[(u32, Cell)],
    measure: Measure,
    watch: RunContext<'_>,
) -> Option<Vec<Result<RunResult, CellError>>> {
    let (_, first) = runs.first()?;
    let trace = &first.trace;
    let alike = |cell: &Cell| {
        Arc::ptr_eq(&cell.trace, trace)
            && (&cell.scheduler, cell.seed) == (&first.scheduler, first.seed)
    };
    let shares = measure.is_of_shared_replays() && trace.outages().is_empty();
    if !shares || !runs.iter().all(|(_, cell)| alike(cell)) {
        return None;
    }
    let specs = runs.iter().map(|(_, cell)| &cell.allocator);
    let batch = replayed_as_one(specs, &trace.topology)?;
    let schedule = trace.schedule(&first.scheduler, watch.stop).ok()?;
    // Where the log lacks jobs each run is measured a second time without them.
    let lacks = trace.log_jobs(watch.stop).ok()?.is_some();
    if lacks || !schedule.timeline.unplaced().is_empty() {
        return None;
    }
    let jobs = &trace.workload.jobs;
    let none = vec![0; jobs.len()];
    let rows = by_size(schedule.arrived(jobs), schedule.timeline.starts(), &none);
    // Pairwise L1 by size, and of each size by cell.
    let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
    let mut sums = vec![0u64; (largest as usize + 1) * runs.len()];
    let mut locality = measure.placements.then(|| Locality::new(&trace.topology));
    let mut means = vec![PlacementMeans::default(); runs.len()];
    let mut pace = ProgressMeter::new(watch, jobs.len() * runs.len()).counted();
    let begin = Instant::now();
    let simulation = trace.simulation(watch.stop);
    let replayed = simulation.lockstep(&schedule.timeline, batch, &mut |placed| {
        let size = jobs[placed.job.index()].size;
        let sums = &mut sums[size as usize * runs.len()..][..runs.len()];
        let place =
            locality.as_mut().map(|of| of.placement(placed.nodes, trace.topology.points(size)));
        for &config in placed.configs.iter() {
            pace.started();
            sums[config as usize] += placed.pairwise_l1;
            if let Some(place) = &place {
                means[config as usize].record(place);
            }
        }
    });
    let seconds = begin.elapsed().as_secs_f64() / runs.len() as f64;
    let result = |(way, (run, cell)): (usize, &(u32, Cell))| {
        let failed =
            |cause: SimulationError| CellError { key: Box::new(cell.key()), cause: cause.into() };
        replayed.clone().map_err(failed)?;
        let sum = |size: u32| sums[size as usize * runs.len() + way];
        let by_size = rows.iter().map(|row| SizeRow {
            mean_pairwise_l1: Some(sum(row.size) as f64 / row.jobs as f64),
            ..row.clone()
        });
        let total = (0..=largest).map(sum).sum();
        Ok(RunResult {
            run: *run,
            key: cell.key(),
            turned_away: Vec::new(),
            processors: trace.topology.capacity(),
            metrics: RunMetrics::new(&schedule.metrics, total, &means[way], None, None),
            by_size: by_size.collect(),
            allocations: Vec::new(),
            jobs: Vec::new(),
            over_log: None,
            series: schedule.series.clone(),
            seconds,
            allocator_seconds: None,
        })
    };
    Some(runs.iter().enumerate().map(result).collect())
}
