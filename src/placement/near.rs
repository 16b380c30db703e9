//! Which anchors of two placements share a cell.

use super::positions::meet;
use super::torus::Placement;

/// Which anchors of another placement share a cell with one of a placement: along each axis, by
/// position, the other's positions that do, times the stride of their anchors' numbers.
#[derive(Clone, Debug, Default)]
pub struct Near([Vec<Vec<u32>>; 3]);

impl Near {
    /// The anchors of `other` on a torus of these sides.
    pub fn new(length: [u16; 3], one: &Placement, other: &Placement) -> Self {
        let [_, y, z] = other.positions().map(<[u16]>::len);
        let strides = [y * z, z, 1];
        Self([0, 1, 2].map(|axis| {
            let (mine, theirs) = (one.sides[axis], other.sides[axis]);
            let near = |&at: &u16| {
                let others = other.positions()[axis].iter().enumerate();
                let meets = |&(_, &b): &(usize, &u16)| meet(length[axis], (at, mine), (b, theirs));
                others.filter(meets).map(|(index, _)| (index * strides[axis]) as u32).collect()
            };
            one.positions()[axis].iter().map(near).collect()
        }))
    }

    /// The anchors that share a cell with the one at these places along the axes.
    pub fn of(&self, at: [usize; 3]) -> impl Iterator<Item = usize> + '_ {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.0.get(axis).and_then(|all| all.get(at[axis])));
        let [xs, ys, zs] = [xs, ys, zs].map(|all| all.map_or(&[][..], Vec::as_slice));
        let rows = xs.iter().flat_map(move |x| ys.iter().map(move |y| x + y));
        rows.flat_map(move |row| zs.iter().map(move |z| (row + z) as usize))
    }
}
