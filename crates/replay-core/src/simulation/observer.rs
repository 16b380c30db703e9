//! Observers of a run.

use super::Timeline;
use crate::allocator::reduced::Reduction;
use crate::allocator::{Census, Refusal};
use crate::topology::NodeId;
use crate::workload::JobId;

/// The state of the system between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Number of processors held by jobs.
    pub held: u32,
    /// Number of processors out of service. A processor in an outage that a job still holds counts as held.
    pub down: u32,
    /// Number of processors that the running jobs requested.
    pub requested: u32,
    /// Number of waiting jobs.
    pub waiting: u32,
    /// Whether a waiting job was refused since the last completion although enough processors were free (external
    /// fragmentation).
    pub fragmented: bool,
    /// Counts of the allocator, if it hands out units.
    pub census: Option<Census>,
    /// The [blocked](crate::allocator::Stats::menu_fragmentation) part of the allocator's menu of boxes, and its
    /// maximum.
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
    /// Counts of the allocator in a coupled run, if it hands out units.
    pub census: Option<Census>,
    /// Number of distinct processor sets with the best score, if [ties are
    /// counted](super::Simulation::counting_ties) and the strategy knows them.
    pub tied: Option<u32>,
}

/// Observes a run. Times are in units of the jobs' times. A run that replays a timeline calls only
/// [`scheduled`](Observer::scheduled), [`started`](Observer::started) and [`completed`](Observer::completed); a
/// [coupled](super::Simulation::is_coupled) run calls everything except `scheduled`.
pub trait Observer {
    /// Called when the run begins to replay a timeline.
    fn scheduled(&mut self, timeline: &Timeline) {
        let _ = timeline;
    }

    /// Returns whether the run may end before all jobs have.
    fn is_done(&self) -> bool {
        false
    }

    /// Called when the system was in the same state for an interval.
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let _ = (from, to, state);
    }

    /// Called when a job arrives.
    fn arrived(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }

    /// Called when a job could not be placed although at least the minimum number of processors that it accepts now are
    /// free.
    fn refused(&mut self, job: JobId, refusal: Refusal) {
        let _ = (job, refusal);
    }

    /// Called when a job gets fewer processors than it requests, before [`started`](Observer::started).
    fn reduced(&mut self, job: JobId, requested: u32, reduction: &Reduction) {
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

    /// Called when a job is interrupted because some of its processors go out of service. If `again`, it
    /// [starts](Observer::started) again later; otherwise it has [completed](Observer::completed).
    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        let _ = (job, now, nodes, again);
    }

    /// Called when a job completes.
    fn completed(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }
}

/// Defines methods of a pair that call those of both observers.
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

/// Calls a function with every decision.
#[derive(Debug)]
pub struct Decisions<F>(pub F);

impl<F: FnMut(Decision<'_>)> Observer for Decisions<F> {
    fn started(&mut self, decision: Decision<'_>) {
        self.0(decision);
    }
}

/// Calls two observers in this order; done if both are.
// `Observer` methods added later must be forwarded here.
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
        reduced(job: JobId, requested: u32, reduction: &Reduction);
        took(job: JobId, now: i64, slots: &[NodeId]);
        started(decision: Decision<'_>);
        cut_off(job: JobId, now: i64, nodes: &[NodeId], again: bool);
        completed(job: JobId, now: i64);
    }
}
