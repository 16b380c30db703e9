//! A data structure for disjoint subcubes, with one list per dimension in order of insertion, and the merging of
//! subcubes.

use crate::hypercube::chains::Chains;
use replay_engine::allocator::subcube::Cube;
use replay_engine::topology::Hypercube;

/// Number of lists: one for each dimension from 0 to 15.
const LISTS: usize = Hypercube::MAX_DIMENSIONS as usize + 1;

/// Value that marks the absence of a cube.
const NONE: u32 = u32::MAX;

/// Disjoint subcubes of one hypercube, with one list for each dimension. Disjoint cubes have
/// different bases, so the base identifies a cube. Every operation takes constant time, except
/// [`CubeLists::partner`], which checks one entry per dimension of the hypercube.
#[derive(Clone, Debug)]
pub struct CubeLists {
    n: u32,
    /// Entry of each listed cube, indexed by the base of the cube.
    entries: Vec<Entry>,
    /// Bases of the listed cubes, by dimension.
    bases: Chains,
    /// Bit i is set if list i has a cube.
    filled: u32,
    /// Number of insertions so far.
    clock: u64,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Stars (spanned dimensions) of the cube with this base; NONE if there is no such cube.
    stars: u32,
    /// Insertion time, by `clock`.
    age: u64,
}

impl CubeLists {
    /// Creates empty lists for a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        let entries = vec![Entry { stars: NONE, age: 0 }; 1 << n];
        Self { n, entries, bases: Chains::new(1 << n, LISTS), filled: 0, clock: 0, len: 0 }
    }

    /// Returns the number of cubes in all lists.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether all lists are empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Clears the lists.
    pub fn clear(&mut self) {
        *self = Self::new(self.n);
    }

    /// Returns whether a cube is listed.
    pub fn has(&self, cube: Cube) -> bool {
        self.entries[cube.base as usize].stars == cube.stars
    }

    /// Appends a cube to the list of its dimension.
    pub fn push(&mut self, cube: Cube) {
        self.clock += 1;
        self.entries[cube.base as usize] = Entry { stars: cube.stars, age: self.clock };
        self.bases.push(cube.base, cube.dimension());
        self.filled |= 1 << cube.dimension();
        self.len += 1;
    }

    /// Removes a listed cube.
    pub fn remove(&mut self, cube: Cube) {
        debug_assert!(self.has(cube), "{cube} is not listed");
        self.entries[cube.base as usize].stars = NONE;
        self.bases.remove(cube.base);
        if self.bases.first(cube.dimension()).is_none() {
            self.filled &= !(1 << cube.dimension());
        }
        self.len -= 1;
    }

    /// Returns the first cube of the smallest dimension that is at least `k`.
    pub fn smallest(&self, k: u32) -> Option<Cube> {
        let lists = self.filled.checked_shr(k)?;
        (lists != 0).then(|| self.first(k + lists.trailing_zeros()))?
    }

    /// Returns the first cube of a dimension.
    pub fn first(&self, dimension: u32) -> Option<Cube> {
        self.bases.first(dimension).map(|base| self.at(base))
    }

    /// Returns the cube after a listed cube in the list of its dimension.
    pub fn after(&self, cube: Cube) -> Option<Cube> {
        self.bases.after(cube.base).map(|base| self.at(base))
    }

    /// Returns the cubes of a dimension in order.
    pub fn of(&self, dimension: u32) -> impl Iterator<Item = Cube> + '_ {
        std::iter::successors(self.first(dimension), |&cube| self.after(cube))
    }

    /// Returns the cube that is complementary to `cube`; if several listed cubes are complementary,
    /// returns the first of them in the list.
    pub fn partner(&self, cube: Cube) -> Option<Cube> {
        let mut first: Option<&Entry> = None;
        let mut found = 0;
        let mut fixed = ((1u32 << self.n) - 1) & !cube.stars;
        while fixed != 0 {
            let base = cube.base ^ (fixed & fixed.wrapping_neg());
            fixed &= fixed - 1;
            let entry = &self.entries[base as usize];
            if entry.stars == cube.stars && first.is_none_or(|first| entry.age < first.age) {
                first = Some(entry);
                found = base;
            }
        }
        first.map(|_| Cube { stars: cube.stars, base: found })
    }

    /// Returns the listed cube with this base.
    pub fn at(&self, base: u32) -> Cube {
        Cube { stars: self.entries[base as usize].stars, base }
    }
}

/// Merges complementary subcubes, dimension by dimension (Turner 1995, figure 3.8). The fields are scratch memory.
#[derive(Clone, Debug)]
pub struct Coalescer {
    n: u32,
    lists: CubeLists,
}

impl Coalescer {
    /// Creates a coalescer for subcubes of a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        Self { n, lists: CubeLists::new(n) }
    }

    /// Merges disjoint cubes, from the smallest dimension upwards. Within a dimension, each cube in
    /// order merges with the first complementary cube that has not merged yet. A merged cube can
    /// merge again in the next dimension. On return, `cubes` contains the resulting cubes, largest
    /// first.
    pub fn coalesce(&mut self, cubes: &mut Vec<Cube>) {
        cubes.drain(..).for_each(|cube| self.lists.push(cube));
        for dimension in 0..self.n {
            let mut next = self.lists.first(dimension);
            while let Some(cube) = next {
                let partner = self.lists.partner(cube);
                // The partner may be the cube that follows in the list.
                partner.into_iter().for_each(|partner| self.lists.remove(partner));
                next = self.lists.after(cube);
                if let Some(merged) = partner.and_then(|partner| cube.merged(partner)) {
                    self.lists.remove(cube);
                    self.lists.push(merged);
                }
            }
        }
        for dimension in (0..=self.n).rev() {
            while let Some(cube) = self.lists.first(dimension) {
                self.lists.remove(cube);
                cubes.push(cube);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(text: &str) -> Cube {
        text.parse().expect("a subcube")
    }

    #[test]
    fn lists_keep_the_order_of_insertion() {
        let mut lists = CubeLists::new(4);
        assert_eq!((lists.smallest(0), lists.is_empty()), (None, true));
        for text in ["001*", "1***", "011*", "0000"] {
            lists.push(cube(text));
        }
        assert!(lists.of(1).eq([cube("001*"), cube("011*")]));
        assert_eq!(lists.smallest(1), Some(cube("001*")));
        assert_eq!(lists.smallest(2), Some(cube("1***")));
        assert_eq!(lists.smallest(4), None);
        lists.remove(cube("001*"));
        assert!(!lists.has(cube("001*")) && lists.has(cube("011*")));
        lists.push(cube("001*"));
        assert!(lists.of(1).eq([cube("011*"), cube("001*")]));
        assert_eq!(lists.len(), 4);
        lists.remove(cube("001*"));
        lists.remove(cube("011*"));
        assert_eq!((lists.first(1), lists.smallest(1)), (None, Some(cube("1***"))));
        lists.clear();
        assert_eq!((lists.len(), lists.smallest(0)), (0, None));
    }

    /// `0*0` has two partners; the partner that was inserted first is returned. Adjacent cubes with
    /// different stars are not partners.
    #[test]
    fn returns_the_first_complementary_cube() {
        let mut lists = CubeLists::new(3);
        lists.push(cube("0*1"));
        lists.push(cube("1*0"));
        assert_eq!(lists.partner(cube("0*0")), Some(cube("0*1")));
        lists.remove(cube("0*1"));
        lists.push(cube("0*1"));
        assert_eq!(lists.partner(cube("0*0")), Some(cube("1*0")));
        assert_eq!(lists.partner(cube("00*")), None);
    }

    #[test]
    fn pairs_merge_level_by_level() {
        let mut cubes = ["0*1", "000", "010", "11*", "101"].map(cube).to_vec();
        Coalescer::new(3).coalesce(&mut cubes);
        let texts: Vec<String> = cubes.iter().map(|cube| cube.text(3)).collect();
        assert_eq!(texts, ["0**", "11*", "101"]);
    }
}
