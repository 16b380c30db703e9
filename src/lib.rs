//! replay
pub mod allocator;
pub mod cli;
pub mod experiment;
pub mod frame;
pub mod machine;
pub mod metrics;
pub mod naming;
pub mod plot;
pub mod published;
pub mod report;
pub mod scheduler;
pub mod simulation;
pub mod swf;
pub mod topology;
pub mod workload;
