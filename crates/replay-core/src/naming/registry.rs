use std::sync::Arc;

use super::table::{Table, unknown};
use super::{Description, NameError, StrategyName, Value};

/// All strategies of one sort, whatever their options: tables that read names as `S`.
#[derive(Clone)]
pub struct Registry<S> {
    kind: &'static str,
    listed: Option<&'static str>,
    members: Vec<Member<S>>,
}

/// A table among others.
#[derive(Clone)]
struct Member<S> {
    descriptions: Vec<Description>,
    read: Arc<Read<S>>,
}

type Read<S> = dyn Fn(&StrategyName) -> Result<S, NameError> + Send + Sync;

impl<S> Registry<S> {
    /// An empty registry of "allocator"s, "scheduler"s, ... for messages.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, listed: None, members: Vec::new() }
    }

    /// The same where what is known fills more than a message: the command that shows it.
    pub fn listed_by(self, command: &'static str) -> Self {
        Self { listed: Some(command), ..self }
    }

    /// The same with one more table, whose names `read` makes an `S`. Where two tables know
    /// a name, the first reads it.
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

    /// Reads a name, `name` or `name[key=value,...]`.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read(&self, text: &str) -> Result<S, NameError> {
        self.parse(&StrategyName::read(self.kind, text)?)
    }

    /// The strategy of a name.
    ///
    /// # Errors
    /// As [`Table::read`].
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

    /// The canonical names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().flat_map(|member| member.descriptions.iter().map(|d| &d.name[..]))
    }

    /// Every strategy for a listing.
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
