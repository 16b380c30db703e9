//! Observers of a run.

use super::Timeline;
use crate::allocator::{Census, Reduction, Refusal};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// The state of the system between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Number of processors held by jobs.
    pub held: u32,
    /// Number of processors out of service. If a job still holds a processor during its outage, the processor is
    /// counted as held.
    pub down: u32,
    /// Number of processors that the running jobs requested.
    pub requested: u32,
    /// Number of waiting jobs.
    pub waiting: u32,
    /// Whether, since the last completion, a waiting job was refused although enough processors were free (external
    /// fragmentation).
    pub fragmented: bool,
    /// Counts of the allocator's units; `None` if the allocator does not allocate whole units.
    pub census: Option<Census>,
    /// Current and largest possible [fragmentation](crate::allocator::Stats::menu_fragmentation) of the allocator's
    /// menu of boxes; `None` for strategies without a menu.
    pub blocked: Option<[u64; 2]>,
}

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The job.
    pub job: JobId,
    /// The time.
    pub now: i64,
    /// The processors of the job.
    pub nodes: &'a [NodeId],
    /// Counts of the allocator's units in a coupled run; `None` if the allocator does not allocate whole units.
    pub census: Option<Census>,
    /// Number of distinct processor sets that share the best score, if [ties are
    /// counted](super::Simulation::counting_ties) and the strategy can count them.
    pub tied: Option<u32>,
}

/// Observes a run. All times are in the time unit of the jobs. A run that replays a timeline calls only
/// [`scheduled`](Observer::scheduled), [`started`](Observer::started) and [`completed`](Observer::completed); a
/// [coupled](super::Simulation::is_coupled) run calls all methods except `scheduled`.
pub trait Observer {
    /// Called when a replay of a timeline begins.
    fn scheduled(&mut self, timeline: &Timeline) {
        let _ = timeline;
    }

    /// Returns whether the run may stop before all jobs have ended.
    fn is_done(&self) -> bool {
        false
    }

    /// Called for every interval in which the state of the system was constant.
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let _ = (from, to, state);
    }

    /// Called when a job arrives.
    fn arrived(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }

    /// Called when a job could not be placed although enough processors were free: at least the minimum number that the
    /// job accepts at this time.
    fn refused(&mut self, job: JobId, refusal: Refusal) {
        let _ = (job, refusal);
    }

    /// Called when a job gets fewer processors than it requests, before [`started`](Observer::started). `requested` is
    /// the job without the reduction.
    fn reduced(&mut self, job: JobId, requested: &Job, reduction: &Reduction) {
        let _ = (job, requested, reduction);
    }

    /// Called before a job starts in these slots of a cluster; not called on other machines.
    fn took(&mut self, job: JobId, now: i64, slots: &[NodeId]) {
        let _ = (job, now, slots);
    }

    /// Called when a job starts.
    fn started(&mut self, decision: Decision<'_>) {
        let _ = decision;
    }

    /// Called when a job is interrupted because some of its processors go out of service. If `again` is true, the job
    /// [starts](Observer::started) again later; otherwise the job has [completed](Observer::completed).
    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        let _ = (job, now, nodes, again);
    }

    /// Called when a job completes.
    fn completed(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }
}

/// Defines methods of a pair of observers. Each method calls the same method of both observers.
macro_rules! to_both {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method(&mut self, $($argument: $type),*) {
            self.0.$method($($argument),*);
            self.1.$method($($argument),*);
        })*
    };
}

/// Ignores all events.
impl Observer for () {}

/// An observer that calls a function with every decision.
#[derive(Debug)]
pub struct Decisions<F>(pub F);

impl<F: FnMut(Decision<'_>)> Observer for Decisions<F> {
    fn started(&mut self, decision: Decision<'_>) {
        self.0(decision);
    }
}

/// Calls the first observer of the pair, then the second. The pair is done when both observers are done.
// Methods that are added to `Observer` must be forwarded here.
#[deny(clippy::missing_trait_methods)]
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }

    to_both! {
        scheduled(timeline: &Timeline);
        passed(from: i64, to: i64, state: &State);
        arrived(job: JobId, now: i64);
        refused(job: JobId, refusal: Refusal);
        reduced(job: JobId, requested: &Job, reduction: &Reduction);
        took(job: JobId, now: i64, slots: &[NodeId]);
        started(decision: Decision<'_>);
        cut_off(job: JobId, now: i64, nodes: &[NodeId], again: bool);
        completed(job: JobId, now: i64);
    }
}
