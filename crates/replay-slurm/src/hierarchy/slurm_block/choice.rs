//! The comparisons of base blocks in explanations.

use super::Geometry;

/// The choice of a base block in a round, as Slurm describes it: a scan of all unused base blocks. The rule itself
/// sorts the base blocks, with the same result. Base blocks are numbered within the chosen block, from 0.
pub(super) struct Choice {
    /// Free nodes of each base block.
    pub(super) idle: Vec<u32>,
    /// Base blocks that the round has used.
    used: Vec<bool>,
    per_lower: usize,
    pub(super) limit: Option<usize>,
    /// Free nodes of each lower block when the round began.
    lower: Vec<u32>,
    /// Number of nodes that are still to be taken.
    pub(super) rest: u32,
}

impl Choice {
    pub(super) fn of(
        idle: Vec<u32>,
        Geometry { per_lower, limit, .. }: Geometry,
        rest: u32,
    ) -> Self {
        let lower = idle.chunks(per_lower).map(|blocks| blocks.iter().sum()).collect();
        Self { used: vec![false; idle.len()], idle, per_lower, limit, lower, rest }
    }

    pub(super) fn unused(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.idle.len()).filter(|&block| !self.used[block])
    }

    pub(super) fn take(&mut self, block: usize, count: u32) {
        self.idle[block] -= count;
        self.used[block] = true;
        self.rest -= count;
    }

    /// Returns the number of nodes that were free at the beginning of the round in the lower block that contains
    /// `block`.
    pub(super) fn low(&self, block: usize) -> u32 {
        self.lower[block / self.per_lower]
    }

    /// Returns whether a base block replaces the best base block so far, and the reason.
    pub(super) fn compare(&self, block: usize, best: usize) -> (bool, &'static str) {
        let lower = |block: usize| block / self.per_lower;
        if self.limit.is_some() && lower(block) != lower(best) {
            let in_use = |block: usize| {
                self.used
                    .chunks(self.per_lower)
                    .nth(lower(block))
                    .is_some_and(|used| used.contains(&true))
            };
            match (in_use(block), in_use(best)) {
                (true, false) => return (true, "its lower block is in use"),
                (false, true) => return (false, "the other lower block is in use"),
                _ => {}
            }
            let (own, other) = (self.low(block), self.low(best));
            match (own >= self.rest, other >= self.rest) {
                (true, false) => return (true, "only its lower block has enough free nodes"),
                (false, true) => {
                    return (false, "only the other lower block has enough free nodes");
                }
                (true, true) if own < other => return (true, "tighter lower block"),
                (true, true) if own > other => return (false, "less tight lower block"),
                (false, false) if own > other => return (true, "lower block with more free nodes"),
                (false, false) if own < other => {
                    return (false, "lower block with fewer free nodes");
                }
                _ => {}
            }
        }
        let (own, other) = (self.idle[block], self.idle[best]);
        match (own >= self.rest, other >= self.rest) {
            (true, false) => (true, "only this block has enough free nodes"),
            (false, true) => (false, "only the other block has enough free nodes"),
            (true, true) if own < other => (true, "tighter"),
            (true, true) if own > other => (false, "less tight"),
            (false, false) if own > other => (true, "more free nodes"),
            (false, false) if own < other => (false, "fewer free nodes"),
            _ => (true, "equal, and later in the file"),
        }
    }
}
