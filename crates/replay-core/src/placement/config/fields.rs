//! A value of a YAML file with its line and the keys that lead to it.

use super::ConfigError;
use super::yaml::{Kind, Value};
use crate::naming::advice;
use crate::sanitize::excerpt;

/// A value and where it stands.
#[derive(Clone)]
pub struct Field<'a> {
    file: &'a str,
    torus: String,
    path: String,
    line: usize,
    value: &'a Value,
}

impl<'a> Field<'a> {
    /// The whole of a file.
    pub fn root(file: &'a str, value: &'a Value) -> Self {
        Self { file, torus: String::new(), path: String::new(), line: value.line, value }
    }

    /// An error about this value.
    pub fn error(&self, problem: String) -> ConfigError {
        let (file, torus, path) = (self.file.to_string(), self.torus.clone(), self.path.clone());
        ConfigError { file, line: self.line, torus, path, problem }
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The same of a torus with a name, which errors say.
    pub fn of_torus(&self, name: &str) -> Self {
        Self { torus: name.to_string(), ..self.clone() }
    }

    fn child(&self, key: &str, line: usize, value: &'a Value) -> Self {
        let path = if self.path.is_empty() { key.into() } else { format!("{}/{key}", self.path) };
        Self { path, line, value, ..self.clone() }
    }

    /// The value of a key of a map; `None` if it is not there.
    pub fn get(&self, key: &str) -> Option<Self> {
        let Kind::Map(pairs) = &self.value.kind else { return None };
        let (_, line, value) = pairs.iter().find(|pair| pair.0 == key)?;
        Some(self.child(key, *line, value))
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str) -> Result<Self, ConfigError> {
        self.get(key).ok_or_else(|| self.error(format!("the key {key} is missing")))
    }

    /// Refuses other keys than these.
    pub fn knows(&self, keys: &[&str]) -> Result<(), ConfigError> {
        let Kind::Map(pairs) = &self.value.kind else { return Ok(()) };
        let Some((key, line, value)) = pairs.iter().find(|pair| !keys.contains(&&pair.0[..]))
        else {
            return Ok(());
        };
        let advice = advice(key, keys.iter().copied(), || format!("there are {}", keys.join(", ")));
        Err(self.child(&excerpt(key), *line, value).error(format!("unknown key; {advice}")))
    }

    /// Refuses what is not a map.
    pub fn map(&self, expected: &str) -> Result<(), ConfigError> {
        match &self.value.kind {
            Kind::Map(_) => Ok(()),
            _ => Err(self.error(format!("{} was found; {expected} was expected", self.what()))),
        }
    }

    /// The items of a list.
    pub fn list(&self, expected: &str) -> Result<Vec<Self>, ConfigError> {
        match &self.value.kind {
            Kind::List(items) => Ok(items.iter().map(|item| self.item(item)).collect()),
            _ => Err(self.error(format!("{} was found; {expected} was expected", self.what()))),
        }
    }

    fn item(&self, value: &'a Value) -> Self {
        Self { line: value.line, value, ..self.clone() }
    }

    /// The items of a list, or the one map that stands for a list of one.
    pub fn list_or_one(&self) -> Result<Vec<Self>, ConfigError> {
        match &self.value.kind {
            Kind::Map(_) => Ok(vec![self.clone()]),
            Kind::List(_) => self.list(""),
            _ => Err(self.error(format!("{} was found; a list was expected", self.what()))),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match &self.value.kind {
            Kind::Map(pairs) => pairs.is_empty(),
            Kind::List(items) => items.is_empty(),
            Kind::Scalar(text, plain) => *plain && ["", "~", "null"].contains(&&text[..]),
        }
    }

    /// A text as it was written: hosts may be called 007.
    pub fn text(&self) -> Result<String, ConfigError> {
        match &self.value.kind {
            Kind::Scalar(text, _) if !self.is_empty() => Ok(text.clone()),
            _ => Err(self.error(format!("{} was found; a text was expected", self.what()))),
        }
    }

    /// `true` or `false`.
    pub fn yes_no(&self) -> Result<bool, ConfigError> {
        let text = self.text()?;
        let error = || self.error(format!("{} is neither true nor false", self.what()));
        text.to_lowercase().parse().map_err(|_| error())
    }

    /// The numbers of a map with the keys x, y and z; those that are missing are 0.
    pub fn triple(&self) -> Result<[u16; 3], ConfigError> {
        self.map("a map with the keys x, y, z")?;
        self.knows(&super::AXES)?;
        let mut all = [0; 3];
        for (number, key) in all.iter_mut().zip(super::AXES) {
            if let Some(field) = self.get(key) {
                let error =
                    || field.error(format!("{} is not an integer from 0 to 65535", field.what()));
                *number = field.text()?.parse().map_err(|_| error())?;
            }
        }
        Ok(all)
    }

    /// What stands there, for people.
    fn what(&self) -> String {
        match &self.value.kind {
            Kind::Map(_) => "a map".to_string(),
            Kind::List(_) => "a list".to_string(),
            Kind::Scalar(..) if self.is_empty() => "nothing".to_string(),
            Kind::Scalar(text, _) => format!("\"{}\"", excerpt(text)),
        }
    }
}
