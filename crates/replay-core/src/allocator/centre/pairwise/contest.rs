/// The candidates still in the running while scores come in.
#[derive(Debug, Default)]
pub struct Contest {
    /// Whether all that are admitted matter, or only the first of the best.
    keep_all: bool,
    limit: u64,
    best: Option<(u64, usize)>,
    kept: Vec<(u64, usize)>,
}

impl Contest {
    /// Begins anew.
    pub fn start(&mut self, keep_all: bool) {
        *self =
            Self { keep_all, limit: u64::MAX, best: None, kept: std::mem::take(&mut self.kept) };
        self.kept.clear();
    }

    /// Whether a candidate with at least this score can still matter.
    #[inline]
    pub fn is_open(&self, at_least: u64, index: usize) -> bool {
        at_least < self.limit
            || at_least == self.limit
                && (self.keep_all || self.best.is_none_or(|(_, first)| index < first))
    }

    /// The highest score that can still matter.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Enters a candidate's score. `admitted` is the highest score that counts if this
    /// one is the best. No candidate may be entered twice.
    pub fn enter(&mut self, score: u64, index: usize, admitted: impl Fn(u64) -> u64) {
        if !self.is_open(score, index) {
            return;
        }
        if self.best.is_none_or(|best| (score, index) < best) {
            self.best = Some((score, index));
            self.limit = if self.keep_all { admitted(score) } else { score };
        }
        if self.keep_all {
            self.kept.push((score, index));
        }
    }

    /// The best score and the first candidate that has it.
    pub fn best(&self) -> Option<(u64, usize)> {
        self.best
    }

    /// All admitted candidates with their scores, in candidate order.
    pub fn admitted(&mut self) -> &[(u64, usize)] {
        let limit = self.limit;
        self.kept.retain(|&(score, _)| score <= limit);
        self.kept.sort_unstable_by_key(|&(_, index)| index);
        &self.kept
    }
}
