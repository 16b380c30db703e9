//! The set around one centre of a 2D mesh, from strips.
//!
//! With S the complete shells and P the part taken of the last one, the score is
//!
//! ```text
//! pair(S) + sum over p in P of D(p) + pair(P)
//! ```
//!
//! where D(p) is the sum of distances from p to all of S. All of it follows from the
//! number of processors of S in each row and column: pair(S) cut by cut, and D as the
//! sum of a term of x and a term of y.

use super::reach::Reach;
use super::survey::along;
use crate::machine::DiamondCounts;
use crate::topology::{Coord, NodeId};

/// The diamond around a centre and its last shell.
#[derive(Debug, Default)]
pub struct Diamond {
    /// The free processors of the last shell in scan order.
    pub shell: Vec<NodeId>,
    /// D of each.
    costs: Vec<u32>,
    /// Processors of S in each row from x - L to x + L, then D by row.
    by_x: Vec<u32>,
    /// The same of columns.
    by_y: Vec<u32>,
    nearest: Vec<u32>,
    histogram: Vec<u32>,
    pairs: u64,
    need: usize,
}

impl Diamond {
    /// Looks around (x, y) for `need` processors beyond the complete shells. Returns
    /// false as soon as it is known that the score is not `open`.
    pub fn look(
        &mut self,
        counts: &DiamondCounts,
        (x, y): (usize, usize),
        reach: Reach,
        need: usize,
        open: impl Fn(u64) -> bool,
        mut dead: impl FnMut(u64),
    ) -> bool {
        let Reach { outermost: last, inner } = reach;
        self.need = need;
        self.pairs =
            cuts(&mut self.by_x, last, x, counts.width(), inner, |row, reach| counts.strip_y(row, y, reach));
        if !open(self.pairs + least_pairs(need)) {
            dead(self.pairs + (need * (need - 1) / 2) as u64);
            return false;
        }
        self.pairs +=
            cuts(&mut self.by_y, last, y, counts.height(), inner, |column, reach| counts.strip_x(x, column, reach));
        if !open(self.pairs + least_pairs(need)) {
            dead(self.pairs + (need * (need - 1) / 2) as u64);
            return false;
        }
        costs(&mut self.by_x, inner as u32);
        costs(&mut self.by_y, inner as u32);
        let any = self.pairs + u64::from(self.cheapest(last)) * need as u64 + (need * (need - 1) / 2) as u64;
        dead(any);
        if !open(any + (least_pairs(need) - (need * (need - 1) / 2) as u64)) {
            return false;
        }
        self.gather(counts, x, y, last);
        let cheapest = self.costs.iter().copied().min().unwrap_or(0);
        if !open(self.pairs + u64::from(cheapest) * need as u64 + least_pairs(need)) {
            return false;
        }
        open(self.pairs + self.least_cost() + least_pairs(need))
    }

    fn cheapest(&self, last: usize) -> u32 {
        (0..=last).map(|d| {
            let e = last - d;
            self.by_x[last - d].min(self.by_x[last + d]) + self.by_y[last - e].min(self.by_y[last + e])
        }).min().unwrap_or(0)
    }

    fn gather(&mut self, counts: &DiamondCounts, x: usize, y: usize, last: usize) {
        self.shell.clear();
        self.costs.clear();
        for row in x.saturating_sub(last)..(x + last + 1).min(counts.width()) {
            let reach = last - row.abs_diff(x);
            let cost = self.by_x[row + last - x];
            let first = row * counts.height() + y;
            if reach > 0 && counts.is_free(row, y, -(reach as isize)) {
                self.shell.push(NodeId((first - reach) as u32));
                self.costs.push(cost + self.by_y[last - reach]);
            }
            if counts.is_free(row, y, reach as isize) {
                self.shell.push(NodeId((first + reach) as u32));
                self.costs.push(cost + self.by_y[last + reach]);
            }
        }
    }

    /// Sum of the costs of the cheapest processors of the shell, as many as needed.
    fn least_cost(&mut self) -> u64 {
        self.nearest.clear();
        self.nearest.extend_from_slice(&self.costs);
        if self.need < self.nearest.len() {
            self.nearest.select_nth_unstable(self.need);
        }
        self.nearest[..self.need].iter().map(|&cost| u64::from(cost)).sum()
    }

    /// The score if `part` is taken of the last shell.
    pub fn score(&mut self, coords: &[Coord], part: &[NodeId], x: usize, y: usize) -> u64 {
        let width = self.by_x.len();
        let last = width / 2;
        let mut sum = self.pairs;
        self.histogram.clear();
        self.histogram.resize(2 * width, 0);
        for node in part {
            let c = coords[node.index()];
            let [dx, dy] = [usize::from(c[0]) + last - x, usize::from(c[1]) + last - y];
            sum += u64::from(self.by_x[dx] + self.by_y[dy]);
            self.histogram[dx] += 1;
            self.histogram[width + dy] += 1;
        }
        sum + along(&self.histogram[..width]) + along(&self.histogram[width..])
    }
}

/// Lower bound of the pairwise sum of `m` distinct processors of one shell. Any two are
/// an even distance apart, and at most 4 j others are within distance 2 j of one.
fn least_pairs(m: usize) -> u64 {
    let (rings, rest) = (m.saturating_sub(1) / 4, m.saturating_sub(1) % 4);
    (m * (2 * rings * (rings + 1) + rest * (rings + 1))) as u64
}

/// The strips of a diamond of radius `last` - 1, from `centre` - `last` to `centre` +
/// `last`; 0 beyond the mesh.
/// The strips of a diamond of radius `last` - 1, from `centre` - `last` to `centre` +
/// `last`, 0 beyond the mesh; returns the number of pairs parted by the cuts between
/// neighbouring strips, which hold `all` processors.
#[inline(always)]
fn cuts(
    strips: &mut Vec<u32>,
    last: usize,
    centre: usize,
    extent: usize,
    all: usize,
    strip: impl Fn(usize, usize) -> u16,
) -> u64 {
    strips.clear();
    strips.resize(2 * last + 1, 0);
    let (first, end) = ((centre + 1).saturating_sub(last), (centre + last).min(extent));
    let (left, right) = strips[first + last - centre..].split_at_mut(centre - first.min(centre));
    let (all, mut before, mut sum) = (all as u64, 0, 0);
    let mut enter = |slot: &mut u32, count: u16| {
        *slot = u32::from(count);
        before += u64::from(count);
        sum += before * (all - before);
    };
    for (slot, row) in left.iter_mut().zip(first..centre) {
        enter(slot, strip(row, row + last - 1 - centre));
    }
    for (slot, row) in right.iter_mut().zip(centre..end) {
        enter(slot, strip(row, centre + last - 1 - row));
    }
    sum
}

/// Replaces the number of processors at each position by the sum of their distances to it.
fn costs(strips: &mut [u32], all: u32) {
    let mut cost: u32 = strips.iter().zip(0..).map(|(&strip, i)| strip * i).sum();
    let mut before = 0;
    for strip in strips {
        before += *strip;
        *strip = cost;
        cost = cost + 2 * before - all;
    }
}
