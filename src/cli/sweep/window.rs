//! What a job of a cell costs, from windows of its jobs.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::seconds::Seconds;
use crate::experiment::{Cell, Measure, Watch, run_cell, run_together};
use crate::stop::Stop;

/// Jobs of the first windows.
const FEWEST: usize = 8;

/// From so many jobs on a window is long enough to fill its machine.
pub const ENOUGH: usize = 128;

/// How much larger each further size is.
const GROWTH: usize = 4;

/// Where windows begin, as shares of the jobs that they leave.
const PLACES: [f64; 3] = [0.5, 0.15, 0.85];

/// Runs windows of cells that are done as one.
pub struct Sampler {
    /// At least one, all on one trace under one scheduler.
    cells: Vec<(u32, Cell)>,
    measure: Measure,
    /// Nothing begins after this, and nothing goes on.
    end: Instant,
}

/// What the windows told.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What a job of one cell costs to place.
    pub placing: Seconds,
    /// What it costs to schedule where that is done once for all cells.
    pub scheduling: f64,
    /// Windows that ran.
    pub windows: usize,
    /// Jobs of the windows that count, `usize::MAX` if they are all.
    pub counted: usize,
}

/// What a window took for each of its jobs, in seconds of a processor: to place it in one cell, to
/// schedule it.
#[derive(Clone, Copy)]
struct Took {
    placing: f64,
    scheduling: f64,
}

impl Sampler {
    /// Samples these until then; `None` without a cell.
    pub fn new(cells: Vec<(u32, Cell)>, measure: Measure, end: Instant) -> Option<Self> {
        (!cells.is_empty()).then_some(Self { cells, measure, end })
    }

    /// What a job costs.
    pub fn sample(&self) -> Sample {
        let jobs = self.cells[0].1.trace.workload.jobs.len();
        let (begin, mut windows) = (busy(), 0);
        let mut size = FEWEST.min(jobs);
        let mut before: Option<(usize, Vec<Took>)> = None;
        loop {
            let mut of_size = Vec::new();
            for place in PLACES {
                let first = ((jobs - size) as f64 * place) as usize;
                let window = Instant::now();
                windows += 1;
                let Some(took) = self.window(first..first + size) else { break };
                of_size.push(took);
                // The last size that has a window counts; three tell more than one.
                let left = self.end.saturating_duration_since(window);
                if size == jobs || window.elapsed() > left / 2 {
                    break;
                }
            }
            let counted = if size == jobs { usize::MAX } else { size };
            if of_size.is_empty() {
                let Some((counted, took)) = before else {
                    let all = (self.cells.len() * size).max(1) as f64;
                    let each = (busy() - begin).as_secs_f64() / all;
                    let placing = Seconds { open: true, ..Seconds::exactly(each) };
                    return Sample { placing, scheduling: 0.0, windows, counted: size };
                };
                return summary(&took, windows, counted);
            }
            if size == jobs || Instant::now() >= self.end {
                return summary(&of_size, windows, counted);
            }
            before = Some((counted, of_size));
            size = (GROWTH * size).min(jobs);
        }
    }

    /// What these jobs take on an empty machine, for each of them; `None` if the time is up.
    fn window(&self, jobs: Range<usize>) -> Option<Took> {
        let all = &self.cells[0].1.trace;
        let count = jobs.len().max(1) as f64;
        let trace = Arc::new(all.with_jobs(all.workload.jobs[jobs].to_vec()));
        let in_window =
            |(run, cell): &(u32, Cell)| (*run, Cell { trace: trace.clone(), ..cell.clone() });
        let cells: Vec<_> = self.cells.iter().map(in_window).collect();
        let stop = Stop::new().until(self.end);
        let watch = Watch::new(&stop);
        let (begin, busy_before) = (Instant::now(), busy());
        let outcomes = run_together(&cells, self.measure, watch)
            .unwrap_or_else(|| vec![run_cell(0, &cells[0].1, self.measure, watch)]);
        let (elapsed, took) = (begin.elapsed().as_secs_f64(), busy() - busy_before);
        let (took, mut placing) = (took.as_secs_f64(), 0.0);
        for outcome in &outcomes {
            match outcome {
                Err(error) if error.is_stopped() => return None,
                // What fails costs what it costs.
                Err(_) => placing += elapsed / outcomes.len() as f64,
                Ok(ran) => placing += ran.seconds,
            }
        }
        // Results know how long they took by the clock on the wall.
        let share = (placing / elapsed.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let scheduling = took * (1.0 - share) / count;
        Some(Took { placing: took * share / (count * outcomes.len().max(1) as f64), scheduling })
    }
}

/// Mean, least and most of placing, and the mean of scheduling.
fn summary(all: &[Took], windows: usize, counted: usize) -> Sample {
    let placing = || all.iter().map(|took| Seconds::exactly(took.placing));
    let scheduling = all.iter().map(|took| took.scheduling).sum::<f64>() / all.len().max(1) as f64;
    let placing = Seconds::mean(placing()).unwrap_or_default().widened();
    Sample { placing, scheduling, windows, counted }
}

/// For how long a processor has worked on this thread: others that work on the machine do not count.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
