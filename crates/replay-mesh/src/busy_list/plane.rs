//! Boxes and planes of base positions, and the pieces of a plane outside a prohibited region.
//!
//! Source: Bani-Mohammad 2008, Figure 3.3 and Appendix B. There are seventeen cases, which depend
//! on the position of the region relative to the plane along y and along z. The cost is constant.

use replay_engine::topology::Coord;

/// A box of base positions, including both corners. The base of a frame is its lowest corner (Bani-Mohammad 2008,
/// section 3.2, definition 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
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

/// A range of positions along one axis, including both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub low: u16,
    pub high: u16,
}

/// A rectangle of positions perpendicular to x.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plane {
    pub x: u16,
    pub y: Span,
    pub z: Span,
}

/// The part of a span that another span covers. The two spans must overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cover {
    /// The whole span.
    Whole,
    /// The lower end of the span is covered; the upper part remains.
    Lower,
    /// The upper end of the span is covered; the lower part remains.
    Upper,
    /// The middle of the span is covered; a part on either side remains.
    Middle,
}

impl Span {
    fn cover(self, by: Span) -> Cover {
        match (by.low <= self.low, self.high <= by.high) {
            (true, true) => Cover::Whole,
            (true, false) => Cover::Lower,
            (false, true) => Cover::Upper,
            (false, false) => Cover::Middle,
        }
    }
}

impl Plane {
    /// Returns whether the plane is above `region`. A plane above `region` is also above every region whose highest z
    /// is not greater than that of `region`.
    #[inline]
    pub fn is_above(&self, region: &Region) -> bool {
        self.z.low > region.high[2]
    }

    /// Returns whether `region` contains a position of the plane.
    #[inline]
    pub fn meets(&self, region: &Region) -> bool {
        // This code has no branches, because it is hard to predict which axis separates plane and
        // region.
        let meets =
            |span: Span, i: usize| (span.low <= region.high[i]) & (region.low[i] <= span.high);
        region.covers_x(self.x) & meets(self.y, 1) & meets(self.z, 2)
    }

    /// Appends the positions of this plane outside `region` to `pieces`. The appended positions
    /// form at most four disjoint, non-empty planes, which are appended in the order of the
    /// published figure.
    pub fn subtract(self, region: &Region, pieces: &mut Vec<Plane>) {
        use Cover::{Lower, Middle, Upper, Whole};
        if !self.meets(region) {
            pieces.push(self); // case 1
            return;
        }
        let Plane { y, z, .. } = self;
        let prohibited = |i: usize| Span { low: region.low[i], high: region.high[i] };
        let (v, w) = (prohibited(1), prohibited(2));
        // The parts of a span below and above the region. A part is evaluated only in the cases in which it is not
        // empty.
        let below = |span: Span, cut: Span| Span { low: span.low, high: cut.low - 1 };
        let above = |span: Span, cut: Span| Span { low: cut.high + 1, high: span.high };
        let from = |low: u16, high: u16| Span { low, high };
        let mut add = |y: Span, z: Span| pieces.push(Plane { x: self.x, y, z });
        match (y.cover(v), z.cover(w)) {
            // case 2
            (Whole, Upper) => add(y, below(z, w)),
            // case 3
            (Lower, Upper) => {
                add(y, below(z, w));
                add(above(y, v), from(w.low, z.high));
            }
            // case 4
            (Upper, Upper) => {
                add(y, below(z, w));
                add(below(y, v), from(w.low, z.high));
            }
            // case 5
            (Whole, Lower) => add(y, above(z, w)),
            // case 6
            (Lower, Lower) => {
                add(above(y, v), from(z.low, w.high));
                add(y, above(z, w));
            }
            // case 7
            (Upper, Lower) => {
                add(below(y, v), from(z.low, w.high));
                add(y, above(z, w));
            }
            // case 8
            (Whole, Middle) => {
                add(y, below(z, w));
                add(y, above(z, w));
            }
            // case 9
            (Lower, Middle) => {
                add(from(y.low, v.high), below(z, w));
                add(above(y, v), z);
                add(from(y.low, v.high), above(z, w));
            }
            // case 10
            (Upper, Middle) => {
                add(below(y, v), z);
                add(from(v.low, y.high), below(z, w));
                add(from(v.low, y.high), above(z, w));
            }
            // case 11
            (Middle, Middle) => {
                add(below(y, v), z);
                add(above(y, v), z);
                add(v, below(z, w));
                add(v, above(z, w));
            }
            // case 12
            (Middle, Whole) => {
                add(below(y, v), z);
                add(above(y, v), z);
            }
            // case 13
            (Middle, Upper) => {
                add(below(y, v), z);
                add(above(y, v), z);
                add(v, below(z, w));
            }
            // case 14
            (Middle, Lower) => {
                add(below(y, v), z);
                add(above(y, v), z);
                add(v, above(z, w));
            }
            // case 15
            (Whole, Whole) => {}
            // case 16
            (Lower, Whole) => add(above(y, v), z),
            // case 17
            (Upper, Whole) => add(below(y, v), z),
        }
    }
}

#[cfg(test)]
mod tests;
