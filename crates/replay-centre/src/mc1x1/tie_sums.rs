//! Tie values from box counts.
//!
//! Let L be the outermost shell, SR the scan radius, M = L + SR, and k the requested number of processors. The terms
//! are:
//!
//! * available: this term is the sum of (cnt(r) - k) over r = L..=M, where cnt(r) is the number of free processors
//!   within distance r of the centre;
//! * border: this term is SR, the scan radius, times the number of positions in ring L + 1 that are not free;
//! * wall: this term is computed from wall(r), the number of free processors within distance r that touch a wall. The
//!   contribution of the complete shells to the wall term is the sum of wall(r) over r < L, plus (SR + 1) for every
//!   wall processor in the candidate. If only a part of the last shell is used, the number of wall processors in this
//!   part is known from counts in two cases: all of the shell's processors touch a wall, or none of them touches a
//!   wall. If only some of the shell's processors touch a wall, counts give a lower and an upper bound of the number of
//!   wall processors in the used part. The shell is gathered and cut only if the bounds cannot exclude the candidate.
//!
//! All terms except the contribution of the last shell are computed for 16 neighbouring centres at a time. Each centre
//! has its own L; masks select the lanes that contribute to a sum.

use crate::definition::CentreOptions;
use crate::mc1x1::Chunk;
use crate::shell::SquareShell;
use replay_engine::allocator::ties::{MOST_WALLS, TieVector, WallRule, walls_of};
use replay_engine::machine::{BoxCounts, Count, LANES, Machine};
use replay_engine::topology::{Grid, NodeId};

/// The counts from which tie values are computed, for one grid.
#[derive(Clone, Debug)]
pub struct TieCounts<C> {
    /// `walls[i]` counts the free processors whose wall weight exceeds i. The sum of the counts over all i is the sum
    /// of the wall weights in a box. The list is empty if walls are not counted.
    walls: Vec<BoxCounts<C>>,
    counts_walls: bool,
    /// Wall weight by processor.
    weights: Vec<u8>,
    /// Sum of the wall weights that are counted.
    wall_weight: u64,
    /// Rule by which the weights are recomputed when outages change the walls.
    rule: WallRule,
    /// Version of the machine's outages for which the weights were computed.
    down_seen: u64,
    /// Scratch list of processors taken from a last shell.
    taken: Vec<NodeId>,
}

/// The counts from which the tie values of 16 neighbouring centres are computed.
pub struct LaneTerms<L> {
    /// Outermost shell L.
    last: [L; LANES],
    /// Number of free processors in the complete shells.
    inner: [L; LANES],
    /// Number of free processors within distance L of the centre.
    within: [L; LANES],
    /// Number of radii, beginning with L, that are included in the sums.
    seen: [L; LANES],
    /// Number of positions in ring L + 1 that are not free.
    busy: [L; LANES],
    /// The wall sums, one entry for each level of wall weight.
    walls: [WallTerms<L>; MOST_WALLS as usize],
}

/// Three sums of wall weights: the sum over the radii r < L, the sum in the complete shells, and the sum in the last
/// shell.
#[derive(Clone, Copy, Default)]
struct WallTerms<L> {
    inside: [L; LANES],
    complete: [L; LANES],
    last_shell: [L; LANES],
}

/// A tie value, or a lower bound of a tie value.
pub enum TieValue {
    /// The value.
    Exact(i64),
    /// A lower bound, and the data from which the value is computed.
    AtLeast(i64, OpenValue),
}

/// A tie value without the wall weights of the processors taken from a partly used last shell.
#[derive(Clone, Copy, Debug)]
pub struct OpenValue {
    value: i64,
    /// The part of the last shell whose wall weights are missing.
    pub shell: PartialShell,
}

/// The part of the last shell that belongs to a candidate.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartialShell {
    /// Number of the shell.
    shell: u32,
    /// Number of processors that are taken from the shell.
    need: u32,
}

impl OpenValue {
    /// Returns the tie value; `taken` is the sum of the wall weights of the processors taken from the last shell.
    #[inline(always)]
    pub fn close(&self, vector: TieVector, taken: u32) -> i64 {
        self.value - i64::from(vector.wall) * i64::from(vector.scan_radius + 1) * i64::from(taken)
    }
}

/// The ring of positions just outside a candidate.
pub struct Outside {
    /// Shell number, L + 1.
    pub shell: u32,
    /// Number of positions in the ring that are not free.
    pub busy: u32,
}

impl<L: Count> LaneTerms<L> {
    /// Returns the ring outside the candidate of lane `i`.
    #[inline(always)]
    pub fn outside(&self, i: usize) -> Outside {
        let (last, busy): (u32, u32) = (self.last[i].into(), self.busy[i].into());
        Outside { shell: last + 1, busy }
    }
}

/// Bounds of the tie values of 16 neighbouring centres.
#[derive(Clone, Copy, Debug)]
pub struct LaneBounds {
    /// Lower bounds.
    pub low: [i32; LANES],
    /// Upper bounds. Where both bounds are equal, they are the value.
    pub high: [i32; LANES],
    /// The values without the wall weights of the processors taken from a partly used last shell.
    value: [i32; LANES],
    /// Outermost shell L.
    last: [u16; LANES],
    /// Number of free processors in the complete shells.
    inner: [u16; LANES],
}

impl LaneBounds {
    /// Returns the value of lane `i`, without the part of the last shell, for a request of `size` processors.
    pub fn open(&self, i: usize, size: u32) -> OpenValue {
        let (shell, need) = (u32::from(self.last[i]), size - u32::from(self.inner[i]));
        OpenValue { value: i64::from(self.value[i]), shell: PartialShell { shell, need } }
    }
}

/// The sums of one centre for a scan radius. The sums are multiplied by the weights of a vector.
#[derive(Clone, Copy, Debug, Default)]
pub struct TieSums {
    /// Surplus of free processors: the sum of (cnt(r) - k) over the radii r = L..=M. Here, cnt(r) is the number of free
    /// processors within distance r of the centre, and k is the requested number. The weight of this sum is AF.
    pub available: i64,
    /// Scan radius SR times the number of positions in ring L + 1 that are not free. The weight of this product is BF.
    pub border: i64,
    /// Wall sum without the last shell: the sum of wall(r) over r < L, plus SR + 1 times the wall weights in the
    /// complete shells. The weight of the wall sum is WF.
    pub wall: i64,
    /// Lower and upper bound of the contribution of the last shell to `wall`.
    pub last_wall: [i64; 2],
    /// The part that is taken from the last shell.
    pub shell: PartialShell,
}

impl TieSums {
    /// Returns the tie value if counts determine it, otherwise a bound of the tie value.
    #[inline(always)]
    pub fn value(&self, vector: TieVector) -> TieValue {
        let value = i64::from(vector.available) * self.available
            - i64::from(vector.border) * self.border
            - i64::from(vector.wall) * self.wall;
        let [a, b] = self.last_wall.map(|wall| value - i64::from(vector.wall) * wall);
        if a == b {
            TieValue::Exact(a)
        } else {
            TieValue::AtLeast(a.min(b), OpenValue { value, shell: self.shell })
        }
    }

    /// Excludes the processors out of service from the ring outside the candidate. `down` returns the number of
    /// processors out of service in a shell.
    #[inline(always)]
    pub fn exclude_down(&mut self, outside: &Outside, scan_radius: u32, down: impl Fn(u32) -> u32) {
        if outside.busy > 0 {
            self.border -= i64::from(scan_radius) * i64::from(down(outside.shell));
        }
    }

    /// Returns whether counts determine the value for every vector.
    pub fn is_exact(&self) -> bool {
        self.last_wall[0] == self.last_wall[1]
    }
}

impl<C: Count> TieCounts<C> {
    /// Creates counts for `grid`, with walls if `counts_walls` is set.
    pub fn new(grid: &Grid, options: CentreOptions, counts_walls: bool) -> Self {
        let rule = options.wall;
        let weight = |c| rule.weight(grid.walls(c)) as u8;
        let weights: Vec<u8> = grid.coords().into_iter().map(weight).collect();
        let mut counts = Self {
            walls: Vec::new(),
            counts_walls,
            weights,
            wall_weight: 0,
            rule,
            down_seen: 0,
            taken: Vec::new(),
        };
        counts.count_walls(grid);
        counts
    }

    fn count_walls(&mut self, grid: &Grid) {
        let weights = &self.weights;
        let heaviest = weights.iter().copied().max().filter(|_| self.counts_walls).unwrap_or(0);
        let counted = weights.iter().filter(|_| self.counts_walls);
        self.wall_weight = counted.map(|&weight| u64::from(weight)).sum();
        let above = |level| weights.iter().map(|&weight| weight > level).collect();
        self.walls = (0..heaviest).map(|level| BoxCounts::of_subset(grid, above(level))).collect();
    }

    /// Recomputes the wall weights after processors have gone out of service or returned to service. Such changes are
    /// rare.
    #[cold]
    fn recompute_weights(&mut self, machine: &Machine, grid: &Grid) {
        self.down_seen = machine.down_version();
        let weight = |node| self.rule.weight(walls_of(machine, grid, node)) as u8;
        let weights: Vec<u8> = machine.topology().nodes().map(weight).collect();
        if weights != self.weights {
            self.weights = weights;
            self.count_walls(grid);
        }
    }

    /// Updates the counts after changes of the machine.
    #[inline(always)]
    pub fn update(&mut self, machine: &Machine, grid: &Grid) {
        if machine.down_version() != self.down_seen {
            self.recompute_weights(machine, grid);
        }
        for walls in &mut self.walls {
            walls.update(machine);
        }
    }

    /// Clears the counts of the previous machine.
    pub fn reset(&mut self) {
        self.walls.iter_mut().for_each(BoxCounts::reset);
        // Another machine may have other processors out of service.
        self.down_seen = u64::MAX;
    }

    /// Returns whether all sums on a machine of `processors` processors fit into 16 bits. The sums always fit into 32
    /// bits.
    pub fn is_narrow(counts: &BoxCounts<C>, processors: usize) -> bool {
        let radii = u64::from(counts.max_radius()) + 2;
        radii * (processors as u64) < u64::from(u16::MAX)
    }

    /// Clears the counts of the previous machine and prepares for `machine`. Wall weights are kept if neither machine
    /// has ever had an outage.
    pub fn switch_to(&mut self, machine: &Machine) {
        self.walls.iter_mut().for_each(BoxCounts::reset);
        if self.down_seen != 0 || machine.down_version() != 0 {
            self.down_seen = u64::MAX;
        }
    }

    /// Returns the terms of the `wanted` centres of a chunk for `size` processors out of `free`; terms of other centres
    /// are undefined. For each of the ascending scan radii, sets `nearby` to the sum of (cnt(r) - k) over those radii r
    /// = L..=M that are within the machine.
    #[inline(always)]
    pub fn terms<L: Count>(
        &self,
        counts: &BoxCounts<C>,
        chunk: &Chunk,
        [size, free]: [u32; 2],
        wanted: &[bool; LANES],
        scan_radii: &[u32],
        nearby: &mut [[L; LANES]],
    ) -> LaneTerms<L> {
        let (zero, one, two) = (L::default(), L::from(1), L::from(2));
        let (row, first_lane) = (chunk.row, chunk.first_lane);
        let [size, free] = [size, free].map(L::clamp_from);
        // A lane is finished after the larger of the two radii M and L + 1 has been processed.
        let widest = scan_radii.last().copied().unwrap_or(0);
        let enough = L::clamp_from(widest.max(1).saturating_add(1));
        nearby[..scan_radii.len()].fill([zero; LANES]);
        let wanted = wanted.map(L::mask);
        let mut t = LaneTerms {
            last: [zero; LANES],
            inner: [zero; LANES],
            within: [zero; LANES],
            seen: [zero; LANES],
            busy: [zero; LANES],
            walls: [WallTerms::default(); MOST_WALLS as usize],
        };
        // Beyond the machine and beyond all free processors the counts are constant. `sums` therefore adds the terms of
        // the remaining radii.
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

    /// Returns the sums of the centre in lane `i` for one scan radius and for a request of `size` out of the `free`
    /// processors.
    #[inline(always)]
    pub fn sums<L: Count>(
        &self,
        terms: &LaneTerms<L>,
        nearby: &[L; LANES],
        scan_radius: u32,
        i: usize,
        size: u32,
        free: u32,
    ) -> TieSums {
        let lane = |lanes: &[L; LANES]| -> u32 { lanes[i].into() };
        let reach = scan_radius + 1;
        let unseen = reach.saturating_sub(lane(&terms.seen));
        let available = i64::from(lane(nearby)) + i64::from(unseen) * i64::from(free - size);
        let border = i64::from(scan_radius) * i64::from(lane(&terms.busy));
        if self.walls.is_empty() {
            return TieSums { available, border, ..TieSums::default() };
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
        TieSums {
            available,
            border,
            wall: i64::from(inside) + reach * i64::from(complete),
            last_wall: [least, most].map(|taken: u32| reach * i64::from(taken)),
            shell: PartialShell { shell: last, need },
        }
    }

    /// Returns whether [`bounds`](Self::bounds) supports a vector on a machine of `processors` processors: each sum of
    /// a tie value fits into 16 bits, and each tie value into 32 bits.
    pub fn fits_lanes(&self, max_radius: u32, processors: usize, vector: TieVector) -> bool {
        let [processors, radius, reach] =
            [processors as u64, u64::from(max_radius), u64::from(vector.scan_radius) + 1];
        let walls = (radius + 2 * reach).saturating_mul(self.wall_weight);
        let sum = processors.saturating_mul((radius + 2).max(reach)).max(walls);
        let weights =
            [vector.available, vector.wall, vector.border].map(|w| u64::from(w.unsigned_abs()));
        sum < 1 << 16 && sum * weights.iter().sum::<u64>() < 1 << 31
    }

    /// Returns bounds of the tie values of 16 centres from their terms. The bounds are those of [`TieSums::value`] for
    /// each centre. [`fits_lanes`](Self::fits_lanes) must hold.
    #[inline(always)]
    pub fn bounds(
        &self,
        terms: &LaneTerms<u16>,
        nearby: &[u16; LANES],
        vector: TieVector,
        [size, free]: [u32; 2],
    ) -> LaneBounds {
        let (reach, size, free) = (vector.scan_radius as u16 + 1, size as u16, free as u16);
        let (mut wall, mut least, mut most) = ([0; LANES], [0; LANES], [0; LANES]);
        for walls in &terms.walls[..self.walls.len()] {
            for i in 0..LANES {
                let need = size.minus(terms.inner[i]);
                let elsewhere = terms.within[i].minus(terms.inner[i]).minus(walls.last_shell[i]);
                wall[i] = walls.inside[i].plus(reach.times(walls.complete[i])).plus(wall[i]);
                least[i] = need.saturating_minus(elsewhere).plus(least[i]);
                most[i] = need.min(walls.last_shell[i]).plus(most[i]);
            }
        }
        let mut bounds = LaneBounds {
            low: [0; LANES],
            high: [0; LANES],
            value: [0; LANES],
            last: terms.last,
            inner: terms.inner,
        };
        for i in 0..LANES {
            let unseen = reach.saturating_minus(terms.seen[i]);
            let available = nearby[i].plus(unseen.times(free.minus(size)));
            let border = reach.minus(1).times(terms.busy[i]);
            let [available, border, wall] = [available, border, wall[i]].map(i32::from);
            let value = vector.available * available - vector.border * border - vector.wall * wall;
            let [a, b] = [least[i], most[i]]
                .map(|taken| value - vector.wall * i32::from(reach.times(taken)));
            bounds.value[i] = value;
            (bounds.low[i], bounds.high[i]) = (a.min(b), a.max(b));
        }
        bounds
    }

    /// Gathers and cuts a last shell. Returns the sum of the wall weights of the part that is taken from the shell.
    pub fn taken(
        &mut self,
        part: PartialShell,
        machine: &Machine,
        centre: NodeId,
        square: &mut SquareShell,
    ) -> u32 {
        self.taken.clear();
        square.gather(machine, centre, part.shell, None);
        square.take(machine, centre, part.need as usize, &mut self.taken);
        self.taken.iter().map(|n| u32::from(self.weights[n.index()])).sum()
    }
}
