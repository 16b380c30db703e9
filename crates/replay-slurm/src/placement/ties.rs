//! Selection among all free boxes of a size, in all orientations: an extension of Slurm's rule.
//!
//! Every candidate has several terms, which are integers. The candidate with the smallest weighted sum of terms wins.
//! Among candidates with equal sums, the first in the order of Slurm's scan wins. Let c be a candidate of n cells. Let
//! f(m) be the number of jobs per thousand that request the size m; the weight of this size is u(m) = m f(m). The terms
//! are:
//!
//! | term | value for a candidate c |
//! |---|---|
//! | LF, larger boxes lost | the sum of u(q) over the free anchors of sizes q > n that overlap c |
//! | EQ, equal boxes lost | the sum of u(n) over the other free anchors of size n that overlap c |
//! | NF, neighbour contact | pairs of a cell of c and a neighbour outside c that is busy or a hole |
//! | WF, wall contact | pairs of a cell of c and a direction that leaves the mesh |
//! | EF, ends together | the sum, over the pairs of NF, of the `nearness` of the end of the neighbour's job to the end of the new job |
//! | DL, delay of larger boxes | see below |
//!
//! The terms NF, WF and EF are subtracted from the sum. The term *DL* measures how much later the first place becomes
//! free for jobs of each larger size. For an anchor A, let T(A) be the time until the estimated ends of all running
//! jobs in A have passed; T(A) is 0 if A is free. If the new job would hold c for r seconds and c overlaps A, T(A) is
//! replaced by max(T(A), r). Each size m contributes u(m) (50 min T + floor(mean T)), where the minimum and the mean of
//! T are taken over the anchors of size m. DL is the sum of these contributions over all sizes m that are larger than n
//! and at least 1/64 of the torus. Anchors with a hole are excluded.
//!
//! A cell [out of service](Ties::withdraw) does not count as a neighbour; it can be configured to count as a wall. An
//! anchor with a cell out of service is excluded from DL, because the end of the outage is unknown.

use std::ops::Range;
use std::sync::Arc;

pub use self::weights::{CandidateFilter, TermWeights, TermWeightsError};

mod delays;
mod down;
mod terms;
mod weights;

use self::delays::Delays;
use self::down::Down;
use crate::placement::decide::Pick;
use crate::placement::free_anchors::FreeAnchors;
use crate::placement::overlaps::{BoxPosition, Overlaps};
use crate::placement::torus::{Cells, Placement, Torus, cells_of};

/// A box does not count in DL if it is smaller than the fraction 1 / `LARGE` of the torus.
const LARGE: usize = 64;

/// The value of `ends` for a cell without a job.
const FREE: u64 = 0;

/// A torus with boxes in use, and the state from which the terms are computed. Times are integers.
#[derive(Clone, Debug)]
pub struct Ties {
    fixed: Arc<Fixed>,
    open: FreeAnchors,
    /// Estimated end of the job in each cell; [`FREE`] if the cell has no job.
    ends: Vec<u64>,
    /// The cells of jobs that have an estimate.
    estimated: Cells,
    down: Down,
    /// Boxes in use, each with the end of its job; the latest end comes first.
    running: Vec<(u64, [usize; 2])>,
    /// Latest end among the cells of each anchor, indexed by placement and anchor; computed only for placements that
    /// count in DL. Empty until computed.
    latest: Vec<Vec<u64>>,
    /// Placements whose free boxes count in LF and EQ of the current decision.
    blockable: Vec<usize>,
    /// For each set of boxes that a candidate can overlap, the DL of the candidates that overlap this set in the
    /// current decision.
    delayed: Vec<Known>,
}

/// DL of candidates that overlap the same boxes.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The exact value.
    Sum(i128),
    /// A lower bound.
    AtLeast(i128),
}

/// The immutable part of [`Ties`].
#[derive(Debug)]
struct Fixed {
    torus: Arc<Torus>,
    /// For each axis x, y and z: whether boxes wrap around the edge; if boxes do not wrap, the edges are walls.
    wrapped: [bool; 3],
    /// For each placement, the sum of distances over all pairs of cells of its box.
    spread: Vec<u64>,
    /// Whether a placement counts in DL.
    large: Vec<bool>,
    /// For each placement, axis and position, the first position at which a box overlaps the same boxes as at the given
    /// position. Only boxes that count in DL are considered.
    equivalent_positions: Vec<[Vec<u32>; 3]>,
    overlaps: Arc<Overlaps>,
}

/// A query for the best box.
#[derive(Clone, Copy, Debug)]
pub struct TieQuery<'a> {
    /// Number of cells.
    pub size: u32,
    /// Weights of the terms.
    pub weights: TermWeights,
    /// The boxes to compare.
    pub filter: CandidateFilter,
    /// For each placement, the weight u of its size.
    pub worth: &'a [u64],
    /// The current time.
    pub now: u64,
    /// Estimated run time of the job, or a substitute if the job has no estimate.
    pub estimate: u64,
    /// Whether the job has an estimate; EF is 0 for a job without an estimate.
    pub has_estimate: bool,
}

impl Ties {
    /// Creates an idle torus that wraps along all axes.
    pub fn new(torus: impl Into<Arc<Torus>>) -> Self {
        Self::with_walls(torus, [true; 3])
    }

    /// Creates an idle mesh, or a torus that is `wrapped` only along some axes.
    pub(crate) fn with_walls(torus: impl Into<Arc<Torus>>, wrapped: [bool; 3]) -> Self {
        let torus = torus.into();
        let placements = torus.placements();
        let cells = torus.cells();
        let is_large = |one: &Placement| one.size as usize * LARGE >= cells;
        let overlaps = Arc::new(Overlaps::new(&torus));
        let counted: Vec<usize> =
            (0..placements.len()).filter(|&index| is_large(&placements[index])).collect();
        let equivalent_positions = |index: usize| {
            [0, 1, 2].map(|axis| overlaps.equivalent_positions(axis, index, &counted))
        };
        let open = FreeAnchors::new(&torus, overlaps.clone(), torus.nodes.clone(), true);
        let fixed = Fixed {
            wrapped,
            spread: placements.iter().map(|one| spread(one.sides, torus.sides, wrapped)).collect(),
            large: placements.iter().map(is_large).collect(),
            equivalent_positions: (0..placements.len()).map(equivalent_positions).collect(),
            overlaps,
            torus,
        };
        Self {
            open,
            ends: vec![FREE; cells],
            estimated: Cells::none(cells),
            down: Down::none(cells),
            running: Vec::new(),
            latest: Vec::new(),
            blockable: Vec::new(),
            delayed: Vec::new(),
            fixed: Arc::new(fixed),
        }
    }

    /// Returns the torus in its idle state.
    pub(crate) fn into_idle(self) -> Self {
        let torus = &self.fixed.torus;
        let open = FreeAnchors::new(torus, self.fixed.overlaps.clone(), torus.nodes.clone(), true);
        let ends = vec![FREE; torus.cells()];
        let estimated = Cells::none(torus.cells());
        let down = Down::none(torus.cells());
        let (running, latest) = (Vec::new(), Vec::new());
        let (blockable, delayed) = (Vec::new(), Vec::new());
        Self { open, ends, estimated, down, running, latest, blockable, delayed, fixed: self.fixed }
    }

    /// Returns a copy without the values computed for decisions.
    pub(crate) fn without_cache(&self) -> Self {
        Self {
            fixed: self.fixed.clone(),
            open: self.open.without_cache(),
            ends: self.ends.clone(),
            estimated: self.estimated.clone(),
            down: self.down.clone(),
            running: self.running.clone(),
            latest: Vec::new(),
            blockable: Vec::new(),
            delayed: Vec::new(),
        }
    }

    /// Returns whether the same cells are free.
    pub(crate) fn has_same_free(&self, other: &Self) -> bool {
        self.open.free() == other.open.free()
    }

    /// Returns the torus.
    pub fn torus(&self) -> &Torus {
        &self.fixed.torus
    }

    /// Returns whether there is an axis along which boxes do not wrap.
    pub fn has_walls(&self) -> bool {
        let axes = self.fixed.wrapped.iter().zip(self.fixed.torus.sides);
        axes.into_iter().any(|(wrapped, side)| !wrapped && side > 1)
    }

    /// Returns the free anchors.
    pub fn open(&mut self) -> &mut FreeAnchors {
        &mut self.open
    }

    fn place(&self, [index, anchor]: [usize; 2]) -> BoxPosition {
        self.fixed.overlaps.place(index, &self.fixed.torus.placements()[index], anchor)
    }

    /// Starts a job in a free box. `end` is the estimated end of the job, computed from a substitute if the job has no
    /// estimate.
    pub fn start(&mut self, [index, anchor]: [usize; 2], end: u64, has_estimate: bool) {
        let torus = &self.fixed.torus;
        let mask = torus.placements()[index].mask(anchor);
        self.open.take(torus, index, anchor);
        if has_estimate {
            self.estimated.insert_all(mask);
        }
        cells_of(mask).for_each(|cell| self.ends[cell as usize] = end);
        let at = self.running.partition_point(|one| one.0 > end);
        self.running.insert(at, (end, [index, anchor]));
        self.change_latest([index, anchor], |latest, _| *latest = (*latest).max(end));
    }

    /// Ends a job that was [started](Self::start) in this box.
    pub fn finish(&mut self, [index, anchor]: [usize; 2]) {
        let torus = &self.fixed.torus;
        let mask = torus.placements()[index].mask(anchor);
        self.open.give(torus, index, anchor);
        self.estimated.remove_all(mask);
        cells_of(mask).for_each(|cell| self.ends[cell as usize] = FREE);
        let at = self.running.iter().position(|one| one.1 == [index, anchor]);
        let Some((end, _)) = at.map(|at| self.running.remove(at)) else { return };
        let running = std::mem::take(&mut self.running);
        let fixed = self.fixed.clone();
        self.change_latest([index, anchor], |latest, place| {
            // The latest end of an anchor does not change if another job holds the anchor for longer.
            if *latest == end {
                *latest = fixed.latest(&running, place, end);
            }
        });
        self.running = running;
    }

    /// Changes the latest ends of all anchors that overlap a box, if these ends have been computed.
    fn change_latest(&mut self, at: [usize; 2], mut change: impl FnMut(&mut u64, BoxPosition)) {
        let place = self.place(at);
        let Fixed { torus, overlaps, .. } = &*self.fixed;
        for (other, latest) in self.latest.iter_mut().enumerate() {
            if !latest.is_empty() {
                let one = &torus.placements()[other];
                overlaps.for_each_anchor(place, other, one, |anchor| {
                    change(&mut latest[anchor], overlaps.place(other, one, anchor));
                });
            }
        }
    }

    /// Computes the latest ends of the anchors, unless these ends are already known.
    fn compute_latest(&mut self) {
        if !self.latest.is_empty() {
            return;
        }
        let Fixed { torus, overlaps, large, .. } = &*self.fixed;
        let of = |index: usize, one: &Placement| -> Vec<u64> {
            let end = |anchor| {
                self.fixed.latest(&self.running, overlaps.place(index, one, anchor), u64::MAX)
            };
            (0..one.anchors()).map(end).collect()
        };
        let all = torus.placements().iter().enumerate();
        self.latest = all
            .map(|(index, one)| if large[index] { of(index, one) } else { Vec::new() })
            .collect();
    }

    /// Returns the first free anchor of a size in scan order.
    pub fn first(&mut self, size: u32) -> Option<[usize; 2]> {
        self.compute(size);
        self.candidates(size).next()
    }

    /// Returns the placements of a size.
    fn of_size(&self, size: u32) -> Range<usize> {
        let placements = self.fixed.torus.placements();
        placements.partition_point(|one| one.size < size)
            ..placements.partition_point(|one| one.size <= size)
    }

    fn compute(&mut self, size: u32) {
        for index in self.of_size(size) {
            self.open.compute(&self.fixed.torus, index);
        }
    }

    /// Returns the free anchors of a size in scan order; the size must be [computed](Self::compute).
    fn candidates(&self, size: u32) -> impl Iterator<Item = [usize; 2]> + '_ {
        let anchors = |index| self.open.anchors(&self.fixed.torus, index);
        self.of_size(size).flat_map(move |index| anchors(index).map(move |anchor| [index, anchor]))
    }

    /// Returns the candidate with the smallest sum; `None` if there is no candidate. The field `cost` of the result
    /// is 0.
    pub fn decide(&mut self, query: &TieQuery<'_>) -> Option<Pick> {
        let candidates = self.filtered_candidates(query);
        let pick = |[placement, anchor]: [usize; 2]| Pick { torus: 0, placement, anchor, cost: 0 };
        // A single candidate wins.
        if let [] | [_] = candidates[..] {
            return candidates.first().copied().map(pick);
        }
        let delays = self.prepare(query);
        let mut best: Option<([usize; 2], i128)> = None;
        for &at in &candidates {
            // A candidate loses if its sum is not smaller than the best sum, so the computation of its sum may stop
            // early.
            if let Some(sum) = self.sum_below(at, query, &delays, best.map(|best| best.1)) {
                best = Some((at, sum));
            }
        }
        best.map(|(at, _)| pick(at))
    }

    /// Returns the candidates that [`decide`](Self::decide) compares, in order, each with the sum of its terms.
    pub fn sums(&mut self, query: &TieQuery<'_>) -> Vec<([usize; 2], i128)> {
        let candidates = self.filtered_candidates(query);
        let delays = self.prepare(query);
        let mut sum = |at| self.sum_below(at, query, &delays, None).map(|sum| (at, sum));
        candidates.into_iter().filter_map(&mut sum).collect()
    }

    /// Returns the candidates.
    fn filtered_candidates(&mut self, query: &TieQuery<'_>) -> Vec<[usize; 2]> {
        self.compute(query.size);
        let mut candidates: Vec<[usize; 2]> = self.candidates(query.size).collect();
        let admitted = self.admitted(&candidates, query.filter);
        candidates.retain(|&[placement, _]| admitted(placement));
        candidates
    }

    /// Returns what [`decide`](Self::decide) returns for each of several weights and filters. The terms of a candidate
    /// are computed once. The weights and the filter of the query are ignored.
    pub fn decide_all(
        &mut self,
        query: &TieQuery<'_>,
        rules: &[(TermWeights, CandidateFilter)],
    ) -> Vec<Option<[usize; 2]>> {
        self.compute(query.size);
        let candidates: Vec<[usize; 2]> = self.candidates(query.size).collect();
        if let [] | [_] = candidates[..] {
            return vec![candidates.first().copied(); rules.len()];
        }
        // Weights that are 1 for all terms with a weight in any rule.
        let mut any = [0; 6];
        for (weights, _) in rules {
            any.iter_mut()
                .zip(weights.entries())
                .for_each(|(any, one)| *any |= i64::from(one != 0));
        }
        let query =
            TieQuery { weights: TermWeights::of(any), filter: CandidateFilter::All, ..*query };
        let delays = self.prepare(&query);
        let terms: Vec<[i128; 6]> =
            candidates.iter().map(|&at| self.terms(at, &query, &delays)).collect();
        let decide = |&(weights, filter): &(TermWeights, CandidateFilter)| {
            let admitted = self.admitted(&candidates, filter);
            let weights = weights.signed();
            let mut best: Option<([usize; 2], i128)> = None;
            for (&at, terms) in candidates.iter().zip(&terms) {
                if !admitted(at[0]) {
                    continue;
                }
                let products = weights.iter().zip(terms).filter(|(weight, _)| **weight != 0);
                let sum = products.map(|(&weight, term)| i128::from(weight) * term).sum();
                if best.is_none_or(|(_, least)| sum < least) {
                    best = Some((at, sum));
                }
            }
            best.map(|(at, _)| at)
        };
        rules.iter().map(decide).collect()
    }

    /// Computes the state that the terms need.
    fn prepare(&mut self, query: &TieQuery<'_>) -> Vec<Delays> {
        let TermWeights { larger, equal, delay, .. } = query.weights;
        if larger != 0 || equal != 0 {
            let from = self.of_size(query.size).start;
            let all = from..self.fixed.torus.placements().len();
            all.clone().for_each(|index| self.open.compute(&self.fixed.torus, index));
            let counts = |&index: &usize| query.worth[index] > 0 && self.open.has_any(index);
            self.blockable = all.filter(counts).collect();
            // Placements with the largest weights come first, because they reject candidates soonest.
            self.blockable.sort_by_key(|&index| std::cmp::Reverse(query.worth[index]));
        }
        if delay == 0 {
            return Vec::new();
        }
        self.compute_latest();
        let equivalent_positions = self.of_size(query.size).map(|index| {
            self.fixed.equivalent_positions[index].iter().map(Vec::len).product::<usize>()
        });
        let most = equivalent_positions.sum();
        self.delayed.clear();
        self.delayed.resize(most, Known::AtLeast(0));
        self.delays(query)
    }

    /// Returns a function that returns whether a filter admits the candidates of a placement.
    fn admitted(
        &self,
        candidates: &[[usize; 2]],
        filter: CandidateFilter,
    ) -> impl Fn(usize) -> bool + use<'_> {
        let first = candidates.first().map(|&[placement, _]| placement);
        let spread = &self.fixed.spread;
        let most = match filter {
            CandidateFilter::Compact(slack) => {
                let spreads = candidates.iter().map(|&[placement, _]| spread[placement]);
                (1.0 + slack) * spreads.min().unwrap_or(0) as f64
            }
            CandidateFilter::All | CandidateFilter::First => 0.0,
        };
        move |placement| match filter {
            CandidateFilter::All => true,
            CandidateFilter::First => Some(placement) == first,
            CandidateFilter::Compact(_) => spread[placement] as f64 <= most,
        }
    }

    /// Returns the anchors of every size larger than the size of the query, for DL.
    fn delays(&self, query: &TieQuery<'_>) -> Vec<Delays> {
        let mut all: Vec<Delays> = Vec::new();
        let placements = self.fixed.torus.placements().iter().enumerate();
        for (index, one) in placements.skip(self.of_size(query.size).end) {
            let worth = query.worth[index];
            if !self.fixed.large[index] || worth == 0 {
                continue;
            }
            if all.last().is_none_or(|last| last.size != one.size) {
                all.push(Delays::new(one.size, worth));
            }
            let Some(delays) = all.last_mut() else { continue };
            delays.placements.push(index);
            for (anchor, end) in self.latest[index].iter().enumerate() {
                if self.counts_in_delay(one, anchor) {
                    delays.add((end.saturating_sub(query.now), index as u32, anchor as u32));
                }
            }
        }
        delays::sorted(all)
    }
}

impl Fixed {
    /// Returns the latest end of the jobs in an anchor, capped at `most`; [`FREE`] if there are no jobs. `running` is
    /// sorted by decreasing end.
    fn latest(&self, running: &[(u64, [usize; 2])], place: BoxPosition, most: u64) -> u64 {
        let placements = self.torus.placements();
        let holds = |[index, anchor]: [usize; 2]| {
            self.overlaps.meet(place, self.overlaps.place(index, &placements[index], anchor))
        };
        let mut later = running[running.partition_point(|one| one.0 > most)..].iter();
        later.find(|one| holds(one.1)).map_or(FREE, |one| one.0)
    }
}

/// Returns the sum of distances over all pairs of cells of a box on a grid with sides `lengths`.
pub fn spread(sides: [u16; 3], lengths: [u16; 3], wrapped: [bool; 3]) -> u64 {
    let cells: u64 = sides.iter().map(|&side| u64::from(side)).product();
    let along = |axis: usize| -> u64 {
        let (side, length) = (u64::from(sides[axis]), u64::from(lengths[axis]));
        let far = |apart: u64| if wrapped[axis] { apart.min(length - apart) } else { apart };
        // Each pair of positions along the axis stands for the same number of pairs of cells. The sum of distances over
        // pairs of positions is therefore multiplied by this number.
        let pairs: u64 = (1..side).map(|apart| (side - apart) * far(apart)).sum();
        pairs * (cells / side).pow(2)
    };
    (0..3).map(along).sum()
}

#[cfg(test)]
mod tests;
