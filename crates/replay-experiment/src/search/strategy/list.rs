use super::{Archive, SearchError, SearchStrategy};
use crate::search::Candidate;

/// A fixed list of candidates, such as [`Space::grid`](crate::search::Space::grid).
#[derive(Clone, Debug)]
pub struct List {
    candidates: Vec<Candidate>,
}

impl List {
    /// Creates a strategy that requests all candidates in one request.
    pub fn new(candidates: Vec<Candidate>) -> Self {
        Self { candidates }
    }
}

impl SearchStrategy for List {
    fn ask(&mut self, _archive: &Archive) -> Result<Vec<Candidate>, SearchError> {
        Ok(std::mem::take(&mut self.candidates))
    }

    fn is_done(&self, _archive: &Archive) -> bool {
        self.candidates.is_empty()
    }
}
