//! How long a sweep takes, from windows of jobs of some of its cells.
//!
//! Cells of one trace, one scheduler and one strategy are a kind: they differ in tie vectors, seeds and
//! copies. Each kind has a share of the budget. In it windows of jobs run, from three places of the
//! trace, each on an empty machine, and ever larger ones while they fit. Cells that a sweep replays as
//! one are sampled as one. What a window of one job takes is the set-up of a cell; what a further job costs in
//! the windows of the largest size, times jobs and cells, is the rest of the estimate; the cheapest and the
//! dearest of them, with a margin, are its range. Many tie vectors that are replayed as one part in the course of a
//! trace, which short windows do not show: some of them run in longer windows, and part more often than all
//! would. What a job costs lies between the two. Nothing is known
//! of cells that ran before, and nothing is asked of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::seconds::Seconds;
use super::window::{Cost, ENOUGH, Sample, Sampler};
use crate::cli::exit::Failure;
use crate::experiment::Trace;
use crate::experiment::sweep::{Plan, done_as_one};
use crate::naming::NameError;

/// What all samples may take together, and how long after the begin of the command they end if its
/// preparations took long; some time they have in any case.
const BUDGET: Duration = Duration::from_millis(1200);
const ANSWER: Duration = Duration::from_millis(1900);
const LEAST: Duration = Duration::from_millis(400);

/// With more strategies all of one entry of the grid are one: a sample needs time.
const STRATEGIES: usize = 64;

/// So many cells of a kind are looked at for some that are done as one.
const LOOKED_AT: usize = 2048;

/// Of more cells that are done as one so many are sampled by themselves, too, spread over all: longer
/// windows of them fit into the budget.
const FEW: usize = 32;

/// A kind of cells, and what they take.
pub struct KindEstimate {
    /// Its first cell.
    pub first: u32,
    /// Its strategy, without tie vectors.
    pub strategy: String,
    /// How many cells it has.
    pub cells: usize,
    /// Jobs of a cell.
    pub jobs: u64,
    /// Of one cell; `None` if there was no time for a sample.
    pub each: Option<Seconds>,
}

impl KindEstimate {
    /// Of all its cells.
    pub fn all(&self) -> Option<Seconds> {
        self.each.map(|each| each.times(self.cells as f64))
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
    /// The most cells that were sampled as one.
    pub as_one: usize,
    /// Cells of kinds for which there was no time.
    pub unsampled: usize,
    /// What processors have to do for all cells; `None` without a sample.
    pub all: Option<Seconds>,
    /// How long that takes on so many threads.
    pub elapsed: Option<Seconds>,
    /// Threads that have something to do.
    pub threads: usize,
}

/// Runs by trace, scheduler and strategy.
type Kinds = BTreeMap<[usize; 3], Vec<u32>>;

/// The kinds of these cells; with their times, if asked for, for a command that began then.
pub fn estimate(
    plan: &Plan,
    traces: &[Arc<Trace>],
    cells: &[u32],
    timed: bool,
    begin: Instant,
) -> Result<Estimate, Failure> {
    let (kinds, strategies) = kinds(plan, cells).map_err(Failure::usage)?;
    let now = Instant::now();
    let last = (begin + ANSWER).clamp(now + LEAST, now + BUDGET);
    // Those that decide most first.
    let mut order: Vec<_> = kinds.iter().collect();
    order.sort_by_key(|(kind, runs)| (std::cmp::Reverse(weight(plan, runs)), **kind));
    let (mut sampled, mut as_one) = (HashMap::new(), 1);
    for (done, (kind, runs)) in order.iter().enumerate().filter(|_| timed) {
        let now = Instant::now();
        let Some(end) = share(now, last, order.len() - done) else { break };
        let bundle = bundle(plan, traces, runs, cells.len()).map_err(Failure::usage)?;
        as_one = as_one.max(bundle.len());
        let of_run = |&run: &u32| Ok((run, plan.cell(traces, run).map_err(Failure::usage)?));
        let bundle: Vec<_> = bundle.iter().map(of_run).collect::<Result<_, Failure>>()?;
        let few: Vec<_> = match bundle.len() > FEW {
            true => bundle.iter().step_by(bundle.len().div_ceil(FEW)).cloned().collect(),
            false => Vec::new(),
        };
        let middle = if few.is_empty() { end } else { now + (end - now) / 2 };
        let of = |cells, end| Some(Sampler::new(cells, plan.grid.measure, end, last)?.sample());
        if let Some(many) = of(bundle, middle) {
            let few = of(few, end);
            sampled.insert(**kind, few.map_or(many, |few| many.of_more(few)));
        }
    }
    Ok(together(plan, &kinds, &strategies, &sampled, as_one))
}

/// The cells by kind, and the names of their strategies.
fn kinds(plan: &Plan, cells: &[u32]) -> Result<(Kinds, Vec<String>), NameError> {
    let of_grid = &plan.grid.strategies;
    let mut names = HashMap::new();
    let mut strategies = Vec::new();
    let mut of = Vec::with_capacity(of_grid.len());
    for index in 0..of_grid.len() {
        let name = of_grid.get(index)?.without_tie().to_string();
        of.push(*names.entry(name).or_insert_with_key(|name| {
            strategies.push(name.clone());
            strategies.len() - 1
        }));
    }
    if strategies.len() > STRATEGIES.max(plan.grid.file.allocator.len()) {
        of = (0..of_grid.len()).map(|index| of_grid.entry(index)).collect();
        strategies = plan.grid.file.allocator.iter().map(|entry| entry.name.clone()).collect();
    }
    let mut kinds = Kinds::new();
    for &run in cells {
        let [trace, _, scheduler, strategy, _] = plan.places(run);
        kinds.entry([trace, scheduler, of[strategy]]).or_default().push(run);
    }
    Ok((kinds, strategies))
}

/// When the first of so many samples ends, if all are to end by then; `None` if the time is up.
fn share(now: Instant, end: Instant, samples: usize) -> Option<Instant> {
    let left = end.checked_duration_since(now).filter(|left| !left.is_zero())?;
    Some(now + left.div_f64(samples.max(1) as f64))
}

/// Cells from the middle of a kind that a sweep of so many cells does as one.
fn bundle<'a>(
    plan: &Plan,
    traces: &[Arc<Trace>],
    runs: &'a [u32],
    all: usize,
) -> Result<&'a [u32], NameError> {
    let first = (runs.len() / 2).min(runs.len().saturating_sub(LOOKED_AT));
    let near = &runs[first..(first + LOOKED_AT).min(runs.len())];
    let middle = &runs[runs.len() / 2..=runs.len() / 2];
    Ok(done_as_one(plan, traces, near, all)?.filter(|bundle| bundle.len() > 1).unwrap_or(middle))
}

/// What samples of some kinds tell of all.
fn together(
    plan: &Plan,
    kinds: &Kinds,
    strategies: &[String],
    sampled: &HashMap<[usize; 3], Sample>,
    as_one: usize,
) -> Estimate {
    let in_order = || kinds.keys().filter_map(|kind| sampled.get(kind));
    let of_others = Cost::mean(in_order().map(|sample| sample.cost));
    let copies = 1.0 + f64::from(plan.grid.copies());
    let (mut all, mut longest) = (Seconds::default(), Seconds::default());
    let (mut unsampled, mut scheduled) = (0, HashSet::new());
    let of_kind = |(kind, runs): (&[usize; 3], &Vec<u32>)| {
        let jobs = plan.jobs(runs[0]);
        let known = sampled.get(kind);
        if let Some(of_a_cell) = known.map(|sample| sample.cost).or(of_others) {
            let of_a_cell = of_a_cell.of(jobs);
            all = all.and(of_a_cell.times(runs.len() as f64));
            longest = longest.beside(of_a_cell);
        }
        if let (Some(sample), true) = (known, scheduled.insert([kind[0], kind[1]])) {
            // Once for all cells of a copy of a trace under a scheduler.
            all = all.and(Seconds::exactly(sample.scheduling * jobs as f64).times(copies));
        }
        unsampled += if known.is_none() { runs.len() } else { 0 };
        let each = known.map(|sample| sample.cost.of(jobs));
        let strategy = strategies[kind[2]].clone();
        KindEstimate { first: runs[0], strategy, cells: runs.len(), jobs, each }
    };
    let kinds: Vec<_> = kinds.iter().map(of_kind).collect();
    let cells = kinds.iter().map(|kind| kind.cells).sum::<usize>();
    let threads = rayon::current_num_threads().min(cells).max(1);
    // No cell runs on two threads.
    let elapsed = of_others.map(|_| all.times(1.0 / threads as f64).beside(longest));
    let shortest = in_order().map(|sample| sample.counted).min();
    Estimate {
        windows: in_order().map(|sample| sample.windows).sum(),
        short: shortest.filter(|&jobs| jobs < ENOUGH),
        as_one,
        unsampled,
        all: of_others.map(|_| all),
        elapsed,
        threads,
        kinds,
    }
}

/// Jobs of all cells of a kind.
fn weight(plan: &Plan, runs: &[u32]) -> u64 {
    plan.jobs(runs[0]).saturating_mul(runs.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::grid::ParameterGrid;
    use crate::workload::{Policy, Window, Workload};

    const GRID: &str = "placements = false\nschedulers = ['fcfs', 'easy']\n[[allocator]]\nname = 'mc1x1'\n\
        order = ['scan', 'greedy']\ntie = { sr = '1..3', af = '0..2', wf = '0..2', bf = '1' }\n\
        [[allocator]]\nname = 'random'\n";

    fn plan() -> (Plan, Vec<Arc<Trace>>) {
        let jobs: String = (1..=40).map(|n| format!("{n} {n} -1 9 4\n")).collect();
        let swf = format!("; MaxProcs: 16\n{jobs}");
        let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
        let workload =
            Workload::from_reader(swf.as_bytes(), "t.swf", policy, window, Default::default());
        let grid = ParameterGrid::parse(GRID, "grid.toml").expect("a grid");
        let machine = "4x4".parse().expect("a machine");
        let workload = Arc::new(workload.expect("a trace"));
        let trace = Trace::new(workload, machine, "johnson", &grid.schedulers);
        let traces = vec![Arc::new(trace)];
        (Plan::new(grid, &traces).expect("a plan"), traces)
    }

    fn sample(of_a_job: f64, counted: usize) -> Sample {
        let (set_up, job) = (Seconds::default(), Seconds::exactly(of_a_job));
        Sample { cost: Cost { set_up, job }, scheduling: 0.0, windows: 3, counted }
    }

    #[test]
    fn kinds_are_traces_schedulers_and_strategies() {
        let (plan, traces) = plan();
        let cells: Vec<u32> = (0..plan.len()).collect();
        let estimate = estimate(&plan, &traces, &cells, false, Instant::now()).expect("kinds");
        let named: Vec<&str> = estimate.kinds.iter().map(|kind| kind.strategy.as_str()).collect();
        let of_one = ["mc1x1[order=scan]", "mc1x1[order=greedy]", "random"];
        assert_eq!(named, [of_one, of_one].concat());
        assert_eq!(estimate.kinds.iter().map(|kind| kind.cells).sum::<usize>(), cells.len());
        assert!(estimate.all.is_none() && estimate.windows == 0);
    }

    #[test]
    fn samples_are_of_cells_that_a_sweep_does_as_one() {
        let (plan, traces) = plan();
        let cells: Vec<u32> = (0..plan.len()).collect();
        let (kinds, _) = kinds(&plan, &cells).expect("kinds");
        for (kind, runs) in &kinds {
            let as_one = bundle(&plan, &traces, runs, usize::MAX).expect("cells");
            assert!(as_one.iter().all(|run| runs.contains(run)));
            assert_eq!(as_one.len() > 1, kind[2] == 0, "only vectors of one order");
        }
        // A part of the grid that leaves each thread one cell leaves nothing to share.
        assert_eq!(bundle(&plan, &traces, &kinds[&[0, 0, 0]], 1).expect("a cell").len(), 1);
    }

    #[test]
    fn samples_tell_of_all_cells() {
        let (plan, _) = plan();
        let cells: Vec<u32> = (0..plan.len()).collect();
        let (kinds, names) = kinds(&plan, &cells).expect("kinds");
        let none = together(&plan, &kinds, &names, &HashMap::new(), 1);
        assert!(none.all.is_none() && none.elapsed.is_none());
        assert_eq!(none.unsampled, cells.len());
        // One kind is known: all others count as it does.
        let one = HashMap::from([([0, 0, 2], sample(0.5, 8))]);
        let estimate = together(&plan, &kinds, &names, &one, 1);
        assert_eq!(estimate.all, Some(Seconds::exactly(0.5 * 40.0 * cells.len() as f64)));
        assert_eq!((estimate.unsampled, estimate.short), (cells.len() - 1, Some(8)));
        assert_eq!(estimate.kinds[2].all(), Some(Seconds::exactly(20.0)));
        // One cell of a thousand times the cost is all that counts, on however many threads.
        let mut every: HashMap<_, _> =
            kinds.keys().map(|&kind| (kind, sample(0.0, usize::MAX))).collect();
        every.insert([0, 1, 2], sample(1.0, usize::MAX));
        let estimate = together(&plan, &kinds, &names, &every, 1);
        assert_eq!(estimate.all, Some(Seconds::exactly(40.0)));
        assert_eq!(estimate.elapsed, Some(Seconds::exactly(40.0)));
        assert_eq!((estimate.unsampled, estimate.short, estimate.windows), (0, None, 18));
    }

    #[test]
    fn the_budget_is_shared_out() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(share(now, now + 4 * second, 4), Some(now + second));
        // What one leaves, the others have.
        assert_eq!(share(now + second / 2, now + 2 * second, 1), Some(now + 2 * second));
        assert_eq!(share(now + second, now + second, 3), None);
        assert_eq!(share(now + 2 * second, now + second, 3), None);
    }
}
