//! The replay engine: machines, the interfaces of schedulers and allocators, their joint simulation, and metrics.
//!
//! [`swf`] reads a trace in the Standard Workload Format, and [`workload`] cleans it into jobs under a named policy. A
//! scheduling discipline ([`scheduler`]) decides when each job starts; an allocation strategy ([`allocator`]) decides
//! which processors of a machine ([`topology`], [`machine`]) the job gets. Strategies that never refuse a job do not
//! influence the schedule, so any number of these strategies can use one timeline ([`simulation`]). [`metrics`]
//! measures the result, and [`table`] declares the columns of the output tables.
//!
//! This crate has the schedulers that every study uses, and no allocator: strategies plug in from other crates, and a
//! program collects them by name in [`registries`]. [`Simulation`](simulation::Simulation) has an example of a run with an
//! allocator of one's own.

pub mod allocator;
pub mod bits;
pub mod machine;
pub mod metrics;
pub mod partitions;
pub mod registries;
pub mod scheduler;
mod service;
pub mod simulation;
pub mod table;
pub mod topology;

pub use replay_workload::{cancel, lines, naming, number, sanitize, swf, workload};
