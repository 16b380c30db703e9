use crate::workload::JobId;

/// A running job, as passed to schedulers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Running {
    /// Start plus estimate, in trace seconds.
    pub estimated_end: i64,
    /// The job.
    pub id: JobId,
    /// Number of processors that the job holds, including processors that it did not request.
    pub size: u32,
}

/// The running jobs, ordered by estimated end, then job.
#[derive(Clone, Debug, Default)]
pub struct RunningJobs {
    jobs: Vec<Running>,
}

impl RunningJobs {
    /// Adds a job that starts.
    pub fn insert(&mut self, job: Running) {
        let at = self.jobs.partition_point(|other| *other < job);
        self.jobs.insert(at, job);
    }

    /// Removes a completed job.
    pub fn remove(&mut self, job: Running) {
        if let Ok(at) = self.jobs.binary_search(&job) {
            self.jobs.remove(at);
        }
    }

    /// Removes a completed job, given only its id. Returns the removed job.
    pub fn remove_job(&mut self, id: JobId) -> Option<Running> {
        let at = self.jobs.iter().position(|job| job.id == id)?;
        Some(self.jobs.remove(at))
    }

    /// Returns the jobs ordered by estimated end, then job.
    pub fn iter(&self) -> impl Iterator<Item = &Running> {
        self.jobs.iter()
    }

    /// Returns whether no job runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns the last estimated end; `None` if no job runs.
    pub fn last_estimated_end(&self) -> Option<i64> {
        self.jobs.last().map(|job| job.estimated_end)
    }

    /// Returns whether a running job's estimated end is exactly `now`.
    pub fn any_due_at(&self, now: i64) -> bool {
        let at = self.jobs.partition_point(|job| job.estimated_end < now);
        self.jobs.get(at).is_some_and(|job| job.estimated_end == now)
    }
}
