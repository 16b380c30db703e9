//! Tests across the strategies: the vectors of the thesis, counts of recognised subcubes,
//! and agreement with plain versions.

pub mod plain;

mod agreement;
mod meeting;
mod places;
mod recognised;
mod vectors;

use super::cube::Cube;
use super::cubic::Subcubes;
use super::{buddy, free_list, gray_code, maximal_set, modified_buddy, multiple_gray_code};

fn cube(text: &str) -> Cube {
    text.parse().expect("a subcube")
}

/// What a cubic strategy is called in tests, and its fast version.
fn cubic_strategies(n: u32) -> Vec<(&'static str, Box<dyn Subcubes>)> {
    vec![
        ("buddy", Box::new(buddy::Buddy::new(n))),
        ("gray-code", Box::new(gray_code::GrayCode::new(n))),
        ("modified-buddy", Box::new(modified_buddy::ModifiedBuddy::new(n))),
        ("three-gray-codes", Box::new(multiple_gray_code::MultipleGrayCode::new(n, 3))),
        ("multiple-gray-code", Box::new(multiple_gray_code::MultipleGrayCode::new(n, u32::MAX))),
        ("free-list", Box::new(free_list::FreeList::new(n))),
        ("maximal-set", Box::new(maximal_set::MaximalSet::new(n))),
    ]
}
