use std::sync::Arc;

use super::table::{Table, unknown};
use super::{Description, NameError, StrategyName, Value};

/// All strategies of one kind, such as all allocators. A registry combines tables with different
/// types of options, and converts each parsed name to an `S`. A copy is cheap.
pub struct Registry<S> {
    kind: &'static str,
    listed: Option<&'static str>,
    members: Vec<Member<S>>,
}

impl<S> Clone for Registry<S> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, listed: self.listed, members: self.members.clone() }
    }
}

/// One table of a registry.
struct Member<S> {
    descriptions: Arc<[Description]>,
    read: Arc<Read<S>>,
}

impl<S> Clone for Member<S> {
    fn clone(&self) -> Self {
        Self { descriptions: self.descriptions.clone(), read: self.read.clone() }
    }
}

type Read<S> = dyn Fn(&Registry<S>, &StrategyName) -> Result<S, NameError> + Send + Sync;

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

    /// Adds a table. `read` converts a name in the table to an `S`.
    ///
    /// # Panics
    /// If a name or an alias of the table is a name or an alias of another table: one of the two strategies could not be
    /// selected.
    pub fn with<T: Value>(
        self,
        table: Table<T>,
        read: impl Fn(&Arc<Table<T>>, &StrategyName) -> Result<S, NameError> + Send + Sync + 'static,
    ) -> Self {
        let (descriptions, table) = (table.descriptions(), Arc::new(table));
        let read = Arc::new(move |_: &Self, name: &StrategyName| read(&table, name));
        self.add(descriptions, read)
    }

    fn add(mut self, descriptions: Vec<Description>, read: Arc<Read<S>>) -> Self {
        let member = Member { descriptions: descriptions.into(), read };
        for word in member.words() {
            let taken = self.members.iter().find(|other| other.words().any(|one| one == word));
            assert!(
                taken.is_none(),
                "the {} \"{word}\" exists already: choose another name",
                self.kind
            );
        }
        self.members.push(member);
        self
    }

    /// Adds a table of strategies whose parameters are names of other strategies. `table` creates
    /// the table from the registry that parses a name, so that such a parameter accepts every
    /// strategy of this registry, including strategies that are added later.
    pub fn with_decorators<T: Value>(
        self,
        table: impl Fn(&Self) -> Table<T> + Send + Sync + 'static,
        read: impl Fn(&Arc<Table<T>>, &StrategyName) -> Result<S, NameError> + Send + Sync + 'static,
    ) -> Self {
        let descriptions = table(&self).descriptions();
        let read =
            Arc::new(move |all: &Self, name: &StrategyName| read(&Arc::new(table(all)), name));
        self.add(descriptions, read)
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
            Some(member) => (member.read)(self, name),
            None => {
                let words: Vec<_> = self.members.iter().flat_map(Member::words).collect();
                let names: Vec<_> = self.names().collect();
                Err(unknown(self.kind, name, &words, &names, self.listed))
            }
        }
    }

    /// Returns the canonical names; an entry with [forms](super::Entry::forms) has the names of its forms.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members
            .iter()
            .flat_map(|member| member.descriptions.iter().flat_map(Description::names))
    }

    /// Returns the descriptions of all strategies.
    pub fn descriptions(&self) -> Vec<Description> {
        self.members.iter().flat_map(|member| member.descriptions.to_vec()).collect()
    }
}

impl<S> Member<S> {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.descriptions
            .iter()
            .flat_map(|d| std::iter::once(&d.name).chain(&d.aliases).map(String::as_str))
    }
}
