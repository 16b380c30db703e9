//! Replays job traces of real supercomputers through schedulers and processor allocators.
//!
//! [`swf`] reads a trace in the Standard Workload Format, and [`import`] converts other logs to this format.
//! [`workload`] applies a named cleaning policy to the records of a trace and returns jobs. A scheduling discipline
//! ([`scheduler`]) decides when each job starts. An allocation strategy ([`allocator`]) selects the processors of each
//! job on a machine ([`topology`], [`machine`]). Strategies that never refuse a job do not influence the schedule, so
//! one timeline is computed and reused for any number of these strategies ([`simulation`]). [`experiment`] runs grids
//! of cells in parallel; a cell is a trace on a machine, a scheduler, an allocator and a seed. [`metrics`] computes the
//! measures of each run, and [`published`] contains published numbers for comparison.
//!
//! ```text
//! .swf[.gz] --swf--> records --workload--> jobs --scheduler--> timeline
//!     --allocator--> processors --metrics--> measures --results, plot, report--> files
//! ```
//!
//! A module imports only modules that are before it in this diagram. This example runs the published strategy:
//!
//! ```
//! use replay::{experiment::*, scheduler::registry::SchedulerSpec, strategies, cancel::CancelToken};
//! use replay::workload::{Policy, Window, Workload};
//! use std::sync::Arc;
//!
//! let swf = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n3 9 -1 10 6\n";
//! let jobs = Workload::from_reader(swf.as_bytes(), "tiny.swf", &Policy::JOHNSON, &Window::ALL, Default::default())?;
//! let trace = Trace::new(Arc::new(jobs), "4x4".parse()?, "johnson", &[SchedulerSpec::easy()]);
//! let allocator = strategies::allocator("mc1x1[tie=2,13,20,6]")?;
//! let cell = Cell { trace: Arc::new(trace), scheduler: SchedulerSpec::easy(), allocator, seed: 0 };
//! let result = run_cell(0, &cell, Measure::default(), RunContext::new(&CancelToken::new()))?;
//! assert_eq!(result.metrics.schedule.jobs, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cli;

pub use replay_backlog as backlog;
pub use replay_centre as centre;
pub use replay_cubes as cubes;
pub use replay_engine::{
    allocator, cancel, lines, machine, metrics, naming, number, registries, scheduler, simulation,
    swf, table, topology, workload,
};
pub use replay_experiment as experiment;
pub use replay_explore as explore;
pub use replay_import as import;
pub use replay_mesh as mesh;
pub use replay_network as network;
pub use replay_output::{plot, report};
pub use replay_published as published;
pub use replay_results as results;
pub use replay_site as site;
pub use replay_slurm as slurm;
pub use replay_strategies as strategies;
