//! Which anchors of two placements share a cell, and which of one lie inside those of another.

use super::positions::{inside, meet};
use super::torus::{Placement, Torus};

/// Bits of a word.
pub const WORD: u32 = u64::BITS;

/// Boxes of one side with their positions along an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Kind {
    side: u16,
    positions: Vec<u16>,
}

/// How the positions of one kind lie beside a box at a position of another.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Those that share a cell with it.
    pub met: Vec<u32>,
    /// The same as bits, where there are some.
    pub words: Vec<Word>,
}

/// 64 positions.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The first of them is this times 64.
    pub at: u32,
    /// Those that share a cell with the box, and of these those that lie in it.
    pub met: u64,
    pub inside: u64,
}

impl Beside {
    fn new(length: u16, mine: (u16, u16), other: &Kind) -> Self {
        let mut beside = Self::default();
        for (index, &at) in (0u32..).zip(&other.positions) {
            if !meet(length, mine, (at, other.side)) {
                continue;
            }
            beside.met.push(index);
            let at_word = index / WORD;
            if beside.words.last().is_none_or(|word| word.at != at_word) {
                beside.words.push(Word { at: at_word, met: 0, inside: 0 });
            }
            if let Some(word) = beside.words.last_mut() {
                let within = inside(length, mine, (at, other.side));
                word.met |= 1 << (index % WORD);
                word.inside |= u64::from(within) << (index % WORD);
            }
        }
        beside
    }

    /// Whether a position shares a cell with it, and whether it lies in it.
    #[inline]
    pub fn has(&self, index: u32) -> [bool; 2] {
        let word = self.words.iter().find(|word| word.at == index / WORD);
        let bit = |bits: u64| bits >> (index % WORD) & 1 == 1;
        word.map_or([false; 2], |word| [bit(word.met), bit(word.inside)])
    }
}

/// A box by its kinds along the axes and its positions among those of the kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    kinds: [usize; 3],
    at: [usize; 3],
}

/// The placements of a torus beside each other. Boxes are products of what they cover along the axes, so that all is told axis by axis, and
/// once for placements that have their positions along an axis in common.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// By axis, by two kinds and a position of the first.
    beside: [Vec<Vec<Vec<Beside>>>; 3],
    /// By placement: its kind along each axis.
    kinds: Vec<[usize; 3]>,
}

impl Near {
    /// All placements of a torus.
    pub fn new(torus: &Torus) -> Self {
        let mut near = Self { kinds: vec![[0; 3]; torus.placements().len()], ..Self::default() };
        for axis in 0..3 {
            let length = torus.sides[axis];
            let mut all: Vec<Kind> = Vec::new();
            for (one, kinds) in torus.placements().iter().zip(&mut near.kinds) {
                let positions = one.positions()[axis].to_vec();
                let kind = Kind { side: one.sides[axis], positions };
                kinds[axis] = all.iter().position(|other| *other == kind).unwrap_or(all.len());
                if kinds[axis] == all.len() {
                    all.push(kind);
                }
            }
            let of = |mine: &Kind, other: &Kind| {
                let beside = |&at: &u16| Beside::new(length, (at, mine.side), other);
                mine.positions.iter().map(beside).collect()
            };
            near.beside[axis] =
                all.iter().map(|mine| all.iter().map(|other| of(mine, other)).collect()).collect();
        }
        near
    }

    /// Where an anchor of a placement is.
    #[inline]
    pub fn place(&self, index: usize, placement: &Placement, anchor: usize) -> Place {
        Place { kinds: self.kinds[index], at: placement.place(anchor) }
    }

    /// How the positions of a placement lie beside a box, along the axes.
    #[inline]
    pub fn beside(&self, place: Place, index: usize) -> [&Beside; 3] {
        let kinds = self.kinds[index];
        [0, 1, 2].map(|axis| &self.beside[axis][place.kinds[axis]][kinds[axis]][place.at[axis]])
    }

    /// The anchors of a placement that share a cell with a box.
    pub fn anchors(
        &self,
        place: Place,
        index: usize,
        placement: &Placement,
    ) -> impl Iterator<Item = usize> + '_ {
        let [_, y, z] = placement.positions().map(|all| all.len() as u32);
        let [xs, ys, zs] = self.beside(place, index).map(|beside| &beside.met[..]);
        let rows = xs.iter().flat_map(move |x| ys.iter().map(move |j| x * y + j));
        rows.flat_map(move |row| zs.iter().map(move |k| (row * z + k) as usize))
    }

    /// Whether two boxes share a cell.
    #[inline]
    pub fn meet(&self, one: Place, other: Place) -> bool {
        (0..3).all(|axis| {
            let beside = &self.beside[axis][one.kinds[axis]][other.kinds[axis]][one.at[axis]];
            beside.has(other.at[axis] as u32)[0]
        })
    }

    /// By position of a placement along an axis: the number of the first position that meets the same
    /// positions of all `others`.
    pub fn alike(&self, axis: usize, index: usize, others: &[usize]) -> Vec<u32> {
        let of = &self.beside[axis][self.kinds[index][axis]];
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
