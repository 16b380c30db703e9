//! The times at which the jobs of a coupled run arrive, start and complete, and the processor time that they use.

use std::collections::HashMap;

use crate::allocator::Reduction;
use crate::simulation::{Decision, Observer, State};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// An observer that records the times of all jobs, and the processor time that they hold and request. Times have the
/// time unit of the jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    arrivals: Vec<i64>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// Number of processors of each job that was folded at its last start.
    folded: HashMap<JobId, u32>,
    held: i128,
    requested: i128,
}

impl Times {
    /// Creates an observer for `jobs` jobs.
    pub fn new(jobs: usize) -> Self {
        let unknown = vec![i64::MIN; jobs];
        Self {
            arrivals: unknown.clone(),
            starts: unknown.clone(),
            ends: unknown,
            ..Self::default()
        }
    }

    /// Returns the arrival time of each job.
    pub fn arrivals(&self) -> &[i64] {
        &self.arrivals
    }

    /// Returns the start time of each job.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// Returns the completion time of each job.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// Returns the number of points that jobs held, integrated over time.
    pub fn held(&self) -> i128 {
        self.held
    }

    /// Returns the number of points that jobs requested and held, integrated over time.
    pub fn requested(&self) -> i128 {
        self.requested
    }

    /// Returns the last completion; `origin` if no job has completed.
    pub fn end(&self, origin: i64) -> i64 {
        self.ends.iter().copied().max().unwrap_or(origin)
    }
}

impl AsRef<Times> for Times {
    fn as_ref(&self) -> &Times {
        self
    }
}

impl Observer for Times {
    #[inline]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let span = i128::from(to - from);
        self.held += i128::from(state.held) * span;
        self.requested += i128::from(state.requested) * span;
    }

    #[inline]
    fn arrived(&mut self, job: JobId, now: i64) {
        self.arrivals[job.index()] = now;
    }

    fn reduced(&mut self, job: JobId, _requested: &Job, reduction: &Reduction) {
        self.folded.insert(job, reduction.request.size);
    }

    #[inline]
    fn started(&mut self, Decision { job, now, .. }: Decision<'_>) {
        self.starts[job.index()] = now;
    }

    fn cut_off(&mut self, job: JobId, _now: i64, _nodes: &[NodeId], again: bool) {
        if again {
            self.folded.remove(&job);
        }
    }

    #[inline]
    fn completed(&mut self, job: JobId, now: i64) {
        self.ends[job.index()] = now;
    }
}

/// Returns the jobs as they ran. The run time of a job is the time for which it held its processors, and its size is
/// the size of the request that was served.
pub fn as_served(jobs: &[Job], times: &impl AsRef<Times>) -> Vec<Job> {
    let Times { starts, ends, folded, .. } = times.as_ref();
    let served = (0..).map(JobId).zip(jobs).zip(starts.iter().zip(ends));
    let served = served.map(|((id, job), (start, end))| {
        let size = folded.get(&id).copied().unwrap_or(job.size);
        Job { run: end - start, size, ..*job }
    });
    served.collect()
}
