use super::{MAX_POINTS, NodeId};

/// Coordinates (x, y, z) of a processor; z is 0 on a 2D grid.
pub type Coord = [u16; 3];

/// One dimension of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// The number of positions.
    pub extent: u16,
    /// Whether the last position is a neighbour of the first position.
    pub wrapped: bool,
}

impl Axis {
    /// Returns the distance between two positions of this dimension.
    #[inline]
    pub fn distance(&self, a: u16, b: u16) -> u32 {
        let direct = a.abs_diff(b);
        u32::from(if self.wrapped { direct.min(self.extent - direct) } else { direct })
    }

    /// Returns the largest distance between two positions of this dimension.
    pub fn diameter(&self) -> u16 {
        if self.wrapped { self.extent / 2 } else { self.extent - 1 }
    }

    /// Returns whether the dimension has walls: it does not wrap and has more than two positions.
    ///
    /// In a dimension of one or two positions, every position would touch a wall, so the number of
    /// walls would be the same everywhere.
    pub fn has_walls(&self) -> bool {
        !self.wrapped && self.extent > 2
    }

    /// Returns the first position and the length of the interval of radius `r` around `p`. On a
    /// wrapped dimension, the first position may be negative, and the length is at most the extent
    /// of the dimension.
    #[inline]
    pub fn interval(&self, p: u16, r: u32) -> (i32, u32) {
        let (p, n) = (i32::from(p), i32::from(self.extent));
        let r = r.min(n as u32) as i32;
        if self.wrapped {
            (p - r.min((n - 1) / 2), (2 * r + 1).min(n) as u32)
        } else {
            let low = (p - r).max(0);
            (low, ((p + r).min(n - 1) - low + 1) as u32)
        }
    }
}

/// A mesh or torus in two or three dimensions. Each dimension may be wrapped. Every point has one
/// processor, or [several processors](Grid::per_point) that are allocated together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Grid {
    axes: [Axis; 3],
    dimensions: usize,
    per_point: u32,
}

impl Grid {
    /// Creates a grid with the given axes. Returns `None` if the number of axes is not two or
    /// three, if an extent is zero, or if there would be more than [`MAX_POINTS`] points.
    pub fn new(axes: &[Axis]) -> Option<Self> {
        let dimensions = axes.len();
        if !(2..=3).contains(&dimensions) || axes.iter().any(|axis| axis.extent == 0) {
            return None;
        }
        let points: u64 = axes.iter().map(|axis| u64::from(axis.extent)).product();
        if points > MAX_POINTS as u64 {
            return None;
        }
        let mut all = [Axis { extent: 1, wrapped: false }; 3];
        all[..dimensions].copy_from_slice(axes);
        // Wrapping a dimension of one or two positions does not change its distances.
        for axis in &mut all {
            axis.wrapped &= axis.extent > 2;
        }
        Some(Self { axes: all, dimensions, per_point: 1 })
    }

    /// Sets the number of processors per point. Returns `None` if the number is zero, or if the
    /// total number of processors does not fit into 32 bits.
    pub fn with_per_point(self, processors: u32) -> Option<Self> {
        let all = self.processors() as u64 * u64::from(processors);
        (processors > 0 && u32::try_from(all).is_ok())
            .then_some(Self { per_point: processors, ..self })
    }

    /// Returns the number of processors at each point.
    pub fn per_point(&self) -> u32 {
        self.per_point
    }

    /// Creates a 2D mesh of `x` by `y` processors; `None` under the conditions of [`Grid::new`].
    pub fn mesh2(x: u16, y: u16) -> Option<Self> {
        Self::new(&[Axis { extent: x, wrapped: false }, Axis { extent: y, wrapped: false }])
    }

    /// Returns the mesh of the same extents, with one processor per point.
    pub fn unwrapped(&self) -> Self {
        Self { axes: self.axes.map(|axis| Axis { wrapped: false, ..axis }), per_point: 1, ..*self }
    }

    /// Returns the number of dimensions, two or three.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the three axes; the third axis of a 2D grid has extent one.
    #[inline]
    pub fn axes(&self) -> &[Axis; 3] {
        &self.axes
    }

    /// Returns the extent of one dimension.
    #[inline]
    pub fn extent(&self, axis: usize) -> usize {
        usize::from(self.axes[axis].extent)
    }

    /// Returns the number of points. The number of points equals the number of processors if each
    /// point has one processor.
    pub fn processors(&self) -> usize {
        (0..3).map(|axis| self.extent(axis)).product()
    }

    /// Returns whether any dimension wraps.
    pub fn is_wrapped(&self) -> bool {
        self.axes.iter().any(|axis| axis.wrapped)
    }

    /// Returns the coordinates of a processor.
    #[inline]
    pub fn coord(&self, node: NodeId) -> Coord {
        let (y, z) = (u32::from(self.axes[1].extent), u32::from(self.axes[2].extent));
        let row = node.0 / z;
        [(row / y) as u16, (row % y) as u16, (node.0 % z) as u16]
    }

    /// Returns the processor at the coordinates, which must be on the grid.
    #[inline]
    pub fn node(&self, [x, y, z]: Coord) -> NodeId {
        let row = u32::from(x) * u32::from(self.axes[1].extent) + u32::from(y);
        NodeId(row * u32::from(self.axes[2].extent) + u32::from(z))
    }

    /// Returns the coordinates of all processors, in scan order.
    pub fn coords(&self) -> Vec<Coord> {
        (0..self.processors() as u32).map(|id| self.coord(NodeId(id))).collect()
    }

    /// Returns the L1 distance: the sum of the distances along the dimensions, with wrap-around
    /// where the grid wraps.
    #[inline]
    pub fn l1(&self, a: Coord, b: Coord) -> u32 {
        (0..3).map(|i| self.axes[i].distance(a[i], b[i])).sum()
    }

    /// Returns the L-infinity distance: the largest distance along one dimension.
    #[inline]
    pub fn linf(&self, a: Coord, b: Coord) -> u32 {
        let d = |i: usize| self.axes[i].distance(a[i], b[i]);
        d(0).max(d(1)).max(d(2))
    }

    /// Returns the number of walls that a position touches: the number of dimensions with walls in
    /// which the position is the first or the last.
    pub fn walls(&self, coord: Coord) -> u32 {
        let touches = |i: usize| {
            let axis = &self.axes[i];
            axis.has_walls() && (coord[i] == 0 || coord[i] + 1 == axis.extent)
        };
        (0..3).map(|i| u32::from(touches(i))).sum()
    }

    /// Calls `visit` once with each direct neighbour of `node`.
    pub fn for_neighbours(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        let coord = self.coord(node);
        for (i, axis) in self.axes.iter().enumerate() {
            let step = |to: u16| {
                let mut neighbour = coord;
                neighbour[i] = to;
                self.node(neighbour)
            };
            let (p, n) = (coord[i], axis.extent);
            if p > 0 {
                visit(step(p - 1));
            } else if axis.wrapped {
                visit(step(n - 1));
            }
            if p + 1 < n {
                visit(step(p + 1));
            } else if axis.wrapped {
                visit(step(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn any_grid() -> impl Strategy<Value = Grid> {
        let axis = (1u16..8, any::<bool>()).prop_map(|(extent, wrapped)| Axis { extent, wrapped });
        proptest::collection::vec(axis, 2..=3).prop_map(|axes| Grid::new(&axes).expect("small"))
    }

    proptest! {
        #[test]
        fn node_inverts_coord(grid in any_grid()) {
            for id in 0..grid.processors() as u32 {
                prop_assert_eq!(grid.node(grid.coord(NodeId(id))), NodeId(id));
            }
        }

        #[test]
        fn neighbours_are_exactly_the_processors_one_hop_away(grid in any_grid()) {
            for id in 0..grid.processors() as u32 {
                let here = grid.coord(NodeId(id));
                let mut found = Vec::new();
                grid.for_neighbours(NodeId(id), |n| found.push(n));
                found.sort();
                let expected: Vec<_> = (0..grid.processors() as u32).map(NodeId)
                    .filter(|&n| grid.l1(here, grid.coord(n)) == 1).collect();
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn an_interval_contains_exactly_the_positions_within_the_radius(
            extent in 1u16..9, wrapped: bool, p in 0u16..9, r in 0u32..12,
        ) {
            prop_assume!(p < extent);
            let axis = Grid::new(&[Axis { extent, wrapped }, Axis { extent: 1, wrapped: false }])
                .expect("small").axes()[0];
            let (low, length) = axis.interval(p, r);
            let mut inside: Vec<_> = (low..low + length as i32)
                .map(|q| q.rem_euclid(i32::from(extent)) as u16).collect();
            inside.sort();
            let expected: Vec<_> = (0..extent).filter(|&q| axis.distance(p, q) <= r).collect();
            prop_assert_eq!(inside, expected);
        }
    }
}
