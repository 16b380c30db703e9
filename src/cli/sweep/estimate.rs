//! How long a sweep takes, from windows of jobs of some of its cells.
//!
//! Cells of one trace, one scheduler and one strategy are a kind: they differ in fixed tie vectors, seeds and
//! copies. Each kind has a share of the budget, which is time of a thread. In it windows of jobs run, from
//! several places of the trace, each on an empty machine: the first of few jobs, which tells how many can
//! follow. Cells that a sweep replays as one are sampled as one. What a window takes up to its first
//! placement is the set-up of a cell. What further jobs cost in the second half of a window, when its machine is
//! full, times jobs and cells, is the rest of the estimate. Its range goes by how much the windows differ
//! and how much a job's cost changes in the course of them, with a margin. A window that was cut counts with the jobs
//! that it placed. Many tie vectors that are replayed as one part in the course of a trace, which
//! short windows do not show: some of them run in longer windows, and part more often than all would. What a
//! job costs lies between the two. Nothing is known of cells that ran before, and nothing is asked of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::kinds::{Kinds, kinds, weight};
use super::sample::{Limit, Sample, Sampler};
use super::seconds::{Cost, Seconds};
use super::window::{ENOUGH, Windows, lock};
use crate::cli::exit::Failure;
use replay_core::naming::NameError;
use replay_core::stop::worked;
use replay_experiment::sweep::{Plan, done_as_one};
use replay_experiment::{Cell, Trace};

/// What all samples may take together of each thread, and how long after the begin of the command they end if
/// its preparations took long or others work on the machine; some time they have in any case.
const BUDGET: Duration = Duration::from_millis(1200);
const ANSWER: Duration = Duration::from_millis(1900);
const LEAST: Duration = Duration::from_millis(400);

/// So much as this part of all that, and the last part of the time, is for the schedules of whole traces.
const SCHEDULES: u32 = 4;

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

/// What samples told.
#[derive(Default)]
struct Told {
    /// By kind.
    samples: HashMap<[usize; 3], Sample>,
    /// By trace and scheduler: what it took to schedule all its jobs, open if that did not come to its end.
    schedules: HashMap<[usize; 2], Seconds>,
    /// By trace: what it takes to make a shaken copy.
    copies: HashMap<usize, f64>,
    /// The most cells that were sampled as one.
    as_one: usize,
}

/// Takes samples on all threads.
struct Samplers<'a> {
    plan: &'a Plan,
    traces: &'a [Arc<Trace>],
    /// Cells of all kinds.
    cells: usize,
    /// Those that decide most first.
    order: Vec<(&'a [usize; 3], &'a Vec<u32>)>,
    windows: Windows,
    /// For samples on each thread.
    all: Limit,
    /// What each schedule of a whole trace may take, beside what the sample of its kind leaves.
    scheduling: Limit,
    left: Mutex<Left>,
    told: Mutex<Told>,
}

/// What is left to do, and the time of threads for it.
struct Left {
    next: usize,
    work: Duration,
}

/// The kinds of these cells; with their times, if asked for, for a command that began then.
pub fn estimate(
    plan: &Plan,
    traces: &[Arc<Trace>],
    cells: &[u32],
    timed: bool,
    begin: Instant,
) -> Result<Estimate, Failure> {
    let (kinds, strategies) = kinds(plan, cells).map_err(Failure::usage)?;
    let told = match timed {
        true => Samplers::new(plan, traces, &kinds, cells.len(), begin).run()?,
        false => Told::default(),
    };
    Ok(together(plan, &kinds, &strategies, &told))
}

impl<'a> Samplers<'a> {
    fn new(
        plan: &'a Plan,
        traces: &'a [Arc<Trace>],
        kinds: &'a Kinds,
        cells: usize,
        begin: Instant,
    ) -> Self {
        let now = Instant::now();
        let last = (begin + ANSWER).max(now + LEAST);
        let until = last - (last - now) / SCHEDULES;
        let mut order: Vec<_> = kinds.iter().collect();
        order.sort_by_key(|(kind, runs)| (std::cmp::Reverse(weight(plan, runs)), **kind));
        let threads = rayon::current_num_threads().clamp(1, order.len().max(1)) as u32;
        let all = Limit { work: BUDGET.min(until - now), until };
        let work = all.work * threads;
        let schedules: HashSet<_> = kinds.keys().map(|kind| [kind[0], kind[1]]).collect();
        let scheduling = (work / SCHEDULES / schedules.len().max(1) as u32).min(last - until);
        let scheduling = Limit { work: scheduling, until: last };
        let (left, told) = (Mutex::new(Left { next: 0, work }), Mutex::default());
        let windows = Windows::default();
        Self { plan, traces, cells, order, windows, all, scheduling, left, told }
    }

    fn run(self) -> Result<Told, Failure> {
        let threads = rayon::current_num_threads().max(1);
        let one = |_| -> Result<(), Failure> {
            while let Some((kind, runs, limit)) = self.next(threads) {
                let begin = worked();
                self.kind(*kind, runs, limit)?;
                // What one leaves, or takes beyond its share, is of the others.
                let mut left = lock(&self.left);
                left.work = (left.work + limit.work).saturating_sub(worked() - begin);
            }
            Ok(())
        };
        (0..threads).into_par_iter().with_max_len(1).try_for_each(one)?;
        Ok(self.told.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next kind, with what its sample may take; `None` if none is left, or no time.
    fn next(&self, threads: usize) -> Option<(&'a [usize; 3], &'a Vec<u32>, Limit)> {
        let mut left = lock(&self.left);
        let &(kind, runs) = self.order.get(left.next)?;
        let kinds = self.order.len() - left.next;
        let limit = share(Instant::now(), self.all.until, left.work, kinds, threads)?;
        left.next += 1;
        left.work = left.work.saturating_sub(limit.work);
        Some((kind, runs, limit))
    }

    /// Samples a kind.
    fn kind(&self, kind: [usize; 3], runs: &[u32], limit: Limit) -> Result<(), Failure> {
        let Self { plan, traces, .. } = *self;
        let began = worked();
        let bundle = bundle(plan, traces, runs, self.cells).map_err(Failure::usage)?;
        let as_one = bundle.len();
        let of_run = |&run: &u32| Ok((run, plan.cell(traces, run).map_err(Failure::usage)?));
        let bundle: Vec<_> = bundle.iter().map(of_run).collect::<Result<_, Failure>>()?;
        let (_, first) = bundle[0].clone();
        let few: Vec<_> = match bundle.len() > FEW {
            true => bundle.iter().step_by(bundle.len().div_ceil(FEW)).cloned().collect(),
            false => Vec::new(),
        };
        let sample = |cells: Vec<(u32, Cell)>, own: Limit| {
            let (measure, limits) = (plan.grid.measure, [own, self.all]);
            Sampler { cells, measure, windows: &self.windows, limits }.sample()
        };
        let sample = match few.is_empty() {
            true => sample(bundle, limit),
            false => {
                let now = Instant::now();
                let until = now + limit.until.saturating_duration_since(now) / 2;
                let many = sample(bundle, Limit { work: limit.work / 2, until });
                many.of_more(sample(few, Limit { work: limit.work / 2, ..limit }))
            }
        };
        let mut told = lock(&self.told);
        told.as_one = told.as_one.max(as_one);
        told.samples.insert(kind, sample);
        let copied = plan.grid.copies() > 0 && !told.copies.contains_key(&kind[0]);
        if copied {
            told.copies.insert(kind[0], 0.0);
        }
        let pair = [kind[0], kind[1]];
        let per_job = sample.scheduling.filter(|_| !told.schedules.contains_key(&pair));
        let per_job = per_job.map(|scheduling| scheduling.job);
        if let Some(per_job) = per_job {
            // Until more is known, and so that nobody else does the same.
            told.schedules.insert(pair, unfinished(per_job * plan.jobs(runs[0]) as f64, 0.0));
        }
        drop(told);
        if let (true, Some(shake)) = (copied, &plan.grid.shake) {
            let begin = worked();
            let trace = &traces[kind[0]];
            drop(trace.with_jobs(shake.copy(&trace.workload.jobs, 1)));
            lock(&self.told).copies.insert(kind[0], (worked() - begin).as_secs_f64());
        }
        if let Some(per_job) = per_job {
            let unused = limit.work.saturating_sub(worked() - began);
            let took = self.schedule(&first, per_job, self.scheduling.work + unused);
            lock(&self.told).schedules.insert(pair, took);
        }
        Ok(())
    }

    /// What it takes to schedule the whole trace of a cell, if it does not take more than some `work`; without an upper end where there is no time for that, as queues
    /// of a whole trace grow beyond those of windows.
    fn schedule(&self, cell: &Cell, per_job: f64, work: Duration) -> Seconds {
        let jobs = cell.trace.workload.jobs.len();
        let rough = per_job * jobs as f64;
        let known = cell.trace.scheduled(&cell.scheduler).is_some();
        if !known && rough > work.as_secs_f64() {
            return unfinished(rough, 0.0);
        }
        let begin = worked();
        let window = self.windows.of(&cell.trace, 0..jobs);
        let took = window.schedule(&cell.scheduler, &Limit { work, ..self.scheduling }.stop());
        let spent = || (worked() - begin).as_secs_f64();
        took.map_or_else(|| unfinished(rough, spent()), |took| Seconds::exactly(took).widened())
    }
}

/// What is known of a schedule that was not made whole: what windows tell, of which half is a lower end, and what it
/// took so far.
fn unfinished(rough: f64, spent: f64) -> Seconds {
    Seconds { open: true, ..Seconds::exactly(spent.max(rough / 2.0)) }
}

/// What the first of so many samples may take on one of some threads, if all are to end by then and have `work`
/// together; `None` if the time is up.
fn share(
    now: Instant,
    until: Instant,
    work: Duration,
    samples: usize,
    threads: usize,
) -> Option<Limit> {
    let left = until.checked_duration_since(now).filter(|left| !left.is_zero())?;
    let (samples, threads) = (samples.max(1) as f64, threads.max(1) as f64);
    let wall = left.mul_f64((threads / samples).min(1.0));
    Some(Limit { work: work.div_f64(samples).min(wall), until: now + wall })
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
fn together(plan: &Plan, kinds: &Kinds, strategies: &[String], told: &Told) -> Estimate {
    let in_order = || kinds.keys().filter_map(|kind| told.samples.get(kind));
    let of_others = Cost::mean(in_order().map(|sample| sample.cost));
    let others = kinds.len() - in_order().count();
    let copies = f64::from(plan.grid.copies());
    // By cells themselves, or once for all of a copy of a trace under a scheduler.
    let by = |sample: &Sample, each| sample.scheduling.is_some_and(|one| one.each == each);
    let whole = |pair: &[usize; 2]| told.schedules.get(pair).copied().unwrap_or_default();
    let once = told.samples.iter().filter(|(_, sample)| by(sample, false));
    let once: BTreeSet<[usize; 2]> = once.map(|(kind, _)| [kind[0], kind[1]]).collect();
    let schedules = once.iter().map(whole).reduce(Seconds::and).unwrap_or_default();
    let open = told.schedules.values().any(|schedule| schedule.open)
        || of_others.is_some_and(|cost| cost.of(1).open);
    let (mut all, mut longest) = (Seconds::default(), Seconds::default());
    let (mut unsampled, mut copied) = (0, HashSet::new());
    let of_kind = |(kind, runs): (&[usize; 3], &Vec<u32>)| {
        let jobs = plan.jobs(runs[0]);
        let of_sample = |sample: &Sample| match by(sample, true) {
            true => sample.cost.of(jobs).and(whole(&[kind[0], kind[1]])),
            false => sample.cost.of(jobs),
        };
        let each = told.samples.get(kind).map(of_sample);
        // Nothing is known of those without a window, so that a sum of least values has nothing of them.
        let as_others = || of_others.filter(|_| !open).map(|cost| cost.of(jobs).mean_of(others));
        if let Some(of_a_cell) = each.or_else(as_others) {
            all = all.and(of_a_cell.times(runs.len() as f64));
            longest = longest.beside(of_a_cell);
        }
        if let (Some(&made), true) = (told.copies.get(&kind[0]), copied.insert(kind[0])) {
            all = all.and(Seconds::exactly(made).widened().times(copies));
        }
        unsampled += if each.is_none() { runs.len() } else { 0 };
        let strategy = strategies[kind[2]].clone();
        KindEstimate { first: runs[0], strategy, cells: runs.len(), jobs, each }
    };
    let kinds: Vec<_> = kinds.iter().map(of_kind).collect();
    let all = all.and(schedules.times(1.0 + copies));
    let cells = kinds.iter().map(|kind| kind.cells).sum::<usize>();
    let threads = rayon::current_num_threads().min(cells).max(1);
    // No cell runs on two threads.
    let elapsed = of_others.map(|_| all.times(1.0 / threads as f64).beside(longest));
    let samples = || told.samples.values();
    let shortest = samples().map(|sample| sample.counted).min();
    Estimate {
        windows: samples().map(|sample| sample.windows).sum(),
        short: shortest.filter(|&jobs| jobs < ENOUGH),
        as_one: told.as_one.max(1),
        unsampled,
        all: of_others.map(|_| all),
        elapsed,
        threads,
        kinds,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Scheduling;
    use super::*;
    use replay_core::workload::{Policy, Window, Workload};
    use replay_experiment::grid::ParameterGrid;

    const GRID: &str = "placements = false\nschedulers = ['fcfs', 'easy']\n[[allocator]]\nname = 'mc1x1'\n\
        order = ['scan', 'greedy']\ntie = { sr = '1..3', af = '0..2', wf = '0..2', bf = '1' }\n\
        [[allocator]]\nname = 'random'\n";

    fn plan() -> (Plan, Vec<Arc<Trace>>) {
        plan_of(GRID)
    }

    fn plan_of(grid: &str) -> (Plan, Vec<Arc<Trace>>) {
        let jobs: String = (1..=40).map(|n| format!("{n} {n} -1 9 4\n")).collect();
        let swf = format!("; MaxProcs: 16\n{jobs}");
        let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
        let workload =
            Workload::from_reader(swf.as_bytes(), "t.swf", policy, window, Default::default());
        let grid = ParameterGrid::parse(grid, "grid.toml").expect("a grid");
        let machine = "4x4".parse().expect("a machine");
        let workload = Arc::new(workload.expect("a trace"));
        let trace = Trace::new(workload, machine, "johnson", &grid.schedulers);
        let traces = vec![Arc::new(trace)];
        (Plan::new(grid, &traces, crate::cli::build::this()).expect("a plan"), traces)
    }

    fn sample(of_a_job: f64, counted: usize) -> Sample {
        let (set_up, job) = (Seconds::default(), Seconds::exactly(of_a_job));
        let scheduling = Some(Scheduling { job: 0.0, each: false });
        Sample { cost: Cost { set_up, job }, scheduling, windows: 3, counted }
    }

    fn told<const N: usize>(samples: [([usize; 3], Sample); N]) -> Told {
        Told { samples: HashMap::from(samples), ..Told::default() }
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
        let none = together(&plan, &kinds, &names, &told([]));
        assert!(none.all.is_none() && none.elapsed.is_none());
        assert_eq!((none.unsampled, none.as_one), (cells.len(), 1));
        // One kind is known: all others count as it does.
        let one = told([([0, 0, 2], sample(0.5, 8))]);
        let estimate = together(&plan, &kinds, &names, &one);
        assert_eq!(estimate.all, Some(Seconds::exactly(0.5 * 39.0 * cells.len() as f64)));
        assert_eq!((estimate.unsampled, estimate.short), (cells.len() - 1, Some(8)));
        assert_eq!(estimate.kinds[2].all(), Some(Seconds::exactly(19.5)));
        // Without an upper end of one, a sum of least values has nothing of others.
        let mut open = sample(0.5, 8);
        open.cost.job.open = true;
        let estimate = together(&plan, &kinds, &names, &told([([0, 0, 2], open)]));
        assert_eq!(estimate.all.map(|all| (all.open, all.least)), Some((true, 19.5)));
        // One cell of a thousand times the cost is all that counts, on however many threads.
        let mut every = told([]);
        every.samples = kinds.keys().map(|&kind| (kind, sample(0.0, usize::MAX))).collect();
        every.samples.insert([0, 1, 2], sample(1.0, usize::MAX));
        let estimate = together(&plan, &kinds, &names, &every);
        assert_eq!(estimate.all, Some(Seconds::exactly(39.0)));
        assert_eq!(estimate.elapsed, Some(Seconds::exactly(39.0)));
        assert_eq!((estimate.unsampled, estimate.short, estimate.windows), (0, None, 18));
        // A schedule counts once for all its cells.
        every.schedules = HashMap::from([([0, 0], Seconds::exactly(5.0))]);
        assert_eq!(together(&plan, &kinds, &names, &every).all, Some(Seconds::exactly(44.0)));
        // And in the row of each cell that makes its own.
        let own = every.samples.get_mut(&[0, 0, 2]).expect("a sample");
        own.scheduling = Some(Scheduling { job: 0.0, each: true });
        let estimate = together(&plan, &kinds, &names, &every);
        assert_eq!(estimate.kinds[2].all(), Some(Seconds::exactly(5.0)));
        assert_eq!(estimate.all, Some(Seconds::exactly(49.0)));
    }

    #[test]
    fn strategies_that_tune_their_vector_are_a_kind() {
        let grid = "[[allocator]]\nname = 'mc1x1'\ntie = ['1,2,3,4', 'none', 'auto', '4,3,2,1']\n";
        let (plan, _) = plan_of(grid);
        let cells: Vec<u32> = (0..plan.len()).collect();
        let (kinds, names) = kinds(&plan, &cells).expect("kinds");
        assert_eq!(names, ["mc1x1", "mc1x1[tie=auto]"]);
        assert_eq!(kinds.values().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn the_budget_is_shared_out() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let end = now + 4 * second;
        let of = |work: Duration, samples, threads| share(now, end, work, samples, threads);
        let limit = of(2 * second, 4, 1).expect("time");
        assert_eq!((limit.work, limit.until), (second / 2, now + second));
        // On two threads each sample lasts twice as long, and none works longer than it lasts.
        let limit = of(2 * second, 4, 2).expect("time");
        assert_eq!((limit.work, limit.until), (second / 2, now + 2 * second));
        assert_eq!(of(9 * second, 2, 8).expect("time").work, 4 * second);
        assert!(share(end, end, second, 3, 1).is_none());
        assert!(share(end + second, end, second, 3, 1).is_none());
    }
}
