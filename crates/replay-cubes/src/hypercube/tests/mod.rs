//! Tests of all strategies: the vectors of the thesis, the numbers of recognised subcubes, and
//! agreement with reference implementations.

pub mod reference;

mod agreement;
mod channel_conflicts;
mod conservation;
mod meshes;
mod recognition_counts;
mod vectors;

use crate::hypercube::block_search::BlockSearch;
use crate::hypercube::cubic::Subcubes;
use crate::hypercube::{free_list, maximal_set, multiple_gray_code};
use replay_contract::Bench;
use replay_engine::allocator::Allocator;
use replay_engine::allocator::subcube::Cube;
use replay_engine::machine::Machine;
use replay_engine::topology::{Hypercube, Topology};

/// Returns a bench on an empty hypercube of `n` dimensions.
fn on<A: Allocator>(n: u32, allocator: impl FnOnce(&Hypercube) -> A) -> Bench<A> {
    let cube = Hypercube::new(n as u8).expect("a hypercube");
    Bench::new(Machine::new(Topology::Hypercube(cube)), allocator(&cube))
}

fn cube(text: &str) -> Cube {
    text.parse().expect("a subcube")
}

/// Returns the cubic strategies with their names in tests.
fn cubic_strategies(n: u32) -> Vec<(&'static str, Box<dyn Subcubes>)> {
    vec![
        ("buddy", Box::new(BlockSearch::buddy(n))),
        ("gray-code", Box::new(BlockSearch::gray_code(n))),
        ("modified-buddy", Box::new(BlockSearch::modified_buddy(n))),
        ("three-gray-codes", Box::new(multiple_gray_code::MultipleGrayCode::new(n, 3))),
        ("multiple-gray-code", Box::new(multiple_gray_code::MultipleGrayCode::new(n, u32::MAX))),
        ("free-list", Box::new(free_list::FreeList::new(n))),
        ("maximal-set", Box::new(maximal_set::MaximalSet::new(n))),
    ]
}
