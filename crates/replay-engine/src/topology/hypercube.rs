use super::NodeId;

/// A binary hypercube: two processors are neighbours if their numbers differ in one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hypercube {
    dimensions: u8,
}

impl Hypercube {
    /// Maximum number of dimensions (2^15 processors).
    pub const MAX_DIMENSIONS: u8 = 15;

    /// Creates a hypercube of 2^`dimensions` processors; `None` above
    /// [`Hypercube::MAX_DIMENSIONS`].
    pub fn new(dimensions: u8) -> Option<Self> {
        (dimensions <= Self::MAX_DIMENSIONS).then_some(Self { dimensions })
    }

    /// Returns the number of dimensions.
    pub fn dimensions(&self) -> u8 {
        self.dimensions
    }

    /// Returns the number of processors.
    pub fn processors(&self) -> usize {
        1 << self.dimensions
    }

    /// Returns the distance in hops: the Hamming distance of the numbers.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        (a.0 ^ b.0).count_ones()
    }

    /// Calls `visit` with every neighbour of `node`, lowest dimension first.
    pub fn for_neighbours(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        for bit in 0..self.dimensions {
            visit(NodeId(node.0 ^ (1 << bit)));
        }
    }
}
