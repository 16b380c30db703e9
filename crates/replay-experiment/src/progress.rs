use std::time::{Duration, Instant};

use replay_engine::cancel::CancelToken;

/// Receives the progress of a computation, from several threads. By default, nothing happens.
pub trait Watch: Sync {
    /// Called with the number of newly finished jobs.
    fn jobs_done(&self, _jobs: u64) {}

    /// Called by every cell when its first job has received processors, and repeatedly after the cell has run for
    /// [`SAMPLE`]. The argument is the progress of the cell, from which its total time can be estimated.
    fn forecast(&self, _eta: Eta) {}

    /// Called with the number of a cell of a grid, the number of its jobs that have started since the last call, and the
    /// time taken. For cells that are replayed together, the first argument is the number of the first of these cells.
    fn cell_jobs(&self, _cell: u32, _jobs: u64, _took: Duration) {}
}

/// Ignores the progress.
impl Watch for () {}

/// Cancellation and progress of a long computation.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// Cancels the computation, which then fails with a cancellation error.
    pub stop: &'a CancelToken,
    /// Receives the progress.
    pub watch: &'a dyn Watch,
}

impl<'a> RunContext<'a> {
    /// Creates a context with this cancellation token that ignores the progress.
    pub fn new(stop: &'a CancelToken) -> Self {
        Self { stop, watch: &() }
    }
}

/// Minimum elapsed time of a cell before its total time is estimated. Shorter cells need no estimate, and a shorter
/// sample is not sufficient for an estimate.
pub const SAMPLE: Duration = Duration::from_secs(1);

/// Progress of a cell, from which its total time is estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eta {
    /// Number of jobs that have received processors.
    pub started: u64,
    /// Number of all jobs of the cell.
    pub jobs: u64,
    /// Time elapsed since the cell began.
    pub elapsed: Duration,
}

impl Eta {
    /// Returns the estimated total time. The estimate assumes that each remaining job takes as long, on average, as the
    /// started jobs.
    pub fn whole(self) -> Duration {
        self.elapsed.mul_f64(self.jobs as f64 / self.started.max(1) as f64)
    }
}

/// Number of jobs per call of [`Watch::jobs_done`].
const CHUNK: u64 = 1 << 12;

/// Counts the started jobs of a cell and reads the clock at increasing intervals, so that the cost is one comparison
/// per job.
pub struct ProgressMeter<'a> {
    context: RunContext<'a>,
    jobs: u64,
    started: u64,
    /// Numbers of started jobs at which the next check (`next`) and the next forecast (`next_forecast`) are made.
    next: u64,
    next_forecast: u64,
    begin: Instant,
    /// Number of jobs that have been reported to `jobs_done`; `None` if jobs are not reported when they start.
    reported: Option<u64>,
}

impl<'a> ProgressMeter<'a> {
    /// Creates a meter for a cell with this many jobs.
    pub fn new(context: RunContext<'a>, jobs: usize) -> Self {
        let begin = Instant::now();
        let (jobs, started) = (jobs as u64, 0);
        Self { context, jobs, started, next: 1, next_forecast: 1, begin, reported: None }
    }

    /// Makes the meter report jobs to [`Watch::jobs_done`] when they get processors.
    pub fn counted(self) -> Self {
        Self { reported: Some(0), ..self }
    }

    /// Counts a job that has received processors.
    #[inline]
    pub fn started(&mut self) {
        self.started += 1;
        if self.started == self.next {
            self.check();
        }
    }

    #[cold]
    fn check(&mut self) {
        if self.started == self.next_forecast {
            // The next forecast is made when the number of started jobs has grown by a quarter.
            self.next_forecast += self.next_forecast.div_ceil(4);
            let elapsed = self.begin.elapsed();
            if self.started == 1 || elapsed >= SAMPLE && self.started < self.jobs {
                let Self { started, jobs, .. } = *self;
                self.context.watch.forecast(Eta { started, jobs, elapsed });
            }
        }
        self.report();
        let soon = self.reported.map_or(u64::MAX, |_| self.started + CHUNK);
        self.next = self.next_forecast.min(soon);
    }

    fn report(&mut self) {
        if let Some(reported) = &mut self.reported {
            self.context.watch.jobs_done(self.started - *reported);
            *reported = self.started;
        }
    }
}

impl Drop for ProgressMeter<'_> {
    fn drop(&mut self) {
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keeps what was reported.
    #[derive(Default)]
    struct Kept {
        jobs: Mutex<Vec<u64>>,
        forecasts: Mutex<Vec<Eta>>,
    }

    impl Watch for Kept {
        fn jobs_done(&self, jobs: u64) {
            self.jobs.lock().expect("one thread").push(jobs);
        }

        fn forecast(&self, eta: Eta) {
            self.forecasts.lock().expect("one thread").push(eta);
        }
    }

    #[test]
    fn forecasts_the_total_time_of_a_cell() {
        let (stop, kept) = (CancelToken::new(), Kept::default());
        let context = RunContext { watch: &kept, ..RunContext::new(&stop) };
        let mut meter = ProgressMeter::new(context, 1000);
        // Pretend that the cell began 100 s ago.
        meter.begin = Instant::now().checked_sub(Duration::from_secs(100)).expect("a clock");
        (0..1000).for_each(|_| meter.started());
        let reported = std::mem::take(&mut *kept.forecasts.lock().expect("one thread"));
        assert_eq!((reported[0].started, reported[0].jobs), (1, 1000));
        assert!(reported[0].whole() >= Duration::from_secs(100_000));
        assert!(reported.len() < 40 && reported.iter().all(|one| one.started < 1000));
        // A short cell reports only that it has begun.
        let mut meter = ProgressMeter::new(context, 1000);
        (0..1000).for_each(|_| meter.started());
        let begun = kept.forecasts.lock().expect("one thread");
        assert!(begun.iter().all(|eta| eta.started == 1) && begun.len() == 1, "{begun:?}");
    }

    #[test]
    fn reports_all_jobs_in_small_chunks() {
        let (stop, kept) = (CancelToken::new(), Kept::default());
        let context = RunContext { watch: &kept, ..RunContext::new(&stop) };
        let all = 10 * CHUNK + 7;
        let mut meter = ProgressMeter::new(context, all as usize).counted();
        (0..all - 1).for_each(|_| meter.started());
        let before: u64 = kept.jobs.lock().expect("one thread").iter().sum();
        assert!(before > all - 2 * CHUNK, "{before}");
        meter.started();
        drop(meter);
        let reported = std::mem::take(&mut *kept.jobs.lock().expect("one thread"));
        assert_eq!(reported.iter().sum::<u64>(), all);
        assert!(reported.iter().all(|&jobs| jobs <= CHUNK) && reported.len() < 80);
        // Without `counted`, jobs are not reported.
        ProgressMeter::new(context, 1).started();
        assert!(kept.jobs.lock().expect("one thread").is_empty());
    }
}
