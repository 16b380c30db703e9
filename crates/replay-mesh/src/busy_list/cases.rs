//! Machine states for the tests of the busy-list strategies.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use replay_engine::allocator::submesh::SubMesh;
use replay_engine::machine::Machine;
use replay_engine::topology::{Coord, Grid, NodeId, Topology};

/// Returns the grid of a machine.
pub(crate) fn grid(machine: &str) -> Grid {
    let topology: Topology = machine.parse().expect("a machine");
    topology.grid().expect("a grid").clone()
}

/// Returns the sub-mesh with this address. An address consists of base and end, as printed in
/// papers: (x,y,x',y') or (x,y,z,x',y',z').
pub(crate) fn unit(address: &[u16]) -> SubMesh {
    match *address {
        [x, y, x2, y2] => SubMesh::spanning([x, y, 0], [x2, y2, 0]),
        [x, y, z, x2, y2, z2] => SubMesh::spanning([x, y, z], [x2, y2, z2]),
        _ => panic!("{address:?} is not an address"),
    }
}

/// Returns a machine on which exactly these units are busy.
pub(crate) fn busy(grid: &Grid, units: &[SubMesh]) -> Machine {
    let mut machine = Machine::new(Topology::Grid(grid.clone()));
    for unit in units {
        machine.occupy(&nodes(grid, unit));
    }
    machine
}

/// Returns the processors of a sub-mesh.
pub(crate) fn nodes(grid: &Grid, unit: &SubMesh) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    unit.append_to(grid, &mut nodes);
    nodes
}

/// Checks each processor of a box. Returns whether the box is inside the grid and all its
/// processors are free.
pub(crate) fn is_free(machine: &Machine, grid: &Grid, base: Coord, sides: [u16; 3]) -> bool {
    (0..3).all(|i| usize::from(base[i]) + usize::from(sides[i]) <= grid.extent(i))
        && nodes(grid, &SubMesh { base, sides }).iter().all(|&node| machine.is_free(node))
}

/// Generates small meshes of two and three dimensions.
pub(crate) fn meshes() -> impl Strategy<Value = Grid> {
    let names = ["8x8", "6x9", "12x3", "1x7", "5x5x5", "4x3x6", "2x7x3", "1x4x4", "3x3x1"];
    proptest::sample::select(names.to_vec()).prop_map(grid)
}

/// Generates random disjoint units with sides up to `longest` from `seed`. A unit that overlaps an
/// earlier unit is dropped.
pub(crate) fn units(grid: &Grid, attempts: usize, longest: u16, seed: u64) -> Vec<SubMesh> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut units: Vec<SubMesh> = Vec::new();
    for _ in 0..attempts {
        let extents = grid.axes().map(|axis| axis.extent);
        let sides = extents.map(|extent| rng.random_range(1..=extent.min(longest)));
        let base = std::array::from_fn(|i| rng.random_range(0..=extents[i] - sides[i]));
        let unit = SubMesh { base, sides };
        if !units.iter().any(|other| other.overlaps(&unit)) {
            units.push(unit);
        }
    }
    units
}
