//! Results as text: tables for the terminal, JSON lines, CSV, Markdown.
//!
//! The module [`table`](replay_engine::table) writes JSON lines and CSV with all columns at full precision. A [`Sheet`]
//! for the terminal rounds values and omits columns; a list of [`Shown`] selects the columns of a sheet.

mod candidates;
mod log_comparison;
pub use replay_engine::table::Fitted;

pub mod machine;
pub mod manifest;
pub mod page;
pub mod perfetto;
mod runs;
mod search;
mod shaken;
pub mod sweep;

pub use candidates::{candidate_lines, candidate_maps};
pub use log_comparison::log_comparison_summary;

pub use replay_engine::table::{Align, Sheet, Shown, with_unit};
pub use runs::{RunChange, summary, summary_order};
pub use search::{portability_summary, search_summary};
pub use shaken::{CONTENTION_FIGURES, RUN_FIGURES, shaken_summary};
