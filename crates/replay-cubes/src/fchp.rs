use replay_engine::naming::{Entry, Table};
use replay_engine::scheduler::{
    QueuedJob, Rejection, Scheduler, SchedulerEvent, SchedulerOptions, Selection, Strict, System,
};
use replay_engine::workload::JobId;

/// First come, highest priority, exactly as Elmer implements it: Turner 1995, section 6.2.2.
///
/// A job starts at its arrival if no job waits and enough hosts are found. When a job ends, *one*
/// waiting job is tried: the head of the queue. In contrast to `fchp`, [FCFS](Strict) tries jobs
/// until the head does not fit. The rules `fchp` and FCFS differ only if the end of one job frees
/// enough processors for several jobs. On a shared host, an earlier job has a higher priority than
/// a later job ([`cluster`](crate::cluster)).
#[derive(Clone, Debug, Default)]
pub(crate) struct Fchp {
    queue: Strict,
    /// Number of jobs at the front of the queue that may still be tried. The number increases by
    /// one when a job completes. The number also increases by one when a job arrives while all
    /// waiting jobs may be tried.
    tries: usize,
}

impl Scheduler for Fchp {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        self.tries += usize::from(self.queue.waiting() == self.tries);
        self.queue.arrive(job, now);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        if let SchedulerEvent::Completed { .. } | SchedulerEvent::MachineChanged = event {
            self.tries += usize::from(self.queue.waiting() > self.tries);
        }
        self.queue.on_event(event);
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        let selected = if self.tries > 0 { self.queue.next_job(system) } else { None };
        // If a try fails, no more jobs are tried.
        self.tries = if selected.is_some() { self.tries - 1 } else { 0 };
        selected
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        self.queue.on_refused(job, rejection);
        self.tries = 0;
    }

    fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}

/// `fchp` has no options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FchpOptions;

impl SchedulerOptions for FchpOptions {
    fn uses_estimates(&self) -> bool {
        false
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Fchp::default())
    }
}

/// The naming table of `fchp`.
pub(super) fn table() -> Table<FchpOptions> {
    let fchp = Entry::new("fchp", FchpOptions)
        .about(
            "First come, highest priority: like fcfs, but when a job ends, only one waiting job is tried. The \
                allocator elmer determines the priorities.",
        )
        .source("Turner 1995, section 6.2.2");
    Table::new("scheduler", [fchp])
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::scheduler::RunningJobs;

    /// Returns a job with number and size `id` that arrives at `turn`.
    fn job(id: u32, turn: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size: id, takes: id, estimate: 1, turn: turn.into() }
    }

    /// Returns the jobs that are selected on `free` processors until no further job starts.
    fn started(fchp: &mut Fchp, mut free: u32) -> Vec<u32> {
        let (running, mut started) = (RunningJobs::default(), vec![]);
        while let Some(selected) =
            fchp.next_job(System { now: 0, free, round: 0, running: &running })
        {
            let id = selected.job;
            // In these tests, the size of each job equals its job number.
            free -= id.0;
            started.push(id.0);
        }
        started
    }

    #[test]
    fn each_completion_allows_one_try() {
        let mut fchp = Fchp::default();
        (1..=3).for_each(|i| fchp.arrive(job(i, i), 0));
        // At the arrival of each of the jobs 1 to 3, all waiting jobs could be tried.
        assert_eq!(started(&mut fchp, 6), [1, 2, 3]);
        fchp.arrive(job(6, 4), 0);
        assert!(started(&mut fchp, 0).is_empty());
        // A job waits, so later jobs are not tried, regardless of their size.
        (1..=2).for_each(|i| fchp.arrive(job(i, 4 + i), 0));
        assert!(started(&mut fchp, 6).is_empty());
        fchp.on_event(SchedulerEvent::Completed { job: JobId(3), now: 1 });
        assert_eq!(started(&mut fchp, 9), [6]);
        fchp.on_event(SchedulerEvent::Completed { job: JobId(2), now: 1 });
        fchp.on_event(SchedulerEvent::Completed { job: JobId(6), now: 1 });
        assert_eq!(started(&mut fchp, 9), [1, 2]);
    }
}
