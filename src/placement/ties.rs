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

pub use self::handles::{Handles, HandlesError, Rivals, nearness};

mod handles;

use super::decide::Pick;
use super::near::Near;
use super::positions::meet;
use super::torus::{Cells, Placement, Torus, cells_of};

/// Smaller boxes than this part of the torus have no say in DL.
const LARGE: usize = 64;

/// Stands for a cell without an end.
const FREE: u64 = 0;

/// A torus with boxes in use, and what the terms need to know of them. Times are whole units.
#[derive(Clone, Debug)]
pub struct Ties {
    torus: Torus,
    /// Whether boxes run over the edge, along x, y, z; where they do not, there are walls.
    wrapped: [bool; 3],
    /// By placement: the sum of distances over all pairs of its cells.
    spread: Vec<u64>,
    /// By two placements: which anchors of the second share a cell with one of the first.
    near: Vec<Vec<Near>>,
    /// Whether DL hears a placement.
    large: Vec<bool>,
    free: Cells,
    /// By cell: when its job ends by its estimate; [`FREE`] if it has none.
    ends: Vec<u64>,
    /// Cells whose jobs have an estimate of their own.
    told: Cells,
    /// By placement and anchor: the latest of its cells' ends.
    latest: Vec<Vec<u64>>,
    /// Cells out of service, how many, and whether they are walls.
    down: Cells,
    down_count: usize,
    down_is_wall: bool,
    /// By placement and anchor, as far as it is known in this decision: whether it is free.
    known: Vec<Vec<Option<bool>>>,
}

/// A question to [`Ties`].
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Cells.
    pub size: u32,
    /// What to weigh.
    pub handles: Handles,
    /// Which boxes compete.
    pub rivals: Rivals,
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
    pub fn new(torus: Torus) -> Self {
        Self::with_walls(torus, [true; 3])
    }

    /// The same for a mesh, or a torus that is `wrapped` along some axes only.
    pub fn with_walls(torus: Torus, wrapped: [bool; 3]) -> Self {
        let placements = torus.placements();
        let near = placements
            .iter()
            .map(|one| placements.iter().map(|other| Near::new(torus.sides, one, other)).collect());
        let near = near.collect();
        let cells = torus.cells();
        let large = placements.iter().map(|one| one.size as usize * LARGE >= cells).collect();
        let of_anchors = |one: &Placement| vec![FREE; one.anchors()];
        let latest = placements.iter().map(of_anchors).collect();
        let known = placements.iter().map(|one| vec![None; one.anchors()]).collect();
        Self {
            near,
            large,
            free: torus.nodes.clone(),
            ends: vec![FREE; cells],
            told: Cells::none(cells),
            down: Cells::none(cells),
            down_count: 0,
            down_is_wall: false,
            spread: placements.iter().map(|one| spread(one.sides, torus.sides, wrapped)).collect(),
            wrapped,
            latest,
            known,
            torus,
        }
    }

    /// The torus.
    pub fn torus(&self) -> &Torus {
        &self.torus
    }

    /// Its free cells.
    pub fn free(&self) -> &Cells {
        &self.free
    }

    /// A job begins in a free box and will end at this time, by its estimate if it `told` one.
    pub fn start(&mut self, [placement, anchor]: [usize; 2], end: u64, told: bool) {
        let placements = self.torus.placements();
        let mask = placements[placement].mask(anchor);
        self.free.remove_all(mask);
        if told {
            self.told.insert_all(mask);
        }
        cells_of(mask).for_each(|cell| self.ends[cell as usize] = end);
        let at = placements[placement].place(anchor);
        for (other, latest) in self.latest.iter_mut().enumerate() {
            for near in self.near[placement][other].of(at) {
                latest[near] = latest[near].max(end);
            }
        }
    }

    /// A job that [began](Self::start) there is over.
    pub fn finish(&mut self, [placement, anchor]: [usize; 2]) {
        let placements = self.torus.placements();
        let mask = placements[placement].mask(anchor);
        self.free.insert_all(mask);
        self.told.remove_all(mask);
        let mut end = FREE;
        for cell in cells_of(mask) {
            end = end.max(std::mem::replace(&mut self.ends[cell as usize], FREE));
        }
        let at = placements[placement].place(anchor);
        for (other, latest) in self.latest.iter_mut().enumerate() {
            for near in self.near[placement][other].of(at) {
                // Whom another job holds longer it does not concern.
                if latest[near] == end {
                    let cells = cells_of(placements[other].mask(near));
                    latest[near] = cells.map(|cell| self.ends[cell as usize]).max().unwrap_or(FREE);
                }
            }
        }
    }

    /// Free cells go out of service, as walls to their neighbours or as nothing.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, is_wall: bool) {
        self.down_is_wall = is_wall;
        for cell in cells {
            self.free.remove(cell);
            self.down.insert(cell);
            self.down_count += 1;
        }
    }

    /// Cells that were [out of service](Self::withdraw) are back, and free.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        for cell in cells {
            self.free.insert(cell);
            self.down.remove(cell);
            self.down_count -= 1;
        }
    }

    /// Whether DL hears an anchor: it has neither holes nor cells out of service.
    fn is_heard(&self, one: &Placement, anchor: usize) -> bool {
        let is_up = || self.down_count == 0 || self.down.common(one.mask(anchor)) == 0;
        one.is_whole(anchor) && is_up()
    }

    /// The first free anchor of a size in the order of the scan.
    pub fn first(&self, size: u32) -> Option<[usize; 2]> {
        self.candidates(size).next()
    }

    fn candidates(&self, size: u32) -> impl Iterator<Item = [usize; 2]> + '_ {
        let placements = self.torus.placements().iter().enumerate();
        let of_size = placements.filter(move |(_, one)| one.size == size);
        of_size.flat_map(move |(index, one)| {
            let fits = |&anchor: &usize| one.is_whole(anchor) && self.free.holds(one.mask(anchor));
            (0..one.anchors()).filter(fits).map(move |anchor| [index, anchor])
        })
    }

    /// The place with the smallest sum; `None` if there is none. Its cost is not told.
    pub fn decide(&mut self, question: &Question<'_>) -> Option<Pick> {
        let mut candidates: Vec<[usize; 2]> = self.candidates(question.size).collect();
        self.keep_rivals(&mut candidates, question.rivals);
        if candidates.len() > 1 {
            self.known.iter_mut().for_each(|known| known.fill(None));
        }
        let delays = match question.handles.delay {
            0 => Vec::new(),
            _ => self.delays(question),
        };
        let mut best: Option<([usize; 2], i128)> = None;
        for &at in &candidates {
            // Who is alone has won.
            let sum = if candidates.len() == 1 { 0 } else { self.sum(at, question, &delays) };
            if best.is_none_or(|(_, least)| sum < least) {
                best = Some((at, sum));
            }
        }
        let pick = |[placement, anchor]: [usize; 2]| Pick { torus: 0, placement, anchor, cost: 0 };
        best.map(|(at, _)| pick(at))
    }

    /// What [`decide`](Self::decide) compares: the candidates in order, each with the sum of its terms.
    pub fn sums(&mut self, question: &Question<'_>) -> Vec<([usize; 2], i128)> {
        let mut candidates: Vec<[usize; 2]> = self.candidates(question.size).collect();
        self.keep_rivals(&mut candidates, question.rivals);
        self.known.iter_mut().for_each(|known| known.fill(None));
        let delays = match question.handles.delay {
            0 => Vec::new(),
            _ => self.delays(question),
        };
        candidates.into_iter().map(|at| (at, self.sum(at, question, &delays))).collect()
    }

    fn keep_rivals(&self, candidates: &mut Vec<[usize; 2]>, rivals: Rivals) {
        let Some(&[first, _]) = candidates.first() else { return };
        match rivals {
            Rivals::All => {}
            Rivals::First => candidates.retain(|&[placement, _]| placement == first),
            Rivals::Compact(slack) => {
                let spreads = candidates.iter().map(|&[placement, _]| self.spread[placement]);
                let least = spreads.min().unwrap_or(0) as f64;
                let most = (1.0 + slack) * least;
                candidates.retain(|&[placement, _]| self.spread[placement] as f64 <= most);
            }
        }
    }

    fn sum(&mut self, at: [usize; 2], question: &Question<'_>, delays: &[Delays]) -> i128 {
        let Handles { larger, equal, contact, wall, ends, delay } = question.handles;
        let mut sum = 0;
        if larger != 0 || equal != 0 {
            let [lost, same] = self.lost(at, question);
            sum += i128::from(larger) * lost + i128::from(equal) * same;
        }
        if contact != 0 || wall != 0 || ends != 0 {
            let [touched, walls, together] = self.beside(at, question);
            sum -= i128::from(contact) * i128::from(touched);
            sum -= i128::from(wall) * i128::from(walls);
            sum -= i128::from(ends) * i128::from(together);
        }
        if delay != 0 {
            let of = |delays: &Delays| delays.with(self, at, question);
            sum += i128::from(delay) * delays.iter().map(of).sum::<i128>();
        }
        sum
    }

    /// LF and EQ.
    fn lost(&mut self, [placement, anchor]: [usize; 2], question: &Question<'_>) -> [i128; 2] {
        let placements = self.torus.placements();
        let at = placements[placement].place(anchor);
        let mut lost = [0; 2];
        for (other, one) in
            placements.iter().enumerate().filter(|(_, one)| one.size >= question.size)
        {
            let free = &self.free;
            let known = &mut self.known[other];
            let mut is_free = |near: usize| {
                let free = || one.is_whole(near) && free.holds(one.mask(near));
                *known[near].get_or_insert_with(free)
            };
            let others = self.near[placement][other].of(at);
            let others = others.filter(|&near| [other, near] != [placement, anchor]);
            let count = others.filter(|&near| is_free(near)).count();
            let equal = usize::from(one.size == question.size);
            lost[equal] += count as i128 * i128::from(question.worth[other]);
        }
        lost
    }

    /// NF, WF and EF.
    fn beside(&self, [placement, anchor]: [usize; 2], question: &Question<'_>) -> [u64; 3] {
        let one = &self.torus.placements()[placement];
        let (base, sides) = (one.base(anchor), one.sides);
        let [mut touched, mut walls, mut together] = [0; 3];
        for axis in 0..3 {
            let (side, length) = (u32::from(sides[axis]), u32::from(self.torus.sides[axis]));
            let mut extent = sides;
            extent[axis] = 1;
            let face: u64 = extent.iter().map(|&side| u64::from(side)).product();
            let at_edges = [base[axis] == 0, u32::from(base[axis]) + side == length];
            for (at_edge, outside) in at_edges.into_iter().zip([length - 1, side]) {
                if at_edge && !self.wrapped[axis] {
                    walls += face;
                    continue;
                }
                if side == length {
                    continue;
                }
                let mut beyond = base;
                beyond[axis] = ((u32::from(base[axis]) + outside) % length) as u16;
                let busy = |&cell: &u32| !self.free.contains(cell);
                for cell in self.torus.cells_in(beyond, extent).filter(busy) {
                    if self.down.contains(cell) {
                        walls += u64::from(self.down_is_wall);
                        continue;
                    }
                    touched += 1;
                    together += self.together(cell, question);
                }
            }
        }
        [touched, walls, together]
    }

    /// How near the end of the job in a cell is to that of the new one.
    fn together(&self, cell: u32, question: &Question<'_>) -> u64 {
        if !question.told || !self.told.contains(cell) {
            return 0;
        }
        // A job that has outrun its estimate is to end now.
        let left = self.ends[cell as usize].saturating_sub(question.now);
        nearness(left.abs_diff(question.estimate), question.estimate).into()
    }

    /// What DL needs of every size beyond the question's.
    fn delays(&self, question: &Question<'_>) -> Vec<Delays> {
        let mut all: Vec<Delays> = Vec::new();
        for (index, one) in self.torus.placements().iter().enumerate() {
            if one.size <= question.size || !self.large[index] {
                continue;
            }
            if all.last().is_none_or(|last| last.size != one.size) {
                let worth = question.worth[index];
                let placements = index..index;
                all.push(Delays { size: one.size, worth, placements, anchors: Vec::new(), sum: 0 });
            }
            let Some(delays) = all.last_mut() else { continue };
            delays.placements.end = index + 1;
            for anchor in (0..one.anchors()).filter(|&anchor| self.is_heard(one, anchor)) {
                let left = self.latest[index][anchor].saturating_sub(question.now);
                delays.anchors.push((left, index as u32, anchor as u32));
                delays.sum += u128::from(left);
            }
        }
        all.iter_mut().for_each(|delays| delays.anchors.sort_unstable());
        all
    }
}

/// The anchors of one size, by the time until they come free.
struct Delays {
    size: u32,
    worth: u64,
    /// Those of this size.
    placements: Range<usize>,
    anchors: Vec<(u64, u32, u32)>,
    sum: u128,
}

impl Delays {
    /// The size's part of DL with a candidate taken.
    fn with(&self, ties: &Ties, [placement, anchor]: [usize; 2], question: &Question<'_>) -> i128 {
        if self.anchors.is_empty() || self.worth == 0 {
            return 0;
        }
        let placements = ties.torus.placements();
        let candidate = &placements[placement];
        let (base, at) = (candidate.base(anchor), candidate.place(anchor));
        // Those that it meets come free later, if they are not held longer by others.
        let (mut sum, mut least) = (self.sum, u64::MAX);
        for index in self.placements.clone() {
            let one = &placements[index];
            for near in ties.near[placement][index].of(at).filter(|&at| ties.is_heard(one, at)) {
                let left = ties.latest[index][near].saturating_sub(question.now);
                sum += u128::from(question.estimate.saturating_sub(left));
                least = least.min(left.max(question.estimate));
            }
        }
        // Of the others the first counts.
        let meets = |index: u32, other: u32| {
            let one = &placements[index as usize];
            let at = one.base(other as usize);
            (0..3).all(|axis| {
                let mine = (base[axis], candidate.sides[axis]);
                meet(ties.torus.sides[axis], mine, (at[axis], one.sides[axis]))
            })
        };
        let sooner = self.anchors.iter().take_while(|&&(left, ..)| left < least);
        let first = sooner.copied().find(|&(_, index, other)| !meets(index, other));
        let least = first.map_or(least, |(left, ..)| left);
        let mean = (sum / self.anchors.len() as u128) as i128;
        i128::from(self.worth) * (50 * i128::from(least) + mean)
    }
}

/// The sum of distances over all pairs of cells of a box.
fn spread(sides: [u16; 3], lengths: [u16; 3], wrapped: [bool; 3]) -> u64 {
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
