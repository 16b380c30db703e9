//! YAML as a tree of values with line numbers.

use std::collections::HashMap;

use replay_engine::sanitize::BYTE_ORDER_MARK;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

/// Maximum nesting depth of lists and maps; valid files need at most ten.
const MAX_DEPTH: usize = 64;

/// A value and the line on which it begins.
#[derive(Clone, Debug)]
pub struct Value {
    /// The line, from 1.
    pub line: usize,
    /// The content.
    pub kind: Kind,
}

/// The content of a value.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A text exactly as it appears in the file, and whether it is unquoted.
    Scalar(String, bool),
    /// A list.
    List(Vec<Value>),
    /// Unique keys with their lines and values.
    Map(Vec<(String, usize, Value)>),
}

/// Parses the first document of a text. Returns `None` if the text contains no document.
///
/// # Errors
/// The line and a description of the first problem.
pub fn read(text: &str) -> Result<Option<Value>, (usize, String)> {
    let mut tree = Tree { open: Vec::new(), done: None };
    let describe = |error: ScanError| (error.marker().line(), error.info().to_string());
    for event in Parser::new_from_str(text.trim_start_matches(BYTE_ORDER_MARK)) {
        let (event, span) = event.map_err(describe)?;
        let line = span.start.line();
        // Later documents are ignored.
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        tree.take(event, line).map_err(|problem| (line, problem))?;
    }
    Ok(tree.done)
}

/// The tree during parsing: the incomplete values, and the complete value.
struct Tree {
    open: Vec<Open>,
    done: Option<Value>,
}

struct Open {
    value: Value,
    /// The key whose value comes next in the file, with the line of this key.
    key: Option<(String, usize)>,
    /// Line of each key of a map.
    lines: HashMap<String, usize>,
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
            Event::Alias(_) => Err("aliases (*name) are not supported".to_string()),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, line: usize, kind: Kind) -> Result<(), String> {
        if self.open.len() == MAX_DEPTH {
            return Err(format!("lists and maps are nested more than {MAX_DEPTH} deep"));
        }
        let (value, lines) = (Value { line, kind }, HashMap::new());
        self.open.push(Open { value, key: None, lines });
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
            (Kind::Map(_), None) => {
                let Kind::Scalar(key, _) = value.kind else {
                    return Err("a key is not plain text".to_string());
                };
                if let Some(first) = open.lines.insert(key.clone(), value.line) {
                    return Err(format!("the key {key} is also on line {first}"));
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
    fn rejects_unsupported_yaml_with_its_line() {
        assert!(read("").expect("nothing").is_none());
        assert_eq!(problem("a: 1\nb: 2\na: 3"), (3, "the key a is also on line 1".into()));
        assert_eq!(problem("a: &x 1\nb: *x").0, 2);
        assert_eq!(problem("? [a]\n: 1"), (1, "a key is not plain text".into()));
        // The scanner may fail before the nesting depth is checked.
        assert_eq!(problem(&"[".repeat(100_000)).0, 1);
        assert_eq!(problem(&"- ".repeat(100_000)).0, 1);
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert_eq!(problem(&deep), (1, "lists and maps are nested more than 64 deep".into()));
        assert_eq!(problem("a: b\n c: [").0, 2);
    }
}
