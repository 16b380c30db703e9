//! The free list (Kim, Das and Lin 1991; Turner 1995, sections 2.2 and 3.3.2), with complete
//! recognition.
//!
//! There is a list of disjoint free subcubes for each dimension. A request takes the first cube of
//! the smallest sufficient dimension and splits it repeatedly along its highest dimension. The
//! 1-halves are added to the lists. A returned cube merges with the first complementary cube in the
//! lists; the merged cube again merges with a complementary cube, and so on.
//!
//! The thesis states that every free subcube is recognised, but it does not state how cubes are
//! returned. Merging is not sufficient. An example is a hypercube of three dimensions whose eight
//! processors are returned in the order 001, 011, 010, 110, 100, 101, 000, 111. The lists then
//! contain `0*1`, `*10`, `10*`, `000` and `111`, and no two of these cubes can merge. If the lists
//! have no sufficient cube, the strategy therefore searches the free processors for any subcube
//! (`recognition`). The first subcube found is carved out of the listed cubes.
//!
//! Cost per decision: O(n) for taking a cube from the lists, O(n^2) for returning a cube, and at
//! most O(3^n / 64) for a search.

use crate::hypercube::cubic::Subcubes;
use crate::hypercube::lists::CubeLists;
use crate::hypercube::node_set::NodeSet;
use crate::hypercube::recognition::Recogniser;
use replay_engine::allocator::subcube::Cube;

/// Free subcubes in lists.
#[derive(Clone, Debug)]
pub struct FreeList {
    n: u32,
    lists: CubeLists,
    free: NodeSet,
    recogniser: Recogniser,
    /// Smallest dimension for which a search has failed since a cube was last returned. No subcube
    /// of this or a larger dimension is free.
    none_from: u32,
    /// Scratch space for the listed cubes that overlap the cube being carved.
    carved: Vec<Cube>,
}

impl FreeList {
    /// Creates the lists of a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        let mut list = Self {
            n,
            lists: CubeLists::new(n),
            free: NodeSet::new(n),
            recogniser: Recogniser::new(n),
            none_from: n + 1,
            carved: Vec::new(),
        };
        list.clear();
        list
    }

    /// Returns the listed cubes.
    pub fn lists(&self) -> &CubeLists {
        &self.lists
    }

    /// Splits a listed cube repeatedly until it has `k` dimensions, and takes the result. Each step
    /// keeps the 0-half if `keep` returns true for this half, and the 1-half otherwise.
    pub(super) fn take_from(&mut self, cube: Cube, k: u32, keep: impl Fn(Cube) -> bool) -> Cube {
        self.lists.remove(cube);
        let mut cube = cube;
        while cube.dimension() > k {
            let (low, high) = cube.split();
            let (kept, other) = if keep(low) { (low, high) } else { (high, low) };
            self.lists.push(other);
            cube = kept;
        }
        self.free.remove(cube);
        cube
    }

    /// Takes a free cube, which may or may not be listed. Listed cubes that overlap the free cube
    /// are split until the free cube consists of listed cubes. Each split is along a dimension that
    /// the free cube fixes.
    pub(super) fn carve(&mut self, cube: Cube) {
        for dimension in 0..=self.n {
            let overlaps = |other: &Cube| other.distance(cube) == 0;
            self.carved.extend(self.lists.of(dimension).filter(overlaps));
        }
        for at in 0..self.carved.len() {
            let mut rest = self.carved[at];
            self.lists.remove(rest);
            while !cube.includes(rest) {
                let (low, high) = rest.halves((rest.stars & !cube.stars).ilog2());
                let (inside, outside) =
                    if low.distance(cube) == 0 { (low, high) } else { (high, low) };
                self.lists.push(outside);
                rest = inside;
            }
        }
        self.carved.clear();
        self.free.remove(cube);
    }

    /// Returns the first free subcube of `k` dimensions for which `accept` returns true. The
    /// subcube need not be listed.
    pub(super) fn recognise(
        &mut self,
        k: u32,
        mut accept: impl FnMut(Cube) -> bool,
    ) -> Option<Cube> {
        self.recogniser.find(&self.free, k, &mut |cube| match accept(cube) {
            true => std::ops::ControlFlow::Break(cube),
            false => std::ops::ControlFlow::Continue(()),
        })
    }
}

impl Subcubes for FreeList {
    fn take(&mut self, k: u32) -> Option<Cube> {
        if let Some(cube) = self.lists.smallest(k) {
            return Some(self.take_from(cube, k, |_| true));
        }
        if k >= self.none_from {
            return None;
        }
        match self.recogniser.first(&self.free, k) {
            Some(cube) => {
                self.carve(cube);
                Some(cube)
            }
            None => {
                self.none_from = k;
                None
            }
        }
    }

    fn give(&mut self, cube: Cube) {
        self.free.insert(cube);
        let mut cube = cube;
        while let Some(partner) = self.lists.partner(cube) {
            self.lists.remove(partner);
            let stars = cube.stars | cube.base ^ partner.base;
            cube = Cube { stars, base: cube.base & !stars };
        }
        self.lists.push(cube);
        self.none_from = self.n + 1;
    }

    fn withdraw(&mut self, cube: Cube) {
        self.carve(cube);
    }

    fn clear(&mut self) {
        let whole = Cube::whole(self.n);
        self.lists.clear();
        self.lists.push(whole);
        self.free.set_to(whole);
        self.none_from = self.n + 1;
    }
}
