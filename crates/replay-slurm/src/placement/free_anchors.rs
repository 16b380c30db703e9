//! The free anchors of a torus, updated incrementally.
//!
//! Each placement has a row of bits along z for each pair of positions along x and y. When a box is taken, the bits of
//! the anchors that overlap it are cleared. When a box is released, the bits of the anchors inside it are set, and the
//! other anchors that overlap it are checked. Placements whose free anchors have not been computed need no updates.

use std::sync::Arc;

use crate::placement::overlaps::{BoxPosition, Overlaps, WORD};
use crate::placement::torus::{Cells, Placement, Torus};
use replay_engine::bits;

/// The free cells of a torus, and the anchors whose cells are all free.
#[derive(Clone, Debug)]
pub struct FreeAnchors {
    overlaps: Arc<Overlaps>,
    free: Cells,
    /// The number of free cells.
    count: u32,
    /// Whether anchors with a hole are never free; always `false` if the torus has no holes. If `false`, an anchor is
    /// free if all of its nodes are free.
    whole: bool,
    /// Rows by placement; empty if not computed.
    rows: Vec<Vec<u64>>,
    /// Whether all placements must stay computed.
    all: bool,
    /// Sum of the sizes of all anchors that are not free, over the computed placements.
    blocked: u64,
}

/// Returns the number of words in a row of bits along z.
fn words(placement: &Placement) -> usize {
    placement.positions()[2].len().div_ceil(WORD as usize)
}

impl FreeAnchors {
    /// Creates the state with these free cells. If anchors must be `whole`, an anchor with a hole is never free. If
    /// anchors need not be `whole`, an anchor is free if all of its nodes are free.
    pub fn new(torus: &Torus, overlaps: Arc<Overlaps>, free: Cells, whole: bool) -> Self {
        let rows = vec![Vec::new(); torus.placements().len()];
        let whole = whole && (torus.nodes.len() as usize) < torus.cells();
        Self { count: free.len(), overlaps, free, whole, rows, all: false, blocked: 0 }
    }

    /// Returns a copy with the same free cells and no computed placements. Releasing many boxes on the copy before the
    /// first query is cheap, because there are no computed placements to update.
    pub fn without_cache(&self) -> Self {
        let rows = vec![Vec::new(); self.rows.len()];
        let (overlaps, free) = (self.overlaps.clone(), self.free.clone());
        Self { overlaps, free, count: self.count, whole: self.whole, rows, all: false, blocked: 0 }
    }

    /// Returns the free cells.
    pub fn free(&self) -> &Cells {
        &self.free
    }

    /// Returns the number of free cells.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the overlap table of the placements.
    pub fn overlaps(&self) -> &Arc<Overlaps> {
        &self.overlaps
    }

    fn is_free_anchor(&self, placement: &Placement, anchor: usize) -> bool {
        (!self.whole || placement.is_whole(anchor)) && self.free.holds(placement.mask(anchor))
    }

    /// Computes the free anchors of a placement unless they have already been computed.
    pub fn compute(&mut self, torus: &Torus, index: usize) {
        if !self.rows[index].is_empty() {
            return;
        }
        let placement = &torus.placements()[index];
        let [x, y, z] = placement.positions().map(<[u16]>::len);
        let width = words(placement);
        let mut rows = vec![0; x * y * width];
        let mut blocked = placement.anchors() as u64;
        for anchor in
            (0..placement.anchors()).filter(|&anchor| self.is_free_anchor(placement, anchor))
        {
            let (row, at) = (anchor / z, (anchor % z) as u32);
            rows[row * width + (at / WORD) as usize] |= 1 << (at % WORD);
            blocked -= 1;
        }
        self.blocked += u64::from(placement.size) * blocked;
        self.rows[index] = rows;
    }

    /// Computes the free anchors of all placements and keeps them computed.
    pub fn compute_all(&mut self, torus: &Torus) {
        self.all = true;
        (0..self.rows.len()).for_each(|index| self.compute(torus, index));
    }

    /// Returns the [fragmentation](super::fragmentation) of the torus: the sum of the sizes of all anchors that are not
    /// free. Returns `None` unless [all placements](Self::compute_all) have been computed.
    pub fn blocked(&self) -> Option<u64> {
        self.all.then_some(self.blocked)
    }

    /// Returns the free anchors of a [computed](Self::compute) placement in ascending order.
    pub fn anchors<'a>(
        &'a self,
        torus: &'a Torus,
        index: usize,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let placement = &torus.placements()[index];
        let (z, width) = (placement.positions()[2].len(), words(placement));
        self.rows[index]
            .chunks(width.max(1))
            .enumerate()
            .flat_map(move |(at, row)| bits::ones(row).map(move |bit| at * z + bit))
    }

    /// Returns whether a [computed](Self::compute) placement has a free anchor.
    pub fn has_any(&self, index: usize) -> bool {
        self.rows[index].iter().any(|&word| word != 0)
    }

    /// Returns the number of free anchors of a [computed](Self::compute) placement that share a cell with a box.
    #[inline]
    pub fn count_overlapping(&self, torus: &Torus, place: BoxPosition, index: usize) -> u32 {
        let placement = &torus.placements()[index];
        let (y, width) = (placement.positions()[1].len(), words(placement));
        let [xs, ys, zs] = self.overlaps.along_axes(place, index);
        let rows = &self.rows[index];
        let mut count = 0;
        for &i in &xs.met {
            for &j in &ys.met {
                let row = &rows[(i as usize * y + j as usize) * width..][..width];
                let met = zs.words.iter().map(|word| row[word.at as usize] & word.met);
                count += met.map(u64::count_ones).sum::<u32>();
            }
        }
        count
    }

    /// Takes a free anchor, which must not contain a hole.
    pub fn take(&mut self, torus: &Torus, index: usize, anchor: usize) {
        let placement = &torus.placements()[index];
        self.free.remove_all(placement.mask(anchor));
        self.count -= placement.nodes(anchor);
        self.close(torus, self.overlaps.place(index, placement, anchor));
    }

    /// Releases an anchor that was [taken](Self::take).
    pub fn give(&mut self, torus: &Torus, index: usize, anchor: usize) {
        let placement = &torus.placements()[index];
        self.free.insert_all(placement.mask(anchor));
        self.count += placement.nodes(anchor);
        self.reopen(torus, self.overlaps.place(index, placement, anchor));
    }

    /// Takes free cells, which need not form a box.
    pub fn take_cells(&mut self, torus: &Torus, cells: impl IntoIterator<Item = u32>) {
        cells.into_iter().for_each(|cell| self.free.remove(cell));
        self.recompute(torus);
    }

    /// Releases cells, which must have nodes.
    pub fn give_cells(&mut self, torus: &Torus, cells: impl IntoIterator<Item = u32>) {
        cells.into_iter().for_each(|cell| self.free.insert(cell));
        self.recompute(torus);
    }

    /// Discards the computed anchors after a change of single cells.
    fn recompute(&mut self, torus: &Torus) {
        self.count = self.free.len();
        self.rows.iter_mut().for_each(Vec::clear);
        self.blocked = 0;
        if self.all {
            self.compute_all(torus);
        }
    }

    /// Marks all anchors that overlap a box as not free.
    fn close(&mut self, torus: &Torus, place: BoxPosition) {
        let blocked = &mut self.blocked;
        for (index, rows) in self.rows.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let placement = &torus.placements()[index];
            let (y, width) = (placement.positions()[1].len(), words(placement));
            let [xs, ys, zs] = self.overlaps.along_axes(place, index);
            for &i in &xs.met {
                for &j in &ys.met {
                    let row = &mut rows[(i as usize * y + j as usize) * width..][..width];
                    for word in &zs.words {
                        let closed = (row[word.at as usize] & word.met).count_ones();
                        *blocked += u64::from(placement.size) * u64::from(closed);
                        row[word.at as usize] &= !word.met;
                    }
                }
            }
        }
    }

    /// Marks the anchors that overlap a released box as free if their cells are free.
    fn reopen(&mut self, torus: &Torus, place: BoxPosition) {
        let mut known = std::mem::take(&mut self.rows);
        for (index, rows) in known.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let placement = &torus.placements()[index];
            let [_, y, z] = placement.positions().map(<[u16]>::len);
            let width = words(placement);
            let [xs, ys, zs] = self.overlaps.along_axes(place, index);
            for &i in &xs.met {
                for &j in &ys.met {
                    let at = i as usize * y + j as usize;
                    let row = &mut rows[at * width..][..width];
                    // Anchors inside the box are now free. If anchors with a hole are never free, each anchor must be
                    // checked.
                    let inside = xs.has(i)[1] && ys.has(j)[1] && !self.whole;
                    for word in &zs.words {
                        let mut open = if inside { word.inside } else { 0 };
                        let mut rest = word.met & !open;
                        while rest != 0 {
                            let bit = rest.trailing_zeros();
                            rest &= rest - 1;
                            let anchor = at * z + (word.at * WORD + bit) as usize;
                            open |= u64::from(self.is_free_anchor(placement, anchor)) << bit;
                        }
                        // None of these anchors was free before.
                        row[word.at as usize] |= open;
                        let opened = u64::from(open.count_ones());
                        self.blocked -= u64::from(placement.size) * opened;
                    }
                }
            }
        }
        self.rows = known;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::fragmentation::fragmentation;
    use crate::placement::torus::{Layout, Steps};
    use proptest::prelude::*;

    proptest! {
        /// Free anchors agree with the free cells after any sequence of changes and computations.
        #[test]
        fn anchors_are_free_if_their_nodes_are(
            sides in [1u16..6, 1u16..6, 1u16..6],
            boxes in proptest::collection::vec(([1u16..6, 1u16..6, 1u16..6], [1u16..6, 1u16..6, 1u16..6]), 1..6),
            holes in proptest::collection::vec(0u32..125, 0..3),
            wrapped: [bool; 3],
            (whole, computed, copied) in any::<(bool, bool, bool)>(),
            events in proptest::collection::vec((any::<u16>(), any::<u16>(), 0u8..6), 0..40),
        ) {
            let torus = Torus::new("t".into(), sides, |cell| !holes.contains(&cell));
            let mut torus = torus.expect("small");
            for (extent, step) in boxes {
                let extent = [0, 1, 2].map(|axis| extent[axis].min(sides[axis]));
                let spacing = [0, 1, 2].map(|axis| step[axis].min(sides[axis]));
                torus.allow(extent, &Steps { spacing, seed: [0; 3], wrapped, flush: true }).expect("little memory");
            }
            let overlaps = Arc::new(Overlaps::new(&torus));
            let mut open = FreeAnchors::new(&torus, overlaps.clone(), torus.nodes.clone(), whole);
            if computed {
                open.compute_all(&torus);
            }
            let mut taken: Vec<[usize; 2]> = Vec::new();
            let mut cells: Vec<u32> = Vec::new();
            for (one, other, what) in events {
                let index = usize::from(one) % torus.placements().len();
                let placement = &torus.placements()[index];
                match what {
                    0 => open.compute(&torus, index),
                    1 if !taken.is_empty() => {
                        let [index, anchor] = taken.swap_remove(usize::from(other) % taken.len());
                        open.give(&torus, index, anchor);
                    }
                    2 => {
                        let cell = u32::from(other) % torus.cells() as u32;
                        if open.free().contains(cell) {
                            open.take_cells(&torus, [cell]);
                            cells.push(cell);
                        }
                    }
                    3 => open.give_cells(&torus, cells.pop()),
                    _ => {
                        let anchor = usize::from(other) % placement.anchors().max(1);
                        let fits = placement.anchors() > 0 && placement.is_whole(anchor);
                        if fits && open.free().holds(placement.mask(anchor)) {
                            open.take(&torus, index, anchor);
                            taken.push([index, anchor]);
                        }
                    }
                }
            }
            prop_assert_eq!(open.count(), open.free().len());
            if copied {
                open = open.without_cache();
            }
            let computed = computed && !copied;
            if computed && (!whole || holes.is_empty()) {
                let layout = Layout::new(vec![torus.clone()]);
                let all = fragmentation(&layout, std::slice::from_ref(open.free()));
                prop_assert_eq!(open.blocked(), Some(all));
            }
            for (index, placement) in torus.placements().iter().enumerate() {
                open.compute(&torus, index);
                let free = |&anchor: &usize| {
                    (!whole || placement.is_whole(anchor)) && open.free().holds(placement.mask(anchor))
                };
                let expected: Vec<usize> = (0..placement.anchors()).filter(free).collect();
                prop_assert_eq!(open.anchors(&torus, index).collect::<Vec<_>>(), expected.clone());
                // Compare the numbers of free anchors that overlap any other box.
                for (other, one) in torus.placements().iter().enumerate() {
                    for anchor in 0..one.anchors() {
                        let place = overlaps.place(other, one, anchor);
                        let meets = |&&at: &&usize| overlaps.meet(place, overlaps.place(index, placement, at));
                        let count = expected.iter().filter(meets).count() as u32;
                        prop_assert_eq!(open.count_overlapping(&torus, place, index), count);
                        let mine = torus.cells_in(one.base(anchor), one.sides).collect::<Vec<_>>();
                        for &at in &expected {
                            let mut theirs = torus.cells_in(placement.base(at), placement.sides);
                            let share = theirs.any(|cell| mine.contains(&cell));
                            prop_assert_eq!(meets(&&at), share);
                        }
                    }
                }
            }
        }
    }
}
