//! Machines of several tori, or of one torus with empty cells.

use std::fmt;
use std::sync::Arc;

use super::{Axis, Coord, Grid, MAX_POINTS, NodeId, Topology};

/// Tori in three dimensions. A cell without a processor is a *hole*. Processors are numbered torus by torus, skipping
/// holes; within each torus, x varies fastest, then y, then z.
///
/// The links between the tori are unknown; they do not matter for a job within one torus. The distance between
/// processors of two different tori is defined as 1 plus the sum of the diameters of these tori, which is the maximum
/// distance if a single link joins the tori. Paths may cross a hole, because a hole has a router but no node.
///
/// ```
/// use replay_engine::topology::{NodeId, Topology};
/// // A torus without cells 3 and 5 to 7 (numbered like processors, but counting holes), and a torus without holes.
/// let pods: Topology = "toruses:4x4x2[3,5-7]+4x2x2".parse()?;
/// assert_eq!((pods.processors(), pods.to_string()), (28 + 16, "toruses:4x4x2[3,5-7]+4x2x2".into()));
/// // Cells 0 and 4, then 2 and 8, of the first torus; then the first cells of both: 1 + (2 + 2 + 1) + (2 + 1 + 1).
/// let hops = |a, b| pods.hops(NodeId(a), NodeId(b));
/// assert_eq!([hops(0, 3), hops(2, 4), hops(0, 28)], [1, 4, 10]);
/// # Ok::<(), replay_engine::topology::TopologyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MultiTorus(Arc<Parts>);

#[derive(PartialEq, Eq, Hash, Debug)]
struct Parts {
    all: Vec<Part>,
    /// For each processor, its torus and its coordinates.
    places: Vec<(u32, Coord)>,
}

/// One torus of a [`MultiTorus`].
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The torus including its holes.
    pub grid: Grid,
    /// For each cell, its processor; `None` for holes.
    nodes: Vec<Option<NodeId>>,
}

impl Part {
    fn cell(&self, [x, y, z]: Coord) -> usize {
        usize::from(x)
            + self.grid.extent(0) * (usize::from(y) + self.grid.extent(1) * usize::from(z))
    }

    /// Returns the processor in a cell; `None` for holes and cells outside the torus.
    pub fn node(&self, cell: u32) -> Option<NodeId> {
        self.nodes.get(cell as usize).copied().flatten()
    }

    /// Returns the holes in ascending order of cell numbers.
    pub fn holes(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.is_none()).map(|(cell, _)| cell)
    }

    /// Returns the largest distance along each axis.
    fn diameters(&self) -> [u32; 3] {
        self.grid.axes().map(|axis| axis.diameter().into())
    }
}

impl Topology {
    /// Creates a machine of tori. Each torus is given by its sides and the cell numbers of its holes. A single torus
    /// without holes becomes a `Topology::Grid`. Returns `None` if there is no processor, if there are more than
    /// [`MAX_POINTS`] cells, or if a hole is not a cell of its torus.
    pub fn from_tori(toruses: &[([u16; 3], Vec<u32>)]) -> Option<Self> {
        let (mut all, mut places, mut cells) = (Vec::new(), Vec::new(), 0);
        for (index, (sides, holes)) in (0..).zip(toruses) {
            let grid = Grid::new(&sides.map(|extent| Axis { extent, wrapped: true }))?;
            cells += grid.processors();
            let is_cell = |&hole: &u32| (hole as usize) < grid.processors();
            if cells > MAX_POINTS || !holes.iter().all(is_cell) {
                return None;
            }
            let mut part = Part { nodes: vec![Some(NodeId(0)); grid.processors()], grid };
            holes.iter().for_each(|&hole| part.nodes[hole as usize] = None);
            let [width, depth] = [0, 1].map(|axis| u32::from(sides[axis]));
            for (cell, node) in (0..).zip(&mut part.nodes).filter(|(_, node)| node.is_some()) {
                *node = Some(NodeId(places.len() as u32));
                let at = [cell % width, cell / width % depth, cell / width / depth];
                places.push((index, at.map(|at| at as u16)));
            }
            all.push(part);
        }
        match (&all[..], places.len()) {
            (_, 0) => None,
            ([one], processors) if processors == cells => Some(Self::Grid(one.grid.clone())),
            _ => Some(Self::MultiTorus(MultiTorus(Arc::new(Parts { all, places })))),
        }
    }
}

impl MultiTorus {
    /// Returns the tori in the order of their description.
    pub fn parts(&self) -> &[Part] {
        &self.0.all
    }

    /// Returns the number of processors.
    pub fn processors(&self) -> usize {
        self.0.places.len()
    }

    /// Returns the torus of a processor, and the coordinates of the processor in this torus.
    pub fn place(&self, node: NodeId) -> (usize, Coord) {
        let (torus, at) = self.0.places[node.index()];
        (torus as usize, at)
    }

    /// Returns the distance in hops between any two processors of two different tori.
    pub fn between(&self, one: usize, other: usize) -> u32 {
        let hops = |torus: usize| self.0.all[torus].diameters().iter().sum::<u32>();
        1 + hops(one) + hops(other)
    }

    /// Returns the distance in hops between two processors.
    pub fn hops(&self, a: NodeId, b: NodeId) -> u32 {
        match (self.place(a), self.place(b)) {
            ((one, a), (other, b)) if one == other => self.0.all[one].grid.l1(a, b),
            ((one, _), (other, _)) => self.between(one, other),
        }
    }

    /// Returns the largest distance along one axis. For processors of two different tori, returns the distance in hops.
    pub fn chebyshev(&self, a: NodeId, b: NodeId) -> u32 {
        match (self.place(a), self.place(b)) {
            ((one, a), (other, b)) if one == other => self.0.all[one].grid.linf(a, b),
            ((one, _), (other, _)) => self.between(one, other),
        }
    }

    /// Calls `visit` once with each direct neighbour of `node`; holes are skipped.
    pub fn for_neighbours(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        let (torus, at) = self.place(node);
        let part = &self.0.all[torus];
        part.grid.for_neighbours(part.grid.node(at), |near| {
            if let Some(near) = part.nodes[part.cell(part.grid.coord(near))] {
                visit(near);
            }
        });
    }

    /// Returns the largest side along each axis.
    pub fn extents(&self) -> [u16; 3] {
        let side = |axis: usize| self.0.all.iter().map(move |part| part.grid.axes()[axis].extent);
        [0, 1, 2].map(|axis| side(axis).max().unwrap_or(1))
    }
}

/// Prints the sides of each torus, followed by its holes in brackets: `4x4x2[3,5-7]+4x2x2`.
impl fmt::Display for MultiTorus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("toruses:")?;
        for (i, part) in self.0.all.iter().enumerate() {
            let [x, y, z] = part.grid.axes().map(|axis| axis.extent);
            write!(f, "{}{x}x{y}x{z}", if i > 0 { "+" } else { "" })?;
            let mut runs: Vec<(u32, u32)> = Vec::new();
            for hole in part.holes() {
                match runs.last_mut() {
                    Some((_, last)) if *last + 1 == hole => *last = hole,
                    _ => runs.push((hole, hole)),
                }
            }
            let run = |&(first, last): &(u32, u32)| match first == last {
                true => first.to_string(),
                false => format!("{first}-{last}"),
            };
            if !runs.is_empty() {
                write!(f, "[{}]", runs.iter().map(run).collect::<Vec<_>>().join(","))?;
            }
        }
        Ok(())
    }
}

/// Parses the part of a machine description after `toruses:`.
pub(super) fn parse(text: &str) -> Result<Topology, String> {
    let mut toruses = Vec::new();
    for one in text.split('+').map(str::trim) {
        let (sides, holes) = match one.strip_suffix(']') {
            Some(rest) => rest.split_once('[').unwrap_or((rest, "")),
            None => (one, ""),
        };
        let side = |side: &str| side.trim().parse().ok().filter(|&side: &u16| side > 0);
        let read: Option<Vec<u16>> = sides.split(['x', 'X']).map(side).collect();
        let read = read.and_then(|sides| <[u16; 3]>::try_from(sides).ok());
        let sides = read.ok_or_else(|| format!("\"{sides}\" is not three sides such as 4x4x2"))?;
        let cells: u64 = sides.iter().map(|&side| u64::from(side)).product();
        let mut empty = Vec::new();
        for part in holes.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let ends = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            match ends.filter(|&(first, last)| first <= last && u64::from(last) < cells) {
                Some((first, last)) if cells <= MAX_POINTS as u64 => empty.extend(first..=last),
                _ => {
                    return Err(format!(
                        "\"{part}\" is neither a cell number below {cells} nor a range of cell numbers"
                    ));
                }
            }
        }
        toruses.push((sides, empty));
    }
    Topology::from_tori(&toruses).ok_or_else(|| {
        format!(
            "needs at least one processor, and at most {} cells",
            crate::number::grouped(MAX_POINTS as u64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_and_prints_descriptions() {
        let read = |text: &str| text.parse::<Topology>().map(|machine| machine.to_string());
        assert_eq!(
            read("toruses: 4x4x2 [7, 3,5-6] + 4X2x2"),
            Ok("toruses:4x4x2[3,5-7]+4x2x2".into())
        );
        // A single torus without holes is parsed as an ordinary torus.
        assert_eq!(read("toruses:4x4x2"), Ok("torus:4x4x2".into()));
        for bad in [
            "4x4",
            "4x4x0",
            "4x4x2[32]",
            "4x4x2[5-3]",
            "4x4x2[x]",
            "1x1x1[0]",
            "1024x1024x2[1]",
            "",
        ] {
            assert!(read(&format!("toruses:{bad}")).is_err(), "{bad}");
        }
    }

    proptest! {
        /// The neighbours of a processor are exactly the processors of its torus at a distance of one hop.
        #[test]
        fn neighbours_are_one_hop_away(
            sides in proptest::collection::vec([1u16..5, 1u16..5, 1u16..5], 1..3),
            holes in proptest::collection::btree_set(0u32..20, 0..4),
        ) {
            let fits = |sides: &[u16; 3]| sides.iter().map(|&side| u32::from(side)).product::<u32>();
            let of = |sides: &[u16; 3]| {
                (*sides, holes.iter().copied().filter(|&hole| hole < fits(sides)).collect())
            };
            let all: Vec<_> = sides.iter().map(of).collect();
            let Some(machine) = Topology::from_tori(&all) else { return Ok(()) };
            prop_assert_eq!(machine.to_string().parse(), Ok(machine.clone()));
            for a in machine.nodes() {
                let mut near = Vec::new();
                machine.for_neighbours(a, |b| near.push(b));
                near.sort_unstable();
                let torus = |node| match &machine {
                    Topology::MultiTorus(all) => all.place(node).0,
                    _ => 0,
                };
                let here = machine.nodes().filter(|&b| torus(a) == torus(b));
                let expected: Vec<_> = here.filter(|&b| machine.hops(a, b) == 1).collect();
                prop_assert_eq!(near, expected);
                prop_assert!(machine.nodes().all(|b| machine.chebyshev(a, b) <= machine.hops(a, b)));
                prop_assert!(machine.nodes().all(|b| machine.hops(b, a) == machine.hops(a, b)));
            }
        }
    }
}
