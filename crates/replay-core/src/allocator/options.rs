use super::Allocator;
use super::centre::definition::CentreOptions;
use super::centre::tie::TieBreaking;
use crate::naming::Value;
use crate::topology::curve::Curve;
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

    /// These options with what they leave to the machine filled in.
    fn on(&self, topology: &Topology) -> Self {
        let _ = topology;
        self.clone()
    }

    /// The machine that they describe, if they do; and what is wrong with that, in words.
    fn described(&self) -> Option<Result<Topology, String>> {
        None
    }

    /// Whether it repeats the placements of a log.
    fn recorded(&self) -> bool {
        false
    }

    /// The order of processors along which it places jobs, if it is a curve of a grid.
    fn curve(&self) -> Option<Curve> {
        None
    }

    /// What it shares with strategies that differ from it in nothing but how they break ties, where
    /// many of them can be replayed as one.
    fn shared(&self, topology: &Topology) -> Option<CentreOptions> {
        let _ = topology;
        None
    }

    /// How ties are broken, if they are by a vector.
    fn tie_breaking(&mut self) -> Option<&mut TieBreaking> {
        None
    }
}

/// How a strategy searches, where there are two ways; the choice is the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// The faster way.
    #[default]
    Fast,
    /// The published procedure, step by step, for comparisons of its cost.
    Literal,
}

impl Engine {
    /// Every engine with its name.
    pub const ALL: [(&'static str, Engine); 2] =
        [("fast", Engine::Fast), ("literal", Engine::Literal)];
}

/// The grid of a machine.
///
/// # Errors
/// For a strategy that works on grids only, what to take instead.
pub fn grid_of(topology: &Topology) -> Result<&Grid, String> {
    let problem = "needs a mesh or torus; on a hypercube there are afl, random and others, on a cluster elmer, on several tori or one with holes placements, on a tree slurm-tree and kueue, on blocks slurm-block";
    topology.grid().ok_or_else(|| problem.to_string())
}

/// The grid of a machine for `what` is defined on meshes only.
///
/// # Errors
/// In words, if the machine is no grid or wraps around.
pub fn mesh_of<'a>(topology: &'a Topology, what: &str) -> Result<&'a Grid, String> {
    let grid = grid_of(topology)?;
    match grid.is_wrapped() {
        true => Err(format!("{what} needs a mesh, without wrap-around")),
        false => Ok(grid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_meshes_will_do() {
        let refused = |machine: &str| {
            let topology: Topology = machine.parse().expect("a machine");
            mesh_of(&topology, "a busy list").err()
        };
        assert_eq!(refused("8x8x8"), None);
        let wrapped = "a busy list needs a mesh, without wrap-around";
        assert_eq!(refused("torus[y]:8x8").as_deref(), Some(wrapped));
        assert!(refused("hypercube:4").expect("no grid").contains("mesh or torus"));
    }
}
