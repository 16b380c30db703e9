//! Scores of the candidates on any grid of a moderate size.

use super::candidates::{Candidates, LeastPairs, Selection};
use super::sections::Sections;
use super::survey::pairs_of;
use crate::allocator::centre::definition::ShellOrder;
use crate::cancel::{CancelToken, Cancelled};
use crate::machine::{BallCounts, LANES, Machine, Shorts};
use crate::topology::{Axis, Coord, Grid, NodeId};

/// Scores candidates on any grid of a moderate size.
///
/// Radius by radius, 16 neighbouring centres at a time: those whose last shell this is are
/// bounded from the sections of their balls, and only those that no bound rules out are
/// scored processor by processor. A centre whose neighbour reaches one shell less
/// contains the complete shells of that neighbour: if no set that does so can win,
/// neither can the centre's, which needs no bound.
#[derive(Debug)]
pub struct Balls {
    counts: BallCounts,
    grid: Grid,
    /// The processor of each entry of the counts.
    nodes: Vec<NodeId>,
    sections: Sections,
    shell: LastShell,
    least: LeastPairs,
    /// By entry: one more than the place in candidate order, 0 for none, and for those done.
    waiting: Vec<u32>,
    /// By entry: all bits as long as it waits.
    wanted: Vec<u16>,
    /// By entry: one more than the outermost shell if it is excluded, else 0.
    excluded_beyond: Vec<u16>,
}

/// The candidates of 16 lanes whose last shell is the same.
struct Due {
    at: usize,
    last: usize,
    inner: Shorts,
    /// Places in candidate order.
    places: [Option<usize>; LANES],
}

impl Balls {
    /// `None` if the tables for `grid` would be too large.
    pub fn new(grid: &Grid, order: ShellOrder) -> Option<Self> {
        let counts = BallCounts::new(grid)?;
        let entries = counts.extent(0) * counts.extent(1) * counts.pitch();
        let mut nodes = vec![NodeId(u32::MAX); entries];
        for (coord, node) in grid.coords().into_iter().zip(0..) {
            nodes[counts.at(coord)] = NodeId(node);
        }
        Some(Self {
            counts,
            grid: grid.clone(),
            nodes,
            sections: Sections::default(),
            shell: LastShell::new(grid, order),
            least: LeastPairs::new(grid),
            waiting: Vec::new(),
            wanted: Vec::new(),
            excluded_beyond: Vec::new(),
        })
    }

    /// Forgets the machine seen last.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Enters the score of every candidate that can matter.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is raised.
    pub fn compete(
        &mut self,
        machine: &Machine,
        candidates: &Candidates,
        size: usize,
        selection: &mut Selection,
        stop: &CancelToken,
    ) -> Result<(), Cancelled> {
        self.counts.update(machine, candidates.coords());
        self.enqueue(candidates);
        let mut waiting = candidates.len();
        let mut radius = 0;
        while waiting > 0 {
            stop.check()?;
            self.counts.reach(radius);
            for at in (0..self.wanted.len()).step_by(LANES) {
                let Some(due) = self.due(at, radius, size) else { continue };
                stop.check()?;
                waiting -= due.places.iter().flatten().count();
                self.score_due(candidates, size, selection, due);
            }
            radius += 1;
        }
        Ok(())
    }

    fn enqueue(&mut self, candidates: &Candidates) {
        let entries = self.nodes.len();
        for table in [&mut self.wanted, &mut self.excluded_beyond] {
            table.clear();
            table.resize(entries, 0);
        }
        self.waiting.clear();
        self.waiting.resize(entries, 0);
        for index in 0..candidates.len() {
            let at = self.counts.at(candidates.centre(index));
            self.waiting[at] = index as u32 + 1;
            self.wanted[at] = u16::MAX;
        }
    }

    /// The candidates among 16 whose last shell is at `radius`; they wait no longer.
    fn due(&mut self, at: usize, radius: usize, size: usize) -> Option<Due> {
        let wanted = &mut self.wanted[at..at + LANES];
        let within = self.counts.within(radius, at);
        let mut any = 0;
        let mut reached = [0u16; LANES];
        for i in 0..LANES {
            let enough = if within[i] >= size as u16 { u16::MAX } else { 0 };
            reached[i] = wanted[i] & enough;
            any |= reached[i];
        }
        if any == 0 {
            return None;
        }
        let mut places = [None; LANES];
        for i in 0..LANES {
            if reached[i] != 0 {
                wanted[i] = 0;
                places[i] = Some(self.waiting[at + i] as usize - 1);
            }
        }
        let inner = match radius {
            0 => [0; LANES],
            _ => self.counts.within(radius - 1, at),
        };
        Some(Due { at, last: radius, inner, places })
    }

    /// Enters those of 16 candidates that can matter.
    fn score_due(
        &mut self,
        candidates: &Candidates,
        size: usize,
        selection: &mut Selection,
        mut due: Due,
    ) {
        let Due { at, last, inner, .. } = due;
        for (i, place) in due.places.iter_mut().enumerate() {
            if place.is_some() && self.is_beyond_excluded(at + i, last) {
                *place = None;
                self.excluded_beyond[at + i] = last as u16 + 1;
            }
        }
        if due.places == [None; LANES] {
            return;
        }
        let row = at / self.counts.pitch();
        let of_row = [row / self.counts.extent(1), row % self.counts.extent(1)];
        let lane = at % self.counts.pitch();
        self.sections.cut(&self.counts, [of_row[0], of_row[1], lane], last);
        let longest = *self.grid.axes().map(|axis| axis.extent).iter().max().unwrap_or(&1);
        // The largest possible sum of one dimension.
        let most = (size as u64).pow(2) / 4 * u64::from(longest);
        let pairs = if most <= u64::from(u32::MAX) {
            self.sections.pairs::<u32>(&inner)
        } else {
            self.sections.pairs::<u64>(&inner)
        };
        let Self { least, excluded_beyond, .. } = self;
        let mut exclude = |due: &mut Due, at_least: &dyn Fn(usize, usize) -> u64| {
            let mut any = false;
            for (i, place) in due.places.iter_mut().enumerate() {
                let Some(index) = *place else { continue };
                let need = size - usize::from(due.inner[i]);
                let at_least = at_least(i, need);
                if at_least + least.anywhere(need) > selection.limit() {
                    excluded_beyond[at + i] = last as u16 + 1;
                    *place = None;
                } else if !selection.is_open(at_least + least.in_shell(last, need), index) {
                    *place = None;
                } else {
                    any = true;
                }
            }
            any
        };
        if !exclude(&mut due, &|i, _| pairs[i]) {
            return;
        }
        self.sections.weigh(&inner);
        let least_cost = self.sections.least_cost();
        if !exclude(&mut due, &|i, need| pairs[i] + need as u64 * u64::from(least_cost[i])) {
            return;
        }
        for (i, place) in due.places.iter().enumerate() {
            let Some(index) = *place else { continue };
            let need = size - usize::from(inner[i]);
            let Self { counts, sections, shell, nodes, least, .. } = &mut *self;
            let (coords, from) = (candidates.coords(), [of_row[0], of_row[1], lane + i]);
            shell.gather(counts, sections, nodes, coords, from, last);
            let costs = shell.least_costs(need);
            if selection.is_open(pairs[i] + costs + least.in_shell(last, need), index) {
                selection.enter(pairs[i] + shell.take(candidates, index, need), index);
            }
        }
    }

    /// Whether a neighbour that reaches one shell less is excluded.
    fn is_beyond_excluded(&self, at: usize, last: usize) -> bool {
        let last = last as u16;
        if last == 0 {
            return false;
        }
        let mut found = false;
        self.grid.for_neighbours(self.nodes[at], |near| {
            found |= self.excluded_beyond[self.counts.at(self.grid.coord(near))] == last;
        });
        found
    }
}

/// The last shell around one centre of any grid.
#[derive(Debug)]
struct LastShell {
    grid: Grid,
    order: ShellOrder,
    /// By dimension: positions that the shell may reach.
    places: [Vec<Place>; 3],
    /// Free processors and the sums of their distances to the complete shells, in scan order.
    members: Vec<Member>,
    costs: Vec<u32>,
    part: Vec<Member>,
    undecided: Undecided,
    /// The dimension along which candidates follow each other.
    along: usize,
    histograms: [Vec<u32>; 3],
}

/// A position of one dimension, its distance from the centre's, and its part of the sum of
/// distances to the complete shells.
#[derive(Clone, Copy, Debug)]
struct Place {
    distance: usize,
    place: usize,
    cost: u32,
}

/// A free processor, where it is, and the sum of its distances to the complete shells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    node: NodeId,
    coord: Coord,
    cost: u32,
}

impl LastShell {
    /// Shells on `grid`, of which parts are taken in `order`.
    fn new(grid: &Grid, order: ShellOrder) -> Self {
        let around = |axis: Axis| if axis.wrapped { axis.extent as i16 } else { 0 };
        Self {
            grid: grid.clone(),
            order,
            places: Default::default(),
            members: Vec::new(),
            costs: Vec::new(),
            part: Vec::new(),
            undecided: Undecided::new(grid.axes().map(around)),
            along: grid.dimensions() - 1,
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Gathers the shell `last` around the centre at `from`, which is in one of the lanes of the sections.
    fn gather(
        &mut self,
        counts: &BallCounts,
        sections: &Sections,
        nodes: &[NodeId],
        coords: &[Coord],
        from: [usize; 3],
        last: usize,
    ) {
        let i = from[2] % LANES;
        for (dimension, places) in self.places.iter_mut().enumerate() {
            let [behind, ahead] = sections.span(dimension);
            let extent = counts.extent(dimension) as isize;
            let wrapped = counts.axes()[dimension].wrapped;
            places.clear();
            places.extend((-behind..=ahead).filter_map(|offset| {
                // No offset is longer than once around.
                let target = from[dimension] as isize + offset;
                let inside = (0..extent).contains(&target);
                let turn = if target < 0 { extent } else { -extent };
                let place = if inside { target } else { target + turn } as usize;
                let cost = sections.term(dimension, offset, i);
                (inside || wrapped).then_some(Place {
                    distance: offset.unsigned_abs(),
                    place,
                    cost,
                })
            }));
        }
        // The place after the centre's.
        let middle = self.places[2].iter().position(|place| place.distance == 0).unwrap_or(0);
        self.members.clear();
        for x in &self.places[0] {
            let Some(last) = last.checked_sub(x.distance) else { continue };
            for y in &self.places[1] {
                let Some(rest) = last.checked_sub(y.distance) else { continue };
                let row = (x.place * counts.extent(1) + y.place) * counts.pitch();
                let before = middle.checked_sub(rest).filter(|_| rest > 0);
                for z in before.into_iter().chain([middle + rest]) {
                    let Some(z) = self.places[2].get(z) else { continue };
                    if counts.is_free(row + z.place) {
                        let node = nodes[row + z.place];
                        let cost = x.cost + y.cost + z.cost;
                        self.members.push(Member { node, coord: coords[node.index()], cost });
                    }
                }
            }
        }
    }

    /// Returns the sum of the `need` lowest costs, at least one.
    fn least_costs(&mut self, need: usize) -> u64 {
        self.costs.clear();
        self.costs.extend(self.members.iter().map(|member| member.cost));
        if need < self.costs.len() {
            self.costs.select_nth_unstable(need);
        }
        self.costs[..need].iter().map(|&cost| u64::from(cost)).sum()
    }

    /// Returns what the `need` processors taken of the shell around a candidate add to the score.
    fn take(&mut self, candidates: &Candidates, index: usize, need: usize) -> u64 {
        self.members.sort_unstable();
        self.part.clear();
        if self.order == ShellOrder::Carried {
            self.narrow(candidates, index, need);
        } else {
            self.part.extend_from_slice(&self.members[..need]);
        }
        self.histograms.iter_mut().for_each(|histogram| histogram.fill(0));
        let mut sum = 0;
        for member in &self.part {
            sum += u64::from(member.cost);
            for (histogram, position) in self.histograms.iter_mut().zip(member.coord) {
                histogram[usize::from(position)] += 1;
            }
        }
        sum + pairs_of(&self.grid, &self.histograms)
    }

    /// Takes `need` of the members in the carried order. AtomicFile lines of earlier candidates that distinguish none of the
    /// members are skipped.
    fn narrow(&mut self, candidates: &Candidates, index: usize, mut need: usize) {
        let Self { undecided, members, part, along, .. } = self;
        undecided.start(members.iter().map(|member| member.coord));
        let is_decided =
            |undecided: &Undecided, need| need == 0 || need == undecided.numbers().len();
        let mut at = index;
        // Where the line begins that the candidates before `at` are on, while it may distinguish members.
        let mut line = index;
        while at > 0 && !is_decided(undecided, need) {
            let centre = candidates.centre(at - 1);
            if at == line {
                line = candidates.first_of_line(at - 1);
                if undecided.ties_all(centre, *along) {
                    at = line;
                    continue;
                }
            }
            at -= 1;
            let before = undecided.numbers().len();
            need = undecided.narrow(centre, need, |number| part.push(members[number]));
            if undecided.numbers().len() < before && undecided.ties_all(centre, *along) {
                at = line;
            }
        }
        let rest = &undecided.numbers()[..need];
        part.extend(rest.iter().map(|&number| members[number as usize]));
    }
}

/// Positions that are processed together.
const TOGETHER: usize = 8;

/// Processors of a shell of which only some are taken, while the carried order decides which.
///
/// Narrows as [`ShellCut::take_by`](crate::allocator::centre::ShellCut::take_by) does. Most earlier centres distinguish
/// none of the processors, so equal distances must be recognised fast: positions are kept by dimension, eight beside each
/// other.
#[derive(Debug)]
struct Undecided {
    /// By dimension, positions; those behind the last are like the first.
    places: [Vec<[i16; TOGETHER]>; 3],
    /// Which processor of the shell each is.
    numbers: Vec<u32>,
    distances: Vec<[i16; TOGETHER]>,
    histogram: Vec<u32>,
    /// By dimension, how long it is if it wraps, else 0.
    around: [i16; 3],
}

impl Undecided {
    /// On a grid whose dimensions are so long if they wrap, else 0.
    fn new(around: [i16; 3]) -> Self {
        Self {
            places: [(); 3].map(|()| Vec::new()),
            numbers: Vec::new(),
            distances: Vec::new(),
            histogram: Vec::new(),
            around,
        }
    }

    /// Begins with a shell, at these positions, less than 16,384 along any dimension.
    fn start(&mut self, shell: impl ExactSizeIterator<Item = Coord>) {
        let count = shell.len();
        self.numbers.clear();
        self.numbers.extend(0..count as u32);
        for places in &mut self.places {
            places.clear();
            places.resize(count.div_ceil(TOGETHER), [0; TOGETHER]);
        }
        for (i, position) in shell.enumerate() {
            for (places, place) in self.places.iter_mut().zip(position) {
                places[i / TOGETHER][i % TOGETHER] = place as i16;
            }
        }
        self.fill_up();
    }

    /// The undecided processors, by number in the shell, in its order.
    fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Of `need` processors to take, fewer than are undecided, takes those nearer to an earlier centre than the last of
    /// them, and drops those farther away. Returns how many of the others are still to be taken.
    fn narrow(&mut self, centre: Coord, mut need: usize, mut take: impl FnMut(usize)) -> usize {
        let [least, most] = self.measure(0..3, centre);
        if least == most {
            return need;
        }
        let cut = self.distance_at_cut([least, most], need);
        let distances = self.distances.as_flattened();
        let mut kept = 0;
        for i in 0..self.numbers.len() {
            let number = self.numbers[i];
            if distances[i] < cut {
                take(number as usize);
                need -= 1;
            } else if distances[i] == cut {
                self.numbers[kept] = number;
                for places in &mut self.places {
                    let places = places.as_flattened_mut();
                    places[kept] = places[i];
                }
                kept += 1;
            }
        }
        self.numbers.truncate(kept);
        self.places.iter_mut().for_each(|places| places.truncate(kept.div_ceil(TOGETHER)));
        self.fill_up();
        need
    }

    /// Whether no centre on the line through this one along a dimension distinguishes any processors: all are at one position
    /// along it, and equally far from it.
    fn ties_all(&mut self, centre: Coord, along: usize) -> bool {
        let first = self.places[along].first().map_or(0, |eight| eight[0]);
        let places = self.places[along].iter().flatten();
        if places.fold(false, |any, &place| any | (place != first)) {
            return false;
        }
        let [least, most] = self.measure((0..3).filter(|&dimension| dimension != along), centre);
        least == most
    }

    /// Distances from a position, along some dimensions; the least of them, and the largest.
    fn measure(&mut self, dimensions: impl Iterator<Item = usize>, from: Coord) -> [i16; 2] {
        let Self { places, distances, around, .. } = self;
        distances.clear();
        distances.resize(places[0].len(), [0; TOGETHER]);
        for dimension in dimensions {
            let (from, around) = (from[dimension] as i16, around[dimension]);
            for (distances, places) in distances.iter_mut().zip(&places[dimension]) {
                for i in 0..TOGETHER {
                    let straight = (places[i] - from).abs();
                    let other = if around > 0 { around - straight } else { straight };
                    distances[i] += straight.min(other);
                }
            }
        }
        let (mut least, mut most) = ([i16::MAX; TOGETHER], [0; TOGETHER]);
        for distances in &*distances {
            for i in 0..TOGETHER {
                least[i] = least[i].min(distances[i]);
                most[i] = most[i].max(distances[i]);
            }
        }
        [least.into_iter().min().unwrap_or(0), most.into_iter().max().unwrap_or(0)]
    }

    /// The distance of the `need`-th nearest, of distances between these.
    fn distance_at_cut(&mut self, [least, most]: [i16; 2], need: usize) -> i16 {
        let Self { distances, numbers, histogram, .. } = self;
        histogram.clear();
        histogram.resize((most - least) as usize + 1, 0);
        for &distance in &distances.as_flattened()[..numbers.len()] {
            histogram[(distance - least) as usize] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u32| {
            below += count as usize;
            below >= need
        };
        least + histogram.iter().position(reaches).unwrap_or(0) as i16
    }

    fn fill_up(&mut self) {
        let count = self.numbers.len();
        for places in &mut self.places {
            let places = places.as_flattened_mut();
            if let Some(&first) = places.first() {
                places[count..].fill(first);
            }
        }
    }
}
