//! Beyond Slurm's rule: which of all free boxes of a size, of whatever orientation, a job gets.
//!
//! Every candidate has terms, all integers; the smallest weighted sum wins, and the first in the
//! order of Slurm's scan where sums are equal. With F the free cells at the decision, c a candidate
//! of n cells, and u(m) = m f(m) the weight of a size m that is asked for f(m) times in a thousand:
//!
//! | term | of a candidate c |
//! |---|---|
//! | LF, larger boxes lost | the sum of u(q) over free anchors of placements q > n that meet c |
//! | EQ, equal boxes lost | the same over the other free anchors of size n |
//! | NF, neighbour contact | pairs of a cell of c and a neighbour outside c that is busy or a hole |
//! | WF, wall contact | pairs of a cell of c and a direction that leaves the mesh |
//! | EF, ends together | over the same pairs as NF, how [near](nearness) the end of the job there is to that of the new one |
//! | DL, delay of larger boxes | see below |
//!
//! NF, WF and EF are subtracted. *DL* asks how much later the first place for each larger job comes free. T(A) is
//! the time until the last running job in an anchor A ends by its estimate, 0 if A is free; with c
//! taken for r seconds it is max(T(A), r) where c meets A. DL is the sum, over sizes m > n of at
//! least a 64th of the torus, of u(m) (50 min T + floor(mean T)), minimum and mean over the anchors
//! of size m. Anchors with a hole are left out.
//!
//! A cell [out of service](Ties::withdraw) is no neighbour, or a wall if that is said; an anchor with one is
//! left out of DL, as nobody knows when it will be back.

use std::ops::Range;
use std::sync::Arc;

pub use self::handles::{CandidateFilter, Handles, HandlesError, nearness};

mod delays;
mod down;
mod handles;
mod terms;

use self::delays::Delays;
use self::down::Down;
use super::decide::Pick;
use super::near::{Near, Place};
use super::open::Open;
use super::torus::{Cells, Placement, Torus, cells_of};

/// Smaller boxes than this part of the torus have no say in DL.
const LARGE: usize = 64;

/// Stands for a cell without an end.
const FREE: u64 = 0;

/// A torus with boxes in use, and what the terms need to know of them. Times are whole units.
#[derive(Clone, Debug)]
pub struct Ties {
    fixed: Arc<Fixed>,
    open: Open,
    /// By cell: when its job ends by its estimate; [`FREE`] if it has none.
    ends: Vec<u64>,
    /// Cells whose jobs have an estimate of their own.
    told: Cells,
    down: Down,
    /// Boxes in use with the ends of their jobs, the latest first.
    running: Vec<(u64, [usize; 2])>,
    /// By placement that DL hears, once it was asked for, and anchor: the latest of its cells' ends.
    latest: Vec<Vec<u64>>,
    /// Placements of which free boxes may be lost in this decision.
    losers: Vec<usize>,
    /// By what a candidate meets: its part of DL in this decision, as far as it is known.
    delayed: Vec<Known>,
}

/// DL of what meets the same boxes.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// This.
    Sum(i128),
    /// This or more.
    AtLeast(i128),
}

/// What stays as it is.
#[derive(Debug)]
struct Fixed {
    torus: Arc<Torus>,
    /// Whether boxes run over the edge, along x, y, z; where they do not, there are walls.
    wrapped: [bool; 3],
    /// By placement: the sum of distances over all pairs of its cells.
    spread: Vec<u64>,
    /// Whether DL hears a placement.
    large: Vec<bool>,
    /// By placement, axis and position: the first position of which a box meets the same boxes that DL hears.
    alike: Vec<[Vec<u32>; 3]>,
    near: Arc<Near>,
}

/// A question to [`Ties`].
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Cells.
    pub size: u32,
    /// What to weigh.
    pub handles: Handles,
    /// Which boxes compete.
    pub rivals: CandidateFilter,
    /// By placement: u of its size.
    pub worth: &'a [u64],
    /// The time.
    pub now: u64,
    /// How long the job will run, by its estimate or what is taken for it.
    pub estimate: u64,
    /// Whether the job has an estimate of its own; else it ends together with nobody.
    pub told: bool,
}

impl Ties {
    /// An idle torus.
    pub fn new(torus: impl Into<Arc<Torus>>) -> Self {
        Self::with_walls(torus, [true; 3])
    }

    /// The same for a mesh, or a torus that is `wrapped` along some axes only.
    pub fn with_walls(torus: impl Into<Arc<Torus>>, wrapped: [bool; 3]) -> Self {
        let torus = torus.into();
        let placements = torus.placements();
        let cells = torus.cells();
        let is_large = |one: &Placement| one.size as usize * LARGE >= cells;
        let near = Arc::new(Near::new(&torus));
        let heard: Vec<usize> =
            (0..placements.len()).filter(|&index| is_large(&placements[index])).collect();
        let alike = |index: usize| [0, 1, 2].map(|axis| near.alike(axis, index, &heard));
        let open = Open::new(&torus, near.clone(), torus.nodes.clone(), true);
        let fixed = Fixed {
            wrapped,
            spread: placements.iter().map(|one| spread(one.sides, torus.sides, wrapped)).collect(),
            large: placements.iter().map(is_large).collect(),
            alike: (0..placements.len()).map(alike).collect(),
            near,
            torus,
        };
        Self {
            open,
            ends: vec![FREE; cells],
            told: Cells::none(cells),
            down: Down::none(cells),
            running: Vec::new(),
            latest: Vec::new(),
            losers: Vec::new(),
            delayed: Vec::new(),
            fixed: Arc::new(fixed),
        }
    }

    /// The same torus, idle.
    pub fn again(self) -> Self {
        let torus = &self.fixed.torus;
        let open = Open::new(torus, self.fixed.near.clone(), torus.nodes.clone(), true);
        let ends = vec![FREE; torus.cells()];
        let told = Cells::none(torus.cells());
        let down = Down::none(torus.cells());
        let (running, latest) = (Vec::new(), Vec::new());
        let (losers, delayed) = (Vec::new(), Vec::new());
        Self { open, ends, told, down, running, latest, losers, delayed, fixed: self.fixed }
    }

    /// The same boxes in use, of which nothing is known that a decision asks for.
    pub fn unasked(&self) -> Self {
        Self {
            fixed: self.fixed.clone(),
            open: self.open.unasked(),
            ends: self.ends.clone(),
            told: self.told.clone(),
            down: self.down.clone(),
            running: self.running.clone(),
            latest: Vec::new(),
            losers: Vec::new(),
            delayed: Vec::new(),
        }
    }

    /// The torus.
    pub fn torus(&self) -> &Torus {
        &self.fixed.torus
    }

    /// Whether there is an axis along which boxes do not run over the edge.
    pub fn has_walls(&self) -> bool {
        let axes = self.fixed.wrapped.iter().zip(self.fixed.torus.sides);
        axes.into_iter().any(|(wrapped, side)| !wrapped && side > 1)
    }

    /// Its free anchors.
    pub fn open(&mut self) -> &mut Open {
        &mut self.open
    }

    fn place(&self, [index, anchor]: [usize; 2]) -> Place {
        self.fixed.near.place(index, &self.fixed.torus.placements()[index], anchor)
    }

    /// A job begins in a free box and will end at this time, by its estimate if it `told` one.
    pub fn start(&mut self, [index, anchor]: [usize; 2], end: u64, told: bool) {
        let torus = &self.fixed.torus;
        let mask = torus.placements()[index].mask(anchor);
        self.open.take(torus, index, anchor);
        if told {
            self.told.insert_all(mask);
        }
        cells_of(mask).for_each(|cell| self.ends[cell as usize] = end);
        let at = self.running.partition_point(|one| one.0 > end);
        self.running.insert(at, (end, [index, anchor]));
        self.change_latest([index, anchor], |latest, _| *latest = (*latest).max(end));
    }

    /// A job that [began](Self::start) there is over.
    pub fn finish(&mut self, [index, anchor]: [usize; 2]) {
        let torus = &self.fixed.torus;
        let mask = torus.placements()[index].mask(anchor);
        self.open.give(torus, index, anchor);
        self.told.remove_all(mask);
        cells_of(mask).for_each(|cell| self.ends[cell as usize] = FREE);
        let at = self.running.iter().position(|one| one.1 == [index, anchor]);
        let Some((end, _)) = at.map(|at| self.running.remove(at)) else { return };
        let running = std::mem::take(&mut self.running);
        let fixed = self.fixed.clone();
        self.change_latest([index, anchor], |latest, place| {
            // Whom another job holds longer it does not concern.
            if *latest == end {
                *latest = fixed.latest(&running, place, end);
            }
        });
        self.running = running;
    }

    /// Changes the latest ends of anchors that meet a box, as far as they are known.
    fn change_latest(&mut self, at: [usize; 2], mut change: impl FnMut(&mut u64, Place)) {
        let place = self.place(at);
        let Fixed { torus, near, .. } = &*self.fixed;
        for (other, latest) in self.latest.iter_mut().enumerate() {
            if !latest.is_empty() {
                let one = &torus.placements()[other];
                for anchor in near.anchors(place, other, one) {
                    change(&mut latest[anchor], near.place(other, one, anchor));
                }
            }
        }
    }

    /// Sees to it that the latest ends are known.
    fn learn_latest(&mut self) {
        if !self.latest.is_empty() {
            return;
        }
        let Fixed { torus, near, large, .. } = &*self.fixed;
        let of = |index: usize, one: &Placement| -> Vec<u64> {
            let end =
                |anchor| self.fixed.latest(&self.running, near.place(index, one, anchor), u64::MAX);
            (0..one.anchors()).map(end).collect()
        };
        let all = torus.placements().iter().enumerate();
        self.latest = all
            .map(|(index, one)| if large[index] { of(index, one) } else { Vec::new() })
            .collect();
    }

    /// The first free anchor of a size in the order of the scan.
    pub fn first(&mut self, size: u32) -> Option<[usize; 2]> {
        self.learn(size);
        self.candidates(size).next()
    }

    /// Placements of a size.
    fn of_size(&self, size: u32) -> Range<usize> {
        let placements = self.fixed.torus.placements();
        placements.partition_point(|one| one.size < size)
            ..placements.partition_point(|one| one.size <= size)
    }

    fn learn(&mut self, size: u32) {
        for index in self.of_size(size) {
            self.open.learn(&self.fixed.torus, index);
        }
    }

    /// Free anchors of a size that is [known](Self::learn), in the order of the scan.
    fn candidates(&self, size: u32) -> impl Iterator<Item = [usize; 2]> + '_ {
        let anchors = |index| self.open.anchors(&self.fixed.torus, index);
        self.of_size(size).flat_map(move |index| anchors(index).map(move |anchor| [index, anchor]))
    }

    /// The place with the smallest sum; `None` if there is none. Its cost is not told.
    pub fn decide(&mut self, question: &Question<'_>) -> Option<Pick> {
        let candidates = self.rivals(question);
        let pick = |[placement, anchor]: [usize; 2]| Pick { torus: 0, placement, anchor, cost: 0 };
        // Who is alone has won.
        if let [] | [_] = candidates[..] {
            return candidates.first().copied().map(pick);
        }
        let delays = self.prepare(question);
        let mut best: Option<([usize; 2], i128)> = None;
        for &at in &candidates {
            // A sum that is no less loses, whatever it is.
            if let Some(sum) = self.sum_below(at, question, &delays, best.map(|best| best.1)) {
                best = Some((at, sum));
            }
        }
        best.map(|(at, _)| pick(at))
    }

    /// What [`decide`](Self::decide) compares: the candidates in order, each with the sum of its terms.
    pub fn sums(&mut self, question: &Question<'_>) -> Vec<([usize; 2], i128)> {
        let candidates = self.rivals(question);
        let delays = self.prepare(question);
        let mut sum = |at| self.sum_below(at, question, &delays, None).map(|sum| (at, sum));
        candidates.into_iter().filter_map(&mut sum).collect()
    }

    /// Who competes.
    fn rivals(&mut self, question: &Question<'_>) -> Vec<[usize; 2]> {
        self.learn(question.size);
        let mut candidates: Vec<[usize; 2]> = self.candidates(question.size).collect();
        self.keep_rivals(&mut candidates, question.rivals);
        candidates
    }

    /// Sees to it that all is known that the terms ask for.
    fn prepare(&mut self, question: &Question<'_>) -> Vec<Delays> {
        let Handles { larger, equal, delay, .. } = question.handles;
        if larger != 0 || equal != 0 {
            let from = self.of_size(question.size).start;
            let all = from..self.fixed.torus.placements().len();
            all.clone().for_each(|index| self.open.learn(&self.fixed.torus, index));
            let counts = |&index: &usize| question.worth[index] > 0 && self.open.has_any(index);
            self.losers = all.filter(counts).collect();
            // What is worth most tells soonest who loses.
            self.losers.sort_by_key(|&index| std::cmp::Reverse(question.worth[index]));
        }
        if delay == 0 {
            return Vec::new();
        }
        self.learn_latest();
        let alike = self
            .of_size(question.size)
            .map(|index| self.fixed.alike[index].iter().map(Vec::len).product::<usize>());
        let most = alike.sum();
        self.delayed.clear();
        self.delayed.resize(most, Known::AtLeast(0));
        self.delays(question)
    }

    fn keep_rivals(&self, candidates: &mut Vec<[usize; 2]>, rivals: CandidateFilter) {
        let Some(&[first, _]) = candidates.first() else { return };
        match rivals {
            CandidateFilter::All => {}
            CandidateFilter::First => candidates.retain(|&[placement, _]| placement == first),
            CandidateFilter::Compact(slack) => {
                let spreads = candidates.iter().map(|&[placement, _]| self.fixed.spread[placement]);
                let least = spreads.min().unwrap_or(0) as f64;
                let most = (1.0 + slack) * least;
                candidates.retain(|&[placement, _]| self.fixed.spread[placement] as f64 <= most);
            }
        }
    }

    /// What DL needs of every size beyond the question's.
    fn delays(&self, question: &Question<'_>) -> Vec<Delays> {
        let mut all: Vec<Delays> = Vec::new();
        let placements = self.fixed.torus.placements().iter().enumerate();
        for (index, one) in placements.skip(self.of_size(question.size).end) {
            let worth = question.worth[index];
            if !self.fixed.large[index] || worth == 0 {
                continue;
            }
            if all.last().is_none_or(|last| last.size != one.size) {
                all.push(Delays::new(one.size, worth));
            }
            let Some(delays) = all.last_mut() else { continue };
            delays.placements.push(index);
            for (anchor, end) in self.latest[index].iter().enumerate() {
                if self.is_heard(one, anchor) {
                    delays.add((end.saturating_sub(question.now), index as u32, anchor as u32));
                }
            }
        }
        delays::in_order(all)
    }
}

impl Fixed {
    /// The latest end of the jobs in an anchor, which is no later than `most`; [`FREE`] if there are none. The
    /// running jobs come latest first.
    fn latest(&self, running: &[(u64, [usize; 2])], place: Place, most: u64) -> u64 {
        let placements = self.torus.placements();
        let holds = |[index, anchor]: [usize; 2]| {
            self.near.meet(place, self.near.place(index, &placements[index], anchor))
        };
        let mut later = running[running.partition_point(|one| one.0 > most)..].iter();
        later.find(|one| holds(one.1)).map_or(FREE, |one| one.0)
    }
}

/// The sum of distances over all pairs of cells of a box, on a grid of these lengths.
pub fn spread(sides: [u16; 3], lengths: [u16; 3], wrapped: [bool; 3]) -> u64 {
    let cells: u64 = sides.iter().map(|&side| u64::from(side)).product();
    let along = |axis: usize| -> u64 {
        let (side, length) = (u64::from(sides[axis]), u64::from(lengths[axis]));
        let far = |apart: u64| if wrapped[axis] { apart.min(length - apart) } else { apart };
        // Pairs of positions along the axis, and of cells at each two positions.
        let pairs: u64 = (1..side).map(|apart| (side - apart) * far(apart)).sum();
        pairs * (cells / side).pow(2)
    };
    (0..3).map(along).sum()
}

#[cfg(test)]
mod tests;
