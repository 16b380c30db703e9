use super::by_dimension::ByDimension;
use super::{QueuedJob, Rejection, Scheduler, SchedulerEvent, SchedulerOptions, Selection, System};
use crate::naming::{Entry, Table, kind};
use crate::workload::JobId;

/// Scan: P. Krueger, T.-H. Lai and V. A. Radiya, "Processor allocation vs. job scheduling on hypercube
/// computers", ICDCS 1991.
///
/// Turner 1995 and Chang and Mohapatra name it and say no more than that jobs of one size are grouped.
/// The rule here is from the general literature: jobs wait in a queue for each dimension; one queue is
/// served, in order of arrival, until it is empty, then the next that is not, up or down the
/// dimensions and round again. A head that cannot start holds up all others. Whether a queue is served
/// until it is empty, or only those who waited when its turn came, these sources leave open.
#[derive(Clone, Debug)]
pub struct Scan {
    down: bool,
    batch: bool,
    queues: ByDimension,
    /// The dimension whose queue is served; `None` before the first.
    at: Option<usize>,
    /// Jobs of it that may still start, with batches.
    left: usize,
    named: Option<QueuedJob>,
    /// The job that was refused since the last completion.
    blocked: Option<JobId>,
}

impl Scan {
    /// Empty queues. With `down` the turn goes from large to small, with `batch` jobs that come
    /// while their dimension has its turn wait for the next.
    pub fn new(down: bool, batch: bool) -> Self {
        Self {
            down,
            batch,
            queues: ByDimension::default(),
            at: None,
            left: 0,
            named: None,
            blocked: None,
        }
    }

    /// Whether the queue that is served has nobody left to serve.
    fn is_over(&self) -> bool {
        self.at.is_none_or(|at| self.queues.len(at) == 0) || self.batch && self.left == 0
    }

    /// Goes on to the next queue with jobs, which may be the same again; at first to the smallest
    /// dimension, or down from the largest.
    fn turn(&mut self) {
        let dimensions = self.queues.dimensions();
        let step = |i: usize| match (self.at, self.down) {
            (None, false) => i - 1,
            (None, true) => dimensions - i,
            (Some(at), false) => (at + i) % dimensions,
            (Some(at), true) => (at + dimensions - i) % dimensions,
        };
        let next = (1..=dimensions).map(step).find(|&dimension| self.queues.len(dimension) > 0);
        if let Some(next) = next {
            (self.at, self.left) = (Some(next), self.queues.len(next));
        }
    }
}

impl Scheduler for Scan {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queues.push(job);
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        if let SchedulerEvent::Completed { .. } | SchedulerEvent::MachineChanged = event {
            self.blocked = None;
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        if self.queues.waiting() == 0 {
            return None;
        }
        if self.is_over() {
            self.turn();
        }
        let at = self.at?;
        let head = self.queues.head(at).filter(|head| head.size <= system.free)?.id;
        if self.blocked == Some(head) {
            return None;
        }
        self.named = self.queues.pop(at);
        self.left = self.left.saturating_sub(1);
        Some(Selection::new(head, None))
    }

    /// No job starts beside a head that waits, so that it makes no difference whether the refusal lasts.
    fn on_refused(&mut self, job: JobId, _rejection: Rejection) {
        self.blocked = Some(job);
        if let Some(job) = self.named.take() {
            self.queues.put_back(job);
            self.left += 1;
        }
    }

    fn waiting(&self) -> usize {
        self.queues.waiting()
    }
}

/// What `scan` can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanOptions {
    /// From large to small.
    pub down: bool,
    /// Who comes during a turn waits for the next.
    pub batch: bool,
}

impl SchedulerOptions for ScanOptions {
    fn uses_estimates(&self) -> bool {
        false
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Scan::new(self.down, self.batch))
    }
}

/// `scan`.
pub(super) fn table() -> Table<ScanOptions> {
    let scan = Entry::new("scan", ScanOptions { down: false, batch: false })
        .about(
            "A queue for each size 2^k, served one after another in order of arrival, so that jobs of one \
             size run together.",
        )
        .source("Krueger, Lai, Radiya 1991, by its descriptions in the literature")
        .param(
            "direction",
            kind::one_of(&[("up", false), ("down", true)]),
            "from small to large, or from large to small; then from the beginning",
            |o| &mut o.down,
        )
        .param(
            "turn",
            kind::one_of(&[("until-empty", false), ("batch", true)]),
            "how long a queue is served: until it is empty, or those who waited when its turn came",
            |o| &mut o.batch,
        );
    Table::new("scheduler", [scan])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::RunningJobs;

    fn job(id: u32, size: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size, takes: size, estimate: 1, turn: id.into() }
    }

    fn next(scan: &mut Scan, free: u32) -> Option<u32> {
        let running = RunningJobs::default();
        scan.next_job(System { now: 0, free, round: 0, running: &running })
            .map(|selected| selected.job.0)
    }

    /// The order in which jobs start that arrive together; one of size 1 comes after the first.
    fn order(down: bool, batch: bool) -> Vec<u32> {
        let mut scan = Scan::new(down, batch);
        for (id, size) in [(0, 1), (1, 4), (2, 1), (3, 2), (4, 4)] {
            scan.arrive(job(id, size), 0);
        }
        let mut started: Vec<u32> = next(&mut scan, 9).into_iter().collect();
        scan.arrive(job(5, 1), 0);
        started.extend(std::iter::from_fn(|| next(&mut scan, 9)));
        assert_eq!(scan.waiting(), 0);
        started
    }

    #[test]
    fn sizes_are_served_in_turn() {
        assert_eq!(order(false, false), [0, 2, 5, 3, 1, 4]);
        assert_eq!(order(false, true), [0, 2, 3, 1, 4, 5]);
        assert_eq!(order(true, false), [1, 4, 3, 0, 2, 5]);
    }

    #[test]
    fn a_head_that_cannot_start_holds_up_all_others() {
        let mut scan = Scan::new(false, false);
        scan.arrive(job(0, 4), 0);
        assert_eq!(next(&mut scan, 4), Some(0));
        scan.on_refused(JobId(0), Rejection::Refused { lasts: true });
        scan.arrive(job(1, 1), 0);
        assert_eq!((next(&mut scan, 4), scan.waiting()), (None, 2));
        scan.on_event(SchedulerEvent::Completed { job: JobId(9), now: 1 });
        assert_eq!(next(&mut scan, 4), Some(0));
        assert_eq!(next(&mut scan, 0), None);
        assert_eq!(next(&mut scan, 1), Some(1));
    }
}
