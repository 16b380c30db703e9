//! An engine that scores candidates on a 2D mesh.

use super::candidates::{Candidates, LeastPairs, Selection};
use super::diamond::{Diamond, Reaches, Verdict, Window};
use crate::allocator::centre::definition::ShellOrder;
use crate::machine::{DiamondCounts, Machine};
use crate::topology::{Coord, Grid};

/// Engine that scores candidates on a 2D mesh without wrap-around.
///
/// Candidates are scored by ascending reach. The first candidates have compact sets, whose low
/// scores exclude most other candidates by a bound. Suppose that the outermost shell of a centre is
/// larger by one than the outermost shell of a neighbour. The shells of the centre then contain the
/// complete shells of the neighbour. If no set that contains these complete shells can win, the
/// centre is excluded without computing a bound.
#[derive(Debug)]
pub struct Mesh {
    order: ShellOrder,
    counts: DiamondCounts,
    reaches: Reaches,
    diamond: Diamond,
    /// Candidates by outermost shell, then in candidate order.
    queue: Vec<u32>,
    /// Position in the queue of the next candidate, by outermost shell.
    places: Vec<u32>,
    /// For each position, the number of the outermost shell plus one; 0 if the position is not
    /// excluded. The table has a border around the mesh.
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
            let (counts, least) = (&self.counts, &mut self.least);
            match self.diamond.bound(counts, (x, y), reach, need, least, selection.limit(), open) {
                Verdict::Open => {}
                Verdict::Closed => continue,
                Verdict::Excluded => {
                    self.excluded_beyond[here] = beyond + 1;
                    continue;
                }
            }
            let window = self.diamond.window();
            let earlier = || candidates.earlier(index);
            let kind = (reach.outermost, need);
            let is_complete = self.order == ShellOrder::Carried
                && self.diamond.is_complete()
                && reach.within - reach.inner == 4 * reach.outermost;
            if is_complete && let Some(score) = self.complete.find(kind, centre, window, earlier())
            {
                selection.enter(score, index);
                continue;
            }
            let in_shell = self.least.in_shell(reach.outermost, need);
            let last = reach.outermost;
            if !self.diamond.is_open(&self.counts, (x, y), last, need, in_shell, open) {
                continue;
            }
            let shell = self.diamond.shell();
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

/// Selects the processors that are taken from a last shell on a 2D mesh, in the carried order.
///
/// The shell is narrowed as in [`ShellCut::take_by`](crate::allocator::centre::ShellCut::take_by),
/// with an additional shortcut. An earlier centre outside the window around the shell distinguishes
/// the processors exactly like the nearest position of the window, because for every processor the
/// distance to the centre exceeds the distance to this position by the same number of steps. In a
/// row of centres, most centres have the same nearest position as the previous centre. Centres with
/// the same nearest position are skipped.
#[derive(Debug, Default)]
struct CarriedPart {
    undecided: Vec<[u16; 2]>,
    distances: Vec<u16>,
    histogram: Vec<u16>,
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
        mut need: usize,
        part: &mut Vec<[u16; 2]>,
    ) {
        part.clear();
        self.considered.clear();
        self.decided = true;
        if need == shell.len() {
            part.extend_from_slice(shell);
            return;
        }
        self.undecided.clear();
        self.undecided.extend_from_slice(shell);
        self.decided = false;
        for [x, y, _] in earlier {
            let centre = window.clamp([x, y]);
            if self.considered.last() == Some(&centre) {
                continue;
            }
            self.considered.push(centre);
            if !self.measure(centre) {
                continue;
            }
            let cut = self.distance_at_cut(need);
            let mut kept = 0;
            for i in 0..self.undecided.len() {
                let processor = self.undecided[i];
                if self.distances[i] < cut {
                    part.push(processor);
                    need -= 1;
                } else if self.distances[i] == cut {
                    self.undecided[kept] = processor;
                    kept += 1;
                }
            }
            self.undecided.truncate(kept);
            if need == self.undecided.len() || need == 0 {
                self.decided = true;
                break;
            }
        }
        part.extend_from_slice(&self.undecided[..need]);
    }

    /// Returns the window positions that determined the last part. Consecutive positions are
    /// different. Returns `None` if the scan order determined the part.
    fn considered(&self) -> Option<&[[u16; 2]]> {
        self.decided.then_some(&self.considered)
    }

    /// Computes the distances of the undecided processors minus the smallest distance. Returns
    /// whether these distances differ.
    fn measure(&mut self, centre: [u16; 2]) -> bool {
        let distance = |p: &[u16; 2]| centre[0].abs_diff(p[0]) + centre[1].abs_diff(p[1]);
        self.distances.clear();
        self.distances.extend(self.undecided.iter().map(distance));
        let (least, most) = self
            .distances
            .iter()
            .fold((u16::MAX, 0), |(least, most), &d| (least.min(d), most.max(d)));
        if least == most {
            return false;
        }
        self.distances.iter_mut().for_each(|distance| *distance -= least);
        self.histogram.clear();
        self.histogram.resize(usize::from(most - least) + 1, 0);
        true
    }

    /// Returns the `need`-th smallest distance.
    fn distance_at_cut(&mut self, need: usize) -> u16 {
        for &distance in &self.distances {
            self.histogram[usize::from(distance)] += 1;
        }
        let mut below = 0;
        let reaches = |&count: &u16| {
            below += usize::from(count);
            below >= need
        };
        self.histogram.iter().position(reaches).unwrap_or(0) as u16
    }
}

/// The score around a centre whose shells, including the last shell, are entirely free and on the
/// mesh.
///
/// The surroundings of all these centres are identical. The score then depends only on the
/// positions, relative to the centre, of the earlier centres that determined the part. If these
/// relative positions are equal for two centres, their scores are equal. On an empty machine most
/// centres have such surroundings.
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
