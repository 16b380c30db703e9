//! How far each centre of a 2D mesh must reach, 16 centres at a time.
//!
//! The shell numbers of two neighbouring centres differ by at most one, so the search
//! for a centre's outermost shell begins just below that of the row before, and goes on
//! diamond by diamond.

use crate::machine::{DiamondCounts, LANES, Shorts};

/// Where the shells around a centre end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    /// Shell number of the outermost processor taken.
    pub outermost: usize,
    /// Number of processors in the complete shells before it.
    pub inner: usize,
    /// The same with the outermost shell.
    pub within: usize,
}

/// The reaches of all centres for one request.
#[derive(Debug)]
pub struct Reaches {
    pitch: usize,
    outermost: Vec<u16>,
    inner: Vec<u16>,
    within: Vec<u16>,
}

impl Reaches {
    /// Room for the centres of a mesh.
    pub fn new(counts: &DiamondCounts) -> Self {
        let pitch = counts.height().next_multiple_of(LANES);
        let entries = counts.width() * pitch;
        let [outermost, inner, within] = [(); 3].map(|()| vec![0; entries]);
        Self { pitch, outermost, inner, within }
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
                let wanted = std::array::from_fn(|i| {
                    u16::from(i < lanes && (!free_only || free[i / 8][i % 8] == 1))
                });
                if wanted.contains(&1) {
                    let [outermost, inner, within] =
                        reach(counts, x, lane, &wanted, at_least, size);
                    let at = x * self.pitch + lane;
                    self.outermost[at..at + LANES].copy_from_slice(&outermost);
                    self.inner[at..at + LANES].copy_from_slice(&inner);
                    self.within[at..at + LANES].copy_from_slice(&within);
                    let least = outermost[..lanes].iter().fold(u16::MAX, |least, &l| least.min(l));
                    at_least = at_least.max(usize::from(least));
                }
                at_least = at_least.saturating_sub(1).max(smallest_reach(size));
            }
        }
    }

    /// The outermost shell alone.
    #[inline]
    pub fn outermost(&self, x: usize, y: usize) -> usize {
        usize::from(self.outermost[x * self.pitch + y])
    }

    /// The reach of one centre.
    #[inline]
    pub fn of(&self, x: usize, y: usize) -> Reach {
        let at = x * self.pitch + y;
        let [outermost, inner, within] =
            [&self.outermost, &self.inner, &self.within].map(|table| usize::from(table[at]));
        Reach { outermost, inner, within }
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

/// Outermost shell, at least `at_least`, and numbers of processors without it and with
/// it, of 16 centres. For those not wanted the outermost shell is a lower bound.
#[inline(always)]
fn reach(
    counts: &DiamondCounts,
    x: usize,
    lane: usize,
    wanted: &[u16; LANES],
    at_least: usize,
    size: u16,
) -> [Shorts; 3] {
    let mut inner = at_least.checked_sub(1).map_or([0; LANES], |r| counts.within(x, lane, r));
    let mut outermost = [at_least as u16; LANES];
    let mut filled = [0; LANES];
    let mut radius = at_least;
    loop {
        let within = counts.within(x, lane, radius);
        let mut wanting = 0;
        for i in 0..LANES {
            // A lane is open until it holds enough.
            let open = if within[i] < size { u16::MAX } else { 0 };
            outermost[i] = outermost[i].wrapping_sub(open);
            inner[i] = within[i] & open | inner[i] & !open;
            let fills = !open & if filled[i] == 0 { u16::MAX } else { 0 };
            filled[i] |= within[i] & fills;
            wanting |= open & wanted[i];
        }
        if wanting == 0 {
            return [outermost, inner, filled];
        }
        radius += 1;
    }
}
