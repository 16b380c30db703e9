//! Boxes from a menu on a 3D torus: the placement rule of Slurm since release 26.05.
//!
//! The rule is implemented in [`placement`](crate::placement). This module applies the rule to the jobs of a replay on
//! a mesh, a torus, or several tori with holes. The list of boxes comes from a `topology.yaml` or from a
//! [menu](crate::placement::menu). Processes are assigned to nodes in the rank order of the rule.
//!
//! Cost: for each free anchor of the job's size, the overlapping free anchors of the next larger box are counted, 64
//! anchors per step. The scan stops at an anchor that overlaps none of the free anchors of the next larger box. Starts
//! and ends of jobs change the bits of the overlapping anchors.

mod described;
mod explain;
mod frequencies;
mod names;
pub mod selection_rules;
mod tied;
pub mod tuned;

pub use described::Described;
pub(crate) use names::{PlacementOptions, table};

use std::collections::HashMap;
use std::sync::Arc;

use tied::Tied;

use crate::placement::decide::{Decider, Pick};
use crate::placement::free_anchors::FreeAnchors;
use crate::placement::segments::{self, place};
use crate::placement::torus::cells_of;
use crate::placement::{Layout, Torus, fragmentation, rank};
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
    require_free,
};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::topology::{NodeId, Topology};

/// Treatment of a job whose size is not on the menu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// The job can never start, as in Slurm.
    Exact,
    /// The job gets the smallest box that can hold it.
    Up,
}

/// Allocator that places jobs in boxes from a menu, on one machine.
#[derive(Clone, Debug)]
pub struct Placements {
    layout: Arc<Layout>,
    decider: Decider,
    /// For each processor, the number of its node in the layout.
    numbers: Arc<[u32]>,
    /// Processor of each node of the layout.
    nodes: Arc<[NodeId]>,
    /// Sizes on the menu, ascending.
    sizes: Vec<u32>,
    /// Cache for pairs of sizes: whether every box of the second size contains a box of the first size.
    hold: HashMap<[u32; 2], bool>,
    fit: Fit,
    /// Division of larger jobs into parts: the size of a part, and a flag that is set if all sets of positions of the
    /// parts are searched.
    segment: Option<(u32, bool)>,
    /// Rule that decides in place of Slurm's rule; `None` for Slurm's rule.
    tied: Option<Tied>,
    machine: Vec<FreeAnchors>,
    /// Boxes of each running job, by the node of its first process.
    places: HashMap<NodeId, Vec<Pick>>,
    /// Options from which the strategy is rebuilt when the sizes of the jobs are known; `None` if the menu does not
    /// depend on these sizes.
    rebuild_from: Option<(PlacementOptions, Topology, u64)>,
    /// Largest possible fragmentation.
    most_blocked: u64,
    census: Census,
    explanation: ExplanationLog,
    /// Token that cancels decisions.
    stop: CancelToken,
}

impl Placements {
    /// Creates the rule on a machine. `numbers` contains the node number of each processor in the layout. If `tied` is
    /// `None`, Slurm's rule decides.
    fn new(
        numbers: Vec<u32>,
        layout: Layout,
        fit: Fit,
        segment: Option<(u32, bool)>,
        tied: Option<Tied>,
    ) -> Self {
        let mut sizes: Vec<u32> = layout
            .toruses()
            .iter()
            .flat_map(|torus| torus.placements().iter().map(|placement| placement.size))
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut nodes = vec![NodeId(0); numbers.len()];
        for (node, &number) in (0..).zip(&numbers) {
            nodes[number as usize] = NodeId(node);
        }
        let decider = Decider::new(&layout);
        let (machine, places) = (idle(&decider, &layout), HashMap::new());
        let most_blocked = fragmentation::most(&layout);
        let (layout, hold) = (Arc::new(layout), HashMap::new());
        let (numbers, nodes) = (numbers.into(), nodes.into());
        let (census, explanation) = (Census::default(), ExplanationLog::default());
        Self {
            layout,
            decider,
            numbers,
            nodes,
            sizes,
            hold,
            fit,
            segment,
            tied,
            machine,
            places,
            rebuild_from: None,
            most_blocked,
            census,
            explanation,
            stop: CancelToken::new(),
        }
    }

    /// Stores the options from which the strategy is rebuilt on `machine` when the sizes of the jobs are known.
    fn for_sizes(self, options: PlacementOptions, machine: Topology, seed: u64) -> Self {
        Self { rebuild_from: Some((options, machine, seed)), ..self }
    }

    /// Releases the boxes of a job.
    fn release(&mut self, nodes: &[NodeId]) {
        let Some(first) = nodes.first() else { return };
        if let Some(tied) = &mut self.tied {
            tied.finish(*first);
        }
        let picks = self.places.remove(first).unwrap_or_default();
        for pick in &picks {
            let torus = &self.layout.toruses()[pick.torus];
            self.machine[pick.torus].give(torus, pick.placement, pick.anchor);
        }
        self.census.busy_list = self.census.busy_list.saturating_sub(picks.len() as u32);
    }

    /// Returns the cells of processors, by torus.
    fn cells_of(&self, nodes: &[NodeId]) -> Vec<Vec<u32>> {
        let mut cells = vec![Vec::new(); self.layout.toruses().len()];
        for node in nodes {
            let (torus, cell) = self.layout.place(self.numbers[node.index()]);
            cells[torus].push(cell);
        }
        cells
    }

    /// Returns the boxes for a job.
    fn picks(&mut self, asked: &segments::Request, request: Request) -> Option<Vec<Pick>> {
        match &mut self.tied {
            Some(tied) => tied.decide(asked.size, request.times).map(|pick| vec![pick]),
            None => place(&self.decider, &self.layout, &mut self.machine, asked, None).ok(),
        }
    }

    /// Converts a request for `size` processors to a request of the placement rule; `None` if no placement can ever
    /// serve it.
    fn to_rule_request(&self, size: u32) -> Option<segments::Request> {
        let on_menu = |size: &u32| self.sizes.binary_search(size).is_ok();
        let several = |part: u32| part < size && size.is_multiple_of(part);
        let (segment, exact) = self.segment.filter(|it| several(it.0)).unzip();
        let size = match self.fit {
            Fit::Exact => Some(size).filter(|size| on_menu(&segment.unwrap_or(*size))),
            Fit::Up if segment.is_some_and(|part| on_menu(&part)) => Some(size),
            Fit::Up => {
                let at = self.sizes.partition_point(|&one| one < size);
                return self
                    .sizes
                    .get(at)
                    .map(|&size| segments::Request { size, ..Default::default() });
            }
        }?;
        Some(segments::Request { size, segment, required: None, exact: exact.unwrap_or(false) })
    }
}

/// Returns an idle machine on which all anchors have been counted.
fn idle(decider: &Decider, layout: &Layout) -> Vec<FreeAnchors> {
    let mut machine = decider.machine(layout, layout.all());
    machine.iter_mut().zip(layout.toruses()).for_each(|(open, torus)| open.compute_all(torus));
    machine
}

impl Allocator for Placements {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        let (explanation, stop) = (setup.explanation.clone(), setup.stop.clone());
        if let Some((options, machine, seed)) =
            self.rebuild_from.take_if(|_| !setup.jobs.is_empty())
        {
            // Jobs larger than the machine are reported by other code.
            let sizes = setup.jobs.iter().map(|job| job.size);
            let mut sizes: Vec<u32> =
                sizes.filter(|&size| size as usize <= self.numbers.len()).collect();
            sizes.sort_unstable();
            sizes.dedup();
            *self = Self { explanation, stop, ..options.placements(&machine, &sizes, seed)? };
            return Ok(());
        }
        (self.explanation, self.stop) = (explanation, stop);
        self.machine = idle(&self.decider, &self.layout);
        self.places.clear();
        self.tied = self.tied.take().map(Tied::reset);
        self.census = Census::default();
        Ok(())
    }

    /// Returns `true` only for jobs in one part, because such a job gets a box whenever a box of its size is free. Jobs
    /// in several parts are placed by a heuristic.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        let both = self.to_rule_request(refused.size).zip(self.to_rule_request(asked.size));
        let Some((refused, asked)) = both else { return false };
        if refused.segment.is_some() || asked.segment.is_some() {
            return false;
        }
        let layout = &self.layout;
        let holds = || {
            let all = |torus: &Arc<Torus>| torus.holds(asked.size, refused.size);
            asked.size == refused.size || layout.toruses().iter().all(all)
        };
        *self.hold.entry([refused.size, asked.size]).or_insert_with(holds)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        // After cancellation, a shadow may be out of date.
        self.stop.check()?;
        let Some(asked) = self.to_rule_request(request.size) else {
            return Err(Refusal::Fragmented);
        };
        require_free(machine, asked.size.into())?;
        if self.explanation.is_recording() {
            self.explain_decision(&asked, request);
        }
        let picks = self.picks(&asked, request).ok_or(Refusal::Fragmented)?;
        let mut job = self.layout.none();
        for pick in &picks {
            let mask = pick.mask(&self.layout);
            job[pick.torus].insert_all(mask);
            self.machine[pick.torus].take(
                &self.layout.toruses()[pick.torus],
                pick.placement,
                pick.anchor,
            );
            self.census.operations += cells_of(mask).count() as u64;
        }
        let order = rank::order(&self.layout, &job);
        chosen.extend(order.into_iter().map(|(_, number)| self.nodes[number as usize]));
        if let (Some(tied), [pick], Some(&first)) = (&mut self.tied, &picks[..], chosen.first()) {
            tied.start(first, pick, asked.size, request.times, &self.stop);
        }
        self.census.add_job(picks.len() as u32);
        if let Some(&first) = chosen.first() {
            self.places.insert(first, picks);
        }
        Ok(())
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => self.release(nodes),
            MachineEvent::NodesDown(nodes) => {
                let all = self.cells_of(nodes);
                if let (Some(tied), [cells]) = (&mut self.tied, &all[..]) {
                    tied.withdraw(cells.iter().copied(), machine.has_down_walls());
                }
                let machines = self.machine.iter_mut().zip(self.layout.toruses()).zip(all);
                machines.for_each(|((open, torus), cells)| open.take_cells(torus, cells));
            }
            MachineEvent::NodesUp(nodes) => {
                let all = self.cells_of(nodes);
                if let (Some(tied), [cells]) = (&mut self.tied, &all[..]) {
                    tied.restore(cells.iter().copied());
                }
                let machines = self.machine.iter_mut().zip(self.layout.toruses()).zip(all);
                machines.for_each(|((open, torus), cells)| open.give_cells(torus, cells));
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        let chooses_by_free = self.tied.is_none();
        Capabilities {
            // If not all sets of positions are searched, the parts of a job are placed one after the other, and a
            // refusal need not hold until processors become free.
            refusals_last: self.segment.is_none_or(|(_, exact)| exact),
            chooses_by_free,
            rejects_unsupported_sizes: true,
            supports_outages: true,
            ..Capabilities::coupled()
        }
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        match self.to_rule_request(request.size) {
            Some(asked) => Bounds::up_to(asked.size.into(), request),
            None => Bounds { servable: false, ..Bounds::exact(request) },
        }
    }

    fn stats(&self) -> Stats {
        let blocked = self.machine.iter().map(FreeAnchors::blocked).sum::<Option<u64>>();
        let menu_fragmentation = blocked.map(|blocked| [blocked, self.most_blocked]);
        Stats { census: Some(self.census), menu_fragmentation, ..Stats::default() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        // Copies are used after many boxes have been released, so caches are not copied.
        let machine = self.machine.iter().map(FreeAnchors::without_cache).collect();
        let tied = self.tied.as_ref().map(Tied::detached);
        let (layout, decider) = (self.layout.clone(), self.decider.clone());
        let (numbers, nodes) = (self.numbers.clone(), self.nodes.clone());
        let (sizes, hold) = (self.sizes.clone(), self.hold.clone());
        Some(Box::new(Self {
            layout,
            decider,
            numbers,
            nodes,
            sizes,
            hold,
            machine,
            tied,
            fit: self.fit,
            segment: self.segment,
            places: self.places.clone(),
            rebuild_from: None,
            most_blocked: self.most_blocked,
            census: self.census,
            explanation: ExplanationLog::default(),
            stop: self.stop.clone(),
        }))
    }
}

#[cfg(test)]
mod tests;
