//! Counts of free processors in boxes, computed from a summed-area table. The innermost dimension of the table is laid
//! out for vector instructions.
//!
//! The fastest dimension of the grid is the *lane* dimension: consecutive entries of a table row belong to consecutive
//! processors. Each row is padded on both sides, so that a box of any radius around any lane needs no clipping. The
//! padding of a wrapped dimension continues the row periodically. The counts of 16 neighbouring centres then take eight
//! unaligned vector loads and a few subtractions, which the compiler vectorises. For the other dimensions, an index
//! table clips the boxes or continues the dimension.
//!
//! All sums are computed modulo 2^w, where w is the number of bits of a [`Count`]. Differences of these sums are exact
//! if every count fits into w bits: 16 bits suffice for machines of up to 65,535 points; larger machines need 32 bits.

use super::{Count, Machine};
use crate::topology::{Axis, Grid, NodeId};

/// Number of centres processed at a time.
pub const LANES: usize = 16;

/// A row of centres: all processors that differ only along the lane dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row(pub usize);

/// Counts of free processors in boxes around processors. If a subset is given, only its free processors are counted.
/// The counted processors are called members.
#[derive(Clone, Debug)]
pub struct BoxCounts<C = u16> {
    grid: Grid,
    /// The processors of the subset: for each row, one integer per [`EIGHT`] lanes, with one byte per processor, 1 if the
    /// processor is in the subset.
    subset: Vec<u64>,
    /// Number of integers of `subset` per row.
    eights: usize,
    /// Outer dimension, middle dimension (3D only) and lane dimension.
    outer: Spans,
    middle: Option<Spans>,
    lane: LaneSpans,
    /// The entry `table[(a * (middle + 1) + b) * stride + j]` is the number of members whose outer position is below a,
    /// whose middle position is below b, and whose padded lane position is below j.
    table: Vec<C>,
    /// Padded prefix sums of each row, `stride` entries per row. Empty for a 2D mesh.
    prefixes: Vec<C>,
    rows: usize,
    /// One flag per row: true if the row contains a processor of the subset.
    row_counts: Vec<bool>,
    /// A row of zeros.
    nothing: Vec<C>,
    stride: usize,
    seen: u64,
    max_radius: u32,
}

impl<C: Count> BoxCounts<C> {
    /// Creates counts of all free processors.
    pub fn new(grid: &Grid) -> Self {
        Self::of_subset(grid, vec![true; grid.processors()])
    }

    /// Creates counts of the free processors for which `subset`, indexed by processor number, is true.
    pub fn of_subset(grid: &Grid, subset: Vec<bool>) -> Self {
        debug_assert!(grid.processors() <= C::MAX.into() as usize);
        let axes = &grid.axes()[..grid.dimensions()];
        let max_radius = axes.iter().map(|axis| u32::from(axis.diameter())).max().unwrap_or(0);
        let outer = Spans::new(axes[0]);
        let middle = (axes.len() == 3).then(|| Spans::new(axes[1]));
        let lane = LaneSpans::new(axes[axes.len() - 1], max_radius);
        let stride = lane.stride;
        let rows = grid.processors() / lane.extent;
        let table_rows = (outer.positions + 1) * middle.as_ref().map_or(1, |m| m.positions + 1);
        let prefixed = if axes.len() == 2 && !grid.is_wrapped() { 0 } else { rows };
        Self {
            table: vec![C::default(); table_rows * stride],
            prefixes: vec![C::default(); prefixed * stride],
            nothing: vec![C::default(); stride],
            row_counts: subset.chunks(lane.extent).map(|row| row.contains(&true)).collect(),
            subset: subset
                .chunks(lane.extent)
                .flat_map(|row| row.chunks(EIGHT).map(flags))
                .collect(),
            eights: lane.extent.div_ceil(EIGHT),
            rows,
            grid: grid.clone(),
            outer,
            middle,
            lane,
            stride,
            seen: 0,
            max_radius,
        }
    }

    /// Updates the table from `machine`. The topology of `machine` must be the grid for which the table was created.
    #[inline(always)]
    pub fn update(&mut self, machine: &Machine) {
        if machine.version() == self.seen {
            return;
        }
        let mut versions = machine.row_versions().iter();
        if self.prefixes.is_empty() {
            if let Some(row) = versions.position(|&version| version > self.seen) {
                self.sum_flat(row, machine);
            }
            self.seen = machine.version();
            return;
        }
        let mut first_dirty = None;
        for (row, &version) in versions.enumerate() {
            if version > self.seen {
                self.sum_row(row, machine);
                first_dirty.get_or_insert(row);
            }
        }
        self.seen = machine.version();
        match (first_dirty, self.middle.is_some()) {
            (None, _) => {}
            (Some(row), false) => self.sum_rows(row),
            (Some(_), true) => self.sum_planes(),
        }
    }

    /// Makes the next update read the whole machine.
    pub fn reset(&mut self) {
        self.seen = 0;
    }

    /// Recomputes the table of a 2D mesh from row `first` on.
    #[inline(always)]
    fn sum_flat(&mut self, first: usize, machine: &Machine) {
        let (pad, extent, stride) = (self.lane.pad, self.lane.extent, self.stride);
        for row in first..self.rows {
            let (done, rest) = self.table.split_at_mut((row + 1) * stride);
            let (below, sums) = (&done[row * stride + pad..], &mut rest[pad..stride]);
            if !self.row_counts[row] {
                sums.copy_from_slice(&below[..stride - pad]);
                continue;
            }
            let members = &self.subset[row * self.eights..][..self.eights];
            sum_along(sums, below, &machine.free_map()[row * extent..], members);
        }
    }

    #[inline(always)]
    fn sum_row(&mut self, row: usize, machine: &Machine) {
        let (pad, extent) = (self.lane.pad, self.lane.extent);
        let free = &machine.free_map()[row * extent..];
        let members = &self.subset[row * self.eights..][..self.eights];
        let prefix = &mut self.prefixes[row * self.stride..][..self.stride];
        if self.lane.wrapped {
            let mut sum = C::default();
            for (lane, entry) in (extent - pad..).zip(prefix) {
                *entry = sum;
                let lane = lane % extent;
                let member = members[lane / EIGHT] >> (8 * (lane % EIGHT)) & 1 == 1;
                sum = sum.plus(C::from(free[lane] & member));
            }
        } else {
            sum_along(&mut prefix[pad..], &self.nothing[pad..], free, members);
        }
    }

    /// Recomputes a 2D table from row `first` on, or from row 0 if the outer dimension wraps.
    #[inline(always)]
    fn sum_rows(&mut self, first: usize) {
        let stride = self.stride;
        let first = if self.outer.wrapped { 0 } else { first };
        for a in first..self.outer.positions {
            let (done, rest) = self.table.split_at_mut((a + 1) * stride);
            let prefix = &self.prefixes[self.outer.position(a) * stride..][..stride];
            let below = &done[a * stride..];
            for ((entry, &below), &prefix) in rest[..stride].iter_mut().zip(below).zip(prefix) {
                *entry = below.plus(prefix);
            }
        }
    }

    /// Recomputes a 3D table.
    fn sum_planes(&mut self) {
        let Some(middle) = &self.middle else { return };
        let stride = self.stride;
        let plane = (middle.positions + 1) * stride;
        let mut running = vec![C::default(); stride];
        for a in 0..self.outer.positions {
            running.fill(C::default());
            let first_row = self.outer.position(a) * middle.extent;
            for b in 0..middle.positions {
                let row = first_row + middle.position(b);
                let prefix = &self.prefixes[row * stride..][..stride];
                let (done, rest) = self.table.split_at_mut((a + 1) * plane + (b + 1) * stride);
                let below = &done[a * plane + (b + 1) * stride..][..stride];
                for (j, entry) in rest[..stride].iter_mut().enumerate() {
                    running[j] = running[j].plus(prefix[j]);
                    *entry = below[j].plus(running[j]);
                }
            }
        }
    }

    /// Returns the largest distance between two processors; larger radii give the same counts.
    pub fn max_radius(&self) -> u32 {
        self.max_radius
    }

    /// Returns the number of rows of centres.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns, for each of 16 centres, the number of members within L-infinity distance `radius`. The centres are
    /// those of `row` with lane positions `first_lane..first_lane + 16`. `first_lane` is a multiple of 16 below the row
    /// length; entries beyond the end of the row are meaningless.
    #[inline(always)]
    pub fn lanes(&self, row: Row, radius: u32, first_lane: usize) -> [C; LANES] {
        let radius = radius.min(self.max_radius) as usize;
        let [low, high] = self.lane.spans[radius];
        let (low, high) = (first_lane + low as usize, first_lane + high as usize);
        match &self.middle {
            None => {
                let [from, to] = self.outer.span(row.0, radius);
                sub(self.difference(to, low, high), self.difference(from, low, high))
            }
            Some(middle) => {
                let [from_a, to_a] = self.outer.span(row.0 / middle.extent, radius);
                let [from_b, to_b] = middle.span(row.0 % middle.extent, radius);
                let pitch = middle.positions + 1;
                let strip = |b: usize| {
                    sub(
                        self.difference(to_a * pitch + b, low, high),
                        self.difference(from_a * pitch + b, low, high),
                    )
                };
                sub(strip(to_b), strip(from_b))
            }
        }
    }

    /// Returns, for each of 16 centres, the number of grid positions within L-infinity distance `radius`, in the layout
    /// of [`BoxCounts::lanes`].
    #[inline(always)]
    pub fn lane_cells(&self, row: Row, radius: u32, first_lane: usize) -> [C; LANES] {
        let radius = radius.min(self.max_radius) as usize;
        let extent = |[from, to]: [usize; 2]| C::of(to - from);
        let across = match &self.middle {
            None => extent(self.outer.span(row.0, radius)),
            Some(middle) => {
                let outer = extent(self.outer.span(row.0 / middle.extent, radius));
                outer.times(extent(middle.span(row.0 % middle.extent, radius)))
            }
        };
        let lengths = self.lane.lengths(radius, first_lane);
        lengths.map(|length| C::of(usize::from(length)).times(across))
    }

    /// Returns 16 entries of `table_row[high..] - table_row[low..]`.
    #[inline(always)]
    fn difference(&self, table_row: usize, low: usize, high: usize) -> [C; LANES] {
        let row = table_row * self.stride;
        sub(load(&self.table[row + high..]), load(&self.table[row + low..]))
    }

    /// Returns the smallest radius within which `centre` has at least `size` members; `None` if there are fewer than
    /// `size` members.
    pub fn reach(&self, centre: NodeId, size: u32) -> Option<u32> {
        let (row, lane) = (centre.index() / self.lane.extent, centre.index() % self.lane.extent);
        let (outer, middle) = match &self.middle {
            None => (row, 0),
            Some(m) => (row / m.extent, row % m.extent),
        };
        (0..=self.max_radius).find(|&radius| {
            let [low, high] = self.lane.spans[radius as usize].map(|offset| lane + offset as usize);
            let middle = self.middle.as_ref().map_or([0, 0], |m| m.span(middle, radius as usize));
            self.sum(self.outer.span(outer, radius as usize), middle, low, high) >= size
        })
    }

    /// Returns the number of members in the box with the given first position and length along each dimension
    /// ([`Axis::interval`]). The box must lie on the grid, except along wrapped dimensions.
    pub fn count_box(&self, spans: [(i32, u32); 3]) -> u32 {
        let lane_axis = self.grid.dimensions() - 1;
        let (lane_low, lane_length) = spans[lane_axis];
        let low = (lane_low + self.lane.pad as i32) as usize;
        let middle = self.middle.as_ref().map_or([0, 0], |m| m.table_span(spans[1]));
        self.sum(self.outer.table_span(spans[0]), middle, low, low + lane_length as usize)
    }

    fn sum(&self, outer: [usize; 2], middle: [usize; 2], low: usize, high: usize) -> u32 {
        let at = |a: usize, b: usize| {
            let pitch = self.middle.as_ref().map_or(1, |m| m.positions + 1);
            let row = (a * pitch + b) * self.stride;
            self.table[row + high].minus(self.table[row + low])
        };
        let strip = |b: usize| at(outer[1], b).minus(at(outer[0], b));
        match self.middle {
            None => strip(0),
            Some(_) => strip(middle[1]).minus(strip(middle[0])),
        }
        .into()
    }
}

/// Number of processors whose flags are counted at a time.
const EIGHT: usize = 8;

/// For each bit pattern of eight processors, the number of members before each position. The first processor
/// corresponds to the lowest bit.
static BEFORE: [[u8; EIGHT]; 256] = {
    let mut before = [[0; EIGHT]; 256];
    let mut pattern = 0;
    while pattern < 256 {
        let mut i = 1;
        while i < EIGHT {
            before[pattern][i] = before[pattern][i - 1] + (pattern >> (i - 1) & 1) as u8;
            i += 1;
        }
        pattern += 1;
    }
    before
};

/// Sets each entry to the entry of `below` plus the number of free members before its position in a row. The row begins
/// at the first flags of `free` and `members`. The number of entries is a multiple of eight.
#[inline(always)]
fn sum_along<C: Count>(entries: &mut [C], below: &[C], free: &[bool], members: &[u64]) {
    let mut entries =
        entries.as_chunks_mut::<EIGHT>().0.iter_mut().zip(below.as_chunks::<EIGHT>().0);
    let mut sum = C::default();
    for (i, (members, (entries, below))) in members.iter().zip(&mut entries).enumerate() {
        let counted = flags(&free[i * EIGHT..]) & members;
        // The product gathers the lowest bit of each byte in its highest byte.
        let pattern = (counted.wrapping_mul(0x0102_0408_1020_4080) >> 56) as usize;
        let before = &BEFORE[pattern];
        for i in 0..EIGHT {
            entries[i] = below[i].plus(sum).plus(C::of(usize::from(before[i])));
        }
        sum = sum.plus(C::of(pattern.count_ones() as usize));
    }
    for (entries, below) in entries {
        *entries = below.map(|below| below.plus(sum));
    }
}

/// Returns the first eight flags as the bytes of an integer, with 0 after the end.
#[inline(always)]
fn flags(flags: &[bool]) -> u64 {
    let eight = flags.first_chunk().copied().unwrap_or_else(|| {
        let mut some = [false; EIGHT];
        some[..flags.len()].copy_from_slice(flags);
        some
    });
    u64::from_le_bytes(eight.map(u8::from))
}

/// Returns the first 16 entries.
#[inline(always)]
pub fn load<C: Count>(entries: &[C]) -> [C; LANES] {
    // The tables are padded, so there are always enough entries.
    entries.first_chunk().copied().unwrap_or_default()
}

#[inline(always)]
fn sub<C: Count>(a: [C; LANES], b: [C; LANES]) -> [C; LANES] {
    std::array::from_fn(|i| a[i].minus(b[i]))
}

/// Table positions of boxes along a clipped or continued dimension.
#[derive(Clone, Debug)]
struct Spans {
    axis: Axis,
    extent: usize,
    wrapped: bool,
    /// Number of positions in the table: the extent of the dimension, or nearly twice the extent if the dimension is
    /// wrapped.
    positions: usize,
    /// Table position of grid position 0.
    origin: usize,
}

impl Spans {
    fn new(axis: Axis) -> Self {
        let extent = usize::from(axis.extent);
        let (positions, origin) =
            if axis.wrapped { (2 * extent - 1, (extent - 1) / 2) } else { (extent, 0) };
        Self { axis, extent, wrapped: axis.wrapped, positions, origin }
    }

    /// Returns the first table position of the box around a grid position, and the table position after the end of the
    /// box.
    #[inline(always)]
    fn span(&self, position: usize, radius: usize) -> [usize; 2] {
        if self.wrapped {
            return self.table_span(self.axis.interval(position as u16, radius as u32));
        }
        [position.saturating_sub(radius), (position + radius + 1).min(self.extent)]
    }

    #[inline(always)]
    fn table_span(&self, (low, length): (i32, u32)) -> [usize; 2] {
        let low = (low + self.origin as i32) as usize;
        [low, low + length as usize]
    }

    /// Returns the grid position at a table position.
    fn position(&self, table: usize) -> usize {
        (table + self.extent - self.origin) % self.extent
    }
}

/// Offsets of boxes along the padded lane dimension; they are equal for all lanes.
#[derive(Clone, Debug)]
struct LaneSpans {
    extent: usize,
    wrapped: bool,
    /// Padding before lane 0.
    pad: usize,
    stride: usize,
    /// For each radius, the offsets from a lane to the low end and the high end of its box.
    spans: Vec<[u32; 2]>,
    /// For each padded lane position, the number of grid positions below it, modulo 2^16.
    positions: Vec<u16>,
}

impl LaneSpans {
    fn new(axis: Axis, max_radius: u32) -> Self {
        let extent = usize::from(axis.extent);
        let pad = if axis.wrapped { (extent - 1) / 2 } else { extent - 1 };
        let span = |radius: u32| {
            let reach = (radius as usize).min(pad);
            let length = 2 * radius as usize + 1;
            let length = if axis.wrapped { length.min(extent) } else { 2 * reach + 1 };
            [(pad - reach) as u32, (pad - reach + length) as u32]
        };
        let spans: Vec<_> = (0..=max_radius).map(span).collect();
        let widest = spans.iter().map(|s| s[1] as usize).max().unwrap_or(0);
        let stride = pad + (widest - pad + extent.next_multiple_of(LANES)).next_multiple_of(EIGHT);
        let below = |j: usize| if axis.wrapped { j } else { j.saturating_sub(pad).min(extent) };
        let positions = (0..stride).map(|j| below(j) as u16).collect();
        Self { extent, wrapped: axis.wrapped, pad, stride, spans, positions }
    }

    /// Returns, for each of 16 lanes, the number of positions of the dimension within `radius`. Values of lanes beyond
    /// the end of the row are meaningless.
    #[inline(always)]
    fn lengths(&self, radius: usize, first_lane: usize) -> [u16; LANES] {
        let [low, high] = self.spans[radius].map(|offset| first_lane + offset as usize);
        sub(load(&self.positions[high..]), load(&self.positions[low..]))
    }
}

#[cfg(test)]
mod tests;
