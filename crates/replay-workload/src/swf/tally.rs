//! Strict and collecting reading: the limit on bad lines, and their statistics.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use super::{Field, Reason, RecordError};

/// The treatment of lines that are not records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Maximum number of bad lines to skip and count. 0 means strict reading: the first bad line is an error.
    pub max_errors: usize,
}

/// Maximum number of errors in the text of a tally, in addition to the last error.
const MAX_SHOWN: usize = 5;

/// Maximum number of stored errors. This limit bounds the memory that the stored errors use.
const MAX_STORED: usize = 1000;

/// The bad lines that a collecting reader skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorTally {
    errors: Vec<RecordError>,
    by_reason: BTreeMap<Reason, usize>,
    /// For each reason, the line number of the first bad line.
    first: BTreeMap<Reason, u64>,
    /// The first error of each reason and field.
    kinds: BTreeMap<(Reason, Field), RecordError>,
    /// The last error, if it is not in `kinds`.
    last: Option<RecordError>,
}

impl ErrorTally {
    /// Counts an error. The error is also stored if fewer than `limit` errors and fewer than `MAX_STORED` errors are
    /// stored so far.
    pub(super) fn add(&mut self, error: RecordError, limit: usize) {
        *self.by_reason.entry(error.reason).or_default() += 1;
        self.first.entry(error.reason).or_insert(error.line);
        if self.errors.len() < limit.min(MAX_STORED) {
            self.errors.push(error.clone());
        }
        self.last = match self.kinds.entry((error.reason, error.field)) {
            Entry::Vacant(kind) => {
                kind.insert(error);
                None
            }
            Entry::Occupied(_) => Some(error),
        };
    }

    /// Returns the total number of bad lines.
    pub fn total(&self) -> usize {
        self.by_reason.values().sum()
    }

    /// Returns the first errors in file order: at most 1,000, and no more than the reader's limit.
    pub fn errors(&self) -> &[RecordError] {
        &self.errors
    }

    /// Returns the number of bad lines for each reason.
    pub fn by_reason(&self) -> &BTreeMap<Reason, usize> {
        &self.by_reason
    }

    /// Returns, for each reason, the line number of the first bad line, from 1.
    pub fn first_lines(&self) -> &BTreeMap<Reason, u64> {
        &self.first
    }
}

impl fmt::Display for ErrorTally {
    /// Formats `3 bad lines: not a number 2, too few fields 1`, then in full, in file order, the first error of each
    /// reason and field (at most 5), and the last error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{total} bad line{}", if total == 1 { "" } else { "s" })?;
        for (index, (reason, count)) in self.by_reason.iter().enumerate() {
            write!(f, "{} {reason} {count}", if index == 0 { ":" } else { "," })?;
        }
        let mut kinds: Vec<&RecordError> = self.kinds.values().collect();
        kinds.sort_unstable_by_key(|error| error.line);
        // Without another last error, the last line is the first of its kind.
        let last = self.last.as_ref().or_else(|| (kinds.len() > 1).then(|| kinds.pop())?);
        for (index, error) in kinds.iter().take(MAX_SHOWN).enumerate() {
            write!(f, "\n{}: {error}", if index == 0 { "first" } else { "also" })?;
        }
        last.map_or(Ok(()), |last| write!(f, "\nlast: {last}"))
    }
}
