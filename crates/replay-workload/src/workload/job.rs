//! The job type that simulations use.

/// Index of a job in [`Workload::jobs`](super::Workload::jobs).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub u32);

impl JobId {
    /// Returns the index as a `usize`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rigid job: a fixed number of processors for a fixed time. Times are whole trace seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Job number: SWF field 1, or the number that the policy assigned.
    pub number: i64,
    /// Submit time in seconds since the start of the log.
    pub submit: i64,
    /// Run time in seconds, never negative.
    pub run: i64,
    /// The user's estimate of the run time, in seconds. Under the policies `johnson`, `strict`, `pwa`, `batsim` and
    /// `accasim`, the estimate is at least `run`; `sst` keeps estimates below `run`.
    pub estimate: i64,
    /// Number of processors, at least 1.
    pub size: u32,
    /// Line in the trace, 1-based; 0 for a synthetic job.
    pub line: u32,
    /// Requested side lengths along x, y and z, in processors; their product is `size`. `None` if the job
    /// accepts any processors.
    pub shape: Option<[u16; 3]>,
    /// Requested run time as recorded in the log (SWF field 9), in seconds. Cleaning does not change this value, so the
    /// value may be less than `run`. `None` if unknown.
    pub limit: Option<u32>,
}

impl Job {
    /// Creates a job with an exact estimate. Its number and line are 0; it has no shape, and no limit is known. Times are
    /// in seconds.
    pub const fn exact(submit: i64, run: i64, size: u32) -> Self {
        let (number, line, shape, limit) = (0, 0, None, None);
        Self { number, submit, run, estimate: run, size, line, shape, limit }
    }
}
