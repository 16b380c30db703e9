use super::reach::Reach;
use super::survey::along;
use crate::machine::DiamondCounts;
use crate::topology::{Coord, NodeId};

/// The diamond around one centre of a 2D mesh, and bounds of the score there.
///
/// With S the complete shells and P the part taken of the last one, the score is
///
/// ```text
/// pair(S) + sum over p in P of D(p) + pair(P)
/// ```
///
/// where D(p), the *cost* of p, is the sum of its distances to all of S. All of it follows
/// from the number of processors of S in each row and column: pair(S) cut by cut, and D as
/// the sum of a term of x and a term of y.
#[derive(Debug, Default)]
pub struct Diamond {
    shell: Vec<NodeId>,
    /// Of each processor of the shell.
    costs: Vec<u64>,
    /// From x - L to x + L: first the processors of S in each row, then the term of D.
    by_x: Vec<u64>,
    /// The same of columns, around y.
    by_y: Vec<u64>,
    cheapest: Vec<u64>,
    histogram: Vec<u32>,
    pairs: u64,
}

/// What a look at a centre tells.
pub enum Outlook {
    /// The score may matter.
    Open,
    /// The score here does not matter.
    Closed,
    /// No set of the size that contains the complete shells here has a score that matters.
    Hopeless,
}

impl Diamond {
    /// Looks around (x, y) for `need` processors beyond the complete shells. A score is
    /// `open` if it can matter, and beyond the `limit` it cannot under any centre. Works
    /// from the cheapest bound to the dearest and stops at the first that decides.
    pub fn look(
        &mut self,
        counts: &DiamondCounts,
        (x, y): (usize, usize),
        reach: Reach,
        need: usize,
        limit: u64,
        open: impl Fn(u64) -> bool,
    ) -> Outlook {
        let Reach { outermost: last, inner } = reach;
        let (any_part, shell_part) = (least_pairs_anywhere(need), least_pairs_in_shell(need));
        let decide =
            |at_least: u64| match (at_least + any_part > limit, open(at_least + shell_part)) {
                (true, _) => Some(Outlook::Hopeless),
                (false, false) => Some(Outlook::Closed),
                (false, true) => None,
            };

        let strip = |row, reach| counts.strip_y(row, y, reach);
        self.pairs = cuts(&mut self.by_x, last, x, counts.width(), inner, strip);
        if let Some(outlook) = decide(self.pairs) {
            return outlook;
        }
        let strip = |column, reach| counts.strip_x(x, column, reach);
        self.pairs += cuts(&mut self.by_y, last, y, counts.height(), inner, strip);
        if let Some(outlook) = decide(self.pairs) {
            return outlook;
        }
        costs(&mut self.by_x, inner as u64);
        costs(&mut self.by_y, inner as u64);
        if let Some(outlook) = decide(self.pairs + need as u64 * self.least_cost(last)) {
            return outlook;
        }
        // From here on only processors of this very shell count, so that a bound says
        // nothing of other sets.
        self.gather(counts, x, y, last);
        self.cheapest.clone_from(&self.costs);
        if need < self.cheapest.len() {
            self.cheapest.select_nth_unstable(need);
        }
        let costs: u64 = self.cheapest[..need].iter().sum();
        if open(self.pairs + costs + shell_part) { Outlook::Open } else { Outlook::Closed }
    }

    /// The least D of all positions in the last shell, free or not, on the mesh or not,
    /// which is also the least beyond: of the two steps from a position outside S towards
    /// the centre, one does not raise D, or more than half of S would lie beyond in x and
    /// more than half in y, hence some of S beyond in both.
    fn least_cost(&self, last: usize) -> u64 {
        let least =
            |terms: &[u64], distance: usize| terms[last - distance].min(terms[last + distance]);
        let costs = (0..=last).map(|d| least(&self.by_x, d) + least(&self.by_y, last - d));
        costs.min().unwrap_or(0)
    }

    fn gather(&mut self, counts: &DiamondCounts, x: usize, y: usize, last: usize) {
        self.shell.clear();
        self.costs.clear();
        for row in x.saturating_sub(last)..(x + last + 1).min(counts.width()) {
            let reach = last - row.abs_diff(x);
            let cost = self.by_x[row + last - x];
            let middle = row * counts.height() + y;
            if reach > 0 && counts.is_free(row, y, -(reach as isize)) {
                self.shell.push(NodeId((middle - reach) as u32));
                self.costs.push(cost + self.by_y[last - reach]);
            }
            if counts.is_free(row, y, reach as isize) {
                self.shell.push(NodeId((middle + reach) as u32));
                self.costs.push(cost + self.by_y[last + reach]);
            }
        }
    }

    /// The free processors of the last shell, in scan order, after an open look.
    pub fn shell(&self) -> &[NodeId] {
        &self.shell
    }

    /// The score around (x, y) if `part` is taken of the last shell, after an open look.
    pub fn score(&mut self, coords: &[Coord], part: &[NodeId], x: usize, y: usize) -> u64 {
        let width = self.by_x.len();
        let last = width / 2;
        let mut sum = self.pairs;
        self.histogram.clear();
        self.histogram.resize(2 * width, 0);
        for node in part {
            let p = coords[node.index()];
            let [dx, dy] = [usize::from(p[0]) + last - x, usize::from(p[1]) + last - y];
            sum += self.by_x[dx] + self.by_y[dy];
            self.histogram[dx] += 1;
            self.histogram[width + dy] += 1;
        }
        sum + along(&self.histogram[..width]) + along(&self.histogram[width..])
    }
}

/// Lower bound of the pairwise sum of `m` distinct processors of one shell. Any two are
/// an even distance apart, and at most 4 j others are within distance 2 j of one.
fn least_pairs_in_shell(m: usize) -> u64 {
    let others = m.saturating_sub(1);
    let (full, rest) = (others / 4, others % 4);
    (m * (2 * full * (full + 1) + rest * (full + 1))) as u64
}

/// Lower bound of the pairwise sum of any `m` distinct processors.
fn least_pairs_anywhere(m: usize) -> u64 {
    (m * m.saturating_sub(1) / 2) as u64
}

/// Fills in the strips of a diamond of radius `last` - 1, from `centre` - `last` to
/// `centre` + `last`, 0 beyond the mesh. Returns how many pairs of its `all` processors
/// are parted by the cuts between neighbouring strips: their distances along this axis.
#[inline(always)]
fn cuts(
    strips: &mut Vec<u64>,
    last: usize,
    centre: usize,
    extent: usize,
    all: usize,
    strip: impl Fn(usize, usize) -> u16,
) -> u64 {
    strips.clear();
    strips.resize(2 * last + 1, 0);
    let (first, end) = ((centre + 1).saturating_sub(last).min(centre), (centre + last).min(extent));
    let (left, right) = strips[first + last - centre..].split_at_mut(centre - first);
    let (all, mut before, mut sum) = (all as u64, 0, 0);
    let mut enter = |slot: &mut u64, count: u16| {
        *slot = u64::from(count);
        before += *slot;
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

/// Replaces the number of processors at each position by the sum of the distances of all
/// of them to it.
fn costs(strips: &mut [u64], all: u64) {
    let mut cost: u64 = strips.iter().zip(0..).map(|(&strip, i)| strip * i).sum();
    let mut before = 0;
    for strip in strips {
        before += *strip;
        *strip = cost;
        cost = cost + 2 * before - all;
    }
}
