//! Grids of runs: which cells there are, and running them in parallel.
//!
//! A [`Trace`] is a loaded workload on one machine; it computes the timeline of each
//! scheduler once. A [`Cell`] is one replay. [`run_cells`] runs them on all threads and
//! hands the results over one at a time in grid order, so that what is written does not
//! depend on the number of threads. [`search`] looks for good tie vectors.

mod cell;
mod result;
mod runner;
pub mod search;

pub use cell::{Cell, Trace};
pub use result::{RunKey, RunResult};
pub use runner::{CellError, Measure, run_cell, run_cells};
