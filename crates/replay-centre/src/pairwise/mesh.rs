//! An engine that scores candidates on a 2D mesh: the reach of each centre, bounds of the score of a centre, and the
//! score.

use crate::ShellCut;
use crate::definition::ShellOrder;
use crate::diamond_counts::{DiamondCounts, Shorts};
use crate::pairwise::candidates::{Candidates, LeastPairs, Selection, Verdict};
use replay_engine::machine::{LANES, Machine};
use replay_engine::topology::{Coord, Grid, along_axis};

/// Engine that scores candidates on a 2D mesh without wrap-around.
///
/// Candidates are scored by ascending reach. The first candidates have compact sets with low scores; the bounds of most
/// other candidates exceed these scores and exclude the candidates. Suppose that the outermost shell of a centre is
/// larger by one than the outermost shell of a neighbour. The shells of the centre then contain the complete shells of
/// the neighbour. If no set that contains the complete shells of the neighbour can win, the centre is excluded without
/// computing a bound.
#[derive(Debug)]
pub struct Mesh {
    order: ShellOrder,
    counts: DiamondCounts,
    reaches: Reaches,
    diamond: Diamond,
    /// Candidates, sorted by outermost shell and then in candidate order.
    queue: Vec<u32>,
    /// For each outermost shell, the position of its next candidate in the queue.
    places: Vec<u32>,
    /// For each excluded position, the number of its outermost shell plus one; 0 for all other positions. The table has
    /// a border around the mesh.
    excluded_beyond: Vec<u16>,
    least: LeastPairs,
    carried: CarriedPart,
    complete: CompleteScore,
    part: Vec<[u16; 2]>,
}

impl Mesh {
    /// Creates the engine. Returns `None` unless `grid` is a 2D mesh without wrap-around.
    pub fn new(grid: &Grid, order: ShellOrder) -> Option<Self> {
        let counts = DiamondCounts::new(grid)?;
        Some(Self {
            order,
            reaches: Reaches::new(&counts),
            counts,
            diamond: Diamond::default(),
            queue: Vec::new(),
            places: Vec::new(),
            excluded_beyond: Vec::new(),
            least: LeastPairs::new(grid),
            carried: CarriedPart::default(),
            complete: CompleteScore::default(),
            part: Vec::new(),
        })
    }

    /// Clears the counts of the previous machine.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Computes the score of every candidate that can still win, and enters the score into the
    /// selection.
    pub fn compete(
        &mut self,
        machine: &Machine,
        candidates: &Candidates,
        size: usize,
        selection: &mut Selection,
    ) {
        self.counts.update(machine);
        self.reaches.compute(&self.counts, size as u16, !candidates.may_be_busy());
        self.enqueue(candidates);
        for at in 0..self.queue.len() {
            let index = self.queue[at] as usize;
            let centre = candidates.centre(index);
            let (x, y) = (usize::from(centre[0]), usize::from(centre[1]));
            let reach = self.reaches.of(x, y);
            let pitch = self.counts.height() + 2;
            let here = (x + 1) * pitch + y + 1;
            let neighbours = [here - pitch, here - 1, here + 1, here + pitch];
            let beyond = reach.outermost as u16;
            if beyond > 0 && neighbours.iter().any(|&n| self.excluded_beyond[n] == beyond) {
                self.excluded_beyond[here] = beyond + 1;
                continue;
            }
            let need = size - reach.inner;
            let open = |at_least| selection.is_open(at_least, index);
            let within = self.least.of(reach.outermost, need);
            let decide = |at_least| selection.verdict(at_least, within, index);
            match self.diamond.bound(&self.counts, (x, y), reach, need, decide) {
                Verdict::Open => {}
                Verdict::Closed => continue,
                Verdict::Excluded => {
                    self.excluded_beyond[here] = beyond + 1;
                    continue;
                }
            }
            let window = self.diamond.window;
            let earlier = || candidates.earlier(index);
            let kind = (reach.outermost, need);
            let is_complete = self.order == ShellOrder::Carried
                && self.diamond.complete.is_some()
                && reach.within - reach.inner == 4 * reach.outermost;
            if is_complete && let Some(score) = self.complete.find(kind, centre, window, earlier())
            {
                selection.enter(score, index);
                continue;
            }
            let last = reach.outermost;
            if !self.diamond.is_open(&self.counts, (x, y), last, need, within[1], open) {
                continue;
            }
            let shell = &self.diamond.shell;
            if self.order == ShellOrder::Carried {
                self.carried.take(earlier(), window, shell, need, &mut self.part);
            } else {
                self.part.clear();
                self.part.extend_from_slice(&shell[..need]);
            }
            let score = self.diamond.score(&self.part);
            if is_complete {
                self.complete.store(kind, centre, self.carried.considered(), score);
            }
            selection.enter(score, index);
        }
    }

    fn enqueue(&mut self, candidates: &Candidates) {
        let (width, height) = (self.counts.width(), self.counts.height());
        self.excluded_beyond.clear();
        self.excluded_beyond.resize((width + 2) * (height + 2), 0);
        let outermost = |index: usize| {
            let [x, y, _] = candidates.centre(index).map(usize::from);
            self.reaches.outermost(x, y)
        };
        self.places.clear();
        self.places.resize(width + height, 0);
        for index in 0..candidates.len() {
            self.places[outermost(index) + 1] += 1;
        }
        for shell in 1..self.places.len() {
            self.places[shell] += self.places[shell - 1];
        }
        self.queue.clear();
        self.queue.resize(candidates.len(), 0);
        for index in 0..candidates.len() {
            let place = &mut self.places[outermost(index)];
            self.queue[*place as usize] = index as u32;
            *place += 1;
        }
    }
}

/// Selection of the processors that are taken from a last shell on a 2D mesh, in the carried order.
///
/// The shell is narrowed as in [`ShellCut::take_by`](crate::ShellCut::take_by), with an additional
/// shortcut. An earlier centre outside the window around the shell has the same effect as the nearest position of the
/// window. Compared with the nearest window position, the centre is farther from every processor, always by the same
/// number of steps. In a row of centres, most centres have the same nearest position as the previous centre. A centre
/// whose nearest position equals that of the previous centre is skipped.
#[derive(Debug, Default)]
struct CarriedPart {
    cut: ShellCut<[u16; 2], u16>,
    /// Window positions of the earlier centres that were considered.
    considered: Vec<[u16; 2]>,
    decided: bool,
}

impl CarriedPart {
    /// Replaces `part` by the `need` processors that are taken from `shell`. The shell must be in
    /// scan order and inside `window`. `earlier` are the centres before this centre in candidate
    /// order, the latest first.
    fn take(
        &mut self,
        earlier: impl Iterator<Item = Coord>,
        window: Window,
        shell: &[[u16; 2]],
        need: usize,
        part: &mut Vec<[u16; 2]>,
    ) {
        let Self { cut, considered, .. } = self;
        part.clear();
        considered.clear();
        let earlier = earlier.filter_map(|[x, y, _]| {
            let centre = window.clamp([x, y]);
            let is_new = considered.last() != Some(&centre);
            is_new.then(|| considered.push(centre)).map(|()| centre)
        });
        let distance =
            |centre: &[u16; 2], p: [u16; 2]| centre[0].abs_diff(p[0]) + centre[1].abs_diff(p[1]);
        self.decided = cut.take_by(earlier, distance, shell, need, part);
    }

    /// Returns the window positions that determined the last part. Consecutive positions are
    /// different. Returns `None` if the scan order determined the part.
    fn considered(&self) -> Option<&[[u16; 2]]> {
        self.decided.then_some(&self.considered)
    }
}

/// The score around a centre whose shells, including the last shell, are entirely free and on the
/// mesh.
///
/// All centres whose shells are entirely free and on the mesh have identical surroundings. The score around such a
/// centre depends only on the earlier centres that determined the part, namely on their positions relative to the
/// centre. If these relative positions are equal for two centres, their scores are equal. On an empty machine, the
/// shells of most centres are entirely free and on the mesh.
#[derive(Debug, Default)]
struct CompleteScore {
    /// Shell number, number of processors that are needed from this shell, and the score.
    last: Option<(usize, usize, u64)>,
    /// The positions that were considered, relative to the centre.
    considered: Vec<[i32; 2]>,
}

impl CompleteScore {
    /// Returns the score around `centre`; `None` if it is not known. `earlier` are the centres
    /// before this centre in candidate order, the latest first.
    fn find(
        &self,
        (outermost, need): (usize, usize),
        centre: Coord,
        window: Window,
        earlier: impl Iterator<Item = Coord>,
    ) -> Option<u64> {
        let (_, _, score) = self.last.filter(|&(l, n, _)| (l, n) == (outermost, need))?;
        let mut expected = self.considered.iter().peekable();
        let mut before = None;
        for [x, y, _] in earlier {
            let Some(&&next) = expected.peek() else { break };
            let seen = window.clamp([x, y]);
            if before.replace(seen) == Some(seen) {
                continue;
            }
            if from(centre, seen) != next {
                return None;
            }
            expected.next();
        }
        expected.next().is_none().then_some(score)
    }

    /// Stores a score and the positions `considered` for it. If `considered` is `None`, stores no
    /// score, because a further position could have changed the score.
    fn store(
        &mut self,
        (outermost, need): (usize, usize),
        centre: Coord,
        considered: Option<&[[u16; 2]]>,
        score: u64,
    ) {
        self.last = considered.map(|_| (outermost, need, score));
        self.considered.clear();
        self.considered.extend(considered.into_iter().flatten().map(|&seen| from(centre, seen)));
    }
}

fn from(centre: Coord, seen: [u16; 2]) -> [i32; 2] {
    [0, 1].map(|axis| i32::from(seen[axis]) - i32::from(centre[axis]))
}

/// The diamond around one centre of a 2D mesh, and bounds of the score of this centre.
///
/// Let S be the complete shells, and P the part that is taken from the last shell. The score is
///
/// ```text
/// pair(S) + sum over p in P of D(p) + pair(P)
/// ```
///
/// In the formula for the score, D(p), the *cost* of p, is the sum of the distances from p to all processors of S. All
/// terms are computed from the number of processors of S in each row and column. The term pair(S) is a sum over the
/// cuts between rows and between columns; D is the sum of a term that depends on x and a term that depends on y.
#[derive(Debug, Default)]
struct Diamond {
    window: Window,
    /// Free processors of the shell, in scan order.
    shell: Vec<[u16; 2]>,
    /// Cost of each processor of the shell.
    costs: Vec<u32>,
    /// Number of processors of the complete shells S in each row of the window. The number is later replaced by the x
    /// term of D.
    by_x: Vec<u32>,
    /// Number of processors of the complete shells S in each column of the window. The number is later replaced by the
    /// y term of D.
    by_y: Vec<u32>,
    histogram: Vec<u32>,
    pairs: u64,
    /// Smallest cost D of all positions in the last shell or beyond this shell.
    least_cost: u64,
    /// Shell number if the diamond is complete, that is, if S contains all positions of its shells and the last shell
    /// is entirely on the mesh. All complete diamonds of one shell number are identical.
    complete: Option<usize>,
}

impl Diamond {
    /// Computes bounds of the score of the centre (x, y), whose set has `need` processors in addition to the complete
    /// shells. `decide` returns the verdict on a bound without the distances within the part. The cheapest bound is
    /// computed first. The method returns as soon as a bound determines the verdict.
    fn bound(
        &mut self,
        counts: &DiamondCounts,
        (x, y): (usize, usize),
        reach: DistanceReach,
        need: usize,
        decide: impl Fn(u64) -> Verdict,
    ) -> Verdict {
        let DistanceReach { outermost: last, inner, .. } = reach;
        self.window = Window::new(counts, (x, y), last);
        let complete =
            (inner == positions_before(last) && self.window.has_all(last)).then_some(last);
        if complete.is_none() || complete != self.complete {
            self.complete = None;
            let strip = |row, reach| counts.strip_y(row, y, reach);
            self.pairs = cuts(&mut self.by_x, last, x, self.window.x, inner, strip);
            let strip = |column, reach| counts.strip_x(x, column, reach);
            self.pairs += cuts(&mut self.by_y, last, y, self.window.y, inner, strip);
            match decide(self.pairs) {
                Verdict::Open => {}
                verdict => return verdict,
            }
            costs(&mut self.by_x, inner as u32);
            costs(&mut self.by_y, inner as u32);
            self.least_cost = self.find_least_cost(x, y, last);
            self.complete = complete;
        }
        decide(self.pairs + need as u64 * self.least_cost)
    }

    /// Computes a tighter bound after [`bound`](Self::bound) has returned [`Verdict::Open`]. Returns whether the score
    /// can still be `open` if the part is taken from the last shell of this centre. `in_shell` is a lower bound of the
    /// pairwise sum of the part. The tighter bound does not apply to other sets that contain the complete shells.
    fn is_open(
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

    /// Returns the smallest cost D of all positions in the last shell, free or not. No position beyond the shell has a
    /// smaller cost D. Reason: consider the two steps, in x and in y, from a position outside S towards the centre. At
    /// least one of these two steps does not increase D. If both steps increased D, more than half of S would be beyond
    /// the position in x, and more than half in y. Some processor of S would then be beyond the position in both
    /// directions.
    fn find_least_cost(&self, x: usize, y: usize, last: usize) -> u64 {
        let [left, right] = self.window.y.map(usize::from);
        let mut least = u32::MAX;
        for (row, &cost) in (usize::from(self.window.x[0])..).zip(&self.by_x) {
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
        let left = usize::from(self.window.y[0]);
        self.shell.clear();
        self.costs.clear();
        for (row, &cost) in (usize::from(self.window.x[0])..).zip(&self.by_x) {
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

    /// Returns the score if `part` is taken from the last shell. Call this after [`is_open`](Self::is_open).
    fn score(&mut self, part: &[[u16; 2]]) -> u64 {
        let rows = self.by_x.len();
        let mut sum = self.pairs;
        self.histogram.clear();
        self.histogram.resize(rows + self.by_y.len(), 0);
        for p in part {
            let [row, column] = [p[0] - self.window.x[0], p[1] - self.window.y[0]].map(usize::from);
            sum += u64::from(self.by_x[row]) + u64::from(self.by_y[column]);
            self.histogram[row] += 1;
            self.histogram[rows + column] += 1;
        }
        let along = |histogram: &[u32]| along_axis(histogram, false, part.len());
        sum + along(&self.histogram[..rows]) + along(&self.histogram[rows..])
    }
}

/// Returns the number of positions nearer than shell `last`.
fn positions_before(last: usize) -> usize {
    2 * last * last.saturating_sub(1) + usize::from(last > 0)
}

/// Fills in the strips from `first` to `end` of a diamond of radius `last` - 1 around `centre`. The strips are at most
/// `last` away from the centre. Returns the sum of the distances along this axis over all pairs of processors of the
/// diamond, which contains `all` processors. The sum is computed over the cuts between neighbouring strips: each cut
/// adds the number of pairs that it separates.
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

/// The rows and columns of the mesh that a diamond reaches, given as the first and last row and the first and last
/// column.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    x: [u16; 2],
    y: [u16; 2],
}

impl Window {
    /// Returns the window of the diamond of this radius around (x, y).
    fn new(counts: &DiamondCounts, (x, y): (usize, usize), radius: usize) -> Self {
        let span = |centre: usize, extent: usize| {
            [centre.saturating_sub(radius) as u16, (centre + radius).min(extent - 1) as u16]
        };
        Self { x: span(x, counts.width()), y: span(y, counts.height()) }
    }

    /// Returns whether a shell of this radius is entirely on the mesh.
    fn has_all(self, radius: usize) -> bool {
        let long = |span: [u16; 2]| usize::from(span[1] - span[0]) == 2 * radius;
        long(self.x) && long(self.y)
    }

    /// Returns the position of the window nearest to (x, y).
    #[inline]
    fn clamp(self, [x, y]: [u16; 2]) -> [u16; 2] {
        [x.clamp(self.x[0], self.x[1]), y.clamp(self.y[0], self.y[1])]
    }
}

/// Extent of the shells around a centre that contain the requested number of processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct DistanceReach {
    /// Shell number of the outermost processor that is taken.
    outermost: usize,
    /// Number of processors in the complete shells inside the outermost shell.
    inner: usize,
    /// Number of processors in all shells, including the outermost shell.
    within: usize,
}

/// The reaches of all centres for one request. The reaches are computed for 16 centres at a time.
///
/// The outermost shells of two neighbouring centres differ by at most one. The search for the outermost shell of a
/// centre therefore begins just below the outermost shells of the previous row, and continues diamond by diamond.
#[derive(Debug)]
struct Reaches {
    pitch: usize,
    outermost: Vec<u16>,
    inner: Vec<u16>,
    within: Vec<u16>,
}

impl Reaches {
    /// Creates a table for the centres of a mesh.
    fn new(counts: &DiamondCounts) -> Self {
        let pitch = counts.height().next_multiple_of(LANES);
        let entries = counts.width() * pitch;
        let [outermost, inner, within] = [(); 3].map(|()| vec![0; entries]);
        Self { pitch, outermost, inner, within }
    }

    /// Computes the reaches for `size` processors. `size` must be less than the number of free processors. If
    /// `free_only` is set, the reaches of busy centres are undefined.
    fn compute(&mut self, counts: &DiamondCounts, size: u16, free_only: bool) {
        for lane in (0..counts.height()).step_by(LANES) {
            let lanes = LANES.min(counts.height() - lane);
            // Lower bound of the reach of every centre of the row.
            let mut at_least = smallest_reach(size);
            for x in 0..counts.width() {
                let free = counts.free_lanes(x, lane);
                let wanted =
                    std::array::from_fn(|i| u16::from(i < lanes && (!free_only || free[i] == 1)));
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
    fn outermost(&self, x: usize, y: usize) -> usize {
        usize::from(self.outermost[x * self.pitch + y])
    }

    /// Returns the reach of a centre.
    #[inline]
    fn of(&self, x: usize, y: usize) -> DistanceReach {
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
/// processors inside or in the outermost shell. The outermost shells must be at least `at_least`. For unwanted centres,
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
