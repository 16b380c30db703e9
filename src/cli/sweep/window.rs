//! What a job of a cell costs, from windows of its jobs.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::seconds::Seconds;
use crate::experiment::{Cell, CellError, Measure, Watch, run_cell, run_together};
use crate::stop::Stop;

/// Jobs of the first windows.
const FEWEST: usize = 8;

/// From so many jobs on a window is long enough to fill its machine.
pub const ENOUGH: usize = 128;

/// How much larger each further size is.
const GROWTH: usize = 4;

/// Where it takes long to set a cell up, sampling it may take so many times as long, and up to this part of
/// the time that is left.
const SET_UPS: u32 = 2;
const PART: u32 = 8;

/// Where windows begin, as shares of the jobs that they leave.
const PLACES: [f64; 3] = [0.5, 0.15, 0.85];

/// Runs windows of cells that are done as one.
pub struct Sampler {
    /// At least one, all on one trace under one scheduler.
    cells: Vec<(u32, Cell)>,
    measure: Measure,
    /// Nothing begins after this, and nothing goes on, unless it takes long to set cells up.
    end: Instant,
    /// The same, however long it takes.
    last: Instant,
}

/// What a cell takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// To make its machine and its strategy, with a first job.
    pub set_up: Seconds,
    /// To place each further job.
    pub job: Seconds,
}

impl Cost {
    /// Of so many jobs.
    pub fn of(&self, jobs: u64) -> Seconds {
        self.set_up.and(self.job.times(jobs as f64))
    }

    /// The mean of some; `None` of none.
    pub fn mean(all: impl Iterator<Item = Cost> + Clone) -> Option<Self> {
        let set_up = Seconds::mean(all.clone().map(|cost| cost.set_up))?;
        Some(Self { set_up, job: Seconds::mean(all.map(|cost| cost.job))? })
    }
}

/// What the windows told.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What one cell takes.
    pub cost: Cost,
    /// What a job costs to schedule where that is done once for all cells.
    pub scheduling: f64,
    /// Windows that ran.
    pub windows: usize,
    /// Jobs of the windows that count, `usize::MAX` if they are all.
    pub counted: usize,
}

/// What a window took, in seconds of a processor.
#[derive(Clone, Copy)]
struct Took {
    /// In one cell, without its schedule.
    cell: f64,
    /// To schedule it, once for all cells.
    scheduling: f64,
}

impl Sampler {
    /// Samples these until `end`, or longer, but no longer than until `last`, where so much time is
    /// little beside that of a set-up; `None` without a cell.
    pub fn new(
        cells: Vec<(u32, Cell)>,
        measure: Measure,
        end: Instant,
        last: Instant,
    ) -> Option<Self> {
        (!cells.is_empty()).then_some(Self { cells, measure, end: end.min(last), last })
    }

    /// What a cell takes.
    pub fn sample(&self) -> Sample {
        let jobs = self.cells[0].1.trace.workload.jobs.len();
        let (begin, now) = (busy(), Instant::now());
        let part = self.last.saturating_duration_since(now) / PART;
        let one = jobs / 2..jobs / 2 + 1.min(jobs);
        let Some(cold) = self.window(one.clone(), self.end.max(now + part)) else {
            return self.unfinished(busy() - begin, 0.0, one.len(), 1);
        };
        let end = self.end.max(now + part.min(now.elapsed() * SET_UPS));
        // The first time memory and code are fetched, too.
        let warm = self.window(one, end).map_or(cold.cell, |warm| warm.cell);
        let set_up = cold.cell.min(warm);
        let (mut size, mut windows) = (FEWEST.min(jobs), 2);
        let mut before: Option<Sample> = None;
        loop {
            let (begin, mut of_size) = (busy(), Vec::new());
            for place in PLACES {
                let first = ((jobs - size) as f64 * place) as usize;
                let window = Instant::now();
                windows += 1;
                let Some(took) = self.window(first..first + size, end) else { break };
                of_size.push(took);
                // The last size that has a window counts; three tell more than one.
                let left = end.saturating_duration_since(window);
                if size == jobs || window.elapsed() > left / 2 {
                    break;
                }
            }
            if of_size.is_empty() {
                let unfinished = || self.unfinished(busy() - begin, set_up, size, windows);
                return before.map_or_else(unfinished, |sample| Sample { windows, ..sample });
            }
            let sample = summary(&of_size, set_up, size, windows);
            if size == jobs {
                return Sample { counted: usize::MAX, ..sample };
            }
            if Instant::now() >= end {
                return sample;
            }
            before = Some(sample);
            size = (GROWTH * size).min(jobs);
        }
    }

    /// Where not even the first window came to its end, in all that time.
    fn unfinished(&self, took: Duration, set_up: f64, size: usize, windows: usize) -> Sample {
        let each = took.as_secs_f64() / self.cells.len() as f64;
        let open = |seconds: f64| Seconds { open: true, ..Seconds::exactly(seconds) };
        let cost = match size {
            // Time went by before the second job.
            0 | 1 => Cost { set_up: open(each), job: open(0.0) },
            _ => Cost {
                set_up: Seconds::exactly(set_up).widened(),
                job: open((each - set_up).max(0.0) / size as f64),
            },
        };
        Sample { cost, scheduling: 0.0, windows, counted: size }
    }

    /// What these jobs take on an empty machine; `None` if the time is up.
    fn window(&self, jobs: Range<usize>, end: Instant) -> Option<Took> {
        let all = &self.cells[0].1.trace;
        let trace = Arc::new(all.with_jobs(all.workload.jobs[jobs].to_vec()));
        let in_window =
            |(run, cell): &(u32, Cell)| (*run, Cell { trace: trace.clone(), ..cell.clone() });
        let cells: Vec<_> = self.cells.iter().map(in_window).collect();
        let stop = Stop::new().until(end);
        let watch = Watch::new(&stop);
        let (begin, busy_before) = (Instant::now(), busy());
        let outcomes = run_together(&cells, self.measure, watch)
            .unwrap_or_else(|| vec![run_cell(0, &cells[0].1, self.measure, watch)]);
        let (elapsed, took) = (begin.elapsed().as_secs_f64(), (busy() - busy_before).as_secs_f64());
        // What fails costs what it costs.
        let stopped =
            |outcome: &Result<_, CellError>| outcome.as_ref().is_err_and(CellError::is_stopped);
        if outcomes.iter().any(stopped) {
            return None;
        }
        // A schedule knows how long it took by the clock on the wall.
        let schedule = trace.scheduled(&cells[0].1.scheduler);
        let scheduling = schedule.map_or(0.0, |schedule| schedule.took.as_secs_f64());
        let share = (scheduling / elapsed.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let cell = took * (1.0 - share) / outcomes.len().max(1) as f64;
        Some(Took { cell, scheduling: took * share })
    }
}

impl Sample {
    /// What many cells take that are done as one, of which this tells as long as they do the same, and
    /// `few` as far as these do: more do the same more often, but not always. In the geometric middle, as
    /// nobody knows when they part.
    pub fn of_more(self, few: Self) -> Self {
        let (many, few) = (self, few);
        let between = |many: Seconds, few: Seconds| match many.open {
            true => Seconds { least: many.least.min(few.least), ..few },
            false => Seconds {
                usual: (many.usual * few.usual).sqrt(),
                least: many.least.min(few.least),
                most: many.most.max(few.most),
                open: few.open,
            },
        };
        let set_up = if many.cost.set_up.open { few.cost.set_up } else { many.cost.set_up };
        let cost = Cost { set_up, job: between(many.cost.job, few.cost.job) };
        let (windows, counted) = (many.windows + few.windows, many.counted.max(few.counted));
        Self { cost, windows, counted, scheduling: few.scheduling }
    }
}

/// What these windows of a size tell.
fn summary(all: &[Took], set_up: f64, size: usize, windows: usize) -> Sample {
    let jobs = size.max(1) as f64;
    let job = all.iter().map(|took| {
        // The first job came with the set-up; how long that takes each time differs.
        let least = (took.cell - set_up).max(0.0) / (jobs - 1.0).max(1.0);
        let most = (took.cell / jobs).max(least);
        // In a window that is nearly all set-up jobs cannot be told from it: anything between the two.
        let usual = if 2.0 * least < most { (least + most) / 2.0 } else { least };
        Seconds { usual, least, most, open: false }
    });
    let mean = |of: fn(&Took) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    let job = Seconds::mean(job).unwrap_or_default().widened();
    let cost = Cost { set_up: Seconds::exactly(set_up).widened(), job };
    Sample { cost, scheduling: mean(|took| took.scheduling) / jobs, windows, counted: size }
}

/// For how long a processor has worked on this thread: others that work on the machine do not count.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Trace;
    use crate::scheduler::registry::SchedulerSpec;
    use crate::workload::{Policy, Window, Workload};

    fn cell(jobs: usize) -> Cell {
        let jobs: String = (1..=jobs).map(|n| format!("{n} {n} -1 9 4\n")).collect();
        let swf = format!("; MaxProcs: 16\n{jobs}");
        let (policy, window) = (&Policy::JOHNSON, &Window::ALL);
        let workload =
            Workload::from_reader(swf.as_bytes(), "t.swf", policy, window, Default::default());
        let scheduler = SchedulerSpec::fcfs();
        let (workload, machine) = (workload.expect("a trace"), "4x4".parse().expect("a machine"));
        let trace =
            Trace::new(Arc::new(workload), machine, "johnson", std::slice::from_ref(&scheduler));
        let allocator = "mc1x1".parse().expect("a strategy");
        Cell { trace: Arc::new(trace), scheduler, allocator, seed: 0 }
    }

    fn sampler(jobs: usize, time: Duration) -> Sampler {
        let end = Instant::now() + time;
        let sampler = Sampler::new(vec![(0, cell(jobs))], Measure::default(), end, end);
        sampler.expect("a cell")
    }

    #[test]
    fn all_jobs_of_a_small_trace_are_a_window() {
        for jobs in [1, 5, 60] {
            let sample = sampler(jobs, Duration::from_secs(60)).sample();
            let Cost { set_up, job } = sample.cost;
            assert_eq!(sample.counted, usize::MAX, "{jobs}");
            assert!(!set_up.open && !job.open && set_up.usual > 0.0, "{sample:?}");
            assert!(job.least <= job.usual && job.usual <= job.most, "{sample:?}");
        }
    }

    #[test]
    fn without_time_nothing_but_a_lower_end_is_known() {
        let sample = sampler(60, Duration::ZERO).sample();
        assert!(sample.cost.of(60).open && sample.windows == 1, "{sample:?}");
        assert!(
            Sampler::new(Vec::new(), Measure::default(), Instant::now(), Instant::now()).is_none()
        );
    }

    #[test]
    fn what_a_job_costs_is_above_what_the_set_up_took() {
        let took = |cell| Took { cell, scheduling: 0.5 };
        let sample = summary(&[took(3.0), took(5.0)], 1.0, 5, 2);
        assert_eq!((sample.cost.job.usual, sample.scheduling), (0.75, 0.1));
        assert!(sample.cost.job.least < 0.5 && sample.cost.job.most > 1.0);
        // A set-up that took longer than a window with it.
        let sample = summary(&[took(1.0)], 2.0, 5, 1);
        let Seconds { usual, least, most, .. } = sample.cost.job;
        assert_eq!((least, usual), (0.0, 0.1));
        assert!(most >= 0.2);
    }

    #[test]
    fn many_cells_done_as_one_cost_between_what_two_samples_say() {
        let sample = |usual: f64, open: bool| {
            let job = Seconds { open, ..Seconds::exactly(usual) };
            let cost = Cost { set_up: Seconds::exactly(1.0), job };
            Sample { cost, scheduling: usual, windows: 2, counted: usual as usize }
        };
        let both = sample(1.0, false).of_more(sample(9.0, false));
        let job = Seconds { usual: 3.0, least: 1.0, most: 9.0, open: false };
        assert_eq!((both.cost.job, both.windows, both.counted), (job, 4, 9));
        // Few that came to their end are an upper end also where many did not.
        let job = sample(1.0, true).of_more(sample(9.0, false)).cost.job;
        assert_eq!(job, Seconds { usual: 9.0, least: 1.0, most: 9.0, open: false });
        assert!(sample(1.0, false).of_more(sample(9.0, true)).cost.job.open);
    }
}
