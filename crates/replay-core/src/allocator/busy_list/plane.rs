//! Planes of base positions, and what a prohibited region leaves of one.
//!
//! Source: Bani-Mohammad 2008, Figure 3.3 and Appendix B: seventeen cases, by how the
//! region lies over the plane along y and along z. Cost: constant.

use super::region::Region;

/// Positions along one axis, both ends inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::allocator) struct Span {
    pub low: u16,
    pub high: u16,
}

/// A rectangle of positions perpendicular to x.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::allocator) struct Plane {
    pub x: u16,
    pub y: Span,
    pub z: Span,
}

/// Which part of a span another one, which meets it, covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cover {
    /// All of it.
    Whole,
    /// The lower end; the part above stays.
    Lower,
    /// The upper end; the part below stays.
    Upper,
    /// The middle; a part on either side stays.
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
    /// Whether `region` and every region whose highest z is no greater lie below.
    #[inline]
    pub fn is_above(&self, region: &Region) -> bool {
        self.z.low > region.high[2]
    }

    /// Whether some position of the plane lies in `region`.
    #[inline]
    pub fn meets(&self, region: &Region) -> bool {
        // Without branches: which of the axes keeps the two apart is hard to foretell.
        let meets =
            |span: Span, i: usize| (span.low <= region.high[i]) & (region.low[i] <= span.high);
        region.covers_x(self.x) & meets(self.y, 1) & meets(self.z, 2)
    }

    /// Appends the positions of this plane outside `region`: at most four disjoint planes,
    /// none of them empty, in the order of the published figure.
    pub fn subtract(self, region: &Region, pieces: &mut Vec<Plane>) {
        use Cover::{Whole, Lower, Middle, Upper};
        if !self.meets(region) {
            pieces.push(self); // case 1
            return;
        }
        let Plane { y, z, .. } = self;
        let prohibited = |i: usize| Span { low: region.low[i], high: region.high[i] };
        let (v, w) = (prohibited(1), prohibited(2));
        // What stays on either side of the region. A part is evaluated only in the cases
        // in which it is not empty.
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
