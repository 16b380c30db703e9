//! MC1x1 (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung.
//!
//! Every free processor is a candidate centre, shells are L-infinity shells, the score is
//! the sum of shell numbers. No set is built and nothing is sorted to find the winner:
//! with cnt(c, r) free processors within distance r of c and k requested,
//!
//! * score(c) = sum over r >= 0 of max(0, k - cnt(c, r)), and the outermost shell L is
//!   the first r with cnt(c, r) >= k;
//! * the terms of the tie value follow from counts as well ([`tie`]).
//!
//! Scores are computed for 16 neighbouring centres at a time ([`scores`]); the sums
//! stop as soon as all of them exceed the best so far. Cost per decision: free
//! processors times L / 16 vector steps, plus the tie values of those that tie.

mod scores;
mod tie;

use super::centre::literal::{CentreRule, Centres, Score};
use super::centre::{CentreOptions, Cut, Metric, ShellOrder};
use super::{Allocator, Refusal, Request};
use crate::machine::{BoxCounts, Machine};
use crate::topology::{Coord, Grid, NodeId};
use scores::Scores;
use tie::TieTerms;

/// The MC1x1 allocator.
#[derive(Debug)]
pub struct Mc1x1 {
    grid: Grid,
    coords: Vec<Coord>,
    options: CentreOptions,
    free: BoxCounts,
    scores: Scores,
    tie: Option<TieTerms>,
    shell: Vec<NodeId>,
    cut: Cut,
}

impl Mc1x1 {
    /// An allocator for `grid`.
    pub fn new(grid: &Grid, options: CentreOptions) -> Self {
        let vector = options.tie.filter(|vector| !vector.is_indifferent());
        Self {
            coords: grid.coords(),
            free: BoxCounts::new(grid),
            scores: Scores::new(grid),
            tie: vector.map(|vector| TieTerms::new(grid, vector, options)),
            grid: grid.clone(),
            options,
            shell: Vec::new(),
            cut: Cut::default(),
        }
    }

    /// The definition of this allocator, without the shortcuts.
    pub fn rule(options: CentreOptions) -> CentreRule {
        CentreRule {
            centres: Centres::FreeProcessors,
            metric: Metric::Linf,
            score: Score::ShellSum,
            options,
        }
    }

    /// The winning centre; `size` is less than the number of free processors.
    fn best_centre(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        self.free.update(machine);
        let Some(tie) = &mut self.tie else {
            return self.scores.first_best(&self.free, machine, size);
        };
        let best = self.scores.compute(&self.free, machine, size, |best| self.options.admitted(best));
        let admitted = self.options.admitted(best);
        let mut candidates = self.scores.at_most(admitted);
        let first = candidates.next()?;
        let Some(second) = candidates.next() else { return Some(first) };
        tie.update(machine);
        let mut ring = Ring {
            grid: &self.grid,
            coords: &self.coords,
            order: self.options.order,
            shell: &mut self.shell,
            cut: &mut self.cut,
        };
        let mut winner = None;
        for centre in [first, second].into_iter().chain(candidates) {
            let score = self.scores.of(centre);
            // A later candidate must be strictly better in (tie value, score).
            let beat = winner.map(|(tie, best, _)| if score < best { tie } else { tie - 1 });
            if let Some(value) = tie.value(&self.free, machine, centre, size, beat, &mut ring) {
                winner = Some((value, score, centre));
            }
        }
        winner.map(|(_, _, centre)| centre)
    }

    /// The `size` processors around a winning centre.
    fn collect(&mut self, machine: &Machine, centre: NodeId, size: u32, chosen: &mut Vec<NodeId>) {
        let outermost = (0..=self.free.max_radius()).find(|&r| self.free.count(centre, r) >= size);
        let outermost = outermost.unwrap_or(self.free.max_radius());
        let mut ring = Ring {
            grid: &self.grid,
            coords: &self.coords,
            order: self.options.order,
            shell: &mut self.shell,
            cut: &mut self.cut,
        };
        ring.gather(machine, centre, outermost, Some(chosen));
        let need = size as usize - chosen.len();
        ring.take(machine, centre, need, chosen);
    }
}

impl Allocator for Mc1x1 {
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
        if size == machine.free_count() {
            chosen.extend(machine.free_nodes());
        } else if self.options.order == ShellOrder::Greedy {
            let winner = Self::rule(self.options).choose(machine, &self.grid, size);
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
        } else {
            let centre = self.best_centre(machine, request.size).ok_or(Refusal::Fragmented)?;
            self.collect(machine, centre, request.size, chosen);
        }
        Ok(())
    }

    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.options.order == ShellOrder::Greedy {
            return Some(Self::rule(self.options).tied_sets(machine, &self.grid, size));
        }
        self.free.update(machine);
        let best = self.scores.compute(&self.free, machine, request.size, |best| best);
        let tied: Vec<NodeId> = self.scores.at_most(best).collect();
        let mut sets = std::collections::HashSet::with_capacity(tied.len());
        for centre in tied {
            let mut set = Vec::with_capacity(size);
            self.collect(machine, centre, request.size, &mut set);
            set.sort_unstable();
            sets.insert(set);
        }
        Some(sets.len() as u32)
    }

    fn reset(&mut self) {
        self.free.reset();
        if let Some(tie) = &mut self.tie {
            tie.reset();
        }
    }
}

/// Gathers a shell and takes part of it.
struct Ring<'a> {
    grid: &'a Grid,
    coords: &'a [Coord],
    order: ShellOrder,
    shell: &'a mut Vec<NodeId>,
    cut: &'a mut Cut,
}

impl Ring<'_> {
    /// Puts the free processors at distance `outermost` into the shell, in scan order,
    /// and those nearer into `inside`.
    fn gather(
        &mut self,
        machine: &Machine,
        centre: NodeId,
        outermost: u32,
        mut inside: Option<&mut Vec<NodeId>>,
    ) {
        self.shell.clear();
        let c = self.coords[centre.index()];
        let [xs, ys, zs] = [0, 1, 2].map(|i| self.grid.axes()[i].interval(c[i], outermost));
        let free = machine.free_map();
        for x in positions(self.grid, 0, xs) {
            for y in positions(self.grid, 1, ys) {
                let row = self.grid.node([x, y, 0]).index();
                let row_distance = self.grid.linf(c, [x, y, c[2]]);
                for z in positions(self.grid, 2, zs) {
                    let node = row + usize::from(z);
                    if !free[node] {
                        continue;
                    }
                    let distance = row_distance.max(self.grid.axes()[2].distance(c[2], z));
                    if distance == outermost {
                        self.shell.push(NodeId(node as u32));
                    } else if let Some(inside) = &mut inside {
                        inside.push(NodeId(node as u32));
                    }
                }
            }
        }
        if self.grid.is_wrapped() {
            self.shell.sort_unstable();
        }
    }

    /// Moves `need` processors of the gathered shell around `centre` to `chosen`.
    fn take(&mut self, machine: &Machine, centre: NodeId, need: usize, chosen: &mut Vec<NodeId>) {
        let free = &machine.free_map()[..centre.index()];
        let earlier = free.iter().enumerate().rev().filter(|(_, free)| **free);
        let earlier = earlier.map(|(id, _)| self.coords[id]);
        self.cut.take(
            self.order,
            Metric::Linf,
            self.grid,
            self.coords,
            earlier,
            self.shell,
            need,
            chosen,
        );
    }
}

/// The positions of an interval of one dimension, wrapped into range.
fn positions(grid: &Grid, axis: usize, (low, length): (i32, u32)) -> impl Iterator<Item = u16> {
    let extent = grid.extent(axis) as i32;
    (low..low + length as i32).map(move |p| (if p < 0 { p + extent } else if p >= extent { p - extent } else { p }) as u16)
}

#[cfg(test)]
mod tests;
