//! Turning a frame: its permutations of sides.

/// Permutations of three sides in the order of the Turning First Fit (Bani-Mohammad 2008,
/// section 2.2.1); each entry says which side of the request lies along x, y, z.
pub const PERMUTATIONS: [[usize; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The permutations of a frame in that order: six in 3D, two in 2D, where the third side
/// stays. Frames with equal sides come repeatedly.
pub fn permutations(sides: [u16; 3], dimensions: usize) -> impl Iterator<Item = [u16; 3]> {
    let legal = move |p: &&[usize; 3]| dimensions == 3 || p[2] == 2;
    PERMUTATIONS.iter().filter(legal).map(move |p| p.map(|side| sides[side]))
}

/// Appends the frame, and if it may be turned its other permutations, each once.
pub fn push_turned(sides: [u16; 3], dimensions: usize, turn: bool, list: &mut Vec<[u16; 3]>) {
    let start = list.len();
    for turned in permutations(sides, dimensions).take(if turn { 6 } else { 1 }) {
        if !list[start..].contains(&turned) {
            list.push(turned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(sides: [u16; 3], dimensions: usize) -> Vec<[u16; 3]> {
        let mut list = Vec::new();
        push_turned(sides, dimensions, true, &mut list);
        list
    }

    #[test]
    fn permutations_come_in_the_published_order() {
        assert_eq!(
            turned([1, 2, 3], 3),
            [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]
        );
        assert_eq!(turned([4, 2, 1], 2), [[4, 2, 1], [2, 4, 1]]);
        assert_eq!(turned([2, 2, 1], 3), [[2, 2, 1], [2, 1, 2], [1, 2, 2]]);
        assert_eq!(turned([2, 2, 2], 3), [[2, 2, 2]]);
    }
}
