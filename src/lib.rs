//! replay
pub mod naming;
pub mod metrics;
pub mod allocator;
pub mod machine;
pub mod topology;
pub mod scheduler;
pub mod simulation;
pub mod swf;
pub mod workload;
