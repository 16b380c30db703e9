//! Selection of a shape for a request without shape.

use std::cmp::Reverse;

use replay_engine::allocator::submesh::distinct;
use replay_engine::topology::Grid;

/// Returns the box of exactly `size` processors with the smallest total side length. The box has
/// the first orientation that fits the mesh. If no orientation fits, the longest side comes first,
/// and GABL divides the box later. Returns `None` if `size` is zero.
///
/// Cost: `size` to the power of 1/2 in 2D, and to the power of 5/6 in 3D.
pub(super) fn most_square(size: u32, grid: &Grid) -> Option<[u32; 3]> {
    let dimensions = grid.dimensions();
    let shortest = if dimensions == 2 { 1 } else { size };
    let boxes = divisors(size, 3)
        .take_while(|&c| c <= shortest)
        .flat_map(|c| divisors(size / c, 2).map(move |b| [size / c / b, b, c]));
    let mut sides = boxes.min_by_key(|sides| (sides.iter().sum::<u32>(), sides[0]))?;
    sides.sort_by_key(|&side| Reverse(side));
    let fits = |sides: &[u16; 3]| (0..3).all(|i| usize::from(sides[i]) <= grid.extent(i));
    let fitting = coordinates(sides).and_then(|sides| distinct(sides, dimensions).find(fits));
    Some(fitting.map_or(sides, |sides| sides.map(u32::from)))
}

/// Returns the sides as coordinates; `None` if a side exceeds their range, so that the box is longer than every mesh.
pub(super) fn coordinates(sides: [u32; 3]) -> Option<[u16; 3]> {
    let [x, y, z] = sides.map(|side| u16::try_from(side).ok());
    Some([x?, y?, z?])
}

/// Returns the divisors of `n` that are at most the root of `n` of degree `degree`, in increasing
/// order.
fn divisors(n: u32, degree: u32) -> impl Iterator<Item = u32> {
    (1..=n)
        .take_while(move |&d| u64::from(d).pow(degree) <= u64::from(n))
        .filter(move |&d| n.is_multiple_of(d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::busy_list::cases::grid;
    fn shape(size: u32, machine: &str) -> [u32; 3] {
        most_square(size, &grid(machine)).expect("a shape")
    }

    #[test]
    fn shapes_are_as_square_as_possible() {
        assert_eq!(shape(12, "8x8"), [4, 3, 1]);
        assert_eq!(shape(12, "3x8"), [3, 4, 1]);
        assert_eq!(shape(13, "8x8"), [13, 1, 1]);
        assert_eq!(shape(1, "8x8"), [1, 1, 1]);
        assert_eq!(shape(24, "8x8x8"), [4, 3, 2]);
        assert_eq!(shape(24, "2x3x9"), [2, 3, 4]);
        // The sums of the sides of 6 x 3 x 2 and 9 x 2 x 2 are larger.
        assert_eq!(shape(36, "16x16x16"), [4, 3, 3]);
        assert_eq!(shape(27, "4x4x2"), [3, 3, 3]);
        assert_eq!(shape(65_521, "255x257"), [65_521, 1, 1]);
        assert_eq!(shape(65_537, "512x512"), [65_537, 1, 1]);
        assert_eq!(most_square(0, &grid("8x8")), None);
    }

    /// Compares with all boxes of the volume.
    #[test]
    fn shapes_have_the_least_total_side_length() {
        let length = |sides: [u32; 3]| sides.iter().sum::<u32>();
        for size in 1..=150u32 {
            let pairs = (1..=size).flat_map(|a| (1..=size).map(move |b| (a, b)));
            let boxes: Vec<_> = pairs
                .filter(|(a, b)| size.is_multiple_of(a * b))
                .map(|(a, b)| [a, b, size / (a * b)])
                .collect();
            let least = boxes.iter().map(|&sides| length(sides)).min();
            let flat = boxes.iter().filter(|sides| sides[2] == 1).map(|&sides| length(sides)).min();
            for (machine, least) in [("16x16x16", least), ("16x16", flat)] {
                let sides = shape(size, machine);
                assert_eq!((sides.iter().product(), Some(length(sides))), (size, least));
            }
        }
    }
}
