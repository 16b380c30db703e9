//! The report of an import: counts of lines by reason.

use std::collections::BTreeMap;
use std::fmt;

use super::Reason;
use super::entry;
use replay_workload::naming::texts;
use replay_workload::number::{counted, grouped};

/// Begins a line that states what the user can do.
const HINT: &str = "            hint: ";

texts! {
    /// The class to which a count of lines belongs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class {
        /// A note on a line, in most cases on the line of a kept job. A line with a note is either a job or is counted
        /// in exactly one of the other classes.
        Noted => "noted",
        /// A note on a line that was repaired before it was read. A repaired line is either a job or is counted in
        /// exactly one of the other classes.
        Repaired => "repaired",
        /// Jobs that cannot be replayed, or that are not selected.
        Dropped => "dropped",
        /// Lines that are not jobs: headers, blank lines, steps, events, rows that are merged with an earlier row.
        Passed => "not a job",
        /// Malformed lines that were skipped.
        Malformed => "malformed",
    }
}

texts! {
    /// The unit of a log.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Place {
        /// Lines of text.
        #[default]
        Line => "line",
        /// Rows of a table.
        Row => "row",
        /// Records of JSON.
        Record => "record",
    }
}

/// A number of lines, and the number of the first of these lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of lines.
    pub count: u64,
    /// First line, 1-based.
    pub first: u64,
    /// Index in [`Report::files`] of the file that contains the first line.
    pub file: usize,
}

/// The report of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The files of the log, as the user named them.
    pub files: Vec<String>,
    /// Whether the log has lines or rows.
    pub unit: Place,
    /// Number of lines or rows read, including blank lines and headers.
    pub lines: u64,
    /// Number of jobs written.
    pub jobs: u64,
    /// BLAKE3 digest of the written trace, hexadecimal; empty until the trace is written.
    pub digest: String,
    /// Number of jobs in the nodes file.
    pub nodes: u64,
    /// Number of jobs in the shapes file.
    pub shapes: u64,
    /// Number of jobs whose number in the trace differs from their id in the log.
    pub renamed: u64,
    /// For each class and reason: the number of lines, and the first of these lines.
    pub counts: BTreeMap<(Class, &'static str), Count>,
    /// Malformed lines by reason.
    pub malformed: BTreeMap<Reason, Count>,
}

impl Report {
    /// Adds `count` to the count of a class and a reason; the first of these lines has the given file and line number.
    pub(super) fn add(
        &mut self,
        class: Class,
        what: &'static str,
        (file, line): (usize, u64),
        count: u64,
    ) {
        let none = Count { count: 0, first: line, file };
        let own = self.counts.entry((class, what)).or_insert(none);
        own.count += count;
        // Lines are not always counted in order, because the class of a line may be determined after the classes of
        // later lines.
        (own.file, own.first) = (own.file, own.first).min((file, line));
    }

    /// Returns the number of kept jobs plus the number of counted lines; this sum equals the number of lines read.
    pub fn accounted(&self) -> u64 {
        [Class::Dropped, Class::Passed, Class::Malformed]
            .iter()
            .fold(self.jobs, |sum, &class| sum + self.of(class))
    }

    /// Returns the index of the current file.
    pub(super) fn file(&self) -> usize {
        self.files.len().saturating_sub(1)
    }

    /// Counts a malformed line.
    pub(super) fn add_malformed(&mut self, reason: Reason, line: u64) {
        let none = Count { count: 0, first: line, file: self.file() };
        self.malformed.entry(reason).or_insert(none).count += 1;
    }

    /// Returns the number of lines in a class.
    pub fn of(&self, class: Class) -> u64 {
        match class {
            Class::Malformed => self.malformed.values().map(|count| count.count).sum(),
            _ => {
                self.counts.iter().filter(|((own, _), _)| *own == class).map(|(_, c)| c.count).sum()
            }
        }
    }

    /// Returns the number of lines with a reason.
    pub fn count(&self, what: &str) -> u64 {
        self.counts.iter().filter(|((_, own), _)| *own == what).map(|(_, count)| count.count).sum()
    }
}

impl fmt::Display for Report {
    /// Formats a summary line and then one line for each reason, with the number of the first line counted for this
    /// reason. If the user can do something about these lines, a line with a hint follows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [dropped, passed, malformed] =
            [Class::Dropped, Class::Passed, Class::Malformed].map(|class| grouped(self.of(class)));
        let unit = self.unit.to_string();
        let (lines, jobs) = (counted(self.lines, &unit), counted(self.jobs, "job"));
        write!(
            f,
            "{}{}: {lines}, {jobs} kept; {dropped} dropped; {passed} that are not jobs; \
             {malformed} malformed",
            self.files.first().map_or("", String::as_str),
            match self.files.len() {
                0 | 1 => String::new(),
                files => format!(" and {} more", grouped(files as u64 - 1)),
            },
        )?;
        let malformed = self
            .malformed
            .iter()
            .map(|(why, count)| (Class::Malformed, why.to_string(), why.advice(), *count));
        let counts = self.counts.iter().map(|((class, what), count)| {
            (*class, (*what).to_string(), entry::advice(what), *count)
        });
        for (class, what, advice, Count { count, first, file }) in counts.chain(malformed) {
            write!(f, "\n  {class:<9} {what}: {}, first in {} {first}", grouped(count), self.unit)?;
            if let (Some(name), true) = (self.files.get(file), self.files.len() > 1) {
                write!(f, " of {name}")?;
            }
            if !advice.is_empty() {
                write!(f, "\n{HINT}{advice}")?;
            }
        }
        Ok(())
    }
}
