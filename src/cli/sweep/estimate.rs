//! How long a sweep takes, from windows of jobs of some of its cells.
//!
//! Cells of one trace, one scheduler and one entry of the grid are a kind: they differ in tie vectors
//! and parameters. Each kind has a share of the budget. In it windows of jobs run, from three places
//! of the trace, each on an empty machine, and ever larger ones while they fit. The cost of a job in the
//! windows of the largest size, times jobs and cells, is the estimate; the cheapest and the dearest of
//! them are its range.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cli::exit::Failure;
use crate::experiment::sweep::Plan;
use crate::experiment::{Cell, Measure, Trace, Watch, run_cell};
use crate::naming::NameError;
use crate::stop::Stop;

/// What all samples may take together.
const BUDGET: Duration = Duration::from_millis(1200);

/// Jobs of the first windows.
const FEWEST: usize = 8;

/// From so many jobs on a window is long enough to fill its machine.
const ENOUGH: usize = 128;

/// How much larger each further size is.
const GROWTH: usize = 4;

/// Where windows begin, as shares of the jobs that they leave.
const PLACES: [f64; 3] = [0.5, 0.15, 0.85];

/// A kind of cells, and what they take.
pub struct KindEstimate {
    /// Its first cell.
    pub first: u32,
    /// How many cells it has.
    pub cells: usize,
    /// Jobs of a cell.
    pub jobs: u64,
    /// Seconds of one cell; `None` if there was no time for a sample.
    pub seconds: Option<Seconds>,
}

/// What something takes, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Seconds {
    /// By the mean of the samples.
    pub usual: f64,
    /// By the cheapest.
    pub least: f64,
    /// By the dearest.
    pub most: f64,
    /// Not even a first window came to its end: it may take any longer.
    pub open: bool,
}

impl Seconds {
    fn exactly(seconds: f64) -> Self {
        Self { usual: seconds, least: seconds, most: seconds, open: false }
    }

    fn times(self, factor: f64) -> Self {
        let Self { usual, least, most, open } = self;
        Self { usual: usual * factor, least: least * factor, most: most * factor, open }
    }

    fn and(self, other: Self) -> Self {
        Self {
            usual: self.usual + other.usual,
            least: self.least + other.least,
            most: self.most + other.most,
            open: self.open || other.open,
        }
    }
}

/// What windows tell of all cells.
pub struct Estimate {
    /// By kind, in the order of the grid.
    pub kinds: Vec<KindEstimate>,
    /// Windows that ran.
    pub windows: usize,
    /// The shortest window that counts, in jobs, if it is too short to fill its machine.
    pub short: Option<usize>,
    /// Cells of kinds for which there was no time.
    pub unsampled: usize,
    /// What all cells take on all threads; `None` without a sample.
    pub all: Option<Seconds>,
}

/// The kinds of these cells; with their times, if asked for.
pub fn estimate(
    plan: &Plan,
    traces: &[Arc<Trace>],
    cells: &[u32],
    timed: bool,
) -> Result<Estimate, Failure> {
    let mut kinds: BTreeMap<[usize; 3], Vec<u32>> = BTreeMap::new();
    for &run in cells {
        let [trace, _, scheduler, strategy, _] = plan.places(run);
        let kind = [trace, scheduler, plan.grid.strategies.entry(strategy)];
        kinds.entry(kind).or_default().push(run);
    }
    let end = Instant::now() + BUDGET;
    // Those that decide most first.
    let mut order: Vec<_> = kinds.iter().collect();
    order.sort_by_key(|(kind, runs)| (std::cmp::Reverse(weight(plan, runs)), **kind));
    let (mut windows, mut shortest, mut sampled) = (0, ENOUGH, BTreeMap::new());
    for (done, (kind, runs)) in order.iter().enumerate().filter(|_| timed) {
        let now = Instant::now();
        if now >= end {
            break;
        }
        let share = (end - now).div_f64((order.len() - done) as f64);
        let middle = runs[runs.len() / 2];
        let cell = plan.cell(traces, middle).map_err(Failure::usage)?;
        let mut sampler =
            Sampler { cell, measure: plan.grid.measure, end: now + share, windows: 0, counted: 0 };
        sampled.insert(**kind, sampler.of_a_job().map_err(Failure::usage)?);
        windows += sampler.windows;
        shortest = shortest.min(sampler.counted);
    }
    let short = (shortest < ENOUGH).then_some(shortest);
    let of_a_job = mean(sampled.values().map(|(job, _)| *job));
    let (mut all, mut unsampled, mut scheduled) = (Seconds::default(), 0, HashSet::new());
    let kinds = kinds.into_iter().map(|(kind, runs)| {
        let jobs = plan.jobs(runs[0]);
        let known = sampled.get(&kind);
        if let Some(of_a_job) = known.map(|(job, _)| *job).or(of_a_job) {
            all = all.and(of_a_job.times(jobs as f64 * runs.len() as f64));
        }
        if let (Some((_, schedule)), true) = (known, scheduled.insert([kind[0], kind[1]])) {
            // Once for all cells of a trace under a scheduler.
            all = all.and(Seconds::exactly(schedule * jobs as f64));
        }
        unsampled += if known.is_none() { runs.len() } else { 0 };
        let seconds = known.map(|(job, _)| job.times(jobs as f64));
        KindEstimate { first: runs[0], cells: runs.len(), jobs, seconds }
    });
    let kinds = kinds.collect();
    let threads = rayon::current_num_threads().min(cells.len().max(1));
    let all = of_a_job.map(|_| all.times(1.0 / threads as f64));
    Ok(Estimate { kinds, windows, short, unsampled, all })
}

/// Jobs of all cells of a kind.
fn weight(plan: &Plan, runs: &[u32]) -> u64 {
    plan.jobs(runs[0]).saturating_mul(runs.len() as u64)
}

/// The mean of some, from the least to the most of them all.
fn mean(all: impl Iterator<Item = Seconds> + Clone) -> Option<Seconds> {
    let count = all.clone().count();
    let least = all.clone().map(|one| one.least).reduce(f64::min)?;
    let most = all.clone().map(|one| one.most).fold(0.0, f64::max);
    let sum = all.fold(Seconds::default(), Seconds::and);
    Some(Seconds { usual: sum.usual / count as f64, least, most, open: sum.open })
}

/// Runs windows of a cell.
struct Sampler {
    cell: Cell,
    measure: Measure,
    /// Nothing begins after this, and nothing goes on.
    end: Instant,
    windows: usize,
    /// Jobs of a window that counts.
    counted: usize,
}

/// What a window took for each of its jobs, in seconds: to place it, to schedule it.
#[derive(Clone, Copy)]
struct Took {
    placing: f64,
    scheduling: f64,
}

impl Sampler {
    /// What a job costs to place, and to schedule where that is done once for all cells.
    fn of_a_job(&mut self) -> Result<(Seconds, f64), NameError> {
        let jobs = self.cell.trace.workload.jobs.len();
        let mut size = FEWEST.min(jobs);
        let mut of_size: Vec<Took> = Vec::new();
        let begin = Instant::now();
        loop {
            let before = std::mem::take(&mut of_size);
            let earlier = self.counted;
            self.counted = if size == jobs { usize::MAX } else { size };
            for place in PLACES {
                let first = ((jobs - size) as f64 * place) as usize;
                let window = Instant::now();
                match self.window(first..first + size)? {
                    Some(took) => of_size.push(took),
                    None => break,
                }
                // The last size that has a window counts; three tell more than one.
                if size == jobs || window.elapsed() > self.end.saturating_duration_since(window) / 2
                {
                    break;
                }
            }
            if of_size.is_empty() {
                self.counted = if before.is_empty() { size } else { earlier };
                return Ok(match before.is_empty() {
                    true => (Self::at_least(size, begin), 0.0),
                    false => summary(&before),
                });
            }
            if size == jobs || Instant::now() >= self.end {
                return Ok(summary(&of_size));
            }
            size = (GROWTH * size).min(jobs);
        }
    }

    /// So many jobs were not placed since then.
    fn at_least(jobs: usize, begin: Instant) -> Seconds {
        let each = begin.elapsed().as_secs_f64() / jobs.max(1) as f64;
        Seconds { open: true, ..Seconds::exactly(each) }
    }

    /// What these jobs take on an empty machine, for each of them; `None` if the time is up.
    fn window(&mut self, jobs: Range<usize>) -> Result<Option<Took>, NameError> {
        let Cell { trace, scheduler, allocator, seed } = &self.cell;
        let workload = trace.workload.with_jobs(trace.workload.jobs[jobs.clone()].to_vec());
        let dependencies = trace.dependencies();
        let (machine, policy) = (trace.topology.clone(), trace.policy.clone());
        let schedulers = std::slice::from_ref(scheduler);
        let trace = Trace::new(Arc::new(workload), machine, policy, schedulers);
        let trace = trace.placed(self.cell.trace.shared_places());
        let trace = Arc::new(trace.following(dependencies));
        let (scheduler, allocator) = (scheduler.clone(), allocator.clone());
        let cell = Cell { trace, scheduler, allocator, seed: *seed };
        let stop = Stop::new().until(self.end);
        let begin = Instant::now();
        let outcome = run_cell(0, &cell, self.measure, Watch::new(&stop));
        let all = begin.elapsed().as_secs_f64();
        self.windows += 1;
        let jobs = jobs.len().max(1) as f64;
        Ok(match outcome {
            Err(error) if error.is_stopped() => None,
            // What fails costs what it costs.
            Err(_) => Some(Took { placing: all / jobs, scheduling: 0.0 }),
            Ok(ran) => {
                let scheduling = (all - ran.seconds).max(0.0) / jobs;
                Some(Took { placing: ran.seconds / jobs, scheduling })
            }
        })
    }
}

/// Mean, least and most of placing, and the mean of scheduling.
fn summary(all: &[Took]) -> (Seconds, f64) {
    let placing = || all.iter().map(|took| Seconds::exactly(took.placing));
    let scheduling = all.iter().map(|took| took.scheduling).sum::<f64>() / all.len().max(1) as f64;
    (mean(placing()).unwrap_or_default(), scheduling)
}
