use super::options::order;
use super::queue::{Place, Queue, Waiting};
use super::{QueueOrder, QueuedJob, Scheduler, SchedulerOptions, System};
use crate::naming::{Entry, Table};
use crate::workload::JobId;

/// EASY (aggressive) backfilling: Lifka 1995, Mu'alem and Feitelson 2001.
///
/// The scheduler begins at the head of the queue, and begins again there whenever it has
/// started a job:
///
/// 1. If the head fits now, it starts.
/// 2. Otherwise it has a guarantee, the *shadow time*: walk the running jobs by estimated
///    end, adding their processors to the free ones, until the head fits. The shadow time is
///    the estimated end at which it does.
/// 3. The first later job in queue order starts that fits now, and that either ends by its
///    estimate no later than the shadow time, or leaves enough processors for the head to fit
///    beside it at the shadow time, when all running jobs estimated to end by then have ended.
///
/// Nothing is backfilled while a running job's estimated end is the present instant, since
/// its completion is about to be processed.
///
/// # Allocators that take more than was asked for
///
/// A guarantee counts processors as the allocator hands them out. A running job counts with
/// all that it holds ([`Running::size`](super::Running::size)), a waiting job with the most
/// that it can be given ([`QueuedJob::takes`]): the head fits at the shadow time, and beside
/// a backfilled job, if the most that it can be given is there. Only whether a job fits *now*
/// is left to the allocator: it is asked as soon as the processors asked for are free.
///
/// # Allocators that refuse
///
/// An allocator that needs processors in a certain shape may refuse the head although as many
/// as it takes are free. The head has then missed its reservation and gets another: the last
/// estimated end of all running jobs, beside which nothing fits. Until the head starts, jobs
/// are backfilled only if they end by then, so that this instant never moves back and the
/// head finds an empty machine at the latest. It is tried again after every completion. A
/// head for which less is free than it takes has missed nothing. A job that was to be
/// backfilled and is refused is passed over until a job completes.
#[derive(Clone, Debug, Default)]
pub struct Easy {
    order: QueueOrder,
    queue: Queue,
    scan: Option<Scan>,
    /// Completions so far; in between, what was refused would be refused again.
    completions: u64,
    named: Option<Named>,
    /// The head that has missed its reservation.
    missed: Option<JobId>,
}

/// The job named last.
#[derive(Clone, Copy, Debug)]
struct Named {
    job: QueuedJob,
    /// Where it stood in the queue.
    place: Place,
    /// Processors that were free.
    free: u32,
    /// Processors taken from those beside the head.
    beside: u32,
}

/// Where the search for a job to backfill stands within a round.
///
/// As long as backfilled jobs take what was counted, beginning again from the head would
/// find nothing new before this position: they leave the shadow time as it is (before it,
/// even fewer processors are free; at it, the head fits by the condition) and only take away
/// from what earlier jobs lacked.
#[derive(Clone, Copy, Debug)]
struct Scan {
    round: u64,
    /// Processors free if the job named last took what was counted.
    free: Option<u32>,
    place: Place,
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
            if shadow.is_none() && free >= head.takes {
                shadow = Some(job.estimated_end);
            }
        }
        shadow.map(|shadow| (shadow, free - head.takes))
    }

    fn was_refused(&self, waiting: &Waiting) -> bool {
        waiting.refused > self.completions
    }

    fn name(&mut self, place: Place, free: u32, beside: u32) -> Option<JobId> {
        let job = self.queue.take(place).job;
        self.named = Some(Named { job, place, free, beside });
        Some(job.id)
    }
}

impl Scheduler for Easy {
    fn arrive(&mut self, job: QueuedJob, _now: i64) {
        self.queue.insert(self.order, job);
        self.scan = None;
    }

    fn complete(&mut self, _job: JobId, _now: i64) {
        self.completions += 1;
    }

    fn next(&mut self, system: System<'_>) -> Option<JobId> {
        let System { now, free, round, running } = system;
        let (place, head) = self.queue.head()?;
        if head.job.size <= free && !self.was_refused(&head) {
            self.scan = None;
            return self.name(place, free, 0);
        }
        if free == 0 || running.any_due_at(now) {
            return None;
        }
        let going_on = self.scan.filter(|scan| scan.round == round && scan.free == Some(free));
        let mut scan = match going_on {
            Some(scan) => scan,
            None => {
                let (shadow, extra) = if self.missed == Some(head.job.id) {
                    (running.last_estimated_end()?, 0)
                } else {
                    Self::guarantee(&head.job, system)?
                };
                Scan { round, free: Some(free), place: place.next(), shadow, extra }
            }
        };
        let Scan { shadow, extra, .. } = scan;
        let in_time = |estimate: i64| now + estimate <= shadow;
        let found = self.queue.find(
            scan.place,
            |least| least.size <= free && (in_time(least.estimate) || least.takes <= extra),
            |Waiting { job, refused }| {
                job.size <= free
                    && *refused <= self.completions
                    && (in_time(job.estimate) || job.takes <= extra)
            },
        );
        // Without a job the round is over: nothing asks from here again.
        let (place, Waiting { job, .. }) = found?;
        let beside = if in_time(job.estimate) { 0 } else { job.takes };
        scan.extra -= beside;
        scan.free = free.checked_sub(job.takes);
        scan.place = place;
        self.scan = Some(scan);
        self.name(place, free, beside)
    }

    fn refused(&mut self, job: JobId) {
        let Some(named) = self.named.take() else { return };
        let waiting = Waiting { job: named.job, refused: self.completions + 1 };
        self.queue.put(named.place, waiting);
        match &mut self.scan {
            Some(scan) => {
                scan.extra += named.beside;
                scan.free = Some(named.free);
                scan.place = scan.place.next();
            }
            // Only the head is named without a scan.
            None if named.job.takes <= named.free => self.missed = Some(job),
            None => {}
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

/// What it can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EasyOptions {
    /// The order of the queue.
    pub order: QueueOrder,
}

impl SchedulerOptions for EasyOptions {
    fn uses_estimates(&self) -> bool {
        true
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(Easy::new(self.order))
    }
}

/// `easy`.
pub(super) fn table() -> Table<EasyOptions> {
    let about = "EASY (aggressive) backfilling. A head of queue that does not fit has a shadow time: the \
                 estimated end of the running job (walked by estimated end, then job) whose processors make \
                 it fit. A later job that fits now starts if now + estimate <= shadow time, or if the head \
                 still fits beside it at the shadow time. First such job in queue order, then again from the \
                 head. Nothing is backfilled while a running job's estimated end equals the present instant. \
                 A head that fits by count but is refused by the allocator has missed its reservation: until \
                 it starts, its shadow time is the last estimated end of all running jobs and nothing fits \
                 beside it, so that it starts on an empty machine at the latest. Where the allocator rounds \
                 up, a running job counts with what it holds and a waiting job with the most it can be given.";
    let entry = Entry::new("easy", EasyOptions::default())
        .about(about)
        .source("Lifka 1995; Mu'alem, Feitelson 2001")
        .aliases(&["backfill", "easy-backfill"])
        .param("order", order(), "order of the queue; estimates for longest and shortest", |o| {
            &mut o.order
        });
    Table::new("scheduler", [entry])
}
