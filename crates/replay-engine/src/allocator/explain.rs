//! Explanations that a strategy records while it decides.
//!
//! A strategy holds an [`ExplanationLog`] and records its candidates and choices there. In ordinary runs recording is
//! off: each decision then costs one pointer check, and no text is formatted. To record explanations, pass a
//! recording log in [`RunSetup::explanation`](super::RunSetup::explanation).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::candidate_set::CandidateSet;
use super::submesh::SubMesh;
use crate::topology::{Coord, Grid, NodeId};

/// Log to which a strategy writes its explanations. The default log records nothing.
#[derive(Clone, Debug, Default)]
pub struct ExplanationLog(Option<Arc<Recorder>>);

#[derive(Debug, Default)]
struct Recorder {
    is_recording: AtomicBool,
    explanation: Mutex<Explanation>,
}

/// Recorded explanation of one decision.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explanation {
    /// Sentences and lists, in the order in which they were recorded.
    pub parts: Vec<Part>,
    /// Processors that win the comparison in the explanation; `None` if the strategy is not defined by this comparison.
    /// The strategy computes its actual decision separately.
    pub winner: Option<Vec<NodeId>>,
    /// Candidates compared by score and tie value, if the strategy has such candidates; at most [`LISTED`].
    pub candidates: Option<CandidateSet>,
}

/// A part of an explanation.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// A sentence without the final full stop.
    Words(String),
    /// Compared items.
    Listing(Listing),
}

/// A table of compared items.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Listing {
    /// Title of the table.
    pub about: String,
    /// Column titles.
    pub columns: Vec<&'static str>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// Number of omitted rows.
    pub more: usize,
}

/// Largest number of rows in a [`Listing`].
pub const LISTED: usize = 20;

impl Listing {
    /// Creates a listing that keeps the first [`LISTED`] rows and counts the omitted rows.
    pub fn of(
        about: impl Into<String>,
        columns: &[&'static str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let mut rows = rows.into_iter();
        let first = rows.by_ref().take(LISTED).collect();
        Self { about: about.into(), columns: columns.to_vec(), rows: first, more: rows.count() }
    }
}

impl ExplanationLog {
    /// Creates a log that can record. The log records nothing until [`set_recording`](Self::set_recording) is called.
    pub fn recording() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns whether the log is recording now.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.0.as_ref().is_some_and(|recorder| recorder.is_recording.load(Ordering::Relaxed))
    }

    /// Starts or stops recording.
    pub fn set_recording(&self, is_recording: bool) {
        if let Some(recorder) = &self.0 {
            recorder.is_recording.store(is_recording, Ordering::Relaxed);
        }
    }

    /// Removes and returns everything recorded since the last call of this method.
    pub fn take(&self) -> Explanation {
        self.0.as_ref().map_or_else(Explanation::default, |recorder| {
            std::mem::take(&mut recorder.explanation.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    fn write(&self, write: impl FnOnce(&mut Explanation)) {
        if let Some(recorder) = self.0.as_ref().filter(|_| self.is_recording()) {
            write(&mut recorder.explanation.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Records a sentence without its final full stop.
    #[inline]
    pub fn sentence(&self, sentence: impl FnOnce() -> String) {
        self.write(|explanation| explanation.parts.push(Part::Words(sentence())));
    }

    /// Records compared items.
    #[inline]
    pub fn list(&self, listing: impl FnOnce() -> Listing) {
        self.write(|explanation| explanation.parts.push(Part::Listing(listing())));
    }

    /// Records the candidates.
    pub fn candidates(&self, candidates: impl FnOnce() -> CandidateSet) {
        self.write(|explanation| explanation.candidates = Some(candidates()));
    }

    /// Records the processors that win the comparison in the explanation.
    pub fn winner(&self, nodes: Vec<NodeId>) {
        self.write(|explanation| explanation.winner = Some(nodes));
    }
}

/// Formats a point of a grid: `(3, 4)`.
pub fn point(grid: &Grid, coord: Coord) -> String {
    let sides: Vec<String> = coord[..grid.dimensions()].iter().map(u16::to_string).collect();
    format!("({})", sides.join(", "))
}

/// Formats a processor as its number in scan order and its coordinates: `82 (8, 2)`.
pub fn processor(grid: &Grid, coord: Coord) -> String {
    format!("{} {}", grid.node(coord).0, point(grid, coord))
}

/// Formats side lengths: `4 x 2`.
pub fn sides(grid: &Grid, sides: [impl ToString; 3]) -> String {
    let sides: Vec<String> = sides[..grid.dimensions()].iter().map(ToString::to_string).collect();
    sides.join(" x ")
}

/// Formats a box: `4 x 2 at (3, 4)`.
pub fn place(grid: &Grid, place: SubMesh) -> String {
    format!("{} at {}", sides(grid, place.sides), point(grid, place.base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_only_while_recording_is_on() {
        let log = ExplanationLog::recording();
        log.sentence(|| unreachable!("recording is off"));
        log.set_recording(true);
        log.clone().sentence(|| "recorded".to_string());
        log.list(|| Listing::of("n", &["n"], (0..25).map(|n| vec![n.to_string()])));
        log.set_recording(false);
        log.sentence(|| unreachable!("recording is off again"));
        let explanation = log.take();
        assert_eq!(explanation.parts[0], Part::Words("recorded".to_string()));
        let Part::Listing(listing) = &explanation.parts[1] else { panic!("a listing") };
        assert_eq!((listing.rows.len(), listing.more), (LISTED, 5));
        assert_eq!(log.take(), Explanation::default());
        ExplanationLog::default().sentence(|| unreachable!("the default log never records"));
    }
}
