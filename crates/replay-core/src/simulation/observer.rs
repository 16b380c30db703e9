//! Observers of a run.

use super::Timeline;
use crate::allocator::reduced::Reduction;
use crate::allocator::{Census, Refusal};
use crate::topology::NodeId;
use crate::workload::JobId;

/// The system between two instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Processors held by jobs.
    pub held: u32,
    /// Processors out of service. One that is to be, but that a job still holds, is held.
    pub down: u32,
    /// Processors that the running jobs asked for.
    pub requested: u32,
    /// Jobs waiting.
    pub waiting: u32,
    /// Whether a waiting job was refused since the last completion although as many
    /// processors as it would take are free (external fragmentation).
    pub fragmented: bool,
    /// What the allocator counts, if it hands out units.
    pub census: Option<Census>,
    /// How much of its menu of boxes is [blocked](crate::allocator::Stats::menu_fragmentation), and the most that can be.
    pub blocked: Option<[u64; 2]>,
}

/// An allocation as it is made.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The job.
    pub job: JobId,
    /// The instant.
    pub now: i64,
    /// Its processors.
    pub nodes: &'a [NodeId],
    /// What the allocator counts in a coupled run, if it hands out units.
    pub census: Option<Census>,
    /// Number of distinct processor sets with the best score, if [ties are
    /// counted](super::Simulation::counting_ties) and the strategy knows them.
    pub tied: Option<u32>,
}

/// Observes a run. Times are those of the jobs. A run that replays a timeline reports only
/// [`scheduled`](Observer::scheduled), [`started`](Observer::started) and
/// [`completed`](Observer::completed), a [coupled](super::Simulation::is_coupled) one everything but the first.
pub trait Observer {
    /// The run begins to replay this timeline.
    fn scheduled(&mut self, timeline: &Timeline) {
        let _ = timeline;
    }

    /// Whether the rest of the run is of no interest.
    fn is_done(&self) -> bool {
        false
    }

    /// The system stayed as it was for a while.
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let _ = (from, to, state);
    }

    /// A job was submitted.
    fn arrived(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }

    /// A job could not be placed although the fewest processors that it may have now are free.
    fn refused(&mut self, job: JobId, refusal: Refusal) {
        let _ = (job, refusal);
    }

    /// A job gets fewer processors than it asks for; [`started`](Observer::started) follows.
    fn reduced(&mut self, job: JobId, asked: u32, reduction: &Reduction) {
        let _ = (job, asked, reduction);
    }

    /// A job is about to start on a cluster, in these slots; of other machines nobody is told.
    fn took(&mut self, job: JobId, now: i64, slots: &[NodeId]) {
        let _ = (job, now, slots);
    }

    /// A job got processors.
    fn started(&mut self, decision: Decision<'_>) {
        let _ = decision;
    }

    /// A job is cut off, since some of its processors go out of service: it starts
    /// [again](Observer::started) later if `again`, else it has [completed](Observer::completed).
    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        let _ = (job, now, nodes, again);
    }

    /// A job gave its processors back.
    fn completed(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }
}

/// Methods of a pair that call those of both.
macro_rules! to_both {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method(&mut self, $($argument: $type),*) {
            self.0.$method($($argument),*);
            self.1.$method($($argument),*);
        })*
    };
}

/// Observes nothing.
impl Observer for () {}

/// Calls a function with every decision.
#[derive(Debug)]
pub struct Decisions<F>(pub F);

impl<F: FnMut(Decision<'_>)> Observer for Decisions<F> {
    fn started(&mut self, decision: Decision<'_>) {
        self.0(decision);
    }
}

/// Two observers side by side, called in this order; done if both are.
// A method that is added to the trait must be added here.
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
        reduced(job: JobId, asked: u32, reduction: &Reduction);
        took(job: JobId, now: i64, slots: &[NodeId]);
        started(decision: Decision<'_>);
        cut_off(job: JobId, now: i64, nodes: &[NodeId], again: bool);
        completed(job: JobId, now: i64);
    }
}
