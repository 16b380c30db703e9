//! YAML as a tree that knows its lines.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

/// How deep lists and maps may lie in one another: no file of ours needs more than ten.
const DEEPEST: usize = 64;

/// A value and the line on which it begins, from 1.
#[derive(Clone, Debug)]
pub struct Value {
    /// From 1.
    pub line: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A text as it was written, and whether without quotes.
    Scalar(String, bool),
    /// A list.
    List(Vec<Value>),
    /// Keys, each once, with the lines on which they stand, and their values.
    Map(Vec<(String, usize, Value)>),
}

/// The first document of a text; `None` if there is none.
///
/// # Errors
/// Line and problem.
pub fn read(text: &str) -> Result<Option<Value>, (usize, String)> {
    let mut tree = Tree { open: Vec::new(), done: None };
    let told = |error: ScanError| (error.marker().line(), error.info().to_string());
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(told)?;
        let line = span.start.line();
        // What follows the first document is not looked at.
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        tree.take(event, line).map_err(|problem| (line, problem))?;
    }
    Ok(tree.done)
}

/// The values that are not complete.
struct Tree {
    open: Vec<Open>,
    done: Option<Value>,
}

struct Open {
    value: Value,
    /// In a map, the key whose value comes next.
    key: Option<(String, usize)>,
}

impl Tree {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, ..) => {
                let kind = Kind::Scalar(text.into_owned(), style == ScalarStyle::Plain);
                self.add(Value { line, kind })
            }
            Event::SequenceStart(..) => self.begin(line, Kind::List(Vec::new())),
            Event::MappingStart(..) => self.begin(line, Kind::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop().map_or(Ok(()), |open| self.add(open.value))
            }
            Event::Alias(_) => Err("aliases (*name) are not read".to_string()),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, line: usize, kind: Kind) -> Result<(), String> {
        if self.open.len() == DEEPEST {
            return Err(format!("more than {DEEPEST} lists and maps in one another"));
        }
        self.open.push(Open { value: Value { line, kind }, key: None });
        Ok(())
    }

    fn add(&mut self, value: Value) -> Result<(), String> {
        let Some(open) = self.open.last_mut() else {
            self.done = Some(value);
            return Ok(());
        };
        match (&mut open.value.kind, open.key.take()) {
            (Kind::List(items), _) => items.push(value),
            (Kind::Map(pairs), Some((key, line))) => pairs.push((key, line, value)),
            (Kind::Map(pairs), None) => {
                let Kind::Scalar(key, _) = value.kind else {
                    return Err("a key is no plain text".to_string());
                };
                if let Some((_, first, _)) = pairs.iter().find(|pair| pair.0 == key) {
                    return Err(format!("the key {key} stands on line {first} too"));
                }
                open.key = Some((key, value.line));
            }
            (Kind::Scalar(..), _) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, String) {
        read(text).expect_err(text)
    }

    #[test]
    fn what_no_file_of_ours_needs_is_refused_with_its_line() {
        assert!(read("").expect("nothing").is_none());
        assert_eq!(problem("a: 1\nb: 2\na: 3"), (3, "the key a stands on line 1 too".into()));
        assert_eq!(problem("a: &x 1\nb: *x").0, 2);
        assert_eq!(problem("? [a]\n: 1"), (1, "a key is no plain text".into()));
        // The scanner may be the first to complain.
        assert_eq!(problem(&"[".repeat(100_000)).0, 1);
        assert_eq!(problem(&"- ".repeat(100_000)).0, 1);
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert_eq!(problem(&deep), (1, "more than 64 lists and maps in one another".into()));
        assert_eq!(problem("a: b\n c: [").0, 2);
    }
}
