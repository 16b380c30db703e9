//! Grids of runs: which cells there are, and running them in parallel.
//!
//! A [`Trace`] is a loaded workload on one machine; it computes the timeline of each
//! scheduler once. A [`Cell`] is one run: a replay of that timeline, or, for strategies that
//! may refuse or hand out units, a coupled simulation. [`run_cells`] runs them on the one
//! [`pool`] of workers and hands the results over one at a time in grid order, so that what is
//! written does not depend on the number of threads. Streams and contention run on the same pool.
//!
//! [`grid`] reads grids from files; [`sweep`] runs what is too long for one sitting, with a
//! [`journal`] of what is done.
//! [`fragmentation`] says how broken up the free processors are. [`explained`] says how one decision came about. [`search`] looks for good tie vectors. [`shaken`] says what runs come to over shaken copies of
//! their traces.

mod admission;
mod batched_run;
mod cell;
pub mod compare;
pub mod compatibility;
pub mod contention;
pub mod explained;
pub mod files;
pub mod fragmentation;
pub mod grid;
pub mod journal;
pub mod log_comparison;
mod log_jobs;
mod placements;
pub mod pool;
mod prepared;
mod problem;
mod progress;
mod result;
mod runner;
pub mod schedule_diff;
pub mod search;
pub mod shaken;
pub mod snapshot;
pub mod stream;
pub mod sweep;

#[cfg(test)]
mod ids_tests;

pub use admission::{Admitted, Sizes, TurnedAway, size_left_out};
pub use batched_run::run_together;
pub use cell::{Cell, Places, Trace};
pub use log_jobs::{LeftOut, LogJobs, OverLogJobs};
pub use prepared::Prepared;
pub use problem::CellProblem;
pub use progress::{Eta, ProgressMeter, RunContext, SAMPLE};
pub use result::{OfRun, RunKey, RunResult, run_column};
pub use runner::{CellError, Measure, run_cell, run_cells};
