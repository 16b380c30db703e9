use std::collections::{BTreeMap, VecDeque};

use super::partitioned::{Discipline, Walk};
use super::{
    QueueOrder, QueuedJob, Reason, Rejection, Scheduler, SchedulerEvent, SchedulerOptions,
    Selection, System,
};
use crate::naming::{Entry, Table};
use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// Strict head of queue: the head starts as soon as it fits, and no job overtakes the head. With [`QueueOrder::Fifo`],
/// this discipline is First Come First Served; with any other order, it is a priority queue.
#[derive(Clone, Debug)]
pub struct Strict {
    order: QueueOrder,
    queue: Queue,
    /// The job selected last.
    pending: Option<Waiting>,
    /// The last job that was refused since the last completion, and a flag that states whether the refusal still holds
    /// after other jobs have started.
    blocked: Option<(JobId, bool)>,
}

/// A waiting job: its rank in the order and its request.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    rank: i128,
    turn: u64,
    id: JobId,
    size: u32,
}

/// Waiting jobs by rank, then in order of arrival. Entries are small because most jobs of a trace may wait at the same
/// time.
#[derive(Clone, Debug)]
enum Queue {
    /// Queue for equal ranks. Each entry consists of the turn, the job and the number of requested processors.
    Arrival(VecDeque<(u64, JobId, u32)>),
    /// The job and its number of requested processors, ordered by rank and turn.
    Rank(BTreeMap<(i128, u64), (JobId, u32)>),
}

impl Queue {
    fn new(order: QueueOrder) -> Self {
        match order {
            QueueOrder::Fifo => Queue::Arrival(VecDeque::new()),
            _ => Queue::Rank(BTreeMap::new()),
        }
    }

    /// Inserts a job. In the order of arrival, a job nearly always goes to the end of the queue; a job that returns
    /// after an interruption goes to the front.
    fn insert(&mut self, Waiting { rank, turn, id, size }: Waiting) {
        match self {
            Queue::Arrival(queue) => {
                let at = match queue.back() {
                    Some(&(last, ..)) if last > turn => {
                        queue.partition_point(|&(other, ..)| other < turn)
                    }
                    _ => queue.len(),
                };
                queue.insert(at, (turn, id, size));
            }
            Queue::Rank(queue) => {
                queue.insert((rank, turn), (id, size));
            }
        }
    }

    fn head(&self) -> Option<Waiting> {
        match self {
            Queue::Arrival(queue) => {
                queue.front().map(|&(turn, id, size)| Waiting { rank: 0, turn, id, size })
            }
            Queue::Rank(queue) => {
                let head = queue.first_key_value();
                head.map(|(&(rank, turn), &(id, size))| Waiting { rank, turn, id, size })
            }
        }
    }

    fn remove_head(&mut self) {
        match self {
            Queue::Arrival(queue) => {
                queue.pop_front();
            }
            Queue::Rank(queue) => {
                queue.pop_first();
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Queue::Arrival(queue) => queue.len(),
            Queue::Rank(queue) => queue.len(),
        }
    }
}

impl Strict {
    /// Creates an empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, queue: Queue::new(order), pending: None, blocked: None }
    }
}

/// First Come First Served.
impl Default for Strict {
    fn default() -> Self {
        Self::new(QueueOrder::Fifo)
    }
}

impl Scheduler for Strict {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        let QueuedJob { id, size, turn, .. } = job;
        self.queue.insert(Waiting { rank: self.order.rank(&job), turn, id, size });
    }

    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        if let SchedulerEvent::Completed { .. } | SchedulerEvent::MachineChanged = event {
            self.blocked = None;
        }
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        // The job selected last was not refused, so it has started.
        if self.pending.take().is_some() {
            self.blocked = self.blocked.filter(|&(_, lasts)| lasts);
        }
        let head = self.queue.head()?;
        if head.size > system.free || self.blocked.is_some_and(|(job, _)| job == head.id) {
            return None;
        }
        self.queue.remove_head();
        self.pending = Some(head);
        Some(Selection::new(head.id, Some(Reason::First { promised: None })))
    }

    fn on_refused(&mut self, job: JobId, rejection: Rejection) {
        self.blocked = Some((job, rejection.lasts()));
        if let Some(pending) = self.pending.take() {
            self.queue.insert(pending);
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// Options of `fcfs` and `priority`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StrictOptions {
    /// The order of the queue.
    pub order: QueueOrder,
}

impl SchedulerOptions for StrictOptions {
    fn uses_estimates(&self) -> bool {
        self.order.uses_estimates()
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Strict::new(self.order))
    }

    fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(Walk::new(Discipline::Strict, self.order, partitions)))
    }
}

/// The naming table of `fcfs` and `priority`, with a name for each order.
pub(super) fn table() -> Table<StrictOptions> {
    const ALIASES: [(&str, &str); 14] = [
        ("largest", "largest"),
        ("smallest", "smallest"),
        ("longest", "longest"),
        ("shortest", "shortest"),
        ("ssd", "shortest"),
        ("sjf", "shortest"),
        ("least-work", "least-work"),
        ("largest-first", "largest"),
        ("smallest-first", "smallest"),
        ("longest-first", "longest"),
        ("ljf", "longest"),
        ("shortest-first", "shortest"),
        ("shortest-job-first", "shortest"),
        ("least-work-first", "least-work"),
    ];
    let fcfs = Entry::new("fcfs", StrictOptions::default())
        .about("First Come First Served: strictly the head of the queue, no backfilling.");
    let about = "Priority queue without backfilling, ties in arrival order; largest is short for \
                 priority[order=largest], and so on. ssd (shortest service demand) and sjf mean shortest.";
    let order_help = "which job comes first: most or fewest processors, longest or shortest estimate, or \
                      smallest product of processors and estimate";
    let priority = Entry::new("priority", StrictOptions::default())
        .about(about)
        .short_for("order", &ALIASES)
        .param("order", QueueOrder::kind(), order_help, |o| &mut o.order);
    Table::new("scheduler", [fcfs, priority])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::RunningJobs;

    #[test]
    fn retries_a_head_after_a_start_if_refusals_do_not_last() {
        let running = RunningJobs::default();
        let job = |id: u32, size| QueuedJob {
            id: JobId(id),
            size,
            takes: size,
            estimate: 1,
            turn: id.into(),
        };
        for lasts in [true, false] {
            let mut queue = Strict::new(QueueOrder::Smallest);
            let next = |queue: &mut Strict, free| {
                queue
                    .next_job(System { now: 0, free, round: 0, running: &running })
                    .map(|selected| selected.job.0)
            };
            queue.arrive(job(0, 4), 0);
            assert_eq!(next(&mut queue, 8), Some(0));
            queue.on_refused(JobId(0), Rejection::Refused { lasts });
            assert_eq!(next(&mut queue, 8), None);
            queue.arrive(job(1, 2), 0);
            assert_eq!(next(&mut queue, 8), Some(1));
            assert_eq!(next(&mut queue, 6), (!lasts).then_some(0));
        }
    }
}
