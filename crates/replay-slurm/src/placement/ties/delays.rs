//! The term DL: the delay that a candidate causes for boxes of one size.

use crate::placement::ties::{Fixed, TieQuery, Ties};

/// The anchors of one size, with the times until they become free.
pub(crate) struct Delays {
    /// Number of cells.
    pub size: u32,
    worth: u64,
    /// Placements of this size.
    pub placements: Vec<usize>,
    anchors: usize,
    sum: u128,
    /// The anchors that become free first. Each entry begins with the time until the anchor becomes free; the entries
    /// are in ascending order of this time.
    soonest: Vec<(u64, u32, u32)>,
    /// Lower bound that is valid for every candidate: a bound on the part of DL that this size and all later sizes
    /// contribute.
    pub lower_bound: i128,
}

/// Sorts sizes by decreasing weight and sets the lower bounds. With this order of sizes, candidates are rejected as
/// early as possible.
pub fn sorted(mut all: Vec<Delays>) -> Vec<Delays> {
    all.sort_by_key(|one| std::cmp::Reverse(one.worth));
    let mut rest = 0;
    for one in all.iter_mut().rev() {
        // A candidate does not make any anchor free sooner.
        rest += one.soonest.first().map_or(0, |first| one.weigh(first.0, one.sum));
        one.lower_bound = rest;
    }
    all
}

/// Number of stored anchors, beginning with the anchor that becomes free first. A candidate rarely overlaps all stored
/// anchors. The number is small in tests, so that the tests also use anchors that are not stored.
const STORED_ANCHORS: usize = if cfg!(test) { 2 } else { 12 };

impl Delays {
    /// Creates an empty set of anchors of a size with weight `worth`.
    pub fn new(size: u32, worth: u64) -> Self {
        let (placements, soonest) = (Vec::new(), Vec::with_capacity(STORED_ANCHORS + 1));
        Self { size, worth, placements, anchors: 0, sum: 0, soonest, lower_bound: 0 }
    }

    /// Adds an anchor, given as the time until it becomes free, its placement and its number.
    pub fn add(&mut self, anchor: (u64, u32, u32)) {
        self.anchors += 1;
        self.sum += u128::from(anchor.0);
        if self.soonest.len() < STORED_ANCHORS
            || self.soonest.last().is_some_and(|last| anchor.0 < last.0)
        {
            let at = self.soonest.partition_point(|other| other.0 <= anchor.0);
            self.soonest.insert(at, anchor);
            self.soonest.truncate(STORED_ANCHORS);
        }
    }

    /// Returns the part of DL that this size contributes if the candidate is taken.
    pub fn with(&self, ties: &Ties, at: [usize; 2], query: &TieQuery<'_>) -> i128 {
        if self.anchors == 0 {
            return 0;
        }
        let Fixed { torus, overlaps, .. } = &*ties.fixed;
        let placements = torus.placements();
        let place = ties.place(at);
        // An anchor that overlaps the candidate becomes free later, unless another job holds the anchor for longer than
        // the new job.
        let (mut sum, mut least) = (self.sum, u64::MAX);
        for &index in &self.placements {
            let one = &placements[index];
            let latest = &ties.latest[index][..];
            overlaps.for_each_anchor(place, index, one, |other| {
                if ties.counts_in_delay(one, other) {
                    let left = latest[other].saturating_sub(query.now);
                    sum += u128::from(query.estimate.saturating_sub(left));
                    least = least.min(left.max(query.estimate));
                }
            });
        }
        // Among the anchors that do not overlap the candidate, only the anchor that becomes free first can have the
        // minimum time.
        let meets = |index: usize, anchor: usize| {
            overlaps.meet(place, overlaps.place(index, &placements[index], anchor))
        };
        let sooner = self.soonest.iter().take_while(|one| one.0 < least);
        let mut first =
            sooner.copied().find(|&(_, index, other)| !meets(index as usize, other as usize));
        let all_sooner = self.soonest.last().is_some_and(|last| last.0 < least);
        if first.is_none() && all_sooner && self.soonest.len() < self.anchors {
            // The candidate overlaps all stored anchors.
            let all = self.placements.iter().flat_map(|&index| {
                let ends = ties.latest[index].iter().enumerate();
                ends.map(move |(anchor, end)| (end.saturating_sub(query.now), index, anchor))
            });
            let others = all.filter(|&(_, index, anchor)| {
                ties.counts_in_delay(&placements[index], anchor) && !meets(index, anchor)
            });
            first = others.min().map(|(left, index, anchor)| (left, index as u32, anchor as u32));
        }
        let least = first.map_or(least, |(left, ..)| left.min(least));
        self.weigh(least, sum)
    }

    /// Returns the part of DL that this size contributes, given the minimum and the sum of the anchors' times.
    fn weigh(&self, least: u64, sum: u128) -> i128 {
        let mean = (sum / self.anchors as u128) as i128;
        i128::from(self.worth) * (50 * i128::from(least) + mean)
    }
}
