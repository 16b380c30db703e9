//! Tie values of Gen-Alg and MM.

use crate::allocator::centre::tie::{TieVector, WallRule, walls_of};
use crate::machine::Machine;
use crate::topology::{Axis, Coord, Grid, NodeId};

/// Tie values with diamond shells; see [`TieVector`] for the
/// definition.
///
/// Sums over the surroundings of a candidate are computed row by row of the grid, from prefix sums
/// along the rows.
#[derive(Debug)]
pub struct TieValues {
    vector: TieVector,
    rule: WallRule,
    /// Wall weight by processor when all processors are in service.
    walls: Vec<u8>,
    /// The axis of a row of consecutive processors.
    along: Axis,
    /// Prefix sums by row and position: the number of free processors before the position, and the
    /// sum of the positions of these processors. Each row has one more entry than positions.
    before: Vec<[i64; 2]>,
}

impl TieValues {
    /// Creates tie values of one vector and wall rule.
    pub fn new(grid: &Grid, vector: TieVector, rule: WallRule) -> Self {
        let weight = |&coord: &Coord| rule.weight(grid.walls(coord)) as u8;
        let along = grid.axes()[grid.dimensions() - 1];
        let walls = grid.coords().iter().map(weight).collect();
        Self { vector, rule, walls, along, before: Vec::new() }
    }

    /// Computes the prefix sums for the free processors of `machine`. Call this before the first
    /// [`value`](Self::value) of a decision.
    pub fn update(&mut self, machine: &Machine) {
        self.before.clear();
        for row in machine.free_map().chunks(usize::from(self.along.extent)) {
            let (mut count, mut sum) = (0, 0);
            self.before.push([0, 0]);
            for (position, &free) in (0..).zip(row) {
                count += i64::from(free);
                sum += if free { position } else { 0 };
                self.before.push([count, sum]);
            }
        }
    }

    /// Returns the tie value of the processors `chosen` around `centre`. The outermost of these
    /// processors is in shell `last`.
    pub fn value(
        &self,
        grid: &Grid,
        coords: &[Coord],
        machine: &Machine,
        centre: Coord,
        last: u32,
        chosen: &[NodeId],
    ) -> i64 {
        let TieVector { scan_radius, available, wall, border } = self.vector;
        let max_shell = i64::from(last) + i64::from(scan_radius);
        // The weights of all free processors nearby, minus the weights of the candidate's own
        // processors.
        let mut nearby = 0;
        let mut touching = 0;
        for node in chosen {
            let weight = max_shell - i64::from(grid.l1(centre, coords[node.index()])) + 1;
            nearby -= weight;
            let walls = match machine.down_count() {
                0 => u32::from(self.walls[node.index()]),
                _ => self.rule.weight(walls_of(machine, grid, *node)),
            };
            touching += weight * i64::from(walls);
        }
        let mut outside = 0;
        if available != 0 || border != 0 {
            let length = usize::from(self.along.extent);
            let lane = i64::from(centre[grid.dimensions() - 1]);
            for (row, first) in coords.iter().step_by(length).enumerate() {
                let mut across = centre;
                across[grid.dimensions() - 1] = 0;
                let distance = i64::from(grid.l1(across, *first));
                if available != 0 && distance <= max_shell {
                    nearby += self.weights(row, lane, max_shell - distance);
                }
                let rest = i64::from(last) + 1 - distance;
                if border != 0 && rest >= 0 {
                    let [behind, ahead] = self.span(lane);
                    let positions = [
                        (rest <= behind).then_some(lane - rest),
                        (0 < rest && rest <= ahead).then_some(lane + rest),
                    ];
                    for position in positions.into_iter().flatten() {
                        let position = position.rem_euclid(length as i64) as usize;
                        let node = NodeId((row * length + position) as u32);
                        if !machine.is_free(node) && !machine.is_down(node) {
                            outside += i64::from(scan_radius);
                        }
                    }
                }
            }
        }
        i64::from(available) * nearby - i64::from(wall) * touching - i64::from(border) * outside
    }

    /// Returns the largest distances from `lane` to the positions behind and ahead of `lane` in a
    /// row. Each position of a wrapped row is counted on one side only.
    fn span(&self, lane: i64) -> [i64; 2] {
        let extent = i64::from(self.along.extent);
        if self.along.wrapped { [extent / 2, (extent - 1) / 2] } else { [lane, extent - 1 - lane] }
    }

    /// Returns the sum of (`reach` + 1 - distance) over all free processors of a row whose distance
    /// from a position is at most `reach`.
    fn weights(&self, row: usize, lane: i64, reach: i64) -> i64 {
        let [behind, ahead] = self.span(lane).map(|span| span.min(reach));
        let [left, left_sum] = self.between(row, lane - behind, lane);
        let [right, right_sum] = self.between(row, lane, lane + ahead + 1);
        (reach + 1) * (left + right) - (lane * left - left_sum) - (right_sum - lane * right)
    }

    /// Returns the number of free processors of a row between two positions, and the sum of the
    /// positions of these processors. On a wrapped row one of the two positions may be past an end
    /// of the row.
    fn between(&self, row: usize, from: i64, to: i64) -> [i64; 2] {
        let extent = i64::from(self.along.extent);
        let inside = |from: i64, to: i64, turns: i64| {
            let at = |position: i64| {
                let position = (position - turns * extent).clamp(0, extent);
                self.before[row * (extent as usize + 1) + position as usize]
            };
            let ([count, sum], [end_count, end_sum]) = (at(from), at(to));
            [end_count - count, end_sum - sum + turns * extent * (end_count - count)]
        };
        let mut all = inside(from, to, 0);
        if from < 0 || to > extent {
            let more = inside(from, to, if from < 0 { -1 } else { 1 });
            all = [all[0] + more[0], all[1] + more[1]];
        }
        all
    }
}
