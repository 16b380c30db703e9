//! Names of strategies and their parameters.
//!
//! | item | concept |
//! |---|---|
//! | [`StrategyName`] | the grammar `name[key=value,...]` |
//! | [`kind`] | syntax of values: one of several words, an integer in a range, ... |
//! | [`Entry`], [`Table`] | names that denote typed options; each parameter is declared once |
//! | [`Registry`] | all tables of one kind of strategy |
//! | [`nearest`] | suggestions for misspelt words |
//!
//! A parameter is declared in one line: its key, its valid values, its meaning, and the field of
//! the options that stores it. The listing, the check of keys, the parser, the canonical form and
//! the suggestions in errors are derived from the declaration.
//!
//! ```
//! use replay_workload::naming::{Entry, Table, kind};
//!
//! #[derive(Clone, PartialEq, Debug)]
//! struct Pages { side: u32, turn: bool }
//!
//! let pages = Entry::new("pages", Pages { side: 4, turn: false })
//!     .about("Jobs get whole pages.")
//!     .param("side", kind::integer(1..=64), "side of a page, processors", |p| &mut p.side)
//!     .param("turn", kind::yes_no(), "whether pages may be turned", |p| &mut p.turn);
//! let table = Table::new("allocator", [pages]);
//!
//! let parsed = table.read("pages[turn=yes,side=4]")?;
//! assert_eq!(parsed, Pages { side: 4, turn: true });
//! assert_eq!(table.name(&parsed).to_string(), "pages[turn=yes]");
//! let error = table.read("pages[sied=2]").unwrap_err();
//! assert!(error.to_string().contains("did you mean \"side\"?"));
//! # Ok::<(), replay_workload::naming::NameError>(())
//! ```

mod entry;
pub mod kind;
mod name;
mod registry;
mod suggest;
mod table;
#[cfg(test)]
mod tests;
mod texts;

pub use crate::{spelled, texts};
pub use entry::{Entry, Setting, Value};
pub use kind::Kind;
pub use name::{LONGEST_NAME, NameError, StrategyName, split_list};
pub use registry::Registry;
pub use suggest::{advice, hint, nearest, nearest_few, retired};
pub use table::Table;

/// A parameter of a strategy, for listings and help.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Parameter {
    /// The key.
    pub key: &'static str,
    /// Description of the valid values.
    pub values: String,
    /// The default value.
    pub default: String,
    /// Description of the parameter's meaning, with the unit.
    pub about: &'static str,
}

/// Description of a strategy for listings.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Description {
    /// The name.
    pub name: String,
    /// Other accepted names.
    pub aliases: Vec<String>,
    /// Those of the aliases that are printed instead of the name with parameters.
    #[serde(skip)]
    pub forms: Vec<String>,
    /// For each form, the name with the parameters that the form stands for.
    #[serde(skip)]
    pub form_parameters: Vec<String>,
    /// Description of the strategy.
    pub about: String,
    /// Source of the definition.
    pub source: &'static str,
    /// The parameters.
    pub parameters: Vec<Parameter>,
}

impl Description {
    /// Returns the names that are printed for options of this entry: the forms, or the name if there are no forms.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let name = Some(&self.name).filter(|_| self.forms.is_empty());
        name.into_iter().chain(&self.forms).map(String::as_str)
    }
}
