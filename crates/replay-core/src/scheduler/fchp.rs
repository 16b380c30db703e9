use super::{QueuedJob, Reason, Scheduler, SchedulerOptions, Strict, System};
use crate::naming::{Entry, Table};
use crate::workload::JobId;

/// First come, highest priority, as Elmer does it literally: Turner 1995, section 6.2.2.
///
/// A job starts when it arrives if nobody waits and hosts are found. When a job ends, *one* waiting
/// job is tried, the head of the queue. [FCFS](Strict) tries until the head fails, which differs
/// only where a job that ends makes room for several. That those who came first have the higher
/// priority is the business of the hosts ([`cluster`](crate::cluster)).
#[derive(Clone, Debug, Default)]
pub struct Fchp {
    queue: Strict,
    /// Jobs at the front that may still be tried: those that came to a queue in which all others
    /// may, and one for each that ended.
    tries: usize,
}

impl Scheduler for Fchp {
    fn arrive(&mut self, job: QueuedJob, now: i64) {
        self.tries += usize::from(self.queue.waiting() == self.tries);
        self.queue.arrive(job, now);
    }

    fn complete(&mut self, job: JobId, now: i64) {
        self.tries += usize::from(self.queue.waiting() > self.tries);
        self.queue.complete(job, now);
    }

    fn changed(&mut self, now: i64) {
        self.tries += usize::from(self.queue.waiting() > self.tries);
        self.queue.changed(now);
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let named = if self.tries > 0 { self.queue.next(system) } else { None };
        // Behind a try that fails nobody else has one.
        self.tries = if named.is_some() { self.tries - 1 } else { 0 };
        named
    }

    fn refused(&mut self, job: JobId, lasts: bool) {
        self.queue.refused(job, lasts);
        self.tries = 0;
    }

    fn reason(&self) -> Option<Reason> {
        self.queue.reason()
    }

    fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}

/// `fchp` can be told nothing.
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

/// `fchp`.
pub(super) fn table() -> Table<FchpOptions> {
    let fchp = Entry::new("fchp", FchpOptions)
        .about(
            "First come, highest priority, literally: as fcfs, but each job that ends lets one waiting job \
             be tried; the priorities are those of the allocator elmer.",
        )
        .source("Turner 1995, section 6.2.2");
    Table::new("scheduler", [fchp])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::RunningJobs;

    /// The job of this number and size that comes so late.
    fn job(id: u32, turn: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size: id, takes: id, estimate: 1, turn: turn.into() }
    }

    /// Jobs named until nobody is, on so many free processors.
    fn started(fchp: &mut Fchp, mut free: u32) -> Vec<u32> {
        let (running, mut started) = (RunningJobs::default(), vec![]);
        while let Some(id) = fchp.next(System { now: 0, free, round: 0, running: &running }) {
            // The tests' jobs have their number as size.
            free -= id.0;
            started.push(id.0);
        }
        started
    }

    #[test]
    fn one_is_tried_for_each_that_ends() {
        let mut fchp = Fchp::default();
        (1..=3).for_each(|i| fchp.arrive(job(i, i), 0));
        // All came to a queue of jobs that could start.
        assert_eq!(started(&mut fchp, 6), [1, 2, 3]);
        fchp.arrive(job(6, 4), 0);
        assert!(started(&mut fchp, 0).is_empty());
        // Somebody waits: no try, however small the job.
        (1..=2).for_each(|i| fchp.arrive(job(i, 4 + i), 0));
        assert!(started(&mut fchp, 6).is_empty());
        fchp.complete(JobId(3), 1);
        assert_eq!(started(&mut fchp, 9), [6]);
        fchp.complete(JobId(2), 1);
        fchp.complete(JobId(6), 1);
        assert_eq!(started(&mut fchp, 9), [1, 2]);
    }
}
