use std::fmt;
use std::str::FromStr;

use crate::sanitize::excerpt;

/// Maximum length in bytes of a name with its parameters. Parameters may contain a path or a long
/// list.
pub const LONGEST_NAME: usize = 8192;

/// Maximum length in bytes of a name in an error. Longer names are truncated.
const MAX_QUOTED: usize = 256;

/// The name and parameters of a strategy as written: `name` or `name[key=value,...]`.
///
/// A value may contain commas (`mc1x1[tie=2,13,20,6,order=scan]`): a part without `=` continues the
/// previous value. A value may also be a name with parameters (`stream[sides=uniform[high=8]]`).
/// Names and keys are in lower case; `_` is read as `-`.
///
/// ```
/// use replay_workload::naming::StrategyName;
/// let name: StrategyName = "mc1x1[tie=2,13,20,6,order=scan]".parse()?;
/// assert_eq!(name.get("tie"), Some("2,13,20,6"));
/// assert_eq!(name.to_string(), "mc1x1[tie=2,13,20,6,order=scan]");
/// # Ok::<(), replay_workload::naming::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StrategyName {
    /// The part before the bracket.
    pub name: String,
    /// Keys and values in written order. No key occurs twice.
    pub parameters: Vec<(String, String)>,
}

/// Error of a strategy name: the text cannot be parsed, the name or a parameter is unknown, or a
/// value is not valid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind} \"{text}\": {problem}")]
pub struct NameError {
    /// Kind of the strategy, such as "allocator" or "scheduler"; the text is "strategy" as long as
    /// the kind is unknown.
    pub kind: &'static str,
    /// The rejected text, truncated if it is very long.
    pub text: String,
    /// Description of the problem, with a suggestion if possible.
    pub problem: String,
}

impl NameError {
    /// Creates the error for a rejected text.
    pub fn new(kind: &'static str, text: &str, problem: impl Into<String>) -> Self {
        let text = if text.len() > MAX_QUOTED { excerpt(text) } else { text.to_string() };
        Self { kind, text, problem: problem.into() }
    }
}

impl StrategyName {
    /// Parses a name; an error contains `kind`.
    ///
    /// # Errors
    /// [`NameError`] with this kind if the text is not a name.
    pub fn read(kind: &'static str, text: &str) -> Result<Self, NameError> {
        text.parse().map_err(|error| NameError { kind, ..error })
    }

    /// Creates a name without parameters.
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_string(), parameters: Vec::new() }
    }

    /// Returns the value of a parameter; `None` if the name does not contain the parameter.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Sets a parameter. If the name already contains the parameter, the value of the parameter is
    /// replaced; otherwise, the parameter is appended.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        match self.parameters.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value.into(),
            None => self.parameters.push((key.to_string(), value.into())),
        }
    }

    /// Creates an error about this name.
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
            return Err(error("the name is empty (stray comma?)"));
        }
        let name = word(name.trim())
            .ok_or_else(|| error("a name consists of letters, digits and \"-\""))?;
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
                        return Err(error(&format!("parameter \"{key}\" has no valid value")));
                    }
                    strategy.parameters.push((key, value.to_string()));
                }
                (None, Some((key, value))) => {
                    let more = part.trim();
                    if !is_value(more) {
                        return Err(error(&format!("parameter \"{key}\" has no valid value")));
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

/// Returns whether a text can be a value or a part of a value. The text must not be empty, its
/// brackets must match, and `=` must occur only inside brackets.
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

/// Splits a list at commas outside brackets.
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
