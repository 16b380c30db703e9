//! Overlaps of the anchors of two placements: pairs that share a cell, and pairs in which one box contains the other.

use crate::placement::positions::{inside, meet};
use crate::placement::torus::{Placement, Torus};

/// Number of bits of a word.
pub const WORD: u32 = u64::BITS;

/// Boxes of one side length with their positions along an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
struct AxisBoxes {
    side: u16,
    positions: Vec<u16>,
}

/// Overlaps of a given box with the boxes at all positions of an [`AxisBoxes`]. The given box is at one position of
/// another [`AxisBoxes`].
#[derive(Clone, Debug, Default)]
pub struct AxisOverlap {
    /// Indices of the positions at which a box shares a cell with the given box.
    pub met: Vec<u32>,
    /// The positions in `met` as bits, without words that are 0.
    pub words: Vec<Word>,
}

/// Overlaps of 64 consecutive positions with a box.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Index of the word: its first position is `at` times 64.
    pub at: u32,
    /// Bits of the positions whose boxes share a cell with the given box.
    pub met: u64,
    /// Bits of the positions whose boxes are contained in the given box.
    pub inside: u64,
}

impl AxisOverlap {
    fn new(length: u16, mine: (u16, u16), other: &AxisBoxes) -> Self {
        let mut overlap = Self::default();
        for (index, &at) in (0u32..).zip(&other.positions) {
            if !meet(length, mine, (at, other.side)) {
                continue;
            }
            overlap.met.push(index);
            let at_word = index / WORD;
            if overlap.words.last().is_none_or(|word| word.at != at_word) {
                overlap.words.push(Word { at: at_word, met: 0, inside: 0 });
            }
            if let Some(word) = overlap.words.last_mut() {
                let within = inside(length, mine, (at, other.side));
                word.met |= 1 << (index % WORD);
                word.inside |= u64::from(within) << (index % WORD);
            }
        }
        overlap
    }

    /// Returns two flags: whether the box at this position shares a cell with the given box, and whether the given box
    /// contains the box at this position.
    #[inline]
    pub fn has(&self, index: u32) -> [bool; 2] {
        let word = self.words.iter().find(|word| word.at == index / WORD);
        let bit = |bits: u64| bits >> (index % WORD) & 1 == 1;
        word.map_or([false; 2], |word| [bit(word.met), bit(word.inside)])
    }
}

/// A box: its [`AxisBoxes`] along each axis, and the index of its position in each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoxPosition {
    kinds: [usize; 3],
    at: [usize; 3],
}

/// Overlaps of all placements of a torus. Boxes are products of intervals along the axes, so overlaps are stored by
/// axis. Placements with the same side and positions along an axis share the overlaps of this axis.
#[derive(Clone, Debug, Default)]
pub struct Overlaps {
    /// Overlaps, indexed by axis, by two [`AxisBoxes`], and by a position of the first [`AxisBoxes`].
    by_axis: [Vec<Vec<Vec<AxisOverlap>>>; 3],
    /// Index of the [`AxisBoxes`] of each placement along each axis.
    kinds: Vec<[usize; 3]>,
}

impl Overlaps {
    /// Computes the overlaps of all placements of a torus.
    pub fn new(torus: &Torus) -> Self {
        let mut overlaps =
            Self { kinds: vec![[0; 3]; torus.placements().len()], ..Self::default() };
        for axis in 0..3 {
            let length = torus.sides[axis];
            let mut all: Vec<AxisBoxes> = Vec::new();
            for (one, kinds) in torus.placements().iter().zip(&mut overlaps.kinds) {
                let positions = one.positions()[axis].to_vec();
                let kind = AxisBoxes { side: one.sides[axis], positions };
                kinds[axis] = all.iter().position(|other| *other == kind).unwrap_or(all.len());
                if kinds[axis] == all.len() {
                    all.push(kind);
                }
            }
            let of = |mine: &AxisBoxes, other: &AxisBoxes| {
                let overlap = |&at: &u16| AxisOverlap::new(length, (at, mine.side), other);
                mine.positions.iter().map(overlap).collect()
            };
            overlaps.by_axis[axis] =
                all.iter().map(|mine| all.iter().map(|other| of(mine, other)).collect()).collect();
        }
        overlaps
    }

    /// Returns the position of an anchor of a placement.
    #[inline]
    pub fn place(&self, index: usize, placement: &Placement, anchor: usize) -> BoxPosition {
        BoxPosition { kinds: self.kinds[index], at: placement.place(anchor) }
    }

    /// Returns the overlaps of the positions of a placement with a box, by axis.
    #[inline(always)]
    pub fn along_axes(&self, place: BoxPosition, index: usize) -> [&AxisOverlap; 3] {
        let kinds = &self.kinds[index];
        let along =
            |axis: usize| &self.by_axis[axis][place.kinds[axis]][kinds[axis]][place.at[axis]];
        [along(0), along(1), along(2)]
    }

    /// Calls `visit` with each anchor of a placement that shares a cell with a box.
    #[inline(always)]
    pub fn for_each_anchor(
        &self,
        place: BoxPosition,
        index: usize,
        placement: &Placement,
        mut visit: impl FnMut(usize),
    ) {
        let [_, y, z] = placement.positions().map(<[u16]>::len);
        let [xs, ys, zs] = self.along_axes(place, index);
        for &i in &xs.met {
            for &j in &ys.met {
                let row = (i as usize * y + j as usize) * z;
                zs.met.iter().for_each(|&k| visit(row + k as usize));
            }
        }
    }

    /// Returns whether two boxes share a cell.
    #[inline]
    pub fn meet(&self, one: BoxPosition, other: BoxPosition) -> bool {
        (0..3).all(|axis| {
            let overlap = &self.by_axis[axis][one.kinds[axis]][other.kinds[axis]][one.at[axis]];
            overlap.has(other.at[axis] as u32)[0]
        })
    }

    /// For each position of a placement along an axis, returns the first position of this placement that overlaps the
    /// same positions of all `others`.
    pub fn equivalent_positions(&self, axis: usize, index: usize, others: &[usize]) -> Vec<u32> {
        let of = &self.by_axis[axis][self.kinds[index][axis]];
        let mut kinds: Vec<usize> = others.iter().map(|&other| self.kinds[other][axis]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let positions = of.first().map_or(0, Vec::len);
        let same =
            |a: usize, b: usize| kinds.iter().all(|&kind| of[kind][a].met == of[kind][b].met);
        let first = |at: usize| (0..at).find(|&before| same(before, at)).unwrap_or(at) as u32;
        (0..positions).map(first).collect()
    }
}
