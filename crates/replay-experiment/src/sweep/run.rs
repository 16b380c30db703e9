use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::batched_run::{self, run_together};
use crate::experiment::{Experiment, Outcomes, Recorded, unless_stopped};
use crate::journal::CellId;
use crate::pool;
use crate::progress::{Eta, Watch};
use crate::resolve::ResolvedGrid;
use crate::{Cell, CellError, Measure, RunContext, RunResult, run_cell};
use replay_engine::naming::NameError;

/// Cells that differ only in the tie vector share a replay.
impl Experiment for ResolvedGrid {
    type Row = RunResult;
    type Error = CellError;

    /// Long ranges are split, so that every thread receives cells.
    fn bundles(&self, cells: &[u32]) -> Result<Vec<Range<usize>>, NameError> {
        let Self { plan, traces } = self;
        let alone = !plan.grid.measure.is_of_shared_replays();
        let share = cells.len().div_ceil(pool::threads().max(1));
        let mut bundles: Vec<Range<usize>> = Vec::new();
        let mut latest = None;
        for (place, &run) in cells.iter().enumerate() {
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

    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError> {
        let Self { plan, traces } = self;
        let measure = |cell: &Cell| {
            let measure = plan.grid.measure;
            // Data of single jobs are needed only for the unperturbed trace.
            let itself = cell.trace.copy == 0;
            let (jobs, nodes) = (measure.jobs && itself, measure.nodes && itself);
            Measure { jobs, nodes, ..measure }
        };
        let timed =
            TimedCell { watch: context.watch, cell: cells[0], last: Mutex::new(Instant::now()) };
        let context = RunContext { watch: &timed, ..context };
        let cell = |&run: &u32| plan.cell(traces, run).map(|cell| (run, cell));
        let cells: Vec<(u32, Cell)> = cells.iter().map(cell).collect::<Result<_, _>>()?;
        let outcomes = run_together(&cells, plan.grid.measure, context).unwrap_or_else(|| {
            let run = |(run, cell): &(u32, Cell)| run_cell(*run, cell, measure(cell), context);
            cells.iter().map(run).collect()
        });
        Ok(unless_stopped(outcomes))
    }
}

impl Recorded for ResolvedGrid {
    fn id(&self, cell: u32) -> Result<CellId, NameError> {
        self.plan.id(cell)
    }

    /// The journal has the name of the cell beside the reason.
    fn reason(error: &CellError) -> String {
        error.cause.to_string()
    }
}

/// Adds to the jobs of a cell the time since the last report.
struct TimedCell<'a> {
    watch: &'a dyn Watch,
    cell: u32,
    last: Mutex<Instant>,
}

impl Watch for TimedCell<'_> {
    fn jobs_done(&self, jobs: u64) {
        self.watch.jobs_done(jobs);
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let took: Duration = now - std::mem::replace(&mut *last, now);
        self.watch.cell_jobs(self.cell, jobs, took);
    }

    fn forecast(&self, eta: Eta) {
        self.watch.forecast(eta);
    }
}
