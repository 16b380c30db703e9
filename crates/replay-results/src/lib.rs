//! Results as data frames of polars, and the files of results.
//!
//! [`GridSpec`] runs a grid and returns its tables as data frames, with which polars groups, joins and sorts:
//!
//! ```
//! use polars::prelude::*;
//! use replay_results::{GridSpec, RunOptions};
//!
//! let grid = GridSpec::parse(
//!     r#"
//!     schedulers = ["fcfs", "easy"]
//!     allocator = ["mc1x1", "random"]
//!     window = { jobs = 300 }
//!     "#,
//! )?;
//! let options = RunOptions { jobs: true, ..RunOptions::default() };
//! let results = grid.run(replay_strategies::standard(), &options)?;
//! let waits = results.runs()?.group_by(["scheduler"])?.select(["mean_wait"]).mean()?;
//! assert_eq!(waits.shape(), (2, 2));
//! let jobs = results.jobs()?.inner_join(&results.runs()?, ["run"], ["run"])?;
//! assert_eq!(jobs.height(), 4 * 300);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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

pub mod compare;
mod error;
mod files;
mod frame;
mod grid;
pub mod read;
mod result_table;
mod results;
mod tables;

pub use error::FrameError;
pub use files::write;
pub use frame::frame;
pub use grid::{GridSpec, RunError, RunOptions};
pub use result_table::{ResultTable, Row};
pub use results::Results;
pub use tables::Tables;

#[cfg(test)]
mod tests;
