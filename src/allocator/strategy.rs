//! What a strategy's file tells the registry.

use super::Allocator;
use crate::naming::{NameError, Parameter, StrategyName};
use crate::topology::Topology;

/// A strategy the registry knows.
pub struct Strategy {
    /// The name as typed.
    pub name: String,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// What it does.
    pub about: String,
    /// Where it was defined.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// The one way to write a set of parameters: defaults left out, keys in order.
    pub canonical: fn(&StrategyName) -> Result<StrategyName, NameError>,
    /// Builds the allocator for a machine; the seed is for strategies that draw.
    pub build: Build,
}

/// From a canonical name, a machine and a seed to an allocator.
pub type Build = fn(&StrategyName, &Topology, u64) -> Result<Box<dyn Allocator>, NameError>;

/// The error of a strategy that works on grids only.
pub fn needs_grid(name: &StrategyName) -> NameError {
    name.error(
        "allocator",
        "needs a mesh or torus; on a hypercube there are random and row-major-best-fit, ...",
    )
}
