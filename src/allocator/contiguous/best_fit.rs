//! Best Fit (Zhu 1992; in 3D Ababneh 2001): the free frame that fits most closely.
//!
//! It finds the frames that First Fit finds and differs in which it takes. The papers leave
//! open what is best, so there are three readings:
//!
//! * [`Surroundings`]: the frame with the fewest free processors next to it, so that most
//!   of its surface touches busy processors or walls.
//! * [`Candidates`]: the base with the fewest neighbours that are bases too, and among
//!   those the one in the smallest connected area of bases (Bani-Mohammad 2008, section
//!   2.2.1: most busy neighbours, then least surrounding free area). The default: its
//!   finish times agree with Table 1 of Lo et al. (1997) within 2 %; those of
//!   [`Surroundings`] are up to 6 % shorter.
//! * [`SmallestBox`]: the lowest corner of the smallest maximal free box that holds the
//!   frame ("the smallest suitable sub-mesh" of the 3D paper). Meshes only.
//!
//! Ties go to the first in scan order. Turning Best Fit tries the permutations of the sides
//! in order and takes the best place of the first that fits at all.

mod candidates;
mod smallest_box;
mod surroundings;

pub use candidates::Candidates;
pub use smallest_box::SmallestBox;
pub use surroundings::Surroundings;

use super::Contiguous;
use super::choices::Measure;
use super::options::{self, Options};
use crate::allocator::Allocator;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::naming::{NameError, StrategyName};
use crate::topology::Topology;

const KEYS: [&str; 2] = ["measure", "shape"];

fn build(
    name: &StrategyName,
    topology: &Topology,
    _seed: u64,
) -> Result<Box<dyn Allocator>, NameError> {
    let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
    let Options { turn, shaping, measure, .. } = Options::of(name, &KEYS)?;
    Ok(match measure {
        Measure::Surroundings => {
            Box::new(Contiguous::new(grid, shaping, turn, Surroundings::new(grid)))
        }
        Measure::Candidates => {
            Box::new(Contiguous::new(grid, shaping, turn, Candidates::new(grid)))
        }
        Measure::SmallestBox if grid.is_wrapped() => {
            return Err(options::needs_mesh(name, "measure=smallest-box"));
        }
        Measure::SmallestBox => {
            Box::new(Contiguous::new(grid, shaping, turn, SmallestBox::default()))
        }
    })
}

/// `best-fit` and `turning-best-fit`.
pub fn strategies() -> Vec<Strategy> {
    fn canonical(name: &StrategyName) -> Result<StrategyName, NameError> {
        Ok(Options::of(name, &KEYS)?.canonical("best-fit"))
    }
    vec![
        Strategy {
            name: "best-fit".to_string(),
            aliases: &["bf"],
            about: "The free frame that is most hemmed in, as requested or (turning-best-fit) turned; refuses if none is free. O(N) per decision (smallest-box: O(N L / 64) in 2D)."
                .to_string(),
            source: "Zhu 1992; 3D: Ababneh 2001",
            parameters: || vec![options::rotate(), options::measure(), options::shape()],
            canonical,
            build,
        },
        Strategy {
            name: "turning-best-fit".to_string(),
            aliases: &["tbf"],
            about: "Best Fit for each permutation of the sides in turn, until one fits: it finds every free frame. O(N) per permutation."
                .to_string(),
            source: "Ababneh 2001; Bani-Mohammad 2008, section 2.2.1",
            parameters: || vec![options::measure(), options::shape()],
            canonical,
            build,
        },
    ]
}
