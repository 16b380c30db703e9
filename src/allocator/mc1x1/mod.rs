//! MC1x1 (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung.
//!
//! Every free processor is a candidate centre, shells are L-infinity shells, the score is
//! the sum of shell numbers. No set is built and nothing is sorted to find the winner:
//! with cnt(c, r) free processors within distance r of c and k requested,
//!
//! * score(c) = sum over r >= 0 of max(0, k - cnt(c, r)), and the outermost shell L is
//!   the first r with cnt(c, r) >= k;
//! * the terms of the tie value follow from counts as well.
//!
//! Scores are computed for 16 neighbouring centres at a time; the sums
//! stop as soon as all of them exceed the best so far. Cost per decision: free
//! processors times L / 16 vector steps, plus the tie values of those that tie.

mod lane;
mod scores;
mod tie;

use super::centre::literal::{CentreRule, Centres, Score};
use super::centre::{CentreOptions, Cut, Metric, ShellOrder};
use super::{Allocator, Refusal, Request};
use crate::machine::{BoxCounts, LANES, Machine};
use crate::topology::{Coord, Grid, NodeId};
use lane::Lane;
use scores::Scores;
use tie::{Rest, TieTerms, Value};

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
    taken: Vec<NodeId>,
    cut: Cut,
    /// Centres whose tie value is known only to be at least something: (bound, score,
    /// centre) and what would settle it.
    unsettled: Vec<((i64, u64, NodeId), Rest)>,
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
            taken: Vec::new(),
            cut: Cut::default(),
            unsettled: Vec::new(),
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
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the only obligation of the call is that the processor has AVX2,
            // which the line above has asked it.
            #[allow(unsafe_code)]
            return unsafe { self.best_centre_avx2(machine, size) };
        }
        self.best_centre_portable(machine, size)
    }

    /// The same code compiled for wider vectors. Everything below that works on lanes is
    /// inlined into it, and works on integers, so that the result cannot differ.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn best_centre_avx2(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        self.best_centre_portable(machine, size)
    }

    #[inline(always)]
    fn best_centre_portable(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        self.free.update(machine);
        let Some(tie) = &mut self.tie else {
            return self.scores.first_best(&self.free, size);
        };
        let best = self.scores.compute(&self.free, size, |best| self.options.admitted(best));
        let admitted = self.options.admitted(best);
        if let Some(only) = self.scores.only(admitted) {
            return Some(only);
        }
        tie.update(machine);
        if tie.is_narrow(&self.free, machine.processors()) {
            self.least_tie::<u16>(machine, size, admitted)
        } else {
            self.least_tie::<u32>(machine, size, admitted)
        }
    }

    /// The centre of least (tie value, score) among those with scores up to `admitted`.
    #[inline(always)]
    fn least_tie<L: Lane>(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
    ) -> Option<NodeId> {
        let tie = self.tie.as_ref()?;
        let mut ring = Ring {
            grid: &self.grid,
            coords: &self.coords,
            order: self.options.order,
            shell: &mut self.shell,
            taken: &mut self.taken,
            cut: &mut self.cut,
        };
        // Processor numbers are in candidate order, so that the least of these is the winner.
        let mut best: Option<(i64, u64, NodeId)> = None;
        self.unsettled.clear();
        for chunk in self.scores.chunks(admitted) {
            let mut wanted = [false; LANES];
            chunk.at_most(admitted).for_each(|i| wanted[i] = true);
            let terms = tie.terms::<L>(&self.free, chunk, size, &wanted);
            for i in (0..LANES).filter(|&i| wanted[i]) {
                let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                let beats =
                    |best: Option<_>, value| best.is_none_or(|best| (value, score, centre) < best);
                match tie.value(&terms, i, size) {
                    Value::Exact(value) if beats(best, value) => {
                        best = Some((value, score, centre))
                    }
                    Value::AtLeast(bound, rest) if beats(best, bound) => {
                        self.unsettled.push(((bound, score, centre), rest));
                    }
                    _ => {}
                }
            }
        }
        for ((bound, score, centre), rest) in &self.unsettled {
            if best.is_none_or(|best| (*bound, *score, *centre) < best) {
                let settled = (tie.settle(rest, machine, *centre, &mut ring), *score, *centre);
                best = Some(best.map_or(settled, |best| best.min(settled)));
            }
        }
        best.map(|(_, _, centre)| centre)
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
            taken: &mut self.taken,
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
        let best = self.scores.compute(&self.free, request.size, |best| best);
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
    taken: &'a mut Vec<NodeId>,
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
        let lane_axis = self.grid.dimensions() - 1;
        let [outer, lane] = [0, lane_axis].map(|i| self.grid.axes()[i].interval(c[i], outermost));
        let middle =
            if lane_axis == 2 { self.grid.axes()[1].interval(c[1], outermost) } else { (0, 1) };
        for x in positions(self.grid, 0, outer) {
            for y in positions(self.grid, 1, middle) {
                let (first, across) = if lane_axis == 2 {
                    ([x, y, 0], self.grid.linf([c[0], c[1], 0], [x, y, 0]))
                } else {
                    ([x, 0, 0], self.grid.axes()[0].distance(c[0], x))
                };
                let first = self.grid.node(first).index();
                let row = &machine.free_map()[first..first + self.grid.extent(lane_axis)];
                let node = |p: u16| NodeId((first + usize::from(p)) as u32);
                let is_free = |p: &u16| row[usize::from(*p)];
                let all = positions(self.grid, lane_axis, lane);
                if across == outermost {
                    self.shell.extend(all.filter(is_free).map(node));
                    continue;
                }
                let on_shell =
                    |p: &u16| self.grid.axes()[lane_axis].distance(c[lane_axis], *p) == outermost;
                let (low, length) = (lane.0, lane.1 as i32);
                let [from, to] = [low, low + length - 1].map(|p| wrap(self.grid, lane_axis, p));
                let ends = [from, to].into_iter().take(if from == to { 1 } else { 2 });
                self.shell.extend(ends.filter(on_shell).filter(is_free).map(node));
                if let Some(inside) = &mut inside {
                    inside.extend(all.filter(|p| !on_shell(p)).filter(is_free).map(node));
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
#[inline(always)]
fn positions(grid: &Grid, axis: usize, (low, length): (i32, u32)) -> impl Iterator<Item = u16> {
    (low..low + length as i32).map(move |p| wrap(grid, axis, p))
}

/// A position at most one turn out of range, wrapped into it.
#[inline(always)]
fn wrap(grid: &Grid, axis: usize, p: i32) -> u16 {
    let extent = grid.extent(axis) as i32;
    (if p < 0 {
        p + extent
    } else if p >= extent {
        p - extent
    } else {
        p
    }) as u16
}

#[cfg(test)]
mod tests;
