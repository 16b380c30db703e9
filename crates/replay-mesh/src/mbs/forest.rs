//! Blocks into which a machine can be divided, and their buddies.
//!
//! Sides of blocks are powers of two. The *initial blocks* cover the machine. Each initial block is
//! divided into equal buddies, and each buddy is divided again, down to single processors. The
//! *class* of a block is the number of divisions between the block and a single processor. A block
//! of class c therefore has `arity`^c processors. Within a class, blocks are in the order of the
//! list of free blocks. [`BlockId`]s are numbered by ascending class, and within a class in the
//! order of the list of free blocks.
//!
//! Initial blocks are determined by the binary digits of the sides: a side of 10 is divided into a
//! segment of 8 and a segment of 2. The initial blocks of [`Division::Halves`] are the products of
//! the segments of all sides. For [`Division::Corners`], the products of the segments are cut into
//! squares or cubes. The greedy rule has the same result: it tiles the machine with the largest
//! squares, and then treats the strips on the right and on top in the same way. For example, a mesh
//! of 12 x 10 has the nine blocks of Lo et al., figure 4. Memory is proportional to the number of
//! processors.

use replay_engine::allocator::submesh::SubMesh;
use replay_engine::topology::{Grid, NodeId};

/// Division of a block into buddies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Division {
    /// Every dimension is halved: four squares in 2D, eight cubes in 3D.
    Corners,
    /// The longest side is halved, which gives two boxes. If several sides are equally long, the
    /// last of them is halved.
    Halves,
}

/// Order of the blocks of one class, by their bases.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListOrder {
    /// Sorted by z, then y, then x.
    RowMajor,
    /// Sorted by x, then y, then z, which is the order of processor numbers.
    ByNumber,
}

impl ListOrder {
    /// Every order with its name.
    pub const ALL: [(&'static str, Self); 2] =
        [("row-major", ListOrder::RowMajor), ("by-number", ListOrder::ByNumber)];
}

/// A block of a [`Forest`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockId(u32);

#[derive(Clone, Copy, Debug)]
struct Block {
    area: SubMesh,
    class: u8,
    parent: Option<BlockId>,
}

/// All blocks of a machine.
#[derive(Clone, Debug)]
pub struct Forest {
    grid: Grid,
    /// log2 of the number of buddies into which a block divides.
    arity_log: u32,
    blocks: Vec<Block>,
    /// Id of the first block of each class; the last entry is the number of blocks.
    starts: Vec<u32>,
    /// Children of all blocks of class 1 and above; each block has `arity` children.
    children: Vec<BlockId>,
    initial: Vec<BlockId>,
}

impl Forest {
    /// Creates all blocks of `grid`. Blocks do not wrap around.
    pub fn new(grid: &Grid, division: Division, order: ListOrder) -> Self {
        let axes: &[usize] = if grid.dimensions() == 2 { &[0, 1] } else { &[0, 1, 2] };
        let (arity_log, initial) = match division {
            Division::Halves => (1, segments(grid)),
            Division::Corners => {
                let cubes = segments(grid).into_iter().flat_map(|area| cubes(area, axes));
                (axes.len() as u32, cubes.collect())
            }
        };
        let divide = |area: SubMesh| match division {
            Division::Corners => halve(area, axes),
            Division::Halves => halve(area, &[longest(area)]),
        };
        let classes = by_class(&initial, arity_log, order, divide);
        let mut forest = Self {
            grid: grid.clone(),
            arity_log,
            blocks: Vec::new(),
            starts: vec![0],
            children: Vec::new(),
            initial: Vec::new(),
        };
        // Blocks of one class have distinct bases.
        let mut at = vec![BlockId(0); grid.processors()];
        for (class, areas) in classes.iter().enumerate() {
            let first = forest.blocks.len() as u32;
            for (&area, id) in areas.iter().zip(first..) {
                if class > 0 {
                    for child in divide(area) {
                        let child = at[grid.node(child.base).index()];
                        forest.blocks[child.0 as usize].parent = Some(BlockId(id));
                        forest.children.push(child);
                    }
                }
                forest.blocks.push(Block { area, class: class as u8, parent: None });
            }
            for (area, id) in areas.iter().zip(first..) {
                at[grid.node(area.base).index()] = BlockId(id);
            }
            forest.starts.push(forest.blocks.len() as u32);
        }
        let roots = forest.blocks.iter().zip(0..).filter(|(block, _)| block.parent.is_none());
        forest.initial = roots.map(|(_, id)| BlockId(id)).collect();
        forest
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of buddies into which a block divides: 2, 4 or 8.
    pub fn arity(&self) -> u32 {
        1 << self.arity_log
    }

    /// Returns the number of processors in a block of a class.
    pub fn volume(&self, class: usize) -> u32 {
        1 << (self.arity_log * class as u32)
    }

    /// Returns the number of blocks of class `class` that a job of `size` processors requests. The
    /// result is a digit of the size in base `arity`; for the largest class the result includes all
    /// higher digits.
    pub fn digit(&self, size: u32, class: usize) -> u32 {
        let rest = size >> (self.arity_log * class as u32);
        if class + 1 == self.classes() { rest } else { rest & (self.arity() - 1) }
    }

    /// Returns the number of blocks of a class, both free and not free.
    pub fn len(&self, class: usize) -> usize {
        (self.starts[class + 1] - self.starts[class]) as usize
    }

    /// Returns the block of a class with this number; blocks of a class are numbered in list order.
    #[inline]
    pub fn block(&self, class: usize, number: usize) -> BlockId {
        BlockId(self.starts[class] + number as u32)
    }

    /// Returns the class of a block.
    #[inline]
    pub fn class(&self, block: BlockId) -> usize {
        usize::from(self.blocks[block.0 as usize].class)
    }

    /// Returns the number of a block within its class.
    #[inline]
    pub fn number(&self, block: BlockId) -> usize {
        (block.0 - self.starts[self.class(block)]) as usize
    }

    /// Returns the area of a block.
    #[inline]
    pub fn area(&self, block: BlockId) -> SubMesh {
        self.blocks[block.0 as usize].area
    }

    /// Returns the area of the block that consists only of processor `node`.
    pub fn cell(&self, node: NodeId) -> SubMesh {
        SubMesh { base: self.grid.coord(node), sides: [1; 3] }
    }

    /// Returns the processor at the base of a block.
    #[inline]
    pub fn base(&self, block: BlockId) -> NodeId {
        self.grid.node(self.area(block).base)
    }

    /// Returns the block formed by a block and its buddies; `None` for an initial block.
    #[inline]
    pub fn parent(&self, block: BlockId) -> Option<BlockId> {
        self.blocks[block.0 as usize].parent
    }

    /// Returns the buddies into which a block is divided; empty for a single processor. The buddy
    /// with the same base as the block comes first.
    #[inline]
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        let Some(parent) = block.0.checked_sub(self.starts[1]) else { return &[] };
        let arity = self.arity() as usize;
        &self.children[parent as usize * arity..][..arity]
    }

    /// Returns the initial blocks.
    pub fn initial(&self) -> &[BlockId] {
        &self.initial
    }

    /// Appends the processors of a block in row-major order; x varies fastest.
    #[inline]
    pub fn append_to(&self, block: BlockId, nodes: &mut Vec<NodeId>) {
        let (base, [w, d, h]) = (self.base(block).0, self.area(block).sides.map(u32::from));
        let along_y = self.grid.axes()[2].extent as u32;
        let along_x = along_y * self.grid.axes()[1].extent as u32;
        for z in 0..h {
            for y in 0..d {
                let row = base + y * along_y + z;
                nodes.extend((0..w).map(|x| NodeId(row + x * along_x)));
            }
        }
    }
}

/// Returns boxes that cover the grid; their sides are powers of two. Each side of the grid is
/// divided into segments by its binary digits, with the largest segment at the low end. The boxes
/// are the products of the segments of all sides.
fn segments(grid: &Grid) -> Vec<SubMesh> {
    let digits = |axis: usize| {
        let extent = grid.axes()[axis].extent;
        let powers = (0..u16::BITS).rev().map(|bit| 1 << bit).filter(move |p| extent & p != 0);
        // A segment starts at the sum of the lengths of the longer segments before it.
        powers.map(move |power: u16| (extent & !(power | (power - 1)), power))
    };
    let mut boxes = Vec::new();
    for (x, w) in digits(0) {
        for (y, d) in digits(1) {
            boxes.extend(digits(2).map(|(z, h)| SubMesh { base: [x, y, z], sides: [w, d, h] }));
        }
    }
    boxes
}

/// Returns the largest squares or cubes, in the given dimensions, that tile a box.
fn cubes(area: SubMesh, axes: &[usize]) -> Vec<SubMesh> {
    let least = axes.iter().map(|&axis| area.sides[axis]).min().unwrap_or(1);
    let mut tiles = vec![area];
    while let Some(axis) = axes.iter().copied().find(|&axis| tiles[0].sides[axis] > least) {
        tiles = tiles.into_iter().flat_map(|tile| halve(tile, &[axis])).collect();
    }
    tiles
}

/// Halves a box along each of `axes` and returns the parts. The first dimension alternates fastest.
fn halve(area: SubMesh, axes: &[usize]) -> Vec<SubMesh> {
    let mut parts = vec![area];
    for &axis in axes {
        let half = area.sides[axis] / 2;
        parts.iter_mut().for_each(|part| part.sides[axis] = half);
        let upper = parts.clone().into_iter().map(|mut part| {
            part.base[axis] += half;
            part
        });
        parts.extend(upper);
    }
    parts
}

fn longest(area: SubMesh) -> usize {
    (0..3).max_by_key(|&axis| area.sides[axis]).unwrap_or(0)
}

/// Returns the initial blocks and all their parts by class, sorted within each class.
fn by_class(
    initial: &[SubMesh],
    arity_log: u32,
    order: ListOrder,
    divide: impl Fn(SubMesh) -> Vec<SubMesh>,
) -> Vec<Vec<SubMesh>> {
    let class = |area: &SubMesh| (area.volume().ilog2() / arity_log) as usize;
    let top = initial.iter().map(class).max().unwrap_or(0);
    let mut classes = vec![Vec::new(); top + 1];
    initial.iter().for_each(|area| classes[class(area)].push(*area));
    // Blocks of a class are disjoint, so their keys differ.
    let key = |area: &SubMesh| -> u64 {
        let [x, y, z] = area.base;
        let digits = match order {
            ListOrder::RowMajor => [z, y, x],
            ListOrder::ByNumber => [x, y, z],
        };
        digits.into_iter().fold(0, |key, digit| key << 16 | u64::from(digit))
    };
    for class in (0..=top).rev() {
        if class > 0 {
            let parts: Vec<_> = classes[class].iter().flat_map(|&area| divide(area)).collect();
            classes[class - 1].extend(parts);
        }
        classes[class].sort_unstable_by_key(key);
    }
    classes
}

#[cfg(test)]
mod tests;
