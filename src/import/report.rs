//! What became of the lines of a log.

use std::collections::BTreeMap;
use std::fmt;

use super::Reason;
use crate::number::grouped;

/// What a count is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Of the jobs kept.
    Noted,
    /// A job that cannot be replayed.
    Dropped,
    /// No job.
    Passed,
    /// Malformed lines that were skipped.
    Malformed,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Class::Noted => "noted",
            Class::Dropped => "dropped",
            Class::Passed => "no job",
            Class::Malformed => "malformed",
        })
    }
}

/// What a log consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Lines of text.
    #[default]
    Line,
    /// Rows of a table.
    Row,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Place::Line => "line",
            Place::Row => "row",
        })
    }
}

/// So many, and the line of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub count: u64,
    /// Line of the first, from 1.
    pub first: u64,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The log as the user named it.
    pub file: String,
    /// Whether it has lines or rows.
    pub unit: Place,
    /// Lines read, blank ones and the header among them; or rows.
    pub lines: u64,
    /// Jobs written.
    pub jobs: u64,
    /// Jobs with nodes in the side file.
    pub nodes: u64,
    /// Jobs with a shape in the side file.
    pub shapes: u64,
    /// Counts by class and reason.
    pub counts: BTreeMap<(Class, &'static str), Count>,
    /// Malformed lines by reason.
    pub malformed: BTreeMap<Reason, Count>,
}

impl Report {
    /// Counts `count` more, which stand in line `line`.
    pub(super) fn add(&mut self, class: Class, what: &'static str, line: u64, count: u64) {
        let entry = self.counts.entry((class, what)).or_insert(Count { count: 0, first: line });
        entry.count += count;
    }

    /// Counts a malformed line.
    pub(super) fn add_malformed(&mut self, reason: Reason, line: u64) {
        self.malformed.entry(reason).or_insert(Count { count: 0, first: line }).count += 1;
    }

    /// How many of a class.
    pub fn of(&self, class: Class) -> u64 {
        match class {
            Class::Malformed => self.malformed.values().map(|count| count.count).sum(),
            _ => {
                self.counts.iter().filter(|((own, _), _)| *own == class).map(|(_, c)| c.count).sum()
            }
        }
    }

    /// How many for a reason.
    pub fn count(&self, what: &str) -> u64 {
        self.counts.iter().filter(|((_, own), _)| *own == what).map(|(_, count)| count.count).sum()
    }
}

impl fmt::Display for Report {
    /// One line in all, then one for each reason with the number of the first line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [dropped, passed, malformed] =
            [Class::Dropped, Class::Passed, Class::Malformed].map(|class| grouped(self.of(class)));
        let (lines, jobs) = (grouped(self.lines), grouped(self.jobs));
        write!(
            f,
            "{}: {lines} {}s, {jobs} jobs kept; {dropped} dropped; {passed} that are no job; \
             {malformed} malformed",
            self.file, self.unit
        )?;
        let malformed =
            self.malformed.iter().map(|(why, count)| (Class::Malformed, why.to_string(), *count));
        let counts =
            self.counts.iter().map(|((class, what), count)| (*class, (*what).to_string(), *count));
        for (class, what, Count { count, first }) in counts.chain(malformed) {
            write!(f, "\n  {class:<9} {what}: {}, first in {} {first}", grouped(count), self.unit)?;
        }
        Ok(())
    }
}
