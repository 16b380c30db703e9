//! An engine that scores candidates on any grid of moderate size.

use crate::ball_counts::BallCounts;
use crate::definition::ShellOrder;
use crate::diamond_counts::Shorts;
use crate::pairwise::candidates::{Candidates, LeastPairs, Selection, Verdict};
use crate::pairwise::pairs_of;
use crate::pairwise::sections::Sections;
use crate::shell::nth_smallest;
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::{LANES, Machine};
use replay_engine::topology::{Axis, Coord, Grid, NodeId};

/// Engine that scores candidates on any grid of moderate size.
///
/// For each radius, the centres whose last shell has this radius are processed, 16 neighbouring centres at a time. The
/// sections of the balls around these centres give lower bounds of the scores. A centre is scored processor by
/// processor only if no bound excludes it. Suppose that the outermost shell of a centre is larger by one than the
/// outermost shell of a neighbour. The shells of the centre then contain the complete shells of the neighbour. If no
/// set that contains the complete shells of the neighbour can win, the centre is excluded without computing a bound.
#[derive(Debug)]
pub struct Balls {
    counts: BallCounts,
    grid: Grid,
    /// Processor of each entry of the counts.
    nodes: Vec<NodeId>,
    sections: Sections,
    shell: LastShell,
    least: LeastPairs,
    /// For each entry, its position in candidate order plus one; 0 if the entry has no candidate.
    waiting: Vec<u32>,
    /// For each entry, a mask: all bits are set if the entry has a candidate that is not yet finished.
    wanted: Vec<u16>,
    /// For each entry, the number of the outermost shell plus one if the entry is excluded, otherwise 0.
    excluded_beyond: Vec<u16>,
}

/// The candidates of 16 lanes that have the same last shell.
struct Due {
    at: usize,
    last: usize,
    inner: Shorts,
    /// Positions in candidate order.
    positions: [Option<usize>; LANES],
}

impl Balls {
    /// Creates the engine. Returns `None` if the tables for `grid` would be too large.
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

    /// Clears the counts of the previous machine.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Computes the score of every candidate that can still win, and enters the score into the selection.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
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
                waiting -= due.positions.iter().flatten().count();
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

    /// Examines 16 candidates. Returns the candidates whose last shell has this radius, and marks them as finished.
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
        let mut positions = [None; LANES];
        for i in 0..LANES {
            if reached[i] != 0 {
                wanted[i] = 0;
                positions[i] = Some(self.waiting[at + i] as usize - 1);
            }
        }
        let inner = match radius {
            0 => [0; LANES],
            _ => self.counts.within(radius - 1, at),
        };
        Some(Due { at, last: radius, inner, positions })
    }

    /// Enters the scores of 16 candidates; scores that cannot matter are omitted.
    fn score_due(
        &mut self,
        candidates: &Candidates,
        size: usize,
        selection: &mut Selection,
        mut due: Due,
    ) {
        let Due { at, last, inner, .. } = due;
        for (i, position) in due.positions.iter_mut().enumerate() {
            if position.is_some() && self.is_beyond_excluded(at + i, last) {
                *position = None;
                self.excluded_beyond[at + i] = last as u16 + 1;
            }
        }
        if due.positions == [None; LANES] {
            return;
        }
        let row = at / self.counts.pitch();
        let of_row = [row / self.counts.extent(1), row % self.counts.extent(1)];
        let lane = at % self.counts.pitch();
        self.sections.cut(&self.counts, [of_row[0], of_row[1], lane], last);
        let longest = *self.grid.axes().map(|axis| axis.extent).iter().max().unwrap_or(&1);
        // The largest possible sum of distances along one dimension.
        let most = (size as u64).pow(2) / 4 * u64::from(longest);
        let pairs = if most <= u64::from(u32::MAX) {
            self.sections.pairs::<u32>(&inner)
        } else {
            self.sections.pairs::<u64>(&inner)
        };
        let Self { least, excluded_beyond, .. } = self;
        let mut exclude = |due: &mut Due, at_least: &dyn Fn(usize, usize) -> u64| {
            let mut any = false;
            for (i, position) in due.positions.iter_mut().enumerate() {
                let Some(index) = *position else { continue };
                let need = size - usize::from(due.inner[i]);
                match selection.verdict(at_least(i, need), least.of(last, need), index) {
                    Verdict::Open => {
                        any = true;
                        continue;
                    }
                    Verdict::Closed => {}
                    Verdict::Excluded => excluded_beyond[at + i] = last as u16 + 1,
                }
                *position = None;
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
        for (i, position) in due.positions.iter().enumerate() {
            let Some(index) = *position else { continue };
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

    /// Returns whether there is an excluded neighbour with the outermost shell `last` - 1.
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
    /// Positions that the shell may contain, by dimension.
    positions: [Vec<Place>; 3],
    /// Free processors in scan order, each with the sum of its distances to the complete shells.
    members: Vec<Member>,
    costs: Vec<u32>,
    part: Vec<Member>,
    undecided: Undecided,
    /// Dimension along which consecutive candidates are adjacent.
    along: usize,
    histograms: [Vec<u32>; 3],
}

/// A position in one dimension, its distance from the centre, and the contribution of this dimension to the sum of
/// distances to the complete shells.
#[derive(Clone, Copy, Debug)]
struct Place {
    distance: usize,
    position: usize,
    cost: u32,
}

/// A free processor, its coordinates, and the sum of its distances to the complete shells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    node: NodeId,
    coord: Coord,
    cost: u32,
}

impl LastShell {
    /// Creates shells on `grid`. Processors are taken from the shells in `order`.
    fn new(grid: &Grid, order: ShellOrder) -> Self {
        let around = |axis: Axis| if axis.wrapped { axis.extent as i16 } else { 0 };
        Self {
            grid: grid.clone(),
            order,
            positions: Default::default(),
            members: Vec::new(),
            costs: Vec::new(),
            part: Vec::new(),
            undecided: Undecided::new(grid.axes().map(around)),
            along: grid.dimensions() - 1,
            histograms: [0, 1, 2].map(|axis| vec![0; grid.extent(axis)]),
        }
    }

    /// Gathers the shell `last` around the centre at `from`. The centre must be in one of the lanes of the sections.
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
        for (dimension, positions) in self.positions.iter_mut().enumerate() {
            let [behind, ahead] = sections.span(dimension);
            let extent = counts.extent(dimension) as isize;
            let wrapped = counts.axes()[dimension].wrapped;
            positions.clear();
            positions.extend((-behind..=ahead).filter_map(|offset| {
                // No offset is longer than the extent.
                let target = from[dimension] as isize + offset;
                let inside = (0..extent).contains(&target);
                let turn = if target < 0 { extent } else { -extent };
                let position = if inside { target } else { target + turn } as usize;
                let cost = sections.term(dimension, offset, i);
                (inside || wrapped).then_some(Place {
                    distance: offset.unsigned_abs(),
                    position,
                    cost,
                })
            }));
        }
        // Index of the centre's position.
        let middle =
            self.positions[2].iter().position(|position| position.distance == 0).unwrap_or(0);
        self.members.clear();
        for x in &self.positions[0] {
            let Some(last) = last.checked_sub(x.distance) else { continue };
            for y in &self.positions[1] {
                let Some(rest) = last.checked_sub(y.distance) else { continue };
                let row = (x.position * counts.extent(1) + y.position) * counts.pitch();
                let before = middle.checked_sub(rest).filter(|_| rest > 0);
                for z in before.into_iter().chain([middle + rest]) {
                    let Some(z) = self.positions[2].get(z) else { continue };
                    if counts.is_free(row + z.position) {
                        let node = nodes[row + z.position];
                        let cost = x.cost + y.cost + z.cost;
                        self.members.push(Member { node, coord: coords[node.index()], cost });
                    }
                }
            }
        }
    }

    /// Returns the sum of the `need` lowest costs; `need` is at least one.
    fn least_costs(&mut self, need: usize) -> u64 {
        self.costs.clear();
        self.costs.extend(self.members.iter().map(|member| member.cost));
        if need < self.costs.len() {
            self.costs.select_nth_unstable(need);
        }
        self.costs[..need].iter().map(|&cost| u64::from(cost)).sum()
    }

    /// Returns the increase of the score that is caused by the `need` processors taken from the shell around a
    /// candidate.
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
        sum + pairs_of(&self.grid, &self.histograms, need)
    }

    /// Takes `need` members in the carried order. A whole line of earlier candidates is skipped if each of these
    /// candidates has the same distance to all undecided members.
    fn narrow(&mut self, candidates: &Candidates, index: usize, mut need: usize) {
        let Self { undecided, members, part, along, .. } = self;
        undecided.start(members.iter().map(|member| member.coord));
        let is_decided = |undecided: &Undecided, need| need == 0 || need == undecided.numbers.len();
        let mut at = index;
        // First candidate of the line on which the candidates just before `at` are.
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
            let before = undecided.numbers.len();
            need = undecided.narrow(centre, need, |number| part.push(members[number]));
            if undecided.numbers.len() < before && undecided.ties_all(centre, *along) {
                at = line;
            }
        }
        let rest = &undecided.numbers[..need];
        part.extend(rest.iter().map(|&number| members[number as usize]));
    }
}

/// Number of positions that are processed together.
const GROUP: usize = 8;

/// Processors of a partly used shell that the carried order has not yet taken or dropped.
///
/// The shell is narrowed as in [`ShellCut::take_by`](crate::ShellCut::take_by). Most earlier centres
/// have the same distance to all undecided processors, so equal distances must be recognised fast. Positions are
/// therefore stored by dimension, in groups of eight.
#[derive(Debug)]
struct Undecided {
    /// Positions by dimension. Unused entries after the last position repeat the first position.
    positions: [Vec<[i16; GROUP]>; 3],
    /// Index of each processor in the shell, in ascending order.
    numbers: Vec<u32>,
    distances: Vec<[i16; GROUP]>,
    histogram: Vec<u32>,
    /// Extent of each wrapped dimension; 0 for all other dimensions.
    around: [i16; 3],
}

impl Undecided {
    /// Creates an empty set. `around` contains the extent of each wrapped dimension, and 0 for all other dimensions.
    fn new(around: [i16; 3]) -> Self {
        Self {
            positions: [(); 3].map(|()| Vec::new()),
            numbers: Vec::new(),
            distances: Vec::new(),
            histogram: Vec::new(),
            around,
        }
    }

    /// Fills the set with the processors of a shell. The positions of the processors must be below 16,384 in every
    /// dimension.
    fn start(&mut self, shell: impl ExactSizeIterator<Item = Coord>) {
        let count = shell.len();
        self.numbers.clear();
        self.numbers.extend(0..count as u32);
        for positions in &mut self.positions {
            positions.clear();
            positions.resize(count.div_ceil(GROUP), [0; GROUP]);
        }
        for (i, position) in shell.enumerate() {
            for (positions, position) in self.positions.iter_mut().zip(position) {
                positions[i / GROUP][i % GROUP] = position as i16;
            }
        }
        self.fill_up();
    }

    /// Compares the distance of each processor from an earlier centre with the distance of the `need`-th nearest
    /// processor. Takes the processors with a smaller distance, and drops the processors with a larger distance. `need`
    /// must be less than the number of undecided processors. Returns the number of processors that must still be taken.
    fn narrow(&mut self, centre: Coord, mut need: usize, mut take: impl FnMut(usize)) -> usize {
        let [least, most] = self.measure(0..3, centre);
        if least == most {
            return need;
        }
        let distances = self.distances.as_flattened();
        let beyond =
            distances[..self.numbers.len()].iter().map(|distance| (distance - least) as u32);
        let cut = nth_smallest(beyond, (most - least) as u32, need, &mut self.histogram);
        let cut = least + cut as i16;
        let mut kept = 0;
        for i in 0..self.numbers.len() {
            let number = self.numbers[i];
            if distances[i] < cut {
                take(number as usize);
                need -= 1;
            } else if distances[i] == cut {
                self.numbers[kept] = number;
                for positions in &mut self.positions {
                    let positions = positions.as_flattened_mut();
                    positions[kept] = positions[i];
                }
                kept += 1;
            }
        }
        self.numbers.truncate(kept);
        self.positions.iter_mut().for_each(|positions| positions.truncate(kept.div_ceil(GROUP)));
        self.fill_up();
        need
    }

    /// Considers the line through `centre` along a dimension. Returns whether every centre on this line has the same
    /// distance to all undecided processors. The distances are equal if all processors have the same position along the
    /// dimension, and the same distance in the other dimensions.
    fn ties_all(&mut self, centre: Coord, along: usize) -> bool {
        let first = self.positions[along].first().map_or(0, |eight| eight[0]);
        let positions = self.positions[along].iter().flatten();
        if positions.fold(false, |any, &position| any | (position != first)) {
            return false;
        }
        let [least, most] = self.measure((0..3).filter(|&dimension| dimension != along), centre);
        least == most
    }

    /// Computes the distances of the processors from a position, summed over some dimensions. Returns the smallest and
    /// the largest distance.
    fn measure(&mut self, dimensions: impl Iterator<Item = usize>, from: Coord) -> [i16; 2] {
        let Self { positions, distances, around, .. } = self;
        distances.clear();
        distances.resize(positions[0].len(), [0; GROUP]);
        for dimension in dimensions {
            let (from, around) = (from[dimension] as i16, around[dimension]);
            for (distances, positions) in distances.iter_mut().zip(&positions[dimension]) {
                for i in 0..GROUP {
                    let straight = (positions[i] - from).abs();
                    let other = if around > 0 { around - straight } else { straight };
                    distances[i] += straight.min(other);
                }
            }
        }
        let (mut least, mut most) = ([i16::MAX; GROUP], [0; GROUP]);
        for distances in &*distances {
            for i in 0..GROUP {
                least[i] = least[i].min(distances[i]);
                most[i] = most[i].max(distances[i]);
            }
        }
        [least.into_iter().min().unwrap_or(0), most.into_iter().max().unwrap_or(0)]
    }

    fn fill_up(&mut self) {
        let count = self.numbers.len();
        for positions in &mut self.positions {
            let positions = positions.as_flattened_mut();
            if let Some(&first) = positions.first() {
                positions[count..].fill(first);
            }
        }
    }
}
