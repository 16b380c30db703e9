use super::{Archive, Batch, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::archive::better_first;
use crate::search::problem::Extent;

/// What share goes on, and by how much more they are then replayed.
const ETA: usize = 3;

/// Successive halving (Jamieson and Talwalkar 2016), by thirds: all candidates are evaluated
/// on a first part of every trace, the better third on three times as much, and so on; the
/// last ones on the whole. A heuristic: what begins badly is lost.
#[derive(Clone, Debug)]
pub struct Halving {
    candidates: Vec<Candidate>,
    /// Rounds still to come.
    rounds: u32,
    /// Evaluations in the archive before the last question.
    asked_at: usize,
}

impl Halving {
    /// Among these, so that some `finalists` reach the last round. There are as
    /// many rounds as thirds can be taken, but at most four: then the first takes 1/27 of
    /// every trace; less would say too little of the rest.
    pub fn new(candidates: Vec<Candidate>, finalists: usize) -> Self {
        let mut rounds = 1;
        let mut left = candidates.len();
        while left.div_ceil(ETA) >= finalists.max(1) && left > 1 && rounds < 4 {
            left = left.div_ceil(ETA);
            rounds += 1;
        }
        Self { candidates, rounds, asked_at: usize::MAX }
    }

    /// Keeps the better third of what was evaluated last.
    fn cut(&mut self, archive: &Archive) {
        let mut last: Vec<_> = archive.evaluations()[self.asked_at..]
            .iter()
            .filter(|one| matches!(one.extent, Extent::Prefix(_)))
            .collect();
        last.sort_by(|a, b| better_first(a, b));
        // A first part without a job that counts tells nothing apart: all go on to more.
        let (Some(best), Some(worst)) = (last.first(), last.last()) else { return };
        let told_apart = best.improvement_percent > worst.improvement_percent;
        if !told_apart {
            return;
        }
        last.truncate(last.len().div_ceil(ETA));
        self.candidates = last.iter().map(|one| one.candidate).collect();
    }
}

impl SearchStrategy for Halving {
    fn ask(&mut self, archive: &Archive) -> Result<Batch, SearchError> {
        if self.asked_at < usize::MAX && self.rounds > 0 {
            self.cut(archive);
        }
        self.asked_at = archive.evaluations().len();
        let Some(rounds) = self.rounds.checked_sub(1) else { return Ok(Batch::whole(Vec::new())) };
        self.rounds = rounds;
        let share = (ETA as f64).powi(-(rounds as i32));
        Ok(Batch { candidates: self.candidates.clone(), share })
    }

    fn is_done(&self, _archive: &Archive) -> bool {
        self.rounds == 0
    }
}
