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

use crate::definition::{CentreOptions, CentreRule, Metric, ShellOrder};
use crate::shell::ShellCut;
use crate::{CentreAllocator, CentreEngine};
use balls::Balls;
use candidates::{Candidates, Selection};
use mesh::Mesh;
use replay_engine::allocator::ties::{Slack, TieVector, WallRule, walls_of};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::Machine;
use replay_engine::topology::{Axis, Coord, Grid, NodeId, along_axis};

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

/// Engine that gathers the complete shells and the last shell around one centre.
///
/// This engine supports every grid. The cost is a few steps per free processor and centre.
#[derive(Debug)]
pub struct Survey {
    grid: Grid,
    coords: Vec<Coord>,
    order: ShellOrder,
    cut: ShellCut,
    /// For each free processor, its distance from the centre.
    distances: Vec<u32>,
    /// For each distance, the number of free processors at this distance.
    counts: Vec<u32>,
    /// Free processors of the last shell, in scan order.
    shell: Vec<NodeId>,
    /// Processors around a centre.
    set: Vec<NodeId>,
    /// For each axis and each position along this axis, the number of processors taken.
    histograms: [Vec<u32>; 3],
}

impl Survey {
    /// Creates a survey of `grid`; processors are taken from the last shell in `order`.
    pub fn new(grid: &Grid, order: ShellOrder) -> Self {
        let diameter: usize = grid.axes().iter().map(|axis| usize::from(axis.diameter())).sum();
        Self {
            coords: grid.coords(),
            grid: grid.clone(),
            order,
            cut: ShellCut::default(),
            distances: Vec::new(),
            counts: vec![0; diameter + 1],
            shell: Vec::new(),
            set: Vec::new(),
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Returns the coordinates by processor number.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Returns the sum of pairwise L1 distances of the `size` processors around `centre`. At least `size` processors
    /// must be free. `earlier` are the candidates before this candidate, the latest first.
    pub fn score(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
    ) -> u64 {
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        self.collect(machine, centre, earlier, size, &mut set);
        self.histograms.iter_mut().for_each(|histogram| histogram.fill(0));
        for node in &set {
            for (histogram, position) in self.histograms.iter_mut().zip(self.coords[node.index()]) {
                histogram[usize::from(position)] += 1;
            }
        }
        self.set = set;
        pairs_of(&self.grid, &self.histograms, size)
    }

    /// Appends the `size` processors around `centre` to `chosen`. Returns the shell number of the outermost processor.
    /// `earlier` are the candidates before this candidate, the latest first.
    pub fn collect(
        &mut self,
        machine: &Machine,
        centre: Coord,
        earlier: impl Iterator<Item = Coord>,
        size: usize,
        chosen: &mut Vec<NodeId>,
    ) -> u32 {
        let Self { grid, coords, order, cut, distances, counts, shell, .. } = self;
        let free = || machine.free_nodes().map(|node| (node, coords[node.index()]));
        counts.fill(0);
        distances.clear();
        for (_, coord) in free() {
            let distance = grid.l1(centre, coord);
            distances.push(distance);
            counts[distance as usize] += 1;
        }
        let (mut within, mut outermost) = (0, 0);
        while within + (counts[outermost] as usize) < size {
            within += counts[outermost] as usize;
            outermost += 1;
        }
        let outermost = outermost as u32;
        shell.clear();
        for ((node, _), &distance) in free().zip(&*distances) {
            if distance < outermost {
                chosen.push(node);
            } else if distance == outermost {
                shell.push(node);
            }
        }
        cut.take(*order, Metric::L1, grid, coords, earlier, shell, size - within, chosen);
        outermost
    }
}

/// Engine that scores candidates on a mesh of one dimension.
///
/// On such a mesh the candidates of Gen-Alg and MM are the free processors, and the nearest processors to a candidate
/// are consecutive free processors. If two processors are equally near, scan order takes the first processor. Carried
/// order also takes the first processor, because the preceding candidate is on the same side. The range of processors
/// therefore moves forward with the candidates, and scores are computed from prefix sums.
#[derive(Debug)]
pub struct Line {
    /// Positions of the free processors, in scan order.
    positions: Vec<u64>,
    /// Prefix sums, indexed by number of free processors: the sum of the positions, and the sum of positions times
    /// indices.
    sums: Vec<[u64; 2]>,
}

impl Line {
    /// Creates the engine. Returns `None` unless `grid` is a mesh with at most one dimension longer than one.
    pub fn new(grid: &Grid) -> Option<Self> {
        let long = grid.axes().iter().filter(|axis| axis.extent > 1).count();
        (long <= 1 && !grid.is_wrapped()).then(|| Self { positions: Vec::new(), sums: Vec::new() })
    }

    /// Enters the score of every candidate.
    pub fn compete(&mut self, machine: &Machine, size: usize, selection: &mut Selection) {
        self.positions.clear();
        self.positions.extend(machine.free_nodes().map(|node| u64::from(node.0)));
        let (mut positions, mut products) = (0, 0);
        self.sums.clear();
        self.sums.push([0, 0]);
        for (number, &position) in (0..).zip(&self.positions) {
            positions += position;
            products += number * position;
            self.sums.push([positions, products]);
        }
        let mut first = 0;
        for (index, &centre) in self.positions.iter().enumerate() {
            let nearer = |first: usize| {
                let next = self.positions.get(first + size)?;
                Some(*next > centre && next - centre < centre.abs_diff(self.positions[first]))
            };
            while index >= first + size || nearer(first) == Some(true) {
                first += 1;
            }
            selection.enter(self.score(first, size), index);
        }
    }

    /// Returns the pairwise sum of `size` consecutive free processors from `first` on. Each position is added once for
    /// every processor before it and subtracted once for every processor after it.
    fn score(&self, first: usize, size: usize) -> u64 {
        let ([positions, products], [end_places, end_products]) =
            (self.sums[first], self.sums[first + size]);
        let (positions, products) = (end_places - positions, end_products - products);
        2 * (products - first as u64 * positions) - (size as u64 - 1) * positions
    }
}

/// Returns the sum of pairwise L1 distances of `all` processors, computed from the number of processors at each position
/// of each dimension.
fn pairs_of(grid: &Grid, histograms: &[Vec<u32>; 3], all: usize) -> u64 {
    let axes = histograms.iter().zip(grid.axes());
    axes.map(|(histogram, axis)| along_axis(histogram, axis.wrapped, all)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_cases::{agrees, grids, machine, options, partly_down};
    use proptest::prelude::*;
    use replay_engine::allocator::{Allocator, Request};
    use replay_engine::topology::{Axis, Coord};

    /// Returns MM if `product` is set, otherwise Gen-Alg, and the definition of the strategy.
    fn fast_and_rule(grid: &Grid, product: bool, options: CentreOptions) -> (Pairwise, CentreRule) {
        if product {
            (Pairwise::mm(grid, options), CentreRule::mm(options))
        } else {
            (Pairwise::gen_alg(grid, options), CentreRule::gen_alg(options))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn agrees_with_the_definition(
            grid in grids(),
            product: bool,
            options in options(),
            // The cases include nearly empty machines, on which complete diamonds are identical and scored only once.
            busy in prop_oneof![1 => Just(0.0), 1 => 0.0..0.03f64, 6 => 0.0..0.95f64],
            seed: u64,
            shares in proptest::collection::vec(0.0..1.0f64, 3),
        ) {
            let (mut fast, rule) = fast_and_rule(&grid, product, options);
            agrees(&mut fast, &rule, &grid, machine(&grid, busy, seed), &shares)?;
        }

        /// Tests the engines for arbitrary grids, including grids for which a special engine exists.
        #[test]
        fn engines_for_any_grid_agree_with_the_definition(
            grid in grids(),
            product: bool,
            options in options(),
            busy in 0.0..0.95f64,
            seed: u64,
            shares in proptest::collection::vec(0.0..1.0f64, 2),
            survey: bool,
        ) {
            let (mut fast, rule) = fast_and_rule(&grid, product, options);
            fast.engine.scoring = match Balls::new(&grid, options.order) {
                Some(balls) if !survey => Scoring::Balls(Box::new(balls)),
                _ => Scoring::Survey,
            };
            agrees(&mut fast, &rule, &grid, machine(&grid, busy, seed), &shares)?;
        }

        /// The engines agree with the definition if processors are out of service, whether or not these processors count as
        /// walls.
        #[test]
        fn agrees_with_the_definition_during_outages(
            grid in grids(),
            product: bool,
            options in options(),
            busy in 0.0..0.8f64,
            seed: u64,
            share in 2u32..6,
            walls: bool,
            shares in proptest::collection::vec(0.0..1.0f64, 3),
        ) {
            let (mut fast, rule) = fast_and_rule(&grid, product, options);
            let (machine, _) = partly_down(machine(&grid, busy, seed), share, walls);
            agrees(&mut fast, &rule, &grid, machine, &shares)?;
        }

        /// For any distance function, Gen-Alg is a (2 - 2/k)-approximation of the least sum of pairwise distances
        /// (Krumke et al. 1997). MM is a (2 - 1/(2d))-approximation on meshes of d dimensions (Bender et al. 2008). The
        /// suite `bounds` tries every state of meshes that are smaller than the grids of this test.
        #[test]
        fn is_within_the_published_approximation_bounds(
            (grid, wrapped) in any::<bool>().prop_flat_map(|wrapped| (small_grids(wrapped), Just(wrapped))),
            busy in 0.0..0.8f64,
            seed: u64,
            size in 2usize..6,
        ) {
            let machine = machine(&grid, busy, seed);
            let free: Vec<Coord> = machine.free_nodes().map(|node| grid.coord(node)).collect();
            prop_assume!(size < free.len());
            let best = least(&grid, &free, &mut Vec::new(), size, 0, u32::MAX);
            let ratio_of = |mut allocator: Pairwise| {
                let mut chosen = Vec::new();
                let request = Request::of_size(size as u32);
                allocator.allocate(&machine, request, &mut chosen).expect("enough are free");
                let chosen: Vec<Coord> = chosen.iter().map(|node| grid.coord(*node)).collect();
                f64::from(distance(&grid, &chosen)) / f64::from(best)
            };
            let options = CentreOptions::default();
            let gen_alg = ratio_of(Pairwise::gen_alg(&grid, options));
            prop_assert!(gen_alg <= 2.0 - 2.0 / size as f64 + 1e-9, "Gen-Alg: {gen_alg}");
            let mm = ratio_of(Pairwise::mm(&grid, options));
            let dimensions = grid.dimensions() as f64;
            // The theorem on MM holds for meshes. On tori, the bound of Gen-Alg also holds for MM, because MM tries all of
            // Gen-Alg's centres.
            let bound = if wrapped { 2.0 - 2.0 / size as f64 } else { 2.0 - 0.5 / dimensions };
            prop_assert!(mm <= bound + 1e-9, "MM: {mm}");
        }
    }

    /// Generates meshes or tori small enough to search all subsets.
    fn small_grids(wrapped: bool) -> impl Strategy<Value = Grid> {
        let axis = move |max| (1u16..max).prop_map(move |extent| Axis { extent, wrapped });
        prop_oneof![proptest::collection::vec(axis(7), 2), proptest::collection::vec(axis(4), 3)]
            .prop_map(|axes| Grid::new(&axes).expect("small"))
    }

    /// Returns the sum of pairwise distances.
    fn distance(grid: &Grid, set: &[Coord]) -> u32 {
        let pairs =
            set.iter().enumerate().flat_map(|(i, a)| set[..i].iter().map(move |b| (*a, *b)));
        pairs.map(|(a, b)| grid.l1(a, b)).sum()
    }

    /// Returns the least sum of pairwise distances of `set` and `more` further free processors; `sum` is the sum of the
    /// pairwise distances within `set`. `best` is the smallest sum known so far.
    fn least(
        grid: &Grid,
        free: &[Coord],
        set: &mut Vec<Coord>,
        more: usize,
        sum: u32,
        mut best: u32,
    ) -> u32 {
        if more == 0 || sum >= best {
            return best.min(sum);
        }
        for (i, &next) in free.iter().enumerate() {
            let added: u32 = set.iter().map(|other| grid.l1(next, *other)).sum();
            set.push(next);
            best = least(grid, &free[i + 1..], set, more - 1, sum + added, best);
            set.pop();
        }
        best
    }
}
