use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use replay_engine::naming::nearest;
use replay_engine::swf::snippet;

/// An invalid grid: the description of the error, the key, and the position if the grid was read from a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GridError {
    /// Key, such as `schedulers` or `allocator.tie`; empty if the file is not valid TOML.
    pub key: String,
    /// Description of the error, with advice if possible.
    pub problem: String,
    /// Position in the file; `None` if the grid was not read from a file.
    pub place: Option<Place>,
}

/// A position in a grid file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Path of the file as given by the user.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// The line of the file, and below it a line with carets under the erroneous part.
    excerpt: String,
}

/// A step on the path to a value in a grid file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

impl std::error::Error for GridError {}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.problem)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, "\n{}", place.excerpt))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl GridError {
    /// Creates an error about the value at `path`.
    pub(super) fn at(path: &[Step<'_>], problem: impl fmt::Display) -> PathError {
        let keys = path.iter().filter_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Item(_) => None,
        });
        let key = keys.collect::<Vec<_>>().join(".");
        let path = path.iter().map(|step| match *step {
            Step::Key(key) => (key.to_string(), 0),
            Step::Item(place) => (String::new(), place),
        });
        PathError { path: path.collect(), key, problem: problem.to_string() }
    }
}

/// An error with the path to the erroneous value, but without the file.
#[derive(Debug)]
pub(super) struct PathError {
    /// The steps of the path: keys, and positions in arrays. A position in an array has an empty key.
    path: Vec<(String, usize)>,
    key: String,
    problem: String,
}

impl PathError {
    /// Adds the position to the error. `source` is the text and the name of the file, if the grid was read from a file.
    pub fn placed(self, source: Option<(&str, &str)>) -> GridError {
        let place = source.and_then(|(text, file)| {
            let span = self.span(text)?;
            Some(place(text, file, span))
        });
        GridError { key: self.key, problem: self.problem, place }
    }

    /// Returns the span of the value in the text. If the path does not exist, returns the span of the last value that
    /// exists along the path.
    fn span(&self, text: &str) -> Option<Range<usize>> {
        let document = DeTable::parse(text).ok()?;
        let mut span = None;
        let mut table = Some(document.get_ref());
        let mut array = None;
        for (key, item) in &self.path {
            let value = match (table, array) {
                (Some(table), _) => {
                    table.iter().find(|(k, _)| k.get_ref().as_ref() == key).map(|(_, v)| v)
                }
                (None, Some(items)) => {
                    let items: &toml::de::DeArray<'_> = items;
                    items.get(*item)
                }
                (None, None) => None,
            };
            let Some(value) = value else { break };
            span = Some(value.span());
            (table, array) = match value.get_ref() {
                DeValue::Table(table) => (Some(table), None),
                DeValue::Array(items) => (None, Some(items)),
                _ => (None, None),
            };
        }
        span
    }
}

/// Former keys, and names of options that are not keys, each with the current key.
const RENAMED: [(&str, &str); 5] = [
    ("machine", "machines"),
    ("mesh", "machines"),
    ("meshes", "machines"),
    ("system", "machines"),
    ("systems", "machines"),
];

/// Converts an error of the TOML parser. For an unknown key, the message suggests the most similar known key.
pub(super) fn of_toml(cause: &toml::de::Error, text: &str, file: &str) -> GridError {
    let span = cause.span().unwrap_or(0..0);
    let message = cause.message().trim().replace('\n', " ");
    let problem = match message.strip_prefix("unknown field `") {
        None => message,
        // The parser lists the known keys between backquotes after the unknown key.
        Some(rest) => {
            let mut quoted = rest.split('`').step_by(2);
            let key = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            let renamed = RENAMED.iter().find(|(old, new)| *old == key && known.contains(new));
            match (renamed, nearest(key, known.iter().copied())) {
                (Some((_, new)), _) => format!("unknown key \"{key}\": it is now \"{new}\""),
                (None, Some(near)) => format!("unknown key \"{key}\"; did you mean \"{near}\"?"),
                (None, None) => {
                    format!("unknown key \"{key}\"; known keys are {}", known.join(", "))
                }
            }
        }
    };
    GridError { key: String::new(), problem, place: Some(place(text, file, span)) }
}

fn place(text: &str, file: &str, span: Range<usize>) -> Place {
    let start = span.start.min(text.len());
    let before = &text.as_bytes()[..start];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let begin = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let rest = &text.as_bytes()[begin..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let column = start - begin;
    let length = span.len().min(end.saturating_sub(column));
    let excerpt = snippet::snippet(line as u64, &rest[..end], column, length);
    Place { file: file.to_string(), line, column: column + 1, excerpt }
}
