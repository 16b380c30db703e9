//! MC1x1 scores of all centres, computed for 16 neighbouring centres at a time.

use crate::machine::{BoxCounts, Count, LANES, Row};
use crate::topology::{Grid, NodeId};

/// MC1x1 scores of all centres for one request, 16 neighbouring centres at a time.
#[derive(Debug)]
pub struct Scores {
    /// Chunks that may contain a centre with a score close to the best, in scan order.
    chunks: Vec<Chunk>,
    row_length: usize,
    chunks_per_row: usize,
    max_radius: u32,
}

/// The scores of 16 neighbouring centres.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Row of the centres.
    pub row: Row,
    /// Lane number of the first centre within its row.
    pub first_lane: usize,
    /// Processor number of the first centre.
    pub first_node: usize,
    /// The lowest score.
    pub lowest: u32,
    /// The scores by lane; `u32::MAX` for busy processors and for lanes beyond the end of the row.
    /// An entry above the limit of the computation is only a lower bound of the score.
    pub scores: [u32; LANES],
}

impl Chunk {
    /// Returns the lanes with scores up to `limit`.
    #[inline(always)]
    pub fn at_most(&self, limit: u64) -> impl Iterator<Item = usize> + '_ {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX - 1);
        (0..LANES).filter(move |&i| self.scores[i] <= limit)
    }

    /// Returns the processor in a lane.
    pub fn node(&self, lane: usize) -> NodeId {
        NodeId((self.first_node + lane) as u32)
    }
}

impl Scores {
    /// Creates empty scores for the centres of `grid`.
    pub fn new(grid: &Grid) -> Self {
        let diameter = grid.axes().iter().map(|axis| u32::from(axis.diameter())).max();
        let row_length = grid.extent(grid.dimensions() - 1);
        Self {
            chunks: Vec::new(),
            row_length,
            chunks_per_row: row_length.div_ceil(LANES),
            max_radius: diameter.unwrap_or(0),
        }
    }

    /// Computes the scores of the free centres for `size` processors and returns the best score.
    /// [`Scores::chunks`] then returns the chunks with scores up to `admitted(best)`.
    #[inline(always)]
    pub fn compute<C: Count>(
        &mut self,
        counts: &BoxCounts<C>,
        size: u32,
        admitted: impl Fn(u64) -> u64,
    ) -> u64 {
        let limit = |best: u32| u32::try_from(admitted(u64::from(best))).unwrap_or(u32::MAX);
        let mut best = u32::MAX;
        self.chunks.clear();
        for row in 0..counts.rows() {
            for index in 0..self.chunks_per_row {
                let Some(chunk) = self.chunk(counts, row, index, size, limit(best)) else {
                    continue;
                };
                if chunk.lowest <= limit(best) {
                    best = best.min(chunk.lowest);
                    self.chunks.push(chunk);
                }
            }
        }
        u64::from(best)
    }

    /// Returns the chunks of the last [`Scores::compute`] that hold a centre with a score up to
    /// `limit`, in scan order.
    pub fn chunks(&self, limit: u64) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter(move |chunk| u64::from(chunk.lowest) <= limit)
    }

    /// Returns the centres of the last [`Scores::compute`] with scores up to `limit`, in scan
    /// order.
    pub fn at_most(&self, limit: u64) -> impl Iterator<Item = NodeId> + '_ {
        self.chunks(limit).flat_map(move |chunk| chunk.at_most(limit).map(|i| chunk.node(i)))
    }

    /// Returns the centre with a score up to `limit` if there is exactly one such centre.
    #[inline(always)]
    pub fn only(&self, limit: u64) -> Option<NodeId> {
        let mut chunks = self.chunks(limit);
        let chunk = chunks.next()?;
        if chunks.next().is_some() {
            return None;
        }
        let mut lanes = chunk.at_most(limit);
        let only = chunk.node(lanes.next()?);
        lanes.next().is_none().then_some(only)
    }

    /// Returns the first free centre, in scan order, with the best score for `size` processors.
    #[inline(always)]
    pub fn first_best<C: Count>(&self, counts: &BoxCounts<C>, size: u32) -> Option<NodeId> {
        let (mut best, mut first) = (u32::MAX, None);
        for row in 0..counts.rows() {
            for index in 0..self.chunks_per_row {
                // Only strictly better scores matter from here on.
                let Some(chunk) = self.chunk(counts, row, index, size, best.saturating_sub(1))
                else {
                    continue;
                };
                if chunk.lowest == 0 {
                    // Score 0 is the best possible: a request for one processor.
                    return chunk.at_most(0).next().map(|i| chunk.node(i));
                }
                if chunk.lowest < best {
                    best = chunk.lowest;
                    first = chunk.at_most(u64::from(best)).next().map(|i| chunk.node(i));
                }
            }
        }
        first
    }

    /// Computes the scores of a chunk. Returns `None` if no processor in the chunk is free.
    #[inline(always)]
    fn chunk<C: Count>(
        &self,
        counts: &BoxCounts<C>,
        row: usize,
        index: usize,
        size: u32,
        limit: u32,
    ) -> Option<Chunk> {
        // No score exceeds the request size times the largest distance.
        if u64::from(size) * u64::from(self.max_radius) < u64::from(u16::MAX) {
            self.sums::<u16, C>(counts, row, index * LANES, size, limit)
        } else {
            self.sums::<u32, C>(counts, row, index * LANES, size, limit)
        }
    }

    /// Computes the sums of max(0, size - cnt(r)) over all r. Stops when all sums exceed `limit`.
    #[inline(always)]
    fn sums<L: Count, C: Count>(
        &self,
        counts: &BoxCounts<C>,
        row: usize,
        first_lane: usize,
        size: u32,
        limit: u32,
    ) -> Option<Chunk> {
        let (size, limit) = (L::clamp_from(size), L::clamp_from(limit));
        let lanes = L::clamp_from((self.row_length - first_lane) as u32);
        // A box of radius 0 contains at most one free processor.
        let count = counts.lanes(Row(row), 0, first_lane);
        let busy: [L; LANES] =
            std::array::from_fn(|i| L::mask(count[i] == C::default()) | L::mask(L::of(i) >= lanes));
        if busy.iter().fold(L::MAX, |all, &busy| all & busy) == L::MAX {
            return None;
        }
        let first = size.saturating_minus(L::from(1));
        let mut scores = busy.map(|busy| busy | first);
        // A request for one processor needs only shell 0.
        let max_radius = if first == L::default() { 0 } else { self.max_radius };
        for radius in 1..=max_radius {
            let count = counts.lanes(Row(row), radius, first_lane);
            let mut alive = L::default();
            for i in 0..LANES {
                let deficit = size.saturating_minus(L::clamp_from(count[i].into()));
                scores[i] = scores[i].saturating_plus(deficit);
                alive = alive | (deficit & L::mask(scores[i] <= limit) & !busy[i]);
            }
            if alive == L::default() {
                break;
            }
        }
        let lowest = scores.iter().fold(L::MAX, |low, &score| low.min(score)).into();
        let scores =
            std::array::from_fn(|i| if busy[i] == L::MAX { u32::MAX } else { scores[i].into() });
        let first_node = row * self.row_length + first_lane;
        Some(Chunk { row: Row(row), first_lane, first_node, lowest, scores })
    }
}
