//! Where processors are: meshes, tori, hypercubes, clusters of workstations, trees of switches and blocks.
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
//! torus:4x4x4*2    two processors at every point of a mesh or torus
//! hypercube:7      2^7 processors
//! toruses:4x4x2[3,5-7]+4x2x2  several tori in three dimensions; cells in brackets are empty
//! cluster:6        6 workstations on a crossbar
//! cluster:6x2      the same, each shared by up to 2 jobs
//! tree:4x8x18      4 switches below a root, 8 leaves below each, 18 nodes on a leaf
//! block[18,72]:8x18  8 base blocks of 18 nodes; blocks of 18 and 72 nodes
//! blue-waters      a machine that existed, see [`SYSTEMS`]
//! ```
//!
//! ```
//! use replay_core::topology::Topology;
//! let mesh: Topology = "10x10".parse()?;
//! assert_eq!(mesh.processors(), 100);
//! assert_eq!("torus:16x16".parse::<Topology>()?.to_string(), "torus:16x16");
//! # Ok::<(), replay_core::topology::TopologyError>(())
//! ```
//!
//! # Several processors at a point
//!
//! On `4x4*2` a job has whole points: one of 5 processors gets 3 points and holds 6. Allocators,
//! schedulers and distances know points only, and so does all of this crate that says *processor* of
//! a [`Topology`], [`NodeId`] or [`Machine`](crate::machine::Machine); two processors of one point
//! are 0 apart and no pair. Sizes of jobs are in processors, and [`Topology::points`] is what they take.
//! Two jobs never share a point.

mod cluster;
pub mod curve;
mod default_machine;
mod grid;
pub mod hierarchy;
mod hypercube;
mod pair_distances;
mod parse;
mod system;
mod toruses;

pub use cluster::Cluster;
pub use default_machine::{DefaultMachine, default_machine};
pub use grid::{Axis, Coord, Grid};
pub use hierarchy::{Hierarchy, natural_order};
pub use hypercube::Hypercube;
pub use pair_distances::PairDistances;
pub use parse::TopologyError;
pub use system::{SYSTEMS, System, SystemError};
pub use toruses::{Part as TorusPart, Toruses};

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

/// The most points that a mesh or torus may have.
pub const MAX_POINTS: usize = 1 << 20;

/// The interconnect of a machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// A mesh or torus in two or three dimensions.
    Grid(Grid),
    /// A binary hypercube.
    Hypercube(Hypercube),
    /// Workstations on a crossbar, which several jobs may share.
    Cluster(Cluster),
    /// Several tori, or one with holes.
    Toruses(Toruses),
    /// A tree of switches, or blocks of nodes.
    Hierarchy(Hierarchy),
}

impl Topology {
    /// Number of points: of processors, where a point holds one.
    pub fn processors(&self) -> usize {
        match self {
            Topology::Grid(grid) => grid.processors(),
            Topology::Hypercube(cube) => cube.processors(),
            Topology::Cluster(cluster) => cluster.hosts() as usize,
            Topology::Toruses(toruses) => toruses.processors(),
            Topology::Hierarchy(hierarchy) => hierarchy.processors(),
        }
    }

    /// Processors at every point.
    pub fn per_point(&self) -> u32 {
        self.grid().map_or(1, Grid::per_point)
    }

    /// Processors of all points.
    pub fn capacity(&self) -> usize {
        self.processors() * self.per_point() as usize
    }

    /// Points that a job of `size` processors takes: whole ones.
    #[inline]
    pub fn points(&self, size: u32) -> u32 {
        size.div_ceil(self.per_point())
    }

    /// Number of processes of jobs that it holds: one a processor, but on a cluster one a slot.
    pub fn slots(&self) -> usize {
        self.cluster().map_or(self.processors(), |cluster| cluster.slots())
    }

    /// The grid, if the machine is one.
    pub fn grid(&self) -> Option<&Grid> {
        match self {
            Topology::Grid(grid) => Some(grid),
            _ => None,
        }
    }

    /// The tree or blocks, if the machine is one.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        match self {
            Topology::Hierarchy(hierarchy) => Some(hierarchy),
            _ => None,
        }
    }

    /// The cluster, if the machine is one.
    pub fn cluster(&self) -> Option<Cluster> {
        match self {
            Topology::Cluster(cluster) => Some(*cluster),
            _ => None,
        }
    }

    /// The sides that a job's request can have at most, 1 where it has none: those of a grid; on a
    /// hypercube of n dimensions those of the mesh of 2^(n/2) x 2^((n+1)/2) that is embedded in it;
    /// on a cluster a row of all hosts; of several tori the largest of theirs; on a tree or blocks none.
    pub fn extents(&self) -> [u16; 3] {
        match self {
            Topology::Grid(grid) => grid.axes().map(|axis| axis.extent),
            Topology::Hypercube(cube) => {
                let n = cube.dimensions();
                [1 << (n / 2), 1 << n.div_ceil(2), 1]
            }
            // No cluster has more slots than 16 bits count.
            Topology::Cluster(cluster) => [cluster.hosts() as u16, 1, 1],
            Topology::Toruses(toruses) => toruses.extents(),
            Topology::Hierarchy(_) => [1; 3],
        }
    }

    /// Distance in hops along shortest paths: L1 on a mesh, L1 with wrap-around on a
    /// torus, Hamming on a hypercube, 1 between any two hosts of a cluster; between two tori as [`Toruses`] says, on trees and
    /// blocks as [`Hierarchy`] says.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.l1(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(cube) => cube.hops(a, b),
            Topology::Cluster(_) => u32::from(a != b),
            Topology::Toruses(toruses) => toruses.hops(a, b),
            Topology::Hierarchy(hierarchy) => hierarchy.hops(a, b),
        }
    }

    /// L-infinity distance: the largest distance along one dimension; in hops where there are none.
    pub fn chebyshev(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.linf(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(_) | Topology::Cluster(_) => u32::from(a != b),
            Topology::Toruses(toruses) => toruses.chebyshev(a, b),
            Topology::Hierarchy(hierarchy) => hierarchy.hops(a, b),
        }
    }

    /// Calls `visit` with every direct neighbour of `node`, each once: on trees and blocks with the others of its leaf.
    pub fn for_neighbours(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        match self {
            Topology::Grid(grid) => grid.for_neighbours(node, visit),
            Topology::Hypercube(cube) => cube.for_neighbours(node, visit),
            Topology::Cluster(_) => self.nodes().filter(|&other| other != node).for_each(visit),
            Topology::Toruses(toruses) => toruses.for_neighbours(node, visit),
            Topology::Hierarchy(hierarchy) => hierarchy.for_neighbours(node, visit),
        }
    }

    /// All processors in scan order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.processors() as u32).map(NodeId)
    }
}
