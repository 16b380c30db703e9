use super::Allocator;
use super::centre::TieBreaking;
use crate::naming::Value;
use crate::topology::{Grid, Topology};

/// What a strategy can be told, and what comes of it.
pub trait AllocatorOptions: Value {
    /// The allocator for a machine; the seed is for strategies that draw.
    ///
    /// # Errors
    /// What keeps the strategy from working on such a machine, in words.
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String>;

    /// These options with whatever has no effect at its default: options of one reduced form
    /// always choose the same processors.
    fn reduced(&self) -> Self {
        self.clone()
    }

    /// How ties are broken, if they are by a vector.
    fn tie_breaking(&mut self) -> Option<&mut TieBreaking> {
        None
    }
}

/// The grid of a machine.
///
/// # Errors
/// For a strategy that works on grids only, what to take instead.
pub fn grid_of(topology: &Topology) -> Result<&Grid, String> {
    let problem =
        "needs a mesh or torus; on a hypercube there are random and row-major-best-fit, ...";
    topology.grid().ok_or_else(|| problem.to_string())
}
