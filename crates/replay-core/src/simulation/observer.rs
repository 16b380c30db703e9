//! Whoever watches a coupled simulation.

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

/// Sees a coupled simulation go by. Times are those of the jobs.
pub trait Observer {
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
    fn started(&mut self, job: JobId, now: i64, nodes: &[NodeId], census: Option<Census>) {
        let _ = (job, now, nodes, census);
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

/// Two observers side by side, told in this order.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.0.passed(from, to, state);
        self.1.passed(from, to, state);
    }

    fn arrived(&mut self, job: JobId, now: i64) {
        self.0.arrived(job, now);
        self.1.arrived(job, now);
    }

    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.0.refused(job, refusal);
        self.1.refused(job, refusal);
    }

    fn reduced(&mut self, job: JobId, asked: u32, reduction: &Reduction) {
        self.0.reduced(job, asked, reduction);
        self.1.reduced(job, asked, reduction);
    }

    fn took(&mut self, job: JobId, now: i64, slots: &[NodeId]) {
        self.0.took(job, now, slots);
        self.1.took(job, now, slots);
    }

    fn started(&mut self, job: JobId, now: i64, nodes: &[NodeId], census: Option<Census>) {
        self.0.started(job, now, nodes, census);
        self.1.started(job, now, nodes, census);
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.0.cut_off(job, now, nodes, again);
        self.1.cut_off(job, now, nodes, again);
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.0.completed(job, now);
        self.1.completed(job, now);
    }
}
