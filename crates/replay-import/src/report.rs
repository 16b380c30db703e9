//! What became of the lines of a log.

use std::collections::BTreeMap;
use std::fmt;

use super::Reason;
use replay_core::number::{counted, grouped};

/// What a count is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Something odd in a line that is counted elsewhere, mostly of a job kept. Every line is in exactly one
    /// count of the other classes, or is a job.
    Noted,
    /// A job that cannot be replayed.
    Dropped,
    /// No job: headers, blank lines, steps, events, rows joined with an earlier one.
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
    /// The file that it is in, among [`Report::files`].
    pub file: usize,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The files of the log as the user named them.
    pub files: Vec<String>,
    /// Whether it has lines or rows.
    pub unit: Place,
    /// Lines read, blank ones and the header among them; or rows.
    pub lines: u64,
    /// Jobs written.
    pub jobs: u64,
    /// Jobs with nodes, for the side file.
    pub nodes: u64,
    /// Jobs with a shape in the side file.
    pub shapes: u64,
    /// Jobs that their log calls otherwise than the trace does, for the side file.
    pub renamed: u64,
    /// Counts by class and reason.
    pub counts: BTreeMap<(Class, &'static str), Count>,
    /// Malformed lines by reason.
    pub malformed: BTreeMap<Reason, Count>,
}

impl Report {
    /// Counts `count` more, which stand in line `line` of file `file`.
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
        // What a line was may turn out only later.
        (own.file, own.first) = (own.file, own.first).min((file, line));
    }

    /// Lines that are counted: all that were read, each once.
    pub fn accounted(&self) -> u64 {
        [Class::Dropped, Class::Passed, Class::Malformed]
            .iter()
            .fold(self.jobs, |sum, &class| sum + self.of(class))
    }

    /// Place of the file that is read.
    pub(super) fn file(&self) -> usize {
        self.files.len().saturating_sub(1)
    }

    /// Counts a malformed line.
    pub(super) fn add_malformed(&mut self, reason: Reason, line: u64) {
        let none = Count { count: 0, first: line, file: self.file() };
        self.malformed.entry(reason).or_insert(none).count += 1;
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
        let unit = self.unit.to_string();
        let (lines, jobs) = (counted(self.lines, &unit), counted(self.jobs, "job"));
        write!(
            f,
            "{}{}: {lines}, {jobs} kept; {dropped} dropped; {passed} that are no job; \
             {malformed} malformed",
            self.files.first().map_or("", String::as_str),
            match self.files.len() {
                0 | 1 => String::new(),
                files => format!(" and {} more", grouped(files as u64 - 1)),
            },
        )?;
        let malformed =
            self.malformed.iter().map(|(why, count)| (Class::Malformed, why.to_string(), *count));
        let counts =
            self.counts.iter().map(|((class, what), count)| (*class, (*what).to_string(), *count));
        for (class, what, Count { count, first, file }) in counts.chain(malformed) {
            write!(f, "\n  {class:<9} {what}: {}, first in {} {first}", grouped(count), self.unit)?;
            if let (Some(name), true) = (self.files.get(file), self.files.len() > 1) {
                write!(f, " of {name}")?;
            }
        }
        Ok(())
    }
}
