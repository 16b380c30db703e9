use std::sync::Arc;

use super::table::{Table, unknown};
use super::{Description, NameError, StrategyName, Value};

/// All strategies of one kind, such as all allocators. A registry combines tables with different
/// types of options, and converts each parsed name to an `S`.
#[derive(Clone)]
pub struct Registry<S> {
    kind: &'static str,
    listed: Option<&'static str>,
    members: Vec<Member<S>>,
}

/// One table of a registry.
#[derive(Clone)]
struct Member<S> {
    descriptions: Vec<Description>,
    read: Arc<Read<S>>,
}

type Read<S> = dyn Fn(&StrategyName) -> Result<S, NameError> + Send + Sync;

impl<S> Registry<S> {
    /// Creates an empty registry. `kind` is the noun that messages use for the strategies, such as
    /// "allocator".
    pub fn new(kind: &'static str) -> Self {
        Self { kind, listed: None, members: Vec::new() }
    }

    /// Sets the command that lists the strategies. Messages that do not list all strategies refer
    /// to this command.
    pub fn listed_by(self, command: &'static str) -> Self {
        Self { listed: Some(command), ..self }
    }

    /// Adds a table. `read` converts a name in the table to an `S`. If two tables contain the same
    /// name, the first table parses it.
    pub fn with<T: Value>(
        mut self,
        table: Table<T>,
        read: impl Fn(&Arc<Table<T>>, &StrategyName) -> Result<S, NameError> + Send + Sync + 'static,
    ) -> Self {
        let (descriptions, table) = (table.descriptions(), Arc::new(table));
        let read = Arc::new(move |name: &StrategyName| read(&table, name));
        self.members.push(Member { descriptions, read });
        self
    }

    /// Parses a name of the form `name` or `name[key=value,...]`.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Table::read`].
    pub fn read(&self, text: &str) -> Result<S, NameError> {
        self.parse(&StrategyName::read(self.kind, text)?)
    }

    /// Builds the strategy that a parsed name denotes.
    ///
    /// # Errors
    /// [`NameError`] under the conditions of [`Table::read`].
    pub fn parse(&self, name: &StrategyName) -> Result<S, NameError> {
        let own = |member: &&Member<S>| member.words().any(|word| word == name.name);
        match self.members.iter().find(own) {
            Some(member) => (member.read)(name),
            None => {
                let words: Vec<_> = self.members.iter().flat_map(Member::words).collect();
                let names: Vec<_> = self.names().collect();
                Err(unknown(self.kind, name, &words, &names, self.listed))
            }
        }
    }

    /// Returns the canonical names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().flat_map(|member| member.descriptions.iter().map(|d| &d.name[..]))
    }

    /// Returns the descriptions of all strategies.
    pub fn descriptions(&self) -> Vec<Description> {
        self.members.iter().flat_map(|member| member.descriptions.clone()).collect()
    }
}

impl<S> Member<S> {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.descriptions
            .iter()
            .flat_map(|d| std::iter::once(&d.name[..]).chain(d.aliases.iter().copied()))
    }
}
