//! The tie value from box counts.
//!
//! With L the outermost shell, M = L + SR, k the request:
//!
//! * available: sum over r = L..=M of (cnt(r) - k);
//! * border: SR times the positions in ring L + 1 that are not free;
//! * wall: with wall(r) the free processors within r that touch a wall, the complete
//!   shells give the sum over r < L of wall(r), plus (SR + 1) for every wall processor
//!   taken at all. How many are taken of a partly used last shell is a count, too, if
//!   all or none of its processors touch a wall; else it lies between two bounds, and
//!   only if these cannot exclude the candidate is the shell gathered and cut.
//!
//! All but the last is computed for 16 neighbouring centres at a time, each with its own
//! L: a lane takes part in a sum while its mask says so.

use super::lane::Lane;
use super::ring::Ring;
use super::scores::Chunk;
use crate::allocator::centre::options::CentreOptions;
use crate::allocator::centre::tie::{MOST_WALLS, TieVector, WallRule, walls_of};
use crate::machine::{BoxCounts, Count, LANES, Machine};
use crate::topology::{Grid, NodeId};

/// Evaluates tie values on one grid.
#[derive(Clone, Debug)]
pub struct TieTerms<C> {
    vector: TieVector,
    /// `walls[i]`: counts of the free processors whose wall weight exceeds i, so that the
    /// weights in a box are the sum of these counts.
    walls: Vec<BoxCounts<C>>,
    weights: Vec<u8>,
    /// For walls that come and go with the processors out of service.
    rule: WallRule,
    down_seen: u64,
    /// Room for the processors taken of a last shell.
    taken: Vec<NodeId>,
}

/// The counts behind the tie values of 16 neighbouring centres.
pub struct Terms<L> {
    /// Outermost shell L.
    last: [L; LANES],
    /// Free processors in complete shells.
    inner: [L; LANES],
    /// Free processors within L.
    within: [L; LANES],
    /// Radii from L on that the sums have seen.
    seen: [L; LANES],
    /// Positions in ring L + 1 that are not free.
    busy: [L; LANES],
    /// By level of wall weight.
    walls: [WallTerms<L>; MOST_WALLS as usize],
}

/// Wall weights: sum over r < L, in complete shells, and in the last shell.
#[derive(Clone, Copy, Default)]
struct WallTerms<L> {
    inside: [L; LANES],
    complete: [L; LANES],
    last_shell: [L; LANES],
}

/// A tie value, or a bound of it.
pub enum Value {
    /// The value.
    Exact(i64),
    /// It is no less than this; the rest tells how to find it.
    AtLeast(i64, Rest),
}

impl Value {
    /// The value less a term that is known.
    #[inline(always)]
    pub fn less(self, term: i64) -> Self {
        match self {
            Value::Exact(value) => Value::Exact(value - term),
            Value::AtLeast(bound, rest) => {
                Value::AtLeast(bound - term, Rest { value: rest.value - term, ..rest })
            }
        }
    }
}

/// The ring just outside a candidate.
pub struct Outside {
    /// Its shell number, L + 1.
    pub shell: u32,
    /// Positions in it that are not free.
    pub busy: u32,
}

impl<L: Lane> Terms<L> {
    /// The ring outside the candidate of lane `i`.
    #[inline(always)]
    pub fn outside(&self, i: usize) -> Outside {
        let (last, busy): (u32, u32) = (self.last[i].into(), self.busy[i].into());
        Outside { shell: last + 1, busy }
    }
}

/// What is missing of a tie value: the wall weights of the processors taken of a partly
/// used last shell.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// The value without them.
    value: i64,
    /// The last shell.
    last: u32,
    /// How many are taken of it.
    need: u32,
}

impl Rest {
    /// The value, with the wall weights of what is taken of the last shell.
    #[inline(always)]
    pub fn value(&self, vector: TieVector, taken: u32) -> i64 {
        self.value - i64::from(vector.wall) * i64::from(vector.scan_radius + 1) * i64::from(taken)
    }
}

/// What the terms of one centre come to, which the factors of a vector make a tie value of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// What AF is multiplied by: sum over r = L..=M of (cnt(r) - k).
    available: i64,
    /// What BF is multiplied by: SR times the positions in ring L + 1 that are not free.
    border: i64,
    /// What WF is multiplied by, but for the last shell: sum over r < L of wall(r), and SR + 1 times
    /// the wall weights in complete shells.
    wall: i64,
    /// Between these is what the last shell adds to it.
    last_wall: [i64; 2],
    /// The last shell, and how many are taken of it.
    last: u32,
    need: u32,
}

impl Sums {
    /// The tie value, as far as counts tell.
    #[inline(always)]
    pub fn value(&self, vector: TieVector) -> Value {
        let value = i64::from(vector.available) * self.available
            - i64::from(vector.border) * self.border
            - i64::from(vector.wall) * self.wall;
        let [a, b] = self.last_wall.map(|wall| value - i64::from(vector.wall) * wall);
        if a == b {
            Value::Exact(a)
        } else {
            Value::AtLeast(a.min(b), Rest { value, last: self.last, need: self.need })
        }
    }

    /// What AF, BF and WF are multiplied by, and between what the last shell adds for WF.
    #[inline(always)]
    pub fn parts(&self) -> ([i64; 3], [i64; 2]) {
        ([self.available, self.border, self.wall], self.last_wall)
    }

    /// What tells the wall weights of the last shell, and what they are multiplied by for a scan radius.
    #[inline(always)]
    pub fn last_shell(&self, scan_radius: u32) -> (Rest, i64) {
        let rest = Rest { value: 0, last: self.last, need: self.need };
        (rest, i64::from(scan_radius) + 1)
    }

    /// Processors out of service in the ring outside are nobody's. `down` counts those of a shell.
    #[inline(always)]
    pub fn give_back(&mut self, outside: &Outside, scan_radius: u32, down: impl Fn(u32) -> u32) {
        if outside.busy > 0 {
            self.border -= i64::from(scan_radius) * i64::from(down(outside.shell));
        }
    }

    /// Whether the value is settled for every vector.
    pub fn is_settled(&self) -> bool {
        self.last_wall[0] == self.last_wall[1]
    }
}

impl<C: Count> TieTerms<C> {
    pub fn new(grid: &Grid, vector: TieVector, options: CentreOptions) -> Self {
        let weight = |c| options.wall.weight(grid.walls(c)) as u8;
        let weights: Vec<u8> = grid.coords().into_iter().map(weight).collect();
        let walls = Self::walls(grid, &weights, vector);
        Self { vector, walls, weights, rule: options.wall, down_seen: 0, taken: Vec::new() }
    }

    fn walls(grid: &Grid, weights: &[u8], vector: TieVector) -> Vec<BoxCounts<C>> {
        let heaviest =
            if vector.wall == 0 { 0 } else { weights.iter().copied().max().unwrap_or(0) };
        (0..heaviest)
            .map(|level| BoxCounts::of_subset(grid, weights.iter().map(|&w| w > level).collect()))
            .collect()
    }

    /// Walls come and go with the processors out of service, which is rare.
    #[cold]
    fn weigh_anew(&mut self, machine: &Machine, grid: &Grid) {
        self.down_seen = machine.down_version();
        let weight = |node| self.rule.weight(walls_of(machine, grid, node)) as u8;
        let weights: Vec<u8> = machine.topology().nodes().map(weight).collect();
        if weights != self.weights {
            self.walls = Self::walls(grid, &weights, self.vector);
            self.weights = weights;
        }
    }

    #[inline(always)]
    pub fn update(&mut self, machine: &Machine, grid: &Grid) {
        if machine.down_version() != self.down_seen {
            self.weigh_anew(machine, grid);
        }
        for walls in &mut self.walls {
            walls.update(machine);
        }
    }

    pub fn reset(&mut self) {
        self.walls.iter_mut().for_each(BoxCounts::reset);
        // Another machine has other processors out of service.
        self.down_seen = u64::MAX;
    }

    /// Whether all sums on a machine of `processors` fit 16 bits. They always fit 32.
    pub fn is_narrow(counts: &BoxCounts<C>, processors: usize) -> bool {
        let radii = u64::from(counts.max_radius()) + 2;
        radii * (processors as u64) < u64::from(u16::MAX)
    }

    /// Forgets the machine seen last, for this one. Walls stay where they are if neither has ever lost a processor.
    pub fn turn_to(&mut self, machine: &Machine) {
        self.walls.iter_mut().for_each(BoxCounts::reset);
        if self.down_seen != 0 || machine.down_version() != 0 {
            self.down_seen = u64::MAX;
        }
    }

    /// The scan radius of its vector.
    #[inline(always)]
    pub fn scan_radius(&self) -> u32 {
        self.vector.scan_radius
    }

    /// The terms of the centres of a chunk that are `wanted` for `size` processors out of `free`, for some scan radii,
    /// ascending; those of the others mean nothing. By scan radius `nearby` becomes the sum over r = L..=M of (cnt(r) - k), as far as the
    /// machine reaches.
    #[inline(always)]
    pub fn terms<L: Lane>(
        &self,
        counts: &BoxCounts<C>,
        chunk: &Chunk,
        [size, free]: [u32; 2],
        wanted: &[bool; LANES],
        scan_radii: &[u32],
        nearby: &mut [[L; LANES]],
    ) -> Terms<L> {
        let (zero, one, two) = (L::default(), L::from(1), L::from(2));
        let (row, first_lane) = (chunk.row, chunk.first_lane);
        let [size, free] = [size, free].map(L::clamp_from);
        // A lane is finished when it has seen M, and L + 1.
        let widest = scan_radii.last().copied().unwrap_or(0);
        let enough = L::clamp_from(widest.max(1).saturating_add(1));
        nearby[..scan_radii.len()].fill([zero; LANES]);
        let wanted = wanted.map(L::mask);
        let mut t = Terms {
            last: [zero; LANES],
            inner: [zero; LANES],
            within: [zero; LANES],
            seen: [zero; LANES],
            busy: [zero; LANES],
            walls: [WallTerms::default(); MOST_WALLS as usize],
        };
        // Beyond the machine nothing changes, nor beyond all that are free: `sums` adds what is left of
        // the scan radius.
        for radius in 0..=counts.max_radius() + 1 {
            let count =
                counts.lanes(row, radius, first_lane).map(|count| L::clamp_from(count.into()));
            let (mut unfinished, mut filling, mut edge) = (zero, zero, zero);
            for i in 0..LANES {
                let full = L::mask(count[i] >= size);
                t.seen[i] = t.seen[i].minus(full);
                let (at_last, beyond) = (L::mask(t.seen[i] == one), L::mask(t.seen[i] == two));
                t.last[i] = t.last[i].plus(!full & one);
                t.inner[i] = (count[i] & !full) | (t.inner[i] & full);
                t.within[i] = t.within[i] | (count[i] & at_last);
                edge = edge | (wanted[i] & (at_last | beyond));
                let more = L::mask(t.seen[i] < two) | L::mask(count[i] != free);
                unfinished = unfinished | (wanted[i] & more & L::mask(t.seen[i] < enough));
                filling = filling | (wanted[i] & (!full | at_last));
            }
            for (&scan_radius, nearby) in scan_radii.iter().zip(&mut *nearby) {
                let reach = L::clamp_from(scan_radius.saturating_add(1));
                for i in 0..LANES {
                    let in_reach = L::mask(count[i] >= size) & L::mask(t.seen[i] <= reach);
                    nearby[i] = nearby[i].plus(count[i].minus(size) & in_reach);
                }
            }
            if edge != zero {
                let cells = counts.lane_cells(row, radius, first_lane);
                for i in 0..LANES {
                    let not_free = L::clamp_from(cells[i].into()).minus(count[i]);
                    let (at_last, beyond) = (L::mask(t.seen[i] == one), L::mask(t.seen[i] == two));
                    t.busy[i] = t.busy[i].plus(not_free & beyond).minus(not_free & at_last);
                }
            }
            if filling != zero {
                let seen = &t.seen;
                for (walls, t) in self.walls.iter().zip(&mut t.walls) {
                    let wall = walls.lanes(row, radius, first_lane);
                    let wall = wall.map(|count| L::clamp_from(count.into()));
                    for i in 0..LANES {
                        let filling = L::mask(seen[i] == zero);
                        t.inside[i] = t.inside[i].plus(wall[i] & filling);
                        t.complete[i] = (wall[i] & filling) | (t.complete[i] & !filling);
                        let shell = wall[i].minus(t.complete[i]);
                        t.last_shell[i] = t.last_shell[i] | (shell & L::mask(seen[i] == one));
                    }
                }
            }
            if unfinished == zero {
                break;
            }
        }
        t
    }

    /// The tie value of the centre in lane `i` of the terms for `size` processors out of
    /// `free`, as far as counts tell.
    #[inline(always)]
    pub fn value<L: Lane>(
        &self,
        terms: &Terms<L>,
        nearby: &[L; LANES],
        i: usize,
        size: u32,
        free: u32,
    ) -> Value {
        let scan_radius = self.vector.scan_radius;
        self.sums(terms, nearby, scan_radius, i, size, free).value(self.vector)
    }

    /// What the terms of the centre in lane `i` come to for `size` processors out of `free` and a scan
    /// radius, whatever the weights of the vector are.
    #[inline(always)]
    pub fn sums<L: Lane>(
        &self,
        terms: &Terms<L>,
        nearby: &[L; LANES],
        scan_radius: u32,
        i: usize,
        size: u32,
        free: u32,
    ) -> Sums {
        let lane = |lanes: &[L; LANES]| -> u32 { lanes[i].into() };
        let reach = scan_radius + 1;
        let unseen = reach.saturating_sub(lane(&terms.seen));
        let available = i64::from(lane(nearby)) + i64::from(unseen) * i64::from(free - size);
        let border = i64::from(scan_radius) * i64::from(lane(&terms.busy));
        if self.walls.is_empty() {
            return Sums { available, border, ..Sums::default() };
        }
        let (inner, last) = (lane(&terms.inner), lane(&terms.last));
        let need = size - inner;
        let shell = lane(&terms.within) - inner;
        let (mut inside, mut complete, mut least, mut most) = (0, 0, 0, 0);
        for walls in &terms.walls[..self.walls.len()] {
            inside += lane(&walls.inside);
            complete += lane(&walls.complete);
            let along_wall = lane(&walls.last_shell);
            least += need.saturating_sub(shell - along_wall);
            most += need.min(along_wall);
        }
        let reach = i64::from(reach);
        Sums {
            available,
            border,
            wall: i64::from(inside) + reach * i64::from(complete),
            last_wall: [least, most].map(|taken: u32| reach * i64::from(taken)),
            // Of no matter where the shell counts the same in any case.
            last: if least == most { 0 } else { last },
            need: if least == most { 0 } else { need },
        }
    }

    /// What processors out of service in the ring outside give back: they are nobody's.
    #[inline(always)]
    pub fn down_term(&self, down: u32) -> i64 {
        i64::from(self.vector.border) * i64::from(self.vector.scan_radius) * i64::from(down)
    }

    /// The value that counts alone did not tell.
    pub fn settle(
        &mut self,
        rest: &Rest,
        machine: &Machine,
        centre: NodeId,
        ring: &mut Ring,
    ) -> i64 {
        rest.value(self.vector, self.taken(rest, machine, centre, ring))
    }

    /// The wall weights of what is taken of a last shell that is needed in part: gathers the shell
    /// and cuts it.
    pub fn taken(
        &mut self,
        rest: &Rest,
        machine: &Machine,
        centre: NodeId,
        ring: &mut Ring,
    ) -> u32 {
        self.taken.clear();
        ring.gather(machine, centre, rest.last, None);
        ring.take(machine, centre, rest.need as usize, &mut self.taken);
        self.taken.iter().map(|n| u32::from(self.weights[n.index()])).sum()
    }
}
