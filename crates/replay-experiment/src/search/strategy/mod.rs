//! How the next candidates are chosen.
//!
//! A [`SearchStrategy`] asks and reads the answers in the [`Archive`]; it never evaluates
//! anything itself. How many it asks for at a time is its own choice and does not
//! depend on the number of threads.
//!
//! | file | strategy |
//! |---|---|
//! | `list` | candidates written down beforehand: the exhaustive grid, references |
//! | `random` | ratios and slacks drawn at random, the baseline for all others |
//! | `local` | neighbourhoods of the best so far, with restarts |
//! | `external` | another program |

mod external;
mod list;
mod local;
mod random;

pub use external::External;
pub use list::List;
pub use local::Local;
pub use random::Random;

use std::collections::HashSet;

use super::SearchError;
use super::archive::Archive;
use super::candidate::Candidate;

/// Questions in a row that hold nothing new after which a strategy is taken to have said
/// all it has to say.
pub(super) const PATIENCE: usize = 1000;

/// A way to search.
pub trait SearchStrategy {
    /// The candidates to evaluate next; empty if there is no further question. `archive` has the
    /// answers to all questions so far.
    ///
    /// # Errors
    /// [`SearchError`] if the strategy depends on something outside that fails.
    fn ask(&mut self, archive: &Archive) -> Result<Vec<Candidate>, SearchError>;

    /// Whether it is known to have no further question, so that a search whose
    /// evaluations are used up is complete all the same.
    fn is_done(&self, archive: &Archive) -> bool {
        let _ = archive;
        false
    }
}

/// All that a strategy asks whose questions do not depend on answers, in order: candidates reduced,
/// each once, as many at most; those of no effect go.
///
/// # Errors
/// Those of the strategy.
pub fn questions(
    strategy: &mut dyn SearchStrategy,
    most: Option<u64>,
) -> Result<Vec<Candidate>, SearchError> {
    let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let (mut seen, mut all, mut in_vain) = (HashSet::new(), Vec::new(), 0);
    let nothing = Archive::default();
    while all.len() < most && in_vain < PATIENCE {
        let candidates = strategy.ask(&nothing)?;
        if candidates.is_empty() {
            break;
        }
        let before = all.len();
        let fresh = candidates.into_iter().map(Candidate::reduced);
        all.extend(fresh.filter(|one| !one.vector.is_indifferent() && seen.insert(*one)));
        in_vain = if all.len() == before { in_vain + 1 } else { 0 };
    }
    all.truncate(most);
    Ok(all)
}

#[cfg(test)]
mod tests;
