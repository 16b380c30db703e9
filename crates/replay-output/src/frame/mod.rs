//! Results as Arrow record batches, in Parquet and CSV files.
//!
//! [`frame()`] converts the rows of any [`Table`](replay_engine::table::Table) to a record batch, and [`write()`] saves
//! the rows as Parquet and CSV. [`Tables`] writes the tables of a grid as results arrive: `runs`, `by_size` and, on
//! request, `jobs` and `placements`. The column `run` joins these tables. A table `shaken` is added if traces are
//! perturbed, and a table `against_log` is added if a run repeats the log.
//!
//! [`mod@read`] reads these files for comparisons.
//!
//! A program that depends on `polars` converts a record batch to a data frame with `DataFrame::from`:
//!
//! ```
//! use polars::prelude::DataFrame;
//! use replay_engine::metrics::SizeRow;
//! use replay_experiment::WithRun;
//! use replay_output::frame::frame;
//!
//! let rows: Vec<WithRun<'_, SizeRow>> = Vec::new();
//! let table = DataFrame::from(frame(&rows)?);
//! assert_eq!((table.height(), table.get_column_names()[0].as_str()), (0, "run"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The metadata of Parquet files contains the meaning and unit of each column and the origin of the data. Files
//! contain no wall-clock times, so equal results give equal bytes.

mod build;
mod error;
mod files;
pub mod read;
mod tables;

pub use build::frame;
pub use error::FrameError;
pub use files::write;
pub use tables::Tables;

#[cfg(test)]
mod tests;
