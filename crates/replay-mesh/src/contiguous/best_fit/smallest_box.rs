//! Best Fit measure: the smallest free box that cannot be grown.

use crate::contiguous::frames::Frames;
use crate::contiguous::scan::Scan;
use crate::contiguous::{Choice, Preference};
use replay_engine::allocator::submesh::volume;
use replay_engine::bits;
use replay_engine::machine::Machine;
use replay_engine::topology::Coord;

/// Measure that selects the lowest corner of the smallest maximal free box that contains the frame.
///
/// For every range of outer positions and every range of middle positions, the rows in these ranges
/// are combined by bitwise AND. The runs of the combined row are free boxes that cannot be grown
/// along the rows. A range is abandoned if no run is long enough, or if every box would be too
/// large. If a range is extended, its runs can only become shorter and its boxes larger. The search
/// combines at most O(X^2 Y^2 / 4) rows in 3D and O(X^2 / 2) rows in 2D.
#[derive(Clone, Debug, Default)]
pub struct SmallestBox {
    /// Combined rows of a range of outer positions, one row after the other.
    slab: Vec<u64>,
    /// A range of rows of the slab, combined into one row.
    row: Vec<u64>,
}

/// A range of positions along a dimension: the first position, and one past the last position.
type Range = (usize, usize);

impl Choice for SmallestBox {
    /// Selects a base, and counts one operation per combined word.
    fn choose(&mut self, frames: &mut Frames, _: &Machine, sides: [u16; 3]) -> Option<Coord> {
        let frame = frames.order().map(|axis| usize::from(sides[axis]));
        let mut search = Search { frames, frame, best: None, combined: 0 };
        search.boxes(&mut self.slab, &mut self.row);
        let Search { best, combined, .. } = search;
        frames.operations += combined;
        best.map(|(_, base)| base)
    }

    fn preference(&mut self, frames: &Frames, _: &Machine, _: [u16; 3]) -> Preference {
        Preference::in_order("the lowest corner of the smallest maximal free box", frames)
    }
}

/// A search through the maximal free boxes.
struct Search<'a> {
    frames: &'a Frames,
    /// Sides of the frame along the outer, the middle and the lane dimension.
    frame: [usize; 3],
    /// The best box so far: its volume, the scan rank of its base, and its base.
    best: Option<((u64, u32), Coord)>,
    combined: u64,
}

impl Search<'_> {
    fn extents(&self) -> [usize; 3] {
        self.frames.order().map(|axis| self.frames.grid().extent(axis))
    }

    /// Returns whether a box of at least this volume is too large to be the best.
    fn is_too_large(&self, volume: usize) -> bool {
        self.best.is_some_and(|((least, _), _)| volume > least as usize)
    }

    fn boxes(&mut self, slab: &mut Vec<u64>, row: &mut Vec<u64>) {
        let [outers, middles, _] = self.extents();
        let [a, b, c] = self.frame;
        for start in 0..outers {
            slab.clear();
            for end in start + 1..=outers {
                for middle in 0..middles {
                    let free = self.frames.free_row(end - 1, middle);
                    self.combined += combine(slab, middle * free.len(), free);
                }
                if self.is_too_large((end - start) * b * c)
                    || end - start >= a && !self.boxes_of_slab(slab, row, (start, end))
                {
                    break;
                }
            }
        }
    }

    /// Examines the boxes of a range of outer positions. Returns whether any row has a run that is
    /// long enough.
    fn boxes_of_slab(&mut self, slab: &[u64], row: &mut Vec<u64>, outer: Range) -> bool {
        let [_, middles, _] = self.extents();
        let words = slab.len() / middles;
        let [_, b, c] = self.frame;
        let mut found = false;
        for start in 0..middles {
            row.clear();
            for end in start + 1..=middles {
                self.combined += combine(row, 0, &slab[(end - 1) * words..][..words]);
                if self.is_too_large((outer.1 - outer.0) * (end - start) * c) {
                    found = true;
                    break;
                }
                if end - start < b {
                    continue;
                }
                if !self.boxes_of_row(row, outer, (start, end)) {
                    break;
                }
                found = true;
            }
        }
        found
    }

    /// Examines the boxes of a range of outer and a range of middle positions. Returns whether any
    /// run is long enough.
    fn boxes_of_row(&mut self, row: &[u64], outer: Range, middle: Range) -> bool {
        let mut found = false;
        for (lane, length) in bits::runs(row).filter(|&(_, length)| length >= self.frame[2]) {
            found = true;
            let (mut base, mut sides) = ([0; 3], [0; 3]);
            let spans = [outer, middle, (lane, lane + length)];
            for (axis, (start, end)) in self.frames.order().into_iter().zip(spans) {
                (base[axis], sides[axis]) = (start as u16, (end - start) as u16);
            }
            let key = (volume(sides), Scan::default().rank(self.frames.grid(), base));
            if self.best.is_none_or(|(best, _)| key < best)
                && self.is_maximal(outer, middle, (lane, length))
            {
                self.best = Some((key, base));
            }
        }
        found
    }

    /// Returns whether the box cannot be grown by a layer of outer or of middle positions.
    fn is_maximal(&self, outer: Range, middle: Range, (lane, length): (usize, usize)) -> bool {
        let [outers, middles, _] = self.extents();
        let is_free = |(from, to): Range, (low, high): Range| {
            let mut rows = (from..to).flat_map(|o| (low..high).map(move |m| (o, m)));
            rows.all(|(o, m)| bits::all(self.frames.free_row(o, m), lane, length))
        };
        let layers = |(start, end): Range, extent: usize| {
            let below = (start > 0).then(|| (start - 1, start));
            below.into_iter().chain((end < extent).then_some((end, end + 1)))
        };
        !layers(outer, outers).any(|layer| is_free(layer, middle))
            && !layers(middle, middles).any(|layer| is_free(outer, layer))
    }
}

/// Combines `row` by bitwise AND with the words from index `at` on. If `words` ends at `at`, `row`
/// is appended. Returns the number of words.
fn combine(words: &mut Vec<u64>, at: usize, row: &[u64]) -> u64 {
    if words.len() == at {
        words.extend_from_slice(row);
    } else {
        words[at..].iter_mut().zip(row).for_each(|(word, row)| *word &= row);
    }
    row.len() as u64
}
