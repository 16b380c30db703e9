use crate::machine::{BoxCounts, LANES, Machine, Row};
use crate::topology::{Grid, NodeId};

/// MC1x1 scores of all centres for one request.
#[derive(Debug)]
pub struct Scores {
    /// By row and padded lane; `u32::MAX` for busy processors. A score above the limit
    /// it was computed under is only a lower bound.
    scores: Vec<u32>,
    row_length: usize,
    pitch: usize,
    max_radius: u32,
}

impl Scores {
    /// Room for the centres of `grid`.
    pub fn new(grid: &Grid) -> Self {
        let row_length = grid.extent(grid.dimensions() - 1);
        let pitch = row_length.next_multiple_of(LANES);
        let rows = grid.processors() / row_length;
        let diameter = grid.axes().iter().map(|axis| u32::from(axis.diameter())).max();
        Self {
            scores: vec![0; rows * pitch],
            row_length,
            pitch,
            max_radius: diameter.unwrap_or(0),
        }
    }

    /// Computes the score of every free centre for `size` processors and returns the
    /// best. Scores that exceed `admitted(best)` may be lower bounds.
    pub fn compute(
        &mut self,
        counts: &BoxCounts,
        machine: &Machine,
        size: u32,
        admitted: impl Fn(u64) -> u64,
    ) -> u64 {
        let limit = |best: u32| u32::try_from(admitted(u64::from(best))).unwrap_or(u32::MAX);
        let mut best = u32::MAX;
        for row in 0..counts.rows() {
            for lane in (0..self.row_length).step_by(LANES) {
                let at = row * self.pitch + lane;
                let Some(busy) = self.busy(machine, row, lane) else {
                    self.scores[at..at + LANES].fill(u32::MAX);
                    continue;
                };
                let chunk = self.chunk(counts, Row(row), lane, size, &busy, limit(best));
                best = chunk.iter().fold(best, |best, &score| best.min(score));
                self.scores[at..at + LANES].copy_from_slice(&chunk);
            }
        }
        u64::from(best)
    }

    /// The first free centre, in scan order, with the best score for `size` processors.
    pub fn first_best(&mut self, counts: &BoxCounts, machine: &Machine, size: u32) -> Option<NodeId> {
        let (mut best, mut first) = (u32::MAX, None);
        for row in 0..counts.rows() {
            for lane in (0..self.row_length).step_by(LANES) {
                let Some(busy) = self.busy(machine, row, lane) else { continue };
                // Only strictly better scores matter from here on.
                let chunk = self.chunk(counts, Row(row), lane, size, &busy, best - 1);
                let lowest = chunk.iter().fold(u32::MAX, |low, &score| low.min(score));
                if lowest < best {
                    best = lowest;
                    let at = chunk.iter().position(|&score| score == lowest);
                    first = at.map(|i| NodeId((row * self.row_length + lane + i) as u32));
                }
            }
            if best == 0 {
                break;
            }
        }
        first
    }

    /// The centres with scores up to `limit`, in scan order.
    pub fn at_most(&self, limit: u64) -> impl Iterator<Item = NodeId> + '_ {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
        self.scores.chunks_exact(self.pitch).enumerate().flat_map(move |(row, scores)| {
            let lanes = scores[..self.row_length].iter().enumerate();
            lanes
                .filter(move |(_, score)| **score <= limit)
                .map(move |(lane, _)| NodeId((row * self.row_length + lane) as u32))
        })
    }

    /// The score last computed for a centre.
    pub fn of(&self, centre: NodeId) -> u64 {
        let (row, lane) = (centre.index() / self.row_length, centre.index() % self.row_length);
        u64::from(self.scores[row * self.pitch + lane])
    }

    /// Which of 16 lanes are busy or past the end of the row; `None` if all are.
    #[inline(always)]
    fn busy(&self, machine: &Machine, row: usize, lane: usize) -> Option<[bool; LANES]> {
        let first = row * self.row_length + lane;
        let lanes = LANES.min(self.row_length - lane);
        let mut busy = [true; LANES];
        let mut any = false;
        for (busy, &free) in busy.iter_mut().zip(&machine.free_map()[first..first + lanes]) {
            *busy = !free;
            any |= free;
        }
        any.then_some(busy)
    }

    #[inline(always)]
    fn chunk(
        &self,
        counts: &BoxCounts,
        row: Row,
        lane: usize,
        size: u32,
        busy: &[bool; LANES],
        limit: u32,
    ) -> [u32; LANES] {
        // No score exceeds size times the largest distance; most machines are small
        // enough for 16 bits, which doubles the lanes a vector holds.
        if u64::from(size) * u64::from(self.max_radius) < u64::from(u16::MAX) {
            let limit = limit.min(u32::from(u16::MAX - 1)) as u16;
            self.chunk16(counts, row, lane, size as u16, busy, limit)
        } else {
            self.chunk32(counts, row, lane, size as u16, busy, limit)
        }
    }

    #[inline(always)]
    fn chunk16(
        &self,
        counts: &BoxCounts,
        row: Row,
        lane: usize,
        size: u16,
        busy: &[bool; LANES],
        limit: u16,
    ) -> [u32; LANES] {
        let mut scores = busy.map(|busy| if busy { u16::MAX } else { 0 });
        for radius in 0..=self.max_radius {
            let count = counts.lanes(row, radius, lane);
            let mut alive = 0;
            for i in 0..LANES {
                let deficit = size.saturating_sub(count[i]);
                scores[i] = scores[i].saturating_add(deficit);
                alive |= if scores[i] <= limit { deficit } else { 0 };
            }
            if alive == 0 {
                break;
            }
        }
        scores.map(|score| if score == u16::MAX { u32::MAX } else { u32::from(score) })
    }

    #[inline(always)]
    fn chunk32(
        &self,
        counts: &BoxCounts,
        row: Row,
        lane: usize,
        size: u16,
        busy: &[bool; LANES],
        limit: u32,
    ) -> [u32; LANES] {
        let mut scores = busy.map(|busy| if busy { u32::MAX } else { 0 });
        for radius in 0..=self.max_radius {
            let count = counts.lanes(row, radius, lane);
            let mut alive = 0;
            for i in 0..LANES {
                let deficit = u32::from(size.saturating_sub(count[i]));
                scores[i] = scores[i].saturating_add(deficit);
                alive |= if scores[i] <= limit { deficit } else { 0 };
            }
            if alive == 0 {
                break;
            }
        }
        scores
    }
}
