//! Values of a YAML file. Each value has its line and its path of keys, for error messages.

use crate::placement::config::ConfigError;
use crate::placement::config::yaml::{Kind, Value};
use replay_engine::naming::advice;
use replay_engine::sanitize::excerpt;

/// A value with its position in the file.
#[derive(Clone)]
pub struct Field<'a> {
    file: &'a str,
    torus: String,
    path: String,
    line: usize,
    value: &'a Value,
}

impl<'a> Field<'a> {
    /// Creates the root value of a file.
    pub fn root(file: &'a str, value: &'a Value) -> Self {
        Self { file, torus: String::new(), path: String::new(), line: value.line, value }
    }

    /// Creates an error about this value.
    pub fn error(&self, problem: String) -> ConfigError {
        let (file, torus, path) = (self.file.to_string(), self.torus.clone(), self.path.clone());
        ConfigError { file, line: self.line, torus, path, problem }
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the value with its torus set to `name`. Errors about the value contain the name of
    /// the torus.
    pub fn of_torus(&self, name: &str) -> Self {
        Self { torus: name.to_string(), ..self.clone() }
    }

    fn child(&self, key: &str, line: usize, value: &'a Value) -> Self {
        let path = if self.path.is_empty() { key.into() } else { format!("{}/{key}", self.path) };
        Self { path, line, value, ..self.clone() }
    }

    /// Returns the value of a key of a map; `None` if the key is missing.
    pub fn get(&self, key: &str) -> Option<Self> {
        let Kind::Map(pairs) = &self.value.kind else { return None };
        let (_, line, value) = pairs.iter().find(|pair| pair.0 == key)?;
        Some(self.child(key, *line, value))
    }

    /// Returns the value of a required key.
    pub fn required(&self, key: &str) -> Result<Self, ConfigError> {
        self.get(key).ok_or_else(|| self.error(format!("the key {key} is missing")))
    }

    /// Fails if the map contains a key that is not in `keys`.
    pub fn reject_unknown_keys(&self, keys: &[&str]) -> Result<(), ConfigError> {
        let Kind::Map(pairs) = &self.value.kind else { return Ok(()) };
        let Some((key, line, value)) = pairs.iter().find(|pair| !keys.contains(&&pair.0[..]))
        else {
            return Ok(());
        };
        let advice =
            advice(key, keys.iter().copied(), || format!("expected one of {}", keys.join(", ")));
        Err(self.child(&excerpt(key), *line, value).error(format!("unknown key; {advice}")))
    }

    /// Fails if the value is not a map.
    pub fn expect_map(&self, expected: &str) -> Result<(), ConfigError> {
        match &self.value.kind {
            Kind::Map(_) => Ok(()),
            _ => Err(self.error(format!("expected {expected}, found {}", self.describe()))),
        }
    }

    /// Returns the items of a list.
    pub fn list(&self, expected: &str) -> Result<Vec<Self>, ConfigError> {
        match &self.value.kind {
            Kind::List(items) => Ok(items.iter().map(|item| self.item(item)).collect()),
            _ => Err(self.error(format!("expected {expected}, found {}", self.describe()))),
        }
    }

    fn item(&self, value: &'a Value) -> Self {
        Self { line: value.line, value, ..self.clone() }
    }

    /// Returns the items of a list; a single map is returned as a list with one item.
    pub fn list_or_one(&self) -> Result<Vec<Self>, ConfigError> {
        match &self.value.kind {
            Kind::Map(_) => Ok(vec![self.clone()]),
            Kind::List(_) => self.list(""),
            _ => Err(self.error(format!("expected a list, found {}", self.describe()))),
        }
    }

    /// Returns whether the value is empty or null.
    pub fn is_empty(&self) -> bool {
        match &self.value.kind {
            Kind::Map(pairs) => pairs.is_empty(),
            Kind::List(items) => items.is_empty(),
            Kind::Scalar(text, plain) => *plain && ["", "~", "null"].contains(&&text[..]),
        }
    }

    /// Returns a scalar exactly as it appears in the file: the host name 007 must not become the
    /// number 7.
    pub fn text(&self) -> Result<String, ConfigError> {
        match &self.value.kind {
            Kind::Scalar(text, _) if !self.is_empty() => Ok(text.clone()),
            _ => Err(self.error(format!("expected a text, found {}", self.describe()))),
        }
    }

    /// Returns the value of a field that must be `true` or `false`.
    pub fn boolean(&self) -> Result<bool, ConfigError> {
        let text = self.text()?;
        let error = || self.error(format!("{} is neither true nor false", self.describe()));
        text.to_lowercase().parse().map_err(|_| error())
    }

    /// Returns the numbers of a map with the keys x, y and z; the number of a missing key is 0.
    pub fn triple(&self) -> Result<[u16; 3], ConfigError> {
        self.expect_map("a map with the keys x, y, z")?;
        self.reject_unknown_keys(&super::AXES)?;
        let mut all = [0; 3];
        for (number, key) in all.iter_mut().zip(super::AXES) {
            if let Some(field) = self.get(key) {
                let error = || {
                    field.error(format!("{} is not an integer from 0 to 65535", field.describe()))
                };
                *number = field.text()?.parse().map_err(|_| error())?;
            }
        }
        Ok(all)
    }

    /// Describes the value for error messages.
    fn describe(&self) -> String {
        match &self.value.kind {
            Kind::Map(_) => "a map".to_string(),
            Kind::List(_) => "a list".to_string(),
            Kind::Scalar(..) if self.is_empty() => "nothing".to_string(),
            Kind::Scalar(text, _) => format!("\"{}\"", excerpt(text)),
        }
    }
}
