use crate::allocator::centre::literal::Centres;
use crate::machine::Machine;
use crate::topology::{Coord, Grid};

/// The candidate centres of one decision, in candidate order.
///
/// The same list as [`Centres::list`], into a buffer that is used again and again.
#[derive(Debug)]
pub struct Candidates {
    centres: Centres,
    list: Vec<Coord>,
    /// By axis: the positions that occur in a free processor, by first appearance.
    positions: [Vec<u16>; 3],
    seen: [Vec<bool>; 3],
}

impl Candidates {
    /// Room for the candidates of one strategy on `grid`.
    pub fn new(centres: Centres, grid: &Grid) -> Self {
        Self {
            centres,
            list: Vec::new(),
            positions: Default::default(),
            seen: [0, 1, 2].map(|axis| vec![false; grid.extent(axis)]),
        }
    }

    /// Lists the candidates of a machine whose coordinates, by processor number, are
    /// `coords`.
    pub fn list(&mut self, machine: &Machine, coords: &[Coord]) {
        self.list.clear();
        let free = coords.iter().zip(machine.free_map()).filter(|(_, free)| **free);
        match self.centres {
            Centres::FreeProcessors => self.list.extend(free.map(|(coord, _)| *coord)),
            Centres::CoordinateProduct => {
                self.appearances(free.map(|(coord, _)| *coord));
                let [xs, ys, zs] = &self.positions;
                for &x in xs {
                    for &y in ys {
                        self.list.extend(zs.iter().map(|&z| [x, y, z]));
                    }
                }
            }
        }
    }

    fn appearances(&mut self, free: impl Iterator<Item = Coord>) {
        self.positions.iter_mut().for_each(Vec::clear);
        self.seen.iter_mut().for_each(|seen| seen.fill(false));
        for coord in free {
            let axes = self.seen.iter_mut().zip(&mut self.positions);
            for ((seen, positions), position) in axes.zip(coord) {
                if !std::mem::replace(&mut seen[usize::from(position)], true) {
                    positions.push(position);
                }
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// A candidate by its place in candidate order.
    pub fn centre(&self, index: usize) -> Coord {
        self.list[index]
    }

    /// The candidates before one, the latest first.
    pub fn earlier(&self, index: usize) -> impl Iterator<Item = Coord> + '_ {
        self.list[..index].iter().rev().copied()
    }

    /// Whether a candidate may stand on a busy processor.
    pub fn may_be_busy(&self) -> bool {
        self.centres == Centres::CoordinateProduct
    }
}
