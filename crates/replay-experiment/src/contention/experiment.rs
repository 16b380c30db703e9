use std::sync::Arc;

use super::{
    ContentionInput, EstimatedPackets, Isolation, Messages, TraceError, TraceRun,
    estimated_packets, isolate, run_trace,
};
use crate::experiment::{Experiment, Outcomes};
use crate::{Admitted, Cell, RejectedSize, RunContext, RunKey, Trace};
use replay_engine::naming::NameError;

/// Runs of traces whose jobs send messages, one run per cell.
///
/// Before a cell runs, the time of each of its jobs without other jobs must be [measured](Self::measure).
#[derive(Debug)]
pub struct ContentionExperiment<'a> {
    messages: &'a Messages,
    /// Cycles per second of the trace.
    scale: f64,
    /// The cells, each restricted to the jobs that its strategy admits.
    pub cells: Vec<Cell>,
    /// The sizes that the strategy of each cell rejects; `None` if it rejects no jobs.
    pub rejected: Vec<Option<Vec<RejectedSize>>>,
    measured: Vec<Measured>,
}

/// A trace and, for each of its jobs, the time without other jobs.
#[derive(Debug)]
struct Measured {
    trace: Arc<Trace>,
    seed: u64,
    isolation: Isolation,
}

/// The trace whose jobs cannot be measured, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{trace}: {cause}")]
pub struct UnmeasuredTrace {
    /// Name of the trace.
    pub trace: String,
    /// The reason.
    pub cause: TraceError,
}

impl<'a> ContentionExperiment<'a> {
    /// Creates the experiment of these cells. `scale` is the number of cycles per second of the trace.
    pub fn new(cells: &[Cell], messages: &'a Messages, scale: f64) -> Self {
        let (cells, rejected) = admitted(cells);
        Self { messages, scale, cells, rejected, measured: Vec::new() }
    }

    /// Returns the traces on which the jobs of `cells` are measured without other jobs, each with a seed. A pattern without
    /// random numbers is the same for all seeds, so it is measured only for the seed of the first cell.
    pub fn to_measure(&self, cells: &[u32]) -> Vec<(Arc<Trace>, u64)> {
        let mut settings: Vec<(Arc<Trace>, u64)> = Vec::new();
        for &cell in cells {
            let cell = &self.cells[cell as usize];
            let seed = self.seed(cell);
            if !settings.iter().any(|one| Arc::ptr_eq(&one.0, &cell.trace) && one.1 == seed) {
                settings.push((cell.trace.clone(), seed));
            }
        }
        settings
    }

    fn seed(&self, cell: &Cell) -> u64 {
        if self.messages.program.draws() { cell.seed } else { self.cells[0].seed }
    }

    /// Measures, for each trace and seed, the time of each job without other jobs. `expected` is called with the estimated
    /// number of packets of each trace before the first measurement, so that too many packets are an error before work is
    /// done; `measured` is called after each measurement.
    ///
    /// # Errors
    /// [`UnmeasuredTrace`] for the first trace that cannot be measured.
    pub fn measure(
        &mut self,
        settings: Vec<(Arc<Trace>, u64)>,
        context: RunContext<'_>,
        mut expected: impl FnMut(&Trace, EstimatedPackets),
        mut measured: impl FnMut(&Trace, &Isolation),
    ) -> Result<(), UnmeasuredTrace> {
        let of = |trace: &Trace| {
            let trace = trace.workload.name.clone();
            |cause| UnmeasuredTrace { trace, cause }
        };
        for (trace, seed) in &settings {
            let estimate = estimated_packets(self.input(trace, context), self.scale, *seed);
            expected(trace, estimate.map_err(of(trace))?);
        }
        for (trace, seed) in settings {
            let isolation = isolate(self.input(&trace, context), self.scale, seed);
            let isolation = isolation.map_err(of(&trace))?;
            measured(&trace, &isolation);
            self.measured.push(Measured { trace, seed, isolation });
        }
        Ok(())
    }

    fn input<'b>(&'b self, trace: &'b Trace, watch: RunContext<'b>) -> ContentionInput<'b> {
        let (jobs, topology) = (trace.jobs(), &trace.topology);
        ContentionInput { jobs, topology, messages: self.messages, watch }
    }

    /// Returns the name of a cell in messages.
    pub fn name(&self, cell: u32) -> String {
        let key = self.cells[cell as usize].key();
        let RunKey { trace, topology, scheduler, seed, copy, .. } = &key;
        let mut name = format!("{trace} {topology} {scheduler} {} seed {seed}", key.strategy());
        if *copy > 0 {
            name += &format!(" copy {copy}");
        }
        name
    }
}

impl Experiment for ContentionExperiment<'_> {
    type Row = TraceRun;
    type Error = String;

    fn run(&self, cells: &[u32], context: RunContext<'_>) -> Result<Outcomes<Self>, NameError> {
        let run = |&number: &u32| {
            let cell = &self.cells[number as usize];
            let seed = self.seed(cell);
            let of_cell =
                |one: &&Measured| Arc::ptr_eq(&one.trace, &cell.trace) && one.seed == seed;
            let Measured { trace, isolation, .. } = self.measured.iter().find(of_cell)?;
            let input = self.input(trace, context);
            let run = cell.build_allocator().map_err(TraceError::from).and_then(|mut allocator| {
                run_trace(input, isolation, &cell.scheduler, allocator.as_mut(), cell.seed)
            });
            match run {
                Err(TraceError::Cancelled(_)) => None,
                run => Some(run.map_err(|error| format!("{}: {error}", self.name(number)))),
            }
        };
        Ok(cells.iter().map(run).collect())
    }
}

/// Returns the cells, each restricted to the jobs that its strategy admits. The second list contains the rejected sizes
/// of each cell; an entry is `None` if the strategy of the cell rejects no jobs.
fn admitted(cells: &[Cell]) -> (Vec<Cell>, Vec<Option<Vec<RejectedSize>>>) {
    let mut all: Vec<(Cell, Option<Vec<RejectedSize>>)> = Vec::with_capacity(cells.len());
    for (place, cell) in cells.iter().enumerate() {
        // If a strategy admits no job, the cell stays unchanged. The run of this cell then fails with the reason.
        let (mut one, away) = match Admitted::of(cell) {
            Err(_) => (cell.clone(), None),
            Ok(admitted) => (admitted.cell.into_owned(), admitted.turned_away),
        };
        // Strategies that reject the same sizes admit the same jobs. The times of these jobs are therefore measured
        // only once.
        let same = |(before, (_, other)): &(&Cell, &(Cell, Option<Vec<RejectedSize>>))| {
            Arc::ptr_eq(&before.trace, &cell.trace) && *other == away
        };
        if let Some((_, (other, _))) = cells[..place].iter().zip(&all).find(same) {
            one.trace = other.trace.clone();
        }
        all.push((one, away));
    }
    all.into_iter().unzip()
}
