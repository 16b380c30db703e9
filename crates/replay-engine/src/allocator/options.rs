use super::ties::TieBreaking;
use super::{Allocator, BatchBuilder};
use crate::naming::Value;
use crate::topology::{Grid, Topology};

/// Options of a strategy, from which the strategy's allocator is built.
pub trait AllocatorOptions: Value {
    /// Builds the allocator for a machine. `seed` is used by strategies with random choices.
    ///
    /// # Errors
    /// A message if the strategy does not support the machine.
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String>;

    /// Returns the options; every option that has no effect is reset to its default. Strategies
    /// with equal reduced options always choose the same processors.
    fn reduced(&self) -> Self {
        self.clone()
    }

    /// Returns the options with machine-dependent defaults filled in.
    fn on(&self, topology: &Topology) -> Self {
        let _ = topology;
        self.clone()
    }

    /// Returns a function that creates a [batch](super::Batch), in which this strategy runs with each of the given
    /// configurations instead of its own tie vector and slack. Returns `None` if the strategy or the machine does not
    /// support batches.
    fn batch<'a>(&'a self, topology: &'a Topology) -> Option<BatchBuilder<'a>> {
        let _ = topology;
        None
    }

    /// Returns the vector and slack by which ties are broken; `None` if the strategy uses no tie
    /// vector.
    fn tie_breaking(&mut self) -> Option<&mut TieBreaking> {
        None
    }
}

/// Returns the grid of a machine.
///
/// # Errors
/// A message if the machine is not a grid.
pub fn grid_of(topology: &Topology) -> Result<&Grid, String> {
    topology.grid().ok_or_else(|| "needs a mesh or torus".to_string())
}

/// Returns the grid of a machine that is a mesh. `what` names the feature that requires a mesh, for
/// the error message.
///
/// # Errors
/// A message if the machine wraps around or is not a grid.
pub fn mesh_of<'a>(topology: &'a Topology, what: &str) -> Result<&'a Grid, String> {
    let grid = grid_of(topology)?;
    match grid.is_wrapped() {
        true => Err(format!("{what} needs a mesh without wrap-around")),
        false => Ok(grid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_meshes() {
        let refused = |machine: &str| {
            let topology: Topology = machine.parse().expect("a machine");
            mesh_of(&topology, "a busy list").err()
        };
        assert_eq!(refused("8x8x8"), None);
        let wrapped = "a busy list needs a mesh without wrap-around";
        assert_eq!(refused("torus[y]:8x8").as_deref(), Some(wrapped));
        assert!(refused("hypercube:4").expect("no grid").contains("mesh or torus"));
    }
}
