//! Rules that select the sides of jobs without shape.

use super::volume;
use crate::topology::Grid;

/// Rule that converts a number of processors into side lengths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ShapeRule {
    /// Among the boxes that can hold the job, the box with the smallest total side length. If
    /// several boxes have the same smallest total side length, the box with the smallest volume is
    /// used. The box may hold more processors than requested.
    #[default]
    NearSquare,
    /// Among the boxes of exactly the requested volume, the box with the smallest total side
    /// length. If no such box fits the machine, the box of `NearSquare` is used.
    Factors,
}

impl ShapeRule {
    /// Every rule with its name.
    pub const ALL: [(&'static str, ShapeRule); 2] =
        [("near-square", ShapeRule::NearSquare), ("factors", ShapeRule::Factors)];

    /// Every rule with its name, for strategies whose default is `Factors`.
    pub const FACTORS_FIRST: [(&'static str, ShapeRule); 2] = [Self::ALL[1], Self::ALL[0]];

    /// Returns side lengths for `size` processors that fit `grid`. The longest side comes first if
    /// it fits in this orientation. Returns `None` if the grid has fewer than `size` processors.
    pub fn shape(self, size: u32, grid: &Grid) -> Option<[u16; 3]> {
        let fitting = || boxes(size, grid);
        let compact = |shape: &[u16; 3]| {
            let [x, y, z] = shape.map(u64::from);
            (x + y + z, x * y * z, std::cmp::Reverse((x, y)))
        };
        let exact = match self {
            ShapeRule::Factors => {
                fitting().filter(|shape| volume(*shape) == u64::from(size)).min_by_key(compact)
            }
            ShapeRule::NearSquare => None,
        };
        exact.or_else(|| fitting().min_by_key(compact))
    }
}

/// Returns the boxes that fit the grid and can hold `size` processors, but could not hold them if
/// the last side were shorter.
fn boxes(size: u32, grid: &Grid) -> impl Iterator<Item = [u16; 3]> {
    let [x, y, z] = grid.axes().map(|axis| axis.extent);
    let flat = grid.dimensions() == 2;
    let pairs = (1..=x).flat_map(move |a| (1..=if flat { 1 } else { y }).map(move |b| (a, b)));
    pairs.filter_map(move |(a, b)| {
        let rest = size.div_ceil(u32::from(a) * u32::from(b));
        let rest = u16::try_from(rest).ok()?;
        if flat { (rest <= y).then_some([a, rest, 1]) } else { (rest <= z).then_some([a, b, rest]) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn shape(rule: ShapeRule, size: u32, machine: &str) -> Option<[u16; 3]> {
        let topology: Topology = machine.parse().expect("a machine");
        rule.shape(size, topology.grid().expect("a grid"))
    }

    #[test]
    fn shapes_are_compact_and_fit() {
        use ShapeRule::{Factors, NearSquare};
        assert_eq!(shape(NearSquare, 7, "10x10"), Some([4, 2, 1]));
        assert_eq!(shape(NearSquare, 9, "10x10"), Some([3, 3, 1]));
        assert_eq!(shape(NearSquare, 20, "10x10"), Some([5, 4, 1]));
        assert_eq!(shape(NearSquare, 20, "3x10"), Some([3, 7, 1]));
        assert_eq!(shape(NearSquare, 27, "8x8x8"), Some([3, 3, 3]));
        assert_eq!(shape(Factors, 7, "10x10"), Some([7, 1, 1]));
        assert_eq!(shape(Factors, 13, "10x10"), shape(NearSquare, 13, "10x10"));
        assert_eq!(shape(NearSquare, 101, "10x10"), None);
    }
}
