//! How strategies are written: `name` or `name[key=value,...]`.
//!
//! A value may itself hold commas (`mc1x1[tie=2,13,20,6,order=scan]`): a part without
//! `=` continues the value before it. It may also be a name with parameters of its own
//! (`stream[sides=uniform[high=8]]`). Names and keys are lower case; `_` reads as `-`.
//!
//! ```
//! use replay::naming::StrategyName;
//! let name: StrategyName = "mc1x1[tie=2,13,20,6,order=scan]".parse()?;
//! assert_eq!(name.get("tie"), Some("2,13,20,6"));
//! assert_eq!(name.to_string(), "mc1x1[tie=2,13,20,6,order=scan]");
//! # Ok::<(), replay::naming::NameError>(())
//! ```

use std::fmt;
use std::str::FromStr;

/// A strategy's name and parameters as written.
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
    /// What was written.
    pub text: String,
    /// What is wrong with it, with a suggestion where there is one.
    pub problem: String,
}

impl StrategyName {
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
        NameError { kind, text: self.to_string(), problem: problem.into() }
    }

    /// Refuses parameters other than `known`, with the nearest known one as advice.
    ///
    /// # Errors
    /// [`NameError`] naming the first unknown parameter.
    pub fn expect_keys(&self, kind: &'static str, known: &[&str]) -> Result<(), NameError> {
        for (key, _) in &self.parameters {
            if !known.contains(&key.as_str()) {
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None if known.is_empty() => "it has none".to_string(),
                    None => format!("it has {}", known.join(", ")),
                };
                return Err(self.error(kind, format!("unknown parameter \"{key}\"; {hint}")));
            }
        }
        Ok(())
    }

    /// Parses a parameter, or takes the default if it was not written.
    ///
    /// # Errors
    /// [`NameError`] with the parser's own complaint.
    pub fn value<T>(&self, kind: &'static str, key: &str, default: T) -> Result<T, NameError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|e| self.error(kind, format!("{key}=\"{text}\": {e}")))
            }
        }
    }

    /// One of a set of named choices, or the default if the parameter was not written.
    ///
    /// # Errors
    /// [`NameError`] listing the choices.
    pub fn choice<T: Copy>(
        &self,
        kind: &'static str,
        key: &str,
        default: T,
        choices: &[(&'static str, T)],
    ) -> Result<T, NameError> {
        let Some(text) = self.get(key) else { return Ok(default) };
        choices.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            self.error(kind, format!("{key}=\"{text}\" is none of {}", names.join(", ")))
        })
    }
}

impl FromStr for StrategyName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let error = |problem: &str| NameError {
            kind: "strategy",
            text: text.to_string(),
            problem: problem.to_string(),
        };
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

/// The candidate most like `word`, if one is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(word, candidates, 1).first().copied()
}

/// Up to `count` candidates like `word`, the most alike first: at most a third of the
/// letters differ (one in a short word, two in a longer one), or one contains the other. Case does not matter; equally near
/// candidates keep their order.
pub fn nearest_few<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let word = word.to_lowercase();
    // In a short word two other letters are another word.
    let letters = word.chars().count();
    let reach = if letters <= 4 { 1 } else { (letters / 3).max(2) };
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let contained = word.len() >= 3 && (lower.contains(&word) || word.contains(&lower));
        let distance = strsim::osa_distance(&word, &lower);
        if distance <= reach || contained {
            near.push((distance.min(reach), candidate));
        }
    }
    near.sort_by_key(|&(distance, _)| distance);
    near.dedup_by_key(|&mut (_, candidate)| candidate);
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// A parameter of a strategy, for listings and help.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Parameter {
    /// The key as typed.
    pub key: &'static str,
    /// Legal values.
    pub values: String,
    /// The value if it is not written.
    pub default: &'static str,
    /// What it does, with its unit.
    pub about: &'static str,
}

/// What a listing says of a strategy.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Description {
    /// The name as typed.
    pub name: String,
    /// Other names that are understood.
    pub aliases: Vec<&'static str>,
    /// What it does.
    pub about: String,
    /// Where it was defined.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn malformed_names_are_refused() {
        for bad in [
            "",
            "[a=b]",
            "a[",
            "a[b]",
            "a[b=]",
            "a[=c]",
            "a[b=c,b=d]",
            "a[b=c]]",
            "a b",
            "a[b=[c]]",
        ] {
            assert!(bad.parse::<StrategyName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_value_may_be_a_name_with_parameters() {
        let name: StrategyName =
            "stream[sides=uniform[low=1,high=8],load=2]".parse().expect("legal");
        assert_eq!(name.get("sides"), Some("uniform[low=1,high=8]"));
        assert_eq!(name.get("load"), Some("2"));
        assert_eq!(name.to_string(), "stream[sides=uniform[low=1,high=8],load=2]");
    }

    #[test]
    fn lists_split_outside_brackets() {
        assert_eq!(split_list("mm,mc1x1[tie=1,2,3,4],mc"), ["mm", "mc1x1[tie=1,2,3,4]", "mc"]);
    }

    #[test]
    fn a_typing_error_finds_its_word() {
        let known = ["mc1x1", "gen-alg", "hilbert-best-fit"];
        assert_eq!(nearest("mc1x", known.into_iter()), Some("mc1x1"));
        assert_eq!(nearest("genalg", known.into_iter()), Some("gen-alg"));
        assert_eq!(nearest("zzz", known.into_iter()), None);
    }

    proptest! {
        #[test]
        fn print_and_parse_are_inverse(
            name in "[a-z][a-z0-9-]{0,10}",
            parameters in proptest::collection::btree_map("[a-z]{1,6}", "[a-z0-9.]{1,4}(,[0-9]{1,3}){0,3}", 0..4),
        ) {
            let strategy = StrategyName { name, parameters: parameters.into_iter().collect() };
            prop_assert_eq!(strategy.to_string().parse::<StrategyName>(), Ok(strategy));
        }

        #[test]
        fn no_text_breaks_the_parser(text in "\\PC{0,30}") {
            if let Ok(name) = text.parse::<StrategyName>() {
                prop_assert_eq!(name.to_string().parse::<StrategyName>(), Ok(name));
            }
        }
    }
}
