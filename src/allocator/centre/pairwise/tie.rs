use crate::allocator::centre::tie::{TieVector, WallRule, walls_of};
use crate::machine::Machine;
use crate::topology::{Coord, Grid, NodeId};

/// Tie values with diamond shells; the definition is at
/// [`TieVector`](crate::allocator::centre::TieVector).
#[derive(Debug)]
pub struct TieValues {
    vector: TieVector,
    rule: WallRule,
    /// By processor: what it counts as a wall processor when all are in service.
    walls: Vec<u8>,
}

impl TieValues {
    /// Tie values of one vector and wall rule.
    pub fn new(grid: &Grid, vector: TieVector, rule: WallRule) -> Self {
        let weight = |&coord: &Coord| rule.weight(grid.walls(coord)) as u8;
        Self { vector, rule, walls: grid.coords().iter().map(weight).collect() }
    }

    /// The tie value of the processors `chosen` around `centre`, the outermost of them in
    /// shell `last`.
    pub fn value(
        &self,
        grid: &Grid,
        coords: &[Coord],
        machine: &Machine,
        centre: Coord,
        last: u32,
        chosen: &[NodeId],
    ) -> i64 {
        // No EF: the names refuse it for these strategies.
        let TieVector { scan_radius, available, wall, border, ends: _ } = self.vector;
        let max_shell = i64::from(last) + i64::from(scan_radius);
        let weight = |coord: Coord| max_shell - i64::from(grid.l1(centre, coord)) + 1;
        // Free processors nearby, less the candidate's own.
        let mut nearby = 0;
        let mut touching = 0;
        for node in chosen {
            let weight = weight(coords[node.index()]);
            nearby -= weight;
            let walls = match machine.down_count() {
                0 => u32::from(self.walls[node.index()]),
                _ => self.rule.weight(walls_of(machine, grid, *node)),
            };
            touching += weight * i64::from(walls);
        }
        let mut outside = 0;
        if available != 0 || border != 0 {
            for ((&coord, &free), node) in coords.iter().zip(machine.free_map()).zip(0..) {
                let weight = weight(coord);
                if free {
                    nearby += weight.max(0);
                } else if weight == i64::from(scan_radius) && !machine.is_down(NodeId(node)) {
                    outside += weight;
                }
            }
        }
        i64::from(available) * nearby - i64::from(wall) * touching - i64::from(border) * outside
    }
}
