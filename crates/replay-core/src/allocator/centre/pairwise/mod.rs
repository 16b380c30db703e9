//! Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung (sections
//! I, II and IV).
//!
//! Shells are L1 shells, and the score is the sum of pairwise L1 distances. The candidate centres of Gen-Alg are the
//! free processors. The candidate centres of MM are all combinations of the coordinates of free processors. Coordinates
//! are in order of first appearance.
//!
//! Four engines compute the same scores. `Line` supports meshes of one dimension and uses prefix sums. `Mesh` supports
//! 2D meshes. The engine `Mesh` determines the outermost shell of each centre from tables, and excludes most centres by
//! lower bounds before it cuts a shell. For centres whose surroundings are identical and entirely free, the engine
//! `Mesh` computes the score only once. `Balls` supports 3D and wrapped grids by the same method as the engine for 2D
//! meshes. `Balls` uses counts in balls and in sections of balls, for 16 centres at a time. `Survey` supports every
//! grid and passes over the free processors once per candidate. `Survey` also collects the processors of the winner for
//! all engines. Without a tie vector, only the best score and its candidate are stored. With a tie vector, all admitted
//! candidates are stored, and their tie values are computed.

mod balls;
mod candidates;
mod mesh;
mod sections;
mod survey;

use super::definition::{CentreOptions, CentreRule};
use super::tie_vector::{Slack, TieVector, WallRule, walls_of};
use super::{CentreAllocator, CentreEngine};
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::Machine;
use crate::topology::{Axis, Coord, Grid, NodeId};
use balls::Balls;
use candidates::{Candidates, Selection};
use mesh::Mesh;
use survey::{Line, Survey};

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

/// Engine that finds the winner of Gen-Alg or MM.
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
    /// is given, all candidates within the slack are selected; otherwise, only the first candidate with the best score
    /// is selected.
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
}

impl CentreEngine for PairwiseEngine {
    /// Position in candidate order.
    type Candidate = usize;

    fn reset(&mut self) {
        match &mut self.scoring {
            Scoring::Mesh(mesh) => mesh.reset(),
            Scoring::Balls(balls) => balls.reset(),
            Scoring::Line(_) | Scoring::Survey => {}
        }
    }

    fn winner(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
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
        let mut set = Vec::with_capacity(size);
        let ranked = admitted.iter().take_while(|_| !stop.is_raised()).map(|&(score, index)| {
            let centre = candidates.centre(index);
            set.clear();
            let outermost =
                survey.collect(machine, centre, candidates.earlier(index), size, &mut set);
            (tie.value(grid, survey.coords(), machine, centre, outermost, &set), score, index)
        });
        let winner = ranked.min();
        stop.check()?;
        Ok(winner.map(|(_, _, index)| index))
    }

    fn tied(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
    ) -> Result<Vec<usize>, Cancelled> {
        self.compete(machine, size, Some(Slack::NONE), stop)?;
        Ok(self.selection.admitted().iter().map(|&(_, index)| index).collect())
    }

    fn collect(&mut self, machine: &Machine, index: usize, size: usize, chosen: &mut Vec<NodeId>) {
        let earlier = self.candidates.earlier(index);
        self.survey.collect(machine, self.candidates.centre(index), earlier, size, chosen);
    }
}

/// Tie values with diamond shells; see [`TieVector`] for the
/// definition.
///
/// Sums over the surroundings of a candidate are computed one row of the grid at a time, from prefix sums along the
/// rows.
#[derive(Debug)]
struct TieValues {
    vector: TieVector,
    rule: WallRule,
    /// For each processor, its wall weight when all processors are in service.
    walls: Vec<u8>,
    /// The axis of a row of consecutive processors.
    along: Axis,
    /// Prefix sums by row and position: the number of free processors before the position, and the sum of the positions
    /// of these processors. Each row has one entry more than it has positions.
    before: Vec<[i64; 2]>,
}

impl TieValues {
    /// Creates tie values of one vector and wall rule.
    fn new(grid: &Grid, vector: TieVector, rule: WallRule) -> Self {
        let weight = |&coord: &Coord| rule.weight(grid.walls(coord)) as u8;
        let along = grid.axes()[grid.dimensions() - 1];
        let walls = grid.coords().iter().map(weight).collect();
        Self { vector, rule, walls, along, before: Vec::new() }
    }

    /// Computes the prefix sums for the free processors of `machine`. Call this before the first
    /// [`value`](Self::value) of a decision.
    fn update(&mut self, machine: &Machine) {
        self.before.clear();
        for row in machine.free_map().chunks(usize::from(self.along.extent)) {
            let (mut count, mut sum) = (0, 0);
            self.before.push([0, 0]);
            for (position, &free) in (0..).zip(row) {
                count += i64::from(free);
                sum += if free { position } else { 0 };
                self.before.push([count, sum]);
            }
        }
    }

    /// Returns the tie value of the processors `chosen` around `centre`. The outermost of these
    /// processors is in shell `last`.
    fn value(
        &self,
        grid: &Grid,
        coords: &[Coord],
        machine: &Machine,
        centre: Coord,
        last: u32,
        chosen: &[NodeId],
    ) -> i64 {
        let TieVector { scan_radius, available, wall, border } = self.vector;
        let max_shell = i64::from(last) + i64::from(scan_radius);
        // The sum of the weights of all free processors nearby, minus the sum of the weights of the candidate's
        // processors.
        let mut nearby = 0;
        let mut touching = 0;
        for node in chosen {
            let weight = max_shell - i64::from(grid.l1(centre, coords[node.index()])) + 1;
            nearby -= weight;
            let walls = match machine.down_count() {
                0 => u32::from(self.walls[node.index()]),
                _ => self.rule.weight(walls_of(machine, grid, *node)),
            };
            touching += weight * i64::from(walls);
        }
        let mut outside = 0;
        if available != 0 || border != 0 {
            let length = usize::from(self.along.extent);
            let lane = i64::from(centre[grid.dimensions() - 1]);
            for (row, first) in coords.iter().step_by(length).enumerate() {
                let mut across = centre;
                across[grid.dimensions() - 1] = 0;
                let distance = i64::from(grid.l1(across, *first));
                if available != 0 && distance <= max_shell {
                    nearby += self.weights(row, lane, max_shell - distance);
                }
                let rest = i64::from(last) + 1 - distance;
                if border != 0 && rest >= 0 {
                    let [behind, ahead] = self.span(lane);
                    let positions = [
                        (rest <= behind).then_some(lane - rest),
                        (0 < rest && rest <= ahead).then_some(lane + rest),
                    ];
                    for position in positions.into_iter().flatten() {
                        let position = position.rem_euclid(length as i64) as usize;
                        let node = NodeId((row * length + position) as u32);
                        if !machine.is_free(node) && !machine.is_down(node) {
                            outside += i64::from(scan_radius);
                        }
                    }
                }
            }
        }
        i64::from(available) * nearby - i64::from(wall) * touching - i64::from(border) * outside
    }

    /// Returns the largest distances from `lane` to the positions behind and ahead of `lane` in a
    /// row. Each position of a wrapped row is counted on one side only.
    fn span(&self, lane: i64) -> [i64; 2] {
        let extent = i64::from(self.along.extent);
        if self.along.wrapped { [extent / 2, (extent - 1) / 2] } else { [lane, extent - 1 - lane] }
    }

    /// Returns the sum of (`reach` + 1 - distance) over all free processors of a row whose distance
    /// from a position is at most `reach`.
    fn weights(&self, row: usize, lane: i64, reach: i64) -> i64 {
        let [behind, ahead] = self.span(lane).map(|span| span.min(reach));
        let [left, left_sum] = self.between(row, lane - behind, lane);
        let [right, right_sum] = self.between(row, lane, lane + ahead + 1);
        (reach + 1) * (left + right) - (lane * left - left_sum) - (right_sum - lane * right)
    }

    /// Returns the number of free processors of a row between two positions, and the sum of the positions of these
    /// processors. On a wrapped row, one of the two positions may be past an end of the row.
    fn between(&self, row: usize, from: i64, to: i64) -> [i64; 2] {
        let extent = i64::from(self.along.extent);
        let inside = |from: i64, to: i64, turns: i64| {
            let at = |position: i64| {
                let position = (position - turns * extent).clamp(0, extent);
                self.before[row * (extent as usize + 1) + position as usize]
            };
            let ([count, sum], [end_count, end_sum]) = (at(from), at(to));
            [end_count - count, end_sum - sum + turns * extent * (end_count - count)]
        };
        let mut all = inside(from, to, 0);
        if from < 0 || to > extent {
            let more = inside(from, to, if from < 0 { -1 } else { 1 });
            all = [all[0] + more[0], all[1] + more[1]];
        }
        all
    }
}

#[cfg(test)]
mod tests;
