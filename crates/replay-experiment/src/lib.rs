//! Experiments: grids of runs, parallel execution, comparisons and searches.
//!
//! A [`Trace`] is a loaded workload on one machine. A trace computes the timeline of each scheduler once. A [`Cell`] is
//! one run: a replay of the timeline, or a coupled simulation of scheduler and allocator if the strategy can refuse
//! jobs or allocates units. An [`Experiment`] is a set of cells: a grid, streams, or contention runs. [`run_experiment`]
//! runs the cells of every experiment on the shared worker [`pool`], and delivers the results one at a time in the order of
//! the cells, so that written output does not depend on the number of threads. [`run_recorded`] also writes a journal.
//!
//! * [`grid`] reads grids from files; [`sweep`] runs long grids, with a [`journal`] of finished cells.
//! * [`schedule_diff`] and [`log_comparison`] compare runs with each other and with the log.
//! * [`shaken`] computes means and significance over perturbed copies of the traces.
//! * [`fragmentation`] measures how fragmented the free processors are.
//! * [`explained`] explains single allocation decisions.
//! * [`search`] searches for good tie vectors.

mod admission;
mod batched_run;
mod cell;
pub mod compatibility;
pub mod contention;
mod experiment;
pub mod explained;
pub mod files;
pub mod fragmentation;
pub mod grid;
pub mod journal;
pub mod log_comparison;
mod log_jobs;
pub mod partitions;
mod placements;
pub mod pool;
mod prepared;
mod problem;
mod progress;
pub mod resolve;
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

pub use admission::{Admitted, LeftOutJob, RejectedSize, RejectedSizes, left_out_job};
pub use batched_run::run_together;
pub use cell::{Cell, Places, Trace};
pub use experiment::{
    Cells, Experiment, ExperimentError, Outcome, Outcomes, Record, Recorded, WithIds, pending,
    run_experiment, run_recorded,
};
pub use log_jobs::{LeftOut, LogJobs, OverLogJobs};
pub use prepared::Prepared;
pub use problem::CellProblem;
pub use progress::{Eta, ProgressMeter, RunContext, SAMPLE, Watch};
pub use result::{RunKey, RunResult, WithRun, run_column};
pub use runner::{CellError, Measure, run_cell};
