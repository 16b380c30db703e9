//! The replay engine: traces, machines, scheduling disciplines, allocation strategies, and what they do together.
//!
//! A trace in the Standard Workload Format is read ([`swf`]) and cleaned by a named policy into jobs ([`workload`]); a
//! scheduling discipline decides who starts when ([`scheduler`]), an allocation strategy which processors of a machine a
//! job gets ([`allocator`], [`topology`], [`machine`]). Strategies that never refuse do not influence the schedule, so one
//! timeline serves any number of them ([`simulation`]). [`metrics`] measures the result, [`table`] declares columns.

pub mod allocator;
pub mod cluster;
pub mod lines;
pub mod machine;
pub mod metrics;
pub mod naming;
pub mod number;
pub mod placement;
pub mod scheduler;
mod service;
pub mod shown;
pub mod simulation;
pub mod stop;
pub mod swf;
pub mod table;
pub mod topology;
pub mod topology_file;
pub mod workload;
