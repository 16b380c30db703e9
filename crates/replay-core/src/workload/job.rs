//! A job as the simulation sees it.

/// Index of a job in a workload, in file order after cleaning (dense).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub u32);

impl JobId {
    /// The index as a subscript of [`Workload::jobs`](super::Workload::jobs).
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rigid job: so many processors for so long. Times are whole trace seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Job number in the trace (SWF field 1), or what the policy renumbered it to.
    pub number: i64,
    /// Submit time, seconds since the start of the log.
    pub submit: i64,
    /// Run time, seconds, never negative.
    pub run: i64,
    /// The user's estimate of the run time, seconds. At least `run` under the policies `johnson`,
    /// `strict`, `pwa`, `batsim` and `accasim`; `sst` keeps estimates that were too low.
    pub estimate: i64,
    /// Processors, at least 1.
    pub size: u32,
    /// Line in the trace, 1-based; 0 for a synthetic job.
    pub line: u32,
    /// Side lengths along x, y, z that it asks for, in processors; their product is its size.
    /// `None` if any processors will do.
    pub shape: Option<[u16; 3]>,
    /// The run time that the user asked for, as the log has it (SWF field 9), seconds; no cleaning rule
    /// touches it, so that it may be less than `run`. `None` if unknown.
    pub limit: Option<u32>,
}
