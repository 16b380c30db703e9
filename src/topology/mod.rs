//! Where processors are: meshes, tori and hypercubes.
//!
//! A [`Topology`] gives every processor a [`NodeId`], coordinates, distances and
//! neighbours; it knows nothing of jobs or of which processors are busy.
//!
//! The grammar a user types, which [`Topology::from_str`](std::str::FromStr) parses
//! and `Display` prints back:
//!
//! ```text
//! 10x10            2D mesh, x by y
//! 8x8x8            3D mesh
//! torus:16x16      wrapped in every dimension
//! torus[x]:16x24   wrapped in the named dimensions only
//! hypercube:7      2^7 processors
//! ```
//!
//! ```
//! use replay::topology::Topology;
//! let mesh: Topology = "10x10".parse()?;
//! assert_eq!(mesh.processors(), 100);
//! assert_eq!("torus:16x16".parse::<Topology>()?.to_string(), "torus:16x16");
//! # Ok::<(), replay::topology::TopologyError>(())
//! ```

pub mod curve;
mod default_machine;
mod grid;
mod hypercube;
mod pair_distances;
mod parse;

pub use default_machine::{DefaultMachine, default_machine};
pub use grid::{Axis, Coord, Grid};
pub use hypercube::Hypercube;
pub use pair_distances::PairDistances;
pub use parse::TopologyError;

/// A processor, numbered in *scan order*: x slowest, then y, then z fastest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number as an index into per-processor arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most processors a machine may have. Box counts are kept in 16 bits.
pub const MAX_PROCESSORS: usize = u16::MAX as usize;

/// The interconnect of a machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// A mesh or torus in two or three dimensions.
    Grid(Grid),
    /// A binary hypercube.
    Hypercube(Hypercube),
}

impl Topology {
    /// Number of processors.
    pub fn processors(&self) -> usize {
        match self {
            Topology::Grid(grid) => grid.processors(),
            Topology::Hypercube(cube) => cube.processors(),
        }
    }

    /// The grid, if the machine is one.
    pub fn grid(&self) -> Option<&Grid> {
        match self {
            Topology::Grid(grid) => Some(grid),
            Topology::Hypercube(_) => None,
        }
    }

    /// The sides that a job's request can have at most, 1 where it has none: those of a grid; on a
    /// hypercube of n dimensions those of the mesh of 2^(n/2) x 2^((n+1)/2) that is embedded in it.
    pub fn extents(&self) -> [u16; 3] {
        match self {
            Topology::Grid(grid) => grid.axes().map(|axis| axis.extent),
            Topology::Hypercube(cube) => {
                let n = cube.dimensions();
                [1 << (n / 2), 1 << n.div_ceil(2), 1]
            }
        }
    }

    /// Distance in hops along shortest paths: L1 on a mesh, L1 with wrap-around on a
    /// torus, Hamming on a hypercube.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.l1(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(cube) => cube.hops(a, b),
        }
    }

    /// L-infinity distance: the largest distance along one dimension.
    pub fn chebyshev(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.linf(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(_) => u32::from(a != b),
        }
    }

    /// Calls `visit` with every direct neighbour of `node`, each once.
    pub fn for_neighbours(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        match self {
            Topology::Grid(grid) => grid.for_neighbours(node, visit),
            Topology::Hypercube(cube) => cube.for_neighbours(node, visit),
        }
    }

    /// All processors in scan order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.processors() as u32).map(NodeId)
    }
}
