//! Assignment of processes to nodes: the order of a job's nodes.
//!
//! The rule takes the smallest part of the torus that contains the job; the part may wrap around
//! the edges. The nodes of the job are numbered along a Morton curve through this part. Processes
//! are assigned to nodes in the order of the numbers along the curve.

use crate::placement::torus::{Cells, Layout};

/// The key of a node with code 0 in the first torus. The value is also the difference between the
/// keys of nodes with equal code in consecutive toruses.
const TORUS_KEY: u64 = 1 << 16;

/// Maximum total number of bits of all axes.
const BITS: u32 = 16;

/// Returns the nodes of a job, each with its key, in the order of their ranks.
pub fn order(layout: &Layout, job: &[Cells]) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    for (index, (torus, cells)) in layout.toruses().iter().zip(job).enumerate() {
        let axes = axes(torus.sides, &torus.nodes, cells, |cell| torus.coord(cell));
        let nodes = cells.iter().filter_map(|cell| {
            let code = code(&axes, torus.coord(cell));
            Some(((index as u64 + 1) * TORUS_KEY + code, layout.node(index, cell)?))
        });
        all.extend(nodes);
    }
    all.sort_unstable();
    all
}

/// The coding of an axis for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AxisCoding {
    length: u32,
    start: u32,
    /// Number of low bits that are dropped, and number of bits that are kept.
    shift: u32,
    bits: u32,
}

/// Computes the coding of the axes of a torus for a job.
fn axes(
    sides: [u16; 3],
    nodes: &Cells,
    job: &Cells,
    coord: impl Fn(u32) -> [u16; 3],
) -> [AxisCoding; 3] {
    let whole = nodes == job;
    let mut codings = [0, 1, 2].map(|axis| {
        let length = u32::from(sides[axis]);
        let (start, span) = if whole {
            (0, length)
        } else {
            let mut used: Vec<u32> = job.iter().map(|cell| coord(cell)[axis].into()).collect();
            used.sort_unstable();
            used.dedup();
            arc(&used, length)
        };
        AxisCoding { length, start, shift: 0, bits: span.next_power_of_two().trailing_zeros() }
    });
    while codings.iter().map(|coding| coding.bits).sum::<u32>() > BITS {
        let [x, y, z] = codings.map(|coding| coding.bits);
        let axis = match () {
            () if x >= y && x >= z => 0,
            () if y >= z => 1,
            () => 2,
        };
        codings[axis].bits -= 1;
        codings[axis].shift += 1;
    }
    codings
}

/// Returns the first position and span of the part of an axis that contains all used positions.
/// `used` must be in ascending order. If an inner gap exceeds the outer gap by only one, the
/// published rule uses the interval without wrap-around, although the arc around the edge would be
/// shorter.
fn arc(used: &[u32], length: u32) -> (u32, u32) {
    let (Some(&first), Some(&last)) = (used.first(), used.last()) else { return (0, 1) };
    let count = used.len() as u32;
    if count == length {
        return (0, length);
    }
    if count == 1 || 2 * (last - first) < length + count {
        return (first, last - first + 1);
    }
    let (mut gap, mut start) = (length - (last - first + 1), first);
    for pair in used.windows(2) {
        let inner = pair[1] - pair[0] - 1;
        if inner > gap {
            (gap, start) = (inner, pair[1]);
        }
    }
    (start, length - gap)
}

/// Returns the Morton code of a position; axes that have no bits left are skipped.
fn code(codings: &[AxisCoding; 3], coord: [u16; 3]) -> u64 {
    let at = [0, 1, 2].map(|axis| {
        let AxisCoding { length, start, shift, .. } = codings[axis];
        ((u32::from(coord[axis]) + length - start) % length) >> shift
    });
    let (mut code, mut place) = (0, 0);
    for bit in 0..BITS {
        for axis in (0..3).filter(|&axis| bit < codings[axis].bits) {
            code |= u64::from(at[axis] >> bit & 1) << place;
            place += 1;
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Torus;

    fn ordered(sides: [u16; 3], cells: impl IntoIterator<Item = u32>) -> Vec<(u64, u32)> {
        let layout = Layout::new(vec![Torus::new("t".into(), sides, |_| true).expect("small")]);
        let job = layout.cells_of(cells);
        order(&layout, &job)
    }

    fn nodes(sides: [u16; 3], cells: impl IntoIterator<Item = u32>) -> Vec<u32> {
        ordered(sides, cells).into_iter().map(|(_, node)| node).collect()
    }

    #[test]
    fn vectors_k1_to_k4_order_the_nodes_of_a_small_torus() {
        assert_eq!(nodes([4, 4, 2], [0, 1, 4, 5]), [0, 1, 4, 5]);
        let k2 = ordered([4, 4, 2], [0, 3, 4, 7]);
        assert_eq!(k2, [(65536, 3), (65537, 0), (65538, 7), (65539, 4)]);
        let k3 = [
            0, 1, 4, 5, 16, 17, 20, 21, 2, 3, 6, 7, 18, 19, 22, 23, 8, 9, 12, 13, 24, 25, 28, 29,
            10, 11, 14, 15, 26, 27, 30, 31,
        ];
        assert_eq!(nodes([4, 4, 2], 0..32), k3);
        let k4 = [15, 12, 3, 0, 31, 28, 19, 16];
        assert_eq!(nodes([4, 4, 2], [0, 3, 12, 15, 16, 19, 28, 31]), k4);
    }

    #[test]
    fn vector_k5_finds_the_arc_of_an_axis() {
        assert_eq!(arc(&[0, 3], 5), (0, 4));
        assert_eq!(arc(&[0, 3], 4), (3, 2));
        assert_eq!(arc(&[0, 1, 4], 6), (0, 5));
        assert_eq!(arc(&[1, 2, 5], 7), (1, 5));
        assert_eq!(arc(&[0, 4], 6), (4, 3));
        assert_eq!(arc(&[0, 2, 4, 5], 8), (0, 6));
        assert_eq!(arc(&[3], 8), (3, 1));
    }

    #[test]
    fn vectors_k6_and_k7_code_long_axes() {
        assert_eq!(ordered([5, 1, 1], [0, 3]), [(65536, 0), (65539, 3)]);
        let whole = ordered([300, 300, 1], 0..90_000);
        let code = |node| whole.iter().find(|one| one.1 == node).map(|one| one.0 - 65536);
        assert_eq!([0, 1, 2, 3, 600, 89_999].map(code), [0, 0, 1, 1, 2, 49_971].map(Some));
    }
}
