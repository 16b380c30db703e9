use super::entry::{Entry, Setting};
use super::near::advice;
use super::{Description, NameError, StrategyName, Value};

/// The names that stand for options of one type, with their parameters.
pub struct Table<T> {
    kind: &'static str,
    entries: Vec<Entry<T>>,
}

impl<T: Value> Table<T> {
    /// A table of "allocator"s, "pattern"s, ... for messages.
    pub fn new(kind: &'static str, entries: impl IntoIterator<Item = Entry<T>>) -> Self {
        Self { kind, entries: entries.into_iter().collect() }
    }

    /// What it names.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Reads a name, `name` or `name[key=value,...]`.
    ///
    /// # Errors
    /// [`NameError`]: no name, an unknown one, an unknown or repeated parameter, an illegal
    /// value or combination of values; with advice.
    pub fn read(&self, text: &str) -> Result<T, NameError> {
        self.parse(&StrategyName::read(self.kind, text)?)
    }

    /// The options that a name stands for.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(&self, name: &StrategyName) -> Result<T, NameError> {
        self.entry(name)?.read(self.kind, name)
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// [`NameError`] if there is none.
    pub fn entry(&self, name: &StrategyName) -> Result<&Entry<T>, NameError> {
        let own = |entry: &&Entry<T>| entry.words().any(|word| word == name.name);
        self.entries.iter().find(own).ok_or_else(|| {
            let (words, names): (Vec<_>, Vec<_>) = (self.words().collect(), self.names().collect());
            unknown(self.kind, name, &words, &names, None)
        })
    }

    /// A value for a parameter of the entry of a name.
    ///
    /// # Errors
    /// [`NameError`] if it has no such parameter, or the text is no legal value.
    pub fn setting(
        &self,
        name: &StrategyName,
        key: &str,
        text: &str,
    ) -> Result<Setting<T>, NameError> {
        self.entry(name)?.setting(self.kind, name, key, text)
    }

    /// Checks what no parameter says alone, of options under the entry of a name.
    ///
    /// # Errors
    /// [`NameError`] if values do not go together.
    pub fn go_together(&self, name: &StrategyName, options: &T) -> Result<(), NameError> {
        let checked = self.entry(name)?.go_together(options);
        checked.map_err(|problem| self.name(options).error(self.kind, problem))
    }

    /// The canonical name of options: of all names that say the same the shortest, defaults
    /// left out and keys in the order of declaration. It reads back as the same options.
    pub fn name(&self, options: &T) -> StrategyName {
        let written = || self.entries.iter().filter_map(|entry| entry.write(options));
        let exact = written().filter_map(|(name, exact)| exact.then_some(name));
        let name = exact.min_by_key(|name| name.parameters.len());
        // What is no number equals nothing, not even itself, and wants a name for its error.
        let near = || written().next().map(|(name, _)| name);
        name.or_else(near).unwrap_or_else(|| StrategyName::plain(self.kind))
    }

    /// Checks options that did not come from a text.
    ///
    /// # Errors
    /// [`NameError`] if a value, or their combination, is illegal.
    pub fn check(&self, options: &T) -> Result<(), NameError> {
        let name = self.name(options);
        let checked = self.entry(&name)?.checked(options);
        checked.map_err(|problem| name.error(self.kind, problem))
    }

    /// Every name that is understood, other names behind their own.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(Entry::words)
    }

    /// The canonical names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &entry.name[..])
    }

    /// Every entry for a listing.
    pub fn descriptions(&self) -> Vec<Description> {
        self.entries.iter().map(Entry::describe).collect()
    }
}

/// The error of an unknown name. `listed` is the command that shows what is known, where
/// that is too much for a message.
pub(super) fn unknown(
    kind: &'static str,
    name: &StrategyName,
    words: &[&str],
    names: &[&str],
    listed: Option<&str>,
) -> NameError {
    let known = || format!("known are {}", names.join(", "));
    let problem = match listed {
        None => format!("unknown; {}", advice(&name.name, words.iter().copied(), known)),
        Some(listed) => match advice(&name.name, words.iter().copied(), String::new) {
            none if none.is_empty() => format!("unknown ({listed})"),
            advice => format!("unknown; {advice} ({listed})"),
        },
    };
    NameError::new(kind, &name.to_string(), problem)
}

/// Makes a type what its table reads and writes: `FromStr`, `Display`, `TryFrom` a name, and
/// the two conversions by which serde takes it as a text.
#[macro_export]
macro_rules! spelled {
    ($type:ty, $table:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::naming::NameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $table.read(text)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $table.name(self).fmt(f)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $crate::naming::NameError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
