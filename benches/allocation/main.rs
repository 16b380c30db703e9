//! Time of decisions of allocators.
//!
//! | `cargo bench --bench allocation --` | what |
//! |---|---|
//! | `attempts [FOLDER]` | every strategy on meshes; ratios of Bani-Mohammad's thesis |
//! | `decision [FOLDER]` | some strategies by side of the mesh |
//! | `hierarchy [FILE.csv]` | rules of trees and blocks |
//! | `hypercube` | strategies of hypercubes |
//! | `placements` | placement rules on a torus |

#[path = "../common/mod.rs"]
mod common;

mod attempts;
mod decision;
mod hierarchy;
mod hypercube;
mod placements;

fn main() -> Result<(), common::Failure> {
    common::dispatch(&[
        ("attempts", attempts::run),
        ("decision", decision::run),
        ("hierarchy", hierarchy::run),
        ("hypercube", hypercube::run),
        ("placements", placements::run),
    ])
}
