use std::fmt;
use std::str::FromStr;

use crate::sanitize::excerpt;

/// Bytes of the longest name with its parameters: room for a path, or a long list.
pub const LONGEST_NAME: usize = 8192;

/// Bytes of a name that an error shows whole.
const SHOWN_WHOLE: usize = 256;

/// A strategy's name and parameters as written: `name` or `name[key=value,...]`.
///
/// A value may itself hold commas (`mc1x1[tie=2,13,20,6,order=scan]`): a part without
/// `=` continues the value before it. It may also be a name with parameters of its own
/// (`stream[sides=uniform[high=8]]`). Names and keys are lower case; `_` reads as `-`.
///
/// ```
/// use replay_core::naming::StrategyName;
/// let name: StrategyName = "mc1x1[tie=2,13,20,6,order=scan]".parse()?;
/// assert_eq!(name.get("tie"), Some("2,13,20,6"));
/// assert_eq!(name.to_string(), "mc1x1[tie=2,13,20,6,order=scan]");
/// # Ok::<(), replay_core::naming::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StrategyName {
    /// The part before the bracket.
    pub name: String,
    /// Keys and values in the order written; no key twice.
    pub parameters: Vec<(String, String)>,
}

/// A strategy that cannot be read, is not known, or has a parameter that it has not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind} \"{text}\": {problem}")]
pub struct NameError {
    /// "allocator", "scheduler", ... or "strategy" before that is known.
    pub kind: &'static str,
    /// What was written; of a very long text its beginning.
    pub text: String,
    /// What is wrong with it, with a suggestion where there is one.
    pub problem: String,
}

impl NameError {
    /// An error about a text.
    pub fn new(kind: &'static str, text: &str, problem: impl Into<String>) -> Self {
        let text = if text.len() > SHOWN_WHOLE { excerpt(text) } else { text.to_string() };
        Self { kind, text, problem: problem.into() }
    }
}

impl StrategyName {
    /// Reads a name of a known kind, for the error.
    ///
    /// # Errors
    /// [`NameError`] of that kind if the text is no name.
    pub fn read(kind: &'static str, text: &str) -> Result<Self, NameError> {
        text.parse().map_err(|error| NameError { kind, ..error })
    }

    /// A name without parameters.
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_string(), parameters: Vec::new() }
    }

    /// The value of a parameter, if it was written.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Sets a parameter, in place if it is there already.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        match self.parameters.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value.into(),
            None => self.parameters.push((key.to_string(), value.into())),
        }
    }

    /// An error about this name.
    pub fn error(&self, kind: &'static str, problem: impl Into<String>) -> NameError {
        NameError::new(kind, &self.to_string(), problem)
    }
}

impl FromStr for StrategyName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let error = |problem: &str| NameError::new("strategy", text, problem);
        if text.len() > LONGEST_NAME {
            return Err(error(&format!("a name has at most {LONGEST_NAME} bytes")));
        }
        let trimmed = text.trim();
        let (name, inside) = match trimmed.split_once('[') {
            None => (trimmed, ""),
            Some((name, rest)) => {
                (name, rest.strip_suffix(']').ok_or_else(|| error("the bracket is not closed"))?)
            }
        };
        let word = |s: &str| {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            (!s.is_empty() && s.chars().all(legal))
                .then(|| s.to_ascii_lowercase().replace('_', "-"))
        };
        if trimmed.is_empty() {
            return Err(error("it is empty (a stray comma?)"));
        }
        let name = word(name.trim()).ok_or_else(|| error("a name is letters, digits and \"-\""))?;
        let mut strategy = Self { name, parameters: Vec::new() };
        if inside.trim().is_empty() {
            return Ok(strategy);
        }
        for part in split_list(inside) {
            match (part.split_once('='), strategy.parameters.last_mut()) {
                (Some((key, value)), _) => {
                    let key = word(key.trim()).ok_or_else(|| error("a parameter has no name"))?;
                    if strategy.get(&key).is_some() {
                        return Err(error(&format!("parameter \"{key}\" is given twice")));
                    }
                    let value = value.trim();
                    if !is_value(value) {
                        return Err(error(&format!("parameter \"{key}\" has no legal value")));
                    }
                    strategy.parameters.push((key, value.to_string()));
                }
                (None, Some((key, value))) => {
                    let more = part.trim();
                    if !is_value(more) {
                        return Err(error(&format!("parameter \"{key}\" has no legal value")));
                    }
                    value.push(',');
                    value.push_str(more);
                }
                (None, None) => return Err(error("a parameter is written key=value")),
            }
        }
        Ok(strategy)
    }
}

impl fmt::Display for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { "[" } else { "," })?;
        }
        f.write_str(if self.parameters.is_empty() { "" } else { "]" })
    }
}

/// Whether this can be (part of) a value: something, brackets in pairs, `=` only inside.
fn is_value(text: &str) -> bool {
    let mut depth = 0i32;
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '=' if depth == 0 => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    !text.is_empty() && !text.starts_with('[') && depth == 0
}

/// Splits a list at the commas outside brackets.
pub fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
