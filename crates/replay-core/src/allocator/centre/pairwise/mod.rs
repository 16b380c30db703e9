//! Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung (sections
//! I, II and IV).
//!
//! Shells are L1 shells, and the score is the sum of pairwise L1 distances. The candidate centres of Gen-Alg are the
//! free processors. The candidate centres of MM are all combinations of the coordinates of free processors. Coordinates
//! are in order of first appearance.
//!
//! Four engines compute the same scores. `Line` supports meshes of one dimension and uses prefix sums. `Mesh` supports
//! 2D meshes. This engine determines the outermost shell of each centre from tables, and excludes most centres by lower
//! bounds before it cuts a shell. If all processors around several centres are free, it computes the score only once.
//! `Balls` supports 3D and wrapped grids by the same method. This engine uses counts in balls and in sections of balls,
//! for 16 centres at a time. `Survey` supports every grid and passes over the free processors once per candidate.
//! `Survey` also collects the processors of the winner for all engines. Without a tie vector, only the best score and
//! its candidate are stored. With a tie vector, all admitted candidates are stored, and their tie values are computed.

mod balls;
mod candidates;
mod diamond;
mod mesh;
mod sections;
mod survey;
mod tie;

use super::definition::{CentreOptions, CentreRule};
use super::engine::{CentreAllocator, CentreEngine};
use super::tie::Slack;
use crate::allocator::Refusal;
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::Machine;
use crate::topology::{Grid, NodeId};
use balls::Balls;
use candidates::{Candidates, Selection};
use mesh::Mesh;
use survey::{Line, Survey};
use tie::TieValues;

/// The Gen-Alg and MM allocators.
pub type Pairwise = CentreAllocator<PairwiseEngine>;

impl Pairwise {
    /// Creates Gen-Alg on `grid`.
    pub fn gen_alg(grid: &Grid, options: CentreOptions) -> Self {
        Self::by_rule(grid, CentreRule::gen_alg(options))
    }

    /// Creates MM on `grid`.
    pub fn mm(grid: &Grid, options: CentreOptions) -> Self {
        Self::by_rule(grid, CentreRule::mm(options))
    }

    fn by_rule(grid: &Grid, rule: CentreRule) -> Self {
        let engine = PairwiseEngine::new(grid, &rule);
        Self::with_engine(grid, rule, engine)
    }
}

/// Finds the winner of Gen-Alg or MM.
#[derive(Debug)]
pub struct PairwiseEngine {
    grid: Grid,
    slack: Slack,
    candidates: Candidates,
    selection: Selection,
    scoring: Scoring,
    survey: Survey,
    tie: Option<TieValues>,
}

/// Engine that scores the candidates.
#[derive(Debug)]
enum Scoring {
    Line(Line),
    Mesh(Box<Mesh>),
    Balls(Box<Balls>),
    Survey,
}

impl PairwiseEngine {
    fn new(grid: &Grid, rule: &CentreRule) -> Self {
        let CentreOptions { tie, wall, order, slack } = rule.options;
        let vector = tie.filter(|vector| !vector.is_indifferent());
        let scoring = Line::new(grid)
            .map(Scoring::Line)
            .or_else(|| Mesh::new(grid, order).map(|mesh| Scoring::Mesh(Box::new(mesh))))
            .or_else(|| Balls::new(grid, order).map(|balls| Scoring::Balls(Box::new(balls))))
            .unwrap_or(Scoring::Survey);
        Self {
            candidates: Candidates::new(rule.centres, grid),
            selection: Selection::default(),
            scoring,
            survey: Survey::new(grid, order),
            tie: vector.map(|vector| TieValues::new(grid, vector, wall)),
            grid: grid.clone(),
            slack,
        }
    }

    /// Scores the candidates for `size` processors; `size` must be less than the number of free processors. If a slack
    /// is given, all candidates within the slack are selected; otherwise only the first candidate with the best score.
    fn compete(
        &mut self,
        machine: &Machine,
        size: usize,
        slack: Option<Slack>,
        stop: &CancelToken,
    ) -> Result<(), Cancelled> {
        let Self { candidates, selection, survey, .. } = self;
        candidates.list(machine);
        selection.start(slack);
        match &mut self.scoring {
            Scoring::Line(line) => line.compete(machine, size, selection),
            Scoring::Mesh(mesh) => mesh.compete(machine, candidates, size, selection),
            Scoring::Balls(balls) => {
                candidates.find_lines();
                balls.compete(machine, candidates, size, selection, stop)?;
            }
            Scoring::Survey => {
                for index in 0..candidates.len() {
                    stop.check()?;
                    let earlier = candidates.earlier(index);
                    let score = survey.score(machine, candidates.centre(index), earlier, size);
                    selection.enter(score, index);
                }
            }
        }
        Ok(())
    }

    /// Returns the index of the winning candidate. `set` is scratch memory.
    fn winner(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
        set: &mut Vec<NodeId>,
    ) -> Result<Option<usize>, Cancelled> {
        if self.tie.is_none() {
            self.compete(machine, size, None, stop)?;
            return Ok(self.selection.best().map(|(_, index)| index));
        }
        self.compete(machine, size, Some(self.slack), stop)?;
        let Self { grid, candidates, selection, survey, tie: Some(tie), .. } = self else {
            return Ok(None);
        };
        let admitted = selection.admitted();
        if let [(_, only)] = admitted {
            return Ok(Some(*only));
        }
        tie.update(machine);
        let ranked = admitted.iter().take_while(|_| !stop.is_raised()).map(|&(score, index)| {
            let centre = candidates.centre(index);
            set.clear();
            let outermost = survey.collect(machine, centre, candidates.earlier(index), size, set);
            (tie.value(grid, survey.coords(), machine, centre, outermost, set), score, index)
        });
        let winner = ranked.min();
        set.clear();
        stop.check()?;
        Ok(winner.map(|(_, _, index)| index))
    }

    /// Appends the `size` processors around a candidate to `chosen`.
    fn collect(&mut self, machine: &Machine, index: usize, size: usize, chosen: &mut Vec<NodeId>) {
        let earlier = self.candidates.earlier(index);
        self.survey.collect(machine, self.candidates.centre(index), earlier, size, chosen);
    }
}

impl CentreEngine for PairwiseEngine {
    fn reset(&mut self) {
        match &mut self.scoring {
            Scoring::Mesh(mesh) => mesh.reset(),
            Scoring::Balls(balls) => balls.reset(),
            Scoring::Line(_) | Scoring::Survey => {}
        }
    }

    fn choose(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let winner = self.winner(machine, size, stop, chosen)?.ok_or(Refusal::Fragmented)?;
        self.collect(machine, winner, size, chosen);
        Ok(())
    }

    fn for_each_tied(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
        visit: &mut dyn FnMut(Vec<NodeId>),
    ) -> Result<(), Cancelled> {
        self.compete(machine, size, Some(Slack::NONE), stop)?;
        for (_, index) in self.selection.admitted().to_vec() {
            stop.check()?;
            let mut set = Vec::with_capacity(size);
            self.collect(machine, index, size, &mut set);
            visit(set);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
