//! Results as text: a table for people, JSON lines, CSV, Markdown.
//!
//! JSON lines and CSV are made by the [`table`](replay_core::table) itself: everything, at full
//! precision. A [`Sheet`] for people rounds and leaves out; what of a row it shows is a list of
//! [`Shown`].

mod against;
mod candidates;
pub use replay_core::table::Fitted;

pub mod machine;
pub mod manifest;
pub mod page;
pub mod perfetto;
mod runs;
mod search;
mod shaken;
pub mod sweep;

pub use against::against_summary;
pub use candidates::{candidate_maps, candidate_words};

pub use replay_core::table::{Align, Sheet, Shown, with_unit};
pub use runs::{RunChange, summary};
pub use search::{portability_summary, search_summary};
pub use shaken::{CONTENTION_FIGURES, RUN_FIGURES, shaken_summary};
