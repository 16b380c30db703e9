//! Search strategies, which choose the next candidates.
//!
//! A [`SearchStrategy`] requests candidates and reads the results from the [`Archive`]. The strategy does not evaluate
//! candidates. The strategy chooses the number of candidates per request; this number does not depend on the number of
//! threads.
//!
//! | file | strategy |
//! |---|---|
//! | `mod.rs` | a fixed list: the exhaustive grid, references |
//! | `random` | random ratios and slacks, as a baseline |
//! | `local` | neighbourhoods of the best candidates so far, with restarts |
//! | `external` | an external program |

mod external;
mod local;
mod random;

pub use external::External;
pub use local::Local;
pub use random::Random;

use std::collections::HashSet;

use super::SearchError;
use super::archive::Archive;
use super::candidate::Candidate;

/// Number of consecutive requests without a new candidate after which a strategy is treated as exhausted.
pub(super) const PATIENCE: usize = 1000;

/// A search strategy.
pub trait SearchStrategy {
    /// Returns the candidates to evaluate next; an empty list ends the search. `archive` contains the results of all
    /// earlier requests.
    ///
    /// # Errors
    /// [`SearchError`] if the strategy depends on an external program that fails.
    fn ask(&mut self, archive: &Archive) -> Result<Vec<Candidate>, SearchError>;

    /// Returns whether it is certain that the strategy has no further request. If the strategy has no further request,
    /// a search that has reached its limit of evaluations is complete.
    fn is_done(&self, archive: &Archive) -> bool {
        let _ = archive;
        false
    }
}

/// Returns all requests of a strategy that does not depend on results, in order. The list contains reduced candidates
/// without repetition, and at most `most` candidates. Vectors without effect are omitted.
///
/// # Errors
/// [`SearchError`] if the strategy fails.
pub fn questions(
    strategy: &mut dyn SearchStrategy,
    most: Option<u64>,
) -> Result<Vec<Candidate>, SearchError> {
    let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let (mut seen, mut all, mut fruitless) = (HashSet::new(), Vec::new(), 0);
    let empty_archive = Archive::default();
    while all.len() < most && fruitless < PATIENCE {
        let candidates = strategy.ask(&empty_archive)?;
        if candidates.is_empty() {
            break;
        }
        let before = all.len();
        let reduced = candidates.into_iter().map(Candidate::reduced);
        all.extend(reduced.filter(|one| !one.vector.is_indifferent() && seen.insert(*one)));
        fruitless = if all.len() == before { fruitless + 1 } else { 0 };
    }
    all.truncate(most);
    Ok(all)
}

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

#[cfg(test)]
mod tests;
