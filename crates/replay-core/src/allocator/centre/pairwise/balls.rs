use super::candidates::Candidates;
use super::contest::Contest;
use super::least::LeastPairs;
use super::sections::Sections;
use super::shell::Shell;
use crate::allocator::centre::options::ShellOrder;
use crate::machine::{BallCounts, LANES, Machine, Shorts};
use crate::stop::{Stop, Stopped};
use crate::topology::{Coord, Grid, NodeId};

/// Scores candidates on any grid of a moderate size.
///
/// Radius by radius, 16 neighbouring centres at a time: those whose last shell this is are
/// bounded from the sections of their balls, and only what a bound does not rule out is
/// looked at processor by processor. A centre whose neighbour reaches one shell less
/// contains the complete shells of that neighbour: if no set that does so can win,
/// neither can the centre's, and nothing more need be known of it.
#[derive(Debug)]
pub struct Balls {
    counts: BallCounts,
    grid: Grid,
    /// The processor of each entry of the counts.
    nodes: Vec<NodeId>,
    sections: Sections,
    shell: Shell,
    least: LeastPairs,
    /// By entry: one more than the place in candidate order, 0 for none, and for those done.
    waiting: Vec<u32>,
    /// By entry: all bits as long as it waits.
    wanted: Vec<u16>,
    /// By entry: one more than the outermost shell if it is hopeless, else 0.
    beyond_hopeless: Vec<u16>,
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
    pub fn new(grid: &Grid) -> Option<Self> {
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
            shell: Shell::new(grid),
            least: LeastPairs::new(grid),
            waiting: Vec::new(),
            wanted: Vec::new(),
            beyond_hopeless: Vec::new(),
        })
    }

    /// Forgets the machine seen last.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Enters into the contest the score of every candidate that can matter.
    #[allow(clippy::too_many_arguments)]
    pub fn compete(
        &mut self,
        machine: &Machine,
        candidates: &Candidates,
        coords: &[Coord],
        order: ShellOrder,
        size: usize,
        contest: &mut Contest,
        admitted: impl Fn(u64) -> u64,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        self.counts.update(machine, coords);
        self.line_up(candidates);
        let mut waiting = candidates.len();
        let mut radius = 0;
        while waiting > 0 {
            stop.check()?;
            self.counts.reach(radius);
            for at in (0..self.wanted.len()).step_by(LANES) {
                let Some(due) = self.due(at, radius, size) else { continue };
                stop.check()?;
                waiting -= due.places.iter().flatten().count();
                self.judge(candidates, coords, order, size, contest, &admitted, due);
            }
            radius += 1;
        }
        Ok(())
    }

    fn line_up(&mut self, candidates: &Candidates) {
        let entries = self.nodes.len();
        for table in [&mut self.wanted, &mut self.beyond_hopeless] {
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
    #[allow(clippy::too_many_arguments)]
    fn judge(
        &mut self,
        candidates: &Candidates,
        coords: &[Coord],
        order: ShellOrder,
        size: usize,
        contest: &mut Contest,
        admitted: impl Fn(u64) -> u64,
        mut due: Due,
    ) {
        let Due { at, last, inner, .. } = due;
        for (i, place) in due.places.iter_mut().enumerate() {
            if place.is_some() && self.is_beyond_hopeless(at + i, last) {
                *place = None;
                self.beyond_hopeless[at + i] = last as u16 + 1;
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
        // The most that a sum of one dimension comes to.
        let most = (size as u64).pow(2) / 4 * u64::from(longest);
        let pairs = if most <= u64::from(u32::MAX) {
            self.sections.pairs::<u32>(&inner)
        } else {
            self.sections.pairs::<u64>(&inner)
        };
        let Self { least, beyond_hopeless, .. } = self;
        let mut sift = |due: &mut Due, at_least: &dyn Fn(usize, usize) -> u64| {
            let mut any = false;
            for (i, place) in due.places.iter_mut().enumerate() {
                let Some(index) = *place else { continue };
                let need = size - usize::from(due.inner[i]);
                let at_least = at_least(i, need);
                if at_least + least.anywhere(need) > contest.limit() {
                    beyond_hopeless[at + i] = last as u16 + 1;
                    *place = None;
                } else if !contest.is_open(at_least + least.in_shell(last, need), index) {
                    *place = None;
                } else {
                    any = true;
                }
            }
            any
        };
        if !sift(&mut due, &|i, _| pairs[i]) {
            return;
        }
        self.sections.weigh(&inner);
        let least_cost = self.sections.least_cost();
        if !sift(&mut due, &|i, need| pairs[i] + need as u64 * u64::from(least_cost[i])) {
            return;
        }
        for (i, place) in due.places.iter().enumerate() {
            let Some(index) = *place else { continue };
            let need = size - usize::from(inner[i]);
            let Self { counts, sections, shell, nodes, least, .. } = &mut *self;
            let costs = shell.gather(
                counts,
                sections,
                nodes,
                coords,
                [of_row[0], of_row[1], lane],
                i,
                last,
                need,
            );
            if contest.is_open(pairs[i] + costs + least.in_shell(last, need), index) {
                let part = shell.take(order, candidates, index, need);
                contest.enter(pairs[i] + part, index, &admitted);
            }
        }
    }

    /// Whether a neighbour that reaches one shell less is hopeless.
    fn is_beyond_hopeless(&self, at: usize, last: usize) -> bool {
        let last = last as u16;
        if last == 0 {
            return false;
        }
        let mut found = false;
        self.grid.for_neighbours(self.nodes[at], |near| {
            found |= self.beyond_hopeless[self.counts.at(self.grid.coord(near))] == last;
        });
        found
    }
}
