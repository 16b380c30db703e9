//! Cells out of service.

use crate::placement::ties::Ties;
use crate::placement::torus::{Cells, Placement};

/// The cells of a torus that are out of service.
#[derive(Clone, Debug)]
pub struct Down {
    pub cells: Cells,
    count: usize,
    /// Whether the cells out of service count as walls of their neighbours.
    pub is_wall: bool,
}

impl Down {
    /// Creates the empty set for a torus with this number of cells.
    pub fn none(cells: usize) -> Self {
        Self { cells: Cells::none(cells), count: 0, is_wall: false }
    }
}

impl Ties {
    /// Takes free cells out of service. If `is_wall`, these cells count as walls of their
    /// neighbours.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, is_wall: bool) {
        self.down.is_wall = is_wall;
        for cell in cells {
            self.open.take_cells(&self.fixed.torus, [cell]);
            self.down.cells.insert(cell);
            self.down.count += 1;
        }
    }

    /// Puts cells that were taken [out of service](Self::withdraw) back into service. The cells are
    /// then free.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        for cell in cells {
            self.open.give_cells(&self.fixed.torus, [cell]);
            self.down.cells.remove(cell);
            self.down.count -= 1;
        }
    }

    /// Returns whether an anchor counts in DL, that is, whether it has neither holes nor cells out
    /// of service.
    pub(super) fn counts_in_delay(&self, one: &Placement, anchor: usize) -> bool {
        let is_up = || self.down.count == 0 || self.down.cells.common(one.mask(anchor)) == 0;
        one.is_whole(anchor) && is_up()
    }
}
