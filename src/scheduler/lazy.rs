use super::by_dimension::{ByDimension, dimension};
use super::{QueuedJob, Scheduler, SchedulerOptions, System};
use crate::naming::{Entry, Table, kind};
use crate::workload::JobId;

/// Lazy scheduling: P. Mohapatra, C. Yu and C. R. Das, "A lazy scheduling scheme for hypercube
/// computers", JPDC 27, 1995.
///
/// Chang and Mohapatra say of it, as does its abstract, that jobs wait in a queue for each dimension,
/// and that a job is delayed while another of its dimension runs, to take over that job's subcube
/// rather than a new one. How long a queue may grow before a new subcube is taken after all they do not
/// say: here `patience` jobs for each running one, which is ours. Of the queues whose head is not
/// delayed, the one whose head came first is served; a head that cannot start holds up no other queue.
#[derive(Clone, Debug)]
pub struct Lazy {
    patience: usize,
    queues: ByDimension,
    /// Running jobs by dimension.
    running: Vec<usize>,
    /// Dimension of every running job.
    dimensions: Vec<(JobId, usize)>,
    named: Option<QueuedJob>,
    /// By dimension: the head that was refused since the last completion.
    blocked: Vec<Option<JobId>>,
}

impl Lazy {
    /// Empty queues; `patience` is the number of jobs that wait for each running job of their
    /// dimension before another subcube is asked for.
    pub fn new(patience: usize) -> Self {
        Self {
            patience,
            queues: ByDimension::default(),
            running: Vec::new(),
            dimensions: Vec::new(),
            named: None,
            blocked: Vec::new(),
        }
    }

    /// Whether jobs of a dimension wait for those that run.
    fn is_delayed(&self, dimension: usize) -> bool {
        let running = self.running[dimension];
        running > 0 && self.queues.len(dimension) <= running.saturating_mul(self.patience)
    }
}

impl Scheduler for Lazy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queues.push(job);
        self.running.resize(self.queues.dimensions(), 0);
        self.blocked.resize(self.queues.dimensions(), None);
    }

    fn complete(&mut self, job: JobId, _now: i64) {
        if let Some(place) = self.dimensions.iter().position(|(id, _)| *id == job) {
            let (_, dimension) = self.dimensions.swap_remove(place);
            self.running[dimension] -= 1;
        }
        self.blocked.fill(None);
    }

    fn changed(&mut self, _now: i64) {
        self.blocked.fill(None);
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let may_start = |&dimension: &usize| {
            let head = self.queues.head(dimension);
            head.is_some_and(|head| {
                head.size <= system.free
                    && self.blocked[dimension] != Some(head.id)
                    && !self.is_delayed(dimension)
            })
        };
        let dimension = (0..self.queues.dimensions())
            .filter(may_start)
            .min_by_key(|&dimension| self.queues.head(dimension).map(|head| head.id))?;
        let job = self.queues.pop(dimension)?;
        self.named = Some(job);
        self.running[dimension] += 1;
        self.dimensions.push((job.id, dimension));
        Some(job.id)
    }

    fn refused(&mut self, job: JobId) {
        if let Some(named) = self.named.take() {
            let dimension = dimension(named.size);
            self.dimensions.pop();
            self.running[dimension] -= 1;
            self.blocked[dimension] = Some(job);
            self.queues.put_back(named);
        }
    }

    fn forgets_when_empty(&self) -> bool {
        true
    }

    fn waiting(&self) -> usize {
        self.queues.waiting()
    }
}

/// What `lazy` can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyOptions {
    /// Jobs that wait for each running one of their dimension before another subcube is taken.
    pub patience: u32,
}

impl SchedulerOptions for LazyOptions {
    fn uses_estimates(&self) -> bool {
        false
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Lazy::new(self.patience as usize))
    }
}

/// `lazy`.
pub(super) fn table() -> Table<LazyOptions> {
    let lazy = Entry::new("lazy", LazyOptions { patience: 1 })
        .about(
            "A queue for each size 2^k: a job waits for one of its size to end, to take its place, rather \
             than take a new one; jobs of other sizes do not wait for it.",
        )
        .source("Mohapatra, Yu, Das 1995; the bound on the queue is ours")
        .param(
            "patience",
            kind::integer(0..=1_000_000),
            "jobs that wait for each running one of their size before they get a new place after all",
            |o| &mut o.patience,
        );
    Table::new("scheduler", [lazy])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::RunningJobs;

    fn job(id: u32, size: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size, takes: size, estimate: 1, turn: id.into() }
    }

    fn next(lazy: &mut Lazy, free: u32) -> Option<u32> {
        let running = RunningJobs::default();
        lazy.next(System { now: 0, free, round: 0, running: &running }).map(|id| id.0)
    }

    #[test]
    fn jobs_wait_for_their_own_size() {
        let mut lazy = Lazy::new(1);
        lazy.arrive(job(0, 4), 0);
        assert_eq!(next(&mut lazy, 16), Some(0));
        lazy.arrive(job(1, 3), 0);
        lazy.arrive(job(2, 2), 0);
        // Job 1 waits for job 0, which has the same dimension; job 2 does not.
        assert_eq!(next(&mut lazy, 12), Some(2));
        assert_eq!(next(&mut lazy, 10), None);
        // Two that wait are one too many for one that runs.
        lazy.arrive(job(3, 4), 0);
        assert_eq!(next(&mut lazy, 10), Some(1));
        assert_eq!((next(&mut lazy, 7), lazy.waiting()), (None, 1));
        lazy.complete(JobId(0), 1);
        assert_eq!(next(&mut lazy, 11), None);
        lazy.complete(JobId(1), 1);
        assert_eq!(next(&mut lazy, 14), Some(3));
    }

    #[test]
    fn who_is_refused_holds_up_nobody_else() {
        let mut lazy = Lazy::new(0);
        lazy.arrive(job(0, 4), 0);
        lazy.arrive(job(1, 2), 0);
        assert_eq!(next(&mut lazy, 8), Some(0));
        lazy.refused(JobId(0));
        assert_eq!(next(&mut lazy, 8), Some(1));
        assert_eq!((next(&mut lazy, 6), lazy.waiting()), (None, 1));
        lazy.complete(JobId(1), 1);
        assert_eq!((next(&mut lazy, 8), lazy.waiting()), (Some(0), 0));
    }
}
