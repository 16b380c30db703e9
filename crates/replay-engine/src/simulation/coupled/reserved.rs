//! Searches for a place to reserve for a waiting job.

use super::future::Copies;
use super::outage_state::OutageState;
use crate::allocator::{Allocator, MachineEvent, Refusal, Request};
use crate::machine::Machine;
use crate::topology::NodeId;
use crate::workload::JobId;

/// A reserved place: the processors for a waiting job, and the time at which they are free according to estimates.
pub struct Reserved {
    /// The job.
    pub job: JobId,
    /// The earliest time at which the place is free.
    pub at: i64,
    /// One flag per processor: true if the processor belongs to the place.
    pub taken: Vec<bool>,
    /// The state at time `at`, in which another place may be found; `None` if the place is fixed.
    replacement: Option<Replacement>,
}

/// What the search for another place needs.
struct Replacement {
    /// Copies of the machine and its allocator at the time of the reservation. On the copies, the waiting job holds no
    /// processors. The processors of later jobs that still run at the time of the reservation are not available. `None`
    /// if the [kept future](super::future::Future) contains the copies.
    copies: Option<Copies>,
    request: Request,
    place: Vec<NodeId>,
}

/// A query for a place.
#[derive(Clone, Copy, Debug)]
pub struct PlaceQuery {
    /// The job.
    pub job: JobId,
    /// The request of the job.
    pub request: Request,
    /// The minimum number of processors that the job accepts.
    pub least: u32,
    /// The current time.
    pub now: i64,
    /// The result of the previous search for this job. A new search starts at the previous result.
    pub before: Option<i64>,
    /// Whether another place may replace the place that is found.
    pub is_replaceable: bool,
}

impl Reserved {
    /// Finds the first time at which the allocator finds a place for a job. The search uses copies of the machine and
    /// the allocator. On the copies, the `running` jobs release their processors in the order of their estimated ends;
    /// a job that has exceeded its estimate ends at `now`. Returns `None` if the job has no place on the empty machine.
    ///
    /// If refusals [last](crate::allocator::Capabilities::refusals_last) and the job has a place at some time, it also
    /// has a place at all later times. A bisection therefore needs few allocator calls. If refusals do not last, or if
    /// there are future outages, all times are tried. With future outages, their beginnings and ends are tried in
    /// addition to the estimated ends. If the allocator postpones the request, the end of the postponement is tried
    /// too.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] on cancellation during a decision.
    pub fn find<'a>(
        query: PlaceQuery,
        machine: &Machine,
        down: &OutageState<'_>,
        allocator: &dyn Allocator,
        running: impl Iterator<Item = (i64, &'a [NodeId])>,
    ) -> Result<Option<Self>, Refusal> {
        let PlaceQuery { request, least, now, before, .. } = query;
        let processors = machine.processors();
        let Some(allocator) = allocator.try_clone() else { return Ok(None) };
        let running = running.map(|(end, nodes)| (end.max(now), nodes)).collect();
        let by_trial = allocator.capabilities().reserves_by_trial;
        let (times, nodes) = (Vec::new(), Vec::new());
        let mut search = Search { running, request, by_trial, postponed: None, times, nodes };
        let has_outages = down.next_time().is_some();
        match has_outages {
            true => search.list_times_with_outages(down),
            false => search.list_times(machine.free_count(), least as usize),
        }
        let is_large_enough = machine.free_count() >= least as usize;
        let mut ahead =
            FutureState { machine: machine.clone(), down: down.clone(), allocator, ended: 0 };
        let found = match !has_outages && ahead.allocator.capabilities().refusals_last {
            true => search.bisect(&mut ahead, before)?,
            false => search.try_all(&mut ahead, is_large_enough.then_some(now))?,
        };
        Ok(found.map(|at| {
            let FutureState { machine, mut allocator, .. } = ahead;
            allocator.on_event(&machine, MachineEvent::Released(&search.nodes));
            let query = PlaceQuery { request: search.request, ..query };
            Self::new(query, at, search.nodes, Some(Copies { machine, allocator }), processors)
        }))
    }

    /// Reserves a place from time `at` on a machine with `processors` processors. `copies` is `None` if the [kept
    /// future](super::future::Future) contains the copies at this time.
    pub fn new(
        query: PlaceQuery,
        at: i64,
        place: Vec<NodeId>,
        copies: Option<Copies>,
        processors: usize,
    ) -> Self {
        let PlaceQuery { job, request, is_replaceable, .. } = query;
        let mut taken = vec![false; processors];
        place.iter().for_each(|node| taken[node.index()] = true);
        let replacement = is_replaceable.then_some(Replacement { copies, request, place });
        Self { job, at, taken, replacement }
    }

    /// Returns whether a later job that is still running at the time of the reservation may start on these nodes. The
    /// nodes must be free now, and the job must start if the result is `true`. Nodes that are out of service at the time
    /// of the reservation are unavailable to the waiting job with and without the later job.
    ///
    /// The later job may start if none of its nodes belongs to the reserved place, or if the allocator finds another
    /// place for the waiting job. If the allocator finds another place, this place then replaces the reserved place.
    /// `kept` contains the copies at the time of the reservation if the place was found in the kept future.
    ///
    /// # Errors
    /// [`Refusal::Cancelled`] on cancellation during a decision.
    pub fn admits(&mut self, nodes: &[NodeId], kept: Option<&mut Copies>) -> Result<bool, Refusal> {
        let is_spared = !nodes.iter().any(|node| self.taken[node.index()]);
        let Some(Replacement { copies, request, place }) = &mut self.replacement else {
            return Ok(is_spared);
        };
        let Some(Copies { machine, allocator }) = copies.as_mut().or(kept) else {
            return Ok(is_spared);
        };
        let held: Vec<NodeId> =
            nodes.iter().copied().filter(|&node| machine.is_free(node)).collect();
        machine.occupy(&held);
        allocator.on_event(machine, MachineEvent::NodesDown(&held));
        if is_spared {
            return Ok(true);
        }
        let mut other = Vec::with_capacity(place.len());
        match allocator.allocate(machine, *request, &mut other) {
            Ok(()) => {
                allocator.on_event(machine, MachineEvent::Released(&other));
                place.iter().for_each(|node| self.taken[node.index()] = false);
                other.iter().for_each(|node| self.taken[node.index()] = true);
                *place = other;
                Ok(true)
            }
            Err(Refusal::Cancelled(cancelled)) => Err(cancelled.into()),
            Err(_) => {
                machine.release(&held);
                allocator.on_event(machine, MachineEvent::NodesUp(&held));
                Ok(false)
            }
        }
    }
}

/// Copies of the machine and its allocator after the first `ended` running jobs have ended.
struct FutureState<'d> {
    machine: Machine,
    down: OutageState<'d>,
    allocator: Box<dyn Allocator>,
    ended: usize,
}

impl FutureState<'_> {
    fn copy(&self) -> Option<Self> {
        let (machine, allocator) = (self.machine.clone(), self.allocator.try_clone()?);
        Some(Self { machine, down: self.down.clone(), allocator, ended: self.ended })
    }

    /// Starts and ends the outage windows that are due.
    fn apply_outages(&mut self, now: i64) {
        self.down.change(now, &mut self.machine, self.allocator.as_mut());
    }
}

/// A search over the estimated ends of running jobs.
struct Search<'a> {
    running: Vec<(i64, &'a [NodeId])>,
    request: Request,
    /// Whether the allocator [reserves by trial](crate::allocator::Capabilities::reserves_by_trial): its decision then
    /// depends on the time.
    by_trial: bool,
    /// The time until which the last request was postponed.
    postponed: Option<i64>,
    /// The times at which enough processors are free, each with the number of running jobs that have ended by this
    /// time.
    times: Vec<(i64, usize)>,
    /// The place found.
    nodes: Vec<NodeId>,
}

impl Search<'_> {
    fn list_times(&mut self, mut free: usize, least: usize) {
        for (ended, &(at, nodes)) in (1..).zip(&self.running) {
            free += nodes.len();
            let last_of_instant = self.running.get(ended).is_none_or(|next| next.0 > at);
            if last_of_instant && free >= least {
                self.times.push((at, ended));
            }
        }
    }

    /// Lists the times at which jobs end, windows begin, or windows end.
    fn list_times_with_outages(&mut self, down: &OutageState<'_>) {
        let mut times: Vec<i64> =
            self.running.iter().map(|job| job.0).chain(down.times()).collect();
        times.sort_unstable();
        times.dedup();
        let ended = |at: i64| self.running.partition_point(|job| job.0 <= at);
        self.times = times.into_iter().map(|at| (at, ended(at))).collect();
    }

    /// Returns whether there is a place at `times[time]`. `ahead` must not have advanced beyond this time.
    fn has_place(&mut self, ahead: &mut FutureState<'_>, time: usize) -> Result<bool, Refusal> {
        let (at, ended) = self.times[time];
        for &(end, nodes) in &self.running[ahead.ended..ended] {
            // At equal times, completions come before changes of outages.
            ahead.apply_outages(end.saturating_sub(1));
            ahead.machine.release(nodes);
            ahead.allocator.on_event(&ahead.machine, MachineEvent::Released(nodes));
            ahead.down.drain(&mut ahead.machine, nodes, ahead.allocator.as_mut());
        }
        ahead.apply_outages(at);
        ahead.ended = ended;
        self.has_place_at(ahead, at)
    }

    /// Returns whether there is a place at time `at`, to which `ahead` has advanced.
    fn has_place_at(&mut self, ahead: &mut FutureState<'_>, at: i64) -> Result<bool, Refusal> {
        if self.by_trial {
            self.request.times.now = at;
        }
        self.postponed = None;
        match ahead.allocator.allocate(&ahead.machine, self.request, &mut self.nodes) {
            Ok(()) => Ok(true),
            Err(Refusal::Cancelled(cancelled)) => Err(cancelled.into()),
            Err(Refusal::Postponed { until }) => {
                self.postponed = Some(until);
                Ok(false)
            }
            Err(Refusal::TooFewFree | Refusal::Fragmented) => Ok(false),
        }
    }

    /// Finds the first time with a place by trying all times. If the request is postponed at one time, and the
    /// postponement ends before the next time, the end of the postponement is tried too. `now` is the current time;
    /// `None` if too few processors are free at this time.
    fn try_all(
        &mut self,
        ahead: &mut FutureState<'_>,
        now: Option<i64>,
    ) -> Result<Option<i64>, Refusal> {
        // The request was refused now. The call only determines whether the request is postponed.
        if let Some(now) = now.filter(|_| self.by_trial)
            && self.has_place_at(ahead, now)?
        {
            return Ok(Some(now));
        }
        for time in 0..self.times.len() {
            let at = self.times[time].0;
            if let Some(until) = self.postponed.filter(|&until| until < at)
                && self.has_place_at(ahead, until)?
            {
                return Ok(Some(until));
            }
            if self.has_place(ahead, time)? {
                return Ok(Some(at));
            }
        }
        if let Some(until) = self.postponed
            && self.has_place_at(ahead, until)?
        {
            return Ok(Some(until));
        }
        Ok(None)
    }

    /// Finds the first time with a place, under the assumption that there is also a place at all later times. First
    /// tries the previous result, if any, and the time directly before the previous result. After that, tries times at
    /// doubling distances, and finally bisects. If a place is found, `refused` becomes the state at the time of this
    /// place.
    fn bisect(
        &mut self,
        refused: &mut FutureState<'_>,
        before: Option<i64>,
    ) -> Result<Option<i64>, Refusal> {
        // Times before index `least` have no place; times from index `most` on have a place.
        let (mut least, mut most) = (0, self.times.len());
        let (mut found, mut placed) = (Vec::new(), None);
        let guess = before.map_or(0, |at| self.times.partition_point(|one| one.0 < at));
        let (mut next, mut step) = (guess.saturating_sub(1), 0);
        while least < most {
            let Some(mut ahead) = refused.copy() else { return Ok(None) };
            self.nodes.clear();
            let time = next.clamp(least, most - 1);
            if self.has_place(&mut ahead, time)? {
                most = time;
                std::mem::swap(&mut found, &mut self.nodes);
                placed = Some(ahead);
            } else {
                least = time + 1;
                *refused = ahead;
            }
            next = match most < self.times.len() {
                true => least + (most - least) / 2,
                false => least + step,
            };
            step = 2 * step + 1;
        }
        self.nodes = found;
        placed.into_iter().for_each(|placed| *refused = placed);
        Ok(self.times.get(most).map(|time| time.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::{Capabilities, Refusal};
    use crate::simulation::Outages;
    use crate::topology::Topology;
    use proptest::prelude::*;

    /// Allocates the first free range of processors that begins at a multiple of the given number, or at a multiple of
    /// its own length if the number is 0.
    #[derive(Clone)]
    struct Ranges(usize);

    impl Allocator for Ranges {
        fn allocate(
            &mut self,
            machine: &Machine,
            request: Request,
            chosen: &mut Vec<NodeId>,
        ) -> Result<(), Refusal> {
            let size = request.size as usize;
            if size > machine.free_count() {
                return Err(Refusal::TooFewFree);
            }
            let free = machine.free_map();
            let step = if self.0 == 0 { size } else { self.0 };
            let mut bases = (0..free.len().saturating_sub(size - 1)).step_by(step);
            let base = bases.find(|&base| free[base..base + size].iter().all(|&free| free));
            let base = base.ok_or(Refusal::Fragmented)?;
            chosen.extend((base..base + size).map(|node| NodeId(node as u32)));
            Ok(())
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { refusals_last: true, ..Capabilities::coupled() }
        }

        fn try_clone(&self) -> Option<Box<dyn Allocator>> {
            Some(Box::new(self.clone()))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Bisection and linear search agree for every strategy that can be copied, regardless of the previous result.
        #[test]
        fn bisection_agrees_with_trying_all_times(
            starts in proptest::collection::vec((1u32..20, 0i64..40), 1..40),
            size in 1u32..40,
            before in proptest::option::of(0i64..50),
            machine in proptest::sample::select(vec!["8x8", "torus:6x7", "torus:4x4x4"]),
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let mut searched = 0;
            for step in [0, 1, 2, 3] {
                let mut allocator: Box<dyn Allocator> = Box::new(Ranges(step));
                let request = Request::of_size(size);
                let least = allocator.bounds(request).min_processors_now;
                let mut machine = Machine::new(topology.clone());
                let mut running: Vec<(i64, Vec<NodeId>)> = Vec::new();
                for &(size, end) in &starts {
                    let mut nodes = Vec::new();
                    let request = Request::of_size(size);
                    if allocator.bounds(request).servable
                        && allocator.allocate(&machine, request, &mut nodes).is_ok()
                    {
                        machine.occupy(&nodes);
                        running.push((end, nodes));
                    }
                }
                running.sort_by_key(|one| one.0);
                let running: Vec<(i64, &[NodeId])> =
                    running.iter().map(|(end, nodes)| (*end, &nodes[..])).collect();
                let copy = allocator.try_clone().expect("a copy");
                let none = Outages::NONE;
                let down = OutageState::new(&none, topology.processors());
                let (machine, down) = (machine.clone(), down);
                let mut ahead =
                    FutureState { machine: machine.clone(), down: down.clone(), allocator: copy, ended: 0 };
                let (times, nodes) = (Vec::new(), Vec::new());
                let (by_trial, postponed) = (false, None);
                let running_too = running.clone();
                let mut plain =
                    Search { running: running_too, request, by_trial, postponed, times, nodes };
                plain.list_times(machine.free_count(), least as usize);
                let expected = plain.try_all(&mut ahead, None).expect("no cancellation");
                let is_replaceable = false;
                let query = PlaceQuery { job: JobId(0), request, least, now: 0, before, is_replaceable };
                let running = running.into_iter();
                let found = Reserved::find(query, &machine, &down, allocator.as_ref(), running);
                let found = found.expect("no cancellation");
                prop_assert_eq!(found.as_ref().map(|found| found.at), expected, "step {}", step);
                if let Some(found) = found {
                    let place = plain.nodes.iter().map(|node| node.index());
                    let taken = found.taken.iter().enumerate().filter(|(_, taken)| **taken);
                    let place: std::collections::BTreeSet<usize> = place.collect();
                    prop_assert_eq!(place, taken.map(|(at, _)| at).collect());
                    searched += 1;
                }
            }
            prop_assert!(searched > 0 || size > 20);
        }
    }
}
