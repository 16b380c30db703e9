use std::time::{Duration, Instant};

use replay_core::cancel::CancelToken;

/// How a long computation is watched, and ended early.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// Once raised, what is running fails as stopped.
    pub stop: &'a CancelToken,
    /// Called with the number of jobs that are done with.
    pub jobs_done: &'a (dyn Fn(u64) + Sync),
    /// RecordedDecision by every cell when its first job has processors, and now and then once it has run
    /// for [`SAMPLE`], what all of it will take.
    pub forecast: &'a (dyn Fn(Eta) + Sync),
    /// Called by [`run_plan`](crate::sweep::run_plan) with a run, the number of its jobs that have started since the last
    /// call, and the time that they took. Runs that are replayed as one count as the first of them.
    pub run_jobs: &'a (dyn Fn(u32, u64, Duration) + Sync),
}

impl<'a> RunContext<'a> {
    /// Ended by this flag; nobody looks on.
    pub fn new(stop: &'a CancelToken) -> Self {
        Self { stop, jobs_done: &|_| {}, forecast: &|_| {}, run_jobs: &|_, _, _| {} }
    }
}

/// A cell that ends sooner needs no forecast, and from less time none can be made.
pub const SAMPLE: Duration = Duration::from_secs(1);

/// What the first jobs of a cell tell of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eta {
    /// Jobs that have processors.
    pub started: u64,
    /// All jobs of the cell.
    pub jobs: u64,
    /// What those have taken.
    pub elapsed: Duration,
}

impl Eta {
    /// What all take, if the others take as long as these.
    pub fn whole(self) -> Duration {
        self.elapsed.mul_f64(self.jobs as f64 / self.started.max(1) as f64)
    }
}

/// So many jobs are told at once.
const CHUNK: u64 = 1 << 12;

/// Counts the jobs of a cell and looks at the clock ever less often: the cost is a comparison
/// a job.
pub struct ProgressMeter<'a> {
    watch: RunContext<'a>,
    jobs: u64,
    started: u64,
    /// When to look next, and when at the clock.
    next: u64,
    next_forecast: u64,
    begin: Instant,
    /// Jobs of which the watch has heard, if it hears of them as they start.
    told: Option<u64>,
}

impl<'a> ProgressMeter<'a> {
    /// A cell of so many jobs begins.
    pub fn new(watch: RunContext<'a>, jobs: usize) -> Self {
        let begin = Instant::now();
        let (jobs, started) = (jobs as u64, 0);
        Self { watch, jobs, started, next: 1, next_forecast: 1, begin, told: None }
    }

    /// The same, and whoever watches hears of jobs [done with](RunContext::jobs_done) when they have processors.
    pub fn counted(self) -> Self {
        Self { told: Some(0), ..self }
    }

    /// One more job has processors.
    #[inline]
    pub fn started(&mut self) {
        self.started += 1;
        if self.started == self.next {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        if self.started == self.next_forecast {
            // Twice as many at last: the forecast is not older than half of what was done.
            self.next_forecast += self.next_forecast.div_ceil(4);
            let elapsed = self.begin.elapsed();
            if self.started == 1 || elapsed >= SAMPLE && self.started < self.jobs {
                let Self { started, jobs, .. } = *self;
                (self.watch.forecast)(Eta { started, jobs, elapsed });
            }
        }
        self.tell();
        let soon = self.told.map_or(u64::MAX, |_| self.started + CHUNK);
        self.next = self.next_forecast.min(soon);
    }

    fn tell(&mut self) {
        if let Some(told) = &mut self.told {
            (self.watch.jobs_done)(self.started - *told);
            *told = self.started;
        }
    }
}

impl Drop for ProgressMeter<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_forecast_is_made_of_what_was_done() {
        let told = Mutex::new(Vec::new());
        let forecast = |forecast: Eta| told.lock().expect("one thread").push(forecast);
        let stop = CancelToken::new();
        let watch = RunContext { forecast: &forecast, ..RunContext::new(&stop) };
        let mut pace = ProgressMeter::new(watch, 1000);
        // As if it had begun long ago.
        pace.begin = Instant::now().checked_sub(Duration::from_secs(100)).expect("a clock");
        (0..1000).for_each(|_| pace.started());
        let told = std::mem::take(&mut *told.lock().expect("one thread"));
        assert_eq!((told[0].started, told[0].jobs), (1, 1000));
        assert!(told[0].whole() >= Duration::from_secs(100_000));
        assert!(told.len() < 40 && told.iter().all(|one| one.started < 1000));
        // Of what is quick nobody hears but that it has begun.
        let begun = |forecast: Eta| assert_eq!(forecast.started, 1);
        let mut pace = ProgressMeter::new(RunContext { forecast: &begun, ..watch }, 1000);
        (0..1000).for_each(|_| pace.started());
    }

    #[test]
    fn all_jobs_are_counted_and_soon() {
        let told = Mutex::new(Vec::new());
        let jobs_done = |jobs| told.lock().expect("one thread").push(jobs);
        let stop = CancelToken::new();
        let watch = RunContext { jobs_done: &jobs_done, ..RunContext::new(&stop) };
        let all = 10 * CHUNK + 7;
        let mut pace = ProgressMeter::new(watch, all as usize).counted();
        (0..all - 1).for_each(|_| pace.started());
        let before: u64 = told.lock().expect("one thread").iter().sum();
        assert!(before > all - 2 * CHUNK, "{before}");
        pace.started();
        drop(pace);
        let told = told.into_inner().expect("one thread");
        assert_eq!(told.iter().sum::<u64>(), all);
        assert!(told.iter().all(|&jobs| jobs <= CHUNK) && told.len() < 80);
        // Nobody else hears of them.
        let silent = |_| panic!("it was told");
        let watch = RunContext { jobs_done: &silent, ..RunContext::new(&stop) };
        ProgressMeter::new(watch, 1).started();
    }
}
