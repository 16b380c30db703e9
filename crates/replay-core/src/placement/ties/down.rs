//! Cells out of service.

use super::Ties;
use crate::placement::torus::{Cells, Placement};

/// What is out of service.
#[derive(Clone, Debug)]
pub struct Down {
    pub cells: Cells,
    count: usize,
    /// Whether they are walls to their neighbours.
    pub is_wall: bool,
}

impl Down {
    /// Nothing, of so many cells.
    pub fn none(cells: usize) -> Self {
        Self { cells: Cells::none(cells), count: 0, is_wall: false }
    }
}

impl Ties {
    /// Free cells go out of service, as walls to their neighbours or as nothing.
    pub fn withdraw(&mut self, cells: impl IntoIterator<Item = u32>, is_wall: bool) {
        self.down.is_wall = is_wall;
        for cell in cells {
            self.open.take_cells(&self.fixed.torus, [cell]);
            self.down.cells.insert(cell);
            self.down.count += 1;
        }
    }

    /// Cells that were [out of service](Self::withdraw) are back, and free.
    pub fn restore(&mut self, cells: impl IntoIterator<Item = u32>) {
        for cell in cells {
            self.open.give_cells(&self.fixed.torus, [cell]);
            self.down.cells.remove(cell);
            self.down.count -= 1;
        }
    }

    /// Whether DL hears an anchor: it has neither holes nor cells out of service.
    pub(super) fn is_heard(&self, one: &Placement, anchor: usize) -> bool {
        let is_up = || self.down.count == 0 || self.down.cells.common(one.mask(anchor)) == 0;
        one.is_whole(anchor) && is_up()
    }
}
