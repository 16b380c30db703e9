//! Diamonds on a 2D mesh: the reach of each centre, bounds of the score of a centre, and the score.

use super::candidates::LeastPairs;
use super::survey::along;
use crate::machine::{DiamondCounts, LANES, Shorts};

/// The diamond around one centre of a 2D mesh, and bounds of the score of this centre.
///
/// Let S be the complete shells, and P the part that is taken from the last shell. The score is
///
/// ```text
/// pair(S) + sum over p in P of D(p) + pair(P)
/// ```
///
/// where D(p), the *cost* of p, is the sum of the distances from p to all processors of S. All terms are computed from
/// the number of processors of S in each row and column: pair(S) as a sum over the cuts between rows and between
/// columns, and D as the sum of a term that depends on x and a term that depends on y.
#[derive(Debug, Default)]
pub struct Diamond {
    window: Window,
    /// Free processors of the shell, in scan order.
    shell: Vec<[u16; 2]>,
    /// Cost of each processor of the shell.
    costs: Vec<u32>,
    /// Number of processors of S by row of the window. The number is later replaced by the x term of D.
    by_x: Vec<u32>,
    /// Number of processors of S by column of the window. The number is later replaced by the y term of D.
    by_y: Vec<u32>,
    histogram: Vec<u32>,
    pairs: u64,
    /// Smallest D of all positions in the last shell or beyond.
    least_cost: u64,
    /// Shell number if the diamond is complete, that is, if S contains all positions of its shells and the last shell
    /// is entirely on the mesh. All complete diamonds of one shell number are identical.
    complete: Option<usize>,
}

/// Result of the bounds of the score of a centre.
pub enum Verdict {
    /// The score may matter.
    Open,
    /// The score of this centre does not matter.
    Closed,
    /// No set of the requested size that contains the complete shells of this centre has a score that matters.
    Excluded,
}

impl Diamond {
    /// Computes bounds of the score around (x, y) with `need` processors in addition to the complete shells. `open`
    /// returns whether a score can matter; a score above `limit` cannot matter for any centre. The cheapest bound is
    /// computed first. The method returns as soon as a bound decides.
    #[allow(clippy::too_many_arguments)]
    pub fn bound(
        &mut self,
        counts: &DiamondCounts,
        (x, y): (usize, usize),
        reach: DistanceReach,
        need: usize,
        least: &mut LeastPairs,
        limit: u64,
        open: impl Fn(u64) -> bool,
    ) -> Verdict {
        let DistanceReach { outermost: last, inner, .. } = reach;
        let (any_part, shell_part) = (least.anywhere(need), least.in_shell(last, need));
        let decide =
            |at_least: u64| match (at_least + any_part > limit, open(at_least + shell_part)) {
                (true, _) => Some(Verdict::Excluded),
                (false, false) => Some(Verdict::Closed),
                (false, true) => None,
            };

        self.window = Window::new(counts, (x, y), last);
        let complete =
            (inner == positions_before(last) && self.window.has_all(last)).then_some(last);
        if complete.is_none() || complete != self.complete {
            self.complete = None;
            let strip = |row, reach| counts.strip_y(row, y, reach);
            self.pairs = cuts(&mut self.by_x, last, x, self.window.x(), inner, strip);
            let strip = |column, reach| counts.strip_x(x, column, reach);
            self.pairs += cuts(&mut self.by_y, last, y, self.window.y(), inner, strip);
            if let Some(verdict) = decide(self.pairs) {
                return verdict;
            }
            costs(&mut self.by_x, inner as u32);
            costs(&mut self.by_y, inner as u32);
            self.least_cost = self.find_least_cost(x, y, last);
            self.complete = complete;
        }
        decide(self.pairs + need as u64 * self.least_cost).unwrap_or(Verdict::Open)
    }

    /// Computes a tighter bound after [`bound`](Self::bound) has returned [`Verdict::Open`]. Returns whether the score
    /// can still be `open` if the part is taken from the last shell of this centre. `in_shell` is a lower bound of the
    /// pairwise sum of the part. The tighter bound does not apply to other sets that contain the complete shells.
    pub fn is_open(
        &mut self,
        counts: &DiamondCounts,
        (x, y): (usize, usize),
        last: usize,
        need: usize,
        in_shell: u64,
        open: impl Fn(u64) -> bool,
    ) -> bool {
        self.gather(counts, x, y, last);
        if need < self.costs.len() {
            self.costs.select_nth_unstable(need);
        }
        let costs: u64 = self.costs[..need].iter().map(|&cost| u64::from(cost)).sum();
        open(self.pairs + costs + in_shell)
    }

    /// Returns the smallest D of all positions in the last shell, free or not. No position beyond the shell has a
    /// smaller D. Reason: consider the two steps, in x and in y, from a position outside S towards the centre. At least
    /// one of them does not increase D. Otherwise more than half of S would be beyond the position in x, and more than
    /// half in y, so that some processor of S would be beyond the position in both directions.
    fn find_least_cost(&self, x: usize, y: usize, last: usize) -> u64 {
        let [left, right] = self.window.y().map(usize::from);
        let mut least = u32::MAX;
        for (row, &cost) in (usize::from(self.window.x()[0])..).zip(&self.by_x) {
            let reach = last - row.abs_diff(x);
            if let Some(column) = y.checked_sub(reach).filter(|&column| column >= left) {
                least = least.min(cost + self.by_y[column - left]);
            }
            if y + reach <= right {
                least = least.min(cost + self.by_y[y + reach - left]);
            }
        }
        u64::from(least)
    }

    fn gather(&mut self, counts: &DiamondCounts, x: usize, y: usize, last: usize) {
        let left = usize::from(self.window.y()[0]);
        self.shell.clear();
        self.costs.clear();
        for (row, &cost) in (usize::from(self.window.x()[0])..).zip(&self.by_x) {
            let reach = last - row.abs_diff(x);
            if reach > 0 && counts.is_free(row, y, -(reach as isize)) {
                self.shell.push([row as u16, (y - reach) as u16]);
                self.costs.push(cost + self.by_y[y - reach - left]);
            }
            if counts.is_free(row, y, reach as isize) {
                self.shell.push([row as u16, (y + reach) as u16]);
                self.costs.push(cost + self.by_y[y + reach - left]);
            }
        }
    }

    /// Returns the free processors of the last shell, in scan order, after [`is_open`](Self::is_open).
    pub fn shell(&self) -> &[[u16; 2]] {
        &self.shell
    }

    /// Returns whether the diamond is complete: whether S contains all positions of its shells and the last shell is
    /// entirely on the mesh. Call this after [`bound`](Self::bound) has returned [`Verdict::Open`].
    pub fn is_complete(&self) -> bool {
        self.complete.is_some()
    }

    /// Returns the window around the shell.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Returns the score if `part` is taken from the last shell. Call this after [`is_open`](Self::is_open).
    pub fn score(&mut self, part: &[[u16; 2]]) -> u64 {
        let rows = self.by_x.len();
        let mut sum = self.pairs;
        self.histogram.clear();
        self.histogram.resize(rows + self.by_y.len(), 0);
        for p in part {
            let [row, column] =
                [p[0] - self.window.x()[0], p[1] - self.window.y()[0]].map(usize::from);
            sum += u64::from(self.by_x[row]) + u64::from(self.by_y[column]);
            self.histogram[row] += 1;
            self.histogram[rows + column] += 1;
        }
        sum + along(&self.histogram[..rows]) + along(&self.histogram[rows..])
    }
}

/// Returns the number of positions nearer than shell `last`.
fn positions_before(last: usize) -> usize {
    2 * last * last.saturating_sub(1) + usize::from(last > 0)
}

/// Fills in the strips from `first` to `end` of a diamond of radius `last` - 1 around `centre`. The strips are at most
/// `last` away from the centre. Returns the sum of the distances along this axis over all pairs of the `all` processors
/// of the diamond. The sum is computed as the number of pairs that each cut between neighbouring strips separates,
/// summed over all cuts.
#[inline(always)]
fn cuts(
    strips: &mut Vec<u32>,
    last: usize,
    centre: usize,
    span: [u16; 2],
    all: usize,
    strip: impl Fn(usize, usize) -> u16,
) -> u64 {
    let [first, end] = span.map(usize::from);
    strips.clear();
    strips.resize(end + 1 - first, 0);
    let (left, right) = strips.split_at_mut(centre - first);
    let (all, mut before, mut sum) = (all as u32, 0, 0);
    let mut enter = |slot: &mut u32, count: u16| {
        *slot = u32::from(count);
        before += *slot;
        sum += u64::from(before) * u64::from(all - before);
    };
    // The diamond has no strip at distance `last`.
    let skipped = usize::from(last > 0 && centre - first == last);
    for (slot, row) in left[skipped..].iter_mut().zip(first + skipped..centre) {
        enter(slot, strip(row, row + last - 1 - centre));
    }
    for (slot, row) in right.iter_mut().zip(centre..(centre + last).min(end + 1)) {
        enter(slot, strip(row, centre + last - 1 - row));
    }
    sum
}

/// Replaces the number of processors at each position by the sum of the distances from all processors to the position.
fn costs(strips: &mut [u32], all: u32) {
    let mut cost: u32 = strips.iter().zip(0..).map(|(&strip, i)| strip * i).sum();
    let mut before = 0;
    for strip in strips {
        before += *strip;
        *strip = cost;
        cost = cost.wrapping_add(2 * before).wrapping_sub(all);
    }
}

/// The rows and columns of the mesh that a diamond reaches, as first and last row and first and last column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    x: [u16; 2],
    y: [u16; 2],
}

impl Window {
    /// Returns the window of the diamond of this radius around (x, y).
    pub fn new(counts: &DiamondCounts, (x, y): (usize, usize), radius: usize) -> Self {
        let span = |centre: usize, extent: usize| {
            [centre.saturating_sub(radius) as u16, (centre + radius).min(extent - 1) as u16]
        };
        Self { x: span(x, counts.width()), y: span(y, counts.height()) }
    }

    /// Returns the first and last row.
    #[inline]
    pub fn x(self) -> [u16; 2] {
        self.x
    }

    /// Returns the first and last column.
    #[inline]
    pub fn y(self) -> [u16; 2] {
        self.y
    }

    /// Returns whether a shell of this radius is entirely on the mesh.
    pub fn has_all(self, radius: usize) -> bool {
        let long = |span: [u16; 2]| usize::from(span[1] - span[0]) == 2 * radius;
        long(self.x) && long(self.y)
    }

    /// Returns the position of the window nearest to (x, y).
    #[inline]
    pub fn clamp(self, [x, y]: [u16; 2]) -> [u16; 2] {
        [x.clamp(self.x[0], self.x[1]), y.clamp(self.y[0], self.y[1])]
    }
}

/// Extent of the shells around a centre that contain the requested number of processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DistanceReach {
    /// Shell number of the outermost processor that is taken.
    pub outermost: usize,
    /// Number of processors in the complete shells inside the outermost shell.
    pub inner: usize,
    /// Number of processors in all shells, including the outermost shell.
    pub within: usize,
}

/// The reaches of all centres for one request. The reaches are computed for 16 centres at a time.
///
/// The outermost shells of two neighbouring centres differ by at most one. The search for the outermost shell of a
/// centre therefore begins just below the outermost shells of the previous row, and continues diamond by diamond.
#[derive(Debug)]
pub struct Reaches {
    pitch: usize,
    outermost: Vec<u16>,
    inner: Vec<u16>,
    within: Vec<u16>,
}

impl Reaches {
    /// Creates a table for the centres of a mesh.
    pub fn new(counts: &DiamondCounts) -> Self {
        let pitch = counts.height().next_multiple_of(LANES);
        let entries = counts.width() * pitch;
        let [outermost, inner, within] = [(); 3].map(|()| vec![0; entries]);
        Self { pitch, outermost, inner, within }
    }

    /// Computes the reaches for `size` processors. `size` must be less than the number of free processors. If
    /// `free_only`, the reaches of busy centres are undefined.
    pub fn compute(&mut self, counts: &DiamondCounts, size: u16, free_only: bool) {
        for lane in (0..counts.height()).step_by(LANES) {
            let lanes = LANES.min(counts.height() - lane);
            // Lower bound of the reach of every centre of the row.
            let mut at_least = smallest_reach(size);
            for x in 0..counts.width() {
                let free = counts.free_lanes(x, lane).map(u64::to_le_bytes);
                let wanted = std::array::from_fn(|i| {
                    u16::from(i < lanes && (!free_only || free[i / 8][i % 8] == 1))
                });
                if wanted.contains(&1) {
                    let [outermost, inner, within] =
                        reach(counts, x, lane, &wanted, at_least, size);
                    let at = x * self.pitch + lane;
                    self.outermost[at..at + LANES].copy_from_slice(&outermost);
                    self.inner[at..at + LANES].copy_from_slice(&inner);
                    self.within[at..at + LANES].copy_from_slice(&within);
                    let least = outermost[..lanes].iter().fold(u16::MAX, |least, &l| least.min(l));
                    at_least = at_least.max(usize::from(least));
                }
                at_least = at_least.saturating_sub(1).max(smallest_reach(size));
            }
        }
    }

    /// Returns the outermost shell of a centre.
    #[inline]
    pub fn outermost(&self, x: usize, y: usize) -> usize {
        usize::from(self.outermost[x * self.pitch + y])
    }

    /// Returns the reach of a centre.
    #[inline]
    pub fn of(&self, x: usize, y: usize) -> DistanceReach {
        let at = x * self.pitch + y;
        let [outermost, inner, within] =
            [&self.outermost, &self.inner, &self.within].map(|table| usize::from(table[at]));
        DistanceReach { outermost, inner, within }
    }
}

/// Returns the smallest radius r at which a diamond can hold `size` processors. A diamond has 2 r^2 + 2 r + 1
/// positions.
fn smallest_reach(size: u16) -> usize {
    let mut radius = 0;
    while 2 * radius * (radius + 1) + 1 < usize::from(size) {
        radius += 1;
    }
    radius
}

/// Returns, for 16 centres, the outermost shell, the number of processors inside the outermost shell, and the number of
/// processors inside or in the outermost shell. The outermost shells must be at least `at_least`. For unwanted centres
/// the outermost shell is only a lower bound.
#[inline(always)]
fn reach(
    counts: &DiamondCounts,
    x: usize,
    lane: usize,
    wanted: &[u16; LANES],
    at_least: usize,
    size: u16,
) -> [Shorts; 3] {
    let mut inner = at_least.checked_sub(1).map_or([0; LANES], |r| counts.within(x, lane, r));
    let mut outermost = [at_least as u16; LANES];
    let mut filled = [0; LANES];
    let mut radius = at_least;
    loop {
        let within = counts.within(x, lane, radius);
        let mut wanting = 0;
        for i in 0..LANES {
            // A lane is open until its diamond contains enough processors.
            let open = if within[i] < size { u16::MAX } else { 0 };
            outermost[i] = outermost[i].wrapping_sub(open);
            inner[i] = within[i] & open | inner[i] & !open;
            let fills = !open & if filled[i] == 0 { u16::MAX } else { 0 };
            filled[i] |= within[i] & fills;
            wanting |= open & wanted[i];
        }
        if wanting == 0 {
            return [outermost, inner, filled];
        }
        radius += 1;
    }
}
