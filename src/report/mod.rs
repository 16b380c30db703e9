//! Results as text: a table for people, JSON lines, CSV, Markdown.
//!
//! All four are made from rows of named [`Value`]s, so that they agree on names and
//! order. Tables for people round and leave out; the other formats carry everything at
//! full precision.

mod format;
pub mod manifest;
mod runs;
mod search;
pub mod sweep;

pub use format::{Align, Sheet, Value, json_line, write_csv, write_csv_rows};
pub use runs::{full_row, summary};
pub use search::{
    SEARCH_COLUMNS, SearchColumn, SearchKind, portability_rows, portability_summary, search_row,
    search_summary, spared_rows,
};
