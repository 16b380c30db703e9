//! Bases of frames that fit on the mesh, and the right border planes of sub-meshes.
//!
//! Source: Bani-Mohammad 2008, section 3.2, definitions 8 and 9.

use crate::busy_list::plane::{Plane, Region, Span};
use replay_engine::topology::Coord;

/// The bases of frames that fit on the mesh: all positions from the origin to `last`. The remaining
/// positions of the mesh, beyond `last`, form the automatic prohibited regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Admissible {
    pub last: Coord,
}

impl Admissible {
    /// Returns the admissible bases for frames with these sides; `None` if a side is longer than
    /// the mesh.
    pub fn new(extents: Coord, sides: [u16; 3]) -> Option<Self> {
        let mut last = [0; 3];
        for i in 0..3 {
            last[i] = extents[i].checked_sub(sides[i])?;
        }
        Some(Self { last })
    }

    /// Returns the right border plane of the hypothetical sub-mesh to the left of the mesh: the
    /// bases at the left wall.
    pub fn left_wall(&self) -> Plane {
        let up_to = |high: u16| Span { low: 0, high };
        Plane { x: 0, y: up_to(self.last[1]), z: up_to(self.last[2]) }
    }

    /// Returns the right border plane of the sub-mesh with this prohibited region: the bases of the
    /// frames that touch the right face of the sub-mesh. Returns `None` if no such frame fits on
    /// the mesh.
    pub fn right_border(&self, prohibited: &Region) -> Option<Plane> {
        let x = prohibited.high[0] + 1;
        let clipped =
            |i: usize| Span { low: prohibited.low[i], high: prohibited.high[i].min(self.last[i]) };
        let (y, z) = (clipped(1), clipped(2));
        (x <= self.last[0] && y.low <= y.high && z.low <= z.high).then_some(Plane { x, y, z })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(a: [u16; 6]) -> Region {
        Region { low: [a[0], a[1], a[2]], high: [a[3], a[4], a[5]] }
    }

    #[test]
    fn prohibited_regions_extend_back_by_the_sides_of_the_frame() {
        let allocated = region([1, 1, 0, 2, 2, 1]);
        assert_eq!(Region::prohibited(&allocated, [2, 2, 2]), region([0, 0, 0, 2, 2, 1]));
        assert_eq!(Region::prohibited(&allocated, [1, 1, 1]), allocated);
    }

    #[test]
    fn borders_are_clipped_to_frames_on_the_mesh() {
        let admissible = Admissible::new([4, 4, 4], [2, 1, 2]).expect("it fits");
        assert_eq!(admissible.last, [2, 3, 2]);
        let border = admissible.right_border(&region([0, 0, 0, 1, 3, 3])).expect("inside");
        assert_eq!(
            border,
            Plane { x: 2, y: Span { low: 0, high: 3 }, z: Span { low: 0, high: 2 } }
        );
        // None of these sub-meshes has a right border plane: the first is too near the right wall,
        // the second touches the right wall, and the third is too near the top.
        for outside in [[2, 0, 0, 2, 3, 3], [2, 0, 0, 3, 3, 3], [0, 0, 3, 1, 3, 3]] {
            assert_eq!(admissible.right_border(&region(outside)), None);
        }
        assert_eq!(Admissible::new([4, 4, 4], [5, 1, 1]), None);
    }
}
