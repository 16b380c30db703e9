//! The maximal set of subcubes (MSS; Dutt and Hayes 1988, 1991): best fit in a set of
//! disjoint free subcubes that are as large as can be.
//!
//! Of two sets of disjoint free subcubes the one whose dimensions, sorted, come first is
//! greater; to find a greatest one is NP-hard. Here the set is made greedily: the largest
//! subcube of all free processors, then the largest of those it leaves, and so on; of
//! equally large ones that of least stars, then of least base. The set depends on nothing
//! but which processors are free, and begins with a subcube as large as any that is free:
//! so recognition is complete. A request for k dimensions gets a part of the smallest cube
//! in the set that is large enough, the first in order: the part with the lowest stars.
//! The paper merges cubes given back by a heuristic of its own; making the set anew is this
//! program's choice. In the thesis of Turner the strategy is called MPP.
//!
//! Cost per decision: a search for each dimension from the largest that can be free down to
//! the one taken, together O(3^n / 64) at most.

use std::ops::ControlFlow;

use super::buddy::first_bit;
use super::cube::{Cube, deposit};
use super::cubic::Subcubes;
use super::node_set::NodeSet;
use super::recognition::Recogniser;

/// Free subcubes as a maximal set.
#[derive(Clone, Debug)]
pub struct MaximalSet {
    n: u32,
    free: NodeSet,
    recogniser: Recogniser,
    /// Of the set, the first cube by dimension, for dimensions from `known` on.
    first: Vec<Option<Cube>>,
    known: u32,
    /// Free processors that no cube of `known` dimensions or more in the set holds.
    rest: NodeSet,
    /// The same before the dimension that is being added.
    before: NodeSet,
}

impl MaximalSet {
    /// For a hypercube of `n` dimensions.
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

    /// Forgets the set: the free processors have changed.
    fn forget(&mut self) {
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
        self.forget();
        Some(cube)
    }

    fn give(&mut self, cube: Cube) {
        self.free.insert(cube);
        self.forget();
    }

    fn lose(&mut self, cube: Cube) {
        self.free.remove(cube);
        self.forget();
    }

    fn clear(&mut self) {
        self.free.set_to(Cube::whole(self.n));
        self.forget();
    }
}
