//! A set of processors of a hypercube.

use replay_engine::allocator::subcube::Cube;
use replay_engine::bits;

/// The masks of a word by position: mask p contains the bits whose index has a 0 at position p.
pub const LOW_HALVES: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// A set of processors with one bit per processor. An operation on a subcube of k dimensions costs
/// k steps, and one step for each word that contains processors of the subcube.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeSet {
    words: Vec<u64>,
    count: usize,
}

impl NodeSet {
    /// Creates the empty set on a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { words: vec![0; (1usize << n).div_ceil(64)], count: 0 }
    }

    /// Returns the words: processor p is bit p % 64 of word p / 64.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the number of processors in the set.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether a processor is in the set.
    #[cfg(test)]
    pub fn has(&self, node: u32) -> bool {
        bits::get(&self.words, node as usize)
    }

    /// Returns whether all processors of the cube are in the set.
    pub fn includes(&self, cube: Cube) -> bool {
        let pattern = Self::pattern(cube);
        words_of(cube).all(|word| self.words[word] & pattern == pattern)
    }

    /// Adds the processors of the cube. None of these processors may be in the set.
    pub fn insert(&mut self, cube: Cube) {
        let pattern = Self::pattern(cube);
        for word in words_of(cube) {
            debug_assert_eq!(self.words[word] & pattern, 0, "{cube} is added twice");
            self.words[word] |= pattern;
        }
        self.count += cube.processors();
    }

    /// Removes the processors of the cube. All of these processors must be in the set.
    pub fn remove(&mut self, cube: Cube) {
        let pattern = Self::pattern(cube);
        for word in words_of(cube) {
            debug_assert_eq!(self.words[word] & pattern, pattern, "{cube} is removed twice");
            self.words[word] &= !pattern;
        }
        self.count -= cube.processors();
    }

    /// Returns the bits of a cube in a word. The bits are equal in all words that the cube touches.
    pub fn pattern(cube: Cube) -> u64 {
        let mut pattern = 1u64 << (cube.base % 64);
        let mut stars = cube.stars % 64;
        while stars != 0 {
            pattern |= pattern << (stars & stars.wrapping_neg());
            stars &= stars - 1;
        }
        pattern
    }

    /// Replaces the set by the processors of the cube.
    pub fn set_to(&mut self, cube: Cube) {
        self.words.fill(0);
        self.count = 0;
        self.insert(cube);
    }

    /// Replaces the set by a copy of a set on the same hypercube.
    pub fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
        self.count = other.count;
    }
}

/// Returns the indices of the words that contain processors of a cube, in ascending order.
pub fn words_of(cube: Cube) -> impl Iterator<Item = usize> {
    let (base, stars) = (cube.base / 64, cube.stars / 64);
    let mut next = Some(0u32);
    std::iter::from_fn(move || {
        let offset = next?;
        // The next number in which only bits of the stars are set.
        let following = offset.wrapping_sub(stars) & stars;
        next = (following != 0).then_some(following);
        Some((base | offset) as usize)
    })
}

/// Returns the lowest set bit.
pub fn first_bit(words: &[u64]) -> Option<u32> {
    bits::first(words).map(|bit| bit as u32)
}

/// Returns the bits of word `at` that are 0 in `dimension` and whose neighbour along `dimension` is
/// also set.
pub fn pairs(words: &[u64], at: usize, dimension: u32) -> u64 {
    let word = words[at];
    match dimension {
        0..6 => word & word >> (1 << dimension) & LOW_HALVES[dimension as usize],
        _ if at >> (dimension - 6) & 1 == 1 => 0,
        _ => word & words[at | 1 << (dimension - 6)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_contain_the_processors_of_their_cubes() {
        let mut set = NodeSet::new(8);
        let cubes: [Cube; 3] = ["1**0*10*", "0**1****", "11111111"].map(|t| t.parse().expect(t));
        cubes.into_iter().for_each(|cube| set.insert(cube));
        assert_eq!(set.len(), 16 + 64 + 1);
        for node in 0..256 {
            assert_eq!(set.has(node), cubes.iter().any(|cube| cube.contains(node)), "{node}");
        }
        assert!(set.includes("10*0010*".parse().expect("a subcube")));
        assert!(!set.includes("1*******".parse().expect("a subcube")));
        set.remove(cubes[0]);
        assert!(!set.has(cubes[0].base) && set.has(cubes[1].base));
        let mut copy = NodeSet::new(8);
        copy.copy_from(&set);
        assert_eq!(copy, set);
        copy.set_to(Cube::whole(8));
        assert_eq!(copy.len(), 256);
    }
}
