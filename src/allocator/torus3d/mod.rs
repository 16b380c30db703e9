//! Boxes from a menu on a 3D torus: the placement rule that Slurm ships since 26.05.
//!
//! The rule itself, for machines of several toruses with holes, is in [`placement`](crate::placement);
//! here it serves the jobs of a replay on a machine that is one torus or mesh. Its administrator's
//! list of boxes is a [menu](crate::placement::menu). The first processes run on the nodes in the rule's rank order.
//!
//! Cost: for each free anchor of the job's size a count of the free anchors of the next larger box that it
//! meets, in words of 64, until one meets none. Starts and ends change the bits of the anchors that they meet.

mod frequencies;
mod names;
mod tied;
pub mod tuned;
pub mod ways;

use names::PlacementOptions;
pub use names::table;

use std::collections::HashMap;
use std::sync::Arc;

use tied::{Tied, Weighed};
use ways::Way;

use super::notes::{self, Listing, Notes};
use super::{Allocator, Census, Refusal, Request};
use crate::machine::Machine;
use crate::placement::decide::{Decider, Pick};
use crate::placement::open::Open;
use crate::placement::segments::{self, place};
use crate::placement::torus::cells_of;
use crate::placement::{Layout, fragmentation, rank};
use crate::topology::{Grid, NodeId};

/// What becomes of a job whose size is not on the menu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It can never start, as in Slurm.
    Exact,
    /// It gets the smallest box that holds it.
    Up,
}

/// The rule on a machine of one torus or mesh.
#[derive(Clone, Debug)]
pub struct Placements {
    layout: Arc<Layout>,
    decider: Decider,
    /// By processor its cell, and the other way round.
    cells: Arc<[u32]>,
    nodes: Arc<[NodeId]>,
    /// Sizes on the menu, ascending.
    sizes: Vec<u32>,
    /// By two sizes, as far as it was asked: whether every box of the second holds one of the first.
    hold: HashMap<[u32; 2], bool>,
    fit: Fit,
    segment: Option<u32>,
    /// What decides instead of Slurm's rule.
    tied: Option<Tied>,
    machine: Vec<Open>,
    /// By the first process's node: the boxes of a running job.
    places: HashMap<NodeId, Vec<Pick>>,
    /// What it is made from anew when the sizes of the jobs are known, if its menu goes by them.
    to_come: Option<(PlacementOptions, Grid, u64)>,
    /// The most that its fragmentation can be.
    most_blocked: u64,
    census: Census,
    notes: Notes,
}

impl Placements {
    /// The rule on `grid`, whose cells `layout` has as its only torus; Slurm's, if there is no other.
    fn new(
        grid: &Grid,
        layout: Layout,
        fit: Fit,
        segment: Option<u32>,
        tied: Option<Tied>,
    ) -> Self {
        let mut sizes: Vec<u32> = layout
            .toruses()
            .iter()
            .flat_map(|torus| torus.placements().iter().map(|placement| placement.size))
            .collect();
        sizes.dedup();
        let mut nodes = vec![NodeId(0); grid.processors()];
        let cells: Vec<u32> = grid
            .coords()
            .into_iter()
            .map(|coord| layout.toruses().first().map_or(0, |torus| torus.cell(coord)))
            .collect();
        for (node, &cell) in cells.iter().enumerate() {
            nodes[cell as usize] = NodeId(node as u32);
        }
        let decider = Decider::new(&layout);
        let (machine, places) = (idle(&decider, &layout), HashMap::new());
        let most_blocked = fragmentation::most(&layout);
        let (layout, hold) = (Arc::new(layout), HashMap::new());
        let (cells, nodes) = (cells.into(), nodes.into());
        let (census, notes) = (Census::default(), Notes::default());
        Self {
            layout,
            decider,
            cells,
            nodes,
            sizes,
            hold,
            fit,
            segment,
            tied,
            machine,
            places,
            to_come: None,
            most_blocked,
            census,
            notes,
        }
    }

    /// The same, to be made anew on `grid` when the sizes of the jobs are known.
    fn for_sizes(self, options: PlacementOptions, grid: Grid, seed: u64) -> Self {
        Self { to_come: Some((options, grid, seed)), ..self }
    }

    /// The places of a job.
    fn picks(&mut self, asked: &segments::Request, request: Request) -> Option<Vec<Pick>> {
        match &mut self.tied {
            Some(tied) => tied.decide(asked.size, request.times).map(|pick| vec![pick]),
            None => place(&self.decider, &self.layout, &mut self.machine, asked, None).ok(),
        }
    }

    /// Tells which boxes are free, what they come to, and who wins by that.
    fn tell(&mut self, asked: &segments::Request, request: Request) {
        let size = asked.segment.unwrap_or(asked.size);
        let Some((torus, open)) = self.layout.toruses().first().zip(self.machine.first_mut())
        else {
            return;
        };
        let words = |[placement, anchor]: [usize; 2]| {
            let placement = &torus.placements()[placement];
            let [sides, base] = [placement.sides, placement.base(anchor)];
            let three = |of: [u16; 3], between: &str| of.map(|side| side.to_string()).join(between);
            [three(sides, " x "), format!("({})", three(base, ", "))]
        };
        let named = |at: [usize; 2]| words(at).join(" at ");
        let wins = |at: [usize; 2]| {
            let mask = torus.placements()[at[0]].mask(at[1]);
            self.notes.winner(cells_of(mask).map(|cell| self.nodes[cell as usize]).collect());
        };
        if let Some(tuner) = self.tied.as_ref().and_then(Tied::tuner) {
            self.notes.say(|| {
                let [shadows, since] = tuner.told();
                let shadows = notes::count(shadows, "shadow machine");
                let since = notes::count(since, "start");
                format!(
                    "by the past, on {shadows}, the way of least expected loss is {}; they were looked at {since} ago",
                    tuner.way()
                )
            });
        }
        if let Some(tied) = self.tied.as_mut().filter(|tied| tied.way() != Way::Slurm) {
            let weights = tied.weights();
            let mut all = tied.sums(size, request.times);
            let mut columns = vec!["box", "at"];
            columns.extend(weights.iter().map(|(name, _)| *name));
            columns.push("sum");
            let row = |one: &Weighed| {
                let numbers = one.terms.iter().chain([&one.sum]).map(i128::to_string);
                words(one.at).into_iter().chain(numbers).collect::<Vec<String>>()
            };
            let about = format!(
                "free boxes of {size} that compete, by the sum of their weighted terms; the least wins, the first of equals"
            );
            self.notes.list(|| Listing::of(about, &columns, all.iter().map(row)));
            // It keeps the order of equals.
            all.sort_by_key(|one| one.sum);
            let sum = |one: &Weighed| {
                let terms = weights.iter().zip(&one.terms);
                let terms =
                    terms.map(|((name, weight), term)| format!("{weight} x {term} ({name})"));
                let terms: Vec<String> = terms.collect();
                match terms.is_empty() {
                    true => one.sum.to_string(),
                    false => format!("{} = {}", terms.join(" + "), one.sum),
                }
            };
            let told = |one: &Weighed| format!("{}, {}", named(one.at), sum(one));
            if let Some(first) = all.first() {
                self.notes.say(|| format!("the winner: {}", told(first)));
                wins(first.at);
            }
            if let Some(next) = all.get(1) {
                self.notes.say(|| format!("the next best: {}", told(next)));
            }
            return;
        }
        let costs = match asked.segment {
            None => self.decider.costs(torus, open, size),
            Some(_) => Vec::new(),
        };
        let of_size =
            |(_, placement): &(usize, &crate::placement::Placement)| placement.size == size;
        let placements = torus.placements().iter().enumerate().filter(of_size);
        let cost = |at: [usize; 2]| costs.iter().find(|one| one.0 == at).map(|one| one.1);
        let rows: Vec<Vec<String>> = placements
            .flat_map(|(i, placement)| {
                let is_free = |&anchor: &usize| {
                    placement.is_whole(anchor) && open.free().holds(placement.mask(anchor))
                };
                (0..placement.anchors()).filter(is_free).map(move |anchor| [i, anchor])
            })
            .map(|at| {
                let cost = cost(at).map_or(String::new(), |cost| cost.to_string());
                words(at).into_iter().chain([cost]).collect()
            })
            .collect();
        self.notes.say(|| {
            format!(
                "boxes of {size} on the menu that are free: {}",
                notes::count(rows.len(), "anchor")
            )
        });
        if !rows.is_empty() {
            let about = "free boxes in the order in which they are looked at; the first orientation wins, in it the one that costs the fewest free places of the next larger box";
            self.notes.list(|| Listing::of(about, &["box", "at", "cost"], rows));
        }
        let mut costs = costs;
        costs.sort_by_key(|one| one.1);
        if let Some(&(first, cost)) = costs.first() {
            let of = |cost: u64| notes::count(cost as usize, "place");
            self.notes.say(|| format!("the winner: {}, which costs {}", named(first), of(cost)));
            match costs.get(1) {
                Some(&(next, cost)) => self
                    .notes
                    .say(|| format!("the next best: {}, which costs {}", named(next), of(cost))),
                None => self.notes.say(|| "no other of its orientation is free".to_string()),
            }
            wins(first);
        }
    }

    /// The request as the rule sees it; `None` if no placement will ever do.
    fn asked(&self, size: u32) -> Option<segments::Request> {
        let on_menu = |size: &u32| self.sizes.binary_search(size).is_ok();
        let segment = self.segment.filter(|&part| part < size && size.is_multiple_of(part));
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
        Some(segments::Request { size, segment, required: None })
    }
}

/// An idle machine of which all anchors are counted.
fn idle(decider: &Decider, layout: &Layout) -> Vec<Open> {
    let mut machine = decider.machine(layout, layout.all());
    machine.iter_mut().zip(layout.toruses()).for_each(|(open, torus)| open.learn_all(torus));
    machine
}

impl Allocator for Placements {
    fn blocked(&self) -> Option<[u64; 2]> {
        let blocked = self.machine.iter().map(Open::blocked).sum::<Option<u64>>()?;
        Some([blocked, self.most_blocked])
    }

    /// A job in one part has a place where a box of its size is free. Those in several are placed by a
    /// heuristic.
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        let both = self.asked(refused.size).zip(self.asked(asked.size));
        let Some((refused, asked)) = both else { return false };
        if refused.segment.is_some() || asked.segment.is_some() {
            return false;
        }
        let layout = &self.layout;
        let holds = || layout.toruses().iter().all(|torus| torus.holds(asked.size, refused.size));
        *self.hold.entry([refused.size, asked.size]).or_insert_with(holds)
    }

    fn chooses_by_free(&self) -> bool {
        self.tied.is_none()
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let Some(asked) = self.asked(request.size) else { return Err(Refusal::Fragmented) };
        if asked.size as usize > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        if self.notes.are_read() {
            self.tell(&asked, request);
        }
        let picks = self.picks(&asked, request).ok_or(Refusal::Fragmented)?;
        let mut job = self.layout.none();
        for pick in &picks {
            let placement = &self.layout.toruses()[pick.torus].placements()[pick.placement];
            let mask = placement.mask(pick.anchor);
            job[pick.torus].insert_all(mask);
            self.machine[pick.torus].take(
                &self.layout.toruses()[pick.torus],
                pick.placement,
                pick.anchor,
            );
            self.census.operations += cells_of(mask).count() as u64;
        }
        // There are no holes: nodes of the layout are cells.
        let order = rank::order(&self.layout, &job);
        chosen.extend(order.into_iter().map(|(_, cell)| self.nodes[cell as usize]));
        if let (Some(tied), [pick], Some(&first)) = (&mut self.tied, &picks[..], chosen.first()) {
            tied.start(first, pick, asked.size, request.times);
        }
        self.census.blocks = picks.len() as u32;
        self.census.busy_list += picks.len() as u32;
        if let Some(&first) = chosen.first() {
            self.places.insert(first, picks);
        }
        Ok(())
    }

    fn expect(&mut self, sizes: &[u32]) -> Result<(), String> {
        // Who asks for more than the machine has is told so for itself.
        let sizes: Vec<u32> =
            sizes.iter().copied().filter(|&size| size as usize <= self.cells.len()).collect();
        if let Some((options, grid, seed)) = self.to_come.take() {
            let notes = self.notes.clone();
            *self = Self { notes, ..options.placements(&grid, &sizes, seed)? };
        }
        Ok(())
    }

    fn largest_allocation(&mut self, request: Request) -> u64 {
        self.asked(request.size).map_or(request.size, |asked| asked.size).into()
    }

    fn can_serve(&mut self, request: Request) -> bool {
        self.asked(request.size).is_some()
    }

    fn turns_away(&self) -> bool {
        true
    }

    fn released(&mut self, _machine: &Machine, nodes: &[NodeId]) {
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

    fn takes_outages(&self) -> bool {
        true
    }

    fn withdrawn(&mut self, machine: &Machine, nodes: &[NodeId]) {
        if let Some(tied) = &mut self.tied {
            let cells = nodes.iter().map(|node| self.cells[node.index()]);
            tied.withdraw(cells, machine.walls_off());
        }
        if let Some((open, torus)) = self.machine.first_mut().zip(self.layout.toruses().first()) {
            open.take_cells(torus, nodes.iter().map(|node| self.cells[node.index()]));
        }
    }

    fn restored(&mut self, _machine: &Machine, nodes: &[NodeId]) {
        if let Some(tied) = &mut self.tied {
            tied.restore(nodes.iter().map(|node| self.cells[node.index()]));
        }
        if let Some((open, torus)) = self.machine.first_mut().zip(self.layout.toruses().first()) {
            open.give_cells(torus, nodes.iter().map(|node| self.cells[node.index()]));
        }
    }

    fn census(&self) -> Option<Census> {
        Some(self.census)
    }

    fn copy(&self) -> Option<Box<dyn Allocator>> {
        // Whoever asks a copy gives back many boxes first.
        let machine = self.machine.iter().map(Open::unasked).collect();
        let tied = self.tied.as_ref().map(Tied::unasked);
        let (layout, decider) = (self.layout.clone(), self.decider.clone());
        let (cells, nodes) = (self.cells.clone(), self.nodes.clone());
        let (sizes, hold) = (self.sizes.clone(), self.hold.clone());
        Some(Box::new(Self {
            layout,
            decider,
            cells,
            nodes,
            sizes,
            hold,
            machine,
            tied,
            fit: self.fit,
            segment: self.segment,
            places: self.places.clone(),
            to_come: None,
            most_blocked: self.most_blocked,
            census: self.census,
            notes: Notes::default(),
        }))
    }

    fn keeps_schedule(&self) -> bool {
        false
    }

    fn tells(&mut self, notes: &Notes) {
        self.notes = notes.clone();
    }

    fn reset(&mut self) {
        self.machine = idle(&self.decider, &self.layout);
        self.places.clear();
        self.tied = self.tied.take().map(Tied::again);
        self.census = Census::default();
    }
}

#[cfg(test)]
mod tests;
