//! The tie value from box counts.
//!
//! With L the outermost shell, M = L + SR, k the request:
//!
//! * available: sum over r = L..=M of (cnt(r) - k);
//! * border: SR times the positions in ring L + 1 that are not free;
//! * wall: with wall(r) the free processors within r that touch a wall, the complete
//!   shells give the sum over r < L of wall(r), plus (SR + 1) for every wall processor
//!   taken at all. How many are taken of a partly used last shell is a count, too, if
//!   all or none of its processors touch a wall; else it lies between two bounds, and
//!   only if these cannot exclude the candidate is the shell gathered and cut.

use super::Ring;
use crate::allocator::centre::{CentreOptions, TieVector};
use crate::machine::{BoxCounts, Machine};
use crate::topology::{Grid, NodeId};

/// Evaluates tie values on one grid.
#[derive(Debug)]
pub struct TieTerms {
    grid: Grid,
    vector: TieVector,
    /// `walls[i]`: counts of the free processors whose wall weight exceeds i, so that the
    /// weights in a box are the sum of these counts.
    walls: Vec<BoxCounts>,
    weights: Vec<u8>,
}

impl TieTerms {
    pub fn new(grid: &Grid, vector: TieVector, options: CentreOptions) -> Self {
        let weights: Vec<u8> = grid
            .coords()
            .into_iter()
            .map(|c| options.wall.weight(grid.walls(c)) as u8)
            .collect();
        let heaviest = if vector.wall == 0 { 0 } else { weights.iter().copied().max().unwrap_or(0) };
        let walls = (0..heaviest)
            .map(|level| BoxCounts::of_subset(grid, weights.iter().map(|&w| w > level).collect()))
            .collect();
        Self { grid: grid.clone(), vector, walls, weights }
    }

    pub fn update(&mut self, machine: &Machine) {
        self.walls.iter_mut().for_each(|walls| walls.update(machine));
    }

    pub fn reset(&mut self) {
        self.walls.iter_mut().for_each(BoxCounts::reset);
    }

    /// The tie value of `centre` for `size` processors, or `None` if it is greater than
    /// `at_most`.
    pub fn value(
        &self,
        counts: &BoxCounts,
        machine: &Machine,
        centre: NodeId,
        size: u32,
        at_most: Option<i64>,
        ring: &mut Ring<'_>,
    ) -> Option<i64> {
        let TieVector { scan_radius, available, wall, border } = self.vector;
        let (mut last, mut inner) = (0, 0);
        let mut within = counts.count(centre, 0);
        while within < size {
            last += 1;
            inner = within;
            within = counts.count(centre, last);
        }

        let mut value = 0;
        if available != 0 {
            let nearby: u32 =
                (last + 1..=last + scan_radius).map(|r| counts.count(centre, r) - size).sum();
            value += i64::from(available) * i64::from(nearby + within - size);
        }
        if border != 0 {
            let c = self.grid.coord(centre);
            let positions = counts.cells(c, last + 1) - counts.cells(c, last);
            let busy = positions - (counts.count(centre, last + 1) - within);
            value -= i64::from(border) * i64::from(scan_radius) * i64::from(busy);
        }
        if !self.walls.is_empty() {
            let mut taken_at_least = 0;
            let mut taken_at_most = 0;
            let mut inside = 0;
            let need = size - inner;
            for walls in &self.walls {
                inside += (0..last).map(|r| walls.count(centre, r)).sum::<u32>();
                let complete = if last == 0 { 0 } else { walls.count(centre, last - 1) };
                let along_wall = walls.count(centre, last) - complete;
                let elsewhere = within - inner - along_wall;
                taken_at_least += complete + need.saturating_sub(elsewhere);
                taken_at_most += complete + need.min(along_wall);
            }
            let weight = i64::from(scan_radius + 1);
            let term = |taken: u32| i64::from(wall) * (i64::from(inside) + weight * i64::from(taken));
            let lowest = value - term(taken_at_least).max(term(taken_at_most));
            if at_most.is_some_and(|at_most| lowest > at_most) {
                return None;
            }
            let taken = if taken_at_least == taken_at_most {
                taken_at_least
            } else {
                self.wall_weight_taken(machine, centre, last, need, ring)
                    + if last == 0 { 0 } else { self.walls.iter().map(|w| w.count(centre, last - 1)).sum() }
            };
            value -= term(taken);
        }
        at_most.is_none_or(|at_most| value <= at_most).then_some(value)
    }

    /// Wall weights of the `need` processors that would be taken of the last shell.
    fn wall_weight_taken(
        &self,
        machine: &Machine,
        centre: NodeId,
        last: u32,
        need: u32,
        ring: &mut Ring<'_>,
    ) -> u32 {
        let mut taken = Vec::with_capacity(need as usize);
        ring.gather(machine, centre, last, None);
        ring.take(machine, centre, need as usize, &mut taken);
        taken.iter().map(|n| u32::from(self.weights[n.index()])).sum()
    }
}
