//! The maximal set of subcubes (MSS; Dutt and Hayes 1988, 1991): best fit in a set of disjoint free
//! subcubes that are as large as possible.
//!
//! Sets of disjoint free subcubes are compared by their lists of dimensions, sorted from the
//! largest down; the lexicographically greater list wins. Finding a greatest set is NP-hard. This
//! implementation builds the set greedily: the largest free subcube, then the largest subcube of
//! the remaining free processors, and so on. Among equally large subcubes, the implementation takes
//! the subcube whose stars form the smallest binary number. If several of these subcubes have the
//! same stars, the implementation takes the subcube with the smallest base. The set depends only on
//! the free processors, and begins with a largest free subcube, so recognition is complete. A
//! request for k dimensions uses the first cube of the set among the cubes with the smallest
//! sufficient dimension. The request gets the part of this cube that spans the k lowest stars of
//! the cube. The paper merges returned cubes by a heuristic; this implementation rebuilds the set.
//! In the thesis of Turner, the strategy is called MPP.
//!
//! Cost per decision: one search for each dimension, from the largest dimension that can be free
//! down to the allocated dimension. All these searches together cost at most O(3^n / 64).

use std::ops::ControlFlow;

use crate::hypercube::cubic::Subcubes;
use crate::hypercube::node_set::{NodeSet, first_bit};
use crate::hypercube::recognition::Recogniser;
use replay_engine::allocator::subcube::{Cube, deposit};

/// The maximal set of free subcubes.
#[derive(Clone, Debug)]
pub struct MaximalSet {
    n: u32,
    free: NodeSet,
    recogniser: Recogniser,
    /// First cube of the set for each dimension; valid for dimensions from `known` upwards.
    first: Vec<Option<Cube>>,
    known: u32,
    /// Free processors that are in none of the set's cubes of `known` or more dimensions.
    rest: NodeSet,
    /// Value of `rest` before the cubes of dimension `known` were added to the set.
    before: NodeSet,
}

impl MaximalSet {
    /// Creates the state for a hypercube of `n` dimensions.
    pub fn new(n: u32) -> Self {
        let empty = NodeSet::new(n);
        let mut set = Self {
            n,
            free: empty.clone(),
            recogniser: Recogniser::new(n),
            first: vec![None; n as usize + 1],
            known: n + 1,
            rest: empty.clone(),
            before: empty,
        };
        set.clear();
        set
    }

    /// Clears the set after a change of the free processors.
    fn clear_set(&mut self) {
        self.first.fill(None);
        self.rest.copy_from(&self.free);
        self.known = self.n + 1;
    }

    /// Adds the cubes of the next lower dimension to the set.
    fn add_dimension(&mut self) {
        self.known -= 1;
        let dimension = self.known;
        if self.rest.len() < 1 << dimension {
            return;
        }
        let first = &mut self.first[dimension as usize];
        if dimension == 0 {
            *first = first_bit(self.rest.words()).map(|base| Cube { stars: 0, base });
            return;
        }
        self.before.copy_from(&self.rest);
        let rest = &mut self.rest;
        self.recogniser.find::<()>(&self.before, dimension, &mut |cube| {
            if rest.includes(cube) {
                rest.remove(cube);
                first.get_or_insert(cube);
            }
            match rest.len() >> dimension {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
    }
}

impl Subcubes for MaximalSet {
    fn take(&mut self, k: u32) -> Option<Cube> {
        while self.known > k {
            self.add_dimension();
        }
        let cube = self.first[k as usize..].iter().flatten().next()?;
        let cube = Cube { stars: deposit((1 << k) - 1, cube.stars), base: cube.base };
        self.free.remove(cube);
        self.clear_set();
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.free.insert(cube);
        self.clear_set();
    }

    fn withdraw(&mut self, cube: Cube) {
        self.free.remove(cube);
        self.clear_set();
    }

    fn clear(&mut self) {
        self.free.set_to(Cube::whole(self.n));
        self.clear_set();
    }
}
