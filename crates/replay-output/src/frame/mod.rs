//! Results as data frames: Parquet and CSV.
//!
//! Any table can be had as a frame ([`frame()`]) and written as Parquet and CSV ([`write()`]); what
//! its columns are, its rows say ([`Table`](replay_core::table::Table)). [`Tables`] writes those of a
//! grid as results arrive: `runs`, `by_size` and, if asked for, `jobs` and `placements`, joined by the column
//! `run`, and `shaken` if the traces are, `against_log` if a run repeats the log.
//!
//! [`mod@read`] reads results back, for comparisons.
//!
//! Parquet files say what their columns mean and in what units, and where they come from. Files
//! hold no wall-clock figures: the same results give the same bytes.

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
