use super::candidates::Candidates;
use super::contest::Contest;
use super::diamond::{Diamond, Outlook};
use super::reach::Reaches;
use crate::allocator::centre::{Cut, ShellOrder};
use crate::machine::{DiamondCounts, Machine};
use crate::topology::{Coord, Grid, NodeId};

/// Scores candidates on a 2D mesh without wrap-around.
///
/// Candidates are looked at from the nearest reaching to the farthest, since compact sets
/// lie there, and most others then fall to a bound. A centre whose neighbour reaches one
/// shell less contains the complete shells of that neighbour: if no set that does so can
/// win, neither can the centre's, and nothing more need be known of it.
#[derive(Debug)]
pub struct Mesh {
    coords: Vec<Coord>,
    counts: DiamondCounts,
    reaches: Reaches,
    diamond: Diamond,
    /// (outermost shell, 65535 - processors within, index), packed.
    queue: Vec<u64>,
    /// By processor.
    hopeless: Vec<bool>,
    cut: Cut,
    part: Vec<NodeId>,
}

impl Mesh {
    /// `None` unless `grid` is a 2D mesh without wrap-around.
    pub fn new(grid: &Grid) -> Option<Self> {
        let counts = DiamondCounts::new(grid)?;
        Some(Self {
            coords: grid.coords(),
            reaches: Reaches::new(&counts),
            counts,
            diamond: Diamond::default(),
            queue: Vec::new(),
            hopeless: Vec::new(),
            cut: Cut::default(),
            part: Vec::new(),
        })
    }

    /// Forgets the machine seen last.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Enters into the contest the score of every candidate that can matter.
    pub fn compete(
        &mut self,
        machine: &Machine,
        candidates: &Candidates,
        order: ShellOrder,
        size: usize,
        contest: &mut Contest,
        admitted: impl Fn(u64) -> u64,
    ) {
        self.counts.update(machine);
        self.reaches.compute(&self.counts, size as u16, !candidates.may_be_busy());
        self.line_up(candidates);
        for at in 0..self.queue.len() {
            let index = (self.queue[at] & u64::from(u32::MAX)) as usize;
            let centre = candidates.centre(index);
            let (x, y) = (usize::from(centre[0]), usize::from(centre[1]));
            let reach = self.reaches.of(x, y);
            let here = x * self.counts.height() + y;
            if self.is_beyond_hopeless(x, y, reach.outermost) {
                self.hopeless[here] = true;
                continue;
            }
            let need = size - reach.inner;
            let open = |at_least| contest.is_open(at_least, index);
            match self.diamond.look(&self.counts, (x, y), reach, need, contest.limit(), open) {
                Outlook::Open => {}
                Outlook::Closed => continue,
                Outlook::Hopeless => {
                    self.hopeless[here] = true;
                    continue;
                }
            }
            self.part.clear();
            if order == ShellOrder::Carried {
                let coords = &self.coords;
                let distance = |centre: &Coord, node: NodeId| {
                    let p = coords[node.index()];
                    u32::from(centre[0].abs_diff(p[0])) + u32::from(centre[1].abs_diff(p[1]))
                };
                let earlier = candidates.earlier(index);
                self.cut.take_by(earlier, distance, self.diamond.shell(), need, &mut self.part);
            } else {
                self.part.extend_from_slice(&self.diamond.shell()[..need]);
            }
            let score = self.diamond.score(&self.coords, &self.part, x, y);
            contest.enter(score, index, &admitted);
        }
    }

    fn line_up(&mut self, candidates: &Candidates) {
        self.queue.clear();
        for index in 0..candidates.len() {
            let [x, y, _] = candidates.centre(index).map(usize::from);
            let reach = self.reaches.of(x, y);
            let fullness = usize::from(u16::MAX) - reach.inner;
            self.queue
                .push((reach.outermost as u64) << 48 | (fullness as u64) << 32 | index as u64);
        }
        self.queue.sort_unstable();
        self.hopeless.clear();
        self.hopeless.resize(self.coords.len(), false);
    }

    fn is_beyond_hopeless(&self, x: usize, y: usize, outermost: usize) -> bool {
        let (width, height) = (self.counts.width(), self.counts.height());
        let from = |x: usize, y: usize| {
            self.hopeless[x * height + y] && self.reaches.of(x, y).outermost + 1 == outermost
        };
        x > 0 && from(x - 1, y)
            || x + 1 < width && from(x + 1, y)
            || y > 0 && from(x, y - 1)
            || y + 1 < height && from(x, y + 1)
    }
}
