//! Embedding of a mesh in a subcube by Gray codes, and the part of the subcube that the mesh leaves
//! unused (Turner 1995, sections 3.2 and 3.3).
//!
//! A mesh of X x Y is embedded in a subcube of k = ceil(log2 X) + ceil(log2 Y) dimensions. The
//! relative address of mesh node (x, y) consists of the codeword of x in the high bits and the
//! codeword of y in the low bits. Neighbours in the mesh are neighbours in the hypercube. Meshes of
//! the thesis have two dimensions. In this implementation a mesh may have a third dimension, whose
//! codeword uses the lowest bits.

use crate::allocator::subcube::cube::{Cube, deposit};
use crate::allocator::subcube::gray;
use crate::allocator::subcube::sides::bits;
use crate::topology::NodeId;

/// Sides of a mesh. For each coordinate, the mesh also stores the bits that the coordinate uses in
/// a relative address of the mesh's subcube.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mesh {
    /// The sides along x, y and z.
    pub sides: [u32; 3],
    /// Number of bits of the relative address that x, y and z use.
    bits: [u32; 3],
}

/// Range of positions along a side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// Positions of the mesh.
    Used,
    /// Positions beyond the mesh.
    Left,
    /// All positions in a single run.
    All,
}

impl Mesh {
    /// Creates a mesh with these sides; each side must be at least 1.
    pub fn new(sides: [u32; 3]) -> Self {
        Self { sides, bits: sides.map(bits) }
    }

    /// Returns the dimension of the subcube.
    pub fn dimension(&self) -> u32 {
        self.bits.iter().sum()
    }

    /// Returns the number of processors of the mesh.
    pub fn processors(&self) -> u32 {
        self.sides.iter().product()
    }

    /// Appends the unused part of the subcube to `cubes` (Partition in the thesis). The unused part
    /// is divided into the smallest number of aligned subcubes, which are given in relative
    /// addresses.
    ///
    /// The side with the largest unused part comes first: its unused positions are not divided
    /// along the other sides. The unused parts along each later side contain only positions that
    /// the mesh uses along all earlier sides. If sides have equal unused parts, x comes before y
    /// (the thesis does not specify the order).
    pub fn append_leftover(&self, cubes: &mut Vec<Cube>) {
        let left =
            |i: usize| ((1 << self.bits[i]) - self.sides[i]) << (self.dimension() - self.bits[i]);
        let mut order = [0, 1, 2];
        order.sort_by_key(|&i| std::cmp::Reverse(left(i)));
        let mut parts = [Part::All; 3];
        for i in order {
            parts[i] = Part::Left;
            self.append_parts(parts, i, cubes);
            parts[i] = Part::Used;
        }
    }

    /// Appends the mesh itself to `cubes`, as aligned subcubes in relative addresses (the thesis's
    /// cluster partition).
    pub fn append_region(&self, cubes: &mut Vec<Cube>) {
        self.append_parts([Part::Used; 3], 0, cubes);
    }

    /// Appends every combination of a run along x, a run along y and a run along z. The run along
    /// side `outer` changes slowest.
    fn append_parts(&self, parts: [Part; 3], outer: usize, cubes: &mut Vec<Cube>) {
        // Calls `visit` with the runs along side i, shifted to the dimensions of this side in
        // relative addresses.
        let runs = |i: usize, visit: &mut dyn FnMut(Cube)| {
            let below: u32 = self.bits[i + 1..].iter().sum();
            let mut visit =
                |run: Cube| visit(Cube { stars: run.stars << below, base: run.base << below });
            let (side, end) = (self.sides[i], 1 << self.bits[i]);
            match parts[i] {
                Part::Used => gray::blocks(0, side, visit),
                Part::Left => gray::blocks(side, end, visit),
                Part::All => visit(Cube::whole(self.bits[i])),
            }
        };
        let inner = [[1, 2], [0, 2], [0, 1]][outer];
        runs(outer, &mut |a| {
            runs(inner[0], &mut |b| {
                runs(inner[1], &mut |c| {
                    let stars = a.stars | b.stars | c.stars;
                    cubes.push(Cube { stars, base: a.base | b.base | c.base });
                });
            });
        });
    }

    /// Appends the processors of the mesh in `host`, a subcube of the mesh's dimension; x varies
    /// fastest, then y, then z.
    pub fn append_to(&self, host: Cube, nodes: &mut Vec<NodeId>) {
        nodes.reserve(self.processors() as usize);
        self.walk(host, [0; 3], self.sides, nodes);
    }

    /// Appends the processors of `host` outside the mesh.
    pub fn append_rest_to(&self, host: Cube, nodes: &mut Vec<NodeId>) {
        let [x, y, z] = self.sides;
        let [all_x, all_y, all_z] = self.bits.map(|bits| 1 << bits);
        self.walk(host, [x, 0, 0], [all_x, y, z], nodes);
        self.walk(host, [0, y, 0], [all_x, all_y, z], nodes);
        self.walk(host, [0, 0, z], [all_x, all_y, all_z], nodes);
    }

    /// Appends the processors at positions from `low` to below `high`.
    fn walk(&self, host: Cube, low: [u32; 3], high: [u32; 3], nodes: &mut Vec<NodeId>) {
        // For each side and each bit of its codeword, the dimension of the host as a mask with one
        // bit.
        let mut dimensions = [[0u32; 16]; 3];
        let mut rest = host.stars;
        for i in [2, 1, 0] {
            for dimension in &mut dimensions[i][..self.bits[i] as usize] {
                *dimension = rest & rest.wrapping_neg();
                rest &= rest - 1;
            }
        }
        let start = |i: usize| {
            let below: u32 = self.bits[i + 1..].iter().sum();
            deposit(gray::code(low[i]) << below, host.stars)
        };
        // Consecutive codewords differ in one bit.
        let next = |i: usize, at: &mut u32, position: u32| {
            *at ^= dimensions[i][(position + 1).trailing_zeros() as usize % 16];
        };
        let (first_x, first_y, mut z_bits) = (start(0), start(1), start(2) | host.base);
        for z in low[2]..high[2] {
            let mut y_bits = first_y;
            for y in low[1]..high[1] {
                let mut x_bits = first_x;
                for x in low[0]..high[0] {
                    nodes.push(NodeId(z_bits | y_bits | x_bits));
                    next(0, &mut x_bits, x);
                }
                next(1, &mut y_bits, y);
            }
            next(2, &mut z_bits, z);
        }
    }
}
