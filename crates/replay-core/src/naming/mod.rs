//! How strategies are named, and what their parameters are.
//!
//! | room | concept |
//! |---|---|
//! | [`StrategyName`] | the grammar `name[key=value,...]` |
//! | [`kind`] | how a value is typed: one of some words, a whole number in a range, ... |
//! | [`Entry`], [`Table`] | names that stand for typed options, each parameter declared once |
//! | [`Registry`] | all tables of one sort of strategy |
//! | [`nearest`] | what a misspelt word may have meant |
//!
//! A parameter is declared in one line: its key, its legal values, what it means, and the
//! field of the options that holds it. The listing, the check of keys, the parser, the
//! canonical form and the advice on errors follow from it.
//!
//! ```
//! use replay_core::naming::{Entry, Table, kind};
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
//! # Ok::<(), replay_core::naming::NameError>(())
//! ```

mod entry;
pub mod kind;
mod name;
mod near;
mod registry;
mod table;
#[cfg(test)]
mod tests;

pub use crate::spelled;
pub use entry::{Entry, Setting, Value};
pub use kind::Kind;
pub use name::{LONGEST_NAME, NameError, StrategyName, split_list};
pub use near::{advice, hint};
pub use near::{nearest, nearest_few};
pub use registry::Registry;
pub use table::Table;

/// A parameter of a strategy, for listings and help.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Parameter {
    /// The key as typed.
    pub key: &'static str,
    /// Legal values.
    pub values: String,
    /// The value if it is not written.
    pub default: String,
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
