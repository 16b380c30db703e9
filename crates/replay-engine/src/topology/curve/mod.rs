//! Linear orders of the processors of a grid.
//!
//! Sources: Lo et al. (figure 2) for the row-major, snake and shuffled orders; Leung et
//! al. (Cluster 2002) for allocation along a Hilbert curve; Johnson, Bunde, Leung
//! (section IV). "Row" means constant y (and z): a row-major order runs along x first.

mod gilbert;
mod hilbert;
mod plain;

use super::{Coord, Grid, NodeId};

/// A linear order of the processors of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Curve {
    /// All rows in order; every row begins at x = 0.
    RowMajor,
    /// All rows in order; every second row runs backwards.
    Snake,
    /// Z order: the rank of a position consists of the interleaved bits of its coordinates.
    ShuffledRowMajor,
    /// Z order with each 2 x 2 quadrant in snake order.
    ShuffledSnake,
    /// Hilbert curve of the enclosing power-of-two square or cube, without the positions outside
    /// the grid.
    Hilbert,
    /// Generalised Hilbert curve for any side lengths.
    Gilbert,
}

impl Curve {
    /// All curves.
    pub const ALL: [Curve; 6] = [
        Curve::RowMajor,
        Curve::Snake,
        Curve::ShuffledRowMajor,
        Curve::ShuffledSnake,
        Curve::Hilbert,
        Curve::Gilbert,
    ];

    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Curve::RowMajor => "row-major",
            Curve::Snake => "snake",
            Curve::ShuffledRowMajor => "shuffled-row-major",
            Curve::ShuffledSnake => "shuffled-snake",
            Curve::Hilbert => "hilbert",
            Curve::Gilbert => "gilbert",
        }
    }

    /// Returns a one-line description for listings.
    pub fn about(self) -> &'static str {
        match self {
            Curve::RowMajor => "rows one after another",
            Curve::Snake => "rows one after another, every second row backwards",
            Curve::ShuffledRowMajor => "Z order (bits of the coordinates interleaved)",
            Curve::ShuffledSnake => "Z order, each 2x2 quadrant in snake order",
            Curve::Hilbert => "Hilbert curve of the enclosing power of two, truncated to the grid",
            Curve::Gilbert => "generalised Hilbert curve for any side lengths",
        }
    }

    /// Returns all processors of `grid` in the order of the curve, each once.
    pub fn order(self, grid: &Grid) -> Vec<NodeId> {
        let nodes = match self {
            Curve::RowMajor => sorted_by_key(grid, |c| plain::row_major(grid, c)),
            Curve::Snake => sorted_by_key(grid, |c| plain::snake(grid, c)),
            Curve::ShuffledRowMajor => sorted_by_key(grid, |c| plain::shuffled_row_major(grid, c)),
            Curve::ShuffledSnake => sorted_by_key(grid, |c| plain::shuffled_snake(grid, c)),
            Curve::Hilbert => sorted_by_key(grid, |c| hilbert::rank(grid, c)),
            Curve::Gilbert => gilbert::walk(grid).into_iter().map(|c| grid.node(c)).collect(),
        };
        debug_assert_eq!(nodes.len(), grid.processors());
        nodes
    }
}

/// If all ranks are below this multiple of the number of processors, the processors are sorted by
/// writing them into an array indexed by rank.
const DENSE_FACTOR: usize = 8;

fn sorted_by_key(grid: &Grid, rank: impl Fn(Coord) -> u64) -> Vec<NodeId> {
    let ranks: Vec<u64> =
        (0..grid.processors() as u32).map(|node| rank(grid.coord(NodeId(node)))).collect();
    let most = ranks.iter().max().map_or(0, |&most| most as usize);
    let mut nodes: Vec<_> = (0..ranks.len() as u32).map(NodeId).collect();
    if most >= DENSE_FACTOR * ranks.len().max(1) {
        nodes.sort_by_key(|node| ranks[node.index()]);
        return nodes;
    }
    // Ranks are distinct.
    let mut places = vec![None; most + 1];
    for (node, &rank) in nodes.drain(..).zip(&ranks) {
        places[rank as usize] = Some(node);
    }
    nodes.extend(places.into_iter().flatten());
    nodes
}

#[cfg(test)]
mod tests;
