use crate::by_dimension::ByDimension;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::scheduler::{
    QueuedJob, Rejection, Scheduler, SchedulerEvent, SchedulerOptions, Selection, System,
};
use replay_engine::workload::JobId;

/// Scan: P. Krueger, T.-H. Lai and V. A. Radiya, "Processor allocation vs. job scheduling on hypercube
/// computers", ICDCS 1991.
///
/// Turner 1995, and Chang and Mohapatra, mention Scan, but state only that jobs of one size are grouped. The
/// implementation in `replay` follows the general literature. Jobs wait in one queue per dimension. One queue is served
/// in order of arrival until it is empty; then the next non-empty queue is served. The queues are served cyclically, by
/// ascending or descending dimension. A head that cannot start blocks all other jobs. The sources do not state how long
/// a queue is served: until it is empty, or only for the jobs that waited when its turn began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    down: bool,
    batch: bool,
    queues: ByDimension,
    /// The dimension of the queue that is being served; `None` before the first turn.
    at: Option<usize>,
    /// Number of jobs of the current queue that may still start in the current turn. Used only with `batch`.
    left: usize,
    selected: Option<QueuedJob>,
    /// The job that was refused since the last completion.
    blocked: Option<JobId>,
}

impl Scan {
    /// Creates empty queues. With `down`, turns go from large to small dimensions. With `batch`, a job that arrives
    /// during the turn of its dimension waits for the next turn of this dimension.
    pub fn new(down: bool, batch: bool) -> Self {
        Self { down, batch, ..Self::default() }
    }

    /// Returns whether the current turn is over.
    fn is_over(&self) -> bool {
        self.at.is_none_or(|at| self.queues.len(at) == 0) || self.batch && self.left == 0
    }

    /// Advances to the next non-empty queue, which may be the same queue. The first turn begins at the smallest
    /// dimension, or with `down` at the largest.
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
        self.selected = self.queues.pop(at);
        self.left = self.left.saturating_sub(1);
        Some(Selection::new(head, None))
    }

    /// A refused head blocks all other jobs until a job completes, so it does not matter whether the refusal lasts.
    fn on_refused(&mut self, job: JobId, _rejection: Rejection) {
        self.blocked = Some(job);
        if let Some(job) = self.selected.take() {
            self.queues.put_back(job);
            self.left += 1;
        }
    }

    fn waiting(&self) -> usize {
        self.queues.waiting()
    }
}

/// Options of `scan`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanOptions {
    /// Whether turns go from large to small dimensions.
    pub down: bool,
    /// Whether jobs that arrive during a turn wait for the next turn.
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

/// The naming table of `scan`.
pub(super) fn table() -> Table<ScanOptions> {
    let scan = Entry::new("scan", ScanOptions { down: false, batch: false })
        .about(
            "One queue per size 2^k; the queues are served one after another, each in order of arrival, so \
             that jobs of one size run together.",
        )
        .source("Krueger, Lai, Radiya 1991, as described in the literature")
        .param(
            "direction",
            kind::one_of(&[("up", false), ("down", true)]),
            "serve the queues cyclically from small to large or from large to small",
            |o| &mut o.down,
        )
        .param(
            "turn",
            kind::one_of(&[("until-empty", false), ("batch", true)]),
            "serve a queue until it is empty, or only the jobs that waited when its turn began",
            |o| &mut o.batch,
        );
    Table::new("scheduler", [scan])
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::scheduler::RunningJobs;

    fn job(id: u32, size: u32) -> QueuedJob {
        QueuedJob { id: JobId(id), size, takes: size, estimate: 1, turn: id.into() }
    }

    fn next(scan: &mut Scan, free: u32) -> Option<u32> {
        let running = RunningJobs::default();
        scan.next_job(System { now: 0, free, round: 0, running: &running })
            .map(|selected| selected.job.0)
    }

    /// Returns the start order of jobs that arrive together, and of a job of size 1 that arrives after the first start.
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
    fn serves_sizes_in_turn() {
        assert_eq!(order(false, false), [0, 2, 5, 3, 1, 4]);
        assert_eq!(order(false, true), [0, 2, 3, 1, 4, 5]);
        assert_eq!(order(true, false), [1, 4, 3, 0, 2, 5]);
    }

    #[test]
    fn a_head_that_cannot_start_blocks_all_others() {
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
