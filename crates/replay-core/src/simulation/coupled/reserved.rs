//! The place that a job waits for.

use super::down::Down;
use crate::allocator::{Allocator, MachineEvent, Refusal, Request};
use crate::machine::Machine;
use crate::topology::NodeId;
use crate::workload::JobId;

/// Where and when a waiting job will have processors, by estimates.
#[derive(Clone, Debug)]
pub struct Reserved {
    /// The job.
    pub job: JobId,
    /// The earliest instant.
    pub at: i64,
    /// By processor: whether it is of the place.
    taken: Vec<bool>,
}

/// Who wants a place.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The job.
    pub job: JobId,
    /// What it asks for.
    pub request: Request,
    /// The fewest processors that it may have.
    pub least: u32,
    /// The time.
    pub now: i64,
    /// When it was to have a place as that was looked for last: where a search begins.
    pub before: Option<i64>,
}

impl Reserved {
    /// Asks a copy of the allocator on a copy of the machine, of which the `running` jobs give back
    /// their processors at their estimated ends, in ascending order, those that are over now at `now`,
    /// for the first instant with a place, all processors of that instant being free. `None` if there is none on
    /// the empty machine.
    ///
    /// Where refusals [last](crate::allocator::Capabilities::refusals_last), there is a place from one instant on and none
    /// before, and few instants are asked about; elsewhere all. So are they where
    /// processors are to be out of service: what is in somebody's way then, and when it is back, is as the windows say.
    ///
    /// # Errors
    /// Stopped in the middle of a decision.
    pub fn find<'a>(
        wanted: Wanted,
        machine: &Machine,
        down: &Down<'_>,
        allocator: &dyn Allocator,
        running: impl Iterator<Item = (i64, &'a [NodeId])>,
    ) -> Result<Option<Self>, Refusal> {
        let Wanted { job, request, least, now, before } = wanted;
        let Some(allocator) = allocator.try_clone() else { return Ok(None) };
        let running = running.map(|(end, nodes)| (end.max(now), nodes)).collect();
        let by_trial = allocator.capabilities().reserves_by_trial;
        let (instants, nodes) = (Vec::new(), Vec::new());
        let mut search = Search { running, request, by_trial, postponed: None, instants, nodes };
        let amid = down.next_time().is_some();
        match amid {
            true => search.list_instants_amid(down),
            false => search.list_instants(machine.free_count(), least as usize),
        }
        let ahead = Ahead { machine: machine.clone(), down: down.clone(), allocator, ended: 0 };
        let found = match !amid && ahead.allocator.capabilities().refusals_last {
            true => search.by_halves(ahead, before)?,
            false => search.one_by_one(ahead, now)?,
        };
        Ok(found.map(|at| {
            let mut taken = vec![false; machine.processors()];
            search.nodes.iter().for_each(|node| taken[node.index()] = true);
            Self { job, at, taken }
        }))
    }

    /// Whether the place is free still beside a job on these.
    pub fn spared_by(&self, nodes: &[NodeId]) -> bool {
        !nodes.iter().any(|node| self.taken[node.index()])
    }
}

/// Copies of a machine and its allocator after the first so many ends of running jobs.
struct Ahead<'d> {
    machine: Machine,
    down: Down<'d>,
    allocator: Box<dyn Allocator>,
    ended: usize,
}

impl Ahead<'_> {
    fn copy(&self) -> Option<Self> {
        let (machine, allocator) = (self.machine.clone(), self.allocator.try_clone()?);
        Some(Self { machine, down: self.down.clone(), allocator, ended: self.ended })
    }

    /// Windows begin and end that are due.
    fn pass(&mut self, now: i64) {
        self.down.change(now, &mut self.machine, self.allocator.as_mut());
    }
}

/// A search along the ends of running jobs.
struct Search<'a> {
    running: Vec<(i64, &'a [NodeId])>,
    request: Request,
    /// Whether the allocator [reserves by trial](crate::allocator::Capabilities::reserves_by_trial): the time matters to it.
    by_trial: bool,
    /// Until when the last request was postponed.
    postponed: Option<i64>,
    /// Instants with enough free processors, and how many jobs have ended then.
    instants: Vec<(i64, usize)>,
    /// The place.
    nodes: Vec<NodeId>,
}

impl Search<'_> {
    fn list_instants(&mut self, mut free: usize, least: usize) {
        for (ended, &(at, nodes)) in (1..).zip(&self.running) {
            free += nodes.len();
            let last_of_instant = self.running.get(ended).is_none_or(|next| next.0 > at);
            if last_of_instant && free >= least {
                self.instants.push((at, ended));
            }
        }
    }

    /// The same where windows begin and end, too.
    fn list_instants_amid(&mut self, down: &Down<'_>) {
        let mut times: Vec<i64> =
            self.running.iter().map(|job| job.0).chain(down.times()).collect();
        times.sort_unstable();
        times.dedup();
        let ended = |at: i64| self.running.partition_point(|job| job.0 <= at);
        self.instants = times.into_iter().map(|at| (at, ended(at))).collect();
    }

    /// Whether there is a place at an instant, which is not before that of `ahead`.
    fn has_place(&mut self, ahead: &mut Ahead<'_>, instant: usize) -> Result<bool, Refusal> {
        let (at, ended) = self.instants[instant];
        for &(end, nodes) in &self.running[ahead.ended..ended] {
            // Of one instant completions come first.
            ahead.pass(end.saturating_sub(1));
            ahead.machine.release(nodes);
            ahead.allocator.on_event(&ahead.machine, MachineEvent::Released(nodes));
            ahead.down.drain(&mut ahead.machine, nodes, ahead.allocator.as_mut());
        }
        ahead.pass(at);
        ahead.ended = ended;
        self.has_place_at(ahead, at)
    }

    /// The same where all that happens until then has happened.
    fn has_place_at(&mut self, ahead: &mut Ahead<'_>, at: i64) -> Result<bool, Refusal> {
        if self.by_trial {
            self.request.times.now = at;
        }
        self.postponed = None;
        match ahead.allocator.allocate(&ahead.machine, self.request, &mut self.nodes) {
            Ok(()) => Ok(true),
            Err(Refusal::Stopped(stopped)) => Err(stopped.into()),
            Err(Refusal::Postponed { until }) => {
                self.postponed = Some(until);
                Ok(false)
            }
            Err(Refusal::TooFewFree | Refusal::Fragmented) => Ok(false),
        }
    }

    /// The first instant, one after the other; where the request is postponed beyond them, the end of that.
    fn one_by_one(&mut self, mut ahead: Ahead<'_>, now: i64) -> Result<Option<i64>, Refusal> {
        for instant in 0..self.instants.len() {
            if self.has_place(&mut ahead, instant)? {
                return Ok(Some(self.instants[instant].0));
            }
        }
        if self.instants.is_empty() && self.by_trial {
            self.has_place_at(&mut ahead, now)?;
        }
        if let Some(until) = self.postponed
            && self.has_place_at(&mut ahead, until)?
        {
            return Ok(Some(until));
        }
        Ok(None)
    }

    /// The first instant where there is a place at all later ones: first at the last instant before the
    /// one that it was, if there is one, and at that, then in doubling steps, then by halving.
    fn by_halves(
        &mut self,
        mut refused: Ahead<'_>,
        before: Option<i64>,
    ) -> Result<Option<i64>, Refusal> {
        // No place before the one, a place from the other on.
        let (mut least, mut most) = (0, self.instants.len());
        let mut found = Vec::new();
        let guess = before.map_or(0, |at| self.instants.partition_point(|one| one.0 < at));
        let (mut next, mut step) = (guess.saturating_sub(1), 0);
        while least < most {
            let Some(mut ahead) = refused.copy() else { return Ok(None) };
            self.nodes.clear();
            let instant = next.clamp(least, most - 1);
            if self.has_place(&mut ahead, instant)? {
                most = instant;
                std::mem::swap(&mut found, &mut self.nodes);
            } else {
                least = instant + 1;
                refused = ahead;
            }
            next = match most < self.instants.len() {
                true => least + (most - least) / 2,
                false => least + step,
            };
            step = 2 * step + 1;
        }
        self.nodes = found;
        Ok(self.instants.get(most).map(|instant| instant.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::registry;
    use crate::allocator::registry::AllocatorSpec;
    use crate::simulation::Outages;
    use crate::topology::Topology;
    use proptest::prelude::*;

    const VARIANTS: [&str; 5] = [
        "turning-first-fit[shape=near-square]",
        "turning-best-fit[shape=any]",
        "midplane[unit=1x2x2]",
        "placements[anchors=all,tie=slurm]",
        "busy-list[shape=near-square]",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// With every strategy that can be asked, wherever the search begins.
        #[test]
        fn a_search_by_halves_finds_what_one_by_one_finds(
            starts in proptest::collection::vec((1u32..20, 0i64..40), 1..40),
            size in 1u32..40,
            before in proptest::option::of(0i64..50),
            machine in proptest::sample::select(vec!["8x8", "torus:6x7", "torus:4x4x4"]),
        ) {
            let topology: Topology = machine.parse().expect("a machine");
            let mut searched = 0;
            for name in registry::standard().names().chain(VARIANTS) {
                let spec: AllocatorSpec = name.parse().expect("a strategy");
                let Ok(mut allocator) = spec.build(&topology, 1) else { continue };
                let request = Request::of_size(size);
                let can = allocator.bounds(request).servable && allocator.try_clone().is_some();
                let capabilities = allocator.capabilities();
                if capabilities.keeps_schedule || !can || !capabilities.refusals_last {
                    continue;
                }
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
                let copy = allocator.try_clone().expect("it has copies");
                let none = Outages::NONE;
                let down = Down::new(&none, topology.processors());
                let (machine, down) = (machine.clone(), down);
                let ahead =
                    Ahead { machine: machine.clone(), down: down.clone(), allocator: copy, ended: 0 };
                let (instants, nodes) = (Vec::new(), Vec::new());
                let (by_trial, postponed) = (false, None);
                let running_too = running.clone();
                let mut plain =
                    Search { running: running_too, request, by_trial, postponed, instants, nodes };
                plain.list_instants(machine.free_count(), least as usize);
                let expected = plain.one_by_one(ahead, 0).expect("nobody stops it");
                let wanted = Wanted { job: JobId(0), request, least, now: 0, before };
                let running = running.into_iter();
                let found = Reserved::find(wanted, &machine, &down, allocator.as_ref(), running);
                let found = found.expect("nobody stops it");
                prop_assert_eq!(found.as_ref().map(|found| found.at), expected, "{}", name);
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
