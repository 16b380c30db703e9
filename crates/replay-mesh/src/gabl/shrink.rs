//! Step 4 of GABL: the next smaller shape.

/// Choice of the side that shrinks if several sides are equally long. The source does not specify
/// this choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TieShrink {
    /// The first of the longest sides in the order x, y, z.
    #[default]
    First,
    /// The last of the longest sides in the order x, y, z.
    Last,
}

impl TieShrink {
    /// Every rule with its name. The papers call the sides of a request a, b and, in 3D, c.
    pub const ALL: [(&'static str, TieShrink); 2] =
        [("a", TieShrink::First), ("b", TieShrink::Last)];

    /// Shortens the longest side by one. Returns `None` if no side is longer than one.
    pub fn shrink(self, sides: &mut [u32; 3]) -> Option<()> {
        let longest = sides.iter().copied().max().filter(|&side| side > 1)?;
        let is_longest = |side: &u32| *side == longest;
        let axis = match self {
            TieShrink::First => sides.iter().position(is_longest)?,
            TieShrink::Last => sides.iter().rposition(is_longest)?,
        };
        sides[axis] -= 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(tie: TieShrink, mut sides: [u32; 3]) -> Vec<[u32; 3]> {
        std::iter::from_fn(|| tie.shrink(&mut sides).map(|()| sides)).collect()
    }

    #[test]
    fn the_longest_side_shrinks_down_to_one_processor() {
        let down = [[3, 2, 1], [2, 2, 1], [1, 2, 1], [1, 1, 1]];
        assert_eq!(shapes(TieShrink::First, [4, 2, 1]), down);
        let down = [[3, 2, 1], [2, 2, 1], [2, 1, 1], [1, 1, 1]];
        assert_eq!(shapes(TieShrink::Last, [4, 2, 1]), down);
        assert_eq!(shapes(TieShrink::First, [2, 2, 2]), [[1, 2, 2], [1, 1, 2], [1, 1, 1]]);
        assert_eq!(shapes(TieShrink::Last, [2, 2, 2]), [[2, 2, 1], [2, 1, 1], [1, 1, 1]]);
    }
}
