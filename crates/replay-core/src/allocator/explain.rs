//! Explanations that a strategy writes while it decides.
//!
//! A strategy holds [`ExplanationLog`] and writes down what it looks at. In a run notes are not read: then one costs
//! a look at one pointer for each decision, and no word of it is made. [`RunSetup::notes`](super::RunSetup::notes)
//! gives it notes that are read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::candidate_set::CandidateSet;
use super::submesh::SubMesh;
use crate::topology::{Coord, Grid, NodeId};

/// Where a strategy writes; those of [`Default`] nobody reads.
#[derive(Clone, Debug, Default)]
pub struct ExplanationLog(Option<Arc<Recorder>>);

#[derive(Debug, Default)]
struct Recorder {
    listening: AtomicBool,
    account: Mutex<Explanation>,
}

/// What was told of one decision, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explanation {
    /// Sentences and lists.
    pub parts: Vec<Part>,
    /// The processors that win by what was told, where that is the definition of the strategy and not
    /// what it went on to do.
    pub winner: Option<Vec<NodeId>>,
    /// The candidates that compete by score and tie value, as many as are [`LISTED`], if there are any.
    pub rivals: Option<CandidateSet>,
}

/// A part of an account.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// A sentence without its end.
    Words(String),
    /// Things that were compared.
    Listing(Listing),
}

/// Things that were compared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Listing {
    /// What they are.
    pub about: String,
    /// What is said of each.
    pub columns: Vec<&'static str>,
    /// The first of them.
    pub rows: Vec<Vec<String>>,
    /// How many more there are.
    pub more: usize,
}

/// The most things of a listing that are told one by one.
pub const LISTED: usize = 20;

impl Listing {
    /// Things in their order, of which [`LISTED`] are told.
    pub fn of(
        about: impl Into<String>,
        columns: &[&'static str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let mut rows = rows.into_iter();
        let told = rows.by_ref().take(LISTED).collect();
        Self { about: about.into(), columns: columns.to_vec(), rows: told, more: rows.count() }
    }
}

impl ExplanationLog {
    /// Notes that somebody may listen to.
    pub fn heard() -> Self {
        Self(Some(Arc::default()))
    }

    /// Whether somebody listens now.
    #[inline]
    pub fn are_read(&self) -> bool {
        self.0.as_ref().is_some_and(|listener| listener.listening.load(Ordering::Relaxed))
    }

    /// Begins to listen, or ends.
    pub fn listen(&self, listening: bool) {
        if let Some(listener) = &self.0 {
            listener.listening.store(listening, Ordering::Relaxed);
        }
    }

    /// What was told since the last call.
    pub fn take(&self) -> Explanation {
        self.0.as_ref().map_or_else(Explanation::default, |listener| {
            std::mem::take(&mut listener.account.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    fn write(&self, write: impl FnOnce(&mut Explanation)) {
        if let Some(listener) = self.0.as_ref().filter(|_| self.are_read()) {
            write(&mut listener.account.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Says a sentence, without its end.
    #[inline]
    pub fn say(&self, words: impl FnOnce() -> String) {
        self.write(|account| account.parts.push(Part::Words(words())));
    }

    /// Lists what was compared.
    #[inline]
    pub fn list(&self, listing: impl FnOnce() -> Listing) {
        self.write(|account| account.parts.push(Part::Listing(listing())));
    }

    /// Shows who competes.
    pub fn rivals(&self, rivals: impl FnOnce() -> CandidateSet) {
        self.write(|account| account.rivals = Some(rivals()));
    }

    /// Says who wins by what was told.
    pub fn winner(&self, nodes: Vec<NodeId>) {
        self.write(|account| account.winner = Some(nodes));
    }
}

/// A point of a grid in words: `(3, 4)`.
pub fn point(grid: &Grid, coord: Coord) -> String {
    let sides: Vec<String> = coord[..grid.dimensions()].iter().map(u16::to_string).collect();
    format!("({})", sides.join(", "))
}

/// A processor by its number in scan order, and where it is: `82 (8, 2)`.
pub fn processor(grid: &Grid, coord: Coord) -> String {
    format!("{} {}", grid.node(coord).0, point(grid, coord))
}

/// Sides in words: `4 x 2`.
pub fn sides(grid: &Grid, sides: [u16; 3]) -> String {
    let sides: Vec<String> = sides[..grid.dimensions()].iter().map(u16::to_string).collect();
    sides.join(" x ")
}

/// A box in words: `4 x 2 at (3, 4)`.
pub fn place(grid: &Grid, place: SubMesh) -> String {
    format!("{} at {}", sides(grid, place.sides), point(grid, place.base))
}

/// So many of a thing: `1 frame`, `3 frames`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_listens_hears() {
        let notes = ExplanationLog::heard();
        notes.say(|| unreachable!("nobody listens"));
        notes.listen(true);
        notes.clone().say(|| "heard".to_string());
        notes.list(|| Listing::of("n", &["n"], (0..25).map(|n| vec![n.to_string()])));
        notes.listen(false);
        notes.say(|| unreachable!("nobody listens any more"));
        let account = notes.take();
        assert_eq!(account.parts[0], Part::Words("heard".to_string()));
        let Part::Listing(listing) = &account.parts[1] else { panic!("a listing") };
        assert_eq!((listing.rows.len(), listing.more), (LISTED, 5));
        assert_eq!(notes.take(), Explanation::default());
        ExplanationLog::default().say(|| unreachable!("nobody can listen"));
    }
}
