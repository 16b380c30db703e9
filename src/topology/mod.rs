//! Where processors are: meshes, tori, hypercubes and clusters of workstations.
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
//! cluster:6        6 workstations on a crossbar
//! cluster:6x2      the same, each shared by up to 2 jobs
//! ```
//!
//! ```
//! use replay::topology::Topology;
//! let mesh: Topology = "10x10".parse()?;
//! assert_eq!(mesh.processors(), 100);
//! assert_eq!("torus:16x16".parse::<Topology>()?.to_string(), "torus:16x16");
//! # Ok::<(), replay::topology::TopologyError>(())
//! ```

mod cluster;
pub mod curve;
mod default_machine;
mod grid;
mod hypercube;
mod pair_distances;
mod parse;

pub use cluster::Cluster;
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
    /// Workstations on a crossbar, which several jobs may share.
    Cluster(Cluster),
}

impl Topology {
    /// Number of processors.
    pub fn processors(&self) -> usize {
        match self {
            Topology::Grid(grid) => grid.processors(),
            Topology::Hypercube(cube) => cube.processors(),
            Topology::Cluster(cluster) => cluster.hosts() as usize,
        }
    }

    /// Number of processes of jobs that it holds: one a processor, but on a cluster one a slot.
    pub fn slots(&self) -> usize {
        self.cluster().map_or(self.processors(), |cluster| cluster.slots())
    }

    /// The grid, if the machine is one.
    pub fn grid(&self) -> Option<&Grid> {
        match self {
            Topology::Grid(grid) => Some(grid),
            Topology::Hypercube(_) | Topology::Cluster(_) => None,
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
    /// on a cluster a row of all hosts.
    pub fn extents(&self) -> [u16; 3] {
        match self {
            Topology::Grid(grid) => grid.axes().map(|axis| axis.extent),
            Topology::Hypercube(cube) => {
                let n = cube.dimensions();
                [1 << (n / 2), 1 << n.div_ceil(2), 1]
            }
            // No cluster has more hosts than 16 bits count.
            Topology::Cluster(cluster) => [cluster.hosts() as u16, 1, 1],
        }
    }

    /// Distance in hops along shortest paths: L1 on a mesh, L1 with wrap-around on a
    /// torus, Hamming on a hypercube, 1 between any two hosts of a cluster.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.l1(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(cube) => cube.hops(a, b),
            Topology::Cluster(_) => u32::from(a != b),
        }
    }

    /// L-infinity distance: the largest distance along one dimension.
    pub fn chebyshev(&self, a: NodeId, b: NodeId) -> u32 {
        match self {
            Topology::Grid(grid) => grid.linf(grid.coord(a), grid.coord(b)),
            Topology::Hypercube(_) | Topology::Cluster(_) => u32::from(a != b),
        }
    }

    /// Calls `visit` with every direct neighbour of `node`, each once.
    pub fn for_neighbours(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        match self {
            Topology::Grid(grid) => grid.for_neighbours(node, visit),
            Topology::Hypercube(cube) => cube.for_neighbours(node, visit),
            Topology::Cluster(_) => self.nodes().filter(|&other| other != node).for_each(visit),
        }
    }

    /// All processors in scan order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.processors() as u32).map(NodeId)
    }
}
