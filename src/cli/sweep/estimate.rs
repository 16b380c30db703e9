//! How long a sweep takes, from a few of its cells.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cli::exit::Failure;
use crate::experiment::sweep::Plan;
use crate::experiment::{Trace, Watch, run_cell};
use crate::stop::Stop;

/// No further sample begins after this.
const BUDGET: Duration = Duration::from_secs(5);

/// What a few cells tell of all.
pub struct Estimate {
    /// Cells that were run.
    pub samples: usize,
    /// Seconds that all `cells` take on all threads.
    pub seconds: f64,
}

/// Estimates the time of these cells. Cells of one trace and one entry of the grid count
/// as alike; the middle one of each kind is run, the largest kinds first, until the
/// budget is spent. Kinds without a sample take the mean time per job of the others.
pub fn estimate(plan: &Plan, traces: &[Arc<Trace>], cells: &[u32]) -> Result<Estimate, Failure> {
    let mut kinds: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
    for &run in cells {
        let [trace, _, _, strategy, _] = plan.places(run);
        kinds.entry((trace, plan.grid.strategies.entry(strategy))).or_default().push(run);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, runs)| (std::cmp::Reverse(runs.len()), *kind));
    let begin = Instant::now();
    let (mut samples, mut sampled_jobs, mut sampled_seconds) = (0, 0.0, 0.0);
    let (mut seconds, mut other_jobs) = (0.0, 0.0);
    for ((trace, _), runs) in &kinds {
        let jobs = plan.traces[*trace].jobs as f64;
        if samples > 0 && begin.elapsed() > BUDGET {
            other_jobs += jobs * runs.len() as f64;
            continue;
        }
        let middle = runs[runs.len() / 2];
        let cell = plan.cell(traces, middle).map_err(Failure::usage)?;
        let cell_begin = Instant::now();
        // Without the schedule, which is computed once for all cells of a kind. A cell that
        // fails costs what it costs.
        let took = match run_cell(middle, &cell, plan.grid.measure, Watch::new(&Stop::new())) {
            Ok(result) => result.seconds,
            Err(_) => cell_begin.elapsed().as_secs_f64(),
        };
        samples += 1;
        sampled_jobs += jobs;
        sampled_seconds += took;
        seconds += took * runs.len() as f64;
    }
    if sampled_jobs > 0.0 {
        seconds += other_jobs * sampled_seconds / sampled_jobs;
    }
    let threads = rayon::current_num_threads().min(cells.len().max(1));
    Ok(Estimate { samples, seconds: seconds / threads as f64 })
}
