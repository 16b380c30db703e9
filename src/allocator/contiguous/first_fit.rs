//! First Fit (Zhu 1992; in 3D Ababneh 2001): the first free frame in scan order.
//!
//! It finds a free frame of the requested orientation whenever there is one. Turning First
//! Fit does so in any orientation: it tries the permutations of the sides in a fixed order
//! and stops at the first that fits.
//!
//! The fast engine finds all bases at once ([`Frames`]); the [literal one](literal) is the
//! published procedure, for comparisons of its cost.

pub mod literal;

use self::literal::Literal;
use super::choices::Engine;
use super::frames::Frames;
use super::options::{self, Options};
use super::scan::Scan;
use super::{Choice, Contiguous};
use crate::allocator::Allocator;
use crate::allocator::strategy::{Strategy, needs_grid};
use crate::machine::Machine;
use crate::naming::{NameError, StrategyName};
use crate::topology::{Coord, Topology};

/// Takes the first free frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit {
    /// The order of bases.
    pub scan: Scan,
}

impl Choice for FirstFit {
    fn choose(
        &mut self,
        frames: &mut Frames,
        _machine: &Machine,
        sides: [u16; 3],
    ) -> Option<Coord> {
        frames.find(sides);
        frames.first(self.scan)
    }
}

const KEYS: [&str; 3] = ["scan", "shape", "engine"];

fn build(
    name: &StrategyName,
    topology: &Topology,
    _seed: u64,
) -> Result<Box<dyn Allocator>, NameError> {
    let grid = topology.grid().ok_or_else(|| needs_grid(name))?;
    let Options { turn, scan, shaping, engine, .. } = Options::of(name, &KEYS)?;
    Ok(match engine {
        Engine::Fast => Box::new(Contiguous::new(grid, shaping, turn, FirstFit { scan })),
        Engine::Literal if grid.is_wrapped() => {
            return Err(options::needs_mesh(name, "engine=literal"));
        }
        Engine::Literal => Box::new(Literal::new(grid, shaping, turn, scan)),
    })
}

/// `first-fit` and `turning-first-fit`.
pub fn strategies() -> Vec<Strategy> {
    fn canonical(name: &StrategyName) -> Result<StrategyName, NameError> {
        Ok(Options::of(name, &KEYS)?.canonical("first-fit"))
    }
    vec![
        Strategy {
            name: "first-fit".to_string(),
            aliases: &["ff"],
            about: "The first free frame in scan order, as requested or (turning-first-fit) turned; refuses if none is free. O(N) per decision."
                .to_string(),
            source: "Zhu 1992; 3D: Ababneh 2001",
            parameters: || {
                vec![options::rotate(), options::scan(), options::shape(), options::engine()]
            },
            canonical,
            build,
        },
        Strategy {
            name: "turning-first-fit".to_string(),
            aliases: &["tff"],
            about: "First Fit for each permutation of the sides in turn, until one fits: it finds every free frame. O(N) per permutation."
                .to_string(),
            source: "Ababneh 2001; Bani-Mohammad 2008, section 2.2.1",
            parameters: || vec![options::scan(), options::shape(), options::engine()],
            canonical,
            build,
        },
    ]
}
