//! Rotation of a frame: the permutations of its sides.

/// Meaning of the parameter `rotate`.
pub const ROTATE: &str = "whether the other permutations of the sides (two in 2D, six in 3D) are also tried, as turning-... does";

/// Permutations of three sides in the order of Turning First Fit (Bani-Mohammad 2008, section
/// 2.2.1). Each entry contains the indices of the request's sides that are used along x, y, z.
const PERMUTATIONS: [[usize; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Returns the permutations of a frame in the published order: six in 3D and two in 2D. In 2D, the
/// third side does not change. If sides are equal, the same frame occurs repeatedly.
pub fn permutations(sides: [u16; 3], dimensions: usize) -> impl Iterator<Item = [u16; 3]> + Clone {
    let legal = move |p: &&[usize; 3]| dimensions == 3 || p[2] == 2;
    PERMUTATIONS.iter().filter(legal).map(move |p| p.map(|side| sides[side]))
}

/// Returns the distinct permutations of a frame in the published order.
pub fn distinct(sides: [u16; 3], dimensions: usize) -> impl Iterator<Item = [u16; 3]> {
    let all = permutations(sides, dimensions);
    let before = all.clone();
    let new = move |&(i, turned): &(usize, [u16; 3])| !before.clone().take(i).any(|b| b == turned);
    all.enumerate().filter(new).map(|(_, turned)| turned)
}

/// Returns the frame. If `turn` is set, the other permutations of the sides follow the frame,
/// without duplicates.
pub fn turned(sides: [u16; 3], dimensions: usize, turn: bool) -> impl Iterator<Item = [u16; 3]> {
    distinct(sides, dimensions).take(if turn { PERMUTATIONS.len() } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_in_the_published_order() {
        let turned = |sides, dimensions| turned(sides, dimensions, true).collect::<Vec<_>>();
        assert_eq!(
            turned([1, 2, 3], 3),
            [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]
        );
        assert_eq!(turned([4, 2, 1], 2), [[4, 2, 1], [2, 4, 1]]);
        assert_eq!(turned([3, 3, 1], 2), [[3, 3, 1]]);
        assert_eq!(turned([2, 2, 1], 3), [[2, 2, 1], [2, 1, 2], [1, 2, 2]]);
        assert_eq!(turned([2, 2, 2], 3), [[2, 2, 2]]);
        assert_eq!(permutations([2, 2, 1], 3).count(), 6);
        assert_eq!(super::turned([1, 2, 3], 3, false).collect::<Vec<_>>(), [[1, 2, 3]]);
    }
}
