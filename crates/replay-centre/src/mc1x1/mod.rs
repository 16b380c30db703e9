//! MC1x1 (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung.
//!
//! Every free processor is a candidate centre, shells are L-infinity shells, and the score is the sum of shell numbers.
//! The winner is found without building or sorting sets. Let k be the requested number of processors, and cnt(c, r) the
//! number of free processors within distance r of the centre c:
//!
//! * score(c) is the sum of max(0, k - cnt(c, r)) over all r >= 0;
//! * the outermost shell L is the first r with cnt(c, r) >= k;
//! * the terms of the tie value are computed from counts too.
//!
//! Scores are computed for 16 neighbouring centres at a time. The summation stops as soon as all 16 sums exceed the
//! best score so far. Cost per decision: L / 16 vector steps per free processor, where L is the number of the outermost
//! shell, plus the cost of computing the tie values of tied candidates.

mod tie_sums;

use crate::definition::{CentreOptions, CentreRule};
use crate::shell::{SquareShell, down_on_shell};
use crate::{CentreAllocator, CentreEngine};
use replay_engine::allocator::ties::{TieConfig, TieVector};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::{BoxCounts, Count, LANES, Machine, Row};
use replay_engine::topology::{Grid, NodeId};
use tie_sums::LaneBounds;
pub use tie_sums::{OpenValue, PartialShell, TieCounts, TieSums, TieValue};

/// The MC1x1 allocator. On machines with more than 65,535 points, the type of the counts, `C`, must be `u32`.
pub type Mc1x1<C = u16> = CentreAllocator<Mc1x1Engine<C>>;

impl Mc1x1 {
    /// Creates an allocator for `grid`, which must have at most 65,535 points.
    pub fn new(grid: &Grid, options: CentreOptions) -> Self {
        Self::counting(grid, options)
    }
}

impl<C: Count> Mc1x1<C> {
    /// Returns whether the sums over all shells of `grid` fit into 32 bits and the counts into `C`.
    pub fn takes(grid: &Grid) -> bool {
        let diameter = grid.axes().iter().map(|axis| u64::from(axis.diameter())).max();
        let points = grid.processors() as u64;
        points <= u64::from(C::MAX.into())
            && (diameter.unwrap_or(0) + 2) * points < u64::from(u32::MAX)
    }

    /// Creates an allocator for `grid`. [`takes`](Self::takes) must return `true` for the grid.
    pub fn counting(grid: &Grid, options: CentreOptions) -> Self {
        let ties = TieConfig::new(options.tie, options.slack);
        let evaluator = CentreEvaluator::new(grid, options, ties.vector.wall != 0);
        let engine = Mc1x1Engine { ties, evaluator };
        Self::with_engine(grid, CentreRule::mc1x1(options), engine)
    }
}

/// Engine that finds the winner of MC1x1 for one tie vector.
#[derive(Debug)]
pub struct Mc1x1Engine<C> {
    ties: TieConfig,
    evaluator: CentreEvaluator<C>,
}

impl<C: Count> CentreEngine for Mc1x1Engine<C> {
    type Candidate = NodeId;

    fn reset(&mut self) {
        self.evaluator.reset();
    }

    fn winner(
        &mut self,
        machine: &Machine,
        size: usize,
        _stop: &CancelToken,
    ) -> Result<Option<NodeId>, Cancelled> {
        Ok(self.evaluator.winner(machine, size as u32, self.ties))
    }

    fn tied(
        &mut self,
        machine: &Machine,
        size: usize,
        _stop: &CancelToken,
    ) -> Result<Vec<NodeId>, Cancelled> {
        Ok(self.evaluator.tied(machine, size as u32))
    }

    fn collect(
        &mut self,
        machine: &Machine,
        centre: NodeId,
        size: usize,
        chosen: &mut Vec<NodeId>,
    ) {
        self.evaluator.collect(machine, centre, size as u32, chosen);
    }
}

/// Evaluator of the candidate centres of one grid.
#[derive(Debug)]
pub struct CentreEvaluator<C> {
    pub(super) grid: Grid,
    pub(super) free: BoxCounts<C>,
    pub(super) scores: Scores,
    pub(super) tie: TieCounts<C>,
    pub(super) shell: SquareShell,
    /// Centres whose exact tie value is not yet known. Each entry contains (lower bound of the tie value, score,
    /// centre), and the data from which the exact value is computed.
    open: Vec<((i64, u64, NodeId), OpenValue)>,
    /// Bounds of the tie values, one entry for each chunk that contains tied centres.
    bounds: Vec<LaneBounds>,
}

impl<C: Count> CentreEvaluator<C> {
    /// Creates an evaluator for `grid` that counts walls if `counts_walls` is set. The vector and the slack in
    /// `options` are ignored.
    pub fn new(grid: &Grid, options: CentreOptions, counts_walls: bool) -> Self {
        Self {
            free: BoxCounts::new(grid),
            scores: Scores::new(grid),
            tie: TieCounts::new(grid, options, counts_walls),
            shell: SquareShell::new(grid, options.order),
            grid: grid.clone(),
            open: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Clears the counts of the previous machine.
    pub fn reset(&mut self) {
        self.free.reset();
        self.tie.reset();
    }

    /// Clears the counts of the previous machine and prepares for `machine`.
    pub fn switch_to(&mut self, machine: &Machine) {
        self.free.reset();
        self.tie.switch_to(machine);
    }

    /// Returns the winning centre for `size` processors; `size` is less than the number of free processors.
    pub fn winner(&mut self, machine: &Machine, size: u32, ties: TieConfig) -> Option<NodeId> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the line above has detected AVX2, which the call requires.
            #[allow(unsafe_code)]
            return unsafe { self.winner_avx2(machine, size, ties) };
        }
        self.winner_plain(machine, size, ties)
    }

    /// Runs the portable code, compiled for every processor.
    fn winner_plain(&mut self, machine: &Machine, size: u32, ties: TieConfig) -> Option<NodeId> {
        self.winner_portable(machine, size, ties, |one, machine, size, admitted, vector| {
            one.least_tie_of_any(machine, size, admitted, vector)
        })
    }

    /// Runs the portable code, compiled for AVX2. All code that works on lanes is inlined and uses only integers, so
    /// the results are the same as without AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn winner_avx2(&mut self, machine: &Machine, size: u32, ties: TieConfig) -> Option<NodeId> {
        self.winner_portable(machine, size, ties, |one, machine, size, admitted, vector| {
            one.least_tie_of_any_avx2(machine, size, admitted, vector)
        })
    }

    /// Runs [`least_tie_of_any`](Self::least_tie_of_any), compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    fn least_tie_of_any_avx2(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
        vector: TieVector,
    ) -> NodeId {
        self.least_tie_of_any(machine, size, admitted, vector)
    }

    /// Runs [`least_tie`](Self::least_tie) for any machine and vector. This code is large and stands apart, so that the
    /// code for small machines stays in the instruction cache.
    #[inline(always)]
    fn least_tie_of_any(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
        vector: TieVector,
    ) -> NodeId {
        match TieCounts::is_narrow(&self.free, machine.processors()) {
            true => self.least_tie::<u16>(machine, size, admitted, vector),
            false => self.least_tie::<u32>(machine, size, admitted, vector),
        }
    }

    #[inline(always)]
    fn winner_portable(
        &mut self,
        machine: &Machine,
        size: u32,
        ties: TieConfig,
        least_tie_of_any: impl Fn(&mut Self, &Machine, u32, u64, TieVector) -> NodeId,
    ) -> Option<NodeId> {
        let TieConfig { vector, slack } = ties;
        self.free.update(machine);
        if vector.is_indifferent() {
            return self.scores.first_best(&self.free, size);
        }
        let best = self.scores.compute(&self.free, size, |best| slack.admitted(best));
        let admitted = slack.admitted(best);
        if let Some(only) = self.scores.only(admitted) {
            return Some(only);
        }
        self.tie.update(machine, &self.grid);
        let radius = self.free.max_radius();
        let in_lanes =
            machine.down_count() == 0 && self.tie.fits_lanes(radius, machine.processors(), vector);
        Some(match in_lanes {
            true => self.least_tie_in_lanes(machine, size, admitted, vector),
            false => least_tie_of_any(self, machine, size, admitted, vector),
        })
    }

    /// Returns the centre with the smallest (tie value, score) among the centres with scores up to `admitted`.
    #[inline(always)]
    fn least_tie<L: Count>(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
        vector: TieVector,
    ) -> NodeId {
        let Self { grid, free, scores, tie, shell, open, .. } = self;
        // Processor numbers are in candidate order, so the smallest (tie value, score, centre) wins.
        let mut best = (i64::MAX, u64::MAX, NodeId(u32::MAX));
        let (free_count, any_down) = (machine.free_count() as u32, machine.down_count() > 0);
        open.clear();
        for chunk in scores.chunks(admitted) {
            let wanted = chunk.wanted(admitted);
            let (radii, mut nearby) = ([vector.scan_radius], [[L::default(); LANES]]);
            let terms =
                tie.terms::<L>(free, chunk, [size, free_count], &wanted, &radii, &mut nearby);
            for i in (0..LANES).filter(|&i| wanted[i]) {
                let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                let mut sums =
                    tie.sums(&terms, &nearby[0], vector.scan_radius, i, size, free_count);
                if any_down {
                    sums.exclude_down(&terms.outside(i), vector.scan_radius, |shell| {
                        down_on_shell(grid, machine, centre, shell)
                    });
                }
                match sums.value(vector) {
                    TieValue::Exact(value) => best = best.min((value, score, centre)),
                    TieValue::AtLeast(bound, value) if (bound, score, centre) < best => {
                        open.push(((bound, score, centre), value));
                    }
                    TieValue::AtLeast(..) => {}
                }
            }
        }
        least_of_open(best, open, vector, |part, centre| tie.taken(part, machine, centre, shell))
    }

    /// Returns the same centre as [`least_tie`](Self::least_tie). Bounds of the tie values are computed for 16 centres
    /// at a time; only centres whose lower bound does not exceed the least upper bound are examined one by one.
    /// [`TieCounts::fits_lanes`] must hold.
    #[inline(always)]
    fn least_tie_in_lanes(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
        vector: TieVector,
    ) -> NodeId {
        let Self { free, scores, tie, shell, open, bounds, .. } = self;
        let counts = [size, machine.free_count() as u32];
        bounds.clear();
        let mut highest = [i32::MAX; LANES];
        for chunk in scores.chunks(admitted) {
            let wanted = chunk.wanted(admitted);
            let (radii, mut nearby) = ([vector.scan_radius], [[0; LANES]]);
            let terms = tie.terms::<u16>(free, chunk, counts, &wanted, &radii, &mut nearby);
            let of_chunk = tie.bounds(&terms, &nearby[0], vector, counts);
            for i in 0..LANES {
                highest[i] = highest[i].min(if wanted[i] { of_chunk.high[i] } else { i32::MAX });
            }
            bounds.push(of_chunk);
        }
        let least = highest.into_iter().min().unwrap_or(i32::MAX);
        let mut best = (i64::MAX, u64::MAX, NodeId(u32::MAX));
        open.clear();
        for (chunk, bounds) in scores.chunks(admitted).zip(&*bounds) {
            let (LaneBounds { low, high, .. }, wanted) = (bounds, chunk.wanted(admitted));
            let candidate: [bool; LANES] = std::array::from_fn(|i| wanted[i] & (low[i] <= least));
            if !candidate.iter().fold(false, |any, &one| any | one) {
                continue;
            }
            for i in (0..LANES).filter(|&i| candidate[i]) {
                let entry = (i64::from(low[i]), u64::from(chunk.scores[i]), chunk.node(i));
                if low[i] == high[i] {
                    best = best.min(entry);
                } else {
                    open.push((entry, bounds.open(i, size)));
                }
            }
        }
        least_of_open(best, open, vector, |part, centre| tie.taken(part, machine, centre, shell))
    }

    /// Returns the centres with the best score, in candidate order.
    fn tied(&mut self, machine: &Machine, size: u32) -> Vec<NodeId> {
        self.free.update(machine);
        let best = self.scores.compute(&self.free, size, |best| best);
        self.scores.at_most(best).collect()
    }

    /// Appends the `size` processors around a winning centre to `chosen`, which must be empty.
    pub fn collect(
        &mut self,
        machine: &Machine,
        centre: NodeId,
        size: u32,
        chosen: &mut Vec<NodeId>,
    ) {
        let outermost = self.free.reach(centre, size).unwrap_or(self.free.max_radius());
        self.shell.gather(machine, centre, outermost, Some(chosen));
        self.shell.take(machine, centre, size as usize - chosen.len(), chosen);
    }
}

/// Returns the centre of the least entry: `best`, or an entry of `open` after its value has been computed. `taken`
/// returns the wall weights of the part that is taken from a last shell.
#[inline(always)]
fn least_of_open(
    mut best: (i64, u64, NodeId),
    open: &[((i64, u64, NodeId), OpenValue)],
    vector: TieVector,
    mut taken: impl FnMut(PartialShell, NodeId) -> u32,
) -> NodeId {
    for &(bound, ref value) in open {
        if bound < best {
            let (_, score, centre) = bound;
            let taken = taken(value.shell, centre);
            best = best.min((value.close(vector, taken), score, centre));
        }
    }
    best.2
}

/// MC1x1 scores of all centres for one request, 16 neighbouring centres at a time.
#[derive(Debug)]
pub struct Scores {
    /// Chunks that may contain a centre with a score close to the best, in scan order.
    chunks: Vec<Chunk>,
    row_length: usize,
    chunks_per_row: usize,
    max_radius: u32,
}

/// The scores of 16 neighbouring centres.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Row of the centres.
    pub row: Row,
    /// Lane number of the first centre within its row.
    pub first_lane: usize,
    /// Processor number of the first centre.
    pub first_node: usize,
    /// The lowest score.
    pub lowest: u32,
    /// The scores by lane; `u32::MAX` for busy processors and for lanes beyond the end of the row.
    /// An entry above the limit of the computation is only a lower bound of the score.
    pub scores: [u32; LANES],
}

impl Chunk {
    /// Returns the lanes with scores up to `limit`.
    #[inline(always)]
    pub fn at_most(&self, limit: u64) -> impl Iterator<Item = usize> + '_ {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX - 1);
        (0..LANES).filter(move |&i| self.scores[i] <= limit)
    }

    /// Returns, for each lane, whether its score is at most `limit`.
    #[inline(always)]
    fn wanted(&self, limit: u64) -> [bool; LANES] {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX - 1);
        self.scores.map(|score| score <= limit)
    }

    /// Returns the processor in a lane.
    pub fn node(&self, lane: usize) -> NodeId {
        NodeId((self.first_node + lane) as u32)
    }
}

impl Scores {
    /// Creates empty scores for the centres of `grid`.
    pub fn new(grid: &Grid) -> Self {
        let diameter = grid.axes().iter().map(|axis| u32::from(axis.diameter())).max();
        let row_length = grid.extent(grid.dimensions() - 1);
        Self {
            chunks: Vec::new(),
            row_length,
            chunks_per_row: row_length.div_ceil(LANES),
            max_radius: diameter.unwrap_or(0),
        }
    }

    /// Computes the scores of the free centres for `size` processors and returns the best score. After this call,
    /// [`Scores::chunks`] returns the chunks with scores up to `admitted(best)`.
    #[inline(always)]
    pub fn compute<C: Count>(
        &mut self,
        counts: &BoxCounts<C>,
        size: u32,
        admitted: impl Fn(u64) -> u64,
    ) -> u64 {
        let limit = |best: u32| u32::try_from(admitted(u64::from(best))).unwrap_or(u32::MAX);
        let mut best = u32::MAX;
        self.chunks.clear();
        for row in 0..counts.rows() {
            for index in 0..self.chunks_per_row {
                let Some(chunk) = self.chunk(counts, row, index, size, limit(best)) else {
                    continue;
                };
                if chunk.lowest <= limit(best) {
                    best = best.min(chunk.lowest);
                    self.chunks.push(chunk);
                }
            }
        }
        u64::from(best)
    }

    /// Returns the chunks of the last [`Scores::compute`] that hold a centre with a score up to
    /// `limit`, in scan order.
    pub fn chunks(&self, limit: u64) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter(move |chunk| u64::from(chunk.lowest) <= limit)
    }

    /// Returns the centres of the last [`Scores::compute`] with scores up to `limit`, in scan
    /// order.
    pub fn at_most(&self, limit: u64) -> impl Iterator<Item = NodeId> + '_ {
        self.chunks(limit).flat_map(move |chunk| chunk.at_most(limit).map(|i| chunk.node(i)))
    }

    /// Returns the centre with a score up to `limit` if there is exactly one such centre.
    #[inline(always)]
    pub fn only(&self, limit: u64) -> Option<NodeId> {
        let mut chunks = self.chunks(limit);
        let chunk = chunks.next()?;
        if chunks.next().is_some() {
            return None;
        }
        let mut lanes = chunk.at_most(limit);
        let only = chunk.node(lanes.next()?);
        lanes.next().is_none().then_some(only)
    }

    /// Returns the first free centre, in scan order, with the best score for `size` processors.
    #[inline(always)]
    pub fn first_best<C: Count>(&self, counts: &BoxCounts<C>, size: u32) -> Option<NodeId> {
        let (mut best, mut first) = (u32::MAX, None);
        for row in 0..counts.rows() {
            for index in 0..self.chunks_per_row {
                // Only strictly better scores matter from here on.
                let Some(chunk) = self.chunk(counts, row, index, size, best.saturating_sub(1))
                else {
                    continue;
                };
                if chunk.lowest == 0 {
                    // Score 0 is the best possible score; only a request for one processor has this score.
                    return chunk.at_most(0).next().map(|i| chunk.node(i));
                }
                if chunk.lowest < best {
                    best = chunk.lowest;
                    first = chunk.at_most(u64::from(best)).next().map(|i| chunk.node(i));
                }
            }
        }
        first
    }

    /// Computes the scores of a chunk. Returns `None` if no processor in the chunk is free.
    #[inline(always)]
    fn chunk<C: Count>(
        &self,
        counts: &BoxCounts<C>,
        row: usize,
        index: usize,
        size: u32,
        limit: u32,
    ) -> Option<Chunk> {
        // No score exceeds the request size times the largest distance.
        if u64::from(size) * u64::from(self.max_radius) < u64::from(u16::MAX) {
            self.sums::<u16, C>(counts, row, index * LANES, size, limit)
        } else {
            self.sums::<u32, C>(counts, row, index * LANES, size, limit)
        }
    }

    /// Computes the sums of max(0, size - cnt(r)) over all r. Stops when all sums exceed `limit`.
    #[inline(always)]
    fn sums<L: Count, C: Count>(
        &self,
        counts: &BoxCounts<C>,
        row: usize,
        first_lane: usize,
        size: u32,
        limit: u32,
    ) -> Option<Chunk> {
        let (size, limit) = (L::clamp_from(size), L::clamp_from(limit));
        let lanes = L::clamp_from((self.row_length - first_lane) as u32);
        // A box of radius 0 contains at most one free processor.
        let count = counts.lanes(Row(row), 0, first_lane);
        let busy: [L; LANES] =
            std::array::from_fn(|i| L::mask(count[i] == C::default()) | L::mask(L::of(i) >= lanes));
        if busy.iter().fold(L::MAX, |all, &busy| all & busy) == L::MAX {
            return None;
        }
        let first = size.saturating_minus(L::from(1));
        let mut scores = busy.map(|busy| busy | first);
        // A request for one processor needs only shell 0.
        let max_radius = if first == L::default() { 0 } else { self.max_radius };
        for radius in 1..=max_radius {
            let count = counts.lanes(Row(row), radius, first_lane);
            let mut alive = L::default();
            for i in 0..LANES {
                let deficit = size.saturating_minus(L::clamp_from(count[i].into()));
                scores[i] = scores[i].saturating_plus(deficit);
                alive = alive | (deficit & L::mask(scores[i] <= limit) & !busy[i]);
            }
            if alive == L::default() {
                break;
            }
        }
        let lowest = scores.iter().fold(L::MAX, |low, &score| low.min(score)).into();
        let scores =
            std::array::from_fn(|i| if busy[i] == L::MAX { u32::MAX } else { scores[i].into() });
        let first_node = row * self.row_length + first_lane;
        Some(Chunk { row: Row(row), first_lane, first_node, lowest, scores })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::ShellOrder;
    use crate::test_cases::{agrees, grids, machine, options, partly_down, wide_grids};
    use proptest::prelude::*;
    use replay_engine::allocator::{Allocator, Request, RunSetup};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn agrees_with_the_definition(
            grid in grids(),
            options in options(),
            busy in 0.0..0.95f64,
            seed: u64,
            shares in proptest::collection::vec(0.0..1.0f64, 3),
        ) {
            let machine = machine(&grid, busy, seed);
            agrees(&mut Mc1x1::new(&grid, options), &CentreRule::mc1x1(options), &grid, machine.clone(), &shares)?;
            let mut wide = Mc1x1::<u32>::counting(&grid, options);
            agrees(&mut wide, &CentreRule::mc1x1(options), &grid, machine, &shares)?;
        }

        /// The engine agrees with the definition while processors are out of service, whether or not these processors
        /// count as walls. The engine also agrees with the definition after half of these processors have returned to
        /// service.
        #[test]
        fn agrees_with_the_definition_during_outages(
            grid in grids(),
            options in options(),
            busy in 0.0..0.8f64,
            seed: u64,
            share in 2u32..6,
            walls: bool,
            shares in proptest::collection::vec(0.0..1.0f64, 3),
        ) {
            let (mut machine, down) = partly_down(machine(&grid, busy, seed), share, walls);
            let mut mc1x1 = Mc1x1::new(&grid, options);
            agrees(&mut mc1x1, &CentreRule::mc1x1(options), &grid, machine.clone(), &shares)?;
            mc1x1.begin(&RunSetup::default()).expect("it works");
            machine.restore(&down[down.len() / 2..]);
            agrees(&mut mc1x1, &CentreRule::mc1x1(options), &grid, machine, &shares)?;
        }

        /// The vectorized code finds the same centre as the portable code.
        #[test]
        fn vectorized_code_agrees_with_portable_code(
            grid in grids(),
            options in options(),
            busy in 0.0..0.95f64,
            seed: u64,
            share in 0.0..1.0f64,
        ) {
            let machine = machine(&grid, busy, seed);
            prop_assume!(machine.free_count() > 1);
            let size = 1 + ((machine.free_count() - 2) as f64 * share) as u32;
            let mut evaluator = CentreEvaluator::<u16>::new(&grid, options, true);
            let ties = TieConfig::new(options.tie, options.slack);
            let portable = evaluator.winner_plain(&machine, size, ties);
            prop_assert!(portable.is_some());
            prop_assert_eq!(evaluator.winner(&machine, size, ties), portable);
            // Ties in lanes have the same winner as one by one.
            let admitted = ties.slack.admitted(evaluator.scores.compute(&evaluator.free, size, |best| ties.slack.admitted(best)));
            if evaluator.scores.only(admitted).is_none() && !ties.vector.is_indifferent() {
                let one_by_one = evaluator.least_tie_of_any(&machine, size, admitted, ties.vector);
                prop_assert_eq!(Some(one_by_one), portable);
            }
        }
    }

    /// On an empty torus every centre has the same score, so the first centre and the cube around it win.
    #[test]
    fn supports_more_points_than_16_bits_can_count() {
        let topology: replay_engine::topology::Topology =
            "torus:60x60x60".parse().expect("a torus");
        let grid = topology.grid().expect("a grid").clone();
        assert!(!Mc1x1::<u16>::takes(&grid) && Mc1x1::<u32>::takes(&grid));
        let mut mc1x1 = Mc1x1::<u32>::counting(&grid, CentreOptions::default());
        let (machine, mut chosen) = (Machine::new(topology), Vec::new());
        mc1x1
            .allocate(&machine, Request::of_size(41 * 41 * 41), &mut chosen)
            .expect("all are free");
        let centre = grid.coord(NodeId(0));
        assert_eq!(chosen.len(), 68_921);
        assert!(chosen.iter().all(|&node| grid.linf(centre, grid.coord(node)) <= 20));
        let narrow: replay_engine::topology::Topology = "65535x16".parse().expect("a mesh");
        assert!(!Mc1x1::<u32>::takes(narrow.grid().expect("a grid")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn agrees_with_the_definition_if_sums_exceed_16_bits(
            grid in wide_grids(),
            mut options in options(),
            seed: u64,
            share in 0.1..1.0f64,
        ) {
            if options.order == ShellOrder::Greedy {
                options.order = ShellOrder::Carried;
            }
            let machine = machine(&grid, 0.93, seed);
            agrees(&mut Mc1x1::new(&grid, options), &CentreRule::mc1x1(options), &grid, machine, &[share])?;
        }
    }
}
