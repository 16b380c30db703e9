use std::time::{Duration, Instant};

use crate::stop::Stop;

/// How a long computation is watched, and ended early.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Once raised, what is running fails as stopped.
    pub stop: &'a Stop,
    /// Called with the number of jobs that are done with.
    pub jobs_done: &'a (dyn Fn(u64) + Sync),
    /// Told by every cell when its first job has processors, and now and then once it has run
    /// for [`SAMPLE`], what all of it will take.
    pub forecast: &'a (dyn Fn(Forecast) + Sync),
}

impl<'a> Watch<'a> {
    /// Ended by this flag; nobody looks on.
    pub fn new(stop: &'a Stop) -> Self {
        Self { stop, jobs_done: &|_| {}, forecast: &|_| {} }
    }
}

/// A cell that ends sooner needs no forecast, and from less time none can be made.
pub const SAMPLE: Duration = Duration::from_secs(1);

/// What the first jobs of a cell tell of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forecast {
    /// Jobs that have processors.
    pub started: u64,
    /// All jobs of the cell.
    pub jobs: u64,
    /// What those have taken.
    pub elapsed: Duration,
}

impl Forecast {
    /// What all take, if the others take as long as these.
    pub fn whole(self) -> Duration {
        self.elapsed.mul_f64(self.jobs as f64 / self.started.max(1) as f64)
    }
}

/// Counts the jobs of a cell and looks at the clock ever less often: the cost is a comparison
/// a job.
pub struct Pace<'a> {
    forecast: &'a (dyn Fn(Forecast) + Sync),
    jobs: u64,
    started: u64,
    next: u64,
    begin: Instant,
}

impl<'a> Pace<'a> {
    /// A cell of so many jobs begins.
    pub fn new(watch: Watch<'a>, jobs: usize) -> Self {
        let begin = Instant::now();
        Self { forecast: watch.forecast, jobs: jobs as u64, started: 0, next: 1, begin }
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
        // Twice as many at last: the forecast is not older than half of what was done.
        self.next += self.next.div_ceil(4);
        let elapsed = self.begin.elapsed();
        if self.started == 1 || elapsed >= SAMPLE && self.started < self.jobs {
            (self.forecast)(Forecast { started: self.started, jobs: self.jobs, elapsed });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_forecast_is_made_of_what_was_done() {
        let told = Mutex::new(Vec::new());
        let forecast = |forecast: Forecast| told.lock().expect("one thread").push(forecast);
        let stop = Stop::new();
        let watch = Watch { forecast: &forecast, ..Watch::new(&stop) };
        let mut pace = Pace::new(watch, 1000);
        // As if it had begun long ago.
        pace.begin = Instant::now().checked_sub(Duration::from_secs(100)).expect("a clock");
        (0..1000).for_each(|_| pace.started());
        let told = std::mem::take(&mut *told.lock().expect("one thread"));
        assert_eq!((told[0].started, told[0].jobs), (1, 1000));
        assert!(told[0].whole() >= Duration::from_secs(100_000));
        assert!(told.len() < 40 && told.iter().all(|one| one.started < 1000));
        // Of what is quick nobody hears but that it has begun.
        let begun = |forecast: Forecast| assert_eq!(forecast.started, 1);
        let mut pace = Pace::new(Watch { forecast: &begun, ..watch }, 1000);
        (0..1000).for_each(|_| pace.started());
    }
}
