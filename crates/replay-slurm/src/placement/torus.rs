//! Toruses with their nodes and placements.

use std::ops::Range;
use std::sync::Arc;

use crate::placement::positions::{around, between_walls, hold, overlap, overlap_themselves};
use replay_engine::bits;
use replay_engine::topology::Topology;

/// Maximum total number of cells of all toruses of a machine.
pub const MAX_CELLS: u64 = 1 << 24;

/// Maximum total number of entries in the masks of all anchors of a torus. An entry has 16 bytes.
const MAX_MASKS: usize = 1 << 25;

/// A set of cells of a torus.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cells(Vec<u64>);

impl Cells {
    /// Creates the empty set on a torus with this number of cells.
    pub fn none(cells: usize) -> Self {
        Self(vec![0; cells.div_ceil(64)])
    }

    /// Returns whether the set contains a cell.
    #[inline]
    pub fn contains(&self, cell: u32) -> bool {
        bits::get(&self.0, cell as usize)
    }

    /// Adds a cell.
    #[inline]
    pub fn insert(&mut self, cell: u32) {
        self.0[cell as usize / 64] |= 1 << (cell % 64);
    }

    /// Removes a cell.
    #[inline]
    pub fn remove(&mut self, cell: u32) {
        self.0[cell as usize / 64] &= !(1 << (cell % 64));
    }

    /// Returns the number of cells in the set.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Returns the cells in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        bits::ones(&self.0).map(|cell| cell as u32)
    }

    /// Returns whether the set contains all cells of a mask.
    #[inline]
    pub fn holds(&self, mask: &[Part]) -> bool {
        mask.iter().all(|part| self.0[part.word as usize] & part.bits == part.bits)
    }

    /// Removes the cells of a mask.
    pub fn remove_all(&mut self, mask: &[Part]) {
        mask.iter().for_each(|part| self.0[part.word as usize] &= !part.bits);
    }

    /// Adds the cells of a mask.
    pub fn insert_all(&mut self, mask: &[Part]) {
        mask.iter().for_each(|part| self.0[part.word as usize] |= part.bits);
    }

    /// Returns the number of cells that the set shares with a mask.
    pub fn common(&self, mask: &[Part]) -> u32 {
        mask.iter().map(|part| (self.0[part.word as usize] & part.bits).count_ones()).sum()
    }
}

/// A part of a mask: up to 64 cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    word: u32,
    bits: u64,
}

/// Returns the cells of a mask in ascending order.
pub fn cells_of(mask: &[Part]) -> impl Iterator<Item = u32> + '_ {
    mask.iter().flat_map(|part| {
        (0..64).filter(|bit| part.bits >> bit & 1 == 1).map(|bit| part.word * 64 + bit)
    })
}

/// A box that jobs may get, with its positions.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Sides along x, y, z.
    pub sides: [u16; 3],
    /// Number of cells of the box: the size of the jobs that get this box.
    pub size: u32,
    /// Positions along each axis, in scan order.
    positions: [Vec<u16>; 3],
    /// Concatenated masks of the nodes of all anchors. Anchors are ordered by x, then y, then z.
    masks: Vec<Part>,
    /// Start of an anchor's mask in `masks`, and its number of nodes.
    anchors: Vec<(u32, u32)>,
    /// Whether two different anchors of this size share a cell. The anchors may belong to different placements.
    pub overlaps: bool,
}

/// The rule for the positions of a placement along the axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Distance in cells between consecutive positions along x, y, z. Each distance must be at least 1.
    pub spacing: [u16; 3],
    /// The first position along x, y, z.
    pub seed: [u16; 3],
    /// Whether boxes wrap around the edge, along x, y, z.
    pub wrapped: [bool; 3],
    /// Whether a position is added at which the box ends at the edge; applies only to axes that do not wrap.
    pub flush: bool,
}

impl Placement {
    /// Returns the number of anchors.
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }

    /// Returns the nodes of an anchor, without holes.
    #[inline]
    pub fn mask(&self, anchor: usize) -> &[Part] {
        let end = self.anchors.get(anchor + 1).map_or(self.masks.len(), |next| next.0 as usize);
        &self.masks[self.anchors[anchor].0 as usize..end]
    }

    /// Returns whether an anchor contains no hole.
    #[inline]
    pub fn is_whole(&self, anchor: usize) -> bool {
        self.anchors[anchor].1 == self.size
    }

    /// Returns the number of nodes of an anchor.
    pub fn nodes(&self, anchor: usize) -> u32 {
        self.anchors[anchor].1
    }

    /// Returns the positions along each axis, in scan order.
    pub fn positions(&self) -> [&[u16]; 3] {
        [0, 1, 2].map(|axis| &self.positions[axis][..])
    }

    /// Returns the indices of an anchor's positions along the axes.
    #[inline]
    pub fn place(&self, anchor: usize) -> [usize; 3] {
        let [_, y, z] = self.positions().map(<[u16]>::len);
        [anchor / (y * z), anchor / z % y, anchor % z]
    }

    /// Returns the corner of an anchor with the smallest coordinates, before wrapping.
    pub fn base(&self, anchor: usize) -> [u16; 3] {
        let at = self.place(anchor);
        [0, 1, 2].map(|axis| self.positions[axis][at[axis]])
    }
}

/// A torus of equal nodes that jobs use exclusively.
#[derive(Clone, Debug)]
pub struct Torus {
    /// Name of the torus in the configuration.
    pub name: String,
    /// Number of cells along x, y, z.
    pub sides: [u16; 3],
    /// The cells with a node.
    pub nodes: Cells,
    /// Placements in order of size. Placements of equal size are in the order in which they were added.
    placements: Vec<Placement>,
}

impl Torus {
    /// Creates a torus without placements. Returns `None` if a side is 0 or if there are too many cells.
    pub fn new(name: String, sides: [u16; 3], has_node: impl Fn(u32) -> bool) -> Option<Self> {
        let cells = sides.iter().map(|&side| u64::from(side)).product();
        if !(1..=MAX_CELLS).contains(&cells) {
            return None;
        }
        let mut nodes = Cells::none(cells as usize);
        (0..cells as u32).filter(|&cell| has_node(cell)).for_each(|cell| nodes.insert(cell));
        Some(Self { name, sides, nodes, placements: Vec::new() })
    }

    /// Returns the number of cells, including holes.
    pub fn cells(&self) -> usize {
        self.sides.iter().map(|&side| usize::from(side)).product()
    }

    /// Returns the number of a cell.
    pub fn cell(&self, [x, y, z]: [u16; 3]) -> u32 {
        let [x, y, z] = [x, y, z].map(u32::from);
        x + u32::from(self.sides[0]) * (y + u32::from(self.sides[1]) * z)
    }

    /// Returns the coordinates of a cell.
    pub fn coord(&self, cell: u32) -> [u16; 3] {
        let [width, depth] = [0, 1].map(|axis| u32::from(self.sides[axis]));
        [cell % width, cell / width % depth, cell / width / depth].map(|at| at as u16)
    }

    /// Returns the placements in ascending order of size.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Adds a placement: boxes with these sides at these positions. No side may be longer than the corresponding side
    /// of the torus.
    ///
    /// # Errors
    /// Returns a description of the problem if the masks of the anchors would need too much memory.
    pub fn allow(&mut self, sides: [u16; 3], steps: &Steps) -> Result<(), String> {
        let Steps { spacing, seed, wrapped, flush } = *steps;
        let positions = [0, 1, 2].map(|axis| {
            let (length, step) = (self.sides[axis], spacing[axis]);
            match wrapped[axis] {
                true => around(length, step, seed[axis]),
                false => between_walls(length, sides[axis], step, seed[axis], flush),
            }
        });
        let size = sides.iter().map(|&side| u32::from(side)).product();
        let (mut masks, mut anchors) = (Vec::new(), Vec::new());
        let taken: usize = self.placements.iter().map(|placement| placement.masks.len()).sum();
        for &x in &positions[0] {
            for &y in &positions[1] {
                for &z in &positions[2] {
                    let begin = masks.len();
                    let nodes = self.mask([x, y, z], sides, &mut masks);
                    if taken + masks.len() > MAX_MASKS {
                        return Err("the anchors of the placement need too much memory".to_string());
                    }
                    anchors.push((begin as u32, nodes));
                }
            }
        }
        let mut new = Placement { sides, size, positions, masks, anchors, overlaps: false };
        new.overlaps = (0..3)
            .any(|axis| overlap_themselves(self.sides[axis], &new.positions[axis], sides[axis]));
        let at = self.placements.partition_point(|placement| placement.size <= size);
        for other in self.placements.iter_mut().filter(|placement| placement.size == size) {
            let share = (0..3).all(|axis| {
                let mine = (&new.positions[axis][..], sides[axis]);
                overlap(self.sides[axis], mine, (&other.positions[axis], other.sides[axis]))
            });
            other.overlaps |= share;
            new.overlaps |= share;
        }
        self.placements.insert(at, new);
        Ok(())
    }

    /// Returns whether the torus has no holes and every anchor of size `large` contains an anchor of size `small`. If
    /// the result is `true` and no box of size `small` is free, no box of size `large` is free either.
    pub fn holds(&self, large: u32, small: u32) -> bool {
        let of_size = |size| self.placements.iter().filter(move |one| one.size == size);
        let holds = |one: &Placement, other: &Placement| {
            (0..3).all(|axis| {
                let outer = (&one.positions[axis][..], one.sides[axis]);
                let inner = (&other.positions[axis][..], other.sides[axis]);
                hold(self.sides[axis], outer, inner)
            })
        };
        self.nodes.len() as usize == self.cells()
            && of_size(large).all(|one| of_size(small).any(|other| holds(one, other)))
    }

    /// Appends the mask of the nodes in a box and returns the number of these nodes.
    fn mask(&self, base: [u16; 3], sides: [u16; 3], masks: &mut Vec<Part>) -> u32 {
        let ranges = [0, 1, 2].map(|axis| ranges(self.sides[axis], base[axis], sides[axis]));
        let along = |axis: usize| ranges[axis].iter().flat_map(|range| range.clone());
        let (begin, width) = (masks.len(), u32::from(self.sides[0]));
        let mut nodes = 0;
        for z in along(2) {
            for y in along(1) {
                let row = width * (y + u32::from(self.sides[1]) * z);
                for range in ranges[0].iter().filter(|range| !range.is_empty()) {
                    let (first, end) = (row + range.start, row + range.end);
                    for word in first / 64..end.div_ceil(64) {
                        let from = first.saturating_sub(word * 64);
                        let to = (end - word * 64).min(64);
                        let bits = (u64::MAX >> (64 - (to - from))) << from;
                        let bits = bits & self.nodes.0[word as usize];
                        nodes += bits.count_ones();
                        match masks[begin..].last_mut() {
                            _ if bits == 0 => {}
                            Some(part) if part.word == word => part.bits |= bits,
                            _ => masks.push(Part { word, bits }),
                        }
                    }
                }
            }
        }
        nodes
    }

    /// Returns the cells of a box, which may wrap around the edges.
    pub fn cells_in(&self, base: [u16; 3], sides: [u16; 3]) -> impl Iterator<Item = u32> + '_ {
        let along = move |axis: usize| {
            let ranges = ranges(self.sides[axis], base[axis], sides[axis]);
            ranges.into_iter().flatten().map(|at| at as u16)
        };
        let row = move |z| along(1).flat_map(move |y| along(0).map(move |x| [x, y, z]));
        along(2).flat_map(row).map(|at| self.cell(at))
    }
}

/// Returns the positions that a box covers on an axis, in ascending order. The first range is empty unless the box
/// wraps around the edge.
fn ranges(length: u16, base: u16, side: u16) -> [Range<u32>; 2] {
    let [length, base, side] = [length, base, side].map(u32::from);
    let end = base + side;
    [0..end.saturating_sub(length), base..end.min(length)]
}

/// Several toruses with a common numbering of their nodes. Nodes are numbered torus by torus in ascending order of
/// cells; holes are skipped.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    toruses: Vec<Arc<Torus>>,
    /// For each torus, the number of its first node.
    first: Vec<u32>,
    /// For each node, its torus and its cell.
    cells: Vec<(u32, u32)>,
    /// For each torus and cell, the node in the cell; [`HOLE`] for holes.
    nodes: Vec<Vec<u32>>,
}

/// Value that marks a cell without a node.
const HOLE: u32 = u32::MAX;

impl Layout {
    /// Creates a layout of toruses. The toruses may have at most `MAX_CELLS` cells in total.
    pub fn new(toruses: impl IntoIterator<Item = impl Into<Arc<Torus>>>) -> Self {
        let toruses: Vec<Arc<Torus>> = toruses.into_iter().map(Into::into).collect();
        let mut layout = Self::default();
        for (index, torus) in toruses.iter().enumerate() {
            layout.first.push(layout.cells.len() as u32);
            let mut nodes = vec![HOLE; torus.cells()];
            for cell in torus.nodes.iter() {
                nodes[cell as usize] = layout.cells.len() as u32;
                layout.cells.push((index as u32, cell));
            }
            layout.nodes.push(nodes);
        }
        layout.toruses = toruses;
        layout
    }

    /// Returns the machine whose processors are the nodes. Returns `None` if there are no nodes, or more cells than a
    /// machine may have. A single torus without holes becomes a grid, in which processor numbers vary fastest along z.
    pub fn machine(&self) -> Option<Topology> {
        let of = |torus: &Arc<Torus>| {
            let cells = 0..torus.cells() as u32;
            (torus.sides, cells.filter(|&cell| !torus.nodes.contains(cell)).collect())
        };
        Topology::from_tori(&self.toruses.iter().map(of).collect::<Vec<_>>())
    }

    /// Returns the node number of each processor of `machine`; `None` if `machine` is not the [machine](Self::machine)
    /// of this layout.
    pub fn numbers(&self, machine: &Topology) -> Option<Vec<u32>> {
        if self.machine().as_ref() == Some(machine) && machine.grid().is_none() {
            return Some((0..self.nodes() as u32).collect());
        }
        let (grid, [torus]) =
            machine.grid().zip(<&[Arc<Torus>; 1]>::try_from(&self.toruses[..]).ok())?;
        let alike = grid.axes().map(|axis| axis.extent) == torus.sides;
        let number = |at| self.node(0, torus.cell(at));
        alike.then(|| grid.coords().into_iter().map(number).collect()).flatten()
    }

    /// Returns the toruses.
    pub fn toruses(&self) -> &[Arc<Torus>] {
        &self.toruses
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.cells.len()
    }

    /// Returns the torus and cell of a node.
    pub fn place(&self, node: u32) -> (usize, u32) {
        let (torus, cell) = self.cells[node as usize];
        (torus as usize, cell)
    }

    /// Returns the node in a cell of a torus; `None` for a hole.
    pub fn node(&self, torus: usize, cell: u32) -> Option<u32> {
        Some(self.nodes[torus][cell as usize]).filter(|&node| node != HOLE)
    }

    /// Returns an empty set of cells for each torus.
    pub fn none(&self) -> Vec<Cells> {
        self.toruses.iter().map(|torus| Cells::none(torus.cells())).collect()
    }

    /// Returns the cells of all nodes, by torus.
    pub fn all(&self) -> Vec<Cells> {
        self.toruses.iter().map(|torus| torus.nodes.clone()).collect()
    }

    /// Returns the cells of a set of nodes, by torus.
    pub fn cells_of(&self, nodes: impl IntoIterator<Item = u32>) -> Vec<Cells> {
        let mut all = self.none();
        for node in nodes {
            let (torus, cell) = self.place(node);
            all[torus].insert(cell);
        }
        all
    }

    /// Returns the nodes of a set of cells in ascending order.
    pub fn nodes_of<'a>(&'a self, cells: &'a [Cells]) -> impl Iterator<Item = u32> + 'a {
        let of = move |(torus, cells): (usize, &'a Cells)| {
            cells.iter().filter_map(move |cell| self.node(torus, cell))
        };
        cells.iter().enumerate().flat_map(of)
    }
}
