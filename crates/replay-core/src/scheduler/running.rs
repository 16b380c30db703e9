use crate::workload::JobId;

/// A running job as schedulers see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Running {
    /// Start plus estimate, in trace seconds.
    pub estimated_end: i64,
    /// The job.
    pub id: JobId,
    /// Processors it holds, also those it did not ask for.
    pub size: u32,
}

/// The running jobs, by (estimated end, job).
#[derive(Clone, Debug, Default)]
pub struct RunningJobs {
    jobs: Vec<Running>,
}

impl RunningJobs {
    /// A job starts.
    pub fn insert(&mut self, job: Running) {
        let at = self.jobs.partition_point(|other| *other < job);
        self.jobs.insert(at, job);
    }

    /// A job has completed.
    pub fn remove(&mut self, job: Running) {
        if let Ok(at) = self.jobs.binary_search(&job) {
            self.jobs.remove(at);
        }
    }

    /// A job has completed whose estimated end is not at hand.
    pub fn remove_job(&mut self, id: JobId) {
        if let Some(at) = self.jobs.iter().position(|job| job.id == id) {
            self.jobs.remove(at);
        }
    }

    /// The jobs, by (estimated end, job).
    pub fn iter(&self) -> impl Iterator<Item = &Running> {
        self.jobs.iter()
    }

    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The last estimated end; `None` if nothing runs.
    pub fn last_estimated_end(&self) -> Option<i64> {
        self.jobs.last().map(|job| job.estimated_end)
    }

    /// Whether a running job's estimated end is exactly `now`.
    pub fn any_due_at(&self, now: i64) -> bool {
        let at = self.jobs.partition_point(|job| job.estimated_end < now);
        self.jobs.get(at).is_some_and(|job| job.estimated_end == now)
    }
}
