//! Counts of free processors in L1 balls on any grid, and in the planes through the centres of these balls.
//!
//! Counts are computed radius by radius, for all centres at once, using only additions. A ball of radius r is a stack
//! of plane diamonds: a diamond of radius r - d at each distance d on both sides of the centre. For radius r, the
//! diamonds on one side of a centre are the diamonds on the same side of the neighbouring centre for radius r - 1, and
//! one new diamond. On a wrapped dimension, diamonds that would be counted twice are subtracted. Diamonds are computed
//! from lines in the way in which balls are computed from diamonds. Lines along the *lanes*, the longest dimension, are
//! computed from prefix sums.

use std::ops::Range;

use crate::diamond_counts::Shorts;
use replay_engine::machine::{LANES, Machine, load};
use replay_engine::topology::{Axis, Coord, Grid};

/// Counts of free processors on one grid, up to the largest radius requested.
#[derive(Clone, Debug)]
pub struct BallCounts {
    /// Grid dimension of each table dimension. The lanes are the last table dimension.
    dimensions: [usize; 3],
    axes: [Axis; 3],
    /// Number of entries of a row of lanes.
    pitch: usize,
    /// Number of entries before the first lane in unrolled rows.
    margin: usize,
    wide: usize,
    /// The entry `free[row * pitch + lane]` is 1 if the processor is free.
    free: Vec<u16>,
    /// Unrolled prefix sums of each row: the number of free processors before a position.
    before: Vec<u16>,
    before_pitch: usize,
    levels: Vec<Level>,
    /// Number of levels that are valid for the current machine state.
    valid: usize,
    sides: [Sides; 5],
    /// A row of zeros.
    nothing: Vec<u16>,
    seen: u64,
}

/// Counts of one radius for each centre.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Counts in lines along the lanes and along the second dimension.
    lines: [Vec<u16>; 2],
    /// Counts in the diamonds perpendicular to each dimension.
    planes: [Vec<u16>; 3],
    /// The last table in `planes`, unrolled along the lanes.
    unrolled: Vec<u16>,
    ball: Vec<u16>,
}

/// Counts on both sides of each centre along one dimension. The side behind the centre includes the position of the
/// centre; the side ahead of the centre does not. The tables contain the counts of the previous radius and space for
/// the counts of the next radius.
#[derive(Clone, Debug, Default)]
struct Sides {
    behind: [Vec<u16>; 2],
    ahead: [Vec<u16>; 2],
}

impl BallCounts {
    /// Maximum number of stored ball counts over all centres and radii.
    const MOST_ENTRIES: usize = 1 << 24;

    /// Creates tables for `grid`; `None` if the tables would exceed the limit, or if the grid has more than 65,535
    /// points.
    pub fn new(grid: &Grid) -> Option<Self> {
        let radii = 1 + grid.axes().iter().map(|axis| usize::from(axis.diameter())).sum::<usize>();
        let points = grid.processors();
        if points > usize::from(u16::MAX) || points * radii > Self::MOST_ENTRIES {
            return None;
        }
        let mut dimensions = [0, 1, 2];
        // A stable sort keeps the order of dimensions with equal extents.
        dimensions.sort_by_key(|&dimension| grid.extent(dimension));
        let axes = dimensions.map(|dimension| grid.axes()[dimension]);
        let [a, b, lanes] = axes.map(|axis| usize::from(axis.extent));
        let pitch = lanes.next_multiple_of(LANES);
        let margin = (lanes / 2 + LANES).next_multiple_of(LANES);
        let before_pitch = 3 * lanes + 2 * LANES;
        let sides = Sides {
            behind: [(); 2].map(|()| vec![0; a * b * pitch]),
            ahead: [(); 2].map(|()| vec![0; a * b * pitch]),
        };
        Some(Self {
            dimensions,
            axes,
            pitch,
            margin,
            wide: pitch + 2 * margin,
            free: vec![0; a * b * pitch],
            before: vec![0; a * b * before_pitch],
            before_pitch,
            levels: Vec::new(),
            valid: 0,
            sides: [(); 5].map(|()| sides.clone()),
            nothing: vec![0; pitch],
            seen: 0,
        })
    }

    /// Makes the next update read the whole machine.
    pub fn reset(&mut self) {
        self.seen = 0;
    }

    /// Updates the free processors from `machine`. The topology of `machine` must be the grid for which the tables were
    /// created.
    pub fn update(&mut self, machine: &Machine, coords: &[Coord]) {
        if machine.version() == self.seen {
            return;
        }
        self.seen = machine.version();
        self.valid = 0;
        for (&coord, &free) in coords.iter().zip(machine.free_map()) {
            let at = self.at(coord);
            self.free[at] = u16::from(free);
        }
        let lanes = self.extent(2);
        let rows = self.before.chunks_exact_mut(self.before_pitch);
        for (before, free) in rows.zip(self.free.chunks_exact(self.pitch)) {
            let mut sum = 0u16;
            for (position, entry) in before.iter_mut().enumerate() {
                *entry = sum;
                // On a mesh, there are no processors beyond the walls.
                let inside = (lanes..2 * lanes).contains(&position);
                if inside || self.axes[2].wrapped && position < 3 * lanes {
                    sum = sum.wrapping_add(free[position % lanes]);
                }
            }
        }
    }

    /// Computes the counts of all radii up to `radius`.
    pub fn reach(&mut self, radius: usize) {
        while self.valid <= radius {
            self.add_level();
        }
    }

    fn add_level(&mut self) {
        let radius = self.valid;
        if self.levels.len() == radius {
            self.levels.push(Level::default());
        }
        let mut level = std::mem::take(&mut self.levels[radius]);
        let entries = self.free.len();
        let tables = level.lines.iter_mut().chain(&mut level.planes).chain([&mut level.ball]);
        tables.for_each(|table| table.resize(entries, 0));
        level.unrolled.resize(self.rows() * self.wide, 0);
        self.count_lines(radius, &mut level.lines[0]);
        let Level { lines: [lines, across], planes: [first, second, third], ball, .. } = &mut level;
        let mut sides = std::mem::take(&mut self.sides);
        let [one, two, three, four, five] = &mut sides;
        let free = |_: usize| self.free.as_slice();
        self.sweep(1, radius, one, &self.free, free, across);
        self.sweep(1, radius, two, lines, |r| self.levels[r].lines[0].as_slice(), first);
        self.sweep(0, radius, three, lines, |r| self.levels[r].lines[0].as_slice(), second);
        self.sweep(0, radius, four, across, |r| self.levels[r].lines[1].as_slice(), third);
        self.sweep(0, radius, five, first, |r| self.levels[r].planes[0].as_slice(), ball);
        self.sides = sides;
        self.unroll(&level.planes[2], &mut level.unrolled);
        self.levels[radius] = level;
        self.valid += 1;
    }

    fn count_lines(&self, radius: usize, lines: &mut [u16]) {
        let lanes = self.extent(2);
        let [behind, ahead] = self.most(2).map(|most| radius.min(most));
        let rows = self.before.chunks_exact(self.before_pitch);
        for (line, before) in lines.chunks_exact_mut(self.pitch).zip(rows) {
            let (ends, starts) = (&before[lanes + ahead + 1..], &before[lanes - behind..]);
            // Lanes beyond the end of the row are meaningless.
            for ((entry, end), start) in line[..lanes].iter_mut().zip(ends).zip(starts) {
                *entry = end.wrapping_sub(*start);
            }
        }
    }

    /// Sums counts along a dimension. The sum at a centre has two parts. The first part is the entry of `now` at the
    /// position of the centre. The second part is the sum of the entries of `earlier` at each distance d on both sides,
    /// taken for radius `radius` - d.
    fn sweep<'a>(
        &'a self,
        dimension: usize,
        radius: usize,
        sides: &mut Sides,
        now: &[u16],
        earlier: impl Fn(usize) -> &'a [u16],
        out: &mut [u16],
    ) {
        let pitch = self.pitch;
        let extent = self.extent(dimension);
        let step = if dimension == 0 { self.extent(1) } else { 1 };
        let wrapped = self.axes[dimension].wrapped;
        let [most_behind, most_ahead] = self.most(dimension);
        let Sides { behind: [behind, next_behind], ahead: [ahead, next_ahead] } = sides;
        let row_of = |row: usize| row * pitch..(row + 1) * pitch;
        let nothing = self.nothing.as_slice();
        for row in 0..self.rows() {
            let x = row / step % extent;
            // The row at this distance along the dimension; `None` if it is beyond a wall.
            let along = |distance: isize| {
                let target = x as isize + distance;
                let inside = (0..extent as isize).contains(&target);
                let target = target.rem_euclid(extent as isize) as usize;
                (inside || wrapped).then(|| row_of(row + target * step - x * step))
            };
            // Counts beyond a wall, and counts of a negative radius, are zero.
            let earlier = |drop: usize, distance: isize| match radius.checked_sub(drop) {
                Some(radius) => row_or(earlier(radius), along(distance), nothing),
                None => nothing,
            };
            let (b, a) = (most_behind as isize, most_ahead as isize);
            let new = earlier(1, 1);
            let twice_behind = if wrapped { earlier(most_behind + 1, -b - 1) } else { nothing };
            let twice_ahead = if wrapped { earlier(most_ahead + 1, a + 1) } else { nothing };
            let behind_before = row_or(behind, along(-1).filter(|_| radius > 0), nothing);
            let ahead_before = row_or(ahead, along(1).filter(|_| radius > 0), nothing);
            let now = &now[row_of(row)];
            let rows = [now, behind_before, ahead_before, new, twice_behind, twice_ahead]
                .map(|row| &row[..pitch]);
            let [now, behind_before, ahead_before, new, twice_behind, twice_ahead] = rows;
            let (to_behind, to_ahead) =
                (&mut next_behind[row_of(row)], &mut next_ahead[row_of(row)]);
            let out = &mut out[row_of(row)];
            for i in 0..pitch {
                let behind = now[i].wrapping_add(behind_before[i]).wrapping_sub(twice_behind[i]);
                let ahead = ahead_before[i].wrapping_add(new[i]).wrapping_sub(twice_ahead[i]);
                (to_behind[i], to_ahead[i]) = (behind, ahead);
                out[i] = behind.wrapping_add(ahead);
            }
        }
        sides.behind.swap(0, 1);
        sides.ahead.swap(0, 1);
    }

    fn unroll(&self, plane: &[u16], unrolled: &mut [u16]) {
        let (lanes, margin) = (self.extent(2), self.margin);
        let rows = plane.chunks_exact(self.pitch);
        for (wide, row) in unrolled.chunks_exact_mut(self.wide).zip(rows) {
            wide[margin..margin + lanes].copy_from_slice(&row[..lanes]);
            if self.axes[2].wrapped {
                for offset in 1..=margin {
                    wide[margin - offset] = row[(lanes - offset % lanes) % lanes];
                }
                for (offset, entry) in wide[margin + lanes..].iter_mut().enumerate() {
                    *entry = row[offset % lanes];
                }
            }
        }
    }

    fn rows(&self) -> usize {
        self.extent(0) * self.extent(1)
    }

    /// Returns the maximum distances behind and ahead of a position such that no position of the dimension is counted
    /// twice.
    fn most(&self, dimension: usize) -> [usize; 2] {
        let extent = self.extent(dimension);
        if self.axes[dimension].wrapped { [extent / 2, (extent - 1) / 2] } else { [extent - 1; 2] }
    }

    /// Returns the axes of the table dimensions. The lanes are the last axis.
    pub fn axes(&self) -> &[Axis; 3] {
        &self.axes
    }

    /// Returns the grid dimension of each table dimension.
    #[cfg(test)]
    pub fn dimensions(&self) -> [usize; 3] {
        self.dimensions
    }

    /// Returns the number of positions of a table dimension.
    #[inline]
    pub fn extent(&self, dimension: usize) -> usize {
        usize::from(self.axes[dimension].extent)
    }

    /// Returns the number of entries per row of lanes.
    #[inline]
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns the index of a processor's entry.
    #[inline]
    pub fn at(&self, coord: Coord) -> usize {
        let [a, b, lane] = self.dimensions.map(|dimension| usize::from(coord[dimension]));
        (a * self.extent(1) + b) * self.pitch + lane
    }

    /// Returns whether the processor of an entry is free.
    #[inline]
    pub fn is_free(&self, at: usize) -> bool {
        self.free[at] != 0
    }

    /// Returns, for each of the 16 consecutive centres that begin at entry `at`, the number of free processors within
    /// L1 distance `radius`.
    #[inline]
    pub fn within(&self, radius: usize, at: usize) -> Shorts {
        load(&self.levels[radius].ball[at..])
    }

    /// Returns, for each of the 16 consecutive points that begin at entry `at`, the number of free processors within L1
    /// distance `radius` in the plane perpendicular to `dimension`. Here, `dimension` is the first or the second
    /// dimension.
    #[inline]
    pub fn within_plane(&self, dimension: usize, radius: usize, at: usize) -> Shorts {
        load(&self.levels[radius].planes[dimension][at..])
    }

    /// Returns, for each of the 16 points of row `row` that begin at `lane`, the number of free processors within L1
    /// distance `radius` in the plane perpendicular to the lanes. `lane` may lie outside the row.
    #[inline]
    pub fn within_layer(&self, radius: usize, row: usize, lane: isize) -> Shorts {
        let at = (row * self.wide + self.margin).wrapping_add_signed(lane);
        load(&self.levels[radius].unrolled[at..])
    }
}

/// Returns a row of a table, or a row of zeros.
fn row_or<'a>(table: &'a [u16], row: Option<Range<usize>>, nothing: &'a [u16]) -> &'a [u16] {
    row.map_or(nothing, |row| &table[row])
}

#[cfg(test)]
mod tests;
