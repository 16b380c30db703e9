use super::entry::{Entry, Setting};
use super::suggest::advice;
use super::{Description, NameError, StrategyName, Value};

/// A table of names and their parameters; each name denotes options of type `T`.
pub struct Table<T> {
    kind: &'static str,
    entries: Vec<Entry<T>>,
}

impl<T: Value> Table<T> {
    /// Creates a table. `kind` is the noun that messages use for the entries, such as "allocator".
    pub fn new(kind: &'static str, entries: impl IntoIterator<Item = Entry<T>>) -> Self {
        Self { kind, entries: entries.into_iter().collect() }
    }

    /// Returns the noun that messages use for the entries.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Parses a name of the form `name` or `name[key=value,...]`.
    ///
    /// # Errors
    /// Returns [`NameError`], with a suggestion if possible, in these cases: the text is not a name, the name or a
    /// parameter is unknown, a parameter is repeated, or a value or a combination of values is not valid.
    pub fn read(&self, text: &str) -> Result<T, NameError> {
        self.parse(&StrategyName::read(self.kind, text)?)
    }

    /// Returns the options that a name denotes.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`read`](Self::read).
    pub fn parse(&self, name: &StrategyName) -> Result<T, NameError> {
        self.entry(name)?.read(self.kind, name)
    }

    /// Returns the entry of a name.
    ///
    /// # Errors
    /// [`NameError`] if the name is unknown.
    pub fn entry(&self, name: &StrategyName) -> Result<&Entry<T>, NameError> {
        let own = |entry: &&Entry<T>| entry.words().any(|word| word == name.name);
        self.entries.iter().find(own).ok_or_else(|| {
            let (words, names): (Vec<_>, Vec<_>) = (self.words().collect(), self.names().collect());
            unknown(self.kind, name, &words, &names, None)
        })
    }

    /// Parses `text` as a value of the parameter `key`. `name` selects the entry.
    ///
    /// # Errors
    /// [`NameError`] if the parameter does not exist or the value is not valid.
    pub fn setting(
        &self,
        name: &StrategyName,
        key: &str,
        text: &str,
    ) -> Result<Setting<T>, NameError> {
        self.entry(name)?.setting(self.kind, name, key, text)
    }

    /// Checks whether the values in `options` are valid together. `name` selects the entry.
    ///
    /// # Errors
    /// [`NameError`] if the combination is not valid.
    pub fn check_combination(&self, name: &StrategyName, options: &T) -> Result<(), NameError> {
        let checked = self.entry(name)?.check_combination(options);
        checked.map_err(|problem| self.name(options).error(self.kind, problem))
    }

    /// Returns the canonical name of options. The canonical name is the shortest name that denotes the options. The
    /// canonical name contains no default values, and its keys are in the order of declaration. Parsing the name
    /// returns the same options.
    pub fn name(&self, options: &T) -> StrategyName {
        let written = || self.entries.iter().filter_map(|entry| entry.write(options));
        let exact = written().filter_map(|(name, exact)| exact.then_some(name));
        let name = exact.min_by_key(|name| name.parameters.len());
        // Options with NaN are not equal to themselves, but an error message about such options still needs a name.
        let near = || written().next().map(|(name, _)| name);
        name.or_else(near).unwrap_or_else(|| StrategyName::plain(self.kind))
    }

    /// Checks options that were created in code instead of parsed from text.
    ///
    /// # Errors
    /// [`NameError`] if a value or the combination of values is not valid.
    pub fn check(&self, options: &T) -> Result<(), NameError> {
        let name = self.name(options);
        let checked = self.entry(&name)?.checked(options);
        checked.map_err(|problem| name.error(self.kind, problem))
    }

    /// Returns all accepted names. The aliases of an entry follow its canonical name.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(Entry::words)
    }

    /// Returns the canonical names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &entry.name[..])
    }

    /// Returns the descriptions of all entries.
    pub fn descriptions(&self) -> Vec<Description> {
        self.entries.iter().map(Entry::describe).collect()
    }
}

/// Returns the error of an unknown name. `listed` is the command that lists the names; the error refers to this command
/// if there are too many names for a message.
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

/// Implements the conversions between a type and text by a table of names: `FromStr`, `Display`, and, for serialization
/// as text, `TryFrom<String>` and `From`.
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
