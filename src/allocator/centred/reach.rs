//! How far each centre of a 2D mesh must reach, 16 centres at a time.
//!
//! The shell numbers of two neighbouring centres differ by at most one, so the search
//! for a centre's outermost shell begins just below that of the row before: one count of
//! a whole diamond from strips, then shell by shell.

use crate::machine::{DiamondCounts, LANES};

/// Where the shells around a centre end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    /// Shell number of the outermost processor taken.
    pub outermost: usize,
    /// Number of processors in the complete shells before it.
    pub inner: usize,
}

/// The reaches of all centres for one request.
#[derive(Debug)]
pub struct Reaches {
    pitch: usize,
    outermost: Vec<u16>,
    inner: Vec<u16>,
}

impl Reaches {
    /// Room for the centres of a mesh.
    pub fn new(counts: &DiamondCounts) -> Self {
        let pitch = counts.height().next_multiple_of(LANES);
        let entries = counts.width() * pitch;
        Self { pitch, outermost: vec![0; entries], inner: vec![0; entries] }
    }

    /// Computes the reaches for `size` processors, of which more are free; if `free_only`,
    /// those of busy centres mean nothing.
    pub fn compute(&mut self, counts: &DiamondCounts, size: u16, free_only: bool) {
        for lane in (0..counts.height()).step_by(LANES) {
            let lanes = LANES.min(counts.height() - lane);
            // No centre of the row reaches less far than this.
            let mut at_least = smallest_reach(size);
            for x in 0..counts.width() {
                let free = counts.free_lanes(x, lane).map(u64::to_le_bytes);
                let wanted: [bool; LANES] =
                    std::array::from_fn(|i| i < lanes && (!free_only || free[i / 8][i % 8] == 1));
                if wanted.contains(&true) {
                    let (outermost, inner) = reach(counts, x, lane, &wanted, at_least, size);
                    let at = x * self.pitch + lane;
                    self.outermost[at..at + LANES].copy_from_slice(&outermost);
                    self.inner[at..at + LANES].copy_from_slice(&inner);
                    let least = outermost[..lanes].iter().fold(u16::MAX, |least, &l| least.min(l));
                    at_least = at_least.max(usize::from(least));
                }
                at_least = at_least.saturating_sub(1).max(smallest_reach(size));
            }
        }
    }

    /// The reach of one centre.
    #[inline]
    pub fn of(&self, x: usize, y: usize) -> Reach {
        let at = x * self.pitch + y;
        Reach { outermost: usize::from(self.outermost[at]), inner: usize::from(self.inner[at]) }
    }
}

/// The least radius at which a diamond, of 2 r^2 + 2 r + 1 positions, can hold `size`.
fn smallest_reach(size: u16) -> usize {
    let mut radius = 0;
    while 2 * radius * (radius + 1) + 1 < usize::from(size) {
        radius += 1;
    }
    radius
}

/// Outermost shell, at least `at_least`, and number of processors within it, of 16
/// centres. For those not wanted the outermost shell is a lower bound.
#[inline(always)]
fn reach(
    counts: &DiamondCounts,
    x: usize,
    lane: usize,
    wanted: &[bool; LANES],
    at_least: usize,
    size: u16,
) -> ([u16; LANES], [u16; LANES]) {
    let mut strips = [0u64; 4];
    if let Some(radius) = at_least.checked_sub(1) {
        for row in x.saturating_sub(radius)..(x + radius + 1).min(counts.width()) {
            let strip = counts.strips_y(row, lane, radius - row.abs_diff(x));
            for i in 0..4 {
                strips[i] += strip[i];
            }
        }
    }
    let mut within: [u16; LANES] =
        std::array::from_fn(|i| (strips[i / 4] >> (16 * (i % 4))) as u16);
    let (mut outermost, mut inner) = ([0u16; LANES], [0u16; LANES]);
    let mut radius = at_least;
    loop {
        let shell = shell(counts, x, lane, radius);
        let mut wanting = 0;
        for i in 0..LANES {
            // A lane is open until it holds enough.
            let open = within[i] < size;
            outermost[i] = if open { radius as u16 } else { outermost[i] };
            inner[i] = if open { within[i] } else { inner[i] };
            within[i] += shell[i];
            wanting |= u8::from(within[i] < size) & u8::from(wanted[i]);
        }
        if wanting == 0 {
            return (outermost, inner);
        }
        radius += 1;
    }
}

/// Number of free processors at distance `radius` of 16 centres.
#[inline(always)]
fn shell(counts: &DiamondCounts, x: usize, lane: usize, radius: usize) -> [u16; LANES] {
    let mut sum = [0u16; LANES];
    // The two tips of the diamond in x, which may be one.
    for row in [x.checked_sub(radius), (radius > 0).then_some(x + radius)].into_iter().flatten() {
        if row < counts.width() {
            add(&mut sum, &counts.free_lanes(row, lane));
        }
    }
    // Elsewhere a row has two processors in the shell, at plus and minus its reach.
    let last = radius.min(counts.height() - 1);
    let mut first = 1;
    while first <= last {
        // Four processors for each reach: the sum of 60 fits a byte.
        let end = (last + 1).min(first + 60);
        let mut bytes = [0; 2];
        for reach in first..end {
            let distance = radius - reach;
            if distance <= x {
                pair(&mut bytes, counts, x - distance, lane, reach);
            }
            if distance > 0 && x + distance < counts.width() {
                pair(&mut bytes, counts, x + distance, lane, reach);
            }
        }
        add(&mut sum, &bytes);
        first = end;
    }
    sum
}

#[inline(always)]
fn pair(sum: &mut [u64; 2], counts: &DiamondCounts, row: usize, lane: usize, reach: usize) {
    let [low, high] = counts.free_pairs(row, lane, reach);
    sum[0] += low;
    sum[1] += high;
}

#[inline(always)]
fn add(sum: &mut [u16; LANES], bytes: &[u64; 2]) {
    let bytes = bytes.map(u64::to_le_bytes);
    for i in 0..LANES {
        sum[i] += u16::from(bytes[i / 8][i % 8]);
    }
}
