//! DL: what a candidate makes boxes of one size wait.

use super::{Fixed, Question, Ties};

/// The anchors of one size, by the time until they come free.
pub struct Delays {
    /// Cells.
    pub size: u32,
    worth: u64,
    /// Those of this size.
    pub placements: Vec<usize>,
    anchors: usize,
    sum: u128,
    /// The first ones with their times, ascending.
    soonest: Vec<(u64, u32, u32)>,
    /// What it comes to at least, whatever the candidate, with all that come after it.
    pub least_with_rest: i128,
}

/// The sizes that are worth most first: their delays tell soonest which candidates lose.
pub fn in_order(mut all: Vec<Delays>) -> Vec<Delays> {
    all.sort_by_key(|one| std::cmp::Reverse(one.worth));
    let mut rest = 0;
    for one in all.iter_mut().rev() {
        // A candidate makes no anchor come free sooner.
        rest += one.soonest.first().map_or(0, |first| one.weigh(first.0, one.sum));
        one.least_with_rest = rest;
    }
    all
}

/// So many of the first anchors are kept: a candidate seldom meets them all.
///
/// In tests few, so that the others are looked at, too.
const SOONEST: usize = if cfg!(test) { 2 } else { 12 };

impl Delays {
    /// None so far; a free one is `worth` so much.
    pub fn new(size: u32, worth: u64) -> Self {
        let (placements, soonest) = (Vec::new(), Vec::with_capacity(SOONEST + 1));
        Self { size, worth, placements, anchors: 0, sum: 0, soonest, least_with_rest: 0 }
    }

    /// An anchor: the time until it comes free, its placement, its number.
    pub fn add(&mut self, anchor: (u64, u32, u32)) {
        self.anchors += 1;
        self.sum += u128::from(anchor.0);
        if self.soonest.len() < SOONEST || self.soonest.last().is_some_and(|last| anchor.0 < last.0)
        {
            let at = self.soonest.partition_point(|other| other.0 <= anchor.0);
            self.soonest.insert(at, anchor);
            self.soonest.truncate(SOONEST);
        }
    }

    /// The size's part of DL with a candidate taken.
    pub fn with(&self, ties: &Ties, at: [usize; 2], question: &Question<'_>) -> i128 {
        if self.anchors == 0 {
            return 0;
        }
        let Fixed { torus, near, .. } = &*ties.fixed;
        let placements = torus.placements();
        let place = ties.place(at);
        // Those that it meets come free later, if they are not held longer by others.
        let (mut sum, mut least) = (self.sum, u64::MAX);
        for &index in &self.placements {
            let one = &placements[index];
            for other in near.anchors(place, index, one).filter(|&other| ties.is_heard(one, other))
            {
                let left = ties.latest[index][other].saturating_sub(question.now);
                sum += u128::from(question.estimate.saturating_sub(left));
                least = least.min(left.max(question.estimate));
            }
        }
        // Of the others the first counts.
        let meets = |index: usize, anchor: usize| {
            near.meet(place, near.place(index, &placements[index], anchor))
        };
        let sooner = self.soonest.iter().take_while(|one| one.0 < least);
        let mut first =
            sooner.copied().find(|&(_, index, other)| !meets(index as usize, other as usize));
        let all_sooner = self.soonest.last().is_some_and(|last| last.0 < least);
        if first.is_none() && all_sooner && self.soonest.len() < self.anchors {
            // It meets all that are kept.
            let all = self.placements.iter().flat_map(|&index| {
                let ends = ties.latest[index].iter().enumerate();
                ends.map(move |(anchor, end)| (end.saturating_sub(question.now), index, anchor))
            });
            let others = all.filter(|&(_, index, anchor)| {
                ties.is_heard(&placements[index], anchor) && !meets(index, anchor)
            });
            first = others.min().map(|(left, index, anchor)| (left, index as u32, anchor as u32));
        }
        let least = first.map_or(least, |(left, ..)| left.min(least));
        self.weigh(least, sum)
    }

    /// By the least of its times and their sum.
    fn weigh(&self, least: u64, sum: u128) -> i128 {
        let mean = (sum / self.anchors as u128) as i128;
        i128::from(self.worth) * (50 * i128::from(least) + mean)
    }
}
