//! The future of the machine, which is kept between searches for a place.
//!
//! The state at a future time t depends only on the running jobs whose estimated ends are later than t: they hold their
//! processors, and all other processors are free. The start or the end of a job with estimated end e therefore changes
//! the state only before e. [`Future`] keeps one copy of the machine and its allocator, which moves from time to time,
//! and the times at which the head of the queue has no place. [`Reserved::find`](super::reserved::Reserved::find)
//! computes the same places on new copies.

use std::collections::BTreeMap;

use super::reserved::PlaceQuery;
use crate::allocator::{Allocator, MachineEvent, Refusal};
use crate::machine::Machine;
use crate::topology::NodeId;
use crate::workload::JobId;

/// Copies of the machine and its allocator at a future time.
pub struct Copies {
    pub machine: Machine,
    pub allocator: Box<dyn Allocator>,
}

/// The kept future. The allocator must [reserve by trial](crate::allocator::Capabilities::reserves_by_trial), and no
/// processor may be out of service during the run.
pub struct Future {
    copies: Copies,
    /// A running job holds its processors on the copies if its estimated end is later than this time.
    at: i64,
    /// The job of the last search.
    job: Option<JobId>,
    /// Times at which this job has no place. The value is the end of the postponement if the allocator postpones the
    /// job.
    refused: BTreeMap<i64, Option<i64>>,
    /// The place found by the last search, and its time; `None` after a change of the state at this time.
    found: Option<(i64, Vec<NodeId>)>,
}

impl Future {
    /// Creates the future of a machine from copies of its current state.
    pub fn new(machine: Machine, allocator: Box<dyn Allocator>) -> Self {
        let copies = Copies { machine, allocator };
        Self { copies, at: i64::MIN, job: None, refused: BTreeMap::new(), found: None }
    }

    /// Returns the copies at the time of the last search's place.
    pub fn copies(&mut self) -> &mut Copies {
        &mut self.copies
    }

    /// Records the start of a job with estimated end `end`. The processors may already be busy on the copies.
    pub fn start(&mut self, end: i64, nodes: &[NodeId]) {
        if end > self.at {
            let Copies { machine, allocator } = &mut self.copies;
            if nodes.iter().all(|&node| machine.is_free(node)) {
                machine.occupy(nodes);
                allocator.on_event(machine, MachineEvent::NodesDown(nodes));
            }
        }
        self.forget_before(end);
    }

    /// Records the end of a job with estimated end `end`.
    pub fn complete(&mut self, end: i64, nodes: &[NodeId]) {
        if end > self.at {
            self.copies.machine.release(nodes);
            self.copies.allocator.on_event(&self.copies.machine, MachineEvent::Released(nodes));
        }
        self.forget_before(end);
    }

    /// Discards the decisions at times before `end`.
    fn forget_before(&mut self, end: i64) {
        self.refused = self.refused.split_off(&end);
        self.found.take_if(|(at, _)| *at < end);
    }

    /// Finds the first time at which a job has a place, and the place, as
    /// [`Reserved::find`](super::reserved::Reserved::find) does. `running` contains the running jobs in the order of
    /// their estimated ends, and `free` is the number of free processors. If the decision on the job at the current
    /// time is known to be a refusal, `refusal` contains the end of the postponement, if any.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] on cancellation during a decision.
    pub fn find(
        &mut self,
        query: PlaceQuery,
        refusal: Option<Option<i64>>,
        mut free: usize,
        running: &[(i64, &[NodeId])],
    ) -> Result<Option<(i64, Vec<NodeId>)>, Refusal> {
        let PlaceQuery { job, least, now, .. } = query;
        if self.job.replace(job) != Some(job) {
            self.refused.clear();
            self.found = None;
        }
        self.refused = self.refused.split_off(&now);
        let mut search = Search { query, running, postponed: None };
        if free >= least as usize {
            match refusal {
                Some(postponed) => search.postponed = postponed,
                None => {
                    if let Some(nodes) = search.ask(self, i64::MIN, now)? {
                        return Ok(Some((now, nodes)));
                    }
                }
            }
        }
        // The last time that was tried. No running job ends between this time and the end of a postponement.
        let mut before = i64::MIN;
        for (ended, &(end, nodes)) in (1..).zip(running) {
            free += nodes.len();
            let at = end.max(now);
            let last_of_instant = running.get(ended).is_none_or(|next| next.0.max(now) > at);
            if !last_of_instant || free < least as usize {
                continue;
            }
            if let Some(until) = search.postponed.filter(|&until| until < at)
                && let Some(nodes) = search.decide(self, until.max(before), until)?
            {
                return Ok(Some((until, nodes)));
            }
            if let Some(nodes) = search.decide(self, at, at)? {
                return Ok(Some((at, nodes)));
            }
            before = at;
        }
        if let Some(until) = search.postponed
            && let Some(nodes) = search.decide(self, until.max(before), until)?
        {
            return Ok(Some((until, nodes)));
        }
        Ok(None)
    }

    /// Moves the copies to a time: running jobs hold their processors if their estimated ends are later.
    fn seek(&mut self, at: i64, running: &[(i64, &[NodeId])]) {
        let Copies { machine, allocator } = &mut self.copies;
        let [from, to] = [self.at, at].map(|time| running.partition_point(|job| job.0 <= time));
        for &(_, nodes) in running.get(from..to).unwrap_or_default() {
            machine.release(nodes);
            allocator.on_event(machine, MachineEvent::Released(nodes));
        }
        for &(_, nodes) in running.get(to..from).unwrap_or_default() {
            machine.occupy(nodes);
            allocator.on_event(machine, MachineEvent::NodesDown(nodes));
        }
        self.at = at;
    }
}

/// A search for a place.
struct Search<'a> {
    query: PlaceQuery,
    /// The running jobs in the order of their estimated ends.
    running: &'a [(i64, &'a [NodeId])],
    /// The time until which the last request was postponed.
    postponed: Option<i64>,
}

impl Search<'_> {
    /// Returns the place of the job at time `at` in the state at time `state`. Uses the decision of an earlier search
    /// if it is kept.
    fn decide(
        &mut self,
        future: &mut Future,
        state: i64,
        at: i64,
    ) -> Result<Option<Vec<NodeId>>, Refusal> {
        if let Some(&postponed) = future.refused.get(&at) {
            self.postponed = postponed;
            return Ok(None);
        }
        if let Some((_, nodes)) = future.found.as_ref().filter(|found| found.0 == at) {
            let nodes = nodes.clone();
            future.seek(state, self.running);
            return Ok(Some(nodes));
        }
        let decided = self.ask(future, state, at)?;
        match &decided {
            Some(nodes) => future.found = Some((at, nodes.clone())),
            None => {
                future.refused.insert(at, self.postponed);
            }
        }
        Ok(decided)
    }

    /// Requests a place at time `at` in the state at time `state`.
    fn ask(
        &mut self,
        future: &mut Future,
        state: i64,
        at: i64,
    ) -> Result<Option<Vec<NodeId>>, Refusal> {
        future.seek(state, self.running);
        let Copies { machine, allocator } = &mut future.copies;
        let (mut request, mut nodes) = (self.query.request, Vec::new());
        request.times.now = at;
        self.postponed = None;
        match allocator.allocate(machine, request, &mut nodes) {
            Ok(()) => {
                // The job does not hold its place on the copies.
                allocator.on_event(machine, MachineEvent::Released(&nodes));
                Ok(Some(nodes))
            }
            Err(Refusal::Cancelled(cancelled)) => Err(cancelled.into()),
            Err(Refusal::Postponed { until }) => {
                self.postponed = Some(until);
                Ok(None)
            }
            Err(Refusal::TooFewFree | Refusal::Fragmented) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
