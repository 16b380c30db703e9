//! Strict or collecting: how many bad lines a reader may skip, and what they were.

use std::collections::BTreeMap;
use std::fmt;

use super::{Reason, RecordError};

/// How a reader treats lines that are no records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bad lines that are skipped and counted before the reader gives up; 0 = strict, the first is an error.
    pub max_errors: usize,
}

/// Bad lines that are kept as they are: enough to see what is wrong, and a file of nothing else fits
/// in memory.
const KEPT: usize = 1000;

/// The bad lines a collecting reader skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorTally {
    errors: Vec<RecordError>,
    by_reason: BTreeMap<Reason, usize>,
    /// Line of the first.
    first: BTreeMap<Reason, u64>,
}

impl ErrorTally {
    /// Counts an error; keeps it if it is among the first of those that the reader may skip.
    pub(super) fn add(&mut self, error: RecordError, limit: usize) {
        *self.by_reason.entry(error.reason).or_default() += 1;
        self.first.entry(error.reason).or_insert(error.line);
        if self.errors.len() < limit.min(KEPT) {
            self.errors.push(error);
        }
    }

    /// Bad lines in all.
    pub fn total(&self) -> usize {
        self.by_reason.values().sum()
    }

    /// The first errors, at most 1,000 and as many as the reader's limit, in file order.
    pub fn errors(&self) -> &[RecordError] {
        &self.errors
    }

    /// Bad lines by reason.
    pub fn by_reason(&self) -> &BTreeMap<Reason, usize> {
        &self.by_reason
    }

    /// By reason, the number of the first bad line, from 1.
    pub fn first_lines(&self) -> &BTreeMap<Reason, u64> {
        &self.first
    }
}

impl fmt::Display for ErrorTally {
    /// `3 bad lines: not a number 2, too few fields 1`, then the first error in full.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{total} bad line{}", if total == 1 { "" } else { "s" })?;
        for (index, (reason, count)) in self.by_reason.iter().enumerate() {
            write!(f, "{} {reason} {count}", if index == 0 { ":" } else { "," })?;
        }
        match self.errors.first() {
            Some(first) => write!(f, "\nfirst: {first}"),
            None => Ok(()),
        }
    }
}
