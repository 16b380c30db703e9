//! Subcubes, written as ternary strings: `0**10*`.

use std::fmt;
use std::str::FromStr;

use crate::topology::NodeId;

/// A subcube: all processors whose number equals `base` in every bit that is not set in `stars`.
///
/// The ternary string of a subcube has one symbol per dimension, highest dimension first. The
/// symbol is a star if the subcube spans the dimension. [`Cube::text`] prints the ternary string,
/// and [`FromStr`] parses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cube {
    /// The spanned dimensions, as bits.
    pub stars: u32,
    /// The fixed bits; the bits of spanned dimensions are 0. The value is also the number of the
    /// lowest processor.
    pub base: u32,
}

impl Cube {
    /// Returns the whole hypercube of `n` dimensions.
    #[inline]
    pub fn whole(n: u32) -> Self {
        Self { stars: (1 << n) - 1, base: 0 }
    }

    /// Returns the number of spanned dimensions.
    #[inline]
    pub fn dimension(self) -> u32 {
        self.stars.count_ones()
    }

    /// Returns the number of processors.
    #[inline]
    pub fn processors(self) -> usize {
        1 << self.dimension()
    }

    /// Returns whether a processor belongs to the subcube.
    #[inline]
    pub fn contains(self, node: u32) -> bool {
        node & !self.stars == self.base
    }

    /// Returns whether every processor of `other` belongs to the subcube.
    #[inline]
    pub fn includes(self, other: Self) -> bool {
        other.stars & !self.stars == 0 && self.contains(other.base)
    }

    /// Returns the Hamming distance: the number of dimensions that both subcubes fix, but to
    /// different values. The distance is 0 if the subcubes share processors, and 1 if they are
    /// adjacent.
    #[inline]
    pub fn distance(self, other: Self) -> u32 {
        ((self.base ^ other.base) & !(self.stars | other.stars)).count_ones()
    }

    /// Returns the cube that consists of both subcubes if they are complementary; otherwise `None`.
    /// Two subcubes are complementary if they have the same stars, and if their fixed bits differ
    /// in exactly one dimension.
    #[inline]
    pub fn merged(self, other: Self) -> Option<Self> {
        let differing = self.base ^ other.base;
        (self.stars == other.stars && differing.is_power_of_two())
            .then_some(Self { stars: self.stars | differing, base: self.base & !differing })
    }

    /// Returns the halves along a spanned dimension; the half with bit 0 comes first.
    #[inline]
    pub fn halves(self, dimension: u32) -> (Self, Self) {
        let (bit, stars) = (1 << dimension, self.stars & !(1 << dimension));
        (Self { stars, base: self.base }, Self { stars, base: self.base | bit })
    }

    /// Returns the halves along the highest spanned dimension; the cube must span at least one
    /// dimension.
    #[inline]
    pub fn split(self) -> (Self, Self) {
        self.halves(self.stars.ilog2())
    }

    /// Converts this cube from addresses relative to `host` to absolute addresses. Bit i of a
    /// relative address is the i-th lowest dimension of the host. The order of dimensions must be
    /// preserved: with shuffled dimensions, routes of neighbouring jobs share channels (Turner
    /// 1995, theorem 1).
    #[inline]
    pub fn within(self, host: Self) -> Self {
        Self {
            stars: deposit(self.stars, host.stars),
            base: host.base | deposit(self.base, host.stars),
        }
    }

    /// Returns the processors along a binary reflected Gray code, beginning at the lowest
    /// processor. Consecutive processors are neighbours.
    #[inline]
    pub fn nodes(self) -> impl Iterator<Item = NodeId> {
        let mut at = self.base;
        (1..=self.processors() as u32).map(move |next| {
            let node = NodeId(at);
            // The result of the last step is outside the cube and is not used.
            at ^= deposit(next & next.wrapping_neg(), self.stars);
            node
        })
    }

    /// Returns the ternary string on a hypercube of `n` dimensions.
    #[inline]
    pub fn text(self, n: u32) -> String {
        let symbol = |bit| match (self.stars >> bit & 1, self.base >> bit & 1) {
            (1, _) => '*',
            (_, 1) => '1',
            _ => '0',
        };
        (0..n).rev().map(symbol).collect()
    }
}

/// Moves bit i of `value` to the i-th lowest set bit of `places`. Bits of `value` for which
/// `places` has no set bit are dropped.
#[inline]
pub fn deposit(value: u32, places: u32) -> u32 {
    let (mut rest, mut result, mut bit) = (places, 0, 0);
    while rest != 0 {
        let place = rest & rest.wrapping_neg();
        if value >> bit & 1 == 1 {
            result |= place;
        }
        rest ^= place;
        bit += 1;
    }
    result
}

/// Error: the text is not a ternary string.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is not a subcube (write 0, 1 or * for each dimension, up to 31, highest first)")]
pub struct CubeError(String);

impl FromStr for Cube {
    type Err = CubeError;

    fn from_str(text: &str) -> Result<Self, CubeError> {
        let error = || CubeError(text.to_string());
        if text.len() > 31 {
            return Err(error());
        }
        text.chars().try_fold(Cube::default(), |cube, symbol| {
            let (star, bit) = match symbol {
                '*' => (1, 0),
                '1' => (0, 1),
                '0' => (0, 0),
                _ => return Err(error()),
            };
            Ok(Cube { stars: cube.stars << 1 | star, base: cube.base << 1 | bit })
        })
    }
}

impl fmt::Display for Cube {
    /// Writes the ternary string without leading zeros, because a cube does not store the dimension
    /// of its hypercube.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u32::BITS - (self.stars | self.base).leading_zeros();
        f.write_str(&self.text(bits.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(text: &str) -> Cube {
        text.parse().expect("a subcube")
    }

    #[test]
    fn ternary_strings_parse_and_display() {
        for text in ["0**10*", "******", "000000", "110111"] {
            assert_eq!(cube(text).text(6), text);
        }
        assert_eq!(cube("0**10*").to_string(), "**10*");
        assert_eq!(cube("000").to_string(), "0");
        assert!("01x".parse::<Cube>().is_err());
        assert!("*".repeat(32).parse::<Cube>().is_err());
    }

    /// `0*` and `11` are adjacent but do not merge.
    #[test]
    fn only_complementary_cubes_merge() {
        assert_eq!(cube("0*").distance(cube("11")), 1);
        assert_eq!(cube("0*").merged(cube("11")), None);
        assert_eq!(cube("0*").merged(cube("1*")), Some(cube("**")));
        assert_eq!(cube("0*0").merged(cube("1*1")), None);
        assert_eq!(cube("0*0").merged(cube("0*0")), None);
        assert_eq!(cube("*1*").distance(cube("0*1")), 0);
    }

    #[test]
    fn split_halves_along_the_highest_star() {
        assert_eq!(cube("1**0*").split(), (cube("10*0*"), cube("11*0*")));
        assert_eq!(cube("1**0*").halves(0), (cube("1**00"), cube("1**01")));
    }

    #[test]
    fn relative_bits_keep_their_order() {
        let host = cube("1*0**");
        assert_eq!(cube("*10").within(host), cube("1*010"));
        assert_eq!(cube("0**").within(host), cube("100**"));
    }

    #[test]
    fn consecutive_processors_are_neighbours() {
        let host = cube("*0*1*");
        let nodes: Vec<_> = host.nodes().collect();
        assert_eq!(nodes.len(), 8);
        assert!(nodes.iter().all(|node| host.contains(node.0)));
        assert!(nodes.windows(2).all(|pair| (pair[0].0 ^ pair[1].0).is_power_of_two()));
    }
}
