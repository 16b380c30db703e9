use super::arc::Arc;
use super::candidates::Candidates;
use super::contest::Contest;
use super::diamond::{Diamond, Outlook};
use super::least::LeastPairs;
use super::reach::Reaches;
use super::whole::Whole;
use crate::allocator::centre::options::ShellOrder;
use crate::machine::{DiamondCounts, Machine};
use crate::topology::Grid;

/// Scores candidates on a 2D mesh without wrap-around.
///
/// Candidates are looked at from the nearest reaching to the farthest, since compact sets
/// lie there, and most others then fall to a bound. A centre whose neighbour reaches one
/// shell less contains the complete shells of that neighbour: if no set that does so can
/// win, neither can the centre's, and nothing more need be known of it.
#[derive(Debug)]
pub struct Mesh {
    counts: DiamondCounts,
    reaches: Reaches,
    diamond: Diamond,
    /// Candidates by outermost shell, those of the same in candidate order.
    queue: Vec<u32>,
    /// By outermost shell: where in the queue its next candidate goes.
    places: Vec<u32>,
    /// By position, with a border around the mesh: one more than the outermost shell if
    /// it is hopeless, else 0.
    beyond_hopeless: Vec<u16>,
    least: LeastPairs,
    arc: Arc,
    whole: Whole,
    part: Vec<[u16; 2]>,
}

impl Mesh {
    /// `None` unless `grid` is a 2D mesh without wrap-around.
    pub fn new(grid: &Grid) -> Option<Self> {
        let counts = DiamondCounts::new(grid)?;
        Some(Self {
            reaches: Reaches::new(&counts),
            counts,
            diamond: Diamond::default(),
            queue: Vec::new(),
            places: Vec::new(),
            beyond_hopeless: Vec::new(),
            least: LeastPairs::new(grid),
            arc: Arc::default(),
            whole: Whole::default(),
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
            let index = self.queue[at] as usize;
            let centre = candidates.centre(index);
            let (x, y) = (usize::from(centre[0]), usize::from(centre[1]));
            let reach = self.reaches.of(x, y);
            let pitch = self.counts.height() + 2;
            let here = (x + 1) * pitch + y + 1;
            let neighbours = [here - pitch, here - 1, here + 1, here + pitch];
            let beyond = reach.outermost as u16;
            if beyond > 0 && neighbours.iter().any(|&n| self.beyond_hopeless[n] == beyond) {
                self.beyond_hopeless[here] = beyond + 1;
                continue;
            }
            let need = size - reach.inner;
            let open = |at_least| contest.is_open(at_least, index);
            let (counts, least) = (&self.counts, &mut self.least);
            match self.diamond.look(counts, (x, y), reach, need, least, contest.limit(), open) {
                Outlook::Open => {}
                Outlook::Closed => continue,
                Outlook::Hopeless => {
                    self.beyond_hopeless[here] = beyond + 1;
                    continue;
                }
            }
            let window = self.diamond.window();
            let earlier = || candidates.earlier(index);
            let kind = (reach.outermost, need);
            let whole = order == ShellOrder::Carried
                && self.diamond.is_complete()
                && reach.within - reach.inner == 4 * reach.outermost;
            if whole && let Some(score) = self.whole.recall(kind, centre, window, earlier()) {
                contest.enter(score, index, &admitted);
                continue;
            }
            let in_shell = self.least.in_shell(reach.outermost, need);
            let last = reach.outermost;
            if !self.diamond.is_open(&self.counts, (x, y), last, need, in_shell, open) {
                continue;
            }
            let shell = self.diamond.shell();
            if order == ShellOrder::Carried {
                self.arc.take(earlier(), window, shell, need, &mut self.part);
            } else {
                self.part.clear();
                self.part.extend_from_slice(&shell[..need]);
            }
            let score = self.diamond.score(&self.part);
            if whole {
                self.whole.remember(kind, centre, self.arc.heard(), score);
            }
            contest.enter(score, index, &admitted);
        }
    }

    fn line_up(&mut self, candidates: &Candidates) {
        let (width, height) = (self.counts.width(), self.counts.height());
        self.beyond_hopeless.clear();
        self.beyond_hopeless.resize((width + 2) * (height + 2), 0);
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
