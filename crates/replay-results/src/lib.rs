//! Results as data frames of polars, and the files of results.
//!
//! [`frame()`] converts the rows of any [`Table`](replay_engine::table::Table) to a data frame, and [`write()`] saves
//! the rows as Parquet and CSV. [`Tables`] writes the tables of a grid as results arrive: `runs`, `by_size` and, on
//! request, `jobs` and `placements`. The column `run` joins these tables. A table `shaken` is added if traces are
//! perturbed, and a table `against_log` is added if a run repeats the log.
//!
//! [`mod@read`] reads these files for comparisons.
//!
//! ```
//! use replay_engine::metrics::SizeRow;
//! use replay_experiment::WithRun;
//! use replay_results::frame;
//!
//! let rows: Vec<WithRun<'_, SizeRow>> = Vec::new();
//! let table = frame(&rows)?;
//! assert_eq!((table.height(), table.get_column_names()[0].as_str()), (0, "run"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The metadata of Parquet files contains the meaning and unit of each column and the origin of the data. Files
//! contain no wall-clock times, so equal results give equal bytes.

mod error;
mod files;
mod frame;
pub mod read;
mod tables;

pub use error::FrameError;
pub use files::write;
pub use frame::frame;
pub use tables::Tables;

#[cfg(test)]
mod tests;
