//! Results as data frames: Parquet and CSV.
//!
//! | table | a row is | files |
//! |---|---|---|
//! | [`Table::Runs`] | one run | `runs.parquet`, `runs.csv` |
//! | [`Table::BySize`] | one job size of one run | `by_size.parquet`, `by_size.csv` |
//! | [`Table::Jobs`] | one job of one run | `jobs.parquet`, if asked for |
//! | [`search_frame`] | one evaluation of a search | `search.parquet`, `search.csv` |
//!
//! The column `run` joins them. What the columns are is said once, in a table of name,
//! unit, meaning and source: it makes the frame, the metadata inside the Parquet files and
//! the documentation, so that they cannot differ. [`Tables`] writes results as they
//! arrive; [`runs_frame`] and its sisters hand them to polars.
//!
//! Files hold no wall-clock figures: the same results give the same bytes.

mod build;
mod by_size;
mod column;
mod csv;
mod error;
mod jobs;
mod runs;
mod search;
mod sheet;
mod table;
mod tables;
mod values;

pub use build::{by_size_frame, jobs_frame, runs_frame};
pub use column::{ColumnInfo, Kind};
pub use error::FrameError;
pub use search::{search_frame, write_search};
pub use table::{Table, describe};
pub use tables::Tables;
pub use values::{NamedRow, values_frame, write_values};

#[cfg(test)]
mod tests;
