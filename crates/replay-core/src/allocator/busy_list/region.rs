//! Boxes of base positions.
//!
//! Source: Bani-Mohammad 2008, section 3.2, definition 7. The base of a frame is its lowest corner.

use crate::topology::Coord;

/// A box of positions, including both corners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::allocator) struct Region {
    pub low: Coord,
    pub high: Coord,
}

impl Region {
    /// Returns the bases at which a frame with these sides would overlap the box `allocated`.
    pub fn prohibited(allocated: &Region, sides: [u16; 3]) -> Self {
        let first = |i: usize| (allocated.low[i] + 1).saturating_sub(sides[i]);
        Self { low: [first(0), first(1), first(2)], high: allocated.high }
    }

    /// Returns whether the box contains a position with this x.
    #[inline]
    pub fn covers_x(&self, x: u16) -> bool {
        (self.low[0] <= x) & (x <= self.high[0])
    }
}
