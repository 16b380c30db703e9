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
    /// The dimension along which they follow each other.
    along: usize,
    /// By candidate, the first one on the same line along it without a break.
    lines: Vec<u32>,
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
            along: grid.dimensions() - 1,
            lines: Vec::new(),
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

    /// Says which candidates are on one line.
    pub fn find_lines(&mut self) {
        let Self { list, along, lines, .. } = self;
        let line = |mut centre: Coord| {
            centre[*along] = 0;
            centre
        };
        lines.clear();
        let mut first = 0;
        for (index, &centre) in (0u32..).zip(&*list) {
            if line(centre) != line(list[first as usize]) {
                first = index;
            }
            lines.push(first);
        }
    }

    /// The first of the candidates up to one that are on one line with it without a break, after
    /// [`find_lines`](Self::find_lines).
    pub fn first_of_line(&self, index: usize) -> usize {
        self.lines[index] as usize
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
