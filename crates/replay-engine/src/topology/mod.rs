//! Interconnects of machines: meshes, tori, hypercubes, clusters of workstations, trees of switches and blocks.
//!
//! A [`Topology`] defines the [`NodeId`], coordinates, distances and neighbours of every processor. A topology does not
//! record which processors are busy.
//!
//! [`Topology::from_str`](std::str::FromStr) parses this grammar, and `Display` prints it:
//!
//! ```text
//! 10x10            2D mesh, x by y
//! 8x8x8            3D mesh
//! torus:16x16      wrapped in every dimension
//! torus[x]:16x24   wrapped only in the dimensions in brackets
//! torus:4x4x4*2    two processors at every point of a mesh or torus
//! hypercube:7      2^7 processors
//! toruses:4x4x2[3,5-7]+4x2x2  several tori in three dimensions; cells in brackets are empty
//! cluster:6        6 workstations on a crossbar
//! cluster:6x2      6 workstations, each shared by up to 2 jobs
//! tree:4x8x18      4 switches below a root, 8 leaves below each, 18 nodes on a leaf
//! block[18,72]:8x18  8 base blocks of 18 nodes; blocks of 18 and 72 nodes
//! blue-waters      a real machine, see [`SYSTEMS`]
//! ```
//!
//! ```
//! use replay_engine::topology::Topology;
//! let mesh: Topology = "10x10".parse()?;
//! assert_eq!(mesh.processors(), 100);
//! assert_eq!("torus:16x16".parse::<Topology>()?.to_string(), "torus:16x16");
//! # Ok::<(), replay_engine::topology::TopologyError>(())
//! ```
//!
//! # Several processors at a point
//!
//! On the machine `4x4*2`, which has two processors per point, a job gets whole points: a job of 5 processors gets 3
//! points and holds 6 processors. Allocators, schedulers and distances use points only. In the documentation of
//! [`Topology`], [`NodeId`] and [`Machine`](crate::machine::Machine), the word *processor* means a point. Two
//! processors of one point have distance 0 and are not counted as a pair. Job sizes are in processors, and
//! [`Topology::points`] converts them to points. Two jobs never share a point.

mod cluster;
pub mod curve;
mod default_machine;
mod grid;
pub mod hierarchy;
mod hypercube;
mod machine_file;
mod multi_torus;
mod node_map;
mod pair_distances;
mod parse;
mod system;

pub use cluster::Cluster;
pub use default_machine::{DefaultMachine, default_machine};
pub use grid::{Axis, Coord, Grid};
pub use hierarchy::{Hierarchy, natural_order};
pub use hypercube::Hypercube;
pub use machine_file::{content_digest, split_name};
pub use multi_torus::{MultiTorus, Part as TorusPart};
pub use node_map::NodeMap;
pub use pair_distances::PairDistances;
pub use pair_distances::along_axis;
pub use parse::TopologyError;
pub use system::{SYSTEMS, System, SystemError};

use crate::workload::RecordedPlacements;

/// Number of a processor. Processors of a grid are numbered in *scan order*: z varies fastest and x slowest. A
/// [`MultiTorus`] is numbered torus by torus; within each torus, x varies fastest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the number as an index into per-processor arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Maximum number of points of a mesh or torus.
pub const MAX_POINTS: usize = RecordedPlacements::MOST as usize;

/// The interconnect of a machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// A mesh or torus in two or three dimensions.
    Grid(Grid),
    /// A binary hypercube.
    Hypercube(Hypercube),
    /// Workstations on a crossbar, each shared by one or more jobs.
    Cluster(Cluster),
    /// Several tori, or one torus with holes.
    MultiTorus(MultiTorus),
    /// A tree of switches, or blocks of nodes.
    Hierarchy(Hierarchy),
}

impl Topology {
    /// Returns the number of points. The number of points equals the number of processors if each point has one
    /// processor.
    pub fn processors(&self) -> usize {
        match self {
            Topology::Grid(grid) => grid.processors(),
            Topology::Hypercube(cube) => cube.processors(),
            Topology::Cluster(cluster) => cluster.hosts() as usize,
            Topology::MultiTorus(toruses) => toruses.processors(),
            Topology::Hierarchy(hierarchy) => hierarchy.processors(),
        }
    }

    /// Returns the number of processors at each point.
    pub fn per_point(&self) -> u32 {
        self.grid().map_or(1, Grid::per_point)
    }

    /// Returns the total number of processors at all points.
    pub fn capacity(&self) -> usize {
        self.processors() * self.per_point() as usize
    }

    /// Returns the number of whole points that a job of `size` processors occupies.
    #[inline]
    pub fn points(&self, size: u32) -> u32 {
        size.div_ceil(self.per_point())
    }

    /// Returns the number of processes that the machine can run simultaneously: one per processor, or one per slot of
    /// a cluster.
    pub fn slots(&self) -> usize {
        self.cluster().map_or(self.processors(), |cluster| cluster.slots())
    }

    /// Returns the grid if the machine is a mesh or torus.
    pub fn grid(&self) -> Option<&Grid> {
        match self {
            Topology::Grid(grid) => Some(grid),
            _ => None,
        }
    }

    /// Returns the hierarchy if the machine is a tree or consists of blocks.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        match self {
            Topology::Hierarchy(hierarchy) => Some(hierarchy),
            _ => None,
        }
    }

    /// Returns the cluster if the machine is a cluster.
    pub fn cluster(&self) -> Option<Cluster> {
        match self {
            Topology::Cluster(cluster) => Some(*cluster),
            _ => None,
        }
    }

    /// Returns, for each dimension, the largest side that a job may request; 1 for a missing dimension. On a grid, the
    /// result contains the sides of the grid. On a hypercube of n dimensions, the result contains the sides of the
    /// embedded mesh, 2^(n/2) x 2^((n+1)/2). On a cluster, the result contains the sides of a row of all hosts. On
    /// several tori, the result contains the largest side along each axis. On a tree or a machine of blocks, all sides
    /// are 1.
    pub fn extents(&self) -> [u16; 3] {
        match self {
            Topology::Grid(grid) => grid.axes().map(|axis| axis.extent),
            Topology::Hypercube(cube) => {
                let n = cube.dimensions();
                [1 << (n / 2), 1 << n.div_ceil(2), 1]
            }
            // [`Cluster::MAX_SLOTS`] fits into 16 bits.
            Topology::Cluster(cluster) => [cluster.hosts() as u16, 1, 1],
            Topology::MultiTorus(toruses) => toruses.extents(),
            Topology::Hierarchy(_) => [1; 3],
        }
    }

    /// Returns the length of a shortest path in hops: L1 on a mesh, L1 with wrap-around on a torus, Hamming distance on
    /// a hypercube, 1 between any two hosts of a cluster, [`MultiTorus::hops`] on several tori, and
    /// [`Hierarchy::hops`] on trees and blocks.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.l1(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(cube) => cube.hops(a, b),
            Topology::Cluster(_) => u32::from(a != b),
            Topology::MultiTorus(toruses) => toruses.hops(a, b),
            Topology::Hierarchy(hierarchy) => hierarchy.hops(a, b),
        }
    }

    /// Returns the L-infinity distance: the largest distance along one dimension. On machines without dimensions, the
    /// result is the distance in hops.
    pub fn chebyshev(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.linf(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(_) | Topology::Cluster(_) => u32::from(a != b),
            Topology::MultiTorus(toruses) => toruses.chebyshev(a, b),
            Topology::Hierarchy(hierarchy) => hierarchy.hops(a, b),
        }
    }

    /// Calls `visit` once with each direct neighbour of `node`. On trees and blocks, the neighbours of a node are the
    /// other nodes of its leaf.
    pub fn for_neighbours(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        match self {
            Topology::Grid(grid) => grid.for_neighbours(node, visit),
            Topology::Hypercube(cube) => cube.for_neighbours(node, visit),
            Topology::Cluster(_) => self.nodes().filter(|&other| other != node).for_each(visit),
            Topology::MultiTorus(toruses) => toruses.for_neighbours(node, visit),
            Topology::Hierarchy(hierarchy) => hierarchy.for_neighbours(node, visit),
        }
    }

    /// Returns all processors in scan order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.processors() as u32).map(NodeId)
    }
}
