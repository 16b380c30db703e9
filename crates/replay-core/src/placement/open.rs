//! Which anchors are free, kept from decision to decision.
//!
//! By placement a row of bits along z for each two positions along x and y. A box that is taken clears
//! runs of bits in the rows that it meets; one that is given back sets those of the anchors inside it and
//! looks at the others that it meets. Placements that nobody has asked for cost nothing.

use std::sync::Arc;

use super::near::{Near, Place, WORD};
use super::torus::{Cells, Placement, Torus};

/// The free cells of a torus, and the anchors of which all cells are.
#[derive(Clone, Debug)]
pub struct Open {
    near: Arc<Near>,
    free: Cells,
    /// Number of free cells.
    count: u32,
    /// Whether anchors with a hole are never free, or go by the nodes that they have; there being some.
    whole: bool,
    /// By placement, empty where nobody has asked.
    rows: Vec<Vec<u64>>,
    /// Whether all placements stay known.
    all: bool,
    /// Of the known placements: the sum of the sizes of anchors that are not free.
    blocked: u64,
}

/// Words of a row along z.
fn words(placement: &Placement) -> usize {
    placement.positions()[2].len().div_ceil(WORD as usize)
}

impl Open {
    /// With these free cells. An anchor with a hole is free as the nodes are that it has, or, where
    /// anchors must be `whole`, never.
    pub fn new(torus: &Torus, near: Arc<Near>, free: Cells, whole: bool) -> Self {
        let rows = vec![Vec::new(); torus.placements().len()];
        let whole = whole && (torus.nodes.len() as usize) < torus.cells();
        Self { count: free.len(), near, free, whole, rows, all: false, blocked: 0 }
    }

    /// The same cells, of which no placement is known: a copy that many boxes are given back to before
    /// anybody asks.
    pub fn unasked(&self) -> Self {
        let rows = vec![Vec::new(); self.rows.len()];
        let (near, free) = (self.near.clone(), self.free.clone());
        Self { near, free, count: self.count, whole: self.whole, rows, all: false, blocked: 0 }
    }

    /// The free cells.
    pub fn free(&self) -> &Cells {
        &self.free
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How boxes lie beside each other.
    pub fn near(&self) -> &Arc<Near> {
        &self.near
    }

    fn is_open(&self, placement: &Placement, anchor: usize) -> bool {
        (!self.whole || placement.is_whole(anchor)) && self.free.holds(placement.mask(anchor))
    }

    /// Sees to it that a placement's anchors are known.
    pub fn learn(&mut self, torus: &Torus, index: usize) {
        if !self.rows[index].is_empty() {
            return;
        }
        let placement = &torus.placements()[index];
        let [x, y, z] = placement.positions().map(<[u16]>::len);
        let width = words(placement);
        let mut rows = vec![0; x * y * width];
        let mut blocked = placement.anchors() as u64;
        for anchor in (0..placement.anchors()).filter(|&anchor| self.is_open(placement, anchor)) {
            let (row, at) = (anchor / z, (anchor % z) as u32);
            rows[row * width + (at / WORD) as usize] |= 1 << (at % WORD);
            blocked -= 1;
        }
        self.blocked += u64::from(placement.size) * blocked;
        self.rows[index] = rows;
    }

    /// Sees to it that all placements are known, and stay so.
    pub fn learn_all(&mut self, torus: &Torus) {
        self.all = true;
        (0..self.rows.len()).for_each(|index| self.learn(torus, index));
    }

    /// The sum of the sizes of all anchors that are not free, of a torus of which
    /// [all](Self::learn_all) are known: its [fragmentation](super::fragmentation).
    pub fn blocked(&self) -> Option<u64> {
        self.all.then_some(self.blocked)
    }

    /// The free anchors of a placement that is [known](Self::learn), ascending.
    pub fn anchors<'a>(
        &'a self,
        torus: &'a Torus,
        index: usize,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let placement = &torus.placements()[index];
        let (z, width) = (placement.positions()[2].len(), words(placement));
        self.rows[index].iter().enumerate().flat_map(move |(at, &word)| {
            let first = at / width * z + at % width * WORD as usize;
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| first + rest.trailing_zeros() as usize);
                rest &= rest.wrapping_sub(1);
                bit
            })
        })
    }

    /// Whether a placement that is [known](Self::learn) has a free anchor.
    pub fn has_any(&self, index: usize) -> bool {
        self.rows[index].iter().any(|&word| word != 0)
    }

    /// Free anchors of a placement that is [known](Self::learn) which share a cell with a box.
    #[inline]
    pub fn count_near(&self, torus: &Torus, place: Place, index: usize) -> u32 {
        let placement = &torus.placements()[index];
        let (y, width) = (placement.positions()[1].len(), words(placement));
        let [xs, ys, zs] = self.near.beside(place, index);
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

    /// A free anchor is taken, which has no hole.
    pub fn take(&mut self, torus: &Torus, index: usize, anchor: usize) {
        let placement = &torus.placements()[index];
        self.free.remove_all(placement.mask(anchor));
        self.count -= placement.nodes(anchor);
        self.close(torus, self.near.place(index, placement, anchor));
    }

    /// An anchor that was [taken](Self::take) is given back.
    pub fn give(&mut self, torus: &Torus, index: usize, anchor: usize) {
        let placement = &torus.placements()[index];
        self.free.insert_all(placement.mask(anchor));
        self.count += placement.nodes(anchor);
        self.reopen(torus, self.near.place(index, placement, anchor));
    }

    /// Some cells are taken that are free, whatever they are together.
    pub fn take_cells(&mut self, torus: &Torus, cells: impl IntoIterator<Item = u32>) {
        cells.into_iter().for_each(|cell| self.free.remove(cell));
        self.forget(torus);
    }

    /// Some cells with nodes are given back.
    pub fn give_cells(&mut self, torus: &Torus, cells: impl IntoIterator<Item = u32>) {
        cells.into_iter().for_each(|cell| self.free.insert(cell));
        self.forget(torus);
    }

    /// What is known of anchors must be looked up again.
    fn forget(&mut self, torus: &Torus) {
        self.count = self.free.len();
        self.rows.iter_mut().for_each(Vec::clear);
        self.blocked = 0;
        if self.all {
            self.learn_all(torus);
        }
    }

    /// No anchor is open that meets a box.
    fn close(&mut self, torus: &Torus, place: Place) {
        let blocked = &mut self.blocked;
        for (index, rows) in self.rows.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let placement = &torus.placements()[index];
            let (y, width) = (placement.positions()[1].len(), words(placement));
            let [xs, ys, zs] = self.near.beside(place, index);
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

    /// A box is free: who meets it may be open.
    fn reopen(&mut self, torus: &Torus, place: Place) {
        let mut known = std::mem::take(&mut self.rows);
        for (index, rows) in known.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let placement = &torus.placements()[index];
            let [_, y, z] = placement.positions().map(<[u16]>::len);
            let width = words(placement);
            let [xs, ys, zs] = self.near.beside(place, index);
            for &i in &xs.met {
                for &j in &ys.met {
                    let at = i as usize * y + j as usize;
                    let row = &mut rows[at * width..][..width];
                    // Who is inside is free now, but for the question of holes.
                    let inside = xs.has(i)[1] && ys.has(j)[1] && !self.whole;
                    for word in &zs.words {
                        let mut open = if inside { word.inside } else { 0 };
                        let mut rest = word.met & !open;
                        while rest != 0 {
                            let bit = rest.trailing_zeros();
                            rest &= rest - 1;
                            let anchor = at * z + (word.at * WORD + bit) as usize;
                            open |= u64::from(self.is_open(placement, anchor)) << bit;
                        }
                        // None of them was free before.
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
        /// Whatever was taken and given back, and whenever a placement was asked for first.
        #[test]
        fn anchors_are_open_where_their_nodes_are_free(
            sides in [1u16..6, 1u16..6, 1u16..6],
            boxes in proptest::collection::vec(([1u16..6, 1u16..6, 1u16..6], [1u16..6, 1u16..6, 1u16..6]), 1..6),
            holes in proptest::collection::vec(0u32..125, 0..3),
            wrapped: [bool; 3],
            (whole, told, copied) in any::<(bool, bool, bool)>(),
            events in proptest::collection::vec((any::<u16>(), any::<u16>(), 0u8..6), 0..40),
        ) {
            let torus = Torus::new("t".into(), sides, |cell| !holes.contains(&cell));
            let mut torus = torus.expect("small");
            for (extent, step) in boxes {
                let extent = [0, 1, 2].map(|axis| extent[axis].min(sides[axis]));
                let spacing = [0, 1, 2].map(|axis| step[axis].min(sides[axis]));
                torus.allow(extent, &Steps { spacing, seed: [0; 3], wrapped, flush: true }).expect("little memory");
            }
            let near = Arc::new(Near::new(&torus));
            let mut open = Open::new(&torus, near.clone(), torus.nodes.clone(), whole);
            if told {
                open.learn_all(&torus);
            }
            let mut taken: Vec<[usize; 2]> = Vec::new();
            let mut cells: Vec<u32> = Vec::new();
            for (one, other, what) in events {
                let index = usize::from(one) % torus.placements().len();
                let placement = &torus.placements()[index];
                match what {
                    0 => open.learn(&torus, index),
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
                open = open.unasked();
            }
            let told = told && !copied;
            if told && (!whole || holes.is_empty()) {
                let layout = Layout::new(vec![torus.clone()]);
                let all = fragmentation(&layout, std::slice::from_ref(open.free()));
                prop_assert_eq!(open.blocked(), Some(all));
            }
            for (index, placement) in torus.placements().iter().enumerate() {
                open.learn(&torus, index);
                let free = |&anchor: &usize| {
                    (!whole || placement.is_whole(anchor)) && open.free().holds(placement.mask(anchor))
                };
                let expected: Vec<usize> = (0..placement.anchors()).filter(free).collect();
                prop_assert_eq!(open.anchors(&torus, index).collect::<Vec<_>>(), expected.clone());
                // And how many of them meet any other box.
                for (other, one) in torus.placements().iter().enumerate() {
                    for anchor in 0..one.anchors() {
                        let place = near.place(other, one, anchor);
                        let meets = |&&at: &&usize| near.meet(place, near.place(index, placement, at));
                        let count = expected.iter().filter(meets).count() as u32;
                        prop_assert_eq!(open.count_near(&torus, place, index), count);
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
