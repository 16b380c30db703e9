use crate::by_dimension::{ByDimension, dimension};
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::scheduler::{
    QueuedJob, Rejection, Scheduler, SchedulerEvent, SchedulerOptions, Selection, System,
};
use replay_engine::workload::JobId;

/// Lazy scheduling: P. Mohapatra, C. Yu and C. R. Das, "A lazy scheduling scheme for hypercube
/// computers", JPDC 27, 1995.
///
/// Chang and Mohapatra (section 2.2) and the abstract of the paper describe the scheme as follows. Jobs wait in one
/// queue per dimension. A job is delayed while another job of its dimension runs, and is then executed on the existing
/// subcube rather than on a new subcube. The implementation in `replay` uses the following rule:
///
/// * When a job ends, its place goes to a waiting job of its dimension; this can be a job that arrives at the same
///   time. If no job of the dimension waits, the place is lost. If a dimension has a place, the head of its queue may
///   start, and its start uses up one place.
/// * If a dimension has no place, the head of its queue starts if no job of the dimension runs, or if more than
///   `patience` jobs of the dimension wait per running job; the head then gets a new subcube. The sources do not state
///   the bound `patience`; it was chosen for `replay`.
/// * If several heads may start, the head that arrived first starts. A head that cannot start does not block other
///   queues.
///
/// A place is a permission, not a set of processors: the allocator chooses the processors of the job and may refuse the
/// job. After a refusal, the place stays with the queue until one of the jobs in the queue starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lazy {
    patience: usize,
    queues: ByDimension,
    /// Number of running jobs of each dimension.
    running: Vec<usize>,
    /// For each dimension, the number of places that completed jobs have left to waiting jobs.
    places: Vec<usize>,
    /// Dimension of every running job.
    dimensions: Vec<(JobId, usize)>,
    pending: Option<Pending>,
    /// For each dimension, the head that was refused since the last completion, and a flag that states whether the
    /// refusal lasts after other jobs have started.
    blocked: Vec<Option<(JobId, bool)>>,
}

/// The job selected last.
#[derive(Clone, Copy, Debug)]
struct Pending {
    job: QueuedJob,
    /// Whether the selected job used a place of a completed job.
    took_place: bool,
}

impl Lazy {
    /// Creates empty queues. A waiting job gets a new subcube only if the ratio of waiting to running jobs of its
    /// dimension is larger than `patience`.
    pub fn new(patience: usize) -> Self {
        Self { patience, ..Self::default() }
    }

    /// Returns whether the jobs of a dimension must wait for running jobs of the same dimension.
    fn is_delayed(&self, dimension: usize) -> bool {
        let running = self.running[dimension];
        self.places[dimension] == 0
            && running > 0
            && self.queues.len(dimension) <= running.saturating_mul(self.patience)
    }
}

impl Scheduler for Lazy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queues.push(job);
        self.running.resize(self.queues.dimensions(), 0);
        self.places.resize(self.queues.dimensions(), 0);
        self.blocked.resize(self.queues.dimensions(), None);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        match event {
            SchedulerEvent::Completed { job, .. } => {
                if let Some(place) = self.dimensions.iter().position(|(id, _)| *id == job) {
                    let (_, dimension) = self.dimensions.swap_remove(place);
                    self.running[dimension] -= 1;
                    self.places[dimension] += 1;
                }
                self.blocked.fill(None);
            }
            SchedulerEvent::MachineChanged => self.blocked.fill(None),
            SchedulerEvent::OutagesKnown { .. }
            | SchedulerEvent::OutagesOverlap { .. }
            | SchedulerEvent::Held { .. } => {}
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        // The job selected last was not refused, so it has started.
        if self.pending.take().is_some() {
            self.blocked.iter_mut().for_each(|head| *head = head.filter(|&(_, lasts)| lasts));
        }
        // All jobs that arrive at this time have arrived, so places without a waiting job are lost.
        for (dimension, places) in self.places.iter_mut().enumerate() {
            *places = (*places).min(self.queues.len(dimension));
        }
        let may_start = |&dimension: &usize| {
            let head = self.queues.head(dimension);
            head.is_some_and(|head| {
                head.size <= system.free
                    && self.blocked[dimension].is_none_or(|(job, _)| job != head.id)
                    && !self.is_delayed(dimension)
            })
        };
        let dimension = (0..self.queues.dimensions())
            .filter(may_start)
            .min_by_key(|&dimension| self.queues.head(dimension).map(|head| head.id))?;
        let job = self.queues.pop(dimension)?;
        let took_place = self.places[dimension] > 0;
        self.places[dimension] -= usize::from(took_place);
        self.pending = Some(Pending { job, took_place });
        self.running[dimension] += 1;
        self.dimensions.push((job.id, dimension));
        Some(Selection::new(job.id, None))
    }

    fn on_refused(&mut self, id: JobId, rejection: Rejection) {
        if let Some(Pending { job, took_place }) = self.pending.take() {
            let dimension = dimension(job.size);
            self.dimensions.pop();
            self.running[dimension] -= 1;
            self.places[dimension] += usize::from(took_place);
            self.blocked[dimension] = Some((id, rejection.lasts()));
            self.queues.put_back(job);
        }
    }

    fn waiting(&self) -> usize {
        self.queues.waiting()
    }
}

/// Options of `lazy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyOptions {
    /// Maximum ratio of waiting to running jobs of a dimension; a waiting job gets a new subcube only if the ratio is
    /// larger.
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

/// The naming table of `lazy`.
pub(super) fn table() -> Table<LazyOptions> {
    let lazy = Entry::new("lazy", LazyOptions { patience: 1 })
        .about(
            "One queue per size 2^k: a job waits until another job of its size ends, and takes the place of the ended \
             job instead of a new place; jobs of other sizes do not wait. Each job that ends lets one waiting job of \
             its size start; the allocator chooses the processors. A job gets a new place only if no job of \
             its size runs, or if more than patience jobs wait per running job.",
        )
        .source(
            "Mohapatra, Yu, Das 1995; Chang, Mohapatra 1996, section 2.2; the bound on the queue was chosen for replay",
        )
        .param(
            "patience",
            kind::integer(0..=1_000_000),
            "maximum number of waiting jobs per running job of the same size; if more jobs wait, one of them may start in a new place",
            |o| &mut o.patience,
        );
    Table::new("scheduler", [lazy])
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::scheduler::RunningJobs;

    fn job(id: u32, size: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size, takes: size, estimate: 1, turn: id.into() }
    }

    fn next(lazy: &mut Lazy, free: u32) -> Option<u32> {
        let running = RunningJobs::default();
        lazy.next_job(System { now: 0, free, round: 0, running: &running })
            .map(|selected| selected.job.0)
    }

    #[test]
    fn jobs_wait_for_jobs_of_their_size() {
        let mut lazy = Lazy::new(1);
        lazy.arrive(job(0, 4), 0);
        assert_eq!(next(&mut lazy, 16), Some(0));
        lazy.arrive(job(1, 3), 0);
        lazy.arrive(job(2, 2), 0);
        // Job 1 waits for job 0, which has the same dimension. Job 2 does not wait.
        assert_eq!(next(&mut lazy, 12), Some(2));
        assert_eq!(next(&mut lazy, 10), None);
        // Two waiting jobs exceed the patience of 1 per running job.
        lazy.arrive(job(3, 4), 0);
        assert_eq!(next(&mut lazy, 10), Some(1));
        assert_eq!((next(&mut lazy, 7), lazy.waiting()), (None, 1));
        // Job 3 takes the place of job 0, although job 1 still runs.
        lazy.on_event(SchedulerEvent::Completed { job: JobId(0), now: 1 });
        assert_eq!(next(&mut lazy, 11), Some(3));
    }

    #[test]
    fn each_completed_job_leaves_one_place() {
        let mut lazy = Lazy::new(2);
        lazy.arrive(job(0, 4), 0);
        assert_eq!(next(&mut lazy, 16), Some(0));
        (1..=3).for_each(|id| lazy.arrive(job(id, 4), 1));
        assert_eq!(next(&mut lazy, 12), Some(1));
        lazy.on_event(SchedulerEvent::Completed { job: JobId(0), now: 2 });
        // The place stays with the queue while the allocator refuses the head.
        assert_eq!(next(&mut lazy, 12), Some(2));
        lazy.on_refused(JobId(2), Rejection::Refused { lasts: true });
        assert_eq!(next(&mut lazy, 12), None);
        lazy.on_event(SchedulerEvent::MachineChanged);
        assert_eq!(next(&mut lazy, 12), Some(2));
        // The only place has been used, and two jobs run.
        assert_eq!((next(&mut lazy, 8), lazy.waiting()), (None, 1));
        // If a job arrives exactly when another job ends, the arriving job takes the place of the ended job. A job that
        // arrives after this time does not take the place.
        lazy.on_event(SchedulerEvent::Completed { job: JobId(1), now: 4 });
        lazy.arrive(job(4, 3), 4);
        assert_eq!((next(&mut lazy, 12), next(&mut lazy, 8)), (Some(3), None));
        lazy.on_event(SchedulerEvent::Completed { job: JobId(2), now: 5 });
        assert_eq!((next(&mut lazy, 12), lazy.waiting()), (Some(4), 0));
        lazy.on_event(SchedulerEvent::Completed { job: JobId(3), now: 6 });
        assert_eq!(next(&mut lazy, 12), None);
        lazy.arrive(job(5, 4), 7);
        assert_eq!(next(&mut lazy, 12), None);
    }

    #[test]
    fn retries_a_head_after_a_start_if_refusals_do_not_last() {
        for lasts in [true, false] {
            let mut lazy = Lazy::new(0);
            lazy.arrive(job(0, 4), 0);
            lazy.arrive(job(1, 2), 0);
            assert_eq!(next(&mut lazy, 8), Some(0));
            lazy.on_refused(JobId(0), Rejection::Refused { lasts });
            assert_eq!(next(&mut lazy, 8), Some(1));
            assert_eq!(next(&mut lazy, 6), (!lasts).then_some(0));
        }
    }

    #[test]
    fn a_refused_head_does_not_block_other_queues() {
        let mut lazy = Lazy::new(0);
        lazy.arrive(job(0, 4), 0);
        lazy.arrive(job(1, 2), 0);
        assert_eq!(next(&mut lazy, 8), Some(0));
        lazy.on_refused(JobId(0), Rejection::Refused { lasts: true });
        assert_eq!(next(&mut lazy, 8), Some(1));
        assert_eq!((next(&mut lazy, 6), lazy.waiting()), (None, 1));
        lazy.on_event(SchedulerEvent::Completed { job: JobId(1), now: 1 });
        assert_eq!((next(&mut lazy, 8), lazy.waiting()), (Some(0), 0));
    }
}
