//! Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008) with the tie-breaking of
//! Johnson, Bunde, Leung.
//!
//! Shells are L1 shells and the score is the sum of pairwise L1 distances. Gen-Alg's
//! candidate centres are the free processors; MM's are all positions whose every
//! coordinate occurs in some free processor.

mod candidates;
mod contest;
mod mesh;
mod reach;
mod survey;
mod tie;

use super::centre::literal::{CentreRule, Centres, Score};
use super::centre::{CentreOptions, Cut, Metric, ShellOrder};
use super::{Allocator, Refusal, Request};
use crate::machine::{DiamondCounts, Machine};
use crate::topology::{Coord, Grid, NodeId};
use candidates::Candidates;
use contest::Contest;
use mesh::Diamond;
use reach::Reaches;
use survey::Survey;
use tie::TieValues;

/// The Gen-Alg and MM allocators.
#[derive(Debug)]
pub struct Centred {
    grid: Grid,
    coords: Vec<Coord>,
    rule: CentreRule,
    candidates: Candidates,
    contest: Contest,
    mesh: Option<Mesh>,
    survey: Survey,
    tie: Option<TieValues>,
    cut: Cut,
    part: Vec<NodeId>,
}

/// What makes a 2D mesh faster.
#[derive(Debug)]
struct Mesh {
    counts: DiamondCounts,
    reaches: Reaches,
    diamond: Diamond,
    order: Vec<u64>,
    dead: Vec<bool>,
}

impl Centred {
    /// Gen-Alg on `grid`.
    pub fn gen_alg(grid: &Grid, options: CentreOptions) -> Self {
        Self::new(grid, Self::gen_alg_rule(options))
    }

    /// MM on `grid`.
    pub fn mm(grid: &Grid, options: CentreOptions) -> Self {
        Self::new(grid, Self::mm_rule(options))
    }

    /// The definition of Gen-Alg, without the shortcuts.
    pub fn gen_alg_rule(options: CentreOptions) -> CentreRule {
        Self::rule(Centres::FreeProcessors, options)
    }

    /// The definition of MM, without the shortcuts.
    pub fn mm_rule(options: CentreOptions) -> CentreRule {
        Self::rule(Centres::CoordinateProduct, options)
    }

    fn rule(centres: Centres, options: CentreOptions) -> CentreRule {
        CentreRule { centres, metric: Metric::L1, score: Score::PairwiseL1, options }
    }

    fn new(grid: &Grid, rule: CentreRule) -> Self {
        let coords = grid.coords();
        let vector = rule.options.tie.filter(|vector| !vector.is_indifferent());
        Self {
            candidates: Candidates::new(rule.centres, grid),
            contest: Contest::default(),
            mesh: DiamondCounts::new(grid).map(|counts| Mesh {
                reaches: Reaches::new(&counts),
                counts,
                diamond: Diamond::default(),
                order: Vec::new(),
                dead: Vec::new(),
            }),
            survey: Survey::default(),
            tie: vector.map(|vector| TieValues::new(grid, &coords, vector, rule.options.wall)),
            cut: Cut::default(),
            part: Vec::new(),
            grid: grid.clone(),
            coords,
            rule,
        }
    }

    /// Scores the candidates for `size` processors, which are less than are free.
    fn compete(&mut self, machine: &Machine, size: usize, keep_all: bool, slack: bool) {
        self.candidates.list(machine, &self.coords);
        self.contest.start(keep_all);
        let options = self.rule.options;
        let admitted = |best| if slack { options.admitted(best) } else { best };
        match &mut self.mesh {
            Some(mesh) => {
                mesh.counts.update(machine);
                mesh.reaches.compute(&mesh.counts, size as u16, !self.candidates.may_be_busy());
                mesh.order.clear();
                for i in 0..self.candidates.len() {
                    let [x, y, _] = self.candidates.centre(i).map(usize::from);
                    let reach = mesh.reaches.of(x, y);
                    mesh.order.push((reach.outermost as u64) << 48 | ((65535 - reach.inner) as u64) << 32 | i as u64);
                }
                mesh.order.sort_unstable();
                mesh.dead.clear();
                mesh.dead.resize(self.coords.len(), false);
                for &key in &mesh.order {
                    let i = key as u32 as usize;
                    let [x, y, _] = self.candidates.centre(i).map(usize::from);
                    let reach = mesh.reaches.of(x, y);
                    
                    if mesh.dead_near(x, y, reach.outermost) {
                        mesh.dead[x * mesh.counts.height() + y] = true;
                        continue;
                    }
                    let need = size - reach.inner;
                    let contest = &self.contest;
                    if !mesh.diamond.look(&mesh.counts, (x, y), reach, need, |least| contest.is_open(least, i), |least| mesh.dead[x * mesh.counts.height() + y] = contest.limit() < least) {
                        continue;
                    }
                    self.part.clear();
                    if options.order == ShellOrder::Carried {
                        let coords = &self.coords;
                        let distance = |c: &Coord, node: NodeId| {
                            let p = coords[node.index()];
                            u32::from(c[0].abs_diff(p[0]) + c[1].abs_diff(p[1]))
                        };
                        let earlier = self.candidates.earlier(i);
                        self.cut.take_by(earlier, distance, &mesh.diamond.shell, need, &mut self.part);
                    } else {
                        self.part.extend_from_slice(&mesh.diamond.shell[..need]);
                    }
                    let score = mesh.diamond.score(&self.coords, &self.part, x, y);
                    self.contest.enter(score, i, admitted);
                }
            }
            None => {
                for i in 0..self.candidates.len() {
                    let centre = self.candidates.centre(i);
                    let survey = &mut self.survey;
                    survey.look(&self.grid, &self.coords, machine, centre, size, None);
                    self.part.clear();
                    self.cut.take(
                        options.order, Metric::L1, &self.grid, &self.coords,
                        self.candidates.earlier(i), &survey.shell, survey.need, &mut self.part,
                    );
                    for node in &self.part {
                        survey.add(self.coords[node.index()]);
                    }
                    self.contest.enter(survey.pairwise_l1(&self.grid), i, admitted);
                }
            }
        }
    }

    /// The `size` processors around a candidate; returns their outermost shell.
    fn collect(&mut self, machine: &Machine, index: usize, size: usize, chosen: &mut Vec<NodeId>) -> u32 {
        let centre = self.candidates.centre(index);
        self.survey.look(&self.grid, &self.coords, machine, centre, size, Some(chosen));
        self.cut.take(
            self.rule.options.order, Metric::L1, &self.grid, &self.coords,
            self.candidates.earlier(index), &self.survey.shell, self.survey.need, chosen,
        );
        self.survey.outermost
    }

    /// The winning candidate.
    fn winner(&mut self, machine: &Machine, size: usize, set: &mut Vec<NodeId>) -> Option<usize> {
        let Some(tie) = self.tie.take() else {
            self.compete(machine, size, false, false);
            return self.contest.best().map(|(_, index)| index);
        };
        self.compete(machine, size, true, true);
        let admitted = self.contest.admitted().to_vec();
        let mut winner = None;
        for (score, index) in admitted {
            set.clear();
            let last = self.collect(machine, index, size, set);
            let centre = self.candidates.centre(index);
            let value = tie.value(&self.grid, &self.coords, machine, centre, last, set);
            let rank = (value, score, index);
            if winner.is_none_or(|best| rank < best) {
                winner = Some(rank);
            }
        }
        set.clear();
        self.tie = Some(tie);
        winner.map(|(_, _, index)| index)
    }
}

impl Mesh {
    fn dead_near(&self, x: usize, y: usize, last: usize) -> bool {
        let (w, h) = (self.counts.width(), self.counts.height());
        let near = |x: usize, y: usize| self.dead[x * h + y] && self.reaches.of(x, y).outermost + 1 == last;
        x > 0 && near(x - 1, y) || x + 1 < w && near(x + 1, y) || y > 0 && near(x, y - 1) || y + 1 < h && near(x, y + 1)
    }
}
impl Allocator for Centred {
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
        } else if self.rule.options.order == ShellOrder::Greedy {
            let winner = self.rule.choose(machine, &self.grid, size);
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
        } else {
            let winner = self.winner(machine, size, chosen).ok_or(Refusal::Fragmented)?;
            self.collect(machine, winner, size, chosen);
        }
        Ok(())
    }

    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.rule.options.order == ShellOrder::Greedy {
            return Some(self.rule.tied_sets(machine, &self.grid, size));
        }
        self.compete(machine, size, true, false);
        let tied = self.contest.admitted().to_vec();
        let mut sets = std::collections::HashSet::with_capacity(tied.len());
        for (_, index) in tied {
            let mut set = Vec::with_capacity(size);
            self.collect(machine, index, size, &mut set);
            set.sort_unstable();
            sets.insert(set);
        }
        Some(sets.len() as u32)
    }

    fn reset(&mut self) {
        if let Some(mesh) = &mut self.mesh {
            mesh.counts.reset();
        }
    }
}

#[cfg(test)]
mod tests;
