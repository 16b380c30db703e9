use super::{QueueOrder, QueuedJob, Scheduler, System};
use crate::workload::JobId;

/// EASY (aggressive) backfilling: Lifka 1995, Mu'alem and Feitelson 2001.
///
/// If the head of the queue fits, it starts. Otherwise it has a guarantee, the *shadow
/// time*: walk the running jobs by estimated end, adding their processors to the free
/// ones, until the head fits. A later job may start now if it fits now and either its
/// estimated end is no later than the shadow time, or the head still fits beside it at
/// the shadow time. The first job in queue order that may, starts; then the scheduler
/// begins again from the head. Nothing is backfilled while a running job's estimated end
/// is the present instant, since its completion is about to be processed.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    order: QueueOrder,
    queue: Vec<QueuedJob>,
    scan: Option<Scan>,
}

/// Where the search for a job to backfill stands within a round.
///
/// Beginning again from the head would find nothing new before this position: a
/// backfilled job leaves the shadow time as it is (before it, even fewer processors are
/// free; at it, the head fits by the condition) and only takes away from what earlier
/// jobs lacked.
#[derive(Clone, Copy, Debug)]
struct Scan {
    round: u64,
    position: usize,
    shadow: i64,
    /// Processors free beside the head at the shadow time.
    extra: u32,
}

impl Easy {
    /// An empty queue in the given order.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, ..Self::default() }
    }

    /// Shadow time of a head that does not fit now, and the processors free beside it then.
    fn guarantee(head: &QueuedJob, system: System<'_>) -> Option<(i64, u32)> {
        let mut free = system.free;
        let mut shadow = None;
        for job in system.running.iter() {
            if shadow.is_some_and(|shadow| job.estimated_end > shadow) {
                break;
            }
            free += job.size;
            if shadow.is_none() && free >= head.size {
                shadow = Some(job.estimated_end);
            }
        }
        shadow.map(|shadow| (shadow, free - head.size))
    }
}

impl Scheduler for Easy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        let at = self.order.position(&self.queue, &job);
        self.queue.insert(at, job);
        self.scan = None;
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let head = *self.queue.first()?;
        if head.size <= system.free {
            self.queue.remove(0);
            self.scan = None;
            return Some(head.id);
        }
        if system.free == 0 || system.running.any_due_at(system.now) {
            return None;
        }
        let mut scan = match self.scan.filter(|scan| scan.round == system.round) {
            Some(scan) => scan,
            None => {
                let (shadow, extra) = Self::guarantee(&head, system)?;
                Scan { round: system.round, position: 1, shadow, extra }
            }
        };
        while let Some(&job) = self.queue.get(scan.position) {
            if job.size <= system.free {
                let ends_in_time = system.now + job.estimate <= scan.shadow;
                if ends_in_time || job.size <= scan.extra {
                    if !ends_in_time {
                        scan.extra -= job.size;
                    }
                    self.queue.remove(scan.position);
                    self.scan = Some(scan);
                    return Some(job.id);
                }
            }
            scan.position += 1;
        }
        self.scan = Some(scan);
        None
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}
