//! What a job of a cell costs, from windows of its jobs.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::seconds::{Cost, Seconds};
use super::window::{ALONE, Costs, Course, Windows, of_all};
use replay_core::allocator::{Allocator, Refusal, Request, RunSetup};
use replay_core::machine::Machine;
use replay_core::stop::{Stop, worked};
use replay_experiment::{Cell, Measure, is_coupled};

/// Jobs of the first window; of a longer one that was stopped so many have to have processors, or it tells
/// a lower end alone.
const FEWEST: usize = 8;

/// What a window took tells what one takes that is no more than so many times as long.
const TRUSTED: usize = 16;

/// Where windows begin, as shares of the jobs that they leave. Time is planned for the first of them; the others
/// run while some is left.
const PLACES: [f64; 10] = [0.5, 0.1, 0.9, 0.3, 0.7, 0.0, 0.4, 0.8, 0.2, 0.6];
const FIRST: usize = 5;

/// This part of the time is planned for; what is planned may take longer.
const PLANNED: f64 = 0.8;

/// Where it takes long to make a strategy, sampling it may take twice as long, up to this part of the time that all
/// kinds have. It takes long if it takes that part of its own time.
const PART: u32 = 8;

/// A decision of a strategy that took long to make has so long in any case: without it nothing is known.
const DECISION: Duration = Duration::from_millis(100);

/// How long something may take.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// In time of the thread.
    pub work: Duration,
    /// By the clock on the wall: others may work on the machine.
    pub until: Instant,
}

impl Limit {
    /// The flag that keeps it, for this thread alone.
    pub fn stop(self) -> Stop {
        Stop::new().after_work(self.work, self.until)
    }

    /// At least so much, of what there is.
    fn at_least(self, work: Duration, all: Limit) -> Self {
        let now = Instant::now();
        let left = all.until.saturating_duration_since(now);
        let until = self.until.max(now + work.min(left / PART));
        Self { work: self.work.max(work.min(all.work / PART)), until }
    }
}

/// Runs windows of cells that are done as one.
pub struct Sampler<'a> {
    /// At least one, all on one trace under one scheduler.
    pub cells: Vec<(u32, Cell)>,
    /// What they measure.
    pub measure: Measure,
    /// Those of all kinds.
    pub windows: &'a Windows,
    /// What these cells may take, and what all kinds may.
    pub limits: [Limit; 2],
}

/// To schedule jobs as if processors were only counted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scheduling {
    /// What a job costs.
    pub job: f64,
    /// Whether each cell does it, and not one for all.
    pub each: bool,
}

/// Who schedules the jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheduled {
    /// One for all cells.
    Once,
    /// Each cell as it runs, which comes to the same.
    Each,
    /// Each cell as it runs, and its strategy changes when jobs start.
    Inside,
}

/// What the windows told.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What one cell takes.
    pub cost: Cost,
    /// What scheduling costs, where it is a thing of its own.
    pub scheduling: Option<Scheduling>,
    /// Windows that ran.
    pub windows: usize,
    /// Jobs of the shortest window that counts, `usize::MAX` if one has all.
    pub counted: usize,
}

/// Decisions about jobs on an empty machine.
#[derive(Default)]
struct Decisions {
    /// How many came to their end.
    ended: usize,
    /// What all took, and the last one, whether it ended or not.
    all: Duration,
    last: Duration,
}

/// A sample in the making.
struct Making {
    by: Scheduled,
    /// Whether the strategy goes by what it has seen, and so may decide faster later.
    learns: bool,
    /// Seconds to make the strategy.
    made: f64,
    limit: Limit,
    begin: Duration,
    windows: usize,
    /// By window: its jobs and what it took to schedule them.
    scheduled: Vec<(usize, f64)>,
    set_ups: Vec<f64>,
}

impl Sampler<'_> {
    /// What a cell takes.
    pub fn sample(&self) -> Sample {
        let begin = worked();
        let cell = &self.cells[0].1;
        let jobs = cell.trace.workload.jobs.len();
        let built = cell.allocator.build(&cell.trace.topology, cell.seed);
        let made = worked() - begin;
        // What cannot be made is not replayed either.
        let by = built.as_ref().map_or(Scheduled::Inside, |built| scheduled(cell, built.as_ref()));
        let learns = built.as_ref().is_ok_and(|built| !built.capabilities().forgets_when_empty);
        let [own, all] = self.limits;
        let limit = own.at_least(made * 2, all);
        let (scheduled, set_ups) = (Vec::new(), Vec::new());
        let (windows, made_in) = (0, made.as_secs_f64());
        let mut making =
            Making { by, learns, made: made_in, limit, begin, windows, scheduled, set_ups };
        let long = made > own.work / PART;
        // A window would make it once more. What goes by more than free processors is not asked alone.
        if let (true, Ok(built)) = (long && by == Scheduled::Once, built) {
            let Decisions { ended, all, last } = making.decisions(cell, built);
            if ended < 2 || making.left() < made + 2 * all {
                return making.lower_end(all.as_secs_f64(), last.as_secs_f64(), ended);
            }
        }
        let mut size = FEWEST.min(jobs);
        let mut course = self.run(&mut making, at(0.5, size, jobs), 1);
        loop {
            if size == jobs || !course.ended {
                return making.told(&[course], jobs);
            }
            let (next, places) = making.next(&course, jobs);
            if places > 1 {
                let courses = self.run_all(&mut making, next, course, jobs);
                return making.told(&courses, jobs);
            }
            let further = self.run(&mut making, at(0.5, next, jobs), 1);
            if further.placed() < course.placed() {
                // What has come further tells more.
                return making.told(&[course], jobs);
            }
            (course, size) = (further, next);
        }
    }

    /// Windows of a size from all places, of which `known` may be one; it alone if none of them tells anything.
    fn run_all(&self, making: &mut Making, size: usize, known: Course, jobs: usize) -> Vec<Course> {
        let mut courses = Vec::new();
        for (done, place) in PLACES.into_iter().enumerate() {
            if done == 0 && known.jobs == size {
                courses.push(known.clone());
                continue;
            }
            let planned = FIRST.saturating_sub(done).max(1);
            let dearest = courses.iter().map(|course: &Course| course.took).fold(0.0, f64::max);
            if done >= FIRST && making.left().as_secs_f64() < dearest {
                break;
            }
            let course = self.run(making, at(place, size, jobs), planned);
            if course.placed() >= FEWEST as f64 {
                courses.push(course);
            }
        }
        if courses.is_empty() {
            courses.push(known);
        }
        courses
    }

    /// What these jobs take on an empty machine, the first of so many windows.
    fn run(&self, making: &mut Making, jobs: Range<usize>, of: usize) -> Course {
        let now = Instant::now();
        let left = making.limit.until.saturating_duration_since(now);
        let work = making.left().div_f64(of as f64);
        let stop = Limit { work, until: now + left.div_f64(of as f64) }.stop();
        let (size, cell) = (jobs.len(), &self.cells[0].1);
        making.windows += 1;
        let window = self.windows.of(&cell.trace, jobs);
        if making.by != Scheduled::Inside {
            let Some(took) = window.schedule(&cell.scheduler, &stop) else {
                return Course::unscheduled(size);
            };
            making.scheduled.push((size, took));
        }
        let course = window.run(&self.cells, self.measure, &stop);
        making.set_ups.extend(course.set_up());
        course
    }
}

impl Making {
    /// How long an allocator takes to decide about two jobs. With the first it may make tables; only the second tells
    /// of others.
    fn decisions(&self, cell: &Cell, mut built: Box<dyn Allocator>) -> Decisions {
        let (work, until) = (self.left().max(DECISION), Instant::now() + DECISION);
        let stop = Limit { work, until: self.limit.until.max(until) }.stop();
        let mut machine = Machine::new(cell.trace.topology.clone());
        let jobs = cell.trace.jobs();
        if built.begin(&RunSetup { jobs, stop, ..RunSetup::default() }).is_err() {
            return Decisions::default();
        }
        let mut decisions = Decisions::default();
        let begin = worked();
        for job in &jobs[jobs.len() / 2..] {
            let (before, mut nodes) = (worked(), Vec::new());
            let request = Request::shaped(job.size, job.shape);
            let decided = built.allocate(&machine, request, &mut nodes);
            (decisions.all, decisions.last) = (worked() - begin, worked() - before);
            if matches!(decided, Err(Refusal::Stopped(_))) {
                break;
            }
            decisions.ended += 1;
            if decisions.ended == 2 {
                break;
            }
            machine.occupy(&nodes);
        }
        decisions
    }

    /// What is known where few decisions were made in so many seconds, or none. What went by before the first tells
    /// nothing of others; another may be cheaper than the last as far as those of a single window may be, and twice as far again,
    /// as the machine was empty.
    fn lower_end(self, all: f64, last: f64, counted: usize) -> Sample {
        let open = |seconds: f64| Seconds { open: true, ..Seconds::exactly(seconds) };
        let (set_up, job) = match counted {
            0 => (open(self.made + all), open(0.0)),
            _ => (Seconds::exactly(self.made).widened(), open(last / ALONE.powi(3))),
        };
        let scheduling = self.of_its_own();
        Sample { cost: Cost { set_up, job }, scheduling, windows: self.windows, counted }
    }

    /// What is left to work.
    fn left(&self) -> Duration {
        self.limit.work.saturating_sub(worked() - self.begin)
    }

    /// What it takes to schedule a job.
    fn scheduling(&self) -> f64 {
        let (jobs, took) = self
            .scheduled
            .iter()
            .fold((0, 0.0), |(jobs, sum), &(size, took)| (jobs + size, sum + took));
        took / jobs.max(1) as f64
    }

    fn of_its_own(&self) -> Option<Scheduling> {
        let each = self.by == Scheduled::Each;
        (self.by != Scheduled::Inside).then(|| Scheduling { job: self.scheduling(), each })
    }

    /// How many jobs the next windows have, and how many of them there are, after one that came to its end.
    fn next(&self, course: &Course, jobs: usize) -> (usize, usize) {
        let late = course.costs().map_or(course.each(), |costs| costs.late);
        // Windows of cells that schedule are scheduled twice.
        let job = (late + self.scheduling()).max(f64::MIN_POSITIVE);
        let left = PLANNED * self.left().as_secs_f64();
        let each = |windows: usize| {
            let left = left / windows as f64 - course.set_up().unwrap_or(0.0);
            (left / job).clamp(0.0, jobs as f64) as usize
        };
        let trusted = TRUSTED * course.jobs;
        if each(1) == jobs {
            return (jobs.min(trusted), 1);
        }
        // Others have windows of the same sizes, that are cut out once.
        let mut size = course.jobs;
        while 2 * size <= each(FIRST).min(jobs / PLACES.len()) {
            size *= 2;
        }
        if size > trusted { (trusted, 1) } else { (size, FIRST) }
    }

    /// What these windows tell.
    fn told(self, courses: &[Course], jobs: usize) -> Sample {
        let whole = courses.iter().find(|course| course.ended && course.jobs == jobs);
        let scheduling = self.of_its_own();
        let (windows, made) = (self.windows, self.made);
        let inside = scheduling.filter(|scheduling| scheduling.each).map_or(0.0, |one| one.job);
        let told = |set_up: Seconds, job: Seconds, counted| {
            let cost = Cost { set_up: set_up.widened(), job: job.less(inside).widened() };
            Sample { cost, scheduling, windows, counted }
        };
        if let Some(all) = whole {
            let set_up = Seconds::exactly(all.set_up().unwrap_or(made));
            return told(set_up, Seconds::exactly(all.each()), usize::MAX);
        }
        // The first one found no memory and no code nearby.
        let warm = &self.set_ups[usize::from(self.set_ups.len() > 1)..];
        let set_up = Seconds::mean(warm.iter().copied().map(Seconds::exactly));
        let set_up = set_up.unwrap_or(Seconds::exactly(made));
        let counted = courses.iter().map(|course| course.placed() as usize).min().unwrap_or(0);
        let costs: Vec<Costs> = courses.iter().filter_map(Course::costs).collect();
        match courses {
            [one] if !one.ended && one.placed() < FEWEST as f64 => {
                let all = (one.took - made).max(0.0);
                self.lower_end(all, one.last_at_least(), counted)
            }
            _ => told(set_up, of_all(&costs, jobs, self.learns), counted),
        }
    }
}

/// Who schedules the jobs of a cell, whose allocator this is.
fn scheduled(cell: &Cell, allocator: &dyn Allocator) -> Scheduled {
    let alone = cell.trace.outages().is_empty() && !cell.allocator.recorded();
    match (is_coupled(cell, allocator), alone && allocator.capabilities().keeps_schedule) {
        (false, _) => Scheduled::Once,
        (true, true) => Scheduled::Each,
        (true, false) => Scheduled::Inside,
    }
}

/// So many jobs, from this share of the others on.
fn at(place: f64, size: usize, jobs: usize) -> Range<usize> {
    let first = ((jobs - size) as f64 * place) as usize;
    first..first + size
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use replay_core::scheduler::registry::SchedulerSpec;
    use replay_core::workload::{Policy, Window, Workload};
    use replay_experiment::Trace;

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

    fn sample(jobs: usize, time: Duration) -> Sample {
        let limit = Limit { work: time, until: Instant::now() + 2 * time };
        let (cells, windows) = (vec![(0, cell(jobs))], &Windows::default());
        let limits = [limit, limit];
        Sampler { cells, measure: Measure::default(), windows, limits }.sample()
    }

    #[test]
    fn all_jobs_of_a_small_trace_are_a_window() {
        for jobs in [1, 5, 60, 200] {
            let sample = sample(jobs, Duration::from_secs(60));
            let Cost { set_up, job } = sample.cost;
            assert_eq!(sample.counted, usize::MAX, "{jobs}");
            assert!(!set_up.open && !job.open && set_up.usual > 0.0, "{sample:?}");
            assert!(job.least <= job.usual && job.usual <= job.most, "{sample:?}");
            assert!(sample.scheduling.is_some(), "FCFS is done once");
        }
    }

    #[test]
    fn without_time_nothing_but_a_lower_end_is_known() {
        let sample = sample(60, Duration::ZERO);
        assert!(sample.cost.of(60).open && sample.windows == 0, "{sample:?}");
    }

    #[test]
    fn many_cells_done_as_one_cost_between_what_two_samples_say() {
        let sample = |usual: f64, open: bool| {
            let job = Seconds { open, ..Seconds::exactly(usual) };
            let cost = Cost { set_up: Seconds::exactly(1.0), job };
            let scheduling = Some(Scheduling { job: usual, each: false });
            Sample { cost, scheduling, windows: 2, counted: usual as usize }
        };
        let both = sample(1.0, false).of_more(sample(9.0, false));
        let job = Seconds { usual: 3.0, least: 1.0, most: 9.0, open: false };
        assert_eq!((both.cost.job, both.windows, both.counted), (job, 4, 9));
        // Few that came to their end are an upper end also where many did not.
        let job = sample(1.0, true).of_more(sample(9.0, false)).cost.job;
        assert_eq!(job, Seconds { usual: 9.0, least: 1.0, most: 9.0, open: false });
        assert!(sample(1.0, false).of_more(sample(9.0, true)).cost.job.open);
    }

    #[test]
    fn what_went_by_before_the_first_job_tells_nothing_of_others() {
        let lower_end = |last, counted| {
            let (work, until) = (Duration::ZERO, Instant::now());
            let (scheduled, set_ups) = (Vec::new(), Vec::new());
            let (limit, begin) = (Limit { work, until }, worked());
            let making = Making {
                by: Scheduled::Inside,
                learns: false,
                made: 1.0,
                limit,
                begin,
                windows: 1,
                scheduled,
                set_ups,
            };
            making.lower_end(9.0, last, counted).cost
        };
        // None was placed: no job is known, but all that time went by.
        let none = lower_end(9.0, 0).of(1000);
        assert!(none.open && none.least == 10.0, "{none:?}");
        let one = lower_end(8.0, 1);
        assert!(one.job.open && one.job.least == 1.0 && !one.set_up.open, "{one:?}");
    }
}
