//! Orientations of a frame.
//!
//! Source: Bani-Mohammad 2008, section 2.2.1: six permutations of the sides in 3D, in a
//! fixed order; two in 2D.

/// Orders of the axes in 3D, the first being the identity.
const SPACE: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
/// Orders of the axes in 2D.
const FLAT: [[usize; 3]; 2] = [[0, 1, 2], [1, 0, 2]];

/// The frame with these sides in every orientation of a mesh of that many dimensions, as
/// requested first. With equal sides some are the same.
pub(in crate::allocator) fn turned(
    sides: [u16; 3],
    dimensions: usize,
) -> impl Iterator<Item = [u16; 3]> + Clone {
    let orders = if dimensions == 2 { FLAT.as_slice() } else { SPACE.as_slice() };
    orders.iter().map(move |order| order.map(|axis| sides[axis]))
}

/// The same without those that have come before: no search for them can end otherwise.
pub(in crate::allocator) fn turned_once(
    sides: [u16; 3],
    dimensions: usize,
) -> impl Iterator<Item = [u16; 3]> {
    let all = turned(sides, dimensions);
    let before = all.clone();
    all.enumerate()
        .filter(move |&(i, turned)| before.clone().take(i).all(|earlier| earlier != turned))
        .map(|(_, turned)| turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientations_come_in_the_published_order() {
        assert_eq!(turned([4, 2, 1], 2).collect::<Vec<_>>(), [[4, 2, 1], [2, 4, 1]]);
        assert_eq!(
            turned([1, 2, 3], 3).collect::<Vec<_>>(),
            [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]
        );
    }

    #[test]
    fn equal_sides_give_fewer() {
        assert_eq!(turned([2, 2, 1], 3).count(), 6);
        assert_eq!(
            turned_once([2, 2, 1], 3).collect::<Vec<_>>(),
            [[2, 2, 1], [2, 1, 2], [1, 2, 2]]
        );
        assert_eq!(turned_once([3, 3, 1], 2).collect::<Vec<_>>(), [[3, 3, 1]]);
        assert_eq!(turned_once([2, 2, 2], 3).count(), 1);
    }
}
