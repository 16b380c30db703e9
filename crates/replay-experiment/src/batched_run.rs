//! Lockstep replay of cells or evaluations that differ only in tie-breaking.

use std::sync::Arc;
use std::time::Instant;

use super::{Cell, CellError, Measure, ProgressMeter, RunContext, RunResult};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::metrics::by_size::{SizeRow, by_size};
use replay_engine::metrics::measure::{Finished, Placed, Scope};
use replay_engine::metrics::{HierarchySeries, Locality, Measures, PairwiseMetrics, RunMetrics};
use replay_engine::simulation::SimulationError;
use replay_engine::topology::Topology;

/// Maximum memory, in bytes, for the machine states of all strategies that are replayed together: roughly the L2 cache
/// of one core. With more memory, cache misses cost more time than the shared replay saves.
const MEMORY_LIMIT: usize = 4 << 20;
/// Maximum number of strategies that are replayed together. The results stay in memory until all these strategies have
/// finished.
const MAX_BATCH: usize = 1280;

/// Returns the best number of strategies to replay together on a machine.
pub fn batch_size(topology: &Topology) -> usize {
    // The state has one byte per processor, one version number per row, and the placements of the jobs.
    let bytes = topology.grid().map_or(MEMORY_LIMIT, |grid| {
        let rows = grid.processors() / grid.extent(grid.dimensions() - 1);
        grid.processors() + 8 * rows + 1024
    });
    (MEMORY_LIMIT / bytes).clamp(16, MAX_BATCH)
}

/// Replays several cells in one replay. The cells must differ only in tie-breaking. Each result equals the result of a
/// separate run, except that the wall-clock time is divided equally among the cells. Returns `None` if the cells cannot
/// be replayed together.
///
/// # Errors
/// If the replay fails, every cell gets the [`CellError`] that [`run_cell`](super::run_cell) would return.
pub fn run_together(
    runs: &[(u32, Cell)],
    measure: Measure,
    context: RunContext<'_>,
) -> Option<Vec<Result<RunResult, CellError>>> {
    let (_, first) = runs.first()?;
    let trace = &first.trace;
    let alike = |cell: &Cell| {
        Arc::ptr_eq(&cell.trace, trace)
            && (&cell.scheduler, cell.seed) == (&first.scheduler, first.seed)
    };
    let is_plain = trace.outages().is_empty() && trace.partitions().is_none();
    let shares = measure.is_of_shared_replays() && is_plain;
    if !shares || !runs.iter().all(|(_, cell)| alike(cell)) {
        return None;
    }
    let specs = runs.iter().map(|(_, cell)| &cell.allocator);
    let mut batch = AllocatorSpec::batch(specs, &trace.topology)?;
    let schedule = trace.schedule(&first.scheduler, context.stop).ok()?;
    // If jobs are missing from the run that repeats the log, each run is also measured without these jobs. A shared
    // replay does not support this second measurement.
    let lacks = trace.log_jobs(context.stop).ok()?.is_some();
    if lacks || !schedule.timeline.unplaced().is_empty() {
        return None;
    }
    let jobs = &trace.workload.jobs;
    let none = vec![0; jobs.len()];
    let rows = by_size(schedule.arrived(jobs), schedule.timeline.starts(), &none);
    // Sums of pairwise L1 distances, indexed by job size and then by cell.
    let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
    let mut sums = vec![0u64; (largest as usize + 1) * runs.len()];
    let mut locality = measure.placements.then(|| Locality::new(&trace.topology));
    let measures = Measures::new(&measure.setup(trace, Scope::Allocations));
    let mut measures = vec![measures; runs.len()];
    let mut progress = ProgressMeter::new(context, jobs.len() * runs.len()).counted();
    let begin = Instant::now();
    let simulation = trace.simulation(context.stop);
    let replayed = simulation.lockstep(&schedule.timeline, batch.as_mut(), &mut |job, placed| {
        let size = jobs[job.index()].size;
        let sums = &mut sums[size as usize * runs.len()..][..runs.len()];
        let place =
            locality.as_mut().map(|of| of.placement(placed.nodes, trace.topology.points(size)));
        for &config in placed.configs.iter() {
            progress.started();
            sums[config as usize] += placed.pairwise_l1;
            if place.is_some() {
                let (pairwise_l1, placement) = (placed.pairwise_l1, place.as_ref());
                let placed = Placed { size, pairwise_l1, placement, tied: None };
                measures[config as usize].placed(&placed);
            }
        }
    });
    let seconds = begin.elapsed().as_secs_f64() / runs.len() as f64;
    let result = |(config, (run, cell)): (usize, &(u32, Cell))| {
        let failed =
            |cause: SimulationError| CellError { key: Box::new(cell.key()), cause: cause.into() };
        replayed.clone().map_err(failed)?;
        let sum = |size: u32| sums[size as usize * runs.len() + config];
        let by_size = rows.iter().map(|row| SizeRow {
            mean_pairwise_l1: Some(sum(row.size) as f64 / row.jobs as f64),
            ..row.clone()
        });
        let total = (0..=largest).map(sum).sum();
        let finished = Finished { schedule: Some(&schedule.metrics), coupled: None };
        let metrics = RunMetrics {
            pairwise: PairwiseMetrics::new(total, schedule.metrics.jobs),
            ..measures[config].finish(&finished)
        };
        Ok(RunResult {
            run: *run,
            key: cell.key(),
            turned_away: Vec::new(),
            groups: Vec::new(),
            processors: trace.topology.capacity(),
            metrics,
            by_size: by_size.collect(),
            allocations: Vec::new(),
            jobs: Vec::new(),
            over_log: None,
            series: schedule.series.clone(),
            hierarchy_series: HierarchySeries::default(),
            seconds,
            allocator_seconds: None,
        })
    };
    Some(runs.iter().enumerate().map(result).collect())
}
