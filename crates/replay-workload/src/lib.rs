//! Traces and jobs of parallel machines.
//!
//! [`swf`] reads a trace in the Standard Workload Format. [`workload`] cleans the trace into jobs under a named policy,
//! attaches recorded placements and dependencies, and generates synthetic jobs. [`naming`] is the grammar of strategies
//! and their parameters.

pub mod cancel;
pub mod lines;
pub mod naming;
pub mod number;
pub mod sanitize;
pub mod swf;
pub mod workload;
